"""Anytime-valid verdicts: after how many rollouts would each cell have been told from its reference?

    python compute_sequential.py [--models MINE] [--scene dice --model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/sequential.json; analysis/tables/sequential.{md,tex}, sequential_false_alarms.{md,tex};
        analysis/figures/sequential.{pdf,png}
Free: needs no key and no network.

The e-process and its sources are in sequential.py. Rollouts are taken in the order of their seeds. A cell's verdict may
be read after any rollout; the e-BH correction across cells uses the e-values at the end.
"""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import cli
import records
from cell_summary import note
from constants import ALPHA, INTERVAL_LEVEL, MIN_VALID_FOR_TEST, N_ROLLOUTS, SEQUENTIAL_NULL_REPLICATES, SEQUENTIAL_SEED
from grid_table import grid_table
from models import PUBLISHED, Model, families, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from sequential import e_benjamini_hochberg, false_alarms, sequential_test
from stats_utils import clopper_pearson
from tables import DASH, Column, Entry, Table, fixed, percent, range_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The plot's lowest log10 e-value: below it a cell only gains evidence for calibration, which the test does not measure.
PLOT_FLOOR = -2


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__).parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    # Corrections need the whole family, also when a few of its rows are asked for.
    grid: dict[str, dict[str, Any]] = {scene: {} for scene in SCENES}
    for members in families(models):
        cells = records.read_study(args.analysis, "main", models=members)
        results = {key: cell_result(cell) for key, cell in cells.items()}
        tested = [result for result in results.values() if result["tested"]]
        q_values = e_benjamini_hochberg([result["final_log_e"] for result in tested])
        for result, q in zip(tested, q_values, strict=True):
            result |= {"q": q, "significant": bool(q <= ALPHA)}
        for (scene, model), result in results.items():
            grid[scene][model] = result
    shown = {scene: {model: grid[scene][model] for model in models} for scene in scenes}
    alarms = {scene: false_alarm_rate(SCENES[scene]) for scene in scenes}
    whole = {"cells": shown, "alpha": ALPHA, "false_alarms": alarms, "saved": saved(shown)}
    outputs.results(whole)
    outputs.table(cell_table(whole, resolve(models)))
    outputs.table(alarm_table(alarms), "_false_alarms")
    if not outputs.print_only:
        outputs.figure(draw(shown, resolve(models)))
    outputs.finish()
    return 0


def cell_result(cell: records.Cell) -> dict[str, Any]:
    """The cell's e-process. `tested` as in the published family: cells with very few valid rollouts are left out."""
    test = sequential_test(cell.bins, SCENES[cell.scene].reference, ALPHA)
    return {
        "n": cell.n,
        "n_valid": cell.n_valid,
        "note": note(cell.n_valid),
        "tested": not note(cell.n_valid),
        "log_e": test.log_e,
        "final_log_e": test.final_log_e,
        "decided_after": test.decided_after,
        "p_anytime": test.p_value,
    }


def false_alarm_rate(scene: Scene) -> dict[str, Any]:
    """Simulated share of calibrated cells that ever reach 1 / alpha within N rollouts, with an exact interval."""
    rng = np.random.default_rng([SEQUENTIAL_SEED, list(SCENES).index(scene.key)])
    alarms = false_alarms(scene.reference, N_ROLLOUTS, ALPHA, SEQUENTIAL_NULL_REPLICATES, rng)
    interval = clopper_pearson(alarms, SEQUENTIAL_NULL_REPLICATES, INTERVAL_LEVEL)
    return {
        "alarms": alarms,
        "replicates": SEQUENTIAL_NULL_REPLICATES,
        "rate": alarms / SEQUENTIAL_NULL_REPLICATES,
        "low": interval.low,
        "high": interval.high,
    }


def saved(grid: dict[str, Any]) -> dict[str, int]:
    """Rollouts that need not have been made, had each published cell been stopped at its own verdict, uncorrected; and
    (`*_corrected`) had it been stopped at e >= m / alpha, m the number of tested cells.

    e-BH rejects a cell that stops there whatever the others come to: it rejects the k largest of m e-values when the
    smallest of them is at least m / (alpha k). At a lower e-value its verdict still depends on the others.
    """
    cells = [cell for row in grid.values() for model, cell in row.items() if model in PUBLISHED and cell["tested"]]
    result = {"cells": len(cells), "rollouts": sum(cell["n"] for cell in cells)}
    for suffix, members in (("", 1), ("_corrected", len(cells))):
        left = [cell["n"] - after for cell in cells if (after := reached(cell["log_e"], members / ALPHA)) is not None]
        result |= {f"decided{suffix}": len(left), f"saved{suffix}": sum(left)}
    return result


def reached(log_e: Sequence[float], threshold: float) -> int | None:
    """Rollouts after which the e-value first reached the threshold."""
    return next((i for i, value in enumerate(log_e, start=1) if value >= math.log(threshold)), None)


