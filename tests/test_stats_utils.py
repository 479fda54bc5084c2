"""The protocol's statistics: known answers by hand, properties that hold for all counts, and degenerate cells."""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import records
from constants import BINOMIAL_10, COIN, DIE, ROULETTE_COLOUR, SUITS, Reference
from paths import ANALYSIS
from scenes import SCENES
from stats_utils import (
    benjamini_hochberg,
    binomial_range,
    bonferroni,
    cell_score,
    chi2_statistic,
    clopper_pearson,
    impute_best,
    impute_worst,
    mntv,
    monte_carlo_p,
    null_counts,
    null_floor,
    score_replicates,
    total_variation,
)
from studies import STUDIES

N = 32
REFERENCES = sorted({scene.reference for scene in SCENES.values()}, key=lambda reference: reference.weights)
# The protocol's references, and others: no bin is special by being equal to another.
references = st.sampled_from(REFERENCES) | st.lists(st.integers(1, 9), min_size=2, max_size=6).map(
    lambda weights: Reference(tuple(weights))
)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@st.composite
def cells(draw: st.DrawFn, smallest: int = 0) -> tuple[Reference, tuple[int, ...]]:
    """A reference, and the counts of up to N valid rollouts."""
    reference = draw(references)
    bins = draw(st.lists(st.integers(0, reference.k - 1), min_size=smallest, max_size=N))
    return reference, tuple(bins.count(i) for i in range(reference.k))


