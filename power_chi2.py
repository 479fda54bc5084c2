"""Table 5 and Figure 13: the smallest departure that the test sees, as published and exactly.

    python power_chi2.py [--scene dice roulette] [--analysis DIR]

Reads   scenes.py (references, and the outcome onto which mass is moved)
Writes  analysis/results/power_chi2.json, analysis/tables/power_chi2.{md,tex} (Table 5);
        analysis/figures/power_chi2.{pdf,png} (Figure 13), power_chi2_exact.{pdf,png} (three tests at one N)
Free: needs no key and no network.

A share epsilon of the mass moves onto one outcome j, so that TV = epsilon (1 - p_j). The published rule rejects from
the 95 % quantile of 50,000 null statistics on. That is not the test that the benchmark applies (p <= 0.05): the
statistic is discrete, and its quantile itself has mass. The table gives the rule's true size, and beside it tests of
exact level. Table and figures come from one set of critical values.
"""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import cli
from constants import (
    ALPHA,
    CHI2_TIE_TOLERANCE,
    N_ROLLOUTS,
    POWER_CURVE_N,
    POWER_EPSILON_TOLERANCE,
    POWER_NULL_REPLICATES,
    POWER_NULL_SEED,
    POWER_REPLICATES,
    POWER_SEED,
    POWER_TABLE_N,
    POWER_TARGET,
    Reference,
)
from exact_multinomial import null_distribution
from exact_power import Contamination, contamination
from outputs import Outputs
from scenes import SCENES
from stats_utils import chi2_statistic, null_counts
from tables import DASH, Column, Table, fixed, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Contaminations at which the curves are drawn.
EPSILONS = tuple(i / 50 for i in range(51))
# Curves are stored with this many decimals: more would record the rounding of one processor's arithmetic.
CURVE_DECIMALS = 6
# The three tests are drawn beside each other at the benchmark's own N.
COMPARED_N = N_ROLLOUTS
# Test -> how it is named.
TESTS = {"published": "Published χ²", "chi2": "Exact χ²", "tv": "Exact TV"}
# Light to dark with growing N, so that the order survives a print in grey.
N_COLOURS = ("#9ECAE1", "#4292C6", "#08519C", "#041F4A")
TEST_STYLES: dict[str, dict[str, Any]] = {
    "published": {"color": "#0072B2", "linestyle": "-"},
    "tv": {"color": "#D55E00", "linestyle": "-"},
    # Last, so that its dashes show where two tests are the same one.
    "chi2": {"color": "#56B4E9", "linestyle": "--"},
}


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    results = detectability(cli.selected_scenes(args))
    outputs.results(results)
    outputs.table(table_5(results))
    if not outputs.print_only:
        outputs.figure(draw(results))
        outputs.figure(draw_exact(results), "_exact")
    outputs.finish()
    return 0


def detectability(scenes: Sequence[str]) -> dict[str, Any]:
    """Everything plotted and printed; scenes that share a reference and a contaminated outcome are computed once."""
    groups: dict[tuple[Reference, int], list[str]] = {}
    for scene in scenes:
        groups.setdefault((SCENES[scene].reference, SCENES[scene].contaminated), []).append(scene)
    results: dict[str, Any] = {"groups": list(groups.values()), "target": POWER_TARGET, "scenes": {}, "curves": {}}
    for (reference, outcome), members in groups.items():
        tests: dict[str, dict[str, Any]] = {name: {} for name in TESTS}
        curves: dict[str, Any] = {name: {} for name in TESTS}
        for n in POWER_CURVE_N:
            for name, (row, power) in _tests(reference, outcome, n).items():
                tests[name][str(n)] = row
                if name == "published" or n == COMPARED_N:
                    curves[name][str(n)] = np.round(power.power(EPSILONS), CURVE_DECIMALS).tolist()
        curves["tv_of_epsilon"] = [epsilon * (1 - reference.probabilities[outcome - 1]) for epsilon in EPSILONS]
        results["curves"][members[0]] = curves
        for scene in members:
            results["scenes"][scene] = {"contaminated": SCENES[scene].outcomes[outcome - 1], **tests}
    return results


def _tests(reference: Reference, outcome: int, n: int) -> dict[str, tuple[dict[str, Any], Contamination]]:
    """The tests at one n: critical value, true size and smallest detectable contamination of each; and its exact power.

    An n of the curves alone has the published test alone.
    """
    found = {}
    for name in TESTS if n in POWER_TABLE_N else ["published"]:
        null = null_distribution(reference, n, "tv" if name == "tv" else "chi2")
        published = name == "published"
        cut = null.cut_at(published_critical(reference, n)) if published else null.critical(ALPHA)
        power = contamination(null, cut, outcome)
        if published:
            epsilon: float | None = published_epsilon(reference, outcome, n, cut.value)
        else:
            epsilon = power.smallest_detectable(POWER_TARGET)
        row = {
            "critical": None if math.isinf(cut.value) else cut.value,
            "size": cut.size,
            "epsilon": epsilon,
            "min_tv": None if epsilon is None else epsilon * (1 - reference.probabilities[outcome - 1]),
        }
        found[name] = (row, power)
    return found


