"""What the scripts say of one cell, on cells small enough to work out by hand."""

import pytest

from cell_summary import null_band, published_p, summary
from constants import COIN
from records import Cell


def coin_cell(lefts: int, rights: int, absent_reason: str | None = None) -> Cell:
    nulls = 32 - lefts - rights
    bins = (1,) * lefts + (2,) * rights + (None,) * nulls
    return Cell("main", "ball", "mine", bins, absent_reason=absent_reason)


@pytest.mark.parametrize(("valid", "note"), [(0, "none_valid"), (1, "dagger"), (3, "dagger"), (4, ""), (32, "")])
def test_the_note_says_whether_a_cell_can_be_tested(valid: int, note: str) -> None:
    assert summary(coin_cell(valid, 0))["note"] == note
    assert (published_p(coin_cell(valid, 0)) is None) == bool(note)


def test_an_absent_cell_is_noted_as_such() -> None:
    found = summary(coin_cell(0, 0, "lost"))
    assert (found["note"], found["score"], found["rho"], found["tv"]) == ("absent", 1, 0, None)


def test_the_score_of_two_equal_tosses_is_that_of_the_formula() -> None:
    found = summary(coin_cell(2, 0))
    # Of two tosses TV is 1/2 or 0, each with probability 1/2: the floor is 1/4.
    assert (found["counts"], found["n"], found["n_valid"]) == ((2, 0), 32, 2)
    assert (found["rho"], found["tv"], found["floor"]) == (1 / 16, 0.5, 0.25)
    assert found["score"] == pytest.approx(15 / 16 + 1 / 16 * (0.5 - 0.25) / (1 - 0.25), rel=1e-12)


def test_the_null_band_is_that_of_the_binomial() -> None:
    assert null_band(COIN, 0) is None
    # Six tosses: |heads - 3| / 6 is 0 with probability 20/64, and at most 1/3 with 62/64.
    assert null_band(COIN, 6) == pytest.approx((0, 0.5))
    # Seven tosses: 1/14 at least, and at most 5/14 with 126/128.
    assert null_band(COIN, 7) == pytest.approx((1 / 14, 5 / 14))


def test_the_published_p_counts_ties_and_the_observation_itself() -> None:
    assert published_p(coin_cell(2, 2)) == 1
    assert published_p(coin_cell(4, 0)) == pytest.approx(1 / 8, abs=0.006)
    # No draw of 50,000 reaches 32 of 32.
    assert published_p(coin_cell(32, 0)) == 1 / 50_001


def test_the_published_p_of_a_cell_does_not_depend_on_those_before_it() -> None:
    first = published_p(coin_cell(4, 1))
    published_p(coin_cell(10, 5))
    assert published_p(coin_cell(4, 1)) == first
