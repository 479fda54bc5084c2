"""Generate the rollouts of a study: one video for each scene, model and seed. PAID, with --provider replicate.

    python generate_rollouts.py --study main --scene all --model wan --dry-run     # what it would cost; no key needed
    python generate_rollouts.py --study main --scene all --model wan --count 32
    python generate_rollouts.py --provider simulator --scene all --model sim_calibrated     # free, no key

Input: scenes.py, models.py, studies.py, conditioning_frames/, and REPLICATE_API_TOKEN in the environment.
Output: rollouts/<study>/<scene>/<model>/seed_<i>.mp4, and rollouts/<study>/ledger.jsonl, which knows every paid call.

Run the same command again after any interruption: it resumes, and nothing is paid twice. Rollouts that ended without
a video stay so until --retry asks for new attempts. Exit codes: 0 all videos are there, 1 some are missing,
2 bad input, 130 interrupted.
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import cli
from errors import UserError
from models import MODELS, PUBLISHED, Model
from paths import CONDITIONING_FRAMES
from protocol import generation
from providers.base import Provider, Request
from providers.bill import bill
from providers.history import History
from providers.replicate_api import ReplicateProvider
from providers.resume import plan
from providers.run_state import Settings
from providers.running import run
from providers.simulator import simulated_model, simulator_provider
from simulator import LAWS
from studies import Study
from tables import markdown

# Predictions in flight. Hosted models start more machines under load; this keeps nine scenes moving.
CONCURRENCY = 32
# Creates a minute: half of what Replicate documents as its default limit (600), so that other work has room.
RATE = 300
PROVIDERS: dict[str, Callable[[], Provider]] = {"replicate": ReplicateProvider, "simulator": simulator_provider}


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    cli.add_cells(options)
    options.add_argument("--model", nargs="+", default=[cli.ALL], metavar="MODEL", help="models, or all of the study")
    options.add_argument("--count", type=cli.whole(1), metavar="N", help="seeds 0..N-1 (default: all of the study)")
    options.add_argument("--provider", choices=PROVIDERS, default="replicate", help="who makes the videos")
    options.add_argument(
        "--concurrency", type=cli.whole(1), default=CONCURRENCY, metavar="N", help="in flight (%(default)s)"
    )
    options.add_argument("--rate", type=cli.whole(1), default=RATE, metavar="N", help="creates a minute (%(default)s)")
    options.add_argument("--max-predictions", type=cli.whole(0), metavar="N", help="create at most N in this run")
    options.add_argument("--retry", action="store_true", help="new attempts at rollouts that ended without a video")
    options.add_argument("--dry-run", action="store_true", help="print the bill and stop; needs no key")
    options.add_argument(
        "--frames", type=Path, default=CONDITIONING_FRAMES, metavar="DIR", help="where the conditioning frames are"
    )
    options.add_argument(
        "--artefact-rate", type=_probability, default=0.0, metavar="P", help="simulator: share of unscorable rollouts"
    )
    return options


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    args = arguments().parse_args(argv)
    study, scenes = cli.study_and_scenes(args)
    count = study.n if args.count is None else args.count
    if count > study.n:
        raise UserError(f"--count {count}: too many; expected at most {study.n}, the rollouts of a cell of {study.key}")
    requests = [
        Request(made, seed)
        for scene in scenes
        for model in _models(args, study)
        for made in [generation(study, scene, model, args.frames)]
        for seed in range(count)
    ]
    folder = args.rollouts / study.key
    if args.dry_run:
        print(markdown(bill(requests, plan(History(folder), folder, requests), args.max_predictions)), end="")
        return 0
    settings = Settings(args.concurrency, args.rate, args.max_predictions, args.retry)
    return run(requests, folder, PROVIDERS[args.provider], settings, shlex.join(["python", Path(__file__).name, *argv]))


def _models(args: argparse.Namespace, study: Study) -> list[Model]:
    """The models asked for. Those of the study that the provider does not make are named and left out."""
    every = tuple(LAWS) if args.provider == "simulator" else study.models
    keys = dict.fromkeys(key for name in args.model for key in (every if name == cli.ALL else [name]))
    models = []
    for key in keys:
        cli.check_model_key(key)
        if key not in study.models and study.models != PUBLISHED:
            raise UserError(f"--model {key}: not a model of {study.key}; expected all or {', '.join(study.models)}")
        if args.provider == "simulator":
            models.append(simulated_model(key, args.artefact_rate))
        elif key in MODELS and MODELS[key].replicate_id:
            models.append(MODELS[key])
        elif key in study.models:
            print(f"{key}: skipped, run it yourself: python cosmos/generate_cosmos3_minimal.py --study {study.key}")
        else:
            raise UserError(
                f"--model {key}: Replicate does not make it; expected an entry with replicate_id in models.py"
            )
    if not models:
        raise UserError(f"--model {' '.join(args.model)}: no model that Replicate makes; expected at least one")
    return models


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
