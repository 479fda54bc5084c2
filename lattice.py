"""Sums of integer costs of multinomial counts: the lattice on which chi-square and total variation take their values,
and the exact distribution of such a sum.

Either statistic is a sum over the outcomes of an integer cost of that outcome's count, up to a change of unit, so that
ties are ties of integers:

    chi-square = D / (n L) * S - n,  S = sum_i O_i^2 * (L / w_i),          L = lcm of the weights w_i,  D = sum_i w_i
    TV         = g / (n D) * S,      S = sum_i max(D O_i - n w_i, 0) / g,  g = gcd of D and all n w_i

Outcomes are added one at a time to a table of P(cost | total count), and states of equal cost are merged (Baglivo,
Olivier and Pagano, J. Am. Stat. Assoc. 87 (1992) 464-469). Two groups of outcomes get a table each, and a tail of the
whole is a sum, over the states of one table, of suffix sums of the other: the joint support is never listed. Only
positive numbers are multiplied and added, so that a tail keeps its relative precision however small it is, which
transforms do not give without care (Keich and Nagarajan, J. Comput. Graph. Stat. 15 (2006) 779-802).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

from constants import EXACT_MAX_WORK, Reference
from errors import UserError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Literal["chi2", "tv"]

# Keys and costs must fit 64-bit integers.
_INTEGER_LIMIT = 2**62


@dataclass(frozen=True)
class Lattice:
    """The integer scale of one statistic of `n` draws: statistic = slope * integer - shift."""

    reference: Reference
    n: int
    statistic: Statistic

    def __post_init__(self) -> None:
        if self.n < 1 or min(self.reference.weights) < 1:
            raise ValueError(f"n is {self.n}, weights are {self.reference.weights}; expected positive integers")
        if self.statistic not in ("chi2", "tv"):
            raise ValueError(f"statistic is {self.statistic!r}; expected chi2 or tv")

    @cached_property
    def _scale(self) -> int:
        """L of chi-square, g of TV."""
        weights = self.reference.weights
        if self.statistic == "chi2":
            return math.lcm(*weights)
        return math.gcd(self.reference.denominator, *(self.n * w for w in weights))

    @property
    def slope(self) -> Fraction:
        if self.statistic == "chi2":
            return Fraction(self.reference.denominator, self.n * self._scale)
        return Fraction(self._scale, self.n * self.reference.denominator)

    @property
    def shift(self) -> int:
        return self.n if self.statistic == "chi2" else 0

    def _cost(self, weight: int, counts: Any) -> Any:
        """What this many observations of an outcome of this weight add. Convex in the count, and 0 at 0."""
        if self.statistic == "chi2":
            return counts * counts * (self._scale // weight)
        excess = counts * (self.reference.denominator // self._scale) - self.n * weight // self._scale
        return excess * (excess > 0)

    @property
    def largest(self) -> int:
        """The largest integer: all draws in the least probable outcome."""
        return int(self._cost(min(self.reference.weights), self.n))

    @property
    def costs(self) -> IntArray:
        """Cost of every outcome (row) at every count 0..n, shape (k, n + 1); Python integers if 64 bits are short."""
        counts = np.arange(self.n + 1, dtype=np.int64 if self.largest < _INTEGER_LIMIT else object)
        return np.stack([self._cost(weight, counts) for weight in self.reference.weights])

    def integers(self, counts: IntArray) -> IntArray:
        """Scaled statistics of rows of counts, shape (..., k) -> (...)."""
        return self.costs[np.arange(self.reference.k), counts].sum(axis=-1)  # type: ignore[no-any-return]

    def value(self, integer: int) -> float:
        """The statistic at a lattice integer, correctly rounded."""
        return float(self.slope * integer - self.shift)


class Table:
    """P(cost | total) of one group of outcomes, for every total 0..n.

    Flat arrays over the states, ordered by (total, cost): keys = total * stride + cost, totals, costs, masses, and
    tails, the mass at this cost or above within the same total, with one more entry for "past the end".
    starts[m] is the first state of total m, shape (n + 2,).
    """

    def __init__(self, costs: IntArray, probabilities: Sequence[float]) -> None:
        """costs: (outcomes, n + 1). The probabilities need not sum to one; their ratios count."""
        n = costs.shape[1] - 1
        # Costs are convex and 0 at 0, so that a group's cost is largest when one outcome has the whole total.
        self.stride = int(costs[:, n].max()) + 1 if len(costs) else 1
        boundaries = np.arange(n + 2) * self.stride
        if len(costs):
            self.keys, self.masses = boundaries[:-1] + costs[0], np.ones(n + 1)
        else:
            self.keys, self.masses = np.zeros(1, np.int64), np.ones(1)
        for i in range(1, len(costs)):
            shares = _shares(probabilities[i], sum(probabilities[:i]))
            self.keys, self.masses = _add_outcome(self.keys, self.masses, costs[i], self.stride, shares)
        self.starts = np.searchsorted(self.keys, boundaries)
        self.totals, self.costs = np.divmod(self.keys, self.stride)
        self.tails = np.zeros(len(self.keys) + 1)
        self.means = np.bincount(self.totals, self.masses * self.costs, minlength=n + 1)
        for start, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            self.tails[start:end] = np.cumsum(self.masses[start:end][::-1])[::-1]


def _shares(part: float, rest: float) -> tuple[float, float]:
    """Both normalised; which of two impossible groups takes a draw does not matter."""
    total = part + rest
    return (part / total, rest / total) if total > 0 else (0.0, 1.0)


def _add_outcome(
    keys: IntArray, masses: FloatArray, cost: IntArray, stride: int, shares: tuple[float, float]
) -> tuple[IntArray, FloatArray]:
    """States of a group after one more outcome, which takes each draw of the total with probability `shares[0]`."""
    n = len(cost) - 1
    totals = keys // stride
    ends = np.searchsorted(totals, np.arange(n + 1), side="right")

    def moved(count: int) -> tuple[IntArray, FloatArray]:
        end = ends[n - count]
        weights = binomial_pmf(np.arange(count, n + 1), count, *shares)
        return keys[:end] + (count * stride + cost[count]), masses[:end] * weights[totals[:end]]

    if (n + 1) * stride < 4 * int(ends.sum()):  # a dense array is no larger than the list of all moves
        dense = np.zeros((n + 1) * stride)
        for count in range(n + 1):
            target, mass = moved(count)
            dense[target] += mass
        occupied = np.flatnonzero(dense).astype(np.int64)
        return occupied, dense[occupied]
    return _merged([moved(count) for count in range(n + 1)])


def _merged(parts: Sequence[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    """The distinct keys of all parts, ascending, and the sums of their masses."""
    keys, masses = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    distinct, where = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(where, masses).astype(np.float64)


def binomial_pmf(trials: ArrayLike, successes: ArrayLike, p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Binomial probabilities, elementwise. q is 1 - p, passed so that neither loses digits when it is small."""
    n, x = np.asarray(trials), np.asarray(successes)
    log = gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1) + xlogy(x, p) + xlogy(n - x, q)
    return np.exp(log)  # type: ignore[no-any-return]


