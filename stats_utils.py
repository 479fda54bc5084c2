"""The protocol's statistics: pure functions of counts and a reference.

Nothing here reads, prints, or draws a random number without a generator passed in. Counts are integer arrays whose last
axis has length k; leading axes are replicates.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from operator import add
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln, xlogy

from constants import CHI2_TIE_TOLERANCE, Reference

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# A score, or the scores of replicates.
Score = TypeVar("Score", float, FloatArray)


@dataclass(frozen=True)
class CellScore:
    """The protocol's quantities of one cell (CaliBench, section 3.4 and appendix A).

    rho: scorability n_valid / N.
    tv: total variation of the valid outcomes from the reference; None when there is no valid rollout.
    floor: expected TV of a calibrated operator at this n_valid; None likewise.
    excess: (tv - floor) / (1 - floor), signed; None likewise.
    score: (1 - rho) + rho * excess; 1 when there is no valid rollout.
    tv_total: (1 - rho) + rho * tv, where a null counts as mass on an impossible outcome.
    """

    n: int
    n_valid: int
    rho: float
    tv: float | None
    floor: float | None
    excess: float | None
    score: float
    tv_total: float


@dataclass(frozen=True)
class Interval:
    """A central interval; `method` says how it was made."""

    low: float
    high: float
    level: float
    method: str


def cell_score(counts: Sequence[int], n: int, reference: Reference) -> CellScore:
    """Score one cell of `n` rollouts from the counts of its valid outcomes, shape (k,)."""
    n_valid = sum(counts)
    if len(counts) != reference.k or min(counts) < 0 or n < 1 or n_valid > n:
        raise ValueError(f"counts {tuple(counts)} do not fit {reference.k} outcomes and {n} rollouts")
    rho = n_valid / n
    if n_valid == 0:
        return CellScore(n, 0, 0.0, None, None, None, 1.0, 1.0)
    tv = float(total_variation(counts, reference))
    floor = null_floor(reference, n_valid)
    excess = (tv - floor) / (1 - floor)
    return CellScore(n, n_valid, rho, tv, floor, excess, 1 - rho + rho * excess, 1 - rho + rho * tv)


def mntv(scores: Mapping[str, Score], scenes: Collection[str]) -> Score:
    """Mean score over `scenes`; of replicates, one mean a replicate.

    `scores` holds exactly these scenes: a mean over fewer is another quantity. Otherwise ValueError.
    """
    if set(scores) != set(scenes):
        raise ValueError(f"scores of {', '.join(scores) or 'nothing'}; expected those of {', '.join(scenes)}")
    total: Score = reduce(add, (scores[scene] for scene in scenes))
    return total / len(scenes)


def total_variation(counts: ArrayLike, reference: Reference) -> FloatArray:
    """TV = 1/2 sum_i |counts_i / n - p_i|, over the last axis; NaN where a row has no count."""
    observed = np.asarray(counts, dtype=np.float64)
    n = observed.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):
        difference = observed / n - np.asarray(reference.probabilities)
    tv: FloatArray = 0.5 * np.abs(difference).sum(axis=-1)
    return tv


@lru_cache(maxsize=4096)
def null_floor(reference: Reference, n: int) -> float:
    """E[TV] of `n` draws from the reference, in closed form (CaliBench, eq. 14).

    Half the mean absolute deviation of each bin's binomial count (De Moivre's formula), computed in integers and
    rounded once:  (1/n) sum_i (m_i + 1) C(n, m_i + 1) p_i^(m_i + 1) (1 - p_i)^(n - m_i),  m_i = floor(n p_i).
    """
    if n < 1:
        raise ValueError(f"n is {n}; a floor needs at least one valid rollout")
    total = 0
    denominator = reference.denominator
    for weight in reference.weights:
        m = n * weight // denominator
        total += (m + 1) * math.comb(n, m + 1) * weight ** (m + 1) * (denominator - weight) ** (n - m)
    return float(Fraction(total, n * denominator ** (n + 1)))


def score_replicates(counts: IntArray, n: int, reference: Reference) -> FloatArray:
    """Scores of replicates of one cell: counts (..., k) of the valid outcomes of `n` rollouts -> (...)."""
    n_valid = counts.sum(axis=-1)
    floors = np.array([0.0] + [null_floor(reference, m) for m in range(1, n + 1)])[n_valid]
    tv = np.where(n_valid > 0, total_variation(counts, reference), 0.0)
    rho = n_valid / n
    excess = (tv - floors) / (1 - floors)
    return np.where(n_valid > 0, 1 - rho + rho * excess, 1.0)


def chi2_statistic(counts: ArrayLike, reference: Reference) -> FloatArray:
    """Pearson's statistic sum_i (O_i - n p_i)^2 / (n p_i) over the last axis."""
    observed = np.asarray(counts, dtype=np.float64)
    expected = observed.sum(axis=-1, keepdims=True) * np.asarray(reference.probabilities)
    statistic: FloatArray = ((observed - expected) ** 2 / expected).sum(axis=-1)
    return statistic


