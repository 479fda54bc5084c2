"""The exact distribution of mnTV for a model whose outcome distributions are known and whose rollouts are all scorable.

A scene's score is (TV - E0) / (1 - E0), and TV has an exact distribution under any outcome probabilities (lattice.py).
mnTV is the mean of independent scores, so that its distribution is their convolution, made on a grid of the sum: every
score is rounded to `GRID`, so that mnTV is off by at most GRID / 2, whatever the number of scenes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from constants import Reference
from lattice import Lattice, joint_distribution
from stats_utils import FloatArray, null_floor

GRID = 1e-5


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

    def distribution_function(self, value: float) -> float:
        """P(mnTV <= value)."""
        return float(self.masses[: np.searchsorted(self.values, value + GRID / 2, side="right")].sum())


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
    return ScoreDistribution((start + occupied) * GRID / len(laws), total[occupied])


def _score_on_grid(law: Law, n: int) -> tuple[np.ndarray, FloatArray]:
    """Attainable scores of one scene in steps of GRID, ascending, and their probabilities."""
    lattice = Lattice(law.reference, n, "tv")
    integers, masses = joint_distribution(lattice, [float(p) for p in law.probabilities]).pmf(n)
    floor = null_floor(law.reference, n)
    scores = (np.array([lattice.value(int(i)) for i in integers]) - floor) / (1 - floor)
    # Zero probabilities leave states behind that cannot happen.
    return np.rint(scores[masses > 0] / GRID).astype(np.int64), masses[masses > 0]
