"""Verdicts that may be read at any time: when they fall, what they save, and how they are printed."""

import math
from typing import Any

import pytest

import compute_sequential as script
from models import resolve
from records import Cell
from scenes import SCENES
from tables import Entry, Group


def sequence(n: int, *e_values: float, tested: bool = True) -> dict[str, Any]:
    """A cell whose e-value was at these values after each rollout, and stayed at the last."""
    log_e = [math.log(e) for e in (*e_values, *[e_values[-1]] * (n - len(e_values)))]
    return {"n": n, "tested": tested, "log_e": log_e}


def test_a_verdict_falls_when_the_threshold_is_first_reached() -> None:
    log_e = [math.log(e) for e in (0.5, 3, 20, 2, 40)]
    assert script.reached(log_e, 20) == 3
    assert script.reached(log_e, 21) == 5
    assert script.reached(log_e, 41) is None
    assert script.reached([], 20) is None


def test_rollouts_after_a_verdict_need_not_have_been_made() -> None:
    grid = {
        "dice": {"wan": sequence(32, 1, 20), "veo31": sequence(32, 1, 1, 1, 40), "mine": sequence(32, 1000)},
        "cards": {"wan": sequence(32, 1, 2), "veo31": sequence(32, 1000, tested=False)},
    }
    found = script.saved(grid)
    # Three tested cells of published models. Alone each stops at 20, and of three at 60.
    assert (found["cells"], found["rollouts"]) == (3, 96)
    assert (found["decided"], found["saved"]) == (2, 30 + 28)
    assert (found["decided_corrected"], found["saved_corrected"]) == (0, 0)
    grid["cards"]["wan"] = sequence(32, 1, 1, 60)
    found = script.saved(grid)
    assert (found["decided_corrected"], found["saved_corrected"]) == (1, 29)


def test_without_a_tested_cell_nothing_is_saved() -> None:
    found = script.saved({"dice": {"wan": sequence(32, 1, tested=False)}})
    assert set(found.values()) == {0}


def test_a_cell_that_shows_one_outcome_is_decided_early_and_one_without_any_never() -> None:
    collapsed = script.cell_result(Cell("main", "lottery", "mine", (7,) * 32))
    assert collapsed["tested"] and collapsed["decided_after"] < 8
    assert collapsed["decided_after"] == script.reached(collapsed["log_e"], 20)
    assert collapsed["final_log_e"] == collapsed["log_e"][-1]
    nothing = script.cell_result(Cell("main", "lottery", "mine", (None,) * 32))
    assert (nothing["tested"], nothing["decided_after"], nothing["note"]) == (False, None, "none_valid")
    assert list(nothing["log_e"]) == [0] * 32


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (1, "1"),
        (0.25, "0.25"),
        (19.96, "20"),
        (0.0123, "0.012"),
        (123.4, "123"),
        (1234, "1e3"),
        (0.0012, "1e-3"),
        (1e25, "1e25"),
    ],
)
def test_an_e_value_is_printed_in_two_digits_or_as_a_power_of_ten(e: float, text: str) -> None:
    assert script.e_text(math.log(e)) == text


def test_the_table_marks_what_is_not_tested_and_what_is_rejected() -> None:
    row = {
        "wan": {"tested": True, "note": "", "decided_after": 4, "final_log_e": math.log(50), "significant": True},
        "seedance": {"tested": True, "note": "", "decided_after": None, "final_log_e": 0.0, "significant": False},
        "veo31": {"tested": False, "note": "dagger", "n_valid": 2},
        "mine": {"tested": False, "note": "none_valid", "n_valid": 0},
    }
    results = {"cells": {"dice": row}, "saved": {"cells": 0}}
    (line,) = (r for r in script.cell_table(results, resolve(list(row))).rows if not isinstance(r, Group))
    assert line == ["Dice", "4", Entry("50", bold=True), "—", Entry("1"), "†", "†", "—", "—"]


def test_the_false_alarms_of_a_coin_are_at_most_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "SEQUENTIAL_NULL_REPLICATES", 2_000)
    found = script.false_alarm_rate(SCENES["ball"])
    assert found["rate"] == found["alarms"] / 2_000
    assert found["low"] <= found["rate"] <= min(found["high"], 0.05)
    (line,) = script.alarm_table({"ball": found | {"rate": 0.0125, "low": 0.008, "high": 0.02}}).rows
    assert line == ["Ball fork", "0.0125", "[0.0080, 0.0200]"]
