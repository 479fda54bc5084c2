"""Table 7: how far the unscorable rollouts of the null-heavy scenes could move TV and mnTV.

    python compute_mcar_sensitivity.py [--models MINE] [--model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/mcar_sensitivity.json; analysis/tables/mcar_sensitivity.{md,tex} (cells),
        mcar_sensitivity_mntv.{md,tex} (models)
Free: needs no key and no network.

The bounds impute every null: best to the outcomes that lack most, worst all to one outcome. They are bounds over
imputations, not on the reported values. TV reported, which counts a null as mass on an impossible outcome, is never
below the worst imputation. For the score this need not hold: fewer valid rollouts have
a higher floor.
"""

import sys
from collections.abc import Sequence
from typing import Any

import cli
import records
from models import Model, resolve
from outputs import Outputs
from scenes import SCENES
from stats_utils import CellScore, cell_score, impute_best, impute_worst, mntv
from tables import Column, Group, Table, fixed

NULL_HEAVY = [key for key, scene in SCENES.items() if scene.null_heavy]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False).parse_args(argv)
    models = cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    cells = records.read_study(args.analysis, "main", models=models)
    bounds = {key: cell_bounds(cell) for key, cell in cells.items()}
    results = {
        "cells": {s: {m: summary(bounds[s, m]) for m in models} for s in NULL_HEAVY},
        "mntv": {m: {name: imputed_mntv(bounds, m, name) for name in ("best", "worst", "reported")} for m in models},
    }
    outputs.results(results)
    outputs.table(cell_table(results, resolve(models)))
    outputs.table(model_table(results, resolve(models)), "_mntv")
    outputs.finish()
    return 0


def cell_bounds(cell: records.Cell) -> dict[str, CellScore]:
    """The cell as reported, and with all its nulls imputed in the best and in the worst way (so that rho = 1)."""
    reference, nulls = SCENES[cell.scene].reference, cell.n - cell.n_valid
    return {
        "reported": cell_score(cell.counts, cell.n, reference),
        "best": cell_score(impute_best(cell.counts, nulls, reference), cell.n, reference),
        "worst": cell_score(impute_worst(cell.counts, nulls, reference), cell.n, reference),
    }


def summary(bounds: dict[str, CellScore]) -> dict[str, float]:
    return {
        "rho": bounds["reported"].rho,
        "tv_best": bounds["best"].tv_total,
        "tv_worst": bounds["worst"].tv_total,
        "tv_reported": bounds["reported"].tv_total,
    }


def imputed_mntv(bounds: dict[tuple[str, str], dict[str, CellScore]], model: str, name: str) -> float:
    """mnTV with the null-heavy scenes imputed; the other scenes keep their reported score."""
    scores = {
        scene: kinds[name if scene in NULL_HEAVY else "reported"].score
        for (scene, of), kinds in bounds.items()
        if of == model
    }
    return mntv(scores, SCENES)


def cell_table(results: dict[str, Any], models: list[Model]) -> Table:
    rows: list[Sequence[str] | Group] = []
    for scene in NULL_HEAVY:
        rows.append(Group(SCENES[scene].title))
        for model in models:
            cell = results["cells"][scene][model.key]
            tvs = [fixed(cell[name], 3) for name in ("tv_best", "tv_worst", "tv_reported")]
            rows.append([model.name, fixed(cell["rho"], 2), *tvs])
    return Table(
        "Missing-outcome bounds on TV over all rollouts, for the scenes with many nulls.",
        [Column("Model", "l"), Column("ρ"), Column("TV best"), Column("TV worst"), Column("TV reported")],
        rows,
        ["TV reported = (1 − ρ) + ρ TV: a null counts as mass on an impossible outcome. No imputation exceeds it."],
    )


def model_table(results: dict[str, Any], models: list[Model]) -> Table:
    rows = []
    outside = []
    for model in models:
        row = results["mntv"][model.key]
        rows.append([model.name, *(fixed(row[name], 3) for name in ("best", "worst", "reported"))])
        if row["reported"] > row["worst"]:
            outside.append(model.name)
    return Table(
        "Missing-outcome bounds on mnTV.",
        [Column("Model", "l"), Column("mnTV best"), Column("mnTV worst"), Column("mnTV reported")],
        rows,
        [
            "These bound the imputations, not the reported value, which lies above the worst imputation for "
            f"{len(outside)} of {len(models)} models."
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
