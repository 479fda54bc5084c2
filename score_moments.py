"""Exact mean and variance of a cell's score over fresh samples, for any true outcome distribution.

The score of N rollouts, m of them valid, is 1 - (m / N) (1 - TV) / (1 - E0(m)): one minus the overlap with the
reference, over the overlap that a calibrated operator has on average. Given m the valid counts are multinomial, and
TV = sum_i (p_i - x_i / m)_+ needs only one and two counts at a time, so that binomial and trinomial sums give its first
two moments without simulation. They are summed over m ~ Binomial(N, rho).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from constants import Reference
from stats_utils import FloatArray, IntArray, binomial_pmf, null_floor

# Numbers of valid rollouts that are less likely than this are left out: a score is of order one, so they cannot show.
_NEGLIGIBLE = 1e-18
# Terms of the trinomial sums are at most e^n.
_LARGEST_N = 700


@dataclass(frozen=True)
class ScoreMoments:
    """Mean and variance of the score of N rollouts, one entry a distribution, shape (d,)."""

    mean: FloatArray
    variance: FloatArray


def score_moments(distributions: ArrayLike, n: int, reference: Reference) -> ScoreMoments:
    """Moments of the score of `n` rollouts drawn from each of d outcome distributions.

    distributions: shape (d, k + 1): probabilities of the k outcomes, then that of an unscorable rollout; rows sum to 1.
    Raises ValueError for other shapes, negative entries, n < 1, or n > 700, where e^n nears the end of doubles.
    """
    q = np.asarray(distributions, dtype=np.float64)
    if q.ndim != 2 or q.shape[1] != reference.k + 1 or q.size == 0 or not 1 <= n <= _LARGEST_N:
        raise ValueError(f"distributions of shape {q.shape} and n = {n} do not fit {reference.k} outcomes")
    if q.min() < 0 or not np.allclose(q.sum(axis=1), 1, rtol=0, atol=1e-9):
        raise ValueError("a distribution has negative entries or does not sum to 1")
    rho = np.minimum(q[:, :-1].sum(axis=1), 1.0)
    n_valid = [m for m in range(n + 1) if binomial_pmf(n, m, rho, 1 - rho).max() > _NEGLIGIBLE]
    weights = np.stack([binomial_pmf(n, m, rho, 1 - rho) for m in n_valid])
    # Where no rollout can be valid the conditional distribution does not matter; zeros keep it finite.
    given_valid = q[:, :-1] / np.where(rho > 0, rho, 1.0)[:, None]

    means, variances = np.ones_like(weights), np.zeros_like(weights)
    for row, m in enumerate(n_valid):
        if m > 0:
            slope = m / n / (1 - null_floor(reference, m))
            tv_mean, tv_square = _tv_moments(given_valid, m, reference)
            means[row] = 1 - slope * (1 - tv_mean)
            variances[row] = slope**2 * np.maximum(tv_square - tv_mean**2, 0.0)
    mean = (weights * means).sum(axis=0)
    return ScoreMoments(mean, (weights * (variances + (means - mean) ** 2)).sum(axis=0))


def _tv_moments(q: FloatArray, m: int, reference: Reference) -> tuple[FloatArray, FloatArray]:
    """E[TV] and E[TV^2] of m draws from each row of q, shape (d, k)."""
    mean, square = np.zeros(len(q)), np.zeros(len(q))
    # Bins whose deficit p_i - x / m is positive for the same number of counts x are handled together.
    blocks = []
    for size, bins in _bins_by_support(reference, m):
        x = np.arange(size)
        deficit = np.array([[reference.probabilities[i] - c / m for c in range(size)] for i in bins])
        chosen = q[:, bins, None]
        pmf = binomial_pmf(m, x, chosen, 1 - chosen)
        mean += (deficit * pmf).sum(axis=(1, 2))
        square += (deficit**2 * pmf).sum(axis=(1, 2))
        # deficit(x) (m q)^x / x!: what a bin contributes to a trinomial sum. The power of m keeps it in range.
        blocks.append((bins, deficit * np.exp(xlogy(x, m * chosen) - gammaln(x + 1))))
    for (bins_a, a), (bins_b, b) in combinations(blocks, 2):
        pairs = [(i, j) for i in range(len(bins_a)) for j in range(len(bins_b))]
        square += 2 * _pair_sum(q, m, bins_a, a, bins_b, b, pairs)
    for bins, a in blocks:
        square += 2 * _pair_sum(q, m, bins, a, bins, a, list(combinations(range(len(bins)), 2)))
    return mean, square


def _bins_by_support(reference: Reference, m: int) -> Iterator[tuple[int, IntArray]]:
    """(number of counts x with x / m < p_i, the bins i that have this number), in integers."""
    sizes = [-(-m * w // reference.denominator) for w in reference.weights]
    order = sorted(range(reference.k), key=lambda i: sizes[i])
    for size, bins in groupby(order, key=lambda i: sizes[i]):
        yield size, np.array(list(bins))


def _pair_sum(
    q: FloatArray,
    m: int,
    bins_a: IntArray,
    a: FloatArray,
    bins_b: IntArray,
    b: FloatArray,
    pairs: list[tuple[int, int]],
) -> FloatArray:
    """Sum over pairs of bins of E[deficit_i deficit_j]: trinomial sums, shape (d,).

    a, b: shape (d, bins, x), see _tv_moments; pairs: positions in bins_a and bins_b.
    """
    if not pairs:
        return np.zeros(len(q))
    first, second = np.array(pairs).T
    left, right = a[:, first], b[:, second]
    elsewhere = np.maximum(1 - q[:, bins_a[first]] - q[:, bins_b[second]], 0.0)[:, :, None]
    # x + y never exceeds m: x < m p_i and y < m p_j.
    total = np.arange(left.shape[2] + right.shape[2] - 1)
    falling = np.cumprod(1 - np.maximum(total - 1, 0) / m)  # m! / (m - t)! / m^t
    # rest[..., x, y] = m! / (m - t)! / m^t (1 - q_i - q_j)^(m - t), t = x + y: a view that repeats what depends on t.
    rest = sliding_window_view(falling * elsewhere ** (m - total), right.shape[2], axis=2)
    total_over_pairs: FloatArray = np.einsum("dpx,dpxy,dpy->d", left, rest, right)
    return total_over_pairs
