"""Intervals on mnTV: what the results and tables say of an estimate, and of one that cannot be made."""

import json
from pathlib import Path
from typing import Any

import pytest

import compute_mntv_ci as script
from intervals import Estimate, Outcomes, corrected_difference, corrected_estimate
from models import PUBLISHED, resolve
from records import read_study
from scenes import SCENES
from stats_utils import Interval
from tables import Entry, Group


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, Interval(low, high, 0.95, "by hand"), "by hand", cells=9, degenerate=2)


UNKNOWN = Estimate(0.5, None, "by hand", cells=9, degenerate=9, reason="every cell is degenerate")
LOW, HIGH = estimate(0.25, 0.2, 0.3), estimate(0.75, 0.7, 0.8)


def test_the_results_of_an_estimate_are_its_numbers_or_the_reason_why_there_are_none() -> None:
    found = script.summary(LOW)
    assert (found["value"], found["low"], found["high"], found["reason"]) == (0.25, 0.2, 0.3, None)
    assert (found["cells"], found["degenerate_cells"], found["standard_error"]) == (9, 2, None)
    found = script.summary(UNKNOWN)
    assert (found["value"], found["low"], found["high"]) == (0.5, None, None)
    assert found["reason"] == "every cell is degenerate"
    assert (script.interval_text(LOW), script.interval_text(UNKNOWN)) == ("[0.20, 0.30]", "not estimable")


def test_the_lowest_mntv_comes_first() -> None:
    corrected = {"wan": HIGH, "veo31": LOW, "mine": UNKNOWN}
    table = script.model_table(resolve(list(corrected)), corrected, corrected, {"wan": 0.25, "veo31": 0.75})
    assert table.rows == [
        ["Veo 3.1", "0.25", "[0.20, 0.30]", "[0.20, 0.30]", "0.75", "2 of 9"],
        ["mine", "0.50", "not estimable", "not estimable", "—", "9 of 9"],
        ["WAN-2.7", "0.75", "[0.70, 0.80]", "[0.70, 0.80]", "0.25", "2 of 9"],
    ]


def test_a_difference_whose_interval_excludes_zero_is_bold() -> None:
    apart, together = estimate(-0.5, -0.6, -0.4), estimate(0.25, -0.1, 0.6)
    pairs = {("a", "b"): dict.fromkeys(("percentile", "corrected"), apart)}
    pairs["a", "c"] = dict.fromkeys(("percentile", "corrected"), together)
    table = script.pair_table({"a": "A", "b": "B", "c": "C"}, pairs, "told")
    assert table.rows == [
        ["A", "B", "-0.50", "[-0.60, -0.40]", Entry("[-0.60, -0.40]", bold=True)],
        ["A", "C", "0.25", "[-0.10, 0.60]", Entry("[-0.10, 0.60]")],
    ]
    assert table.notes[-1] == "told"


def test_a_cell_that_cannot_be_estimated_is_marked() -> None:
    table = script.cell_table(resolve(["wan", "mine"]), {"dice": {"wan": LOW, "mine": UNKNOWN}}, "rough")
    (row,) = (row for row in table.rows if not isinstance(row, Group))
    assert row == ["Dice", "[0.20, 0.30]", "n.e."]
    assert table.notes[0] == "rough"


def test_a_single_row_is_that_of_the_whole_table(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--analysis", str(analysis)]) == 0
    whole: dict[str, Any] = json.loads((analysis / "results" / "mntv_ci.json").read_text())
    assert set(whole["models"]) == {*PUBLISHED} and len(whole["pairs"]) == 15
    lines = capsys.readouterr().out.splitlines()
    assert script.main(["--analysis", str(analysis), "--model", "wan"]) == 0
    alone = capsys.readouterr().out
    (row,) = (line for line in lines if line.startswith("| WAN-2.7 | 0."))
    assert row in alone and "Veo" not in alone and "Pairwise" not in alone


def test_a_pair_is_compared_scene_by_scene_too(analysis: Path) -> None:
    assert script.main(["--analysis", str(analysis)]) == 0
    found: dict[str, Any] = json.loads((analysis / "results" / "mntv_ci.json").read_text())
    outcomes = read_study(analysis, "main")
    for pair in found["pairs"]:
        assert set(pair["scenes"]) == set(SCENES)
        for scene, row in pair["scenes"].items():
            cells = [
                Outcomes(outcomes[scene, m].counts, outcomes[scene, m].n, SCENES[scene].reference)
                for m in (pair["a"], pair["b"])
            ]
            expected = corrected_difference(*(corrected_estimate(cell.score, [cell]) for cell in cells))
            assert row["value"] == pytest.approx(expected.value, abs=1e-9)
            assert (row["low"] is None, row["reason"]) == (expected.interval is None, expected.reason)
            if expected.interval:
                assert (row["low"], row["high"]) == pytest.approx((expected.interval.low, expected.interval.high))
        mean = sum(row["value"] for row in pair["scenes"].values()) / len(SCENES)
        assert mean == pytest.approx(pair["corrected"]["value"], abs=1e-9)
