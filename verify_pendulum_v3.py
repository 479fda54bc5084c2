"""The pendulum's reference: does its frame, with what one frame cannot resolve, give left and right equal odds?

    python verify_pendulum_v3.py [--analysis DIR]

Reads   constants.py (the release state measured from the conditioning frame)
Writes  analysis/results/verify_pendulum_v3.json, analysis/tables/verify_pendulum_v3.{md,tex},
        analysis/figures/verify_pendulum_v3.{pdf,png}
Exit 1 when P(left) leaves the band of the protocol, or when energy is not conserved.
Free: needs no key and no network.

An ensemble is released from rest with independent noise on both angles, and P(left of the pivot) is taken every 0.1 s.
The published check is about the outer weight; the judge is asked about the lowest one, so both are checked.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cli
from constants import (
    GRAVITY,
    INTERVAL_LEVEL,
    PENDULUM_ANGLES_DEG,
    PENDULUM_ATOL,
    PENDULUM_BAND,
    PENDULUM_BAND_FROM_S,
    PENDULUM_BAND_TO_S,
    PENDULUM_BLOCK,
    PENDULUM_ENERGY_TOLERANCE,
    PENDULUM_LENGTHS_M,
    PENDULUM_MEMBERS,
    PENDULUM_NOISE_DEG,
    PENDULUM_RTOL,
    PENDULUM_SEED,
)
from double_pendulum import circle_derivative, energy
from outputs import Outputs
from runge_kutta import integrate
from stats_utils import clopper_pearson
from tables import Column, Entry, Table, fixed, percent, range_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

# Before the first of these the noise has not spread; after the last no model's clip goes on.
TIMES_S = tuple(i / 10 for i in range(10, 51))
# The result does not depend on it: noise is drawn before, and blocks are integrated apart from each other.
PROCESSES = 2
# Decimals of a probability that do not depend on the processor: a difference in the last bit of the angles moved none
# of 4,000 members to the other side within 5 s.
DECIMALS = 3
WEIGHTS = {"outer": "outer weight (published)", "lowest": "lowest weight (asked of the judge)"}


@dataclass(frozen=True)
class Block:
    """Members left of the pivot at each of TIMES_S, by weight; and the largest change of a member's energy, as a share
    of the energy between hanging and standing upright."""

    left: dict[str, NDArray[np.int64]]
    energy_drift: float


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    results = check(releases(PENDULUM_MEMBERS), PROCESSES)
    outputs.results(results)
    outputs.table(summary_table(results))
    outputs.figure(draw(results))
    outputs.finish()
    print(verdict(results))
    return 0 if results["holds"] else 1


def releases(members: int) -> Array:
    """Release angles with noise, radians, shape (2, members)."""
    noise = np.random.default_rng(PENDULUM_SEED).standard_normal((2, members))
    return np.radians(np.array(PENDULUM_ANGLES_DEG)[:, np.newaxis] + PENDULUM_NOISE_DEG * noise)


def check(angles: Array, processes: int) -> dict[str, Any]:
    """P(left) at every time with its exact interval, the largest deviation within the band's time, and the verdict."""
    members = angles.shape[1]
    blocks = [angles[:, start : start + PENDULUM_BLOCK] for start in range(0, members, PENDULUM_BLOCK)]
    if processes == 1:
        done = [integrate_block(block) for block in blocks]
    else:
        # Fresh processes: a fork of one that has threads can hang.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            done = list(pool.map(integrate_block, blocks))
    drift = max(block.energy_drift for block in done)
    weights = {name: _probabilities(sum(block.left[name] for block in done), members) for name in WEIGHTS}
    return {
        "members": members,
        "times_s": TIMES_S,
        "level": INTERVAL_LEVEL,
        "band": {"from_s": PENDULUM_BAND_FROM_S, "to_s": PENDULUM_BAND_TO_S, "half_width": PENDULUM_BAND},
        "weights": weights,
        # One digit: the largest of many is the least stable of all.
        "energy_drift": float(f"{drift:.0e}"),
        "holds": bool(
            drift <= PENDULUM_ENERGY_TOLERANCE
            and all(w["largest_deviation"] <= PENDULUM_BAND for w in weights.values())
        ),
    }


def integrate_block(angles: Array) -> Block:
    """Release one block, angles (2, members) in radians, and count who is left of the pivot."""
    at_rest = np.zeros_like(angles)
    start = np.stack([np.cos(angles[0]), np.sin(angles[0]), np.cos(angles[1]), np.sin(angles[1]), *at_rest])
    length1, length2 = PENDULUM_LENGTHS_M
    left: dict[str, list[int]] = {name: [] for name in WEIGHTS}
    for state in integrate(circle_derivative, start, TIMES_S, PENDULUM_RTOL, PENDULUM_ATOL):
        cosine1, sine1, cosine2, sine2 = state[:4]
        inner, outer = length1 * sine1, length1 * sine1 + length2 * sine2
        # The outer weight hangs below the inner one exactly when its rod points down.
        lowest = np.where(cosine2 > 0, outer, inner)
        left["outer"].append(int(np.count_nonzero(outer < 0)))
        left["lowest"].append(int(np.count_nonzero(lowest < 0)))
    end = np.stack([np.arctan2(sine1, cosine1), np.arctan2(sine2, cosine2), *state[4:]])
    span = 2 * GRAVITY * (2 * length1 + length2)
    drift = np.abs(energy(end) - energy(np.concatenate([angles, at_rest]))).max() / span
    return Block({name: np.array(counts) for name, counts in left.items()}, float(drift))


