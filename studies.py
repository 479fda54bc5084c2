"""The studies: the main matrix and the ablations, each as the cells it has and what it changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from constants import N_ROLLOUTS
from models import PUBLISHED
from scenes import SCENES


@dataclass(frozen=True)
class Study:
    """A set of cells that were made under one protocol.

    folder: where its outcome files lie, below analysis/ ("" is analysis/ itself).
    scene_prefix: what stands before the model in its file names and inside them, when that is not the scene's key.
    overrides: model -> inputs that differ from the model's own (see models.py).
    prompt_suffix: appended to the scene's generation prompt.
    published: whether its outcomes are the paper's, and committed.
    reuses_main: model -> why its main cells serve in this study as they stand.
    unavailable: model -> why it has no cells in this study, and can have none.
    """

    key: str
    title: str
    scenes: tuple[str, ...] = tuple(SCENES)
    models: tuple[str, ...] = PUBLISHED
    n: int = N_ROLLOUTS
    folder: str = ""
    scene_prefix: str | None = None
    overrides: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    prompt_suffix: str = ""
    published: bool = True
    reuses_main: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)

    def scene_name(self, scene: str) -> str:
        """The scene's name in this study's files, e.g. dice_cfg_1_0."""
        return self.scene_prefix or scene

    def bins_file(self, scene: str, model: str) -> str:
        """Path of a cell's outcome file, relative to analysis/."""
        prefix = f"{self.folder}/" if self.folder else ""
        return f"{prefix}{self.scene_name(scene)}_{model}_bins.json"


GUIDANCES = (1.0, 1.5, 3.0, 4.5, 6.0, 7.5, 9.0)
FACES = (1, 2, 3, 4, 5, 6)
# Both dice studies ran Cosmos3-Super with clips of this length.
_DICE_STUDY_FRAMES = 61
_FACE_SEEDS = 5
_TARGET_FACE_SUFFIX = " The die comes to rest showing the {n}-pip face upward."


def guidance_study(guidance: float) -> str:
    """Key of the study at one guidance scale: 1.5 -> cfg_1_5."""
    return f"cfg_{guidance:.1f}".replace(".", "_")


def face_study(face: int) -> str:
    """Key of the study that asks for one face: 3 -> face_3."""
    return f"face_{face}"


def _guidance(guidance: float) -> Study:
    key = guidance_study(guidance)
    return Study(
        key=key,
        title=f"Dice at guidance {guidance:.1f}",
        scenes=("dice",),
        models=("cosmos3_super",),
        scene_prefix=f"dice_{key}",
        overrides={"cosmos3_super": {"guidance_scale": guidance, "num_frames": _DICE_STUDY_FRAMES}},
    )


def _face(face: int) -> Study:
    key = face_study(face)
    return Study(
        key=key,
        title=f"Dice asked to show {face}",
        scenes=("dice",),
        n=_FACE_SEEDS,
        scene_prefix=f"dice_{key}",
        overrides={"cosmos3_super": {"num_frames": _DICE_STUDY_FRAMES}},
        prompt_suffix=_TARGET_FACE_SUFFIX.format(n=face),
    )


_DUR5S_MODELS = ("wan", "seedance", "happyhorse")

_ALL = (
    Study(key="main", title="Main matrix"),
    Study(
        key="seedance720",
        title="SeeDance at 720p",
        models=("seedance",),
        folder="seedance720",
        overrides={"seedance": {"resolution": "720p"}},
    ),
    Study(
        key="dur5s",
        title="Uniform 5 s clips",
        models=_DUR5S_MODELS,
        folder="dur5s",
        overrides={model: {"duration": 5} for model in _DUR5S_MODELS},
        reuses_main={
            "runway45": "its benchmarked clips last 5 s",
            "cosmos3_super": "its benchmarked clips last 5.04 s",
        },
        unavailable={"veo31": "its API takes 4, 6 or 8 s only"},
    ),
    Study(
        key="controls",
        title="Simulated controls",
        models=("sim_calibrated", "sim_collapsed", "sim_half", "sim_flat"),
        folder="controls",
        published=False,
    ),
    Study(
        key="artefacts",
        title="Simulated clips, every second one with an artefact",
        models=("sim_calibrated",),
        folder="artefacts",
        overrides={"sim_calibrated": {"artefact_rate": 0.5}},
        published=False,
    ),
    *(_guidance(guidance) for guidance in GUIDANCES),
    *(_face(face) for face in FACES),
)

STUDIES: dict[str, Study] = {study.key: study for study in _ALL}
