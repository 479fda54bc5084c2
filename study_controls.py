"""Do the simulated controls follow their laws? mnTV of many seed sets of each law, against its exact distribution.

    python study_controls.py [--analysis DIR]

Reads   nothing: the outcomes are the simulator's truths, without rendering a video
Writes  analysis/results/study_controls.json, analysis/tables/study_controls.{md,tex},
        analysis/figures/study_controls.{pdf,png}
Free: needs no key and no network. Exit 1 when a law's seed sets do not look like its distribution: their mean or their
mean squared deviation is too many standard errors from theory, or their distribution function is further from the exact
one than the inequality of Dvoretzky, Kiefer and Wolfowitz allows at CONTROL_GATE_LEVEL.

What a judge does to the outcomes is measured elsewhere (validate_judge.py): this is about the generator.
"""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

import cli
from constants import (
    CONTROL_BAND_LEVEL,
    CONTROL_GATE_LEVEL,
    CONTROL_SEED_SETS,
    CONTROL_STANDARD_ERRORS,
    N_ROLLOUTS,
    SCORE_GRID,
)
from models import resolve
from outputs import Outputs
from scenes import SCENES
from score_distribution import ScoreDistribution
from simulator import LAWS, simulate
from simulator.theory import control_distribution
from stats_utils import cell_score, mntv
from tables import Column, Table, fixed, percent, range_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    sets = [(law, i) for law in LAWS for i in range(CONTROL_SEED_SETS)]
    observed: dict[str, list[float]] = {law: [] for law in LAWS}
    for law, i in tqdm(sets, desc="seed sets", disable=None):
        observed[law].append(seed_set_mntv(law, i))
    results = {law: compare(law, np.array(values)) for law, values in observed.items()}
    outputs.results({"laws": results, "seed_sets": CONTROL_SEED_SETS, "level": CONTROL_BAND_LEVEL})
    outputs.table(study_table(results))
    outputs.figure(draw(results))
    outputs.finish()
    failed = [law for law, result in results.items() if not result["agrees"]]
    for law in failed:
        print(f"{law}: the seed sets do not follow the law", file=sys.stderr)
    return 1 if failed else 0


def seed_set_mntv(law: str, index: int) -> float:
    """mnTV of the truths of seeds index * N .. (index + 1) * N - 1, all scenes."""
    scores = {}
    for key, scene in SCENES.items():
        seeds = range(index * N_ROLLOUTS, (index + 1) * N_ROLLOUTS)
        outcomes = [simulate(key, law, seed)[0].outcome for seed in seeds]
        counts = [outcomes.count(b) for b in range(1, scene.k + 1)]
        scores[key] = cell_score(counts, N_ROLLOUTS, scene.reference).score
    return mntv(scores, SCENES)


def compare(law: str, values: np.ndarray) -> dict[str, Any]:
    """The seed sets of one law against its exact distribution."""
    expected = control_distribution(law)
    low, high = expected.central_band(CONTROL_BAND_LEVEL)
    # For the figure: the exact distribution function at a few hundred levels.
    levels = np.linspace(0.001, 0.999, 200)
    return {
        "mntv": sorted(values.tolist()),
        "expected": expected.mean,
        "expected_sd": expected.standard_deviation,
        "low": low,
        "high": high,
        "inside": int(np.sum((low - SCORE_GRID <= values) & (values <= high + SCORE_GRID))),
        **agreement(expected, values),
        "curve": {"level": levels.tolist(), "mntv": [expected.quantile(level) for level in levels]},
    }


def agreement(expected: ScoreDistribution, values: np.ndarray) -> dict[str, Any]:
    """Whether a sample of mnTV has the mean, the spread and the distribution function of theory.

    The squared deviations are taken from the mean of theory; the standard errors are exact, from its second and fourth
    central moments.
    """
    variance, fourth = expected.central_moment(2), expected.central_moment(4)
    squares = (values - expected.mean) ** 2
    # A law without chance has no spread; the grid is all that may differ.
    mean_within = CONTROL_STANDARD_ERRORS * math.sqrt(variance / len(values)) + SCORE_GRID
    square_within = CONTROL_STANDARD_ERRORS * math.sqrt((fourth - variance**2) / len(values)) + SCORE_GRID**2
    distance = expected.distance(values)
    largest_distance = math.sqrt(math.log(2 / (1 - CONTROL_GATE_LEVEL)) / (2 * len(values)))
    return {
        "mean": float(values.mean()),
        "sd": math.sqrt(squares.mean()),
        "distance": distance,
        "largest_distance": largest_distance,
        "agrees": bool(
            abs(values.mean() - expected.mean) <= mean_within
            and abs(squares.mean() - variance) <= square_within
            and distance <= largest_distance
        ),
    }


def study_table(results: dict[str, dict[str, Any]]) -> Table:
    rows = [
        [
            resolve([law])[0].name,
            fixed(result["mean"], 4),
            fixed(result["expected"], 4),
            fixed(result["sd"], 4),
            fixed(result["expected_sd"], 4),
            range_text(result["low"], result["high"], 3),
            f"{result['inside']} of {len(result['mntv'])}",
            f"{fixed(result['distance'], 2)} (≤ {fixed(result['largest_distance'], 2)})",
        ]
        for law, result in results.items()
    ]
    return Table(
        f"Simulated laws: mnTV of {CONTROL_SEED_SETS} seed sets of {N_ROLLOUTS} rollouts a scene, and exact theory.",
        [
            Column("Law", "l"),
            Column("mean mnTV"),
            Column("expected"),
            Column("SD"),
            Column("expected"),
            Column(f"exact {percent(CONTROL_BAND_LEVEL)} band"),
            Column("sets inside"),
            Column("sup |F − F₀|"),
        ],
        rows,
        [
            "The pendulum of sim_calibrated is integrated, not drawn: P(left) is close to one half, not equal to it.",
            "SD: root mean squared deviation from the expected mean.",
            "sup |F − F₀|: largest difference between the distribution function of the seed sets and the exact one; in "
            "parentheses what it may be (Dvoretzky-Kiefer-Wolfowitz).",
        ],
    )


def draw(results: dict[str, dict[str, Any]]) -> "Figure":
    """One panel a law: the exact distribution function, the seed sets as steps, and the band."""
    from figures import BAND, EMPIRICAL, INK, PAGE_WIDTH, axes_grid, new_figure

    figure = new_figure(PAGE_WIDTH, 2.1)
    axes = axes_grid(figure, 1, len(results), sharey=True)
    for ax, (law, result) in zip(axes, results.items(), strict=True):
        values = result["mntv"]
        ax.axvspan(result["low"], result["high"], color=BAND, label=f"exact {percent(CONTROL_BAND_LEVEL)} band")
        ax.plot(result["curve"]["mntv"], result["curve"]["level"], color=INK, linewidth=1, label="exact")
        ax.ecdf(values, color=EMPIRICAL, linewidth=1.2, label=f"{len(values)} seed sets")
        ax.set_title(resolve([law])[0].name, loc="left")
        ax.set_xlim(result["expected"] - 0.11, result["expected"] + 0.11)
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("mnTV")
    axes[0].set_ylabel("distribution function")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


if __name__ == "__main__":
    sys.exit(main())
