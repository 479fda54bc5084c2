"""Table 8: how far the judge agrees with a person, with an exact interval on every rate.

    python validate_extraction.py [--labels FILE] [--scene cards] [--model wan]

Reads   analysis/human_labels.json (or FILE), and analysis/{scene}_{model}_bins.json of the labelled rollouts
Writes  analysis/results/validate_extraction.json, analysis/tables/validate_extraction.{md,tex}
Free: needs no key and no network.

A label is joined to the judge's outcome by scene, model and seed. "Null" is an unscorable rollout, an answer like any
other: both may agree on it.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cli
import records
from constants import INTERVAL_LEVEL
from outputs import Outputs
from scenes import SCENES
from stats_utils import clopper_pearson
from studies import STUDIES
from tables import DASH, Column, Entry, Table

# Rate -> what is counted, and out of what.
RATES = {
    "agreement": ("agree", "n"),
    "false_null": ("false_null", "human_valid"),
    "missed_null": ("missed_null", "human_null"),
    "wrong_label": ("wrong_label", "both_valid"),
}
TOTAL = "total"

# What the judge said and what the person said, of one rollout.
Pair = tuple[int | None, int | None]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__)
    options.add_argument(
        "--labels", type=Path, metavar="FILE", help="hand labels (default: human_labels.json in the analysis folder)"
    )
    args = options.parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    labels = records.read_human_labels(args.labels or args.analysis / records.HUMAN_LABELS_FILE)
    if args.model:
        labels = [label for label in labels if label.model in models]
    pairs = joined(args.analysis, [label for label in labels if label.scene in scenes])
    rows = {scene: agreement(pairs[scene]) for scene in scenes}
    rows[TOTAL] = agreement([pair for scene in scenes for pair in pairs[scene]])
    outputs.results({"scenes": rows, "level": INTERVAL_LEVEL, "method": "Clopper-Pearson"})
    outputs.table(table_8(rows))
    outputs.finish()
    return 0


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


def table_8(rows: dict[str, dict[str, Any]]) -> Table:
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
        "Judge against hand labels, with exact 95 % intervals (Clopper-Pearson) in per cent.",
        columns,
        lines,
        [
            "False null: the judge saw no outcome where the person did; of the rollouts with an outcome. Missed null: "
            "the reverse; of those without. Wrong label: both saw an outcome and differ; of the rollouts where both "
            f"did. {DASH} no such rollout."
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