def all_counts(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Every way to put n rollouts into k bins."""
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in all_counts(n - first, k - 1):
            yield (first, *rest)


def probability(counts: Sequence[int], reference: Reference) -> Fraction:
    """Of exactly these counts under the reference."""
    ways = math.factorial(sum(counts))
    chance = Fraction(1)
    for count, p in zip(counts, reference.fractions, strict=True):
        ways //= math.factorial(count)
        chance *= p**count
    return ways * chance


def exact_tv(counts: Sequence[int], reference: Reference) -> Fraction:
    n = sum(counts)
    return sum(abs(Fraction(c, n) - p) for c, p in zip(counts, reference.fractions, strict=True)) / 2


# --- total variation, floor, score ---------------------------------------------------------------------------------


def test_total_variation_by_hand() -> None:
    assert total_variation([32, 0], COIN) == 0.5
    assert total_variation([3, 1], COIN) == 0.25
    assert total_variation([0, 0, 5], ROULETTE_COLOUR) == pytest.approx(36 / 37)
    assert total_variation([[1, 1], [2, 0]], COIN).tolist() == [0.0, 0.5]


def test_the_floor_by_hand() -> None:
    # One flip is always half a unit from one half; two flips differ half of the time.
    assert null_floor(COIN, 1) == 0.5
    assert null_floor(COIN, 2) == 0.25
    assert null_floor(DIE, 1) == pytest.approx(5 / 6, rel=1e-15)


@pytest.mark.parametrize(
    "reference",
    [COIN, SUITS, ROULETTE_COLOUR, Reference((1, 2, 3, 4)), Reference((1, 99))],
    ids=lambda r: str(r.weights),
)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11])
def test_the_floor_is_the_expectation_over_every_possible_count(reference: Reference, n: int) -> None:
    expected = sum(probability(c, reference) * exact_tv(c, reference) for c in all_counts(n, reference.k))
    assert null_floor(reference, n) == float(expected)


@pytest.mark.parametrize("reference", [COIN, SUITS, ROULETTE_COLOUR], ids=lambda r: str(r.weights))
def test_a_calibrated_model_scores_zero_on_average(reference: Reference) -> None:
    mean = math.fsum(probability(c, reference) * cell_score(c, 8, reference).score for c in all_counts(8, reference.k))
    assert mean == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: str(r.k))
def test_the_floor_falls_with_n_and_stays_between_zero_and_one(reference: Reference) -> None:
    floors = [null_floor(reference, n) for n in range(1, 65)]
    assert all(0 < floor < 1 for floor in floors)
    assert all(later <= earlier for earlier, later in itertools.pairwise(floors))


@given(cells(smallest=1))
def test_total_variation_lies_between_zero_and_one(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    tv = float(total_variation(counts, reference))
    assert 0 <= tv <= 1
    assert tv == pytest.approx(float(exact_tv(counts, reference)), abs=1e-14)


@given(cells(), st.randoms())
def test_renaming_the_outcomes_changes_no_statistic(cell: tuple[Reference, tuple[int, ...]], random: object) -> None:
    reference, counts = cell
    order = list(range(reference.k))
    random.shuffle(order)  # type: ignore[attr-defined]
    renamed = Reference(tuple(reference.weights[i] for i in order))
    moved = tuple(counts[i] for i in order)
    before, after = cell_score(counts, N, reference), cell_score(moved, N, renamed)
    for name in ("rho", "tv", "floor", "score", "tv_total"):
        value = getattr(before, name)
        assert getattr(after, name) == (value if value is None else pytest.approx(value, abs=1e-13)), name
    if sum(counts):
        chi2 = float(chi2_statistic(counts, reference))
        assert float(chi2_statistic(moved, renamed)) == pytest.approx(chi2, rel=1e-12, abs=1e-12)


@given(cells())
def test_a_score_is_at_most_one_and_a_null_is_charged_in_full(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    score = cell_score(counts, N, reference)
    assert score.n_valid == sum(counts) and score.rho == sum(counts) / N
    assert score.score <= 1 + 1e-15
    assert score.tv_total <= 1 + 1e-15
    assert score.tv_total >= 1 - score.rho
    if score.tv is not None and score.floor is not None and score.excess is not None:
        assert score.excess <= score.tv
        assert score.score == pytest.approx(1 - score.rho * (1 - score.tv) / (1 - score.floor), abs=1e-12)


@given(cells(smallest=1))
def test_a_null_in_place_of_an_outcome_never_lowers_tv_total(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    for i in (i for i, count in enumerate(counts) if count):
        fewer = tuple(c - (i == j) for j, c in enumerate(counts))
        charged = cell_score(fewer, N, reference).tv_total
        assert charged >= cell_score(counts, N, reference).tv_total - 1 / N - 1e-12


@given(cells())
def test_replicates_are_scored_like_single_cells(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    replicates = np.array([counts, [0] * reference.k, [N, *[0] * (reference.k - 1)]])
    expected = [cell_score(tuple(map(int, row)), N, reference).score for row in replicates]
    assert score_replicates(replicates, N, reference).tolist() == pytest.approx(expected, abs=1e-13)


def test_mntv_is_the_mean_over_the_scenes_and_of_replicates_one_each() -> None:
    assert mntv({"dice": 0.2, "cards": 0.5}, ["cards", "dice"]) == pytest.approx(0.35)
    assert mntv({"dice": np.array([0.0, 1.0]), "cards": np.array([0.5, 0.0])}, ["cards", "dice"]).tolist() == [
        0.25,
        0.5,
    ]


@pytest.mark.parametrize("scores", [{}, {"dice": 0.2}, {"dice": 0.2, "cards": 0.5, "roulette": 1.0}])
def test_mntv_is_never_a_mean_over_other_scenes(scores: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected those of cards, dice"):
        mntv(scores, ["cards", "dice"])


def test_a_cell_without_a_valid_rollout_scores_one_and_estimates_nothing() -> None:
    score = cell_score((0,) * 6, N, DIE)
    assert (score.rho, score.score, score.tv_total) == (0, 1, 1)
    assert (score.tv, score.floor, score.excess) == (None, None, None)


def test_a_cell_with_one_valid_rollout_is_as_far_off_as_any_single_rollout_is() -> None:
    # TV of one rollout is its floor whatever it shows, so the excess is zero and only the nulls count.
    score = cell_score((0, 0, 1, 0, 0, 0), N, DIE)
    assert score.tv == pytest.approx(5 / 6)
    assert score.excess == pytest.approx(0, abs=1e-15)
    assert score.score == pytest.approx(31 / 32)


def test_a_cell_that_is_all_the_same() -> None:
    score = cell_score((0, 0, 0, N, 0, 0), N, DIE)
    floor = null_floor(DIE, N)
    assert score.tv == pytest.approx(5 / 6)
    assert score.score == score.excess == pytest.approx((5 / 6 - floor) / (1 - floor))


def test_a_cell_closer_to_its_reference_than_luck_has_a_negative_score() -> None:
    assert cell_score((16, 16), N, COIN).score == pytest.approx(-null_floor(COIN, N) / (1 - null_floor(COIN, N)))


@pytest.mark.parametrize(("counts", "n"), [((1,), 4), ((1, 2, 3), 32), ((-1, 2), 32), ((20, 20), 32), ((0, 0), 0)])
def test_counts_that_do_not_fit_are_refused(counts: tuple[int, ...], n: int) -> None:
    with pytest.raises(ValueError, match="do not fit 2 outcomes"):
        cell_score(counts, n, COIN)


def test_there_is_no_floor_without_a_valid_rollout() -> None:
    with pytest.raises(ValueError, match="at least one valid rollout"):
        null_floor(COIN, 0)


# --- the published test --------------------------------------------------------------------------------------------


def test_pearsons_statistic_by_hand() -> None:
    assert chi2_statistic([32, 0], COIN) == 32
    assert chi2_statistic([5, 1, 0, 0, 0, 0], DIE) == pytest.approx(20)
    assert chi2_statistic([[1, 1], [2, 0]], COIN).tolist() == [0, 2]


@given(cells(smallest=1))
def test_pearsons_statistic_is_scipys(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    expected = [sum(counts) * p for p in reference.probabilities]
    statistic = scipy.stats.chisquare(counts, expected).statistic
    assert float(chi2_statistic(counts, reference)) == pytest.approx(statistic, rel=1e-12, abs=1e-12)


def test_null_counts_are_samples_of_the_reference() -> None:
    counts = null_counts(ROULETTE_COLOUR, 32, 20_000, np.random.default_rng(7))
    assert counts.shape == (20_000, 3)
    assert (counts.sum(axis=1) == 32).all()
    assert counts.mean(axis=0) / 32 == pytest.approx(ROULETTE_COLOUR.probabilities, abs=0.003)


def test_a_p_value_counts_ties_and_is_never_zero() -> None:
    # Three heads of four is tied with three tails, and less extreme than four of a kind: p = 10/16.
    assert monte_carlo_p((3, 1), COIN, 20_000, np.random.default_rng(7)) == pytest.approx(10 / 16, abs=0.015)
    assert monte_carlo_p((2, 2), COIN, 99, np.random.default_rng(7)) == 1
    assert monte_carlo_p((32, 0), COIN, 99, np.random.default_rng(7)) == 1 / 100


def test_a_p_value_depends_on_its_generator_only() -> None:
    counts = (9, 3, 4, 6, 6, 4)
    first, again = (monte_carlo_p(counts, DIE, 999, np.random.default_rng(7)) for _ in range(2))
    assert first == again != monte_carlo_p(counts, DIE, 999, np.random.default_rng(8))


# --- many tests at once --------------------------------------------------------------------------------------------


def test_adjusted_p_values_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert benjamini_hochberg(p).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert bonferroni(p).tolist() == pytest.approx([0.04, 0.16, 0.12, 0.02])
    assert bonferroni([0.5, 0.9]).tolist() == [1, 1]


@given(p_values)
def test_benjamini_hochberg_is_scipys(p: list[float]) -> None:
    assert benjamini_hochberg(p).tolist() == pytest.approx(scipy.stats.false_discovery_control(p).tolist(), rel=1e-12)


@given(p_values)
def test_adjusting_keeps_the_order_and_never_lowers_a_p_value(p: list[float]) -> None:
    for adjusted in (benjamini_hochberg(p), bonferroni(p)):
        assert (adjusted >= np.array(p) - 1e-15).all() and (adjusted <= 1).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= 0).all()
    assert (benjamini_hochberg(p) <= bonferroni(p) + 1e-15).all()


@given(p_values, st.randoms())
def test_the_order_of_the_tests_does_not_matter(p: list[float], random: object) -> None:
    order = list(range(len(p)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = benjamini_hochberg([p[i] for i in order])
    assert shuffled.tolist() == benjamini_hochberg(p)[order].tolist()


# --- binomial intervals and ranges ---------------------------------------------------------------------------------


@given(st.integers(1, 200), st.data(), st.sampled_from([0.9, 0.95, 0.99]))
def test_clopper_pearson_is_scipys(trials: int, data: st.DataObject, level: float) -> None:
    successes = data.draw(st.integers(0, trials))
    interval = clopper_pearson(successes, trials, level)
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(level, method="exact")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert interval.low <= successes / trials <= interval.high
    assert (interval.level, interval.method) == (level, "Clopper-Pearson")


def test_clopper_pearson_has_width_also_where_nothing_or_everything_succeeds() -> None:
    # The rule of three, exactly: nothing in n trials leaves 1 - 0.025^(1/n).
    assert clopper_pearson(0, 10, 0.95).low == 0
    assert clopper_pearson(0, 10, 0.95).high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert clopper_pearson(10, 10, 0.95).low == pytest.approx(0.025 ** (1 / 10))
    assert clopper_pearson(10, 10, 0.95).high == 1


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (3, 2), (-1, 2)])
def test_what_is_no_proportion_has_no_interval(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="is not a proportion"):
        clopper_pearson(successes, trials, 0.95)


@given(st.integers(1, 64), st.floats(0.001, 0.999), st.sampled_from([0.9, 0.95]))
def test_a_binomial_range_is_scipys(n: int, p: float, level: float) -> None:
    tail = (1 - level) / 2
    cdf = scipy.stats.binom.cdf(np.arange(n + 1), n, p)
    assume(np.abs(np.subtract.outer(cdf, [tail, 1 - tail])).min() > 1e-9)
    expected = scipy.stats.binom.interval(level, n, p)
    assert binomial_range(n, p, level) == tuple(map(int, expected))


@pytest.mark.parametrize("reference", REFERENCES, ids=lambda r: str(r.k))
def test_a_binomial_range_holds_its_level_and_no_end_is_dispensable(reference: Reference) -> None:
    for p, n in itertools.product(set(reference.probabilities), (1, 4, 16, 32)):
        low, high = binomial_range(n, p, 0.95)
        outcome = scipy.stats.binom(n, p)
        assert outcome.cdf(high) - outcome.cdf(low - 1) >= 0.95 - 1e-12
        assert outcome.cdf(low - 1) < 0.025 and outcome.sf(high) <= 0.025 + 1e-12


# --- missing outcomes ----------------------------------------------------------------------------------------------


def test_imputation_by_hand() -> None:
    assert impute_best((4, 0, 0, 0), 4, SUITS) == (4, 2, 1, 1)
    assert impute_worst((4, 0, 0, 0), 4, SUITS) == (8, 0, 0, 0)
    # The green pocket is so rare that filling it moves most mass.
    assert impute_worst((0, 0, 0), 32, ROULETTE_COLOUR) == (0, 0, 32)


@given(
    st.sampled_from([COIN, SUITS, ROULETTE_COLOUR, Reference((1, 2, 3, 4))]),
    st.data(),
    st.integers(0, 6),
)
def test_the_bounds_are_the_extremes_over_every_imputation(
    reference: Reference, data: st.DataObject, nulls: int
) -> None:
    counts = tuple(data.draw(st.lists(st.integers(0, 5), min_size=reference.k, max_size=reference.k)))
    assume(sum(counts) + nulls > 0)
    imputed = [
        exact_tv([c + extra for c, extra in zip(counts, more, strict=True)], reference)
        for more in all_counts(nulls, reference.k)
    ]
    assert exact_tv(impute_best(counts, nulls, reference), reference) == min(imputed)
    assert exact_tv(impute_worst(counts, nulls, reference), reference) == max(imputed)


@given(cells())
def test_imputation_fills_every_null_and_moves_no_outcome(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    for impute in (impute_best, impute_worst):
        filled = impute(counts, N - sum(counts), reference)
        assert sum(filled) == N
        assert all(after >= before for before, after in zip(counts, filled, strict=True))


@given(cells())
def test_the_reported_tv_is_never_below_the_worst_imputation(cell: tuple[Reference, tuple[int, ...]]) -> None:
    reference, counts = cell
    worst = cell_score(impute_worst(counts, N - sum(counts), reference), N, reference)
    assert cell_score(counts, N, reference).tv_total >= worst.tv_total - 1e-12


def test_the_reported_score_can_be_below_the_worst_imputation() -> None:
    counts = records.read_cell(ANALYSIS, STUDIES["main"], "roulette", "runway45").counts
    worst = impute_worst(counts, N - sum(counts), ROULETTE_COLOUR)
    assert cell_score(counts, N, ROULETTE_COLOUR).score < cell_score(worst, N, ROULETTE_COLOUR).score


def test_without_a_null_there_is_nothing_to_impute() -> None:
    counts = tuple(math.comb(5, i) for i in range(6))
    for impute in (impute_best, impute_worst):
        assert impute(counts, 0, DIE) == counts
    assert impute_best((0,) * 11, 1024, BINOMIAL_10) == BINOMIAL_10.weights
