"""The e-process is a martingale under the reference, its alarms are rare, and e-BH rejects what it should."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.special
from hypothesis import assume, given
from hypothesis import strategies as st

from constants import ALPHA, COIN, DIE, ROULETTE_COLOUR, SEQUENTIAL_WEIGHT_PER_OUTCOME, SUITS, Reference
from scenes import SCENES
from sequential import e_benjamini_hochberg, false_alarms, log_e_processes, sequential_test
from stats_utils import clopper_pearson

REFERENCES = tuple(dict.fromkeys(scene.reference for scene in SCENES.values()))
references = st.sampled_from(REFERENCES) | st.lists(st.integers(1, 9), min_size=2, max_size=6).map(
    lambda weights: Reference(tuple(weights))
)


def every_sequence(reference: Reference, n: int) -> tuple[np.ndarray, np.ndarray]:
    """All k^n sequences of 0-based outcomes, and their probabilities."""
    sequences = np.array(list(itertools.product(range(reference.k), repeat=n)))
    return sequences, np.array(reference.probabilities)[sequences].prod(axis=1)


@st.composite
def cells(draw: st.DrawFn) -> tuple[Reference, list[int | None]]:
    reference = draw(references)
    return reference, draw(st.lists(st.none() | st.integers(1, reference.k), min_size=1, max_size=32))


@pytest.mark.parametrize(
    ("reference", "n"), [(COIN, 10), (ROULETTE_COLOUR, 7), (SUITS, 6), (DIE, 5), (Reference((1, 5, 2)), 7)], ids=str
)
def test_the_mean_e_value_is_one_at_every_time_under_the_reference(reference: Reference, n: int) -> None:
    sequences, probabilities = every_sequence(reference, n)
    means = probabilities @ np.exp(log_e_processes(sequences, reference))
    assert np.allclose(means, 1, rtol=1e-12)


@given(references, st.data())
def test_the_next_bet_is_fair_after_any_history(reference: Reference, data: st.DataObject) -> None:
    history = data.draw(st.lists(st.integers(0, reference.k - 1), min_size=1, max_size=12))
    ahead = np.array([[*history, outcome] for outcome in range(reference.k)])
    log_e = log_e_processes(ahead, reference)
    assert np.array(reference.probabilities) @ np.exp(log_e[:, -1] - log_e[:, -2]) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(("reference", "n"), [(COIN, 15), (ROULETTE_COLOUR, 9), (SUITS, 8), (DIE, 6)], ids=str)
def test_false_alarms_are_at_most_alpha_by_enumeration(reference: Reference, n: int) -> None:
    sequences, probabilities = every_sequence(reference, n)
    highest = log_e_processes(sequences, reference).max(axis=1)
    for alpha in (0.01, ALPHA, 0.2):
        assert probabilities[highest >= -math.log(alpha)].sum() <= alpha


@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_simulated_false_alarms_are_at_most_alpha(reference: Reference) -> None:
    replicates = 5_000
    alarms = false_alarms(reference, 32, ALPHA, replicates, np.random.default_rng(0))
    assert alarms > 0
    assert clopper_pearson(alarms, replicates, 0.95).low <= ALPHA


def test_simulated_false_alarms_agree_with_enumeration() -> None:
    sequences, probabilities = every_sequence(COIN, 12)
    expected = probabilities[log_e_processes(sequences, COIN).max(axis=1) >= -math.log(ALPHA)].sum()
    interval = clopper_pearson(false_alarms(COIN, 12, ALPHA, 20_000, np.random.default_rng(1)), 20_000, 0.999)
    assert interval.low < expected < interval.high


@given(cells())
def test_the_final_value_is_that_of_the_closed_form(
    cell: tuple[Reference, list[int | None]],
) -> None:
    reference, bins = cell
    p = np.array(reference.probabilities)
    prior = SEQUENTIAL_WEIGHT_PER_OUTCOME * reference.k * p
    counts = np.array([bins.count(i) for i in range(1, reference.k + 1)])

    def log_beta(weights: np.ndarray) -> float:
        return float(scipy.special.gammaln(weights).sum() - scipy.special.gammaln(weights.sum()))

    expected = log_beta(prior + counts) - log_beta(prior) - counts @ np.log(p)
    assert sequential_test(bins, reference, ALPHA).final_log_e == pytest.approx(expected, abs=1e-9)


@given(cells(), st.randoms())
def test_the_final_value_does_not_depend_on_the_order(cell: tuple[Reference, list[int | None]], random: object) -> None:
    reference, bins = cell
    shuffled = list(bins)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    ends = [sequential_test(order, reference, ALPHA).final_log_e for order in (bins, shuffled)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@given(cells())
def test_unscorable_rollouts_leave_the_evidence_as_it_is(cell: tuple[Reference, list[int | None]]) -> None:
    reference, bins = cell
    test = sequential_test(bins, reference, ALPHA)
    assert len(test.log_e) == len(bins)
    assert test.n_valid == sum(b is not None for b in bins)
    before = 0.0
    for outcome, log_e in zip(bins, test.log_e, strict=True):
        if outcome is None:
            assert log_e == before
        before = log_e
    valid = [b for b in bins if b is not None]
    if valid:
        assert sequential_test(valid, reference, ALPHA).final_log_e == test.final_log_e


@given(cells(), st.floats(0.001, 0.5))
def test_the_decision_comes_at_the_first_crossing(cell: tuple[Reference, list[int | None]], alpha: float) -> None:
    reference, bins = cell
    test = sequential_test(bins, reference, alpha)
    crossed = [t for t, log_e in enumerate(test.log_e, start=1) if log_e >= -math.log(alpha)]
    assert test.decided_after == (crossed[0] if crossed else None)
    assert 0 < test.p_value <= 1
    assert test.p_value == pytest.approx(min(1.0, math.exp(-max(test.log_e))))


def test_the_first_outcome_is_no_evidence() -> None:
    # The prior's mean is the reference.
    for reference in REFERENCES:
        for outcome in range(1, reference.k + 1):
            assert sequential_test([outcome], reference, ALPHA).final_log_e == pytest.approx(0, abs=1e-12)


def test_known_answers_of_a_coin() -> None:
    # Prior Beta(1/2, 1/2): n heads in a row give 2^n * C(2n, n) / 4^n.
    bins = [1] * 8
    test = sequential_test(bins, COIN, ALPHA)
    wealth = [float(Fraction(2**n * math.comb(2 * n, n), 4**n)) for n in range(1, 9)]
    assert np.exp(test.log_e) == pytest.approx(wealth, rel=1e-12)
    assert test.decided_after == 7  # 26.8 after seven, 14.4 after six
    assert sequential_test([None, None, *bins], COIN, ALPHA).decided_after == 9


def test_a_cell_without_a_valid_rollout_is_never_decided() -> None:
    test = sequential_test([None] * 32, DIE, ALPHA)
    assert (test.n_valid, test.decided_after, test.p_value, test.final_log_e) == (0, None, 1.0, 0.0)


@pytest.mark.parametrize("bins", [[], [0], [1, 3], [None, 7]])
def test_outcomes_that_do_not_fit_are_an_error(bins: list[int | None]) -> None:
    with pytest.raises(ValueError, match=r"expected at least one, each None or 1\.\.2"):
        sequential_test(bins, COIN, ALPHA)


def test_e_bh_gives_known_answers() -> None:
    e = np.array([100.0, 30.0, 12.0, 1.0])
    # m / (k e_(k)): 4 / 100, 4 / 60, 4 / 36, 4 / 4.
    assert e_benjamini_hochberg(np.log(e)).tolist() == pytest.approx([4 / 100, 4 / 60, 4 / 36, 1])
    # The second e-value misses 1 / alpha * 4 / 2 = 40 alone, and passes with the third.
    assert (e_benjamini_hochberg(np.log([90.0, 39.0, 27.0, 1.0])) <= ALPHA).tolist() == [True, True, True, False]
    assert (e_benjamini_hochberg(np.log([90.0, 39.0, 26.0, 1.0])) <= ALPHA).tolist() == [True, False, False, False]


@given(st.lists(st.floats(-20, 60), min_size=1, max_size=50), st.floats(0.01, 0.5))
def test_e_bh_rejects_as_its_definition_says(log_e: list[float], alpha: float) -> None:
    m = len(log_e)
    falling = sorted(log_e, reverse=True)
    margins = [falling[k - 1] + math.log(alpha * k / m) for k in range(1, m + 1)]
    assume(min(map(abs, margins)) > 1e-9)  # else rounding decides
    rejected = max((k for k, margin in enumerate(margins, start=1) if margin >= 0), default=0)
    threshold = falling[rejected - 1] if rejected else math.inf
    expected = [value >= threshold for value in log_e]
    assert (e_benjamini_hochberg(log_e) <= alpha).tolist() == expected
