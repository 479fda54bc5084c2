"""Scenes, references, models and studies are the protocol's own, and their names make the published file names."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import constants
from constants import Reference
from models import MODELS, PUBLISHED, resolve
from paths import ANALYSIS, PAPER
from records import read_published
from scenes import SCENES
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study

PROMPTS = json.loads((PAPER / "prompts.json").read_text(encoding="utf-8"))
BOARD = [Fraction(math.comb(10, i), 2**10) for i in range(11)]
# How prompts.json words each reference.
REFERENCES = {
    "binomial(10, 1/2): C(10, k-1)/1024": BOARD,
    "1/2 each": [Fraction(1, 2)] * 2,
    "1/6 each": [Fraction(1, 6)] * 6,
    "1/4 each": [Fraction(1, 4)] * 4,
    "1/20 each": [Fraction(1, 20)] * 20,
    "18/37, 18/37, 1/37": [Fraction(18, 37), Fraction(18, 37), Fraction(1, 37)],
}


def test_the_scenes_are_those_of_the_paper_in_its_order() -> None:
    assert list(SCENES) == [scene["key"] for scene in PROMPTS["scenes"]]
    assert all(key == scene.key for key, scene in SCENES.items())


@pytest.mark.parametrize("published", PROMPTS["scenes"], ids=lambda scene: scene["key"])
def test_a_scene_is_the_papers_character_by_character(published: dict[str, object]) -> None:
    scene = SCENES[str(published["key"])]
    for name in ("title", "frame_stem", "evidence", "generation_prompt", "judge_question"):
        assert getattr(scene, name) == published[name], name
    assert list(scene.outcomes) == published["outcomes"]
    assert list(scene.reference.fractions) == REFERENCES[str(published["reference"])]


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_a_reference_is_exact_and_sums_to_one(scene: object) -> None:
    reference: Reference = scene.reference  # type: ignore[attr-defined]
    assert sum(reference.fractions) == 1
    assert min(reference.weights) > 0
    assert reference.denominator in (1024, 2, 6, 4, 20, 37)
    assert [Fraction(p).limit_denominator(1024) for p in reference.probabilities] == list(reference.fractions)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_every_outcome_has_one_label_of_its_own(scene: object) -> None:
    outcomes = scene.outcomes  # type: ignore[attr-defined]
    assert len(set(outcomes)) == len(outcomes) == scene.k  # type: ignore[attr-defined]
    assert "null" not in outcomes


def test_the_mode_is_the_smallest_most_probable_outcome() -> None:
    assert {key: scene.reference.mode for key, scene in SCENES.items()} == {
        **dict.fromkeys(SCENES, 1),
        "galton_board": 6,
        "galton_board_real": 6,
    }


def test_the_power_analysis_moves_mass_to_the_protocols_outcome() -> None:
    assert {key: scene.contaminated for key, scene in SCENES.items() if scene.contaminated != 1} == {
        "galton_board_real": 6,
        "galton_board": 6,
        "roulette": 3,
    }
    assert SCENES["roulette"].outcomes[2] == "green"


def test_the_null_heavy_scenes_are_those_of_table_7() -> None:
    rows = read_published(PAPER / "table7_mcar_cells.csv")
    assert {key for key, scene in SCENES.items() if scene.null_heavy} == {row["scene"] for row in rows}


def test_the_protocols_numbers() -> None:
    assert constants.N_ROLLOUTS == 32
    assert constants.ALPHA == 0.05
    assert constants.MIN_VALID_FOR_TEST == 4
    assert constants.CHI2_REPLICATES == constants.BOOTSTRAP_REPLICATES == constants.CALIBRATED_REPLICATES == 50_000
    assert (constants.POWER_NULL_REPLICATES, constants.POWER_REPLICATES) == (50_000, 5_000)
    assert (constants.POWER_TABLE_N, constants.POWER_CURVE_N) == ((32, 16), (8, 16, 24, 32))


def test_the_published_models_are_those_of_table_1_in_its_order() -> None:
    assert list(PUBLISHED) == [row["model"] for row in read_published(PAPER / "table1_settings.csv")]
    assert list(MODELS)[: len(PUBLISHED)] == list(PUBLISHED)
    assert all(key == model.key for key, model in MODELS.items())


def test_models_differ_in_name_colour_and_marker_also_those_without_an_entry() -> None:
    models = resolve([*MODELS, "one", "two", "three"])
    for look in ("key", "name", "label", "colour", "marker"):
        assert len({getattr(model, look) for model in models}) == len(models), look


def test_a_model_without_an_entry_keeps_its_style_whatever_published_models_stand_beside_it() -> None:
    assert resolve(["mine"])[0] == resolve([*PUBLISHED, "mine"])[-1]


def test_a_clip_lasts_its_duration_or_its_frames() -> None:
    assert {key: MODELS[key].duration_s for key in PUBLISHED} == {
        "wan": 3,
        "seedance": 4,
        "happyhorse": 3,
        "veo31": 4,
        "runway45": 5,
        "cosmos3_super": pytest.approx(121 / 24),
    }


def test_the_studies_have_the_published_cells() -> None:
    sizes = {key: len(study.scenes) * len(study.models) for key, study in STUDIES.items() if study.published}
    assert sizes == {
        "main": 54,
        "seedance720": 9,
        "dur5s": 27,
        **{guidance_study(guidance): 1 for guidance in GUIDANCES},
        **{face_study(face): 6 for face in FACES},
    }
    # 132 published cells, and the absent one.
    assert sum(sizes.values()) == 133


def test_a_study_has_32_seeds_and_a_target_face_5() -> None:
    assert {key: study.n for key, study in STUDIES.items() if study.n != 32} == {face_study(face): 5 for face in FACES}


@pytest.mark.parametrize(
    ("study", "scene", "model", "path", "name"),
    [
        ("main", "galton_board_real", "wan", "galton_board_real_wan_bins.json", "galton_board_real"),
        ("seedance720", "ball", "seedance", "seedance720/ball_seedance_bins.json", "ball"),
        ("dur5s", "cards", "happyhorse", "dur5s/cards_happyhorse_bins.json", "cards"),
        ("cfg_1_5", "dice", "cosmos3_super", "dice_cfg_1_5_cosmos3_super_bins.json", "dice_cfg_1_5"),
        ("face_3", "dice", "veo31", "dice_face_3_veo31_bins.json", "dice_face_3"),
    ],
)
def test_a_cells_file_has_the_published_name(study: str, scene: str, model: str, path: str, name: str) -> None:
    assert STUDIES[study].bins_file(scene, model) == path
    assert STUDIES[study].scene_name(scene) == name


def test_no_two_cells_share_a_file_and_the_committed_files_are_exactly_these(committed: Path) -> None:
    studies = [study for study in STUDIES.values() if study.published]
    files = [study.bins_file(s, m) for study in studies for s in study.scenes for m in study.models]
    assert len(set(files)) == len(files)
    outcomes = {str(path.relative_to(committed)) for path in committed.rglob("*_bins.json")}
    assert set(files) - outcomes == {"dur5s/pendulum_happyhorse_bins.json"}
    assert outcomes <= set(files)


def test_what_a_study_changes() -> None:
    assert STUDIES["main"].overrides == {}
    assert STUDIES["seedance720"].overrides == {"seedance": {"resolution": "720p"}}
    assert STUDIES["dur5s"].overrides == {model: {"duration": 5} for model in ("wan", "seedance", "happyhorse")}
    assert STUDIES["cfg_7_5"].overrides == {"cosmos3_super": {"guidance_scale": 7.5, "num_frames": 61}}
    assert STUDIES["face_6"].overrides == {"cosmos3_super": {"num_frames": 61}}


@pytest.mark.parametrize("face", FACES)
def test_the_target_face_suffix_is_the_papers(face: int) -> None:
    assert STUDIES[face_study(face)].prompt_suffix == PROMPTS["target_face_suffix"].format(n=face)


def test_the_specification_loads_nothing_but_the_standard_library(python: Callable[[str], str]) -> None:
    specification = {"constants", "errors", "models", "paths", "scenes", "studies"}
    loaded = python(
        "before = set(sys.modules)\n"
        f"import {', '.join(specification)}\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))"
    )
    assert set(loaded.split()) == specification


def test_paths_lie_in_the_repository() -> None:
    assert (Path(constants.__file__).parent / "analysis").samefile(ANALYSIS)
