"""What the scripts say of one cell: its scores, its null band, and the published test of it."""

from dataclasses import asdict
from typing import Any

import numpy as np

from constants import CHI2_REPLICATES, CHI2_SEED, INTERVAL_LEVEL, MIN_VALID_FOR_TEST, Reference
from exact_multinomial import null_distribution
from records import Cell
from scenes import SCENES
from stats_utils import cell_score, monte_carlo_p


def note(n_valid: int) -> str:
    """What a table says of so many valid rollouts: "none_valid", "dagger" (too few to test) or "" (tested)."""
    if n_valid >= MIN_VALID_FOR_TEST:
        return ""
    return "dagger" if n_valid else "none_valid"


def summary(cell: Cell) -> dict[str, Any]:
    """The fields of stats_utils.CellScore, the counts, and the `note`, which is "absent" for an absent cell."""
    score = cell_score(cell.counts, cell.n, SCENES[cell.scene].reference)
    return asdict(score) | {"counts": cell.counts, "note": "absent" if cell.absent_reason else note(cell.n_valid)}


def null_band(reference: Reference, n_valid: int) -> tuple[float, float] | None:
    """Exact central band of TV for a calibrated model with this many valid rollouts; None without any."""
    if n_valid == 0:
        return None
    null = null_distribution(reference, n_valid, "tv")
    tail = (1 - INTERVAL_LEVEL) / 2
    return null.quantile(tail).value, null.quantile(1 - tail).value


def published_p(cell: Cell) -> float | None:
    """The published Monte Carlo p-value of Pearson's statistic; None with too few valid rollouts to test.

    Every cell starts the generator anew, so that its p-value does not depend on the cells before it.
    """
    if note(cell.n_valid):
        return None
    rng = np.random.default_rng(CHI2_SEED)
    return monte_carlo_p(cell.counts, SCENES[cell.scene].reference, CHI2_REPLICATES, rng)