def null_counts(reference: Reference, n: int, replicates: int, rng: np.random.Generator) -> IntArray:
    """Counts of `replicates` samples of size `n` from the reference, shape (replicates, k)."""
    return rng.multinomial(n, reference.probabilities, size=replicates)


def monte_carlo_p(counts: Sequence[int], reference: Reference, replicates: int, rng: np.random.Generator) -> float:
    """The published p-value of Pearson's statistic: (b + 1) / (replicates + 1), ties counted (Hope 1968)."""
    null = chi2_statistic(null_counts(reference, sum(counts), replicates, rng), reference)
    at_least = int(np.count_nonzero(null >= chi2_statistic(counts, reference) - CHI2_TIE_TOLERANCE))
    return (at_least + 1) / (replicates + 1)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values q that control the false discovery rate (Benjamini and Hochberg 1995), in the given order."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * p.size / np.arange(1, p.size + 1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Adjusted p-values that control the family-wise error rate: min(1, m p)."""
    p = np.asarray(p_values, dtype=np.float64)
    return np.minimum(p * p.size, 1.0)


def clopper_pearson(successes: int, trials: int, level: float) -> Interval:
    """Exact binomial interval (Clopper and Pearson 1934). Without a trial there is no interval: ValueError."""
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} of {trials} is not a proportion")
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return Interval(low, high, level, "Clopper-Pearson")


def binomial_pmf(trials: ArrayLike, successes: ArrayLike, p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Binomial probabilities, elementwise. q is 1 - p, passed so that neither loses digits when it is small."""
    n, x = np.asarray(trials), np.asarray(successes)
    log = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + xlogy(x, p) + xlogy(n - x, q)
    return np.exp(log)  # type: ignore[no-any-return]


def binomial_range(n: int, p: float, level: float) -> tuple[int, int]:
    """Central range of a Binomial(n, p) count: the quantiles (1 - level) / 2 and (1 + level) / 2, where a quantile is
    the smallest count whose distribution function reaches it."""
    cdf = np.cumsum(binomial_pmf(n, np.arange(n + 1), p, 1 - p))
    tail = (1 - level) / 2
    low, high = np.searchsorted(cdf, [tail, 1 - tail])
    return int(low), min(int(high), n)


def impute_best(counts: Sequence[int], nulls: int, reference: Reference) -> tuple[int, ...]:
    """Counts after each null went, one by one, to the bin with the largest deficit p_i - counts_i / N; ties to the
    first bin. This minimises TV over the full N (CaliBench, appendix E). Deficits are compared in integers."""
    filled = list(counts)
    n = sum(counts) + nulls
    for _ in range(nulls):
        deficits = [n * w - c * reference.denominator for w, c in zip(reference.weights, filled, strict=True)]
        filled[deficits.index(max(deficits))] += 1
    return tuple(filled)


def impute_worst(counts: Sequence[int], nulls: int, reference: Reference) -> tuple[int, ...]:
    """Counts after all nulls went to the one bin that maximises TV over the full N; ties to the first bin."""
    choices = [tuple(c + nulls * (i == bin_) for i, c in enumerate(counts)) for bin_ in range(reference.k)]
    n = sum(counts) + nulls

    def distance(filled: tuple[int, ...]) -> int:
        return sum(abs(c * reference.denominator - n * w) for c, w in zip(filled, reference.weights, strict=True))

    return max(choices, key=distance)
