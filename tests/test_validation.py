"""How a judge's readings are counted against what is right."""

import pytest

from validation import compare, compare_by_scene, rate, rates_table


def test_each_kind_of_disagreement_is_counted_apart() -> None:
    row = compare([(1, 1), (None, None), (None, 2), (2, None), (1, 2), (2, 2)])
    expected = {"n": 6, "agree": 3, "false_null": 1, "reference_valid": 4, "missed_null": 1, "reference_null": 2}
    assert {name: row[name] for name in expected} == expected
    assert (row["wrong_label"], row["both_valid"]) == (1, 3)
    assert row["rates"]["agreement"]["estimate"] == 0.5


def test_a_rate_without_a_rollout_is_not_estimated() -> None:
    assert compare([(1, 1)])["rates"]["missed_null"] is None
    assert set(compare([])["rates"].values()) == {None}
    assert rate(0, 0) is None


def test_a_rate_has_its_exact_interval() -> None:
    found = rate(0, 3)
    assert found is not None
    # Of no success in n: the upper end is 1 - 0.025^(1/n).
    assert (found["estimate"], found["low"], found["high"]) == (0, 0, pytest.approx(1 - 0.025 ** (1 / 3), rel=1e-9))


def test_the_total_is_of_all_scenes_together() -> None:
    rows = compare_by_scene({"dice": [(1, 1), (None, 1)], "cards": [(2, 2)]})
    assert list(rows) == ["dice", "cards", "total"]
    assert [(row["n"], row["agree"], row["false_null"]) for row in rows.values()] == [(2, 1, 1), (1, 1, 0), (3, 2, 1)]


def test_the_table_prints_counts_rates_and_intervals() -> None:
    table = rates_table(compare_by_scene({"dice": [(1, 1), (1, 1)]}), "Judge against hand labels", "person")
    assert table.rows[0] == ["Dice", "2", "2/2 (100%)", "[16, 100]", "0/2", "[0, 84]", "—", "", "0/2", "[0, 84]"]
    assert table.rows[1][:3] == ["Total", "2", "2/2 (100.0%)"]  # type: ignore[index]
    assert "where the person did" in table.notes[0] and table.caption.startswith(
        "Judge against hand labels, with exact"
    )
