"""Intervals on mnTV: the published percentile bootstrap and the corrected one."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import records
from constants import (
    BINOMIAL_10,
    BOOTSTRAP_REPLICATES,
    COIN,
    DIE,
    LOTTERY_20,
    N_ROLLOUTS,
    ROULETTE_COLOUR,
    SUITS,
    Reference,
)
from intervals import (
    Estimate,
    Outcomes,
    StandardError,
    bootstrap_mntv,
    corrected_difference,
    corrected_estimate,
    model_rng,
    not_told_apart,
    percentile_estimate,
    probability_best,
    score_variances,
    shrunken_distributions,
)
from models import PUBLISHED
from paths import ANALYSIS, PAPER
from scenes import SCENES
from stats_utils import Interval, score_replicates

REFERENCES = (COIN, SUITS, DIE, ROULETTE_COLOUR, BINOMIAL_10, LOTTERY_20)
ALL_NULL = Outcomes((0, 0), N_ROLLOUTS, COIN)
ONE_FACE = Outcomes((0, N_ROLLOUTS), N_ROLLOUTS, COIN)
FAIR = Outcomes((17, 15), N_ROLLOUTS, COIN)


@pytest.fixture(scope="module")
def published() -> dict[str, list[Outcomes]]:
    """Model -> its nine cells."""
    cells = records.read_study(ANALYSIS, "main")
    return {m: [Outcomes(cells[s, m].counts, cells[s, m].n, SCENES[s].reference) for s in SCENES] for m in PUBLISHED}


@st.composite
def outcomes(draw: st.DrawFn) -> Outcomes:
    reference = draw(st.sampled_from(REFERENCES))
    bins = draw(st.lists(st.integers(0, reference.k), min_size=N_ROLLOUTS, max_size=N_ROLLOUTS))
    return Outcomes(tuple(bins.count(i) for i in range(reference.k)), N_ROLLOUTS, reference)


def mean_score(cells: Sequence[Outcomes]) -> float:
    return sum(cell.score for cell in cells) / len(cells)


def corrected(cells: Sequence[Outcomes]) -> Estimate:
    return corrected_estimate(mean_score(cells), cells)


def normal_estimate(value: float, error: float) -> Estimate:
    interval = Interval(value - 2 * error, value + 2 * error, 0.95, "test")
    return Estimate(value, interval, "test", 9, 0, StandardError(error, N_ROLLOUTS - 1))


# --- published ----------------------------------------------------------------------------------------------------


def test_the_published_intervals_are_reproduced(published: dict[str, list[Outcomes]]) -> None:
    for row in records.read_published(PAPER / "table2_mntv.csv"):
        cells = published[row["model"]]
        replicates = bootstrap_mntv(cells, BOOTSTRAP_REPLICATES, model_rng(row["model"]))
        estimate = percentile_estimate(mean_score(cells), replicates, cells)
        assert estimate.interval is not None
        found = [f"{x:.2f}" for x in (estimate.value, estimate.interval.low, estimate.interval.high)]
        assert found == [f"{float(row[column]):.2f}" for column in ("mntv", "ci_low", "ci_high")], row["model"]


def test_a_model_has_its_own_stream_of_random_numbers() -> None:
    assert model_rng("wan").random() == model_rng("wan").random()
    first = {model: model_rng(model).random() for model in (*PUBLISHED, "mine", "mine2", "enim")}
    assert len(set(first.values())) == len(first)


def test_leaving_out_what_was_never_seen_changes_nothing_in_distribution() -> None:
    cell = Outcomes((3, 0, 0, 9, 0, 12), N_ROLLOUTS, DIE)
    rng = np.random.default_rng(1)
    ours = bootstrap_mntv([cell], 40_000, rng)
    drawn = rng.multinomial(N_ROLLOUTS, np.array(cell.with_null) / N_ROLLOUTS, size=40_000)
    direct = score_replicates(drawn[:, :-1], N_ROLLOUTS, DIE)
    error = math.hypot(ours.std(), direct.std()) / math.sqrt(40_000)
    assert ours.mean() == pytest.approx(direct.mean(), abs=5 * error)
    assert ours.std() == pytest.approx(direct.std(), rel=0.03)


def test_the_percentile_interval_of_a_difference_comes_from_the_replicates_differences() -> None:
    a, b = np.arange(1001) / 1000, np.zeros(1001)
    estimate = percentile_estimate(0.4, a - b, [FAIR, FAIR])
    assert estimate.interval is not None
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((0.025, 0.975))
    assert (estimate.value, estimate.cells, estimate.standard_error) == (0.4, 2, None)


# --- corrected ----------------------------------------------------------------------------------------------------


def test_the_variance_of_a_balanced_coin_is_that_of_the_calibrated_one() -> None:
    # The weight is zero at the reference, so V = Var|X / 32 - 1/2| / (1 - E0)^2 with X ~ Binomial(32, 1/2).
    pmf = np.array([math.comb(32, x) for x in range(33)]) / 2**32
    tv = np.abs(np.arange(33) / 32 - 0.5)
    mean = (pmf * tv).sum()
    expected = (pmf * (tv - mean) ** 2).sum() / (1 - mean) ** 2 * 32 / 31
    assert score_variances([(16, 16, 0)], COIN)[0] == pytest.approx(expected, rel=1e-12)


def test_shrinkage_by_hand() -> None:
    # q-hat = (3/4, 1/4, 0): |q-hat - p|^2 = 1/8, V = (1 - 5/8) / 31 = 3/248, weight 1 - 24/248 = 28/31; and then half a
    # calibrated rollout beside 32.
    moved = 7 / 31 * 32 / 32.5
    assert shrunken_distributions([(24, 8, 0)], COIN)[0] == pytest.approx([0.5 + moved, 0.5 - moved, 0])
    # Next to the reference noise explains all of the distance.
    assert shrunken_distributions([(17, 15, 0)], COIN)[0] == pytest.approx([0.5, 0.5, 0])
    # Without spread there is no noise to take away, only half a calibrated rollout to add.
    expected = np.array([[0.25, 32.25, 0], [0.25, 0.25, 32]]) / 32.5
    assert shrunken_distributions([(0, 32, 0), (0, 0, 32)], COIN) == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(outcomes())
def test_shrinkage_gives_a_distribution_between_the_observed_one_and_the_reference(cell: Outcomes) -> None:
    shrunken = shrunken_distributions([cell.with_null], cell.reference)[0]
    target = np.array([*cell.reference.probabilities, 0.0])
    observed = np.array(cell.with_null) / cell.n
    assert shrunken.sum() == pytest.approx(1)
    assert np.all(shrunken >= np.minimum(target, observed) - 1e-15)
    assert np.all(shrunken <= np.maximum(target, observed) + 1e-15)


@settings(max_examples=40, deadline=None)
@given(st.lists(outcomes(), min_size=1, max_size=4))
def test_the_corrected_interval_is_centred_on_the_observed_score(cells: list[Outcomes]) -> None:
    estimate = corrected(cells)
    assert estimate.value == pytest.approx(np.mean([cell.score for cell in cells]))
    if estimate.interval is None or estimate.standard_error is None:
        assert all(cell.degenerate for cell in cells)
    else:
        assert estimate.standard_error.value > 0
        assert estimate.interval.low < estimate.value <= estimate.interval.high <= 1
        if estimate.interval.high < 1:
            middle = (estimate.interval.low + estimate.interval.high) / 2
            assert middle == pytest.approx(estimate.value)


def test_the_corrected_interval_by_hand() -> None:
    # Two cells: half the root of the summed variances, times the t quantile at 31 degrees of freedom.
    estimate = corrected([FAIR, FAIR])
    error = math.sqrt(2 * score_variances([(17, 15, 0)], COIN)[0]) / 2
    assert estimate.standard_error is not None
    assert estimate.standard_error.value == pytest.approx(error)
    assert estimate.standard_error.degrees_of_freedom == 31
    assert estimate.interval is not None
    assert estimate.interval.high - estimate.value == pytest.approx(2.0395134464 * error)


def test_the_variances_of_many_rows_are_those_of_each_alone() -> None:
    rows = [(10, 22, 0), (32, 0, 0), (10, 22, 0), (5, 5, 22)]
    together = score_variances(rows, COIN)
    assert together == pytest.approx([score_variances([row], COIN)[0] for row in rows])
    assert together[1] > 0
    assert together[0] == together[2]


def test_the_published_models_cells_are_estimable_but_for_the_degenerate_ones(
    published: dict[str, list[Outcomes]],
) -> None:
    degenerate = {model: corrected(cells).degenerate for model, cells in published.items()}
    # WAN, HappyHorse and Runway: no valid pendulum; Veo: every walker goes right, every die shows five.
    assert degenerate == {"wan": 1, "seedance": 0, "happyhorse": 1, "veo31": 2, "runway45": 1, "cosmos3_super": 0}


# --- degenerate cells ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "reason"),
    [(ALL_NULL, "no rollout of 32 is valid"), (ONE_FACE, "all 32 rollouts have the same outcome")],
)
def test_a_degenerate_cell_is_not_estimable_and_says_why(cell: Outcomes, reason: str) -> None:
    for estimate in (corrected([cell]), percentile_estimate(cell.score, np.full(9, cell.score), [cell])):
        assert not estimate.estimable
        assert estimate.interval is None
        assert estimate.standard_error is None
        assert estimate.reason is not None
        assert reason in estimate.reason
        assert estimate.value == cell.score


def test_mntv_counts_its_degenerate_cells_and_is_not_estimable_when_all_are() -> None:
    some = corrected([FAIR, ALL_NULL, ONE_FACE])
    assert some.estimable
    assert (some.cells, some.degenerate, some.reason) == (3, 2, None)
    every = corrected([ALL_NULL, ONE_FACE])
    assert not every.estimable
    assert every.degenerate == 2
    assert every.reason is not None


def test_a_difference_to_a_model_that_is_not_estimable_is_not_estimable() -> None:
    known, unknown = corrected([FAIR]), corrected([ALL_NULL])
    for a, b in ((known, unknown), (unknown, known)):
        difference = corrected_difference(a, b)
        assert difference.interval is None
        assert difference.reason == unknown.reason
        assert difference.value == a.value - b.value
        assert difference.contains_zero


# --- comparisons --------------------------------------------------------------------------------------------------


def test_a_difference_is_antisymmetric_and_its_variances_add() -> None:
    a, b = normal_estimate(0.5, 0.03), normal_estimate(0.3, 0.04)
    there, back = corrected_difference(a, b), corrected_difference(b, a)
    assert there.standard_error is not None
    assert there.standard_error.value == pytest.approx(0.05)
    assert there.interval is not None
    assert back.interval is not None
    assert (there.interval.low, there.interval.high) == pytest.approx((-back.interval.high, -back.interval.low))
    assert not there.contains_zero
    assert corrected_difference(a, a).contains_zero


def test_equal_models_are_equally_likely_to_be_best() -> None:
    best = probability_best({model: normal_estimate(0.5, 0.02) for model in "abc"})
    assert list(best.values()) == pytest.approx([1 / 3] * 3)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.005, 0.1)), min_size=1, max_size=6))
def test_the_probabilities_of_being_best_sum_to_one(models: list[tuple[float, float]]) -> None:
    best = probability_best({str(i): normal_estimate(value, error) for i, (value, error) in enumerate(models)})
    assert sum(best.values()) == pytest.approx(1, abs=1e-9)
    assert min(best.values()) >= 0


def test_the_probability_of_being_best_equals_simulation() -> None:
    values, errors = np.array([0.50, 0.52, 0.55]), np.array([0.03, 0.01, 0.05])
    draws = values + errors * np.random.default_rng(0).standard_t(31, size=(200_000, 3))
    share = np.bincount(draws.argmin(axis=1), minlength=3) / len(draws)
    estimates = {str(i): normal_estimate(*pair) for i, pair in enumerate(zip(values, errors, strict=True))}
    assert list(probability_best(estimates).values()) == pytest.approx(share, abs=0.006)


def test_a_model_that_is_not_estimable_is_left_out_of_the_comparison() -> None:
    best = probability_best({"a": normal_estimate(0.5, 0.02), "stuck": corrected([ONE_FACE])})
    assert best == {"a": pytest.approx(1)}


def test_the_sentence_names_the_pairs_that_are_not_told_apart() -> None:
    estimates = {"A": normal_estimate(0.5, 0.02), "B": normal_estimate(0.51, 0.02), "C": normal_estimate(0.9, 0.02)}
    pairs = {(a, b): corrected_difference(estimates[a], estimates[b]) for a, b in itertools.combinations("ABC", 2)}
    assert not_told_apart(pairs) == (
        "Not told apart, as the interval of the difference contains 0: A and B. The other 2 of 3 pairs are told apart."
    )
    del pairs["A", "B"]
    assert not_told_apart(pairs).startswith("All 2 pairs of models are told apart")
    assert not_told_apart({("A", "B"): corrected_difference(estimates["A"], estimates["B"])}).endswith(
        "No pair is told apart."
    )
    assert not_told_apart({}) == "There is only one model, hence no pair to compare."


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_interval_of_a_calibrated_operator_contains_zero_about_as_often_as_it_says(reference: Reference) -> None:
    rng = np.random.default_rng(7)
    counts = rng.multinomial(N_ROLLOUTS, [*reference.probabilities, 0.0], size=(9, 400))
    scores = score_replicates(counts[..., :-1], N_ROLLOUTS, reference).mean(axis=0)
    variances = np.array([score_variances(cell, reference) for cell in counts]).sum(axis=0) / 81
    assert 0.92 < np.mean(np.abs(scores) <= 2.0395 * np.sqrt(variances)) <= 1
