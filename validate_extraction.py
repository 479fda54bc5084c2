"""Table 8: how far the judge agrees with a person, or with the truth of simulated clips; exact intervals on every rate.

    python validate_extraction.py [--labels FILE] [--scene cards] [--model wan]
    python validate_extraction.py --truth [--study artefacts] [--scene cards] [--model sim_calibrated]

Reads   analysis/human_labels.json (or FILE), and the outcome files of the labelled rollouts; with --truth the outcome
        files of a simulated study and the truths beside its videos, rollouts/{study}/{scene}/{law}/seed_{i}.truth.json
Writes  analysis/results/validate_extraction.json, analysis/tables/validate_extraction.{md,tex}; with --truth
        results/validate_extraction_truth.json, tables/validate_extraction_truth.{md,tex} and _truth_artefacts.{md,tex}
Free: needs no key and no network.

A label is joined to the judge's outcome by scene, model and seed. "Null" is an unscorable rollout, an answer like any
other: both may agree on it. To validate a judge on truth, make the clips (generate_rollouts.py --study artefacts
--provider simulator) and have it read them (extract_bin.py --study artefacts --judge ...).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cli
import records
from constants import INTERVAL_LEVEL
from errors import UserError
from files import read_json
from outputs import Outputs
from paths import ROLLOUTS
from scenes import SCENES, Scene
from simulator.base import Truth
from stats_utils import clopper_pearson
from studies import STUDIES
from tables import DASH, Column, Entry, Group, Table

# Rate -> what is counted, and out of what.
RATES = {
    "agreement": ("agree", "n"),
    "false_null": ("false_null", "human_valid"),
    "missed_null": ("missed_null", "human_null"),
    "wrong_label": ("wrong_label", "both_valid"),
}
TOTAL = "total"
SIMULATED = [key for key, study in STUDIES.items() if not study.published]

# What the judge said and what the person said, of one rollout.
Pair = tuple[int | None, int | None]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__)
    options.add_argument(
        "--labels", type=Path, metavar="FILE", help="hand labels (default: human_labels.json in the analysis folder)"
    )
    options.add_argument("--truth", action="store_true", help="against the truth of simulated clips instead of labels")
    options.add_argument(
        "--study", default="artefacts", choices=SIMULATED, help="with --truth: which clips (%(default)s)"
    )
    options.add_argument(
        "--rollouts", type=Path, default=ROLLOUTS, metavar="DIR", help="with --truth: where the videos are"
    )
    args = options.parse_args(argv)
    if args.truth:
        return against_truth(args)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    labels = records.read_human_labels(args.labels or args.analysis / records.HUMAN_LABELS_FILE)
    if args.model:
        labels = [label for label in labels if label.model in models]
    pairs = joined(args.analysis, [label for label in labels if label.scene in scenes])
    rows = {scene: agreement(pairs[scene]) for scene in scenes}
    rows[TOTAL] = agreement([pair for scene in scenes for pair in pairs[scene]])
    outputs.results({"scenes": rows, "level": INTERVAL_LEVEL, "method": "Clopper-Pearson"})
    outputs.table(table_8(rows, "hand labels", "person"))
    outputs.finish()
    return 0


def against_truth(args: argparse.Namespace) -> int:
    """The judge's outcomes of a simulated study against what was simulated."""
    study = STUDIES[args.study]
    scenes, models = cli.selected_scenes(args), args.model or list(study.models)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    cells = records.read_study(args.analysis, study.key, scenes, models)
    read: dict[str, list[tuple[int | None, Truth]]] = {scene: [] for scene in scenes}
    for (scene, model), cell in cells.items():
        folder = args.rollouts / study.key / scene / model
        read[scene] += [(judge, read_truth(folder, scene, model, seed)) for seed, judge in enumerate(cell.bins)]
    pairs = {scene: [(judge, truth.outcome) for judge, truth in both] for scene, both in read.items()}
    rows = {scene: agreement(pairs[scene]) for scene in scenes}
    rows[TOTAL] = agreement([pair for scene in scenes for pair in pairs[scene]])
    artefacts = {scene: artefact_readings(both) for scene, both in read.items()}
    outputs.results(
        {
            "study": study.key,
            "scenes": rows,
            "confusion": {scene: confusion(SCENES[scene], pairs[scene]) for scene in scenes},
            "artefacts": artefacts,
            "level": INTERVAL_LEVEL,
            "method": "Clopper-Pearson",
        },
        "_truth",
    )
    outputs.table(table_8(rows, "the truth of simulated clips", "truth"), "_truth")
    outputs.table(artefact_table(artefacts), "_truth_artefacts")
    outputs.finish()
    return 0


def read_truth(folder: Path, scene: str, model: str, seed: int) -> Truth:
    """The truth beside one simulated video. Raises UserError when it is not there or belongs to another rollout."""
    path = folder / f"seed_{seed}.truth.json"
    expected = f"the truth of scene {scene}, law {model}, seed {seed}"
    data = read_json(path, expected)
    try:
        truth = Truth.from_dict(data)
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: {error}; expected {expected}") from error
    if (truth.scene, truth.law, truth.seed) != (scene, model, seed):
        raise UserError(f"{path}: scene {truth.scene}, law {truth.law}, seed {truth.seed}; expected {expected}")
    return truth


