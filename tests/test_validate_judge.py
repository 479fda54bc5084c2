"""A judge's outcomes of simulated clips are held against truths that are written by hand here."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import validate_judge
from common import snapshot
from records import Cell, write_cell
from scenes import SCENES

LAW = "sim_calibrated"
JUDGE = {"judge": "gemini", "judge_model": "gemini-9"}
N = 32
# Of each rollout of the dice: what it shows, and what the judge read. The other scenes are read without a mistake.
SHOWN: list[int | str] = [1, 1, 2, "hand", "hand", "blur", *[3] * 26]
READ: list[int | None] = [1, 2, None, None, 6, None, *[3] * 26]


class Study:
    """Outcome files and truths of the artefacts study, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.analysis, self.rollouts = folder / "analysis", folder / "rollouts"
        for scene in SCENES:
            shown, read = (SHOWN, READ) if scene == "dice" else ([1] * N, [1] * N)
            self.cell(scene, read)
            self.truth(scene, 0).parent.mkdir(parents=True)
            for seed, what in enumerate(shown):
                outcome, artefact = (None, what) if isinstance(what, str) else (what, None)
                truth = {"scene": scene, "law": LAW, "seed": seed, "outcome": outcome, "artefact": artefact}
                self.truth(scene, seed).write_text(json.dumps(truth))

    def cell(self, scene: str, read: Sequence[int | None], **protocol: Any) -> None:
        cell = Cell("artefacts", scene, LAW, tuple(read), protocol=JUDGE | protocol)
        write_cell(self.analysis, cell, force=True)

    def truth(self, scene: str, seed: int) -> Path:
        return self.rollouts / "artefacts" / scene / LAW / f"seed_{seed}.truth.json"

    def validate(self, *options: str) -> int:
        return validate_judge.main(["--analysis", str(self.analysis), "--rollouts", str(self.rollouts), *options])

    def results(self) -> Any:
        return json.loads((self.analysis / "results/validate_judge.json").read_text())


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path)