def cell_table(results: dict[str, Any], models: list[Model]) -> Table:
    """Rollouts until the verdict, and the e-value at the end; bold where e-BH rejects."""
    grid = results["cells"]

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = grid[scene.key][model.key]
        if not cell["tested"]:
            return ["†" if cell["note"] == "dagger" else DASH] * 2
        after = str(cell["decided_after"]) if cell["decided_after"] is not None else DASH
        return [after, Entry(e_text(cell["final_log_e"]), bold=cell["significant"])]

    notes = [
        f"Rollouts in seed order until the e-value first reached {1 / ALPHA:.0f} ({DASH}: it never did), and the "
        f"e-value at the end. Bold: rejected by e-BH at {ALPHA}. † at most {MIN_VALID_FOR_TEST - 1} valid rollouts."
    ]
    if results["saved"]["cells"]:
        s = results["saved"]
        notes.append(
            f"Of {s['cells']} tested cells of the published models, {s['decided']} reach a verdict. Stopping each "
            f"there would have saved {s['saved']} of their {s['rollouts']} rollouts: each verdict at level {ALPHA} by "
            f"itself, uncorrected for their number. At e = {s['cells'] / ALPHA:.0f} a cell may stop and is rejected by "
            f"e-BH whatever the others come to: {s['decided_corrected']} cells, {s['saved_corrected']} rollouts."
        )
    return grid_table(
        "Anytime-valid verdicts: rollouts needed, and the final e-value against the reference.",
        list(grid),
        models,
        entries,
        quantities=("after", "e"),
        notes=notes,
    )


def e_text(log_e: float) -> str:
    """Two significant digits, or a power of ten where e is large or small."""
    e = math.exp(log_e)
    if 0.01 <= e < 1000:
        return f"{e:.2g}" if e < 100 else f"{e:.0f}"
    return f"{e:.0e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def alarm_table(alarms: dict[str, Any]) -> Table:
    rows = [
        [SCENES[scene].title, fixed(alarm["rate"], 4), range_text(alarm["low"], alarm["high"], 4)]
        for scene, alarm in alarms.items()
    ]
    return Table(
        f"False alarms: share of {SEQUENTIAL_NULL_REPLICATES:,} calibrated cells whose e-value ever reaches "
        f"{1 / ALPHA:.0f} within {N_ROLLOUTS} rollouts.",
        [Column("Scene", "l"), Column("rate"), Column(f"{percent(INTERVAL_LEVEL)} interval")],
        rows,
        [f"It can be at most {ALPHA}, whenever one looks."],
    )


def draw(grid: dict[str, Any], models: list[Model]) -> "Figure":
    """One panel a scene, one line a model: log10 e after each rollout, with the line of the verdict."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    from figures import INK, MUTED, PAGE_WIDTH, axes_grid, new_figure

    figure = new_figure(PAGE_WIDTH, 5.2)
    axes = axes_grid(figure, 3, 3, sharex=True)
    threshold = math.log10(1 / ALPHA)
    for ax, (scene, row) in zip(axes, grid.items(), strict=True):
        for model in models:
            cell = row[model.key]
            if not cell["tested"]:
                continue
            log10_e = np.maximum(np.array(cell["log_e"]) / math.log(10), PLOT_FLOOR)
            x = np.arange(1, cell["n"] + 1)
            ax.plot(x, log10_e, color=model.colour, linewidth=1.1)
            if cell["decided_after"]:
                i = cell["decided_after"] - 1
                ax.plot(
                    x[i], log10_e[i], model.marker, color=model.colour, markersize=4.5, markeredgecolor=INK, mew=0.5
                )
        ax.axhline(threshold, color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)))
        ax.set_title(SCENES[scene].title, loc="left")
        ax.set_xlim(0, N_ROLLOUTS + 0.5)
        ax.set_xticks([1, 8, 16, 24, 32])
        if not any(row[model.key]["tested"] for model in models):
            ax.text(0.5, 0.5, "no tested cell", transform=ax.transAxes, ha="center", va="center", color=MUTED)
            ax.set_yticks([])
        else:
            ax.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, PLOT_FLOOR - 0.1), max(high, threshold + 0.5))
        ax.grid(axis="y")
    handles = [
        Line2D([], [], color=m.colour, marker=m.marker, markersize=4.5, markeredgecolor=INK, mew=0.5, label=m.name)
        for m in models
    ]
    handles.append(
        Line2D([], [], color=MUTED, linewidth=0.8, linestyle=(0, (4, 2)), label=f"verdict at e = {1 / ALPHA:.0f}")
    )
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    figure.supxlabel("rollouts, in seed order (a mark: where the verdict falls)", fontsize=8)
    figure.supylabel("log₁₀ e-value", fontsize=8)
    return figure


if __name__ == "__main__":
    sys.exit(main())
