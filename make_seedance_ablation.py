"""Table 9: SeeDance-2.0 at its benchmarked resolution against 720p, and a figure of the change.

    python make_seedance_ablation.py [--scene dice cards] [--analysis DIR]

Reads   analysis/{scene}_seedance_bins.json, analysis/seedance720/{scene}_seedance_bins.json
Writes  analysis/results/seedance_ablation.json, analysis/tables/seedance_ablation.{md,tex},
        analysis/figures/seedance_ablation.{pdf,png}
Free: needs no key and no network.

The paper prints raw p-values. Beside them stand the ones corrected over all tests of this table (Benjamini-Hochberg).
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import cli
import records
from cell_summary import published_p, summary
from constants import ALPHA, CHI2_REPLICATES, MIN_VALID_FOR_TEST
from models import MODELS
from outputs import Outputs
from scenes import SCENES
from stats_utils import benjamini_hochberg, mntv
from studies import STUDIES
from tables import DASH, Column, Entry, Table, fixed, p_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL = MODELS["seedance"]
STUDY = STUDIES["seedance720"]
BEFORE = str(MODEL.inputs["resolution"])
AFTER = str(STUDY.overrides[MODEL.key]["resolution"])
# Name of a resolution -> the study that its cells are in.
ARMS = {BEFORE: "main", AFTER: STUDY.key}


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    results = compare(args)
    outputs.results(results)
    outputs.table(table_9(results, cli.selected_scenes(args)))
    if not outputs.print_only:
        outputs.figure(draw(results))
    outputs.finish()
    return 0


def compare(args: Any) -> dict[str, Any]:
    """Every scene at both resolutions. The correction needs all scenes, also when a few are shown."""
    cells: dict[str, dict[str, Any]] = {scene: {} for scene in SCENES}
    for arm, study in ARMS.items():
        for (scene, _), cell in records.read_study(args.analysis, study, models=[MODEL.key]).items():
            cells[scene][arm] = summary(cell) | {"p": published_p(cell), "q": None}
    tested = [cell for row in cells.values() for cell in row.values() if cell["p"] is not None]
    for cell, q in zip(tested, benjamini_hochberg([cell["p"] for cell in tested]).tolist(), strict=True):
        cell["q"] = q
    means = {arm: mntv({scene: row[arm]["score"] for scene, row in cells.items()}, SCENES) for arm in ARMS}
    significant = {
        arm: sum(row[arm]["q"] is not None and row[arm]["q"] <= ALPHA for row in cells.values()) for arm in ARMS
    }
    return {"cells": cells, "mntv": means, "n_tests": len(tested), "significant_after_bh": significant}


def table_9(results: dict[str, Any], scenes: Sequence[str]) -> Table:
    """Scenes down; scorability, raw p, corrected q and TV at both resolutions across."""
    quantities = ("rho", "p", "q", "tv")
    rows = []
    for scene in scenes:
        row: list[Entry | str] = [SCENES[scene].title]
        row += [_entry(results["cells"][scene][arm], quantity) for quantity in quantities for arm in ARMS]
        rows.append(row)
    means, significant = results["mntv"], results["significant_after_bh"]
    return Table(
        f"{MODEL.name} at {BEFORE} and {AFTER}: same frames, prompts and seeds.",
        [Column("Scene", "l"), *(Column(arm, group=group) for group in ("ρ", "p", "q", "TV") for arm in ARMS)],
        rows,
        [
            f"p: Monte Carlo χ², {CHI2_REPLICATES:,} draws, uncorrected as published. q: the same after "
            f"Benjamini-Hochberg over the {results['n_tests']} tests of this table; at α = {ALPHA} it leaves "
            f"{significant[BEFORE]} cells at {BEFORE} and {significant[AFTER]} at {AFTER}. † at most "
            f"{MIN_VALID_FOR_TEST - 1} valid rollouts, not tested.",
            f"mnTV: {fixed(means[BEFORE], 3)} at {BEFORE}, {fixed(means[AFTER], 3)} at {AFTER}.",
        ],
    )


def _entry(cell: dict[str, Any], quantity: str) -> Entry | str:
    value = cell[quantity]
    if value is None:
        return DASH
    if quantity in ("p", "q"):
        return Entry(p_text(value), bold=quantity == "q" and value <= ALPHA)
    return fixed(value, 2) if quantity == "rho" else fixed(value, 3) + "†" * (cell["note"] == "dagger")


def draw(results: dict[str, Any]) -> "Figure":
    """Scorability, TV and score of each scene at both resolutions."""
    from change_plot import draw_changes
    from figures import PAGE_WIDTH, axes_grid, new_figure

    figure = new_figure(PAGE_WIDTH, 2.6)
    panels = {
        "rho": "Scorability ρ (higher is better)",
        "tv": "Total variation TV (lower is better)",
        "score": "Score (lower is better)",
    }
    axes = axes_grid(figure, 1, len(panels), sharey=True)
    cells = results["cells"]
    labels = [
        SCENES[scene].title + "†" * any(cell["note"] == "dagger" for cell in row.values())
        for scene, row in cells.items()
    ]
    for ax, (quantity, title) in zip(axes, panels.items(), strict=True):
        before, after = ([row[arm][quantity] for row in cells.values()] for arm in ARMS)
        draw_changes(ax, labels, before, after, colour=MODEL.colour, names=(BEFORE, AFTER))
        ax.set_xlabel(title)
    handles, names = axes[0].get_legend_handles_labels()
    note = f"† at most {MIN_VALID_FOR_TEST - 1} valid rollouts" if any("†" in label for label in labels) else None
    figure.legend(handles, names, loc="outside upper center", ncols=2, title=note, title_fontsize=7)
    return figure


if __name__ == "__main__":
    sys.exit(main())
