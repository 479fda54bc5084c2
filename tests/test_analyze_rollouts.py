"""What every model produced: shares, modes, the noise around the reference, and figures that show the same."""

from typing import Any

import numpy as np
import pytest
from matplotlib.container import BarContainer

import analyze_rollouts as script
from models import resolve
from records import Cell
from scenes import SCENES
from tables import Group

DICE = SCENES["dice"]
SOME = Cell("main", "dice", "wan", (1,) * 8 + (6,) * 4 + (2,) * 4 + (None,) * 16)
TIED = Cell("main", "dice", "veo31", (2, 5) * 4 + (None,) * 24)
NONE = Cell("main", "dice", "mine", (None,) * 32)


def test_a_cell_is_its_shares_of_the_valid_rollouts_and_its_mode() -> None:
    found = script.cell_result(SOME)
    assert (found["n"], found["n_valid"], found["rho"], found["counts"]) == (32, 16, 0.5, (8, 4, 0, 0, 0, 4))
    assert found["frequencies"] == [0.5, 0.25, 0, 0, 0, 0.25]
    assert found["modal_outcomes"] == [1]
    assert script.cell_result(TIED)["modal_outcomes"] == [2, 5]


def test_the_range_of_a_coin_is_the_binomial_one_at_its_own_number_of_rollouts() -> None:
    found = script.cell_result(Cell("main", "ball", "mine", (1,) * 6 + (None,) * 26))
    # Of six tosses none is left with probability 1/64, which is below 2.5 %, and one with 6/64.
    assert found["expected_range"] == [[1 / 6, 5 / 6]] * 2


def test_a_cell_without_a_valid_rollout_has_no_shares() -> None:
    found = script.cell_result(NONE)
    assert (found["frequencies"], found["expected_range"], found["modal_outcomes"]) == (None, None, [])


@pytest.fixture
def row() -> dict[str, Any]:
    return {cell.model: script.cell_result(cell) for cell in (SOME, TIED, NONE)}


def test_the_table_names_the_mode_or_how_many_share_it(row: dict[str, Any]) -> None:
    table = script.summary_table({"dice": row}, resolve(list(row)))
    (line,) = (r for r in table.rows if not isinstance(r, Group))
    assert line == ["Dice", "16", "1 0.50", "8", "2 tied 0.50", "0", "—"]


def test_the_figure_shows_the_shares_the_reference_and_the_noise(row: dict[str, Any]) -> None:
    figure = script.draw(DICE, row, resolve(list(row)))
    shown, tied, empty = figure.axes[:3]
    for ax, model in ((shown, "wan"), (tied, "veo31")):
        (bars,) = (c for c in ax.containers if isinstance(c, BarContainer))
        assert [bar.get_height() for bar in bars] == row[model]["frequencies"]
        whiskers = [segment[:, 1].tolist() for segment in ax.collections[0].get_segments()]  # type: ignore[attr-defined]
        assert np.allclose(whiskers, row[model]["expected_range"])
    assert not empty.containers and "no valid rollout" in [text.get_text() for text in empty.texts]
    for ax in (shown, tied, empty):
        assert np.allclose(ax.lines[0].get_ydata(), DICE.reference.probabilities)
    assert empty.get_title(loc="left") == "mine   0/32 valid"


def test_a_scene_in_which_the_first_model_shows_nothing_has_a_full_legend(row: dict[str, Any]) -> None:
    figure = script.draw(DICE, row, resolve(["mine", "wan"]))
    named = {text.get_text().partition(" ")[0] for text in figure.legends[0].get_texts()}
    assert named == {"model", "central", "reference"}
