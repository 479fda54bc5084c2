"""The page that people open: leaderboard, grid, every cell's detail, checks, ablations, comparison, provenance.

    python make_report.py [--thumbnails [--rollouts DIR]] [--analysis DIR]

Reads   analysis/results/*.json (of the other scripts), analysis/{scene}_{model}_bins.json (outcomes in seed order, and
        their hashes), analysis/vlm_logs/main/*.jsonl (the judges' replies, where there are any); to check that results
        are up to date also the outcomes of the ablations and controls, and analysis/human_labels.json
Writes  analysis/report.html: one file without a network, for everybody whose results are there
Free: needs no key and no network.

Without thumbnails the page stays under 3 MB: long replies of judges are cut, and say where the whole is. With
--thumbnails the final frame of every clip in rollouts/main/ goes into the page too, some 6 KB each.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import cli
from outputs import Outputs
from paths import ROLLOUTS
from protocol import CLIPS
from report import inputs, page, votes
from scenes import SCENES


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__, scenes=False, models=False)
    options.add_argument("--thumbnails", action="store_true", help="show the final frames of the clips on disk")
    options.add_argument("--rollouts", type=Path, default=ROLLOUTS, metavar="DIR", help="the clips (rollouts/)")
    args = options.parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    results = inputs.read(args.analysis)
    replies = judge_replies(args.analysis, results)
    frames: page.Extras = {}
    if replies:
        spare = page.MOST_BYTES - len(page.render(results, args.analysis, {}, {}).encode())
        replies, most = votes.fitted(replies, spare)
        if most < votes.MAX_SHOWN_CHARS:
            print(f"judges' replies are cut at {most} characters to keep the page small; their logs hold them whole")
    if args.thumbnails:
        # Imported here: decoding video is loaded only when it is asked for.
        from report.thumbnails import final_frames

        read = {key: cell.protocol.get(CLIPS, {}) for key, cell in results.outcomes.items()}
        frames = final_frames(args.rollouts, results.keys, read)
    outputs.document("report.html", page.render(results, args.analysis, replies, frames))
    outputs.finish()
    return 0


def judge_replies(analysis: Path, results: inputs.Results) -> dict[votes.Cell, list[votes.Reading]]:
    """(scene, model) -> what each judge with a log on disk said about the cell."""
    return {
        (scene, model): [
            votes.reading(path, scene, judge, results.outcomes[scene, model].protocol) for judge, path in logs.items()
        ]
        for scene in SCENES
        for model, logs in votes.judge_logs(analysis, scene, results.keys).items()
    }


if __name__ == "__main__":
    sys.exit(main())
