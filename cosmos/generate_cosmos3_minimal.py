"""Generate the rollouts of Cosmos3-Super on your own GPUs, with diffusers' Cosmos3 pipeline.

    pip install -r cosmos/requirements.txt
    python cosmos/generate_cosmos3_minimal.py --study main --plan           # what it would do; needs no GPU, no torch
    python cosmos/generate_cosmos3_minimal.py --study main --scene dice     # one GPU
    python cosmos/generate_cosmos3_minimal.py --study cfg_1_5 --sharded     # the model spread over all GPUs

Input: scenes.py, models.py, studies.py and conditioning_frames/; the weights come from nvidia/Cosmos3-Super.
Output: rollouts/<study>/<scene>/cosmos3_super/seed_<i>.mp4 and rollouts/<study>/ledger.jsonl, as generate_rollouts.py
writes them. Run the same command again after any interruption: what is there is not made again. Exit codes: 0 all
videos are there, 1 some are missing, 2 bad input, 130 interrupted.
"""

import argparse
import importlib
import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from PIL import Image

import cli
from cosmos import cosmos_config as config
from errors import UserError
from paths import CONDITIONING_FRAMES, ROOT
from protocol import digest, generation
from providers.base import DownloadError, Request, State
from providers.history import History
from providers.local import LocalProvider
from providers.resume import Step, plan
from providers.run_state import Settings
from providers.running import run
from video_io import write_video

# A pipeline makes one video at a time, and no rate limit stands before it.
SETTINGS = Settings(concurrency=1, rate=60_000)


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    cli.add_cells(options)
    options.add_argument("--count", type=cli.whole(1), metavar="N", help="seeds 0..N-1 (default: all of the study)")
    options.add_argument("--sharded", action="store_true", help="spread the model over all GPUs")
    options.add_argument("--retry", action="store_true", help="new attempts at rollouts that ended without a video")
    options.add_argument("--plan", action="store_true", help="print what would be made, and stop")
    options.add_argument("--frames", type=Path, default=CONDITIONING_FRAMES, metavar="DIR", help="conditioning frames")
    return options


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    args = arguments().parse_args(argv)
    study, scenes = cli.study_and_scenes(args)
    config.check_study(study)
    cells = [generation(study, scene, config.MODEL, args.frames) for scene in scenes]
    requests = [Request(cell, seed) for cell in cells for seed in range(cli.count(args, study))]
    folder = args.rollouts / study.key
    if args.plan:
        print(_plan(requests, folder, args.sharded))
        return 0
    words = [word for word in argv if word != "--retry"]
    command = shlex.join(["python", str(Path(__file__).resolve().relative_to(ROOT)), *words])
    return run(requests, folder, lambda: _provider(args), replace(SETTINGS, retry=args.retry), command)


def _plan(requests: Sequence[Request], folder: Path, sharded: bool) -> str:
    steps = plan(History(folder), folder, requests)
    lines = [f"{config.PIPELINE} with {config.WEIGHTS}, {_device_map(sharded)}"]
    for cell in dict.fromkeys(request.generation for request in requests):
        own = [request for request in requests if request.generation is cell]
        there = sum(steps[request.key] in {Step.NOTHING, Step.FOREIGN} for request in own)
        settings = ", ".join(f"{name} {value}" for name, value in asdict(config.settings(cell.inputs)).items())
        lines += [
            f"{cell.scene}: {len(own) - there} videos to make, {there} there",
            f"  {settings}",
            f"  frame {cell.frame.name}, negative prompt {config.NEGATIVE_PROMPT_MODULE}.{config.NEGATIVE_PROMPT_NAME}",
            f"  prompt {cell.prompt}",
        ]
    return "\n".join(lines)


def _device_map(sharded: bool) -> str:
    """ "balanced" puts the parts of the model on all GPUs in equal shares; "cuda" puts all of it on one."""
    return "balanced" if sharded else "cuda"


def _provider(args: argparse.Namespace) -> LocalProvider:
    try:
        torch = importlib.import_module("torch")
        diffusers = importlib.import_module("diffusers")
        negative = getattr(importlib.import_module(config.NEGATIVE_PROMPT_MODULE), config.NEGATIVE_PROMPT_NAME)
    except (ImportError, AttributeError) as error:
        raise UserError(f"{error}; expected the packages of cosmos/requirements.txt") from error
    if not torch.cuda.is_available():
        raise UserError("torch sees no GPU; expected at least one with CUDA (--plan needs none)")
    pipeline = diffusers.Cosmos3OmniPipeline.from_pretrained(
        config.WEIGHTS, dtype=torch.bfloat16, device_map=_device_map(args.sharded)
    )

    def render(request: Request, path: Path) -> None:
        _render(pipeline, torch, negative, request, path)

    # What the inputs of models.py name as the library's own, which another release may change.
    version = f"diffusers {diffusers.__version__}, negative prompt {digest(negative)[:12]}"
    return LocalProvider("cosmos", render, ThreadPoolExecutor(1), version)


def _render(pipeline: Any, torch: Any, negative_prompt: str, request: Request, path: Path) -> None:
    settings = config.settings(request.generation.inputs)
    with Image.open(request.generation.frame) as file:
        image = file.convert("RGB")
    try:
        # A generator of its own for each rollout, so that a seed means the same video whatever was made before it. On
        # the processor: its numbers are the same for every make of GPU.
        generator = torch.Generator(device="cpu").manual_seed(request.seed)
        made = pipeline(
            prompt=request.generation.prompt,
            negative_prompt=negative_prompt,
            image=image,
            generator=generator,
            **asdict(settings),
        )
    except ValueError as error:
        # The library's guardrail, which the model's licence asks for, raises this for a prompt or a video it blocks.
        state = State.REFUSED if "Guardrail" in str(error) else State.FAILED
        raise DownloadError(state, " ".join(str(error).split())) from error
    except RuntimeError as error:
        raise DownloadError(State.FAILED, " ".join(str(error).split())[:300]) from error
    write_video(path, (np.asarray(picture.convert("RGB")) for picture in made.video), settings.fps)


if __name__ == "__main__":
    sys.exit(main())
