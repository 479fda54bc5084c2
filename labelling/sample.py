"""Which rollouts a person labels: a random sample of each scene, stratified over the models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judges.evidence import load_evidence
from video_io import Clips, VideoError


@dataclass(frozen=True)
class Clip:
    """One rollout of a sample. sha256: of the file that is labelled, hexadecimal."""

    scene: str
    model: str
    seed: int
    sha256: str

    @property
    def name(self) -> str:
        """As a person reads it, for instance dice/wan/seed_3."""
        return f"{self.scene}/{self.model}/seed_{self.seed}"

    def path(self, folder: Path) -> Path:
        """Where it lies below the folder of its study."""
        return folder / f"{self.name}.mp4"


@dataclass(frozen=True)
class Sample:
    """Clips in the order in which they are shown, and why others that were drawn cannot be."""

    clips: tuple[Clip, ...]
    unusable: tuple[str, ...]


def draw(
    scene: str,
    cells: Mapping[str, Clips],
    n: int,
    size: int,
    rng: np.random.Generator,
    on_look: Callable[[], object] = lambda: None,
) -> Sample:
    """Draw `size` rollouts of a scene (all of them when there are fewer), as evenly over the models as they allow.

    cells: model -> its clips, of n seeds. Each model's seeds stand in random order, and the models take turns. A seed
    whose clip is missing or broken gives its turn to the model's next one, so that two people whose folders differ by
    one file get samples that differ by one rollout. The clips are then shuffled, which hides the turns.
    on_look: called after each clip that was decoded.
    """
    models = sorted(cells)
    turns = [models[i] for i in rng.permutation(len(models))]
    queues = {model: [int(seed) for seed in rng.permutation(n)] for model in models}
    chosen: list[Clip] = []
    unusable: list[str] = []

    def take(model: str) -> None:
        while queues[model]:
            seed = queues[model].pop(0)
            if seed not in cells[model].found:
                continue
            found = _usable(Clip(scene, model, seed, ""), cells[model].found[seed], unusable)
            on_look()
            if found is not None:
                chosen.append(found)
                return

    while len(chosen) < size and any(queues.values()):
        for model in turns:
            if len(chosen) < size:
                take(model)
    return Sample(tuple(chosen[i] for i in rng.permutation(len(chosen))), tuple(unusable))


def _usable(clip: Clip, path: Path, unusable: list[str]) -> Clip | None:
    """The clip with its hash, when a judge could be shown it too; otherwise None, and the fault is noted."""
    try:
        # As a video, whatever the scene's evidence: the clip is then decoded once, and no picture made of it yet.
        evidence = load_evidence(path, clip.name, "video")
    except VideoError as error:
        unusable.append(str(error))
        return None
    return Clip(clip.scene, clip.model, clip.seed, evidence.clip_sha256)


def joined(samples: Sequence[Sample]) -> Sample:
    """Scene after scene, so that a person reads each question once."""
    return Sample(
        tuple(clip for sample in samples for clip in sample.clips),
        tuple(fault for sample in samples for fault in sample.unusable),
    )
