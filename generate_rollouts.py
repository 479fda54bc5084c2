"""Generate the rollouts of a study: one video for each scene, model and seed. PAID, with --provider replicate.

    python generate_rollouts.py --study main --scene all --model wan --dry-run     # what it would cost; no key needed
    python generate_rollouts.py --study main --scene all --model wan --count 32
    python generate_rollouts.py --provider simulator --study controls --model sim_half     # free, no key
    python generate_rollouts.py --provider simulator --study controls --scene cards --law mylaw=1/2,1/4,1/4,0

Input: scenes.py, models.py, studies.py, conditioning_frames/, and REPLICATE_API_TOKEN in the environment.
Output: rollouts/<study>/<scene>/<model>/seed_<i>.mp4, and rollouts/<study>/ledger.jsonl, which knows every paid call.

A model that Replicate does not make is left out when all of its clips are there, whoever put them there.

Run the same command again after any interruption: it resumes, and nothing is paid twice. Where a rollout ended without
a video, each rerun looks whether the service has one by now; only --retry asks for new attempts, and says in its bill
(--retry --dry-run) how many. Exit codes: 0 all videos are there, 1 some are missing, 2 bad input, 130 interrupted.
"""

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import cli
from constants import SIMULATOR_SIZE
from errors import UserError
from models import MODELS, PUBLISHED, Model
from paths import CONDITIONING_FRAMES
from progress import ranges
from protocol import generation
from providers.base import Provider, Request
from providers.bill import bill
from providers.history import History
from providers.replicate_api import ReplicateProvider
from providers.resume import fault, plan
from providers.run_state import Settings
from providers.running import run
from providers.simulator import simulated_model, simulator_provider
from simulator import LAWS, Size, canonical_law
from studies import Study
from tables import markdown

# Predictions in flight. Hosted models start more machines under load; this keeps nine scenes moving.
CONCURRENCY = 32
# Creates a minute: half of what Replicate documents as its default limit (600), so that other work has room.
RATE = 300
# A thousand a second: more is no limit at all, and a number without end is none to divide by.
_HIGHEST_RATE = 60_000
# No model of the field makes larger clips, and the frames of one are drawn in memory.
_LARGEST_SIZE = (3840, 2160)
PROVIDERS: dict[str, Callable[[], Provider]] = {"replicate": ReplicateProvider, "simulator": simulator_provider}


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    cli.add_cells(options)
    options.add_argument(
        "--model",
        nargs="+",
        metavar="MODEL",
        help="models, or all of the study (default, but not where that is paid for)",
    )
    options.add_argument("--count", type=cli.whole(1), metavar="N", help="seeds 0..N-1 (default: all of the study)")
    options.add_argument("--provider", choices=PROVIDERS, default="replicate", help="who makes the videos")
    options.add_argument(
        "--concurrency", type=cli.whole(1), default=CONCURRENCY, metavar="N", help="in flight (%(default)s)"
    )
    options.add_argument("--rate", type=_rate, default=RATE, metavar="N", help="creates a minute (%(default)s)")
    options.add_argument("--max-predictions", type=cli.whole(0), metavar="N", help="create at most N in this run")
    options.add_argument("--retry", action="store_true", help="new attempts at rollouts that ended without a video")
    options.add_argument(
        "--unread", type=_existing_folder, metavar="DIR", help="only cells that have no outcome file in DIR yet"
    )
    options.add_argument("--dry-run", action="store_true", help="print the bill and stop; needs no key")
    options.add_argument(
        "--frames", type=Path, default=CONDITIONING_FRAMES, metavar="DIR", help="where the conditioning frames are"
    )
    simulator = options.add_argument_group("with --provider simulator")
    simulator.add_argument(
        "--law",
        type=_law,
        metavar="NAME=P1,P2,...",
        help="a model of your own: the probabilities of a scene's outcomes",
    )
    simulator.add_argument(
        "--size", type=_size, metavar="WxH", help="of the clips, in pixels (default {}x{})".format(*SIMULATOR_SIZE)
    )
    simulator.add_argument(
        "--artefact-rate", type=_probability, metavar="P", help="share of unscorable rollouts (default 0)"
    )
    return options


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    args = arguments().parse_args(argv)
    study, scenes = cli.study_and_scenes(args)
    _check_provider(args, study)
    is_named, args.model = args.model is not None, args.model or [cli.ALL]
    count = cli.count(args, study)
    requests = [
        Request(made, seed)
        for scene, model in _cells(args, study, scenes, count)
        for made in [generation(study, scene, model, args.frames)]
        for seed in range(count)
    ]
    if not requests:
        return 0
    folder = args.rollouts / study.key
    settings = Settings(args.concurrency, args.rate, args.max_predictions, args.retry)
    if args.dry_run:
        print(markdown(bill(requests, plan(History(folder), folder, requests), settings)), end="")
        return 0
    if not is_named and any(request.generation.model.replicate_id for request in requests):
        raise UserError(
            f"--model: not given; expected the models to pay for, or all, for {len(requests)} rollouts (see --dry-run)"
        )
    # Whoever continues is not to pay again unasked.
    command = shlex.join(["python", Path(__file__).name, *(word for word in argv if word != "--retry")])
    return run(requests, folder, PROVIDERS[args.provider], settings, command)


