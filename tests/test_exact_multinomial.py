"""Exact null distributions against enumeration in rational arithmetic, closed forms, and simulation."""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import exact_multinomial
from constants import ALPHA, BINOMIAL_10, COIN, DIE, LOTTERY_20, ROULETTE_COLOUR, SMALLEST_TAIL, SUITS, Reference
from errors import UserError
from exact_multinomial import null_distribution, p_value, within_reach
from lattice import Lattice, Statistic
from scenes import SCENES
from stats_utils import binomial_pmf, chi2_statistic, null_counts, null_floor, total_variation

STATISTICS: tuple[Statistic, ...] = ("chi2", "tv")
REFERENCES = tuple(dict.fromkeys(scene.reference for scene in SCENES.values()))
# No two weights alike, a common factor, one outcome alone, and one that is nearly certain.
ODD_REFERENCES = tuple(Reference(w) for w in [(1, 2), (3, 1, 7), (6, 4, 10, 2), (5,), (1_000_003, 17, 2)])
statistics = st.sampled_from(STATISTICS)


def compositions(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Every way to put n draws into k outcomes."""
    for bars in itertools.combinations(range(n + k - 1), k - 1):
        yield tuple(b - a - 1 for a, b in itertools.pairwise((-1, *bars, n + k - 1)))


def exact_value(counts: tuple[int, ...], reference: Reference, statistic: Statistic) -> Fraction:
    n = sum(counts)
    pairs = list(zip(counts, reference.fractions, strict=True))
    if statistic == "tv":
        return sum(abs(Fraction(o, n) - p) for o, p in pairs) / Fraction(2)
    return sum(((o - n * p) ** 2 / (n * p) for o, p in pairs), Fraction(0))


def probability(counts: tuple[int, ...], reference: Reference) -> Fraction:
    ways = math.factorial(sum(counts)) // math.prod(math.factorial(o) for o in counts)
    return math.prod((p**o for o, p in zip(counts, reference.fractions, strict=True)), start=Fraction(ways))


@cache
def enumerated(reference: Reference, n: int, statistic: Statistic) -> dict[Fraction, Fraction]:
    """Probability of every value of the statistic, ascending, in rational arithmetic."""
    masses: dict[Fraction, Fraction] = {}
    for counts in compositions(n, reference.k):
        value = exact_value(counts, reference, statistic)
        masses[value] = masses.get(value, Fraction(0)) + probability(counts, reference)
    return dict(sorted(masses.items()))


def close(found: float, expected: Fraction | float, relative: float = 1e-12) -> bool:
    return math.isclose(found, float(expected), rel_tol=relative, abs_tol=0)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("reference", [r for r in REFERENCES if r.k <= 4] + list(ODD_REFERENCES), ids=str)
def test_distribution_equals_enumeration(reference: Reference, statistic: Statistic) -> None:
    for n in range(1, 13):
        expected = enumerated(reference, n, statistic)
        values, masses = null_distribution(reference, n, statistic).pmf()
        assert len(values) == len(expected)
        assert np.allclose(values, [float(value) for value in expected], rtol=1e-14, atol=1e-14)
        assert all(close(mass, p) for mass, p in zip(masses, expected.values(), strict=True))


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("reference", [COIN, ROULETTE_COLOUR, SUITS], ids=str)
def test_p_value_equals_enumeration_for_every_outcome(reference: Reference, statistic: Statistic) -> None:
    for n in range(1, 13):
        expected = enumerated(reference, n, statistic)
        for counts in compositions(n, reference.k):
            observed = exact_value(counts, reference, statistic)
            tail = sum((p for value, p in expected.items() if value >= observed), Fraction(0))
            assert close(p_value(counts, reference, statistic).value, tail)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(1, 7), statistics, st.data())
def test_p_value_equals_enumeration_for_any_reference(
    weights: list[int], n: int, statistic: Statistic, data: st.DataObject
) -> None:
    reference = Reference(tuple(weights))
    counts = data.draw(st.sampled_from(list(compositions(n, reference.k))))
    observed = exact_value(counts, reference, statistic)
    tail = sum((p for value, p in enumerated(reference, n, statistic).items() if value >= observed), Fraction(0))
    assert close(p_value(counts, reference, statistic).value, tail)


@pytest.mark.parametrize("n", [1, 5, 16, 31, 32])
def test_two_equal_outcomes_give_the_binomial_test(n: int) -> None:
    for heads in range(n + 1):
        expected = scipy.stats.binomtest(heads, n).pvalue
        for statistic in STATISTICS:
            assert close(p_value((heads, n - heads), COIN, statistic).value, expected)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_two_unequal_outcomes_give_both_binomial_tails(statistic: Statistic) -> None:
    n, reference = 40, Reference((1, 3))
    law = scipy.stats.binom(n, 0.25)
    for distance in range(1, 11):  # from the expected count, 10
        expected = law.cdf(10 - distance) + law.sf(10 + distance - 1)
        assert close(p_value((10 + distance, 30 - distance), reference, statistic).value, expected)


@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_mean_equals_its_closed_form(reference: Reference) -> None:
    for n in range(1, 33):
        assert close(null_distribution(reference, n, "tv").mean(), null_floor(reference, n))
        # E[chi-square] is exactly k - 1 at any n.
        assert close(null_distribution(reference, n, "chi2").mean(), reference.k - 1)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("reference", REFERENCES + ODD_REFERENCES, ids=str)
def test_total_mass_is_one(reference: Reference, statistic: Statistic) -> None:
    for n in range(1, 33):
        assert close(null_distribution(reference, n, statistic).tail(0), 1)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_small_tails_keep_ten_digits(statistic: Statistic) -> None:
    # Down to 37^-60, about 1e-94.
    expected, tail = enumerated(ROULETTE_COLOUR, 60, statistic), Fraction(0)
    null = null_distribution(ROULETTE_COLOUR, 60, statistic)
    for value in sorted(expected, reverse=True):
        tail += expected[value]
        integer = (value + null.lattice.shift) / null.lattice.slope
        assert integer.denominator == 1
        assert close(null.tail(int(integer)), tail, 1e-10)
    assert min(expected.values()) < Fraction(1, 10**90)


def test_small_tails_keep_ten_digits_where_the_support_is_large() -> None:
    def lottery(largest: int, second: int) -> float:
        return p_value((largest, second, *[0] * 18), LOTTERY_20, "chi2").value

    def board(end_bin: int, next_bin: int, centre: int) -> float:
        return p_value((end_bin, next_bin, 0, 0, 0, centre, *[0] * 5), BINOMIAL_10, "chi2").value

    one, two = Fraction(20, 20**32), Fraction(20 * 19 * 32, 20**32)
    assert close(lottery(32, 0), one, 1e-10)  # 9e-41
    assert close(lottery(31, 1), one + two, 1e-10)
    end = Fraction(1, 1024)
    assert close(board(32, 0, 0), 2 * end**32, 1e-10)  # 1e-96
    # Then 31 in an end bin and one in its neighbour's kind: what the last draw adds decides.
    others = sorted(((2520 // w, w) for w in BINOMIAL_10.weights[1:]), reverse=True)
    assert others[0] == (2520, 1)
    assert close(board(31, 1, 0), 2 * end**32 + 2 * 32 * end**31 * Fraction(1 + 2 * 10, 1024), 1e-10)
    assert close(board(31, 0, 1), 2 * end**32 + 2 * 32 * end**31 * Fraction(1023, 1024), 1e-10)


def test_a_tail_that_leaves_the_range_of_doubles_is_an_upper_bound() -> None:
    assert p_value((100, *[0] * 19), LOTTERY_20, "chi2").value == pytest.approx(20.0**-99, rel=1e-10)
    assert p_value((300, *[0] * 19), LOTTERY_20, "tv").value == SMALLEST_TAIL


@given(st.data(), statistics)
def test_the_order_of_the_outcomes_does_not_matter(data: st.DataObject, statistic: Statistic) -> None:
    counts = data.draw(st.lists(st.integers(0, 5), min_size=2, max_size=6).filter(any))
    weights = data.draw(st.lists(st.integers(1, 12), min_size=len(counts), max_size=len(counts)))
    order = data.draw(st.permutations(range(len(counts))))
    shuffled = tuple(counts[i] for i in order)
    expected = p_value(counts, Reference(tuple(weights)), statistic).value
    assert close(p_value(shuffled, Reference(tuple(weights[i] for i in order)), statistic).value, expected)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("n", [19, 32])
def test_boards_agree_with_simulation(n: int, statistic: Statistic) -> None:
    replicates = 100_000
    null = null_distribution(BINOMIAL_10, n, statistic)
    drawn = null.lattice.integers(null_counts(BINOMIAL_10, n, replicates, np.random.default_rng(3)))
    for level in (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        cut = null.quantile(level)
        error = math.sqrt(cut.size * (1 - cut.size) / replicates)
        assert abs(np.mean(drawn >= cut.integer) - cut.size) < 4 * error


@given(st.sampled_from([COIN, DIE, ROULETTE_COLOUR, SUITS]), st.integers(1, 12), statistics, st.floats(0.001, 0.999))
def test_quantiles_and_critical_values_follow_their_definition(
    reference: Reference, n: int, statistic: Statistic, level: float
) -> None:
    null = null_distribution(reference, n, statistic)
    values, masses = null.pmf()
    quantile = null.quantile(level)
    assert quantile.value == next(v for v in values if masses[values <= v].sum() >= level * (1 - 1e-9))
    assert close(quantile.size, masses[values >= quantile.value].sum())
    critical = null.critical(level)
    rejecting = [v for v in values if masses[values >= v].sum() <= level * (1 + 1e-9)]
    assert critical.value == (rejecting[0] if rejecting else math.inf)
    assert critical.size <= level * (1 + 1e-9)


def test_a_level_that_is_met_exactly_is_met() -> None:
    null = null_distribution(COIN, 5, "tv")  # P(5 heads or 5 tails) = 2 / 32
    assert null.critical(1 / 16).value == 0.5
    assert null.critical(1 / 16 - 1e-9).value == math.inf
    assert null.quantile(15 / 16).value == 0.3
    assert null.quantile(15 / 16 + 1e-9).value == 0.5


def test_a_test_that_cannot_reject_has_size_and_power_zero() -> None:
    null = null_distribution(COIN, 4, "chi2")
    cut = null.critical(ALPHA)
    assert (cut.value, cut.size, null.power(cut, (1.0, 0.0))) == (math.inf, 0.0, 0.0)


def test_the_published_rule_exceeds_its_level() -> None:
    # "Statistic >= 0.95 quantile", two outcomes, N = 16: the true size is 0.077.
    null = null_distribution(COIN, 16, "chi2")
    assert round(null.quantile(0.95).size, 3) == 0.077
    assert round(null.critical(0.05).size, 3) == 0.021


@given(st.sampled_from(REFERENCES), st.integers(1, 32), st.integers(0, 10**6), statistics)
def test_the_cut_at_a_statistic_in_floating_point_is_its_lattice_point(
    reference: Reference, n: int, seed: int, statistic: Statistic
) -> None:
    counts = null_counts(reference, n, 1, np.random.default_rng(seed))[0]
    in_floats = {"chi2": chi2_statistic, "tv": total_variation}[statistic](counts, reference)
    null = null_distribution(reference, n, statistic)
    cut = null.cut_at(float(in_floats))
    assert cut.integer == null.lattice.integers(counts)
    assert cut.value == pytest.approx(float(in_floats), abs=1e-9)
    assert cut.size == pytest.approx(null.p_value(counts.tolist()), rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
def test_power_equals_enumeration(statistic: Statistic) -> None:
    for reference, probabilities in [(ROULETTE_COLOUR, (0.2, 0.5, 0.3)), (SUITS, (0.0, 0.25, 0.0, 0.75))]:
        null = null_distribution(reference, 9, statistic)
        cut = null.critical(ALPHA)
        law = scipy.stats.multinomial(9, probabilities)
        rejected = [c for c in compositions(9, reference.k) if null.lattice.integers(np.array(c)) >= cut.integer]
        assert close(null.power(cut, probabilities), law.pmf(rejected).sum())
        assert close(null.power(cut, reference.fractions), cut.size)


def test_beyond_reach_is_an_error_or_a_monte_carlo_value_that_says_so() -> None:
    counts = (40, 60, *[50] * 18)
    n = sum(counts)
    assert not within_reach(LOTTERY_20, n, "chi2")
    with pytest.raises(UserError, match=rf"exact chi2 of {n} draws from 20 outcomes"):
        p_value(counts, LOTTERY_20, "chi2")
    with pytest.raises(UserError, match="expected at most"):
        null_distribution(LOTTERY_20, n, "chi2")
    result = p_value(counts, LOTTERY_20, "chi2", np.random.default_rng(0))
    assert (result.method, result.replicates, result.n_valid) == ("monte carlo", 50_000, n)
    assert result.value == pytest.approx(scipy.stats.chi2.sf(float(chi2_statistic(counts, LOTTERY_20)), 19), abs=0.01)


def test_monte_carlo_agrees_with_exact_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = (2, 0, 6, 16, 2, 4)
    exact = p_value((6, 2, 8, 5, 11, 0), DIE, "chi2", np.random.default_rng(0))
    assert (exact.method, exact.replicates) == ("exact", None)
    monkeypatch.setattr(exact_multinomial, "EXACT_MAX_WORK", 0)
    simulated = p_value((6, 2, 8, 5, 11, 0), DIE, "chi2", np.random.default_rng(0))
    assert simulated.method == "monte carlo"
    assert abs(simulated.value - exact.value) < 4 * math.sqrt(exact.value / 50_000)
    assert p_value(counts, DIE, "tv", np.random.default_rng(0)).value >= 1 / 50_001  # never zero


def test_references_of_any_size_are_answered() -> None:
    # Costs that no 64-bit integer holds: beyond reach, and simulated in exact integers.
    primes = Reference((1_000_003, 1_000_033, 1_000_037, 1_000_039))
    assert not within_reach(primes, 20, "chi2")
    assert p_value((5, 5, 5, 5), primes, "chi2", np.random.default_rng(0)).value > 0.99
    assert p_value((20, 0, 0, 0), primes, "chi2", np.random.default_rng(0)).value == 1 / 50_001
    assert within_reach(COIN, 100_000, "tv")
    assert not within_reach(COIN, 10**7, "tv")


@pytest.mark.parametrize("reference", REFERENCES, ids=str)
def test_every_published_n_is_within_reach(reference: Reference) -> None:
    assert all(within_reach(reference, n, statistic) for n in range(1, 33) for statistic in STATISTICS)


@pytest.mark.parametrize("counts", [(1, 2), (1, 2, 3, 4), (-1, 2, 3), (0, 0, 0)])
def test_counts_that_do_not_fit_are_an_error(counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"expected|do not fit"):
        p_value(counts, ROULETTE_COLOUR, "chi2")


def test_what_is_no_level_no_distribution_and_no_outcome_is_an_error() -> None:
    null = null_distribution(SUITS, 8, "chi2")
    with pytest.raises(ValueError, match="between 0 and 1"):
        null.quantile(1.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        null.critical(0.0)
    with pytest.raises(ValueError, match="no distribution"):
        null.power(null.critical(0.05), (0.5, 0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match=r"expected 1\.\.4"):
        null.tails_given_count(3, 0)
    with pytest.raises(ValueError, match="chi2 or tv"):
        Lattice(SUITS, 8, "g")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="positive"):
        Lattice(Reference((1, 0)), 8, "tv")


def test_a_full_list_of_values_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    null = null_distribution(DIE, 30, "chi2")
    monkeypatch.setattr("lattice.EXACT_MAX_WORK", 10)
    with pytest.raises(UserError, match="pairs of states"):
        null.pmf()


def test_binomial_probabilities_keep_their_digits() -> None:
    successes = np.arange(1001)
    found = binomial_pmf(1000, successes, 0.3, 0.7)
    expected = scipy.stats.binom.pmf(successes, 1000, 0.3)
    assert np.allclose(found, expected, rtol=1e-11, atol=0)
    assert binomial_pmf(3, np.arange(4), 0.0, 1.0).tolist() == [1, 0, 0, 0]
    assert binomial_pmf(3, np.arange(4), 1.0, 0.0).tolist() == [0, 0, 0, 1]