def confusion(scene: Scene, pairs: Sequence[Pair]) -> dict[str, dict[str, int]]:
    """Counts by what was true (outer) and what the judge read (inner), null a class like any other."""
    names: dict[int | None, str] = {None: "null", **{i + 1: name for i, name in enumerate(scene.outcomes)}}
    return {
        true: {said: sum((names[j], names[t]) == (said, true) for j, t in pairs) for said in names.values()}
        for true in names.values()
    }


def artefact_readings(both: Sequence[tuple[int | None, Truth]]) -> dict[str, dict[str, Any]]:
    """Of each kind of artefact: how many clips show it, and how many the judge took for an outcome."""
    kinds: dict[str, list[bool]] = {}
    for judge, truth in both:
        if truth.artefact is not None:
            kinds.setdefault(truth.artefact, []).append(judge is not None)
    return {
        kind: {"n": len(fooled), "fooled": sum(fooled), "rate": _rate(sum(fooled), len(fooled))}
        for kind, fooled in sorted(kinds.items())
    }


def artefact_table(artefacts: dict[str, dict[str, Any]]) -> Table:
    lines: list[Sequence[Entry | str] | Group] = []
    for scene, kinds in artefacts.items():
        lines.append(Group(SCENES[scene].title))
        for kind, row in kinds.items():
            bounds = f"[{100 * row['rate']['low']:.0f}, {100 * row['rate']['high']:.0f}]"
            lines.append([kind.replace("_", " "), str(row["n"]), str(row["fooled"]), bounds])
    return Table(
        "Which artefacts the judge takes for an outcome, with exact 95 % intervals in per cent.",
        [Column("Artefact", "l"), Column("clips"), Column("read as an outcome"), Column("95 %")],
        lines,
    )


def joined(analysis: Path, labels: Sequence[records.HumanLabel]) -> dict[str, list[Pair]]:
    """Scene -> (judge, person) of each labelled rollout. A labelled cell without an outcome file is a UserError."""
    cells = {
        (scene, model): records.read_cell(analysis, STUDIES[study], scene, model)
        for study, scene, model in sorted({(label.study, label.scene, label.model) for label in labels})
    }
    pairs: dict[str, list[Pair]] = {scene: [] for scene in SCENES}
    for label in labels:
        pairs[label.scene].append((cells[label.scene, label.model].bins[label.seed], label.bin))
    return pairs


def agreement(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Counts of Table 8, and each rate with its interval (None without a rollout to judge it by).

    false null: the judge saw no outcome where the person did. missed null: the reverse. wrong label: both saw one, and
    not the same one.
    """
    counts = {
        "n": len(pairs),
        "agree": sum(judge == person for judge, person in pairs),
        "false_null": sum(judge is None and person is not None for judge, person in pairs),
        "human_valid": sum(person is not None for _, person in pairs),
        "missed_null": sum(judge is not None and person is None for judge, person in pairs),
        "human_null": sum(person is None for _, person in pairs),
        "wrong_label": sum(None not in (judge, person) and judge != person for judge, person in pairs),
        "both_valid": sum(None not in (judge, person) for judge, person in pairs),
    }
    rates = {name: _rate(counts[part], counts[whole]) for name, (part, whole) in RATES.items()}
    return {**counts, "rates": rates}


def _rate(part: int, whole: int) -> dict[str, float] | None:
    if whole == 0:
        return None
    interval = clopper_pearson(part, whole, INTERVAL_LEVEL)
    return {"estimate": part / whole, "low": interval.low, "high": interval.high}


def table_8(rows: dict[str, dict[str, Any]], against: str, other: str) -> Table:
    """Scenes down; of each rate the count, the rate where the paper prints it, and the interval in per cent."""
    columns = [Column("Scene", "l"), Column("n")]
    for group in ("Agreement", "False null", "Missed null", "Wrong label"):
        columns += [Column("", "r", group), Column("95 %", "r", group)]
    lines = []
    for key, row in rows.items():
        line: list[Entry | str] = ["Total" if key == TOTAL else SCENES[key].title, str(row["n"])]
        for name, (part, whole) in RATES.items():
            rate = row["rates"][name]
            if rate is None:
                line += [DASH, ""]
                continue
            text = f"{row[part]}/{row[whole]}"
            if key == TOTAL:
                text += f" ({rate['estimate']:.1%})"
            elif name == "agreement":
                text += f" ({rate['estimate']:.0%})"
            line += [text, f"[{100 * rate['low']:.0f}, {100 * rate['high']:.0f}]"]
        lines.append(line)
    return Table(
        f"Judge against {against}, with exact 95 % intervals (Clopper-Pearson) in per cent.",
        columns,
        lines,
        [
            f"False null: the judge saw no outcome where the {other} did; of the rollouts with one. Missed null: "
            "the reverse; of those without. Wrong label: both saw an outcome and differ; of the rollouts where both "
            f"did. {DASH} no such rollout."
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