def refused(study: Study, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The one line with which these options are refused, after which nothing is written."""
    assert study.validate(*options) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert not (study.analysis / "results").exists()
    return captured.err


def test_each_reading_is_held_against_the_truth_of_its_clip(study: Study) -> None:
    assert study.validate() == 0
    rows = study.results()["scenes"]
    assert set(rows) == {*SCENES, "total"}
    counts = {"n": 32, "agree": 29, "false_null": 1, "reference_valid": 29, "missed_null": 1, "reference_null": 3}
    counts |= {"wrong_label": 1, "both_valid": 28}
    assert {name: rows["dice"][name] for name in counts} == counts
    assert (rows["cards"]["agree"], rows["total"]["agree"], rows["total"]["n"]) == (32, 8 * 32 + 29, 9 * 32)


def test_outcomes_of_other_clips_are_not_held_against_the_truths_there(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    for scene in ("dice", "cards"):
        clip = study.truth(scene, 3).with_name("seed_3.mp4")
        clip.write_bytes(b"clip")
        study.cell(scene, [1] * N, clip_sha256={"2": "0" * 64, "3": hashlib.sha256(b"clip").hexdigest()})
    assert study.validate("--scene", "dice", "cards") == 0
    capsys.readouterr()
    for scene in ("dice", "cards"):
        study.truth(scene, 3).with_name("seed_3.mp4").write_bytes(b"made anew")
    assert "other clips than" in (error := refused(study, capsys))
    assert f"cards/{LAW} seed 3" in error and f"dice/{LAW} seed 3" in error


def test_the_confusion_counts_what_was_read_for_what_was_shown(study: Study) -> None:
    assert study.validate() == 0
    confusion = study.results()["confusion"]["dice"]
    assert set(confusion) == set(confusion["null"]) == {"null", "1", "2", "3", "4", "5", "6"}
    found = {(true, said): n for true, row in confusion.items() for said, n in row.items() if n}
    assert found == {
        ("1", "1"): 1,
        ("1", "2"): 1,
        ("2", "null"): 1,
        ("3", "3"): 26,
        ("null", "null"): 2,
        ("null", "6"): 1,
    }


def test_each_kind_of_artefact_counts_the_clips_that_fooled_the_judge(study: Study) -> None:
    assert study.validate() == 0
    artefacts = study.results()["artefacts"]
    assert {kind: (row["n"], row["fooled"]) for kind, row in artefacts["dice"].items()} == {
        "blur": (1, 0),
        "hand": (2, 1),
    }
    assert artefacts["cards"] == {}
    table = (study.analysis / "tables/validate_judge_artefacts.md").read_text()
    assert "| hand | 2 | 1 | [1, 99] |" in table and "Dice" in table and "Cards" not in table


def test_clips_without_an_artefact_make_no_table_of_them(study: Study) -> None:
    for seed in range(N):
        truth = json.loads(study.truth("dice", seed).read_text())
        study.truth("dice", seed).write_text(json.dumps(truth | {"outcome": 1, "artefact": None}))
    assert study.validate() == 0
    assert sorted(path.name for path in (study.analysis / "tables").iterdir()) == [
        "validate_judge.md",
        "validate_judge.tex",
    ]


@pytest.mark.parametrize("options", [["--scene", "dice"], ["--model", LAW, "--scene", "dice", "cards"]])
def test_a_part_is_printed_and_not_written(
    study: Study, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    before = snapshot(study.analysis)
    assert study.validate(*options) == 0
    printed = capsys.readouterr().out
    assert "Dice" in printed and "Roulette" not in printed and "(a selection: nothing written)" in printed
    assert snapshot(study.analysis) == before


def test_what_is_written_says_which_judge_was_validated(study: Study) -> None:
    assert study.validate() == 0
    assert {name: study.results()[name] for name in JUDGE} == JUDGE
    for name in ("validate_judge", "validate_judge_artefacts"):
        assert "gemini judge (gemini-9)" in (study.analysis / "tables" / f"{name}.md").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"judge": "pixels"}, "judge pixels; expected gemini"),
        ({"judge_model": "gemini-8"}, "judge_model gemini-8; expected gemini-9"),
        ({"votes": 1}, "votes 1; expected 3"),
        ({"parse_rules": 1}, "parse_rules 1; expected 2"),
        ({"judge_settings": {"video_fps": 8.0}}, "video_fps 8.0; expected 1.0"),
    ],
)
def test_readings_of_two_judges_or_protocols_are_not_mixed(
    study: Study, capsys: pytest.CaptureFixture[str], other: dict[str, Any], difference: str
) -> None:
    for scene in SCENES:
        settings = {"video_fps": 1.0} if SCENES[scene].evidence == "video" else {}
        same = {"votes": 3, "parse_rules": 2, "judge_settings": settings}
        study.cell(scene, [1] * N, **same)
    assert study.validate("--scene", "dice", "ball") == 0
    capsys.readouterr()
    last = list(SCENES)[-1]
    study.cell(last, [1] * N, **(same | other))
    assert f"{last}_{LAW}_bins.json: read with {difference}, as " in refused(study, capsys)


def test_outcomes_without_a_record_of_their_judge_are_refused(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    write_cell(study.analysis, Cell("artefacts", "dice", LAW, tuple(READ)), force=True)
    assert f"dice_{LAW}_bins.json: no record of its judge; expected outcomes that" in refused(study, capsys)


def test_a_law_that_was_given_as_numbers_is_validated_under_its_own_name(
    study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cell(study.analysis, Cell("controls", "ball", "loaded", (1,) * N, protocol=JUDGE))
    folder = study.rollouts / "controls" / "ball" / "loaded"
    folder.mkdir(parents=True)
    truth = {"scene": "ball", "law": "1/4,3/4", "seed": 0, "outcome": 1, "artefact": None}
    for seed in range(N):
        (folder / f"seed_{seed}.truth.json").write_text(json.dumps(truth | {"seed": seed}))
    options = ["--study", "controls", "--scene", "ball", "--model", "loaded"]
    assert study.validate(*options) == 0
    assert "32/32 (100%)" in capsys.readouterr().out
    (folder / "seed_3.truth.json").write_text(json.dumps(truth | {"seed": 3, "law": LAW}))
    assert "seed_3.truth.json: scene ball, law sim_calibrated, seed 3; expected" in refused(study, capsys, *options)


def test_a_missing_truth_is_named(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    study.truth("dice", 7).unlink()
    error = refused(study, capsys)
    assert f"{study.truth('dice', 7)}: no such file; expected the truth of scene dice, law {LAW}, seed 7" in error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 8}, "scene dice, law sim_calibrated, seed 8; expected the truth of scene dice"),
        ({"scene": "cards"}, "scene cards, law sim_calibrated, seed 7; expected the truth of scene dice"),
        ({"law": "sim_flat"}, "scene dice, law sim_flat, seed 7; expected the truth of scene dice"),
        ({"outcome": 7}, "outcome 7; expected an integer 1..6 or null"),
        ({"outcome": "3"}, "outcome '3'; expected an integer 1..6 or null"),
        ({"outcome": None}, "outcome None and artefact None; expected exactly one of them"),
        ({"artefact": "hand"}, "outcome 3 and artefact 'hand'; expected exactly one of them"),
        ({"note": ""}, "keys ['artefact', 'law', 'note', 'outcome', 'scene', 'seed']; expected ['artefact'"),
    ],
)
def test_a_truth_that_is_not_this_clips_is_refused(
    study: Study, capsys: pytest.CaptureFixture[str], change: dict[str, Any], message: str
) -> None:
    path = study.truth("dice", 7)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    error = refused(study, capsys)
    assert str(path) in error and message in error


@pytest.mark.parametrize("content", ["3", "[]", "null", "{"])
def test_a_truth_that_is_no_record_is_refused(study: Study, capsys: pytest.CaptureFixture[str], content: str) -> None:
    study.truth("dice", 7).write_text(content)
    error = refused(study, capsys)
    assert str(study.truth("dice", 7)) in error and "expected the truth of scene dice" in error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--study", "main"], "invalid choice: 'main'"),
        (["--scene", "coin"], "--scene coin: not a scene of artefacts; expected all or galton_board_real"),
        (["--model", "wan"], "_wan_bins.json: no such file; expected the 32 outcomes of scene galton_board_real"),
        (["--model", "../wan"], "model '../wan': not a usable key"),
        (["--study", "controls"], "controls: no such folder; expected the outcome files of a study"),
    ],
)
def test_what_no_simulation_made_is_refused(
    study: Study, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert message in refused(study, capsys, *options)


def test_a_cell_that_the_judge_has_not_read_is_named(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    (study.analysis / "artefacts" / f"cards_{LAW}_bins.json").unlink()
    assert f"cards_{LAW}_bins.json: no such file; expected the 32 outcomes of scene cards" in refused(study, capsys)
