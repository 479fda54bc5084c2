"""Exact null distributions of Pearson's chi-square and of total variation, for any rational reference.

P-values, quantiles, critical values at exact level and power, without simulation: the two statistics live on an integer
lattice, and `lattice.py` sums the multinomial over it. Resin (2020) compares statistics for such exact tests.

What is beyond reach is decided in advance, from a bound on the work. There `p_value` gives a Monte Carlo value that
says so (Hope 1968), if it is handed a generator; everything else raises UserError.

Resin, arXiv:2008.12682 (2020). Hope, J. R. Stat. Soc. B 30 (1968) 582-598.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np

from constants import CHI2_REPLICATES, CHI2_TIE_TOLERANCE, EXACT_MAX_WORK, SMALLEST_TAIL, Reference
from errors import UserError
from lattice import Lattice, Statistic, joint_distribution, plan
from stats_utils import FloatArray, null_counts

# Levels are compared up to rounding, so that a tail of exactly 1/16 is at most 1/16.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PValue:
    """P(statistic >= observed) under the reference.

    method: "exact" or "monte carlo"; replicates: of the latter, else None.
    """

    value: float
    statistic: Statistic
    n_valid: int
    method: Literal["exact", "monte carlo"]
    replicates: int | None = None


@dataclass(frozen=True)
class Cut:
    """A point of the lattice, and the test that rejects from there on.

    integer: the scaled statistic; value: the statistic itself, infinite for a test that never rejects.
    size: P(statistic >= value) under the reference.
    """

    integer: int
    value: float
    size: float


class NullDistribution:
    """The distribution of one statistic of `n` draws from the reference. Get it from `null_distribution`."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self._joint = joint_distribution(lattice, lattice.reference.probabilities)

    def tail(self, integer: int) -> float:
        """P(scaled statistic >= integer)."""
        return self._joint.tail(self.lattice.n, integer)

    def p_value(self, counts: Sequence[int]) -> float:
        """P(statistic >= that of `counts`), at least SMALLEST_TAIL. Raises ValueError if the counts do not fit."""
        _check_counts(counts, self.lattice)
        return min(max(self.tail(int(self.lattice.integers(np.asarray(counts)))), SMALLEST_TAIL), 1.0)

    def quantile(self, level: float) -> Cut:
        """The smallest lattice point at which the distribution function reaches `level`."""
        return self._cut(self._first_at_most(1 - level) - 1)

    def critical(self, alpha: float) -> Cut:
        """The exact test of level alpha: the smallest lattice point with P(statistic >= it) <= alpha."""
        return self._cut(self._first_at_most(alpha))

    def cut_at(self, value: float) -> Cut:
        """The smallest lattice point that is at least `value`, a tie up to rounding included."""
        at_least = Fraction(value - CHI2_TIE_TOLERANCE)
        return self._cut(math.ceil((at_least + self.lattice.shift) / self.lattice.slope))

    def mean(self) -> float:
        """The expected statistic."""
        return float(self.lattice.slope) * self._joint.mean(self.lattice.n) - self.lattice.shift

    def pmf(self) -> tuple[FloatArray, FloatArray]:
        """All attainable values, ascending, and their probabilities. Raises UserError where these are too many."""
        integers, masses = self._joint.pmf(self.lattice.n)
        return np.array([self.lattice.value(int(i)) for i in integers]), masses

    def power(self, cut: Cut, probabilities: Sequence[float | Fraction] | FloatArray) -> float:
        """P(statistic >= cut) when the draws have these probabilities, shape (k,)."""
        p = [float(probability) for probability in probabilities]
        if len(p) != self.lattice.reference.k or min(p) < 0 or not math.isclose(sum(p), 1):
            raise ValueError(f"{p} is no distribution over {self.lattice.reference.k} outcomes")
        joint = joint_distribution(self.lattice, p)
        return min(joint.tail(self.lattice.n, cut.integer), 1.0)

    def tails_given_count(self, integer: int, outcome: int) -> FloatArray:
        """P(scaled statistic >= integer | X_j = x) for x = 0..n, j = `outcome` (1-based); shape (n + 1,)."""
        n, index = self.lattice.n, outcome - 1
        if not 0 <= index < self.lattice.reference.k:
            raise ValueError(f"outcome is {outcome}; expected 1..{self.lattice.reference.k}")
        others = joint_distribution(self.lattice, self.lattice.reference.probabilities, without=index)
        costs = self.lattice.costs[index]
        return np.array([min(others.tail(n - x, integer - int(costs[x])), 1.0) for x in range(n + 1)])

    def _first_at_most(self, level: float) -> int:
        """The smallest integer with tail <= level, which lies strictly between 0 and 1."""
        if not 0 < level < 1:
            raise ValueError(f"level is {level}; expected a number between 0 and 1")
        bound = level * (1 + _ROUNDING)
        return bisect_left(range(self.lattice.largest + 1), True, key=lambda integer: self.tail(integer) <= bound)

    def _cut(self, integer: int) -> Cut:
        attained = self._joint.next_attained(self.lattice.n, integer)
        if attained is None:
            return Cut(self.lattice.largest + 1, math.inf, 0.0)
        return Cut(attained, self.lattice.value(attained), min(self.tail(attained), 1.0))


def within_reach(reference: Reference, n: int, statistic: Statistic) -> bool:
    """Whether the distribution is computed exactly. The answer does not depend on the machine."""
    return plan(Lattice(reference, n, statistic)).work <= EXACT_MAX_WORK


@lru_cache(maxsize=128)
def null_distribution(reference: Reference, n: int, statistic: Statistic) -> NullDistribution:
    """The exact distribution of the statistic of `n` draws. Raises UserError where it is beyond reach."""
    lattice = Lattice(reference, n, statistic)
    work = plan(lattice).work
    if work > EXACT_MAX_WORK:
        raise UserError(
            f"exact {statistic} of {n} draws from {reference.k} outcomes: needs up to {work:.1e} steps; "
            f"expected at most {EXACT_MAX_WORK:.1e} (fewer draws, or the Monte Carlo p-value)"
        )
    return NullDistribution(lattice)


def p_value(
    counts: Sequence[int], reference: Reference, statistic: Statistic, rng: np.random.Generator | None = None
) -> PValue:
    """The p-value of one cell's valid counts, shape (k,): exact within reach, whatever `rng` is.

    Beyond reach, with a generator: the Monte Carlo value (b + 1) / (replicates + 1), ties counted (Hope 1968), and
    its method says so. Beyond reach, without one: UserError.
    """
    n = sum(counts)
    lattice = Lattice(reference, n, statistic)
    if rng is None or within_reach(reference, n, statistic):
        return PValue(null_distribution(reference, n, statistic).p_value(counts), statistic, n, "exact")
    _check_counts(counts, lattice)
    null = lattice.integers(null_counts(reference, n, CHI2_REPLICATES, rng))
    at_least = int(np.count_nonzero(null >= lattice.integers(np.asarray(counts))))
    return PValue((at_least + 1) / (CHI2_REPLICATES + 1), statistic, n, "monte carlo", CHI2_REPLICATES)


def _check_counts(counts: Sequence[int], lattice: Lattice) -> None:
    if len(counts) != lattice.reference.k or min(counts) < 0 or sum(counts) != lattice.n:
        raise ValueError(f"counts {tuple(counts)} do not fit {lattice.reference.k} outcomes and {lattice.n} draws")
