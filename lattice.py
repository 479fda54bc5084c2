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
from typing import Any, Literal, NamedTuple

import numpy as np

from constants import EXACT_MAX_WORK, Reference
from errors import UserError
from stats_utils import FloatArray, IntArray, binomial_pmf

States = tuple[IntArray, FloatArray]
Statistic = Literal["chi2", "tv"]

# Costs must fit 64-bit integers.
_INTEGER_LIMIT = 2**62
# A state is kept in three arrays of 8 bytes; the arrays of one total have a price of their own. See `_work`.
_MOVES_PER_STATE = 16
_MOVES_PER_TOTAL = 500


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

    def cost(self, weight: int, counts: Any) -> Any:
        """What this many observations of an outcome of this weight add. Convex in the count, and 0 at 0."""
        if self.statistic == "chi2":
            return counts * counts * (self._scale // weight)
        excess = counts * (self.reference.denominator // self._scale) - self.n * weight // self._scale
        return excess * (excess > 0)

    @property
    def largest(self) -> int:
        """The largest integer: all draws in the least probable outcome."""
        return int(self.cost(min(self.reference.weights), self.n))

    @property
    def costs(self) -> IntArray:
        """Cost of every outcome (row) at every count 0..n, shape (k, n + 1); Python integers if 64 bits are short."""
        counts = np.arange(self.n + 1, dtype=np.int64 if self.largest < _INTEGER_LIMIT else object)
        return np.stack([self.cost(weight, counts) for weight in self.reference.weights])

    def integers(self, counts: IntArray) -> IntArray:
        """Scaled statistics of rows of counts, shape (..., k) -> (...)."""
        return self.costs[np.arange(self.reference.k), counts].sum(axis=-1)  # type: ignore[no-any-return]

    def value(self, integer: int) -> float:
        """The statistic at a lattice integer, correctly rounded."""
        return float(self.slope * integer - self.shift)


class Table:
    """P(cost | total) of one group of outcomes, for every total 0..n.

    Per total: `costs`, ascending, their probabilities `masses`, `tails` (the mass at this cost or above, with a last 0
    for "past the end"), and the mean cost, `means`, shape (n + 1,).
    """

    def __init__(self, costs: IntArray, probabilities: Sequence[float]) -> None:
        """costs: (outcomes, n + 1). The probabilities need not sum to one; their ratios count."""
        n = costs.shape[1] - 1
        states: list[States] = [(np.zeros(1, np.int64), np.ones(1))]
        if len(costs):
            states = [(costs[0, total : total + 1], np.ones(1)) for total in range(n + 1)]
        for i in range(1, len(costs)):
            states = _add_outcome(states, costs[i], _shares(probabilities[i], sum(probabilities[:i])))
        # A group without outcomes has no state but that of total 0.
        states += [(np.zeros(0, np.int64), np.zeros(0))] * (n + 1 - len(states))
        self.costs, self.masses = zip(*states, strict=True)
        self.tails = [np.append(np.cumsum(masses[::-1])[::-1], 0.0) for masses in self.masses]
        self.means = np.array([float(masses @ costs) for costs, masses in states])

    @property
    def size(self) -> int:
        """Number of states."""
        return sum(map(len, self.costs))


def _shares(part: float, rest: float) -> tuple[float, float]:
    """Both normalised; which of two impossible groups takes a draw does not matter."""
    total = part + rest
    return (part / total, rest / total) if total > 0 else (0.0, 1.0)


def _add_outcome(states: Sequence[States], cost: IntArray, shares: tuple[float, float]) -> list[States]:
    """States of a group after one more outcome, which takes each draw of the total with probability `shares[0]`."""
    sizes = [len(costs) for costs, _ in states]
    costs, masses = (np.concatenate(arrays) for arrays in zip(*states, strict=True))
    totals = np.repeat(np.arange(len(states)), sizes)
    result = []
    for total, end in enumerate(np.cumsum(sizes)):
        taken = total - totals[:end]
        weights = binomial_pmf(total, np.arange(total + 1), *shares)
        result.append(_merged(costs[:end] + cost[taken], masses[:end] * weights[taken]))
    return result


def _merged(costs: IntArray, masses: FloatArray) -> States:
    """The distinct costs, ascending, and the sums of their masses."""
    if costs.max() < 4 * len(costs):  # a dense array is small beside the list
        dense = np.bincount(costs, masses).astype(np.float64)
        occupied = np.flatnonzero(dense).astype(np.int64)
        return occupied, dense[occupied]
    distinct, where = np.unique(costs, return_inverse=True)
    return distinct, np.bincount(where, masses).astype(np.float64)


class Joint:
    """Two tables that together hold the distribution of sum(costs) given the total of all outcomes."""

    def __init__(self, costs: IntArray, probabilities: Sequence[float], split: int) -> None:
        """Outcomes before `split` make one table, the others the second."""
        left, right = Table(costs[:split], probabilities[:split]), Table(costs[split:], probabilities[split:])
        masses = sum(probabilities[:split]), sum(probabilities[split:])
        # A query walks through one table and looks up the other: walk through the shorter one.
        swap = left.size > right.size
        self._walked, self._looked_up = (right, left) if swap else (left, right)
        self._shares = _shares(*(masses[::-1] if swap else masses))

    def tail(self, total: int, integer: int) -> float:
        """P(sum of costs >= integer | total)."""
        weights = binomial_pmf(total, np.arange(total + 1), *self._shares)
        result = 0.0
        for taken, weight in enumerate(weights):
            tails = self._looked_up.tails[total - taken][self._first(total, taken, integer)]
            result += float(weight * (self._walked.masses[taken] @ tails))
        return result

    def mean(self, total: int) -> float:
        """The expected sum of costs given the total."""
        weights = binomial_pmf(total, np.arange(total + 1), *self._shares)
        return float(weights @ (self._walked.means[: total + 1] + self._looked_up.means[total::-1]))

    def next_attained(self, total: int, integer: int) -> int | None:
        """The smallest attainable sum of costs that is at least `integer`."""
        smallest = []
        for taken in range(total + 1):
            mine, theirs = self._walked.costs[taken], self._looked_up.costs[total - taken]
            first = self._first(total, taken, integer)
            found = first < len(theirs)
            if found.any():
                smallest.append(int((mine[found] + theirs[first[found]]).min()))
        return min(smallest, default=None)

    def pmf(self, total: int) -> States:
        """Attainable sums of costs given the total, ascending, and their probabilities."""
        pairs = sum(
            len(self._walked.costs[taken]) * len(self._looked_up.costs[total - taken]) for taken in range(total + 1)
        )
        if pairs > EXACT_MAX_WORK:
            raise UserError(
                f"all values of the statistic of {total} draws: {pairs:.1e} pairs of states; "
                f"expected at most {EXACT_MAX_WORK:.1e} (its tails, quantiles and power need no such list)"
            )
        sums, masses = [], []
        for taken, weight in enumerate(binomial_pmf(total, np.arange(total + 1), *self._shares)):
            sums.append(np.add.outer(self._walked.costs[taken], self._looked_up.costs[total - taken]).ravel())
            theirs = weight * self._looked_up.masses[total - taken]
            masses.append(np.multiply.outer(self._walked.masses[taken], theirs).ravel())
        return _merged(np.concatenate(sums), np.concatenate(masses))

    def _first(self, total: int, taken: int, integer: int) -> IntArray:
        """For each walked state of total `taken`: the first state of the rest that lifts the sum to `integer`."""
        wanted = integer - self._walked.costs[taken]
        return np.asarray(np.searchsorted(self._looked_up.costs[total - taken], wanted))


class Plan(NamedTuple):
    """How the outcomes are put into two tables: `order`, from rare to frequent, cut at `split`.

    work: a bound on the work of making the tables, see `_work`.
    """

    work: float
    split: int
    order: tuple[int, ...]


@lru_cache(maxsize=1024)
def plan(lattice: Lattice) -> Plan:
    """The cheapest split. Rare outcomes have large costs, whose sums seldom coincide; frequent ones share a narrow
    range of costs: sorted, the two kinds do not spoil each other's table."""
    order = tuple(sorted(range(lattice.reference.k), key=lambda i: lattice.reference.weights[i]))
    if lattice.largest >= _INTEGER_LIMIT:
        return Plan(math.inf, 0, order)
    weights = [lattice.reference.weights[i] for i in order]
    rare, frequent = _work(lattice, weights), _work(lattice, weights[::-1])
    return min(Plan(rare[i] + frequent[len(order) - i], i, order) for i in range(1, len(order) + 1))


def _work(lattice: Lattice, weights: Sequence[int]) -> list[float]:
    """Bounds on the work of making the table of the first 0, 1, ..., k of these outcomes, in moves of one state by one
    count. Memory is charged as well, as moves: so many for a state that is kept, and for the arrays of a total."""
    totals = np.arange(lattice.n + 1.0)
    multisets = (totals == 0).astype(np.float64)  # per total: states up to permutation of equal outcomes
    run, subsets, moves, work = 0, 1, 0.0, [0.0]
    for i, weight in enumerate(weights):
        run = run + 1 if i and weight == weights[i - 1] else 1
        for residue in range(run):  # partitions of the total into at most `run` parts: times 1 / (1 - z^run)
            multisets[residue::run] = np.cumsum(multisets[residue::run])
        multisets = np.minimum(multisets, 1e18)  # far beyond any limit
        states = np.minimum(multisets, lattice.cost(min(weights[: i + 1]), totals) + 1)
        if lattice.statistic == "tv":
            # It is fixed by which outcomes exceed their expectation and by how many draws these have together.
            subsets = subsets * (run + 1) // run
            states = np.minimum(states, subsets * (totals + 1))
        work.append(moves + _MOVES_PER_STATE * float(states.sum()) + _MOVES_PER_TOTAL * len(totals))
        moves += float(states @ (totals[::-1] + 1))
    return work


def joint_distribution(lattice: Lattice, probabilities: Sequence[float], without: int | None = None) -> Joint:
    """The joint of all outcomes, or of all but one (0-based), under any probabilities."""
    _, split, order = plan(lattice)
    kept = [i for i in order if i != without]
    return Joint(lattice.costs[kept], [probabilities[i] for i in kept], split - (without in order[:split]))
