"""Families, corrections, marks and reasons of the tests, on cells small enough to work out by hand."""

from typing import Any

import numpy as np
import pytest

import compute_chi2 as script
from models import PUBLISHED, resolve
from records import Cell
from scenes import SCENES
from stats_utils import total_variation
from tables import Entry, Group


def cell_with(p: dict[str, float] | float, counts: tuple[int, ...] = (2, 2)) -> dict[str, Any]:
    """A tested cell with these p-values, or with one under all tests."""
    values = p if isinstance(p, dict) else dict.fromkeys(script.TESTS, p)
    return {"tested": True, "n_valid": sum(counts), "counts": counts, "tests": {k: {"p": v} for k, v in values.items()}}


def split_cell(scene: str, counts: tuple[int, ...], *, chi2: bool, tv: bool, simulated: bool | None = None) -> Any:
    """A cell of which the exact tests say this, after correction; the published one says what exact χ² does."""
    verdicts = {"chi2_monte_carlo": chi2 if simulated is None else simulated, "chi2_exact": chi2, "tv_exact": tv}
    distance = float(total_variation(counts, SCENES[scene].reference))
    cell = cell_with({"chi2_monte_carlo": 0.0212, "chi2_exact": 0.0213, "tv_exact": 0.0314}, counts) | {"tv": distance}
    for name, significant in verdicts.items():
        cell["tests"][name] |= {"significant": significant, "q": 0.01 if significant else 0.5}
    return cell


@pytest.mark.parametrize(("valid", "note"), [(0, "none_valid"), (3, "dagger")])
def test_a_cell_with_too_few_valid_rollouts_is_not_tested_and_says_why(valid: int, note: str) -> None:
    result = script.test_cell(Cell("main", "ball", "mine", (1,) * valid + (None,) * (32 - valid)))
    assert result == {"counts": (valid, 0), "n_valid": valid, "tested": False, "note": note}


def test_the_exact_tests_of_a_coin_are_the_binomial_one() -> None:
    result = script.test_cell(Cell("main", "ball", "mine", (1,) * 4 + (None,) * 28))
    assert (result["tested"], result["chi2"], result["tv"]) == (True, 4, 0.5)
    for name in ("chi2_exact", "tv_exact"):
        assert result["tests"][name]["p"] == pytest.approx(2 / 16, rel=1e-12)
    assert result["tests"]["chi2_monte_carlo"]["p"] == pytest.approx(2 / 16, abs=0.01)


def test_a_family_is_corrected_as_benjamini_and_hochberg_do_by_hand() -> None:
    cells = [cell_with(p) for p in (0.01, 0.04, 0.03, 0.5)]
    family = script.adjust(["mine"], cells)
    tests = [cell["tests"]["tv_exact"] for cell in cells]
    assert [test["q"] for test in tests] == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert [test["p_bonferroni"] for test in tests] == pytest.approx([0.04, 0.16, 0.12, 1])
    assert [test["significant"] for test in tests] == [True, False, False, False]
    assert [cell["note"] for cell in cells] == ["", "not_sig_after_bh", "not_sig_after_bh", ""]
    assert (family["models"], family["n_tests"], family["bonferroni_bound"]) == (["mine"], 4, 0.0125)
    assert family["tests"] == {name: {"significant": 1, "largest_rejected_p": 0.01} for name in script.TESTS}
    assert script.family_notes([family], "tv_exact") == [
        "mine, a family of its own: 1 of 4 tested cells significant after Benjamini-Hochberg at 0.05 "
        "(largest rejected p = 0.0100); Bonferroni bound p ≤ 0.01250."
    ]


def test_a_family_without_a_discovery_names_no_threshold() -> None:
    family = script.adjust([*PUBLISHED], [cell_with(0.5)])
    assert family["tests"]["tv_exact"] == {"significant": 0, "largest_rejected_p": None}
    (note,) = script.family_notes([family], "tv_exact")
    assert note.startswith("The six published models: 0 of 1 tested cells significant") and "largest" not in note


def test_a_family_without_a_tested_cell_is_empty_and_says_so() -> None:
    family = script.adjust(["mine"], [])
    assert family == {"models": ["mine"], "n_tests": 0, "bonferroni_bound": None, "tests": {}}
    assert script.family_notes([family], "tv_exact") == [
        "mine, a family of its own: no cell has the 4 valid rollouts that a test needs."
    ]
    grid = {"ball": {"mine": {"tested": False, "n_valid": 0, "note": "none_valid"}}}
    for table in (
        script.table_3(grid, resolve(["mine"]), [family]),
        script.exact_table(grid, resolve(["mine"]), [family]),
    ):
        assert {entry for row in table.rows if not isinstance(row, Group) for entry in row[1:]} == {"—"}
    assert script.table_6(grid, [family]).rows == [] == script.verdict_table(grid).rows


def test_the_threshold_of_a_family_has_four_decimals_in_that_family_only() -> None:
    first, second = cell_with(0.0123), cell_with(0.0123)
    families = [
        script.adjust(["a"], [first, cell_with(0.9)]),
        script.adjust(["b"], [second, cell_with(0.0124), cell_with(0.0125)]),
    ]
    grid = {"ball": {"a": first, "b": second}}
    (row,) = (row for row in script.table_3(grid, resolve(["a", "b"]), families).rows if not isinstance(row, Group))
    assert row == ["Ball fork", "0.0123", "0.012"]
    assert [row[2] for row in script.table_6(grid, families).rows if not isinstance(row, Group)] == ["0.0123", "0.012"]


def test_a_threshold_below_a_thousandth_is_printed_as_such() -> None:
    cell = cell_with(0.0004)
    family = script.adjust(["a"], [cell])
    assert script.raw_p_text(0.0004, family, "tv_exact") == "<0.001"


