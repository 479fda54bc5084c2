"""Tables 2 and 4: scorability, total variation and score of every cell, and mnTV of every model.

    python compute_tv_band.py [--models MINE] [--scene dice --model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/tv_band.json, analysis/tables/tv_band.{md,tex} (Table 2), tv_band_score.{md,tex} (Table 4)
Free: needs no key and no network.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import cli
import records
from cell_summary import null_band, summary
from constants import (
    CALIBRATED_REPLICATES,
    CALIBRATED_SEED,
    INTERVAL_LEVEL,
    MIN_VALID_FOR_TEST,
    N_ROLLOUTS,
)
from grid_table import grid_table
from models import Model, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from score_distribution import Law, mntv_distribution
from stats_utils import mntv, null_counts, score_replicates
from tables import DASH, Entry, Table, fixed, percent, range_text


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__).parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    cells = records.read_study(args.analysis, "main", scenes, models)
    grid = {scene: {model: cell_result(cells[scene, model]) for model in models} for scene in scenes}
    results: dict[str, Any] = {"cells": grid}
    # A mean over fewer than the nine scenes is another quantity, so a selection of scenes shows none.
    if scenes == list(SCENES):
        results["mntv"] = {
            model: mntv({scene: row[model]["score"] for scene, row in grid.items()}, SCENES) for model in models
        }
        results["calibrated_operator"] = calibrated_operator()
        results["calibrated_operator_exact"] = exact_operator()
    outputs.results(results)
    outputs.table(table_2(results, resolve(models)))
    outputs.table(table_4(results, resolve(models)), "_score")
    outputs.finish()
    return 0


def cell_result(cell: records.Cell) -> dict[str, Any]:
    """The scored cell with its note, and the exact central null band of TV at its own n_valid."""
    return summary(cell) | {"null_band": null_band(SCENES[cell.scene].reference, cell.n_valid)}


def calibrated_operator() -> dict[str, Any]:
    """mnTV of a model that draws every scene from its reference, all of it scorable: mean and central band.

    Simulated as published (CaliBench, appendix A); one generator serves the scenes in display order.
    """
    rng = np.random.default_rng(CALIBRATED_SEED)
    scores = {
        key: score_replicates(
            null_counts(scene.reference, N_ROLLOUTS, CALIBRATED_REPLICATES, rng), N_ROLLOUTS, scene.reference
        )
        for key, scene in SCENES.items()
    }
    simulated = mntv(scores, SCENES)
    tail = (1 - INTERVAL_LEVEL) / 2
    low, median, high = np.quantile(simulated, [tail, 0.5, 1 - tail])
    return {
        "mean": simulated.mean(),
        "median": median,
        "low": low,
        "high": high,
        "level": INTERVAL_LEVEL,
        "replicates": CALIBRATED_REPLICATES,
    }


def exact_operator() -> dict[str, float]:
    """The same without simulation: exact up to the grid of score_distribution.py."""
    laws = [Law(scene.reference.probabilities, scene.reference) for scene in SCENES.values()]
    distribution = mntv_distribution(laws, N_ROLLOUTS)
    low, high = distribution.central_band(INTERVAL_LEVEL)
    # The floor is the expected TV, so that the mean is zero by definition; what is left is the grid.
    return {"mean": 0.0, "median": distribution.quantile(0.5), "low": low, "high": high, "level": INTERVAL_LEVEL}


def table_2(results: dict[str, Any], models: list[Model]) -> Table:
    """Scorability and TV of each cell, mnTV below; the lowest TV of a scene among tested cells is bold."""
    grid = results["cells"]
    lowest: dict[str, Any] = {
        scene: min((cell["tv"] for cell in row.values() if not cell["note"]), default=None)
        for scene, row in grid.items()
    }

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = grid[scene.key][model.key]
        if cell["note"] == "none_valid":
            return [fixed(cell["rho"], 2), DASH]
        best = len(models) > 1 and not cell["note"] and bool(np.isclose(cell["tv"], lowest[scene.key], atol=1e-12))
        return [fixed(cell["rho"], 2), Entry(fixed(cell["tv"], 2) + "†" * (cell["note"] == "dagger"), bold=best)]

    footer: list[Sequence[Entry | str]] = []
    notes = []
    if "mntv" in results:
        best_mntv = min(results["mntv"].values())
        row: list[Entry | str] = ["mnTV ↓"]
        for model in models:
            value = results["mntv"][model.key]
            row += ["", Entry(fixed(value, 2), bold=len(models) > 1 and value == best_mntv)]
        footer.append(row)
        operator, exact = results["calibrated_operator"], results["calibrated_operator_exact"]
        notes.append(
            f"A perfectly calibrated, fully scorable operator has mnTV {fixed(operator['mean'], 2)} on average. The "
            f"central {percent(operator['level'])} of {operator['replicates']:,} simulations, as published, lie in "
            f"{range_text(operator['low'], operator['high'])}; of the exact distribution, in "
            f"{range_text(exact['low'], exact['high'], 3)}."
        )
    return grid_table(
        "Scorability ρ and total variation TV from the reference, on the valid rollouts (lower TV is better).",
        list(grid),
        models,
        entries,
        quantities=("ρ", "TV"),
        footer=footer,
        notes=[
            f"† at most {MIN_VALID_FOR_TEST - 1} valid rollouts; {DASH} none. Bold: lowest TV of the scene.",
            *notes,
        ],
    )


def table_4(results: dict[str, Any], models: list[Model]) -> Table:
    """Score of each cell, mnTV below; the lowest of each row is bold."""
    grid = results["cells"]

    def row_entries(values: dict[str, float]) -> dict[str, Entry]:
        best = min(values.values())
        bold = {m: len(values) > 1 and bool(np.isclose(v, best, atol=1e-12)) for m, v in values.items()}
        return {m: Entry(fixed(v, 2), bold=bold[m]) for m, v in values.items()}

    rows = {scene: row_entries({m: cell["score"] for m, cell in row.items()}) for scene, row in grid.items()}
    footer: list[Sequence[Entry | str]] = []
    if "mntv" in results:
        best = row_entries(results["mntv"])
        footer = [["mnTV ↓", *(best[model.key] for model in models)]]
    return grid_table(
        "Score of each cell, (1 − ρ) + ρ × excess, and its mean mnTV. Lower is better, 1 is the worst.",
        list(grid),
        models,
        lambda scene, model: [rows[scene.key][model.key]],
        footer=footer,
        notes=["A score below 0 is a cell closer to its reference than sampling noise is on average."],
    )


if __name__ == "__main__":
    sys.exit(main())
