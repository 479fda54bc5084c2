"""Table 2's footer: intervals on mnTV, published and corrected; pairwise differences; which model is best.

    python compute_mntv_ci.py [--models MINE] [--model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json; analysis/results/study_interval_coverage.json (how often intervals cover)
Writes  analysis/results/mntv_ci.json; analysis/tables/mntv_ci.{md,tex} (models), mntv_ci_cells.{md,tex} (cells),
        mntv_ci_differences.{md,tex} (pairs of models)
Free: needs no key and no network.

The estimand, both schemes and the reason for the second are in intervals.py. Further models are compared with the
published six; the probability of being best is among these and the published.
"""

import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import cli
import records
from constants import BOOTSTRAP_REPLICATES, INTERVAL_LEVEL, INTERVAL_PSEUDO_ROLLOUTS
from grid_table import grid_table
from intervals import (
    Estimate,
    Outcomes,
    bootstrap_mntv,
    corrected_difference,
    corrected_estimate,
    model_rng,
    not_told_apart,
    percentile_estimate,
    probability_best,
)
from models import PUBLISHED, Model, resolve
from outputs import Outputs, read_results, stem_of
from scenes import SCENES, Scene
from stats_utils import mntv
from tables import DASH, Column, Entry, Table, fixed, percent, range_text

# Whose results say how often the intervals of single cells cover.
STUDY = "study_interval_coverage.py"


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False).parse_args(argv)
    models = resolve(cli.selected_models(args))
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    keys = [model.key for model in models]
    # Who is best is a question about all models, also when one row is asked for.
    compared = list(dict.fromkeys((*PUBLISHED, *keys)))
    read = records.read_study(args.analysis, "main", models=compared)
    cells = {
        m: {s: Outcomes(read[s, m].counts, read[s, m].n, scene.reference) for s, scene in SCENES.items()}
        for m in compared
    }
    means = {m: mntv({s: cell.score for s, cell in row.items()}, SCENES) for m, row in cells.items()}
    corrected = {m: corrected_estimate(means[m], list(row.values())) for m, row in cells.items()}
    best = probability_best(corrected)
    replicates = {m: bootstrap_mntv(list(cells[m].values()), BOOTSTRAP_REPLICATES, model_rng(m)) for m in keys}
    percentile = {m: percentile_estimate(means[m], replicates[m], list(cells[m].values())) for m in keys}
    pairs = {}
    for a, b in combinations(keys, 2):
        both = [*cells[a].values(), *cells[b].values()]
        difference = means[a] - means[b]
        pairs[a, b] = {
            "percentile": percentile_estimate(difference, replicates[a] - replicates[b], both),
            "corrected": corrected_difference(corrected[a], corrected[b]),
        }
    names = {model.key: model.name for model in models}
    told = not_told_apart({(names[a], names[b]): pair["corrected"] for (a, b), pair in pairs.items()})
    by_cell = {
        scene: {m: corrected_estimate(cells[m][scene].score, [cells[m][scene]]) for m in keys} for scene in SCENES
    }
    by_scene = {
        (a, b): {scene: corrected_difference(row[a], row[b]) for scene, row in by_cell.items()} for a, b in pairs
    }
    outputs.results(
        {
            "models": {
                m: {
                    "mntv": means[m],
                    "percentile": summary(percentile[m]),
                    "corrected": summary(corrected[m]),
                    "probability_best": best.get(m),
                }
                for m in keys
            },
            "pairs": [
                {"a": a, "b": b, "scenes": {scene: summary(e) for scene, e in by_scene[a, b].items()}}
                | {k: summary(e) for k, e in pair.items()}
                for (a, b), pair in pairs.items()
            ],
            "cells": {scene: {m: summary(estimate) for m, estimate in row.items()} for scene, row in by_cell.items()},
            "not_told_apart": told,
            "level": INTERVAL_LEVEL,
            "replicates": BOOTSTRAP_REPLICATES,
        }
    )
    outputs.table(model_table(models, percentile, corrected, best))
    outputs.table(cell_table(models, by_cell, single_cell_coverage(args.analysis)), "_cells")
    if pairs:
        outputs.table(pair_table(names, pairs, told), "_differences")
    outputs.finish()
    return 0


