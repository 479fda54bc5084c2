"""Figures 4 and 6-12: what every model produced in every scene, against the reference.

    python analyze_rollouts.py [--models MINE] [--scene dice --model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/analyze_rollouts.json, analysis/tables/analyze_rollouts.{md,tex},
        analysis/figures/analyze_rollouts_{scene}.{pdf,png}: one figure a scene
Free: needs no key and no network.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import cli
import records
from constants import INTERVAL_LEVEL, MIN_VALID_FOR_TEST
from grid_table import grid_table
from models import Model, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from stats_utils import binomial_range
from tables import DASH, Entry, Table, fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A page's width takes this many panels side by side.
PANELS_A_ROW = 3


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__).parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    further = records.check_strays(args.analysis, models)
    cells = records.read_study(args.analysis, "main", scenes, models)
    grid = {scene: {model: cell_result(cells[scene, model]) for model in models} for scene in scenes}
    outputs.results({"cells": grid})
    outputs.table(summary_table(grid, resolve(models)))
    if not outputs.print_only:
        for scene in scenes:
            outputs.figure(draw(SCENES[scene], grid[scene], resolve(models)), f"_{scene}")
    outputs.finish()
    if further:
        print(
            f"outcome files of further models, not evaluated: {', '.join(further)} (add --models {' '.join(further)})"
        )
    return 0


def cell_result(cell: records.Cell) -> dict[str, Any]:
    """Counts, the empirical distribution, and the central range of a calibrated model's frequencies, by outcome."""
    reference, n = SCENES[cell.scene].reference, cell.n_valid
    result: dict[str, Any] = {"n": cell.n, "n_valid": n, "rho": n / cell.n, "counts": cell.counts}
    if n == 0:
        return result | {"frequencies": None, "expected_range": None, "modal_outcomes": []}
    ranges = {p: binomial_range(n, p, INTERVAL_LEVEL) for p in set(reference.probabilities)}
    most = max(cell.counts)
    return result | {
        "frequencies": [c / n for c in cell.counts],
        "expected_range": [[bound / n for bound in ranges[p]] for p in reference.probabilities],
        "modal_outcomes": [i + 1 for i, c in enumerate(cell.counts) if c == most],
    }


def summary_table(grid: dict[str, Any], models: list[Model]) -> Table:
    """Valid rollouts and the most frequent outcome of each cell."""

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = grid[scene.key][model.key]
        if not cell["n_valid"]:
            return ["0", DASH]
        modes = cell["modal_outcomes"]
        share = fixed(cell["frequencies"][modes[0] - 1], 2)
        name = scene.outcomes[modes[0] - 1] if len(modes) == 1 else f"{len(modes)} tied"
        return [str(cell["n_valid"]), f"{name} {share}"]

    return grid_table(
        "Valid rollouts of each cell, and its most frequent outcome with its share of them.",
        list(grid),
        models,
        entries,
        quantities=("valid", "mode"),
    )


def draw(scene: Scene, row: dict[str, Any], models: list[Model]) -> "Figure":
    """One panel a model: bars for its frequencies, marks for the reference, whiskers for the noise at its n_valid."""
    from figures import PAGE_WIDTH, axes_grid, hide_unused, new_figure

    rows = -(-len(models) // PANELS_A_ROW)
    figure = new_figure(PAGE_WIDTH, 0.45 + 1.35 * rows)
    axes = axes_grid(figure, rows, PANELS_A_ROW, sharex=True, sharey=True)
    for ax, model in zip(axes, models, strict=False):
        _panel(ax, scene, row[model.key], model)
    hide_unused(axes, len(models))
    handles, labels = next(ax.get_legend_handles_labels() for ax in axes if len(ax.get_legend_handles_labels()[0]) > 1)
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    figure.supxlabel(f"{scene.title}: outcome", fontsize=8)
    figure.supylabel("share of valid rollouts", fontsize=8)
    return figure


def _panel(ax: "Axes", scene: Scene, cell: dict[str, Any], model: Model) -> None:
    from figures import EMPIRICAL, INK, MUTED, REFERENCE

    x = np.arange(1, scene.k + 1)
    reference = np.array(scene.reference.probabilities)
    if cell["n_valid"]:
        ax.bar(x, cell["frequencies"], width=0.72, color=EMPIRICAL, label="model")
        low, high = np.array(cell["expected_range"]).T
        ax.vlines(x, low, high, color=INK, linewidth=0.9, label=f"central {INTERVAL_LEVEL:.0%} of a calibrated model")
    else:
        ax.text(0.5, 0.78, "no valid rollout", transform=ax.transAxes, ha="center", va="center", color=MUTED)
    ax.plot(
        x, reference, "D", color=REFERENCE, markersize=3.4, markeredgecolor=INK, markeredgewidth=0.4, label="reference"
    )
    few = "†" if 0 < cell["n_valid"] < MIN_VALID_FOR_TEST else ""
    ax.set_title(f"{model.name}   {cell['n_valid']}/{cell['n']} valid{few}", fontsize=7.5, loc="left")
    ax.set_xticks(x, scene.outcomes)
    # Twenty lottery numbers do not fit below a narrow panel: every other one is named.
    for label in ax.get_xticklabels()[1::2] if scene.k > 12 else []:
        label.set_visible(False)
    ax.set_xlim(0.4, scene.k + 0.6)
    ax.set_ylim(0, 1.05)
    ax.set_yticks([0, 0.5, 1])
    ax.grid(axis="y")
    ax.tick_params(axis="x", length=0)


if __name__ == "__main__":
    sys.exit(main())
