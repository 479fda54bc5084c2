"""Controls: simulated models with a known law, scored like any other and held against what theory expects of them.

    python generate_rollouts.py --study controls --provider simulator --model sim_calibrated
    python extract_bin.py --study controls --judge pixels --model sim_calibrated
    python compute_controls.py [--model sim_calibrated ...] [--analysis DIR]

Reads   analysis/controls/{scene}_{law}_bins.json
Writes  analysis/results/controls.json, analysis/tables/controls.{md,tex}; other controls than the default one are
        printed and not written
Free: needs no key and no network. Exit 1 when a control's mnTV lies outside the exact band of CONTROL_GATE_LEVEL.

The bands are those of a generator which follows its law, read by a judge which makes no mistakes. One such control in
twenty lies outside the band that is shown; that alone is no failure.
"""

import sys
from collections.abc import Sequence
from typing import Any

import cli
import records
from cell_summary import summary
from constants import CONTROL_BAND_LEVEL, CONTROL_GATE_LEVEL, N_ROLLOUTS
from models import resolve
from outputs import Outputs
from scenes import SCENES
from simulator.theory import control_distribution
from stats_utils import mntv
from studies import STUDIES
from tables import Column, Table, fixed, percent, range_text

STUDY = STUDIES["controls"]
# What the pipeline makes, and what is committed.
DEFAULT = [STUDY.models[0]]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__, scenes=False, models=False)
    options.add_argument(
        "--model",
        nargs="+",
        default=DEFAULT,
        choices=STUDY.models,
        metavar="LAW",
        help=f"print these controls, write nothing (default: write {DEFAULT[0]}): {', '.join(STUDY.models)}",
    )
    args = options.parse_args(argv)
    outputs = Outputs(args.analysis, __file__, print_only=args.model != DEFAULT)
    cells = records.read_study(args.analysis, STUDY.key, models=args.model)
    controls = {model: control(model, {scene: cells[scene, model] for scene in SCENES}) for model in args.model}
    outputs.results({"controls": controls, "level": CONTROL_BAND_LEVEL})
    outputs.table(control_table(controls))
    outputs.finish()
    failed = [model for model, result in controls.items() if not result["passes"]]
    for model in failed:
        band = f"the {percent(CONTROL_GATE_LEVEL)} band of its law"
        print(f"{model}: mnTV {controls[model]['mntv']:.3f} lies outside {band}", file=sys.stderr)
    return 1 if failed else 0


def control(model: str, cells: dict[str, records.Cell]) -> dict[str, Any]:
    """Observed mnTV of one control, and its exact expectation and central band under its law."""
    scored = {scene: summary(cell) for scene, cell in cells.items()}
    expected = control_distribution(model)
    value = mntv({scene: cell["score"] for scene, cell in scored.items()}, SCENES)
    low, high = expected.central_band(CONTROL_BAND_LEVEL)
    return {
        "cells": scored,
        "mntv": value,
        "scorability": sum(cell.n_valid for cell in cells.values()) / sum(cell.n for cell in cells.values()),
        "expected": expected.mean,
        "low": low,
        "high": high,
        "inside": expected.in_central_band(value, CONTROL_BAND_LEVEL),
        "passes": expected.in_central_band(value, CONTROL_GATE_LEVEL),
    }


def control_table(controls: dict[str, dict[str, Any]]) -> Table:
    rows = [
        [
            resolve([model])[0].name,
            fixed(result["mntv"], 3),
            fixed(result["scorability"], 2),
            fixed(result["expected"], 3),
            range_text(result["low"], result["high"], 3),
            "yes" if result["inside"] else "no",
        ]
        for model, result in controls.items()
    ]
    return Table(
        f"Controls: simulated models with known laws, {N_ROLLOUTS} rollouts a scene.",
        [
            Column("Control", "l"),
            Column("mnTV"),
            Column("scorable"),
            Column("expected"),
            Column(f"exact {percent(CONTROL_BAND_LEVEL)} band"),
            Column("inside", "c"),
        ],
        rows,
        ["The band is exact for a generator that follows its law and a judge that makes no mistakes."],
    )


if __name__ == "__main__":
    sys.exit(main())
