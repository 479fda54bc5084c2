"""Tables 2 and 4: what is bold, what bears a mark, and the calibrated operator that they are read against."""

from typing import Any

import pytest

import compute_tv_band as script
from models import resolve
from records import Cell
from tables import Entry, Group, Table

MODELS = resolve(["wan", "seedance", "veo31"])


def body(table: Table) -> list[list[Entry | str]]:
    return [list(row) for row in table.rows if not isinstance(row, Group)]


def results(**cells: tuple[float, float | None, str]) -> dict[str, Any]:
    """One scene whose cells have this rho, TV and note; the score is one minus rho."""
    row = {m: {"rho": rho, "tv": tv, "note": note, "score": 1 - rho} for m, (rho, tv, note) in cells.items()}
    return {"cells": {"dice": row}}


def test_the_lowest_tv_of_the_tested_cells_is_bold_and_ties_are_all() -> None:
    grid = results(wan=(1, 0.25, ""), seedance=(0.5, 0.25 + 1e-15, ""), veo31=(0.09, 0.1, "dagger"))
    (row,) = body(script.table_2(grid, MODELS))
    low = Entry("0.25", bold=True)
    assert row == ["Dice", "1.00", low, "0.50", low, "0.09", Entry("0.10†")]


def test_a_scene_without_a_tested_cell_has_no_lowest_tv() -> None:
    grid = results(wan=(0, None, "none_valid"), seedance=(0.03, 0.9, "dagger"), veo31=(0, None, "none_valid"))
    (row,) = body(script.table_2(grid, MODELS))
    assert row == ["Dice", "0.00", "—", "0.03", Entry("0.90†"), "0.00", "—"]


def test_a_model_alone_is_not_the_best_of_anything() -> None:
    alone = resolve(["wan"])
    grid = results(wan=(1, 0.25, ""))
    assert body(script.table_2(grid, alone)) == [["Dice", "1.00", Entry("0.25")]]
    assert body(script.table_4(grid, alone)) == [["Dice", Entry("0.00")]]


def test_the_lowest_score_is_bold_with_or_without_a_test() -> None:
    grid = results(wan=(0.5, 0.25, ""), seedance=(0.75, 0.5, "dagger"), veo31=(0, None, "none_valid"))
    (row,) = body(script.table_4(grid, MODELS))
    assert row == ["Dice", Entry("0.50"), Entry("0.25", bold=True), Entry("1.00")]


def test_the_mean_stands_below_the_scenes_that_it_is_over_and_only_there() -> None:
    grid = results(wan=(1, 0.25, ""), seedance=(1, 0.5, ""), veo31=(1, 0.75, ""))
    assert len(body(script.table_2(grid, MODELS))) == len(body(script.table_4(grid, MODELS))) == 1
    operator = {"mean": 0.0, "low": -0.04, "high": 0.04, "level": 0.95, "replicates": 50_000}
    grid |= {"mntv": {"wan": 0.5, "seedance": 0.25, "veo31": 0.75}}
    grid |= {"calibrated_operator": operator, "calibrated_operator_exact": operator}
    best = Entry("0.25", bold=True)
    assert body(script.table_2(grid, MODELS))[-1] == ["mnTV ↓", "", Entry("0.50"), "", best, "", Entry("0.75")]
    assert body(script.table_4(grid, MODELS))[-1] == ["mnTV ↓", Entry("0.50"), best, Entry("0.75")]


def test_a_cell_has_its_own_band() -> None:
    found = script.cell_result(Cell("main", "ball", "mine", (1,) * 6 + (None,) * 26))
    assert (found["n_valid"], found["tv"], found["null_band"]) == (6, 0.5, pytest.approx((0, 0.5)))
    assert script.cell_result(Cell("main", "ball", "mine", (None,) * 32))["null_band"] is None


def test_the_simulated_operator_is_the_exact_one_up_to_noise() -> None:
    simulated, exact = script.calibrated_operator(), script.exact_operator()
    assert simulated["mean"] == pytest.approx(0, abs=5e-4)
    for name in ("low", "median", "high"):
        assert simulated[name] == pytest.approx(exact[name], abs=1e-3), name
    assert exact["low"] < 0 < exact["high"]
