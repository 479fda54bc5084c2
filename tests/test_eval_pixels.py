"""The gate of the pixels judge lets nothing through: made-up cases, no clip is rendered."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import eval_pixels
from benchmarks.eval_pixels import CLIPS, SIZES, Case, misses, summary, unseen
from scenes import SCENES
from simulator import SIMULATORS

HEIGHTS = [height for _, height in SIZES]


def cases(scene: str, each: int = 1) -> list[Case]:
    """Clips of every outcome and kind at every size, all read as they are."""
    truths = [*((label, label) for label in SCENES[scene].outcomes)]
    truths += [(kind, "null") for kind in SIMULATORS[scene].artefacts]
    return [
        Case(scene, seed, height, truth, read, "", 0.25)
        for seed in range(each)
        for truth, read in truths
        for height in HEIGHTS
    ]


def missed(found: Sequence[Case]) -> list[str]:
    scenes = {scene: summary([case for case in found if case.scene == scene]) for scene in {c.scene for c in found}}
    return misses(summary(found), scenes)


@pytest.mark.parametrize(
    ("truth", "read", "agrees"),
    [
        ("left", "left", True),
        ("left", "right", False),
        ("left", "null", False),
        ("stops_at_fork", "null", True),
        ("stops_at_fork", "left", False),
        ("stops_at_fork", "not_simulated", False),
        ("left", "not_simulated", False),
    ],
)
def test_a_reading_agrees_when_it_is_the_outcome_or_null_for_an_artefact(truth: str, read: str, agrees: bool) -> None:
    assert Case("ball", 0, 480, truth, read, "", 0.1).agrees == agrees


def test_the_summary_counts_what_was_read_as_what() -> None:
    left, right, at_fork, in_channel = cases("ball")[::2]
    found = [
        left,
        right,
        replace(left, read="right"),
        at_fork,
        replace(at_fork, read="left"),
        replace(in_channel, cpu_s=1.25),
    ]
    assert summary(found) == {
        "clips": 6,
        "agreed": 4,
        "agreement": 4 / 6,
        "confusion": {
            "left -> left": 1,
            "left -> right": 1,
            "right -> right": 1,
            "stops_at_fork -> left": 1,
            "stops_at_fork -> null": 1,
            "stops_in_channel -> null": 1,
        },
        "artefacts": {
            "stops_at_fork": {"clips": 2, "read_as_an_outcome": 1},
            "stops_in_channel": {"clips": 1, "read_as_an_outcome": 0},
        },
        "cpu_seconds_a_clip": {"480p": round((5 * 0.25 + 1.25) / 6, 3)},
    }


def test_perfect_readings_of_everything_miss_nothing() -> None:
    for scene in SCENES:
        assert not missed(cases(scene))
        assert not unseen(scene, cases(scene))


def test_agreement_is_held_to_its_target_overall_and_in_every_scene() -> None:
    ball, dice = cases("ball", 125), cases("dice", 125)
    wrong = [replace(ball[i], read="null") for i in range(0, 8 * 21, 8)]
    assert len(ball) == 1000
    # 21 of 1000 clips of the ball: below 98 % there; 21 of 2750 in all: below 99.5 %.
    lines = missed([*wrong, *(case for i, case in enumerate(ball) if i >= 168 or i % 8), *dice])
    assert [line.split(",")[0] for line in lines] == ["agreement 99.24%", "ball: agreement 97.90%"]


def test_no_kind_of_artefact_may_be_read_as_an_outcome_in_more_than_a_fiftieth() -> None:
    kept = cases("ball", 1000)
    fooled = [replace(case, read="left") for case in kept if case.truth == "stops_at_fork"][:41]
    assert len([case for case in kept if case.truth == "stops_at_fork"]) == 2000
    rest = [case for case in kept if case.truth != "stops_at_fork"]
    others = [case for case in kept if case.truth == "stops_at_fork"][41:]
    assert missed([*rest, *others, *fooled]) == [
        "agreement 99.49%, target 99.5%",
        "ball: stops_at_fork read as an outcome in 41 of 2000, target 2%",
    ]
    assert not missed([*rest, *others, *fooled[:39], *others[:2]])


@pytest.mark.parametrize("scene", SCENES)
def test_what_never_came_up_is_missed(scene: str) -> None:
    kind, label = SIMULATORS[scene].artefacts[-1], SCENES[scene].outcomes[0]
    without_kind = [case for case in cases(scene) if (case.truth, case.height) != (kind, HEIGHTS[1])]
    assert unseen(scene, without_kind) == [f"{scene}: {kind} never came up at {HEIGHTS[1]}p"]
    without_label = [case for case in cases(scene) if case.truth != label]
    assert unseen(scene, without_label) == [f"{scene}: outcome {label} never came up"]


def test_only_a_full_run_over_all_scenes_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "result.json"
    monkeypatch.setattr(eval_pixels, "RESULT", target)
    asked = []

    def evaluate(clips: int, scenes: Sequence[str], first_seed: int) -> list[Case]:
        asked.append((clips, first_seed))
        return [case for scene in scenes for case in cases(scene)]

    monkeypatch.setattr(eval_pixels, "evaluate", evaluate)
    assert eval_pixels.main(["--clips", str(CLIPS - 1)]) == 0
    assert eval_pixels.main(["--scene", "ball"]) == 0
    assert not target.exists()
    assert eval_pixels.main(["--first-seed", "77"]) == 0
    assert asked[-1] == (CLIPS, 77)
    assert json.loads(target.read_text())["first_seed"] == 77


def test_a_miss_is_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eval_pixels, "RESULT", tmp_path / "result.json")
    whole = [case for scene in SCENES for case in cases(scene)]
    monkeypatch.setattr(eval_pixels, "evaluate", lambda *_: [*whole[1:], replace(whole[0], read="null")])
    assert eval_pixels.main([]) == 1
    monkeypatch.setattr(eval_pixels, "evaluate", lambda *_: [case for case in whole if case.truth != "on_edge"])
    assert eval_pixels.main([]) == 1
