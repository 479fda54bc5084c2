"""Intervals on mnTV: the published percentile bootstrap, and one that covers.

Estimand: the model's expected score at this N,

    theta = E[mnTV-hat] = (1/S) sum_s E[s(X_s)],    X_s ~ Multinomial(N, q_s),

where q_s is the model's true distribution over the k outcomes of scene s and "unscorable", and mnTV-hat is computed
from N fresh rollouts a scene. Scenes are fixed; rollouts are independent. A calibrated operator has theta = 0.

The observed mnTV is unbiased for theta by definition. The percentile bootstrap is not: its replicates are samples of a
sample, so that sampling noise inflates their TV twice while the floor is taken off once, and the interval lies too
high. Near TV = 0, where |.| has its kink, the bootstrap is not even consistent (Andrews 2000).

The corrected interval is centred on the observed score:  mnTV-hat +- t_{N-1} se,  se^2 = S^-2 sum_s V_s N / (N - 1).
V_s is the exact variance of the score (score_moments) at an estimate of q_s. The empirical distribution itself will
not do: it is further from the reference than q_s is, again by sampling noise, and so hides the kink; and where nothing
or next to nothing varied, it has no spread although q_s may have. It is moved towards the calibrated operator, by the
positive-part James-Stein weight and by a fraction of a pseudo-rollout (`shrunken_distributions`). The degrees of
freedom of a sum of variances lie between those of one and of all of its terms (Satterthwaite 1946); the lower end is
taken.

study_interval_coverage.py measures how often each interval contains theta. With nine scenes of 32 rollouts the
corrected one of nominally 95 % does so in 92 to 98 % of replications: for the published models, with and without
certainties, where 3 % to all of a calibrated operator's rollouts are scorable, and where up to 90 % of the mass has
moved to one outcome. Lowest where 10 to 15 % are scorable or 30 to 40 % have moved; too wide where nearly nothing
varies. That is the range of validity: an interval of a single cell, on one variance alone, can cover much less often.

Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13. Hall, The Bootstrap and Edgeworth Expansion
(1992), section 3.10. Andrews, Econometrica 68 (2000) 399-405. Efron and Morris, JASA 68 (1973) 117-130; for
multinomials Fienberg and Holland, JASA 68 (1973) 683-691. Satterthwaite, Biometrics Bulletin 2 (1946) 110-114.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from constants import BOOTSTRAP_SEED, INTERVAL_LEVEL, INTERVAL_PSEUDO_ROLLOUTS, Reference
from score_moments import score_moments
from stats_utils import FloatArray, Interval, cell_score, score_replicates

PERCENTILE = "percentile bootstrap"
CORRECTED = "score ± t × standard error"

# Nodes of the quadrature of P(best), in standard errors. With 31 degrees of freedom the density beyond the ends is
# below 1e-15. The trapezoidal rule needs errors of like size: a model with a hundredth of another's is a narrow step.
_NODES = np.linspace(-15, 15, 3001)


@dataclass(frozen=True)
class Outcomes:
    """What `n` rollouts of one cell gave: counts of the k outcomes; the rest were unscorable."""

    counts: tuple[int, ...]
    n: int
    reference: Reference

    @property
    def score(self) -> float:
        """The cell's score, see stats_utils.cell_score."""
        return cell_score(self.counts, self.n, self.reference).score

    @property
    def with_null(self) -> tuple[int, ...]:
        """Counts of the outcomes, then of unscorable rollouts, length k + 1."""
        return (*self.counts, self.n - sum(self.counts))

    @property
    def degenerate(self) -> str | None:
        """Why the spread of the score cannot be estimated from these rollouts; None when it can."""
        if max(self.with_null) < self.n:
            return None
        found = (
            f"all {self.n} rollouts have the same outcome" if any(self.counts) else f"no rollout of {self.n} is valid"
        )
        return f"{found}: their spread cannot be estimated"


@dataclass(frozen=True)
class StandardError:
    """The standard error of a score or a mean of scores, and its degrees of freedom."""

    value: float
    degrees_of_freedom: int


@dataclass(frozen=True)
class Estimate:
    """A score, a mean of scores or a difference of such, with its interval.

    interval: None when it is not estimable; `reason` then says why.
    degenerate: how many of the `cells` behind the value show no spread: what they add to the interval is assumed.
    standard_error: of the corrected scheme; None for a percentile interval, which has none, and without an interval.
    """

    value: float
    interval: Interval | None
    method: str
    cells: int
    degenerate: int
    standard_error: StandardError | None = None
    reason: str | None = None

    @property
    def estimable(self) -> bool:
        return self.interval is not None

    @property
    def contains_zero(self) -> bool:
        """Whether 0 lies in the interval; what has no interval excludes nothing."""
        return self.interval is None or self.interval.low <= 0 <= self.interval.high