def _probabilities(left: Any, members: int) -> dict[str, Any]:
    intervals = [clopper_pearson(int(count), members, INTERVAL_LEVEL) for count in left]
    checked = [i for i, t in enumerate(TIMES_S) if PENDULUM_BAND_FROM_S <= t <= PENDULUM_BAND_TO_S]
    worst = max(checked, key=lambda i: abs(left[i] / members - 0.5))
    return {
        "p_left": _rounded(left / members),
        "low": _rounded(interval.low for interval in intervals),
        "high": _rounded(interval.high for interval in intervals),
        "largest_deviation": round(abs(left[worst] / members - 0.5), DECIMALS),
        "at_s": TIMES_S[worst],
    }


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), DECIMALS) for value in values]


def summary_table(results: Mapping[str, Any]) -> Table:
    """A row a weight: P(left) at whole seconds, and where it is farthest from one half within the band's time."""
    seconds = [i for i, t in enumerate(results["times_s"]) if t == int(t)]
    band = results["band"]
    rows: list[list[Entry | str]] = []
    for name, title in WEIGHTS.items():
        row = results["weights"][name]
        worst = results["times_s"].index(row["at_s"])
        rows.append(
            [
                title,
                *(fixed(row["p_left"][i], 3) for i in seconds),
                f"{fixed(row['largest_deviation'], 3)} at {row['at_s']} s",
                range_text(row["low"][worst], row["high"][worst], 3),
            ]
        )
    times = f"{band['from_s']:.0f}–{band['to_s']:.0f} s"
    return Table(
        f"P(left of the pivot) of {results['members']:,} double pendulums released as the frame shows, ± "
        f"{PENDULUM_NOISE_DEG} degrees.",
        [
            Column("Weight", "l"),
            *(Column(f"{results['times_s'][i]:.0f} s", group="P(left) at") for i in seconds),
            Column(f"largest |P − 0.5|, {times}"),
            Column(f"{percent(INTERVAL_LEVEL)} interval there"),
        ],
        rows,
        [verdict(results)],
    )


def verdict(results: Mapping[str, Any]) -> str:
    """One line: what was found, and whether the reference holds."""
    band = results["band"]
    found = ", ".join(f"{name} {fixed(results['weights'][name]['largest_deviation'], 3)}" for name in WEIGHTS)
    return (
        f"{'Holds' if results['holds'] else 'Does not hold'}: P(left) within {band['half_width']} of 0.5 from "
        f"{band['from_s']:.0f} to {band['to_s']:.0f} s (largest deviation: {found}); energy kept within "
        f"{results['energy_drift']:.0e} of its range (limit {PENDULUM_ENERGY_TOLERANCE:.0e})."
    )


def draw(results: Mapping[str, Any]) -> "Figure":
    """P(left) over time with its exact interval, and the band that it must not leave."""
    from matplotlib.patches import Rectangle

    from figures import BAND, COLUMN_WIDTH, EMPIRICAL, MUTED, REFERENCE, new_figure

    figure = new_figure(COLUMN_WIDTH, 2.5)
    ax = figure.subplots()
    band, times = results["band"], results["times_s"]
    corner = (band["from_s"], 0.5 - band["half_width"])
    size = (band["to_s"] - band["from_s"], 2 * band["half_width"])
    ax.add_patch(Rectangle(corner, *size, color=BAND, linewidth=0, label="must stay in here"))
    ax.axhline(0.5, color=MUTED, linewidth=0.6)
    styles = {"outer": (EMPIRICAL, "-"), "lowest": (REFERENCE, "--")}
    for name, (colour, line) in styles.items():
        row = results["weights"][name]
        ax.fill_between(times, row["low"], row["high"], color=colour, alpha=0.35, linewidth=0)
        ax.plot(times, row["p_left"], line, color=colour, label=WEIGHTS[name])
    ax.set_xlabel("Time since release (s)")
    ax.set_ylabel("P(left of the pivot)")
    ax.set_xlim(times[0], times[-1])
    curves = [p for row in results["weights"].values() for p in row["p_left"]]
    ax.set_ylim(min(0.3, *curves), max(0.7, *curves))
    ax.legend(loc="lower right")
    return figure


if __name__ == "__main__":
    sys.exit(main())
