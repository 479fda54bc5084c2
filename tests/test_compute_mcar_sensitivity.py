"""Missing-outcome bounds, on cells small enough to work out by hand."""

import pytest

import compute_mcar_sensitivity as script
from models import resolve
from records import Cell
from scenes import SCENES
from stats_utils import cell_score
from tables import Group

# 16 hearts, 8 spades and 8 nulls; 8 of each are expected.
CARDS = Cell("main", "cards", "mine", (1,) * 16 + (4,) * 8 + (None,) * 8)


def test_the_bounds_of_a_cell_are_its_imputations() -> None:
    found = script.summary(script.cell_bounds(CARDS))
    # Best: the nulls go to diamonds and clubs, so that 16 hearts are 8 too many. Worst: 24 hearts, 16 too many.
    # Reported: (1 - 3/4) + 3/4 TV of (16, 0, 0, 8) of 24.
    assert found == pytest.approx(
        {"rho": 0.75, "tv_best": 8 / 32, "tv_worst": 16 / 32, "tv_reported": 0.25 + 0.75 * (10 + 2) / 24}
    )


def test_a_cell_without_a_null_has_no_width() -> None:
    found = script.summary(script.cell_bounds(Cell("main", "cards", "mine", (1, 2, 3, 4) * 8)))
    assert found == {"rho": 1, "tv_best": 0, "tv_worst": 0, "tv_reported": 0}


def test_no_imputation_exceeds_the_reported_tv() -> None:
    for bins in ((None,) * 32, (2,) + (None,) * 31, CARDS.bins):
        found = script.summary(script.cell_bounds(Cell("main", "cards", "mine", bins)))
        assert found["tv_best"] <= found["tv_worst"] <= found["tv_reported"]


def test_only_the_null_heavy_scenes_are_imputed_in_the_mean() -> None:
    assert [scene for scene in SCENES if scene in ("pendulum", "cards", "lottery", "roulette")] == script.NULL_HEAVY
    nulls = {(s, "mine"): script.cell_bounds(Cell("main", s, "mine", (None,) * 32)) for s in SCENES}
    assert script.imputed_mntv(nulls, "mine", "reported") == 1
    worst = {}
    for scene, spec in SCENES.items():
        # All nulls in the outcome that is least probable, which is the furthest from the reference; the last such one
        # gives the same score.
        least = spec.reference.weights.index(min(spec.reference.weights))
        counts = [32 * (i == least) for i in range(spec.k)]
        worst[scene] = cell_score(counts, 32, spec.reference).score if scene in script.NULL_HEAVY else 1
    assert script.imputed_mntv(nulls, "mine", "worst") == pytest.approx(sum(worst.values()) / 9, rel=1e-12)


def test_a_model_without_a_scene_has_no_mean() -> None:
    some = {(s, "mine"): script.cell_bounds(Cell("main", s, "mine", (1,) * 32)) for s in list(SCENES)[:8]}
    with pytest.raises(ValueError, match="expected those of"):
        script.imputed_mntv(some, "mine", "best")


def test_the_note_counts_the_models_that_lie_above_their_bounds() -> None:
    rows = {"wan": {"best": 0.2, "worst": 0.4, "reported": 0.5}, "mine": {"best": 0.2, "worst": 0.4, "reported": 0.3}}
    table = script.model_table({"mntv": rows}, resolve(["wan", "mine"]))
    assert table.rows == [["WAN-2.7", "0.200", "0.400", "0.500"], ["mine", "0.200", "0.400", "0.300"]]
    assert "for 1 of 2 models" in table.notes[0]


def test_the_cells_are_printed_with_three_decimals_below_their_scene() -> None:
    cell = script.summary(script.cell_bounds(CARDS))
    table = script.cell_table({"cells": {scene: {"mine": cell} for scene in script.NULL_HEAVY}}, resolve(["mine"]))
    assert table.rows[2:4] == [Group("Cards"), ["mine", "0.75", "0.250", "0.500", "0.625"]]