class Joint:
    """Two tables that together hold the distribution of sum(costs) given the total of all outcomes."""

    def __init__(self, costs: IntArray, probabilities: Sequence[float], split: int) -> None:
        """Outcomes before `split` make one table, the others the second."""
        left, right = Table(costs[:split], probabilities[:split]), Table(costs[split:], probabilities[split:])
        masses = sum(probabilities[:split]), sum(probabilities[split:])
        # A query walks through one table and looks up the other: walk through the shorter one.
        swap = len(left.keys) > len(right.keys)
        self._walked, self._looked_up = (right, left) if swap else (left, right)
        self._shares = _shares(*(masses[::-1] if swap else masses))

    def tail(self, total: int, integer: int) -> float:
        """P(sum of costs >= integer | total)."""
        end = self._walked.starts[total + 1]
        totals = self._walked.totals[:end]
        masses = self._walked.masses[:end] * binomial_pmf(total, np.arange(total + 1), *self._shares)[totals]
        index, found = self._look_up(total, integer)
        return float(masses @ np.where(found, self._looked_up.tails[index], 0.0))

    def mean(self, total: int) -> float:
        """The expected sum of costs given the total."""
        taken = np.arange(total + 1)
        weights = binomial_pmf(total, taken, *self._shares)
        return float(weights @ (self._walked.means[taken] + self._looked_up.means[total - taken]))

    def pmf(self, total: int) -> tuple[IntArray, FloatArray]:
        """Attainable sums of costs given the total, and their probabilities."""
        left, right = self._walked, self._looked_up
        pairs = int(np.diff(left.starts)[: total + 1] @ np.diff(right.starts)[total::-1])
        if pairs > EXACT_MAX_WORK:
            raise UserError(
                f"all values of the statistic of {total} draws: {pairs:.1e} pairs of states; "
                f"expected at most {EXACT_MAX_WORK:.1e} (its tails, quantiles and power need no such list)"
            )
        parts = []
        for taken, weight in enumerate(binomial_pmf(total, np.arange(total + 1), *self._shares)):
            mine = slice(*left.starts[taken : taken + 2])
            theirs = slice(*right.starts[total - taken : total - taken + 2])
            sums = np.add.outer(left.costs[mine], right.costs[theirs]).ravel()
            masses = np.multiply.outer(left.masses[mine], weight * right.masses[theirs]).ravel()
            parts.append((sums, masses))
        return _merged(parts)

    def next_attained(self, total: int, integer: int) -> int | None:
        """The smallest attainable sum of costs that is at least `integer`."""
        index, found = self._look_up(total, integer)
        sums = self._walked.costs[: len(index)][found] + self._looked_up.costs[index[found]]
        return int(sums.min()) if len(sums) else None

    def _look_up(self, total: int, integer: int) -> tuple[IntArray, NDArray[np.bool_]]:
        """For each walked state up to `total`: the first state of the rest that lifts the sum to `integer`, if any."""
        end = self._walked.starts[total + 1]
        rest = total - self._walked.totals[:end]
        wanted = np.clip(integer - self._walked.costs[:end], 0, self._looked_up.stride)
        index = np.searchsorted(self._looked_up.keys, rest * self._looked_up.stride + wanted)
        return index, index < self._looked_up.starts[rest + 1]


