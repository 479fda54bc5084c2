"""Generate the rollouts of a study: one video for each scene, model and seed. PAID, with --provider replicate.

    python generate_rollouts.py --study main --scene all --model wan --dry-run     # what it would cost; no key needed
    python generate_rollouts.py --study main --scene all --model wan --count 32
    python generate_rollouts.py --scene all --model sim_calibrated --provider simulator     # free, no key

Input: scenes.py, models.py, studies.py, conditioning_frames/, and REPLICATE_API_TOKEN in the environment.
Output: rollouts/<study>/<scene>/<model>/seed_<i>.mp4, and rollouts/<study>/ledger.jsonl, which knows every paid call.

Run the same command again after any interruption: it resumes, and nothing is paid twice. Rollouts that ended without
a video stay so until --retry asks for new attempts. Exit codes: 0 all videos are there, 1 some are missing,
2 bad input, 130 interrupted.
"""

import argparse
import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import cli
from errors import UserError
from ledger import FolderLock
from models import MODELS, PUBLISHED, resolve
from paths import CONDITIONING_FRAMES, ROLLOUTS
from progress import Progress
from protocol import generation
from providers.base import ASK_AGAIN, Provider, Request, RolloutKey
from providers.bill import bill
from providers.engine import Engine
from providers.history import History, identical_videos
from providers.replicate_api import ReplicateProvider
from providers.resume import Step, plan, recover
from providers.run_state import DISPLAY, DONE, DOWNLOADING, RUNNING, WAITING, Report, Settings, cell_name
from scenes import SCENES
from studies import STUDIES, Study
from tables import markdown

# Predictions in flight. Hosted models start more machines under load; this keeps nine scenes moving.
CONCURRENCY = 32
# Creates a minute: half of what Replicate documents as its default limit (600), so that other work has room.
RATE = 300.0
ALL = "all"


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    options.add_argument("--study", default="main", metavar="STUDY", help=f"one of {', '.join(STUDIES)} (default main)")
    options.add_argument("--scene", nargs="+", default=[ALL], metavar="SCENE", help="scenes, or all (default)")
    options.add_argument(
        "--model", nargs="+", default=[ALL], metavar="MODEL", help="models, or all of the study (default)"
    )
    options.add_argument(
        "--count", type=cli.whole(1), metavar="N", help="seeds 0..N-1 (default: as many as the study has)"
    )
    options.add_argument(
        "--provider", choices=("replicate", "simulator"), default="replicate", help="who makes the videos"
    )
    options.add_argument(
        "--concurrency", type=cli.whole(1), default=CONCURRENCY, metavar="N", help=f"in flight (default {CONCURRENCY})"
    )
    options.add_argument(
        "--rate", type=cli.whole(1), default=RATE, metavar="N", help=f"creates a minute (default {RATE:.0f})"
    )
    options.add_argument("--max-predictions", type=cli.whole(0), metavar="N", help="create at most N in this run")
    options.add_argument("--retry", action="store_true", help="new attempts at rollouts that ended without a video")
    options.add_argument("--dry-run", action="store_true", help="print the bill and stop; needs no key")
    options.add_argument("--rollouts", type=Path, default=ROLLOUTS, metavar="DIR", help="where videos go (rollouts/)")
    options.add_argument(
        "--frames",
        type=Path,
        default=CONDITIONING_FRAMES,
        metavar="DIR",
        help="conditioning frames (conditioning_frames/)",
    )
    return options


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    args = arguments().parse_args(argv)
    requests = _requests(args)
    folder = args.rollouts / args.study
    if args.dry_run:
        print(markdown(bill(requests, plan(History(folder), folder, requests), args.max_predictions)), end="")
        return 0
    with FolderLock(folder):
        history = History(folder)
        try:
            report = asyncio.run(_generate(args, folder, history, requests))
        except KeyboardInterrupt:
            print(f"interrupted; nothing is lost. Continue with:\n{_command(argv)}", file=sys.stderr)
            return 130
        finally:
            history.close()
    return _conclude(report, history, argv)


def _requests(args: argparse.Namespace) -> list[Request]:
    """The rollouts asked for. Models that the provider does not make are named and left out."""
    if args.study not in STUDIES:
        raise UserError(f"--study {args.study}: unknown study; expected one of {', '.join(STUDIES)}")
    study = STUDIES[args.study]
    count = study.n if args.count is None else args.count
    if count > study.n:
        raise UserError(f"--count {count}: too many; expected at most {study.n}, the rollouts of a cell of {study.key}")
    keys = _models(args, study)
    return [
        Request(made, seed)
        for scene in _scenes(args.scene, study)
        for model in resolve(keys)
        for made in [generation(study, scene, model, args.frames)]
        for seed in range(count)
    ]


def _scenes(names: Sequence[str], study: Study) -> list[str]:
    for name in names:
        if name != ALL and name not in study.scenes:
            raise UserError(f"--scene {name}: not a scene of {study.key}; expected all or {', '.join(study.scenes)}")
    return [scene for scene in SCENES if scene in study.scenes and (scene in names or ALL in names)]


