"""Label rollouts by hand, on a page in your browser, blind to the model, the seed and the judge. Free: no key.

    python label_rollouts.py --study main --per-scene 18 --labeller anna
    python label_rollouts.py --model mymodel --scene dice cards
    python label_rollouts.py --compare analysis/labels/main_anna.json analysis/labels/main_ben.json

Reads   rollouts/<study>/<scene>/<model>/seed_<i>.mp4, and at the end the judge's outcomes of the labelled rollouts
Writes  analysis/labels/<study>_<labeller>.json (or --output FILE), for validate_extraction.py --labels FILE;
        with --compare analysis/results/label_rollouts_{first}_{second}.json and tables/label_rollouts_....{md,tex},
        named after the two files

Open the printed URL; the page is served to this machine only. The sample is random, the same for every labeller, and
spread evenly over the models of each scene. Each label is on disk before the next clip shows: stop whenever you like
(Ctrl-C) and run the same command again to go on. The agreement with the judge is shown once all labels are final.
Exit codes: 0 the labels are written, 2 bad input, 130 stopped before the end.
"""

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
from tqdm import tqdm

import cli
import records
from constants import LABELS_PER_SCENE, LABELS_SEED
from errors import UserError
from judges.rejudge import agreement_by_scene, agreement_table
from labelling.conclusion import Conclusion, conclude, session_folder, two_people
from labelling.sample import Sample, draw, joined
from labelling.server import LabellingServer
from labelling.session import Session
from ledger import FolderLock
from outputs import Outputs
from paths import ANALYSIS
from progress import ranges
from studies import Study
from video_io import Clips, find_clips, sha256_file

# Scenes whose clips are decoded at once.
WORKERS = 2
FOLDER = "labels"


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    cli.add_cells(options)
    options.add_argument(
        "--model",
        nargs="+",
        default=[cli.ALL],
        metavar="MODEL",
        help="models, or all: those of the study and those with a folder of videos (default)",
    )
    options.add_argument(
        "--per-scene", type=cli.whole(1), default=LABELS_PER_SCENE, metavar="N", help="rollouts a scene (%(default)s)"
    )
    options.add_argument("--labeller", default="labeller", metavar="NAME", help="whose labels these are")
    options.add_argument("--output", type=Path, metavar="FILE", help="the labels; its folder keeps the session too")
    options.add_argument("--force", action="store_true", help="replace the labels that are there")
    options.add_argument("--compare", nargs=2, type=Path, metavar="FILE", help="agreement of two people's labels")
    options.add_argument("--analysis", type=Path, default=ANALYSIS, metavar="DIR", help="outcomes, labels (analysis/)")
    return options


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    options = arguments()
    args = options.parse_args(argv)
    if args.compare:
        given = [name for name, value in vars(args).items() if value != options.get_default(name)]
        if other := sorted(set(given) - {"compare", "analysis"}):
            options.error(f"--{other[0].replace('_', '-')} does not go with --compare, which compares whole files")
        _compare(args)
        return 0
    study, scenes = cli.study_and_scenes(args)
    name = f"{study.key}_{cli.check_key(args.labeller, '--labeller')}.json"
    output = args.analysis / FOLDER / name if args.output is None else args.output
    if output.is_dir() or not output.name:
        raise UserError(f"--output {output}: a folder; expected the name of a file")
    folder = session_folder(output)
    with FolderLock(folder), closing(Session(folder)) as session:
        if not session.state.finished and output.exists() and not args.force:
            raise UserError(f"{output}: exists already; expected no file, or --force to replace it")
        if session.state.finished and args.force and _is_written(session.state.labels(study.key), output):
            raise UserError(f"{folder}: its labels are final and in {output}; move this folder away to label anew")
        _prepare(session, args, study, scenes)
        return _label(session, args, study, output, argv)


def _is_written(labels: Sequence[records.HumanLabel], output: Path) -> bool:
    try:
        return output.exists() and set(records.read_human_labels(output)) == set(labels)
    except UserError:
        return False


def _prepare(session: Session, args: argparse.Namespace, study: Study, scenes: Sequence[str]) -> None:
    """Draw the sample, or check that the session's own is the one asked for and that no clip of it has changed.

    A clip that is gone is skipped on the page; labels of another clip than the drawn one would be wrong.
    """
    asked = {"study": study.key, "scenes": list(scenes), "models": args.model, "per_scene": args.per_scene}
    state = session.state
    if state.sample is None:
        session.begin(asked, _draw(args, study, scenes))
        return
    for key, began in state.asked.items():
        if asked[key] != began:
            raise UserError(f"{session.path}: began with {key} {began}, found {asked[key]}; expected the same again")
    if not state.finished:
        for clip in state.clips[len(state.answers) :]:
            path = clip.path(args.rollouts / study.key)
            if path.exists() and sha256_file(path) != clip.sha256:
                raise UserError(f"{path}: is another file than when {session.path} began; expected the same")


