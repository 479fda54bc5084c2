"""The exact distribution of mnTV for a model whose outcome distributions are known and whose rollouts are all scorable.

A scene's score is (TV - E0) / (1 - E0), and TV has an exact distribution under any outcome probabilities (lattice.py).
mnTV is the mean of independent scores, so that its distribution is their convolution, made on a grid of the sum: every
score is rounded to `SCORE_GRID`, so that mnTV is off by at most SCORE_GRID / 2, whatever the number of scenes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from constants import SCORE_GRID, Reference
from lattice import Lattice, joint_distribution
from stats_utils import FloatArray, null_floor


@dataclass(frozen=True)
class Law:
    """How one scene's outcomes are drawn: true probabilities, shape (k,), and the reference they are held against."""

    probabilities: Sequence[float]
    reference: Reference


@dataclass(frozen=True)
class ScoreDistribution:
    """Values of mnTV, ascending, and their probabilities."""

    values: FloatArray
    masses: FloatArray

    @property
    def mean(self) -> float:
        return float(self.values @ self.masses)

    def quantile(self, level: float) -> float:
        """The smallest value at which the distribution function reaches `level`."""
        return float(self.values[np.searchsorted(np.cumsum(self.masses), level)])

    def central_moment(self, order: int) -> float:
        """The mean of (mnTV - mean) ** order."""
        return float(self.masses @ (self.values - self.mean) ** order)

    @property
    def standard_deviation(self) -> float:
        return math.sqrt(self.central_moment(2))

    def central_band(self, level: float) -> tuple[float, float]:
        """The quantiles (1 - level) / 2 and (1 + level) / 2."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)

    def in_central_band(self, value: float, level: float) -> bool:
        """Whether an mnTV lies in the band, up to the grid: that of a law without chance is a single point."""
        low, high = self.central_band(level)
        return low - SCORE_GRID <= value <= high + SCORE_GRID

    def distance(self, sample: ArrayLike) -> float:
        """The Kolmogorov-Smirnov distance sup |F_n - F| of a sample of mnTV, where the sample may be moved by the grid.

        It exceeds sqrt(log(2 / alpha) / (2 n)) with probability at most alpha, exactly, for every n and for discrete
        distributions too (Dvoretzky, Kiefer and Wolfowitz 1956; the constant is Massart's, Ann. Probab. 18 (1990)
        1269-1283).
        """
        observed = np.sort(np.asarray(sample, dtype=np.float64))
        below = np.searchsorted(observed, self.values - SCORE_GRID, side="left") / observed.size
        up_to = np.searchsorted(observed, self.values + SCORE_GRID, side="right") / observed.size
        expected = np.cumsum(self.masses)
        # F steps at its values only, so that the largest differences are at these and just before them.
        return float(max((expected - up_to).max(), (below - (expected - self.masses)).max()))


def mntv_distribution(laws: Sequence[Law], n: int) -> ScoreDistribution:
    """The distribution of mnTV over these scenes with `n` rollouts each."""
    total, start = np.ones(1), 0
    for law in laws:
        positions, masses = _score_on_grid(law, n)
        spread = np.zeros(len(total) + int(positions[-1] - positions[0]))
        for position, mass in zip(positions - positions[0], masses, strict=True):
            spread[position : position + len(total)] += mass * total
        total, start = spread, start + int(positions[0])
    occupied = np.flatnonzero(total)
    return ScoreDistribution((start + occupied) * SCORE_GRID / len(laws), total[occupied])


def _score_on_grid(law: Law, n: int) -> tuple[np.ndarray, FloatArray]:
    """Attainable scores of one scene in steps of SCORE_GRID, ascending, and their probabilities."""
    lattice = Lattice(law.reference, n, "tv")
    integers, masses = joint_distribution(lattice, [float(p) for p in law.probabilities]).pmf(n)
    floor = null_floor(law.reference, n)
    scores = (np.array([lattice.value(int(i)) for i in integers]) - floor) / (1 - floor)
    # Zero probabilities leave states behind that cannot happen.
    return np.rint(scores[masses > 0] / SCORE_GRID).astype(np.int64), masses[masses > 0]
