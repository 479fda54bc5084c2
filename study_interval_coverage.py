"""How often the intervals on mnTV contain what they estimate: the published percentile interval and the corrected one.

    python study_interval_coverage.py [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/study_interval_coverage.json, analysis/tables/study_interval_coverage.{md,tex},
        analysis/figures/study_interval_coverage.{pdf,png}
Free: needs no key and no network. Takes about a minute; exits 1 when the corrected interval misses the accepted range
in a required case.

Each case is a model whose true outcome distributions are known: a calibrated operator, one that is half collapsed onto
the most probable outcome of each scene, and one for each published model, whose distributions are those observed. Its
expected mnTV is then known too (score_moments), and each replication draws new rollouts and asks whether each of the
two intervals contains it. These eight are the required cases, which the exit code is about.

Beyond them the corrected interval is tried where it is hardest pressed: a calibrated operator of which little is
scorable, weaker and stronger collapse, and the published models without certainties. An observed frequency of 0 or 1,
taken as the truth, makes a cell that never varies, and hides what an interval loses on one that seldom does; here every
observed cell has one further rollout, spread evenly over outcomes and null.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import cli
import records
from constants import (
    COVERAGE_ACCEPTED,
    COVERAGE_BOOTSTRAP_REPLICATES,
    COVERAGE_COLLAPSED,
    COVERAGE_REPLICATIONS,
    COVERAGE_SCORABLE,
    COVERAGE_SEED,
    INTERVAL_LEVEL,
    N_ROLLOUTS,
)
from intervals import half_widths, score_variances
from models import MODELS, PUBLISHED
from outputs import Outputs
from scenes import SCENES, Scene
from score_moments import score_moments
from stats_utils import FloatArray, IntArray, mntv, score_replicates
from tables import DASH, Column, Entry, Group, Table, fixed, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A true model: scene -> probabilities of its k outcomes and of an unscorable rollout, shape (k + 1,).
Truth = Mapping[str, FloatArray]

# Scheme -> name, colour (Okabe and Ito's, told apart by every reader) and marker.
SCHEMES = {
    "corrected": ("corrected", "#0072B2", "o"),
    "percentile": ("percentile bootstrap (published)", "#D55E00", "s"),
}
# Error bars of the figure, in Monte Carlo standard errors.
BAR = 1.96
# Replications whose bootstraps are in memory at one time.
BLOCK = 200


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    required, beyond = required_cases(args.analysis), further_cases(args.analysis)
    with tqdm(
        total=(len(required) + len(beyond)) * len(SCENES), unit="cell", desc="coverage", mininterval=1
    ) as progress:
        cases = {case: study(case, truth, progress) for case, truth in required.items()}
        further = {case: study(case, truth, progress, percentile=False) for case, truth in beyond.items()}
    low, high = COVERAGE_ACCEPTED
    outside = [case for case, result in cases.items() if not low <= result["corrected"]["coverage"] <= high]
    outputs.results(
        {
            "cases": cases,
            "beyond": further,
            "single_cells": single_cells(cases | further),
            "level": INTERVAL_LEVEL,
            "accepted": COVERAGE_ACCEPTED,
            "outside": outside,
            "n": N_ROLLOUTS,
            "replications": COVERAGE_REPLICATIONS,
            "bootstrap_replicates": COVERAGE_BOOTSTRAP_REPLICATES,
        }
    )
    outputs.table(coverage_table(cases, further))
    outputs.figure(draw(cases | further, len(cases)))
    outputs.finish()
    if outside:
        print(
            f"corrected interval outside {percent(low)} to {percent(high)}: {', '.join(map(title, outside))}",
            file=sys.stderr,
        )
    return 1 if outside else 0


def calibrated() -> Truth:
    """Every scene follows its reference, and every rollout is scorable."""
    return {scene.key: np.array([*scene.reference.probabilities, 0.0]) for scene in SCENES.values()}


def collapsed(share: float) -> Truth:
    """This share of the mass of each scene has moved to its most probable outcome."""
    return {
        scene: (1 - share) * distribution + share * np.eye(len(distribution))[SCENES[scene].reference.mode - 1]
        for scene, distribution in calibrated().items()
    }


def partly_scorable(share: float) -> Truth:
    """Every scene follows its reference, but only this share of the rollouts is scorable."""
    return {
        scene: share * distribution + (1 - share) * np.eye(len(distribution))[-1]
        for scene, distribution in calibrated().items()
    }


def smoothed(truth: Truth) -> Truth:
    """Frequencies of N rollouts with one more, which is spread evenly: nothing is certain."""
    return {scene: (N_ROLLOUTS * q + 1 / len(q)) / (N_ROLLOUTS + 1) for scene, q in truth.items()}


def fitted(analysis: Path) -> dict[str, Truth]:
    """Model -> the outcome frequencies of its rollouts, taken as the truth."""
    truths: dict[str, dict[str, FloatArray]] = {model: {} for model in PUBLISHED}
    for (scene, model), cell in records.read_study(analysis, "main").items():
        truths[model][scene] = np.array([*cell.counts, cell.n - cell.n_valid]) / cell.n
    return dict(truths)


def required_cases(analysis: Path) -> dict[str, Truth]:
    return {"calibrated": calibrated(), "half_collapsed": collapsed(0.5)} | fitted(analysis)


def further_cases(analysis: Path) -> dict[str, Truth]:
    return (
        {f"scorable_{share}": partly_scorable(share) for share in COVERAGE_SCORABLE}
        | {f"collapsed_{share}": collapsed(share) for share in COVERAGE_COLLAPSED}
        | {f"smoothed_{model}": smoothed(truth) for model, truth in fitted(analysis).items()}
    )


def study(case: str, truth: Truth, progress: "tqdm[Any]", *, percentile: bool = True) -> dict[str, Any]:
    """Coverage of the corrected interval in one case, and of the percentile interval, which takes most of the time, if
    asked for. A case has its own random numbers, whichever others are run."""
    rng = np.random.default_rng([COVERAGE_SEED, *case.encode()])
    expected: dict[str, float] = {}
    observed: dict[str, FloatArray] = {}
    variances: dict[str, FloatArray] = {}
    varied: dict[str, NDArray[np.bool_]] = {}
    resampled = np.zeros((COVERAGE_REPLICATIONS, COVERAGE_BOOTSTRAP_REPLICATES))
    for key, scene in SCENES.items():
        expected[key] = float(score_moments([truth[key]], N_ROLLOUTS, scene.reference).mean[0])
        counts = rng.multinomial(N_ROLLOUTS, truth[key], size=COVERAGE_REPLICATIONS)
        observed[key] = score_replicates(counts[:, :-1], N_ROLLOUTS, scene.reference)
        variances[key] = score_variances(counts, scene.reference)
        varied[key] = counts.max(axis=1) < N_ROLLOUTS
        for rows, scores in bootstrap(counts, scene, rng) if percentile else ():
            resampled[rows] += scores / len(SCENES)
        progress.update()
    tail = (1 - INTERVAL_LEVEL) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=1)
    # A calibrated operator expects exactly zero: no rounding error in the record.
    theta, values = round(mntv(expected, SCENES), 12) + 0.0, mntv(observed, SCENES)
    reach = half_widths(np.sqrt(np.sum([*variances.values()], axis=0)) / len(SCENES), N_ROLLOUTS - 1, INTERVAL_LEVEL)
    return {
        "expected_mntv": theta,
        "corrected": coverage(values - reach, values + reach, theta),
        "percentile": coverage(low, high, theta) if percentile else None,
        "cells": {key: cell_coverage(observed[key], variances[key], varied[key], expected[key]) for key in SCENES},
    }


def bootstrap(counts: IntArray, scene: Scene, rng: np.random.Generator) -> Iterator[tuple[slice, FloatArray]]:
    """Bootstrap scores of each row of `counts`, shape (rows, k + 1), a block of rows at a time: (rows, replicates)."""
    for start in range(0, len(counts), BLOCK):
        rows = slice(start, start + BLOCK)
        frequencies = counts[rows, None, :] / N_ROLLOUTS
        drawn = rng.multinomial(N_ROLLOUTS, frequencies, size=(frequencies.shape[0], COVERAGE_BOOTSTRAP_REPLICATES))
        yield rows, score_replicates(drawn[..., :-1], N_ROLLOUTS, scene.reference)


def coverage(low: FloatArray, high: FloatArray, truth: float) -> dict[str, float]:
    """Share of intervals that contain the truth, its Monte Carlo standard error, the shares that lie wholly above and
    below the truth, and the mean width."""
    above, below = float(np.mean(low > truth)), float(np.mean(high < truth))
    share = 1 - above - below
    return {
        "coverage": share,
        "standard_error": float(np.sqrt(share * (1 - share) / len(low))),
        "above": above,
        "below": below,
        "mean_width": float(np.mean(high - low)),
    }


def cell_coverage(
    observed: FloatArray, variances: FloatArray, estimable: NDArray[np.bool_], truth: float
) -> dict[str, float | None]:
    """The corrected interval of one cell: how often it is estimable, and how often it then contains the truth."""
    reach = half_widths(np.sqrt(variances[estimable]), N_ROLLOUTS - 1, INTERVAL_LEVEL)
    covered = np.abs(observed[estimable] - truth) <= reach
    return {"estimable": float(estimable.mean()), "coverage": float(covered.mean()) if covered.size else None}


def single_cells(cases: Mapping[str, Any]) -> dict[str, float]:
    """Lowest, median and highest coverage of the corrected intervals of single cells, over all cases and scenes."""
    found = [cell["coverage"] for result in cases.values() for cell in result["cells"].values() if cell["estimable"]]
    return {"lowest": min(found), "median": float(np.median(found)), "highest": max(found)}


def title(case: str) -> str:
    kind, _, what = case.partition("_")
    if kind in ("scorable", "collapsed"):
        return f"{percent(float(what))} {kind}"
    if kind == "smoothed":
        return f"{MODELS[what].name}, smoothed"
    return {"calibrated": "Calibrated operator", "half_collapsed": "Half-collapsed"}.get(case) or MODELS[case].name


def coverage_table(cases: dict[str, Any], beyond: dict[str, Any]) -> Table:
    """Cases down; coverage and mean width of both intervals across. Bold: within the accepted range."""
    low, high = COVERAGE_ACCEPTED

    def entries(result: dict[str, float] | None) -> list[Entry | str]:
        if result is None:
            return [DASH] * len(headers)
        return [
            Entry(fixed(100 * result["coverage"], 1), bold=low <= result["coverage"] <= high),
            fixed(100 * result["above"], 1),
            fixed(result["mean_width"], 3),
        ]

    headers = ("covers", "above", "width")
    rows: list[Sequence[Entry | str] | Group] = []
    for heading, group in (("Required cases", cases), ("Beyond the required cases", beyond)):
        rows.append(Group(heading))
        rows += [
            [title(case), fixed(result["expected_mntv"], 3), *(e for s in SCHEMES for e in entries(result[s]))]
            for case, result in group.items()
        ]
    studied = [result[scheme] for result in (cases | beyond).values() for scheme in SCHEMES if result[scheme]]
    error = max(result["standard_error"] for result in studied)
    cells = single_cells(cases | beyond)
    return Table(
        f"Coverage of nominal {percent(INTERVAL_LEVEL)} intervals on mnTV, in per cent: {COVERAGE_REPLICATIONS:,} "
        f"replications a case, N = {N_ROLLOUTS}.",
        [
            Column("True model", "l"),
            Column("E[mnTV]"),
            *(Column(header, group="Corrected") for header in headers),
            *(Column(header, group="Percentile") for header in headers),
        ],
        rows,
        [
            "A named model stands for the distributions that were fitted to its rollouts; smoothed: with one more that "
            "is spread evenly, so that nothing is certain. Scorable, collapsed: a calibrated operator of which this "
            "share is scorable, or has moved to the most probable outcome of each scene. Covers: intervals that "
            f"contain E[mnTV], bold within {percent(low)} to {percent(high)}; Monte Carlo standard errors are at most "
            f"{100 * error:.1f}. Above: intervals that lie wholly above it; the other misses lie below. The percentile "
            f"bootstrap has {COVERAGE_BOOTSTRAP_REPLICATES} replicates here and is tried in the required cases alone.",
            "Corrected intervals of single cells rest on one variance each and are rougher: where they are estimable "
            f"they cover in {100 * cells['lowest']:.0f} to {100 * cells['highest']:.0f} % of replications (median "
            f"{100 * cells['median']:.0f} %).",
        ],
    )


def draw(cases: dict[str, Any], required: int) -> "Figure":
    """Coverage of both schemes in each case, over the full range and near the nominal level; a line below the first
    `required` cases."""
    from figures import BAND, INK, MUTED, PAGE_WIDTH, axes_grid, new_figure

    figure = new_figure(PAGE_WIDTH, 4.6)
    axes = axes_grid(figure, 1, 2, sharey=True)
    for ax, limits, what in zip(axes, ((0.0, 1.0), (0.9, 1.0)), ("Full range", "Close-up"), strict=True):
        low, high = COVERAGE_ACCEPTED
        ax.axvspan(low, high, color=BAND, linewidth=0, label=f"accepted: {percent(low)} to {percent(high)}")
        ax.axvline(
            INTERVAL_LEVEL, color=INK, linewidth=0.8, linestyle="--", label=f"nominal: {percent(INTERVAL_LEVEL)}"
        )
        for offset, (scheme, (name, colour, marker)) in zip((-0.18, 0.18), SCHEMES.items(), strict=True):
            found = {y: result[scheme] for y, result in enumerate(cases.values()) if result[scheme]}
            # Hidden from the closer view, not clipped at its edge.
            shown = {y + offset: row for y, row in found.items() if row["coverage"] >= limits[0]}
            ax.errorbar(
                [row["coverage"] for row in shown.values()],
                list(shown),
                xerr=[BAR * row["standard_error"] for row in shown.values()],
                fmt=marker,
                color=colour,
                markersize=4,
                elinewidth=1,
                label=name,
            )
        ax.axhline(required - 0.5, color=MUTED, linewidth=0.6)
        if limits[0] == 0:
            ax.text(0.02, required - 0.4, "beyond the required cases", va="top", color=MUTED)
        margin = 0.03 * (limits[1] - limits[0])
        ax.set_xlim(limits[0] - margin, limits[1] + margin)
        ax.set_ylim(len(cases) - 0.5, -0.5)
        ax.set_yticks(range(len(cases)), [title(case) for case in cases])
        ax.grid(axis="x")
        ax.tick_params(axis="y", length=0)
        ax.set_title(what, loc="left")
    figure.supxlabel(f"share of intervals that contain E[mnTV] (bars: ± {BAR} Monte Carlo standard errors)", fontsize=8)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


if __name__ == "__main__":
    sys.exit(main())
