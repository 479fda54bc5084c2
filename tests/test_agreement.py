"""Agreement of two readers, and Cohen's kappa."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import agreement
from stats_utils import clopper_pearson

READINGS = st.lists(st.tuples(st.none() | st.integers(1, 4), st.none() | st.integers(1, 4)), min_size=1, max_size=40)


def test_kappa_of_cohens_two_by_two_table_is_known() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: rate 0.7, chance 0.5, kappa 0.4.
    first = [1] * 25 + [2] * 25
    second = [1] * 20 + [2] * 5 + [1] * 10 + [2] * 15
    found = agreement(first, second)
    assert (found.n, found.agree, found.rate, found.chance) == (50, 35, 0.7, 0.5)
    assert found.kappa == pytest.approx(0.4, abs=1e-15)
    exact = clopper_pearson(35, 50, 0.95)
    assert found.kappa_interval is not None
    assert found.kappa_interval.low == pytest.approx(2 * exact.low - 1, abs=1e-15)
    assert found.kappa_interval.high == pytest.approx(2 * exact.high - 1, abs=1e-15)


def test_full_agreement_still_has_an_interval_with_width() -> None:
    found = agreement([1, 2, None, 1], [1, 2, None, 1])
    assert found.kappa == 1.0
    assert found.kappa_interval is not None
    assert found.kappa_interval.low < 0.5
    assert found.kappa_interval.high == 1.0


@pytest.mark.parametrize("outcome", [1, None])
def test_kappa_of_readers_who_never_vary_cannot_be_estimated(outcome: int | None) -> None:
    found = agreement([outcome] * 8, [outcome] * 8)
    assert found.rate == 1.0
    assert found.kappa is None
    assert found.kappa_interval is None
    assert "same outcome" in found.not_estimable


def test_one_constant_reader_has_kappa_zero() -> None:
    assert agreement([1, 1, 1, 1], [1, 1, 2, None]).kappa == 0.0


def test_no_rollout_gives_no_estimate() -> None:
    found = agreement([], [])
    assert found.rate is None
    assert found.kappa is None
    assert found.not_estimable


def test_readings_of_different_rollouts_are_an_error() -> None:
    with pytest.raises(ValueError, match="same rollouts"):
        agreement([1], [1, 2])


@given(READINGS)
def test_kappa_is_symmetric_and_at_most_one_and_inside_its_interval(pairs: list[tuple[int | None, int | None]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = agreement(first, second)
    assert found.kappa == agreement(second, first).kappa
    if found.kappa is not None and found.kappa_interval is not None:
        assert found.kappa <= 1
        assert found.kappa_interval.low <= found.kappa <= found.kappa_interval.high
        assert found.kappa_interval.low < found.kappa_interval.high


def test_the_interval_covers_where_judges_agree_on_nearly_all() -> None:
    rng = np.random.default_rng(0)
    margin = np.array([0.45, 0.45, 0.10])
    joint = 0.95 * np.diag(margin) + 0.05 * np.outer(margin, margin)
    true_kappa = 0.95
    covered = 0
    for _ in range(300):
        cells = rng.choice(9, size=32, p=joint.ravel())
        found = agreement([int(c) // 3 for c in cells], [int(c) % 3 for c in cells])
        assert found.kappa_interval is not None
        covered += found.kappa_interval.low <= true_kappa <= found.kappa_interval.high
    assert covered / 300 >= 0.93
