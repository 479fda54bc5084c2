"""Exact power of a test against contamination of one outcome, and the smallest contamination that it detects.

Contamination of outcome j moves a share epsilon of the mass onto it (CaliBench, appendix C):

    p_eps = (1 - eps) p_0 + eps delta_j

Given X_j = x, the other n - x draws are multinomial with probabilities p_i / (1 - p_j), whatever eps is. One table
r_x = P(reject | X_j = x), x = 0..n, therefore serves every eps:

    power(eps) = sum_x Binomial(x; n, p_j + eps (1 - p_j)) r_x
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exact_multinomial import Cut, NullDistribution
from stats_utils import FloatArray, binomial_pmf

# Epsilon is found to this precision.
_WIDTH = 1e-9


@dataclass(frozen=True)
class Contamination:
    """Power of one test against contamination of one outcome. Get it from `contamination`.

    reference_probability: p_j; rejection: r_x = P(reject | X_j = x), shape (n + 1,).
    """

    reference_probability: float
    rejection: tuple[float, ...]

    def power(self, epsilon: ArrayLike) -> FloatArray:
        """P(reject) at contamination epsilon in [0, 1], elementwise. At 0 it is the size of the test."""
        clean = 1 - np.asarray(epsilon, np.float64)[..., np.newaxis]
        others = clean * (1 - self.reference_probability)
        n = len(self.rejection) - 1
        return np.asarray(binomial_pmf(n, np.arange(n + 1), 1 - others, others) @ np.array(self.rejection))

    def smallest_detectable(self, target: float) -> float | None:
        """The smallest epsilon in [0, 1] at which the power reaches `target`; None where it never does.

        Power need not rise with epsilon: a little contamination of a rare outcome can make its absence less likely and
        so lower the power first. The power is a polynomial in epsilon with Bernstein coefficients r_x; its first
        crossing is isolated by subdivision (de Casteljau), which does not assume a sign change or monotony.
        """
        above = _split(np.array(self.rejection) - target, self.reference_probability)[1]
        return _first_crossing(above, 0.0, 1.0)


def contamination(null: NullDistribution, cut: Cut, outcome: int) -> Contamination:
    """Power of the test that rejects from `cut` on, against contamination of `outcome` (1-based)."""
    rejection = null.tails_given_count(cut.integer, outcome)
    return Contamination(null.lattice.reference.probabilities[outcome - 1], tuple(rejection))


def _first_crossing(coefficients: FloatArray, low: float, high: float) -> float | None:
    """The first point of [low, high] where the polynomial with these Bernstein coefficients is not negative."""
    if coefficients[0] >= 0:  # the value at `low`
        return low
    if coefficients.max() < 0:  # the polynomial lies in the hull of its coefficients
        return None
    if high - low < _WIDTH:
        return high
    left, right = _split(coefficients, 0.5)
    middle = (low + high) / 2
    first = _first_crossing(left, low, middle)
    return first if first is not None else _first_crossing(right, middle, high)


def _split(coefficients: FloatArray, at: float) -> tuple[FloatArray, FloatArray]:
    """Bernstein coefficients of the same polynomial on [0, at] and on [at, 1] (de Casteljau's algorithm)."""
    left, right = np.empty_like(coefficients), np.empty_like(coefficients)
    for i in range(len(coefficients)):
        left[i], right[-1 - i] = coefficients[0], coefficients[-1]
        coefficients = (1 - at) * coefficients[:-1] + at * coefficients[1:]
    return left, right
