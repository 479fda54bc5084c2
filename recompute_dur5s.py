"""Table 10: mnTV at each model's benchmarked clip length against a uniform 5 s, and every cell's change.

    python recompute_dur5s.py [--scene dice cards] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json, analysis/dur5s/{scene}_{model}_bins.json, analysis/absent_cells.json
Writes  analysis/results/recompute_dur5s.json; analysis/tables/recompute_dur5s.{md,tex} (Table 10) and
        recompute_dur5s_cells.{md,tex} (every cell); analysis/figures/recompute_dur5s.{pdf,png}
Free: needs no key and no network.

The printed comparison counts an absent cell as unscorable at 5 s only. Beside it stands the mean over the scenes that
exist at both lengths, which compares like with like.
"""

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cli
import records
from cell_summary import summary
from grid_table import grid_table
from models import MODELS, PUBLISHED, Model, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from stats_utils import mntv
from studies import STUDIES
from tables import DASH, Column, Entry, Table, fixed, signed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = STUDIES["dur5s"]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    before = records.read_study(args.analysis, "main")
    after = records.read_study(args.analysis, STUDY.key)
    absent = {key: cell.absent_reason for key, cell in after.items() if cell.absent_reason}
    grid = {
        scene: {m: {"benchmark": summary(before[scene, m]), "5s": summary(after[scene, m])} for m in STUDY.models}
        for scene in STUDY.scenes
    }
    results: dict[str, Any] = {
        "cells": grid,
        "models": {model: aggregate(model, before, grid) for model in PUBLISHED},
        "absent": [{"scene": s, "model": m, "reason": reason} for (s, m), reason in absent.items()],
    }
    outputs.results(results)
    if not outputs.print_only:
        outputs.table(table_10(results))
        outputs.figure(draw(results))
    outputs.table(cell_table(results, cli.selected_scenes(args)), "_cells")
    outputs.finish()
    return 0


def aggregate(
    model: str, main_cells: Mapping[tuple[str, str], records.Cell], grid: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """mnTV of one model at both lengths, over all scenes and over those with outcomes at both.

    A model that keeps its main cells has the same mnTV twice; one that cannot run at 5 s has none there.
    """
    main_scores = {scene: summary(cell)["score"] for (scene, of), cell in main_cells.items() if of == model}
    result: dict[str, Any] = {
        "duration_s": MODELS[model].duration_s,
        "mntv_benchmark": mntv(main_scores, SCENES),
        "mntv_5s": None,
    }
    if model in STUDY.unavailable:
        return result | {"kind": "unavailable", "reason": STUDY.unavailable[model], "both": None}
    if model in STUDY.reuses_main:
        return result | {
            "kind": "reused",
            "reason": STUDY.reuses_main[model],
            "mntv_5s": result["mntv_benchmark"],
            "both": None,
        }
    pairs = {scene: row[model] for scene, row in grid.items()}
    present = [scene for scene, pair in pairs.items() if pair["5s"]["note"] != "absent"]

    def mean(length: str, scenes: Collection[str]) -> float:
        scores: dict[str, float] = {scene: pairs[scene][length]["score"] for scene in scenes}
        return mntv(scores, scenes)

    return result | {
        "kind": "rerun",
        "reason": None,
        "mntv_5s": mean("5s", SCENES),
        "both": {
            "scenes": len(present),
            "mntv_benchmark": mean("benchmark", present),
            "mntv_5s": mean("5s", present),
        },
    }


def table_10(results: dict[str, Any]) -> Table:
    """Models down; the printed comparison, and beside it the one over the scenes that exist at both lengths."""
    printed, both = "All nine scenes", "At both lengths"
    columns = [
        Column("Model", "l"),
        Column("clip"),
        *(Column(header, group=printed) for header in ("benchmark", "5 s", "change")),
        *(Column(header, group=both) for header in ("scenes", "benchmark", "5 s", "change")),
    ]
    rows: list[Sequence[Entry | str]] = []
    notes: list[str] = []
    for model in resolve(list(results["models"])):
        row = results["models"][model.key]
        benchmark = fixed(row["mntv_benchmark"], 3)
        if row["kind"] == "rerun":
            means = [*_means(row), str(row["both"]["scenes"]), *_means(row["both"])]
        elif row["kind"] == "reused":
            means = [benchmark, f"{benchmark}‡", *[DASH] * 5]
            notes.append(f"‡ {model.name} keeps its main cells: {row['reason']}.")
        else:
            means = [benchmark, *[DASH] * 6]
            notes.append(f"{model.name} has no 5 s run: {row['reason']}.")
        rows.append([model.name, f"{row['duration_s']:.3g} s", *means])
    notes += [
        f"{SCENES[cell['scene']].title}, {MODELS[cell['model']].name}: {cell['reason']}" for cell in results["absent"]
    ]
    return Table(
        "mnTV at each model's benchmarked clip length and at a uniform 5 s (lower is better).",
        columns,
        rows,
        notes,
    )


def _means(row: Mapping[str, Any]) -> list[str]:
    before, after = row["mntv_benchmark"], row["mntv_5s"]
    return [fixed(before, 3), fixed(after, 3), signed(after - before, 3)]


def cell_table(results: dict[str, Any], scenes: Sequence[str]) -> Table:
    """Score of each cell at both lengths, and its change."""

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        pair = results["cells"][scene.key][model.key]
        before, after = pair["benchmark"]["score"], pair["5s"]["score"]
        if pair["5s"]["note"] == "absent":
            return [fixed(before, 2), "absent", DASH]
        return [fixed(before, 2), fixed(after, 2), signed(after - before, 2)]

    return grid_table(
        "Score of each cell at the benchmarked clip length and at 5 s (lower is better).",
        scenes,
        resolve(STUDY.models),
        entries,
        quantities=("benchmark", "5 s", "change"),
    )


def draw(results: dict[str, Any]) -> "Figure":
    """A panel a model that was run again: the score of each scene at both lengths."""
    from change_plot import draw_changes
    from figures import INK, PAGE_WIDTH, axes_grid, new_figure

    cells = results["cells"]
    figure = new_figure(PAGE_WIDTH, 2.7)
    axes = axes_grid(figure, 1, len(STUDY.models), sharey=True)
    labels = [SCENES[scene].title for scene in cells]
    for ax, model in zip(axes, resolve(STUDY.models), strict=True):
        pairs = [row[model.key] for row in cells.values()]
        absent = [y for y, pair in enumerate(pairs) if pair["5s"]["note"] == "absent"]
        after = [None if y in absent else pair["5s"]["score"] for y, pair in enumerate(pairs)]
        before = [pair["benchmark"]["score"] for pair in pairs]
        draw_changes(ax, labels, before, after, colour=model.colour, names=("benchmarked length", "5 s"))
        if absent:
            scores = [pairs[y]["5s"]["score"] for y in absent]
            ax.scatter(scores, absent, s=22, c=INK, marker="x", zorder=4, label="5 s: absent, counted as unscorable")
        ax.set_title(f"{model.name}, {model.duration_s:.3g} s → 5 s", loc="left")
        ax.set_xlabel("Score (lower is better)")
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=3)
    return figure


if __name__ == "__main__":
    sys.exit(main())
