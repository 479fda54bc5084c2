"""Anytime-valid tests of a cell: how soon, rollout by rollout, does a model show that it is not calibrated?

An e-process bets against the reference p_0. Its wealth after n valid outcomes with counts c is the likelihood ratio of
a Dirichlet(a) mixture and p_0 (Lindon and Malek 2022):

    e_n = B(a + c) / B(a) / prod_i p_i^c_i = prod_t (a_x(t) + c_x(t)(t - 1)) / ((A + t - 1) p_x(t)),   A = sum_i a_i

Under p_0 it is a martingale with mean 1, so that P(e_n >= 1 / alpha for any n) <= alpha (Ville 1939): one may look
after every rollout and stop at will. It depends on the outcomes through their counts alone. Unscorable rollouts leave
it as it is: the test is on the valid outcomes, as that of the protocol.

Lindon and Malek, NeurIPS 2022, arXiv:2011.03567. Wang and Ramdas, J. R. Stat. Soc. B 84 (2022) 822-852.
Ville, Etude critique de la notion de collectif (1939).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from constants import SEQUENTIAL_WEIGHT_PER_OUTCOME, Reference
from stats_utils import FloatArray, IntArray, benjamini_hochberg


@dataclass(frozen=True)
class SequentialTest:
    """The e-process of one cell, in the order in which its rollouts were made.

    log_e: natural log of the e-value after each rollout, shape (n,); an unscorable one repeats the value before it.
    n_valid: rollouts that moved it.
    decided_after: rollouts, unscorable ones among them, after which e first reached 1 / alpha; None if it never did.
    p_value: anytime-valid, min(1, 1 / max e). It is at most alpha exactly where the test has decided.
    """

    log_e: tuple[float, ...]
    n_valid: int
    alpha: float
    decided_after: int | None
    p_value: float

    @property
    def final_log_e(self) -> float:
        """Log of the e-value at the end: the evidence that e-BH takes. The largest one is no e-value."""
        return self.log_e[-1]


def sequential_test(bins: Sequence[int | None], reference: Reference, alpha: float) -> SequentialTest:
    """Test a cell's outcomes in order: 1..k, or None for an unscorable rollout. At least one rollout."""
    if not bins or not all(b is None or 1 <= b <= reference.k for b in bins):
        raise ValueError(f"bins are {tuple(bins)}; expected at least one, each None or 1..{reference.k}")
    valid = [b - 1 for b in bins if b is not None]
    after_valid = np.concatenate(([0.0], log_e_processes(np.array([valid], np.int64), reference)[0]))
    log_e = after_valid[np.cumsum([b is not None for b in bins])]
    reached = np.flatnonzero(log_e >= -math.log(alpha))
    return SequentialTest(
        log_e=tuple(log_e.tolist()),
        n_valid=len(valid),
        alpha=alpha,
        decided_after=int(reached[0]) + 1 if len(reached) else None,
        p_value=min(1.0, math.exp(-log_e.max())),
    )


def log_e_processes(outcomes: IntArray, reference: Reference) -> FloatArray:
    """Log e-value after each outcome: 0-based outcomes, shape (replicates, n) -> (replicates, n)."""
    p = np.array(reference.probabilities)
    prior = SEQUENTIAL_WEIGHT_PER_OUTCOME * reference.k * p
    weights = np.tile(prior, (len(outcomes), 1))  # prior plus counts so far
    rows = np.arange(len(outcomes))
    log_e = np.zeros(outcomes.shape)
    for t, outcome in enumerate(outcomes.T):
        log_e[:, t] = np.log(weights[rows, outcome] / ((prior.sum() + t) * p[outcome]))
        weights[rows, outcome] += 1
    return np.cumsum(log_e, axis=1)


def false_alarms(reference: Reference, n: int, alpha: float, replicates: int, rng: np.random.Generator) -> int:
    """How many of `replicates` calibrated cells of `n` valid rollouts reach e >= 1 / alpha at any time."""
    outcomes = rng.choice(reference.k, size=(replicates, n), p=reference.probabilities)
    return int(np.count_nonzero(log_e_processes(outcomes, reference).max(axis=1) >= -math.log(alpha)))


def e_benjamini_hochberg(log_e: ArrayLike) -> FloatArray:
    """Adjusted values q of the e-BH procedure (Wang and Ramdas 2022), in the given order: reject where q <= alpha.

    Rejecting the k largest e-values for the largest k with e_(k) >= m / (alpha k) is the Benjamini-Hochberg procedure
    on 1 / e. It controls the false discovery rate whatever the dependence between the cells.
    """
    return benjamini_hochberg(np.exp(-np.asarray(log_e, np.float64)))
