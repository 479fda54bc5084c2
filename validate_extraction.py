"""Table 8: how far the judge agrees with a person; exact intervals on every rate.

    python validate_extraction.py [--labels FILE] [--scene cards] [--model wan] [--analysis DIR]

Reads   analysis/human_labels.json (or FILE), and the outcome files of the labelled rollouts
Writes  analysis/results/validate_extraction.json, analysis/tables/validate_extraction.{md,tex};
        for labels of a FILE results/validate_extraction_{its stem}.json and so on
Free: needs no key and no network.

A label is joined to the judge's outcome by scene, model and seed. "Null" is an unscorable rollout, an answer like any
other: both may agree on it. Labels in a FILE may be of cells that no judge has read yet: they are left out.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import cli
import records
from constants import INTERVAL_LEVEL
from errors import UserError
from outputs import Outputs
from studies import STUDIES
from validation import METHOD, compare_by_scene, joined, rates_table


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__, models=False)
    options.add_argument(
        "--model", nargs="+", default=[], metavar="MODEL", help="only these models: print their rows, write nothing"
    )
    options.add_argument(
        "--labels", type=Path, metavar="FILE", help="hand labels (default: human_labels.json in the analysis folder)"
    )
    args = options.parse_args(argv)
    scenes = cli.selected_scenes(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    # Labels of a file of one's own never replace the published table.
    suffix = f"_{cli.check_key(args.labels.stem, '--labels: file name')}" if args.labels else ""
    path = args.labels or args.analysis / records.HUMAN_LABELS_FILE
    labels = records.read_human_labels(path)
    labelled = sorted({label.model for label in labels})
    for model in args.model:
        if model not in labelled:
            raise UserError(f"--model {model}: no label in {path}; expected one of {', '.join(labelled)}")
    if args.labels:
        labels = read_by_a_judge(args.analysis, labels, path)
    wanted = args.model or labelled
    rows = compare_by_scene(joined(args.analysis, scenes, [label for label in labels if label.model in wanted]))
    outputs.results({"scenes": rows, "level": INTERVAL_LEVEL, "method": METHOD}, suffix)
    outputs.table(rates_table(rows, "Judge against hand labels", "person"), suffix)
    outputs.finish()
    return 0


def read_by_a_judge(analysis: Path, labels: Sequence[records.HumanLabel], path: Path) -> list[records.HumanLabel]:
    """The labels of cells that have outcomes; the other cells are named. Raises UserError when none has any.

    For labels of one's own: a person may well label before a judge has read everything.
    """
    cells = {(label.study, label.scene, label.model) for label in labels}
    unread = {cell for cell in cells if not (analysis / STUDIES[cell[0]].bins_file(*cell[1:])).exists()}
    named = ", ".join(f"{scene}/{model}" for _, scene, model in sorted(unread))
    if unread == cells:
        raise UserError(f"{path}: no outcomes of {named}; expected a judge to have read a cell: extract_bin.py does")
    if unread:
        print(f"left out, as no judge has read them yet (extract_bin.py does): {named}")
    return [label for label in labels if (label.study, label.scene, label.model) not in unread]


if __name__ == "__main__":
    sys.exit(main())