def summary(estimate: Estimate) -> dict[str, Any]:
    """What the results say of one estimate; low and high are None where it is not estimable, and `reason` says why."""
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (None, None)
    return {
        "value": estimate.value,
        "low": low,
        "high": high,
        "method": estimate.method,
        "cells": estimate.cells,
        "degenerate_cells": estimate.degenerate,
        "reason": estimate.reason,
        "standard_error": estimate.standard_error.value if estimate.standard_error else None,
    }


def interval_text(estimate: Estimate) -> str:
    if estimate.interval is None:
        return "not estimable"
    return range_text(estimate.interval.low, estimate.interval.high)


def model_table(
    models: list[Model], percentile: dict[str, Estimate], corrected: dict[str, Estimate], best: dict[str, float]
) -> Table:
    rows = []
    for model in sorted(models, key=lambda m: corrected[m.key].value):
        estimate = corrected[model.key]
        rows.append(
            [
                model.name,
                fixed(estimate.value, 2),
                interval_text(percentile[model.key]),
                interval_text(estimate),
                fixed(best[model.key], 2) if model.key in best else DASH,
                f"{estimate.degenerate} of {estimate.cells}",
            ]
        )
    return Table(
        f"mnTV with {percent(INTERVAL_LEVEL)} intervals, lowest first.",
        [
            Column("Model", "l"),
            Column("mnTV ↓"),
            Column("published interval"),
            Column("corrected interval"),
            Column("P(best)"),
            Column("degenerate cells"),
        ],
        rows,
        [
            f"Published: percentiles of {BOOTSTRAP_REPLICATES:,} bootstrap replicates, which lie too high where a cell "
            "is near its reference. Corrected: score ± t × standard error of the expected score at this N.",
            "A degenerate cell (all rollouts unscorable, or all the same) shows no spread. The published interval "
            "takes it for certain; the corrected one adds "
            f"{INTERVAL_PSEUDO_ROLLOUTS:g} rollouts of a calibrated operator to every cell.",
        ],
    )


def single_cell_coverage(analysis: Path) -> str:
    """One sentence, from the results of the study where there are some, on how often such intervals cover."""
    if not (analysis / "results" / f"{stem_of(STUDY)}.json").exists():
        return f"They are rough: {STUDY} measures how often they contain what they estimate."
    found = read_results(analysis, STUDY)["single_cells"]
    low, median, high = (f"{100 * found[name]:.0f}" for name in ("lowest", "median", "highest"))
    return (
        f"They rest on one variance each and are rough: in simulation {low} to {high} % of them contain what they "
        f"estimate, depending on the cell (median {median} %; {STUDY})."
    )


def cell_table(models: list[Model], by_cell: dict[str, dict[str, Estimate]], coverage: str) -> Table:
    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        estimate = by_cell[scene.key][model.key]
        return [range_text(estimate.interval.low, estimate.interval.high) if estimate.interval else "n.e."]

    return grid_table(
        f"Corrected interval on the expected score of each cell, nominally {percent(INTERVAL_LEVEL)}.",
        list(by_cell),
        models,
        entries,
        notes=[
            coverage,
            "n.e.: not estimable, since all rollouts of the cell are unscorable or all have the same outcome.",
        ],
    )


def pair_table(names: dict[str, str], pairs: dict[tuple[str, str], dict[str, Estimate]], told: str) -> Table:
    rows: list[list[Entry | str]] = [
        [
            names[a],
            names[b],
            fixed(pair["corrected"].value, 2),
            interval_text(pair["percentile"]),
            Entry(interval_text(pair["corrected"]), bold=not pair["corrected"].contains_zero),
        ]
        for (a, b), pair in pairs.items()
    ]
    return Table(
        f"Pairwise differences in mnTV, first minus second, with {percent(INTERVAL_LEVEL)} intervals.",
        [Column("First", "l"), Column("Second", "l"), Column("difference"), Column("published"), Column("corrected")],
        rows,
        ["Bold: the corrected interval excludes 0. No correction for the number of pairs.", told],
    )


if __name__ == "__main__":
    sys.exit(main())
