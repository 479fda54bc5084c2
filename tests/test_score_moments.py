"""The exact mean and variance of a cell's score."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from constants import BINOMIAL_10, COIN, LOTTERY_20, N_ROLLOUTS, ROULETTE_COLOUR, SUITS, Reference
from score_moments import score_moments
from stats_utils import cell_score, score_replicates

SMALL_REFERENCES = (COIN, SUITS, ROULETTE_COLOUR, Reference((1, 2, 5)))


def by_enumeration(distribution: NDArray[np.float64], n: int, reference: Reference) -> tuple[float, float]:
    """Mean and variance of the score over every possible sample, one by one."""
    mean = square = 0.0
    for counts in itertools.product(range(n + 1), repeat=reference.k):
        if sum(counts) > n:
            continue
        probability = float(math.factorial(n))
        for x, p in zip((*counts, n - sum(counts)), distribution, strict=True):
            probability *= p**x / math.factorial(x)
        score = cell_score(counts, n, reference).score
        mean += probability * score
        square += probability * score**2
    return mean, square - mean**2


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SMALL_REFERENCES), st.integers(1, 6), st.data())
def test_moments_equal_enumeration(reference: Reference, n: int, data: st.DataObject) -> None:
    k = reference.k
    weights = data.draw(st.lists(st.integers(0, 9), min_size=k + 1, max_size=k + 1).filter(any))
    distribution = np.array(weights) / sum(weights)
    moments = score_moments([distribution], n, reference)
    mean, variance = by_enumeration(distribution, n, reference)
    assert moments.mean[0] == pytest.approx(mean, abs=1e-12)
    assert moments.variance[0] == pytest.approx(variance, abs=1e-12)


@pytest.mark.parametrize("reference", [BINOMIAL_10, LOTTERY_20])
def test_moments_equal_simulation_where_enumeration_cannot_go(reference: Reference) -> None:
    rng = np.random.default_rng(3)
    distribution = rng.dirichlet(np.ones(reference.k + 1))
    moments = score_moments([distribution], N_ROLLOUTS, reference)
    scores = score_replicates(rng.multinomial(N_ROLLOUTS, distribution, 100_000)[:, :-1], N_ROLLOUTS, reference)
    # Five standard errors of the simulated mean; the variance's relative one is about 0.5 %.
    assert moments.mean[0] == pytest.approx(scores.mean(), abs=5 * scores.std() / math.sqrt(len(scores)))
    assert moments.variance[0] == pytest.approx(scores.var(), rel=0.03)


@pytest.mark.parametrize("reference", [*SMALL_REFERENCES, BINOMIAL_10, LOTTERY_20])
def test_a_calibrated_operator_expects_a_score_of_zero_however_much_is_scorable(reference: Reference) -> None:
    calibrated = np.array([*reference.probabilities, 0.0])
    assert score_moments([calibrated], N_ROLLOUTS, reference).mean[0] == pytest.approx(0, abs=1e-13)
    nulls = np.eye(reference.k + 1)[-1]
    half = score_moments([(calibrated + nulls) / 2], N_ROLLOUTS, reference)
    # Given m valid rollouts the expected score is 1 - m / N.
    assert half.mean[0] == pytest.approx(0.5, abs=1e-13)


@pytest.mark.parametrize("n", [200, 700])
def test_moments_of_many_tosses_are_those_of_the_binomial(n: int) -> None:
    x = np.arange(n + 1)
    pmf = scipy.stats.binom.pmf(x, n, 0.3)
    floor = (scipy.stats.binom.pmf(x, n, 0.5) * np.abs(x / n - 0.5)).sum()
    scores = (np.abs(x / n - 0.5) - floor) / (1 - floor)
    moments = score_moments([[0.3, 0.7, 0.0]], n, COIN)
    assert moments.mean[0] == pytest.approx((pmf * scores).sum(), rel=1e-9)
    assert moments.variance[0] == pytest.approx((pmf * scores**2).sum() - (pmf * scores).sum() ** 2, rel=1e-6)


def test_what_cannot_vary_has_its_own_score_and_no_variance() -> None:
    moments = score_moments(np.eye(5), N_ROLLOUTS, SUITS)
    one_suit = cell_score((N_ROLLOUTS, 0, 0, 0), N_ROLLOUTS, SUITS).score
    assert moments.mean == pytest.approx([one_suit] * 4 + [1.0], abs=1e-13)
    assert moments.variance == pytest.approx(np.zeros(5), abs=1e-24)


def test_a_row_does_not_depend_on_the_rows_beside_it() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(12), size=5)
    together = score_moments(rows, N_ROLLOUTS, BINOMIAL_10)
    for i, row in enumerate(rows):
        alone = score_moments([row], N_ROLLOUTS, BINOMIAL_10)
        assert alone.mean[0] == pytest.approx(together.mean[i], rel=1e-13)
        assert alone.variance[0] == pytest.approx(together.variance[i], rel=1e-12)


@pytest.mark.parametrize(
    ("distributions", "n"),
    [
        ([[0.5, 0.5]], 4),
        ([0.5, 0.5, 0.0], 4),
        ([[0.5, 0.6, 0.0]], 4),
        ([[1.5, -0.5, 0.0]], 4),
        ([[0.5, 0.5, 0.0]], 0),
        ([[0.5, 0.5, 0.0]], 701),
        (np.empty((0, 3)), 4),
    ],
)
def test_what_is_no_distribution_is_an_error(distributions: list[list[float]], n: int) -> None:
    with pytest.raises(ValueError, match="distribution"):
        score_moments(distributions, n, COIN)