def _draw(args: argparse.Namespace, study: Study, scenes: Sequence[str]) -> Sample:
    """Draw the sample and name what is missing. Raises UserError without any clip."""
    folder, models = args.rollouts / study.key, _models(args, study)
    cells = {scene: {model: find_clips(folder / scene / model, study.n) for model in models} for scene in scenes}
    there = {scene: sum(len(clips.found) for clips in models.values()) for scene, models in cells.items()}
    if not any(there.values()):
        expected = "expected <scene>/<model>/seed_<i>.mp4, i from 0"
        raise UserError(f"{folder}: no videos of {', '.join(scenes)}; {expected}")
    if missing := _missing(cells):
        print(f"not on disk: {missing}")
    wanted = sum(min(args.per_scene, count) for count in there.values())
    with (
        tqdm(total=wanted, desc="checking clips", unit="clip", leave=False) as bar,
        ThreadPoolExecutor(WORKERS) as pool,
    ):

        def sample(scene: str) -> Sample:
            rng = np.random.default_rng([LABELS_SEED, *scene.encode()])
            return draw(scene, cells[scene], study.n, args.per_scene, rng, bar.update)

        drawn = joined(list(pool.map(sample, scenes)))
    for fault in drawn.unusable:
        print(f"not shown: {fault}")
    if drawn.unusable:
        count = len(drawn.unusable)
        print(f"broken and not shown: {count}; others are drawn in their place as far as there are any")
    if not drawn.clips:
        raise UserError(f"{folder}: no clip that can be shown; expected videos")
    return drawn


def _models(args: argparse.Namespace, study: Study) -> list[str]:
    """The models asked for; all: those of the study, and those with a folder in any of its scenes."""
    folders = [path for scene in study.scenes for path in (args.rollouts / study.key / scene).glob("*")]
    there = sorted({path.name for path in folders if path.is_dir() and not path.name.startswith(".")})
    every = [key for name in args.model for key in ((*study.models, *there) if name == cli.ALL else [name])]
    return [cli.check_model_key(model) for model in dict.fromkeys(every)]


def _missing(cells: Mapping[str, Mapping[str, Clips]]) -> str:
    """The rollouts that are not there, in one line; cells that miss the same seeds are named together."""
    found = {model for of_scene in cells.values() for model, clips in of_scene.items() if clips.found}
    absent = [model for model in next(iter(cells.values())) if model not in found]
    groups: dict[str, list[str]] = {f"{model} (all scenes)": [] for model in absent}
    for scene, of_scene in cells.items():
        for model, clips in of_scene.items():
            if clips.missing and model not in absent:
                groups.setdefault(f"seed {ranges(clips.missing)} of ", []).append(f"{scene}/{model}")
    return "; ".join(missing + ", ".join(of) for missing, of in groups.items())


def _label(session: Session, args: argparse.Namespace, study: Study, output: Path, argv: Sequence[str]) -> int:
    """Serve the page until the labels are final, then say what came of it; at once when they are final already."""

    def conclusion() -> Conclusion:
        return conclude(session.state, study.key, args.labeller, args.analysis, output, force=args.force)

    if not session.state.finished:
        with LabellingServer(session, args.rollouts / study.key, lambda: conclusion().record()) as server:
            print(f"{_progress(session)}. Open this page; Ctrl-C stops, and nothing is lost:\n{server.url}", flush=True)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                command = shlex.join(["python", Path(__file__).name, *argv])
                print(f"\n{_progress(session)}, all on disk. Go on with:\n{command}", file=sys.stderr)
                return 130
    print(conclusion().text())
    return 0


def _progress(session: Session) -> str:
    return f"{len(session.state.answers)} of {len(session.state.clips)} clips done"


def _compare(args: argparse.Namespace) -> None:
    """The agreement of two people on the rollouts that both labelled."""
    first, second = args.compare
    readings = two_people(records.read_human_labels(first), records.read_human_labels(second))
    if not readings:
        raise UserError(f"{second}: no rollout that {first} labels too; expected labels of the same sample")
    outputs = Outputs(args.analysis, __file__)
    rows = agreement_by_scene(readings)
    # Another pair's agreement is another result.
    suffix = "".join(f"_{cli.check_key(path.stem, '--compare: file name')}" for path in (first, second))
    outputs.results({"labellers": [first.stem, second.stem], "rows": rows}, suffix)
    outputs.table(agreement_table(first.stem, second.stem, rows), suffix)
    outputs.finish()


if __name__ == "__main__":
    sys.exit(main())