def published_critical(reference: Reference, n: int) -> float:
    """The 95 % quantile of the published number of simulated null statistics."""
    counts = null_counts(reference, n, POWER_NULL_REPLICATES, np.random.default_rng(POWER_NULL_SEED))
    return float(np.quantile(chi2_statistic(counts, reference), 1 - ALPHA))


def published_epsilon(reference: Reference, outcome: int, n: int, critical: float) -> float:
    """The smallest contamination with simulated power at the target, by bisection as published.

    Every step starts the same stream of random numbers, so that the simulated power hardly jumps from step to step.
    """

    def reaches_target(epsilon: float) -> bool:
        p = (1 - epsilon) * np.array(reference.probabilities)
        p[outcome - 1] += epsilon
        counts = np.random.default_rng(POWER_SEED).multinomial(n, p, size=POWER_REPLICATES)
        rejected = chi2_statistic(counts, reference) >= critical - CHI2_TIE_TOLERANCE
        return bool(rejected.mean() >= POWER_TARGET)

    low, high = 0.0, 1.0
    while high - low > POWER_EPSILON_TOLERANCE:
        middle = (low + high) / 2
        low, high = (low, middle) if reaches_target(middle) else (middle, high)
    return high


def table_5(results: Mapping[str, Any]) -> Table:
    """Groups of scenes down; smallest detectable TV of each test, and the true size of the published rule."""
    columns = [Column("Scene", "l"), Column("mass to", "l")]
    columns += [Column(f"N = {n}", group=title) for title in TESTS.values() for n in POWER_TABLE_N]
    columns += [Column(f"N = {n}", group="Published size") for n in POWER_TABLE_N]
    rows = []
    for members in results["groups"]:
        row = results["scenes"][members[0]]
        cells = [row[test][str(n)] for test in TESTS for n in POWER_TABLE_N]
        rows.append(
            [
                _title(members),
                row["contaminated"],
                *(DASH if cell["min_tv"] is None else fixed(cell["min_tv"], 2) for cell in cells),
                *(fixed(row["published"][str(n)]["size"], 4) for n in POWER_TABLE_N),
            ]
        )
    return Table(
        f"Smallest TV that is detected with probability {percent(POWER_TARGET)}, when mass moves onto one outcome.",
        columns,
        rows,
        [
            f"Published χ²: reject from the {percent(1 - ALPHA)} quantile of {POWER_NULL_REPLICATES:,} simulated null "
            f"statistics on; power from {POWER_REPLICATES:,} draws. Its true size, computed exactly, is not {ALPHA}: "
            f"the quantile itself has mass. Exact: the largest test of size at most {ALPHA}; power without simulation."
        ],
    )


def _title(members: Sequence[str]) -> str:
    return " / ".join(SCENES[scene].title for scene in members)


def draw(results: Mapping[str, Any]) -> "Figure":
    """Power of the published rule against TV at each N, a panel a group of scenes; a ring where the table reads it."""

    def panel(ax: "Axes", scene: str, curves: Mapping[str, Any]) -> None:
        for n, colour in zip(POWER_CURVE_N, N_COLOURS, strict=True):
            ax.plot(curves["tv_of_epsilon"], curves["published"][str(n)], color=colour, label=f"N = {n}")
            if n in POWER_TABLE_N:
                _ring(ax, results["scenes"][scene]["published"][str(n)]["min_tv"], colour)

    return _panels(results, panel)


def draw_exact(results: Mapping[str, Any]) -> "Figure":
    """Power of the three tests at one N."""
    n = str(COMPARED_N)

    def panel(ax: "Axes", scene: str, curves: Mapping[str, Any]) -> None:
        for test, style in TEST_STYLES.items():
            ax.plot(curves["tv_of_epsilon"], curves[test][n], label=f"{TESTS[test]}, N = {n}", **style)
            _ring(ax, results["scenes"][scene][test][n]["min_tv"], style["color"])

    return _panels(results, panel)


def _panels(results: Mapping[str, Any], panel: Callable[["Axes", str, Mapping[str, Any]], None]) -> "Figure":
    from figures import MUTED, PAGE_WIDTH, axes_grid, hide_unused, new_figure

    groups = results["groups"]
    rows = -(-len(groups) // 3)
    figure = new_figure(PAGE_WIDTH, 0.6 + 1.55 * rows)
    axes = axes_grid(figure, rows, 3, sharex=True, sharey=True)
    for ax, members in zip(axes, groups, strict=False):
        ax.axhline(results["target"], color=MUTED, linewidth=0.7, linestyle=":")
        panel(ax, members[0], results["curves"][members[0]])
        ax.set_title(_title(members), fontsize=7.5, loc="left")
        ax.set_xlim(0, 1)
        ax.set_ylim(0, 1.03)
    hide_unused(axes, len(groups))
    figure.supxlabel("Total variation TV of the contaminated distribution", fontsize=8)
    figure.supylabel("Probability of rejection", fontsize=8)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _ring(ax: "Axes", tv: float | None, colour: str) -> None:
    if tv is not None:
        ax.plot(tv, POWER_TARGET, "o", color=colour, fillstyle="none", markersize=5)


if __name__ == "__main__":
    sys.exit(main())