def _models(args: argparse.Namespace, study: Study) -> list[str]:
    keys = list(dict.fromkeys(key for name in args.model for key in (study.models if name == ALL else [name])))
    made = []
    for key in keys:
        cli.check_model_key(key)
        if key not in study.models and study.models != PUBLISHED:
            raise UserError(f"--model {key}: not a model of {study.key}; expected all or {', '.join(study.models)}")
        if args.provider == "simulator" or (key in MODELS and MODELS[key].replicate_id):
            made.append(key)
        elif key in study.models:
            print(f"{key}: skipped, run it yourself: python cosmos/generate_cosmos3_minimal.py --study {study.key}")
        else:
            raise UserError(
                f"--model {key}: Replicate does not make it; expected an entry in models.py with replicate_id"
            )
    if not made:
        raise UserError(f"--model {' '.join(args.model)}: no model that Replicate makes; expected at least one")
    return made


async def _generate(args: argparse.Namespace, folder: Path, history: History, requests: Sequence[Request]) -> Report:
    recover(history, folder, requests)
    steps = plan(history, folder, requests)
    at_rest = {key: state for key, step in steps.items() if (state := _state_at_rest(history, key, step, args.retry))}
    report = Report(dict(at_rest))
    foreign = sum(step is Step.FOREIGN for step in steps.values())
    if foreign:
        report.remarks.append(
            f"{foreign} videos are not in the ledger: they came from elsewhere and are left as they are"
        )
    under_way = [request for request in requests if request.key not in at_rest]
    if not under_way:
        # Nothing is asked of the provider, so that neither key nor network is needed.
        return report
    provider: Provider = ReplicateProvider()
    try:
        generations = list(dict.fromkeys(request.generation for request in under_way))
        report.remarks += await provider.prepare(generations)
        cells: dict[str, list[int]] = {}
        for request in requests:
            cells.setdefault(cell_name(request), []).append(request.seed)
        with Progress(args.study, cells, DISPLAY, calm=(DONE,)) as progress:
            for request in requests:
                progress.move(cell_name(request), request.seed, at_rest.get(request.key, WAITING))
            settings = Settings(args.concurrency, args.rate, args.max_predictions, args.retry)
            made = await Engine(provider, folder, history, settings, progress).run(under_way, steps)
    finally:
        await provider.close()
    return Report(report.states | made.states, made.created, report.remarks + made.remarks)


def _state_at_rest(history: History, key: RolloutKey, step: Step, retry: bool) -> str | None:
    """How a rollout is shown for which nothing is to be done; None for the others."""
    if step in {Step.NOTHING, Step.FOREIGN}:
        return DONE
    last = history.rollout(key).last
    return last.state.value if step is Step.GIVEN_UP and not retry and last is not None and last.state else None


def _conclude(report: Report, history: History, argv: Sequence[str]) -> int:
    """Say what there is, what is missing and why, and how to go on."""
    counts = Counter(report.states.values())
    listed = ", ".join(f"{counts[state]} {state}" for state in DISPLAY if counts[state])
    print(f"{len(report.states)} rollouts: {listed}; {report.created} predictions created by this run")
    for remark in report.remarks:
        print(remark)
    for (scene, model), keys in _by_cell(report.states).items():
        created = sum(history.rollout(key).created for key in keys)
        if created > len(keys):
            print(f"{scene} / {model}: {created} predictions for {len(keys)} rollouts")
    for group in identical_videos(history, report.states):
        names = ", ".join(f"{scene} / {model} seed {seed}" for scene, model, seed in group)
        print(f"identical videos, which are one draw and not {len(group)}: {names}")
    missing = {key: state for key, state in report.states.items() if state != DONE}
    for (scene, model, state), seeds in _grouped(missing).items():
        last = history.rollout((scene, model, seeds[0])).last
        why = f" ({last.detail})" if last is not None and last.detail and state != WAITING else ""
        print(f"missing: {scene} / {model} seed {', '.join(map(str, seeds))}: {state}{why}")
    if not missing:
        return 0
    resumable = {WAITING, RUNNING, DOWNLOADING, *ASK_AGAIN}
    retry = "" if resumable & set(missing.values()) or "--retry" in argv else " --retry"
    print(f"continue with:\n{_command(argv)}{retry}")
    return 1


def _by_cell(keys: Iterable[RolloutKey]) -> dict[tuple[str, str], list[RolloutKey]]:
    cells: dict[tuple[str, str], list[RolloutKey]] = {}
    for key in keys:
        cells.setdefault(key[:2], []).append(key)
    return cells


def _grouped(missing: Mapping[RolloutKey, str]) -> dict[tuple[str, str, str], list[int]]:
    groups: dict[tuple[str, str, str], list[int]] = {}
    for (scene, model, seed), state in missing.items():
        groups.setdefault((scene, model, state), []).append(seed)
    return groups


def _command(argv: Sequence[str]) -> str:
    return shlex.join(["python", Path(__file__).name, *argv])


if __name__ == "__main__":
    sys.exit(main())