def joint_distribution(lattice: Lattice, probabilities: Sequence[float], without: int | None = None) -> Joint:
    """The joint of all outcomes, or of all but one (0-based), under any probabilities."""
    split, order = plan(lattice)[1:]
    kept = [i for i in order if i != without]
    before = split - (without in order[:split])
    return Joint(lattice.costs[kept], [probabilities[i] for i in kept], before)


@lru_cache(maxsize=1024)
def plan(lattice: Lattice) -> tuple[float, int, tuple[int, ...]]:
    """(work, split, order): outcomes from rare to frequent, the cheapest place to split them, and a bound on the work,
    counted in moves of one state by one count.

    Rare outcomes have large costs, whose sums seldom coincide; frequent ones share a narrow lattice.
    """
    order = tuple(sorted(range(lattice.reference.k), key=lambda i: lattice.reference.weights[i]))
    if lattice.largest * (lattice.n + 2) >= _INTEGER_LIMIT:
        return math.inf, 0, order
    weights = [lattice.reference.weights[i] for i in order]
    rare, frequent = _work(lattice, weights), _work(lattice, weights[::-1])
    work, split = min((rare[i] + frequent[len(order) - i], i) for i in range(1, len(order) + 1))
    return work, split, order


def _work(lattice: Lattice, weights: Sequence[int]) -> list[float]:
    """Bounds on the work of making the table of the first 0, 1, ..., k of these outcomes."""
    totals = np.arange(lattice.n + 1.0)
    multisets = (totals == 0).astype(np.float64)  # per total: states up to permutation of equal outcomes
    run, subsets, moves, work = 0, 1, 0.0, [1.0]
    for i, weight in enumerate(weights):
        run = run + 1 if i and weight == weights[i - 1] else 1
        for residue in range(run):  # partitions of the total into at most `run` parts: times 1 / (1 - z^run)
            multisets[residue::run] = np.cumsum(multisets[residue::run])
        multisets = np.minimum(multisets, 1e18)  # far beyond any limit
        states = np.minimum(multisets, lattice._cost(min(weights[: i + 1]), totals) + 1)
        if lattice.statistic == "tv":
            # It is fixed by which outcomes exceed their expectation and by how many draws these have together.
            subsets = subsets * (run + 1) // run
            states = np.minimum(states, subsets * (totals + 1))
        work.append(moves + float(states.sum()))
        moves += float(states @ totals[::-1] + states.sum())
    return work
