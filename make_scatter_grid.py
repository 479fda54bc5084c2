"""Figure 5: scorability against total variation, a panel a scene, with exact null bands.

    python make_scatter_grid.py [--models MINE] [--scene dice --model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/scatter_grid.json, analysis/tables/scatter_grid.{md,tex},
        analysis/figures/scatter_grid.{pdf,png}
Free: needs no key and no network.

A calibrated model's TV falls into the shaded band in 95 % of runs when all of its rollouts are valid. With fewer valid
ones the noise is larger: the thin bar at a marker's scorability is the band at its own number. The bands describe
noise; the verdicts are those of compute_chi2.py.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import cli
import records
from cell_summary import null_band, summary
from constants import INTERVAL_LEVEL, N_ROLLOUTS
from grid_table import grid_table
from marker_places import STRIP, placed
from models import Model, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from tables import DASH, Entry, Table, fixed, range_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__).parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    cells = records.read_study(args.analysis, "main", scenes, models)
    results = {
        "cells": {scene: {model: cell_result(cells[scene, model]) for model in models} for scene in scenes},
        "bands": {scene: null_band(SCENES[scene].reference, N_ROLLOUTS) for scene in scenes},
        "level": INTERVAL_LEVEL,
    }
    outputs.results(results)
    outputs.table(band_table(results, resolve(models)))
    if not outputs.print_only:
        outputs.figure(draw(results, resolve(models)))
    outputs.finish()
    return 0


def cell_result(cell: records.Cell) -> dict[str, Any]:
    """Scorability, TV and the exact null band at the cell's own number of valid rollouts."""
    scored = summary(cell)
    band = null_band(SCENES[cell.scene].reference, cell.n_valid)
    return {name: scored[name] for name in ("n", "n_valid", "rho", "tv", "note")} | {"null_band": band}


def band_table(results: dict[str, Any], models: list[Model]) -> Table:
    """TV of each cell beside its own null band."""

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = results["cells"][scene.key][model.key]
        if cell["tv"] is None:
            return [DASH, DASH]
        low, high = cell["null_band"]
        return [Entry(fixed(cell["tv"], 2), bold=cell["tv"] > high), range_text(low, high)]

    return grid_table(
        "TV of each cell and the exact central 95 % band of a calibrated model with as many valid rollouts.",
        list(results["cells"]),
        models,
        entries,
        quantities=("TV", "band"),
        notes=[f"Bold: above the band. {DASH} no valid rollout."],
    )


def draw(results: dict[str, Any], models: list[Model]) -> "Figure":
    """A panel a scene; the target is the corner of high scorability and low TV."""
    from matplotlib.artist import Artist
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    from figures import BAND, INK, MUTED, PAGE_WIDTH, axes_grid, new_figure

    figure = new_figure(PAGE_WIDTH, 6.9)
    axes = axes_grid(figure, 3, 3, sharex=True, sharey=True)
    for ax, (scene, row) in zip(axes, results["cells"].items(), strict=True):
        _panel(ax, SCENES[scene], row, results["bands"][scene], models)
    figure.supxlabel("Scorability ρ (the target is the bottom right corner)", fontsize=8)
    figure.supylabel("Total variation TV from the reference, on the valid rollouts", fontsize=8)
    handles: list[Artist] = [
        Line2D([], [], color=model.colour, marker=model.marker, linestyle="none", label=model.name) for model in models
    ]
    handles += [
        Patch(color=BAND, label=f"95 % null band, {N_ROLLOUTS} valid"),
        Line2D([], [], color=MUTED, linewidth=0.9, marker="_", label="the same at the cell's own number"),
        Line2D([], [], color=INK, linewidth=0.6, marker=".", markersize=3, label="moved aside from the dot"),
        Line2D([], [], color=INK, marker="o", fillstyle="none", linestyle="none", label="hollow: no valid rollout"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _panel(ax: "Axes", scene: Scene, row: dict[str, Any], band: tuple[float, float], models: list[Model]) -> None:
    from figures import BAND, GRID, INK, MUTED

    ax.axhspan(*band, color=BAND, linewidth=0)
    ax.axhline(0, color=GRID, linewidth=0.6)
    cells = [row[model.key] for model in models]
    # Cells with as many valid rollouts share a place and a band.
    for rho, (low, high) in {cell["rho"]: cell["null_band"] for cell in cells if cell["null_band"]}.items():
        ax.plot([rho, rho], [low, high], color=MUTED, linewidth=0.9, marker="_", markersize=5, zorder=2)
    points = [(cell["rho"], STRIP if cell["tv"] is None else cell["tv"]) for cell in cells]
    for model, cell, (rho, height), (x, y) in zip(models, cells, points, placed(points), strict=True):
        if x != rho:
            ax.plot(
                [rho, x], [height, y], color=INK, linewidth=0.6, marker=".", markevery=[0], markersize=3, zorder=2.5
            )
        hollow = cell["tv"] is None
        ax.scatter(
            x,
            y,
            s=34,
            marker=model.marker,
            facecolors="none" if hollow else model.colour,
            edgecolors=model.colour if hollow else "white",
            linewidths=1.0 if hollow else 0.3,
            zorder=3,
            label=model.key,
        )
    ax.set_title(scene.title, loc="left")
    ax.set_xlim(-0.09, 1.09)
    ax.set_ylim(-0.17, 1.05)
    ticks = ([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    ax.set_xticks(*ticks)
    ax.set_yticks(*ticks)


if __name__ == "__main__":
    sys.exit(main())