# --- published: percentile bootstrap ------------------------------------------------------------------------------


def model_rng(model: str) -> np.random.Generator:
    """The bootstrap's generator of one model: from the seed and the model's key alone, so that a model selected by
    itself gets the interval that it has among all."""
    return np.random.default_rng([BOOTSTRAP_SEED, *model.encode()])


def bootstrap_mntv(cells: Sequence[Outcomes], replicates: int, rng: np.random.Generator) -> FloatArray:
    """mnTV of bootstrap replicates, shape (replicates,), with the scenes fixed (CaliBench, Table 2).

    Each replicate draws all N rollouts of each cell anew from its outcomes and nulls, so that rho varies too; the floor
    is that of the resampled n_valid.
    """
    total = np.zeros(replicates)
    for cell in cells:
        # Outcomes that never occurred cannot be drawn: leaving them out saves most of the time.
        seen = np.flatnonzero(cell.with_null)
        drawn = np.zeros((replicates, len(cell.with_null)), dtype=np.int64)
        drawn[:, seen] = rng.multinomial(cell.n, np.array(cell.with_null)[seen] / cell.n, size=replicates)
        total += score_replicates(drawn[:, :-1], cell.n, cell.reference)
    return total / len(cells)


def percentile_estimate(
    value: float, replicates: FloatArray, cells: Sequence[Outcomes], level: float = INTERVAL_LEVEL
) -> Estimate:
    """The published interval: `value` with the central percentiles of its bootstrap replicates.

    For a difference of two models: the difference of two models' mnTV, that of their replicates, and the cells of both.
    """
    degenerate, reason = _degenerate(cells)
    if reason is not None:
        return Estimate(value, None, PERCENTILE, len(cells), degenerate, reason=reason)
    tail = (1 - level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return Estimate(value, Interval(float(low), float(high), level, PERCENTILE), PERCENTILE, len(cells), degenerate)


# --- corrected ----------------------------------------------------------------------------------------------------


def shrunken_distributions(counts: ArrayLike, reference: Reference) -> FloatArray:
    """Estimates of the outcome distributions behind `counts`, both of shape (d, k + 1), nulls last.

    The empirical distribution q-hat moves towards the calibrated operator's p = (reference, 0) by the positive-part
    James-Stein weight:  p + max(0, 1 - V / |q-hat - p|^2) (q-hat - p),  where V = (1 - |q-hat|^2) / (N - 1) is an
    unbiased estimate of E|q-hat - q|^2 (Efron and Morris 1973). A degenerate row has V = 0, as if it could not have
    come out otherwise. Every row therefore counts as N rollouts of that estimate and INTERVAL_PSEUDO_ROLLOUTS of p.
    """
    x = np.asarray(counts, dtype=np.float64)
    n = x.sum(axis=1, keepdims=True)
    empirical, target = x / n, np.array([*reference.probabilities, 0.0])
    # In whole numbers first, so that V is exactly zero for a degenerate row.
    noise = (n**2 - (x**2).sum(axis=1, keepdims=True)) / (n**2 * np.maximum(n - 1, 1))
    distance = ((empirical - target) ** 2).sum(axis=1, keepdims=True)
    weight = np.maximum(0.0, 1 - noise / np.where(distance > 0, distance, 1.0))
    shrunken: FloatArray = target + weight * n / (n + INTERVAL_PSEUDO_ROLLOUTS) * (empirical - target)
    return shrunken


def score_variances(counts: ArrayLike, reference: Reference) -> FloatArray:
    """Estimated variance of the score for each row of `counts`, shape (d, k + 1), nulls last, N >= 2 a row -> (d,).

    Positive for a degenerate row too, where it is no estimate but what a pseudo-rollout assumes. All rows have the
    same N.
    """
    # Few rows differ where k is small, and one row's variance costs much more than finding its equals.
    rows, where = np.unique(np.asarray(counts), axis=0, return_inverse=True)
    n = int(rows[0].sum())
    variances = score_moments(shrunken_distributions(rows, reference), n, reference).variance * n / (n - 1)
    return variances[where.ravel()]


def half_widths(standard_errors: ArrayLike, degrees_of_freedom: int, level: float) -> FloatArray:
    """Half the length of a two-sided t interval."""
    quantile = float(stdtrit(degrees_of_freedom, (1 + level) / 2))
    return quantile * np.asarray(standard_errors, dtype=np.float64)


def corrected_estimate(value: float, cells: Sequence[Outcomes], level: float = INTERVAL_LEVEL) -> Estimate:
    """The corrected interval around `value`, the mean score of these cells (of one cell: its score).

    Not estimable when all of them are degenerate. The interval ends at 1, as every score does.
    """
    degenerate, reason = _degenerate(cells)
    if reason is not None:
        return Estimate(value, None, CORRECTED, len(cells), degenerate, reason=reason)
    variances = [score_variances([cell.with_null], cell.reference)[0] for cell in cells]
    error = StandardError(math.sqrt(sum(variances)) / len(cells), min(cell.n for cell in cells) - 1)
    reach = float(half_widths(error.value, error.degrees_of_freedom, level))
    interval = Interval(value - reach, min(value + reach, 1.0), level, CORRECTED)
    return Estimate(value, interval, CORRECTED, len(cells), degenerate, error)


def corrected_difference(a: Estimate, b: Estimate, level: float = INTERVAL_LEVEL) -> Estimate:
    """a - b for two models' corrected estimates over the same scenes.

    Two models' rollouts are independent also when they share seeds, so that the variances add.
    """
    value, cells, degenerate = a.value - b.value, a.cells + b.cells, a.degenerate + b.degenerate
    if a.standard_error is None or b.standard_error is None:
        return Estimate(value, None, CORRECTED, cells, degenerate, reason=a.reason or b.reason)
    error = StandardError(
        math.hypot(a.standard_error.value, b.standard_error.value),
        min(a.standard_error.degrees_of_freedom, b.standard_error.degrees_of_freedom),
    )
    reach = float(half_widths(error.value, error.degrees_of_freedom, level))
    return Estimate(
        value, Interval(value - reach, value + reach, level, CORRECTED), CORRECTED, cells, degenerate, error
    )


def probability_best(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Model -> probability that its expected mnTV is the lowest of all; they sum to 1 up to the quadrature.

    Each theta follows the distribution that its intervals of all levels make up, value + standard error x t
    (a confidence distribution: Schweder and Hjort, Confidence, Likelihood, Probability, 2016), independently of the
    others. Models whose interval is not estimable are left out of the comparison and of the result.

    P(m is lowest) = int f_m(theta) prod_{j != m} [1 - F_j(theta)] dtheta, by the trapezoidal rule.
    """
    compared = {m: (e.value, e.standard_error) for m, e in estimates.items() if e.standard_error is not None}
    probabilities = {}
    for model, (value, error) in compared.items():
        degrees = error.degrees_of_freedom
        theta = value + error.value * _NODES
        # Student's t density up to its constant, which cancels.
        density = (1 + _NODES**2 / degrees) ** (-(degrees + 1) / 2)
        above = np.ones_like(theta)
        for other, (other_value, other_error) in compared.items():
            if other != model:
                above *= stdtr(other_error.degrees_of_freedom, (other_value - theta) / other_error.value)
        probabilities[model] = float((density * above).sum() / density.sum())
    return probabilities


def not_told_apart(differences: Mapping[tuple[str, str], Estimate]) -> str:
    """One sentence on which pairs of models, by name, these intervals do not tell apart."""
    if not differences:
        return "There is only one model, hence no pair to compare."
    unsure = [f"{a} and {b}" for (a, b), d in differences.items() if d.estimable and d.contains_zero]
    unknown = [f"{a} and {b}" for (a, b), d in differences.items() if not d.estimable]
    rest = len(differences) - len(unsure) - len(unknown)
    sentences = []
    if unsure:
        sentences.append(f"Not told apart, as the interval of the difference contains 0: {'; '.join(unsure)}.")
    if unknown:
        sentences.append(f"Without an interval, as one of the two shows no spread: {'; '.join(unknown)}.")
    if not sentences:
        return f"All {rest} pairs of models are told apart: no interval of a difference contains 0."
    sentences.append(
        f"The other {rest} of {len(differences)} pairs are told apart." if rest else "No pair is told apart."
    )
    return " ".join(sentences)


def _degenerate(cells: Sequence[Outcomes]) -> tuple[int, str | None]:
    """How many cells are degenerate and, if all are, why nothing can be estimated."""
    reasons = [cell.degenerate for cell in cells if cell.degenerate is not None]
    if len(reasons) < len(cells):
        return len(reasons), None
    if len(reasons) == 1:
        return 1, reasons[0]
    return len(reasons), "all cells are degenerate: their spread cannot be estimated"