def _cells(args: argparse.Namespace, study: Study, scenes: Sequence[str], count: int) -> list[tuple[str, Model]]:
    """(scene, model) of what is to be made, scene by scene. Models that need nothing made are named and left out."""
    cells, elsewhere = [], False
    for key in _keys(args, study):
        unread = [s for s in scenes if args.unread is None or not (args.unread / study.bins_file(s, key)).exists()]
        model = _model(args, key, scenes)
        if not unread:
            print(f"{key}: skipped, all of its outcomes are in {args.unread}")
        elif model is not None:
            cells += [(scene, model) for scene in unread]
        elif not (incomplete := _incomplete(args.rollouts / study.key, unread, key, count)):
            print(f"{key}: skipped, it is not made by Replicate and all of its clips are there")
        elif key in study.models:
            print(f"{key}: skipped, run it yourself: python cosmos/generate_cosmos3_minimal.py --study {study.key}")
            elsewhere = True
        else:
            raise UserError(
                f"--model {key}: Replicate does not make it, and clips are missing: {incomplete}; expected an entry "
                "with replicate_id in models.py, or all of its clips there"
            )
    if elsewhere and not cells:
        raise UserError(f"--model {' '.join(args.model)}: no model that Replicate makes; expected at least one")
    return sorted(cells, key=lambda cell: scenes.index(cell[0]))


def _keys(args: argparse.Namespace, study: Study) -> list[str]:
    """The models asked for."""
    if args.law:
        return [args.law[0]]
    # A published study has no simulated models of its own: any law may take the place of its models.
    every = tuple(LAWS) if args.provider == "simulator" and study.published else study.models
    keys = dict.fromkeys(key for name in args.model for key in (every if name == cli.ALL else [name]))
    for key in keys:
        cli.check_model_key(key)
        if key not in study.models and study.models != PUBLISHED:
            raise UserError(f"--model {key}: not a model of {study.key}; expected all or {', '.join(study.models)}")
    return list(keys)


def _model(args: argparse.Namespace, key: str, scenes: Sequence[str]) -> Model | None:
    """The model, if the provider makes it."""
    if args.provider == "simulator":
        laws = {canonical_law(args.law[1], scene) for scene in scenes} if args.law else {None}
        return simulated_model(key, laws.pop(), args.size or SIMULATOR_SIZE, args.artefact_rate or 0.0)
    return MODELS[key] if key in MODELS and MODELS[key].replicate_id else None


def _incomplete(folder: Path, scenes: Sequence[str], model: str, count: int) -> str:
    """The first cell without all of its clips, and the seeds that it lacks; empty when there is none."""
    for scene in scenes:
        cell = folder / scene / model
        lacking = [seed for seed in range(count) if fault(cell / f"seed_{seed}.mp4")]
        if lacking:
            return f"{cell} seed {ranges(lacking)}"
    return ""


def _check_provider(args: argparse.Namespace, study: Study) -> None:
    """Raises UserError for options that contradict the provider, the study or each other."""
    given = {"--artefact-rate": args.artefact_rate, "--law": args.law, "--size": args.size}
    options = [option for option, value in given.items() if value is not None]
    if args.provider != "simulator":
        if options:
            raise UserError(f"{options[0]}: is of the simulator; expected it with --provider simulator only")
        if not study.published:
            raise UserError(f"--study {study.key}: its models are simulated; expected --provider simulator")
    elif args.law and args.model is not None:
        raise UserError("--law: together with --model; expected one of them")
    elif study.overrides and options and options != ["--size"]:
        raise UserError(
            f"{options[0]}: --study {study.key} says how its models are made; expected it with another study"
        )


def _existing_folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text}: no such folder; expected one of outcome files")
    return Path(text)


def _law(text: str) -> tuple[str, str]:
    name, equals, law = text.partition("=")
    # A law that has a name goes by it, here and in its truths.
    if not equals or law in LAWS:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a name, '=' and probabilities, as in mylaw=1/2,1/4,1/4,0")
    return cli.check_key(name, "--law: name"), law


def _rate(text: str) -> int:
    return min(cli.whole(1)(text), _HIGHEST_RATE)


def _size(text: str) -> Size:
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not found or size[0] > _LARGEST_SIZE[0] or size[1] > _LARGEST_SIZE[1]:
        largest = "{}x{}".format(*_LARGEST_SIZE)
        raise argparse.ArgumentTypeError(f"{text!r}; expected width and height in pixels, at most {largest}")
    return size


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a probability between 0 and 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