def test_the_tables_mark_what_is_not_tested_and_what_is_not_significant_after_correction() -> None:
    weak, strong = cell_with(0.04), cell_with(0.01)
    family = script.adjust([*PUBLISHED], [weak, strong, *(cell_with(0.9) for _ in range(2))])
    row = {
        "wan": weak,
        "seedance": strong,
        "happyhorse": {"tested": False, "n_valid": 2, "note": "dagger"},
        "veo31": {"tested": False, "n_valid": 0, "note": "none_valid"},
    }
    models = resolve(list(row))
    printed = script.table_3({"ball": row}, models, [family]).rows[1]
    assert printed == ["Ball fork", "0.040‡", "0.0100", "†", "—"]
    exact = script.exact_table({"ball": row}, models, [family]).rows[1]
    weak_entry, strong_entry = Entry("0.040"), Entry("0.010", bold=True)
    assert exact == ["Ball fork", weak_entry, weak_entry, strong_entry, strong_entry, "†", "†", "—", "—"]


def test_tested_cells_are_listed_ascending_within_their_family() -> None:
    cells = {model: cell_with(p) for model, p in (("wan", 0.5), ("veo31", 0.25), ("mine", 0.4))}
    families = [script.adjust([*PUBLISHED], [cells["wan"], cells["veo31"]]), script.adjust(["mine"], [cells["mine"]])]
    rows = script.table_6({"ball": cells}, families).rows
    assert [row.title if isinstance(row, Group) else row[1] for row in rows] == [
        "Published models",
        "Veo 3.1",
        "WAN-2.7",
        "mine (own family)",
        "mine",
    ]


BOARD_TAIL = (1, 0, 0, 0, 1, 2, 1, 0, 0, 0, 0)
BOARD_CENTRE = (0, 0, 0, 0, 0, 9, 1, 0, 0, 0, 0)
REASONS: dict[str, tuple[str, Any, str]] = {
    "simulation": (
        "dice",
        split_cell("dice", (6, 2, 1, 1, 1, 1), chi2=False, tv=False, simulated=True),
        "Monte Carlo noise at the threshold: p = 0.0212, exact 0.0213",
    ),
    "correction": (
        "ball",
        split_cell("ball", (8, 2), chi2=True, tv=False)
        | {"tests": {k: {"p": 0.03, "significant": k != "tv_exact", "q": 0.04} for k in script.TESTS}},
        "both exact tests give p = 0.0300; its correction depends on the other cells, whose p-values differ",
    ),
    # Expected in a board's outer slot: 5/1024. χ² is mostly (1 - 5/1024)² / (5/1024) = 202.8.
    "rare_outcome": (
        "galton_board",
        split_cell("galton_board", BOARD_TAIL, chi2=True, tv=False),
        "99% of χ² comes from outcome 1, a rare one (1 seen, 0.0049 expected); the mass moved is TV = 0.",
    ),
    # Two of each face are expected: χ² = (5² + 5 · 1²) / 2, of which 25 / 30 is face 1's.
    "one_outcome": (
        "dice",
        split_cell("dice", (7, 1, 1, 1, 1, 1), chi2=True, tv=False),
        "83% of χ² comes from outcome 1 (7 seen, 2 expected), as χ² squares deviations and TV does not; the mass "
        "moved is TV = 0.42, which sampling noise reaches with p = 0.031",
    ),
    "common_outcome": (
        "galton_board",
        split_cell("galton_board", BOARD_CENTRE, chi2=False, tv=True),
        "outcome 6 is over-full (9 seen, 2.5 expected), which TV = 0.65 shows; the upper tail of χ² belongs to rare "
        "outcomes (1: 0.0098 expected)",
    ),
    "spread": (
        "dice",
        split_cell("dice", (4, 4, 4, 0, 0, 0), chi2=False, tv=True),
        "the mass moved, TV = 0.50, is spread over outcomes that are all equally likely: none gives more than 17% of "
        "χ², which squares deviations and so sees many small ones less than TV does",
    ),
}


@pytest.mark.parametrize("code", script.REASONS)
def test_a_disagreement_has_the_reason_that_its_counts_give(code: str) -> None:
    scene, cell, text = REASONS[code]
    found, line = script.reason(SCENES[scene], cell)
    assert found == code
    assert line.startswith(text)


@pytest.mark.parametrize("scene", ["dice", "cards", "lottery"])
@pytest.mark.parametrize("chi2", [True, False])
def test_no_outcome_of_a_uniform_reference_is_called_rare(scene: str, chi2: bool) -> None:
    rng = np.random.default_rng(0)
    k = SCENES[scene].k
    for n in (5, 11, 31):
        counts = tuple(int(c) for c in rng.multinomial(n, [1 / k] * k))
        code, line = script.reason(SCENES[scene], split_cell(scene, counts, chi2=chi2, tv=not chi2))
        assert code == ("one_outcome" if chi2 else "spread")
        assert "rare" not in line


def test_only_cells_whose_verdict_depends_on_the_statistic_are_explained() -> None:
    agreed = split_cell("dice", (7, 1, 1, 1, 1, 1), chi2=True, tv=True)
    split = split_cell("dice", (7, 1, 1, 1, 1, 1), chi2=True, tv=False)
    table = script.verdict_table({"dice": {"wan": agreed, "veo31": split, "runway45": {"tested": False}}})
    assert "verdict_code" not in agreed and split["verdict_code"] == "one_outcome"
    (row,) = table.rows
    assert not isinstance(row, Group)
    assert row[:5] == ["Dice", "Veo 3.1", Entry("0.010", bold=True), Entry("0.010", bold=True), Entry("0.500")]
    assert row[5] == split["verdict_reason"]
