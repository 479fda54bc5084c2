"""Figure 3: a strip of frames from one scorable rollout, and one from an unscorable one.

    python make_rollout_examples.py [--videos DIR] [--scene SCENE] [--analysis DIR]

Reads   rollouts/main/{scene}/{model}/seed_{i}.mp4 (or below DIR), analysis/{scene}_{model}_bins.json
Writes  analysis/results/rollout_examples.json, analysis/figures/rollout_examples.{pdf,png}
Free: needs no key and no network.

Which rollouts are scorable is what the outcomes say. New outcome files hold the hashes of their clips; where one does
not fit its video, that is another, and the cell is passed over. The first scene that has both kinds is shown, or the
one that is asked for; broken videos are named and passed over.

Where rollouts/main holds no videos with outcomes, as in a fresh clone, two simulated rollouts are shown: one with an
outcome, and one with an artefact. With --videos and none in there it says so, writes nothing and exits 0.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

import cli
import records
from constants import SIMULATOR_FPS
from errors import UserError
from models import MODELS, resolve
from outputs import Outputs
from paths import ANALYSIS, ROLLOUTS
from progress import ranges
from protocol import CLIPS, other_clips
from scenes import SCENES
from simulator import simulate
from studies import STUDIES
from video_io import Frame, VideoError, decode, find_clips, inspect_clip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = STUDIES["main"]
DEFAULT_VIDEOS = ROLLOUTS / STUDY.key
FRAMES = 6
# Pixels: a strip of six frames on a page's width shows no more.
FRAME_WIDTH = 320
KINDS = ("scorable", "unscorable")
# The first seed whose artefact, in the first scene, is the one of the published figure: a second ball.
SIMULATED_LAW, SIMULATED_SEED = "sim_calibrated", 1

# What is shown of a rollout in words, and its frames.
Strip = tuple[dict[str, Any], list[Frame]]


@dataclass(frozen=True)
class Candidate:
    """A rollout with a video and a recorded outcome; verified: the outcome file says that it is of these clips."""

    scene: str
    model: str
    seed: int
    outcome: int | None
    clip: Path
    verified: bool

    @property
    def kind(self) -> str:
        return KINDS[self.outcome is None]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = arguments().parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    strips = {candidate.kind: recorded(candidate) for candidate in choose(args)}
    if not strips:
        print(f"no videos with recorded outcomes in {args.videos or DEFAULT_VIDEOS}")
        if args.videos:
            return 0
        strips = simulated(args.scene or next(iter(SCENES)))
        print("simulated rollouts are shown")
    for kind in KINDS:
        if kind not in strips:
            print(f"no {kind} rollout among the videos: only the other kind is shown")
        elif not strips[kind][0]["verified"]:
            print(f"{kind}: the outcome file names no clips, so whether it was read from this video is not known")
    outputs.results({"examples": {kind: example for kind, (example, _) in strips.items()}})
    outputs.figure(draw(list(strips.values())))
    outputs.finish()
    return 0


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    options.add_argument("--analysis", type=Path, default=ANALYSIS, metavar="DIR", help="folder of the outcome files")
    options.add_argument(
        "--videos", type=Path, metavar="DIR", help="videos, as {scene}/{model}/seed_{i}.mp4 (default: rollouts/main)"
    )
    options.add_argument("--scene", choices=SCENES, metavar="SCENE", help=f"show this one of {', '.join(SCENES)}")
    return options


def choose(args: argparse.Namespace) -> list[Candidate]:
    """A scorable and an unscorable rollout of one scene, in display order of scenes, models and seeds; or one of them
    where no scene has both; or none."""
    if args.videos and not args.videos.is_dir():
        raise UserError(f"{args.videos}: no such folder; expected videos as {{scene}}/{{model}}/seed_{{i}}.mp4")
    fallback: list[Candidate] = []
    for scene in [args.scene] if args.scene else SCENES:
        found: dict[str, Candidate] = {}
        for candidate in candidates(args.analysis, args.videos or DEFAULT_VIDEOS, scene):
            if candidate.kind not in found and _plays(candidate.clip):
                found[candidate.kind] = candidate
            if len(found) == len(KINDS):
                return [found[kind] for kind in KINDS]
        fallback = fallback or list(found.values())
    return fallback


def candidates(analysis: Path, videos: Path, scene: str) -> Iterator[Candidate]:
    """The rollouts of a scene that have a video and a recorded outcome, known models first."""
    folders = [path.name for path in sorted((videos / scene).glob("*")) if path.is_dir()]
    for model in sorted(folders, key=lambda key: (list(MODELS).index(key) if key in MODELS else len(MODELS), key)):
        clips = find_clips(videos / scene / model, STUDY.n)
        if not clips.found or not (analysis / STUDY.bins_file(scene, model)).exists():
            continue
        cell = records.read_cell(analysis, STUDY, scene, model)
        if others := other_clips(clips, cell.protocol):
            print(f"{clips.folder}: passed over: its outcomes are of other clips than these of seeds {ranges(others)}")
            continue
        read = cell.protocol.get(CLIPS, {})
        for seed, clip in clips.found.items():
            yield Candidate(scene, model, seed, cell.bins[seed], clip, verified=str(seed) in read)


def _plays(clip: Path) -> bool:
    try:
        inspect_clip(clip)
    except VideoError as error:
        print(f"passed over: {error}")
        return False
    return True


def recorded(candidate: Candidate) -> Strip:
    """The example that a video makes."""
    example = {
        "scene": candidate.scene,
        "model": candidate.model,
        "seed": candidate.seed,
        "outcome": _label(candidate.scene, candidate.outcome),
        "artefact": None,
        "verified": candidate.verified,
    }
    return strip(example, decode(candidate.clip), inspect_clip(candidate.clip).fps)


def simulated(scene: str) -> dict[str, Strip]:
    """One seed of a simulated scene twice: with the outcome that it has, and with an artefact in its place."""
    strips = {}
    for kind, artefact_rate in zip(KINDS, (0.0, 1.0), strict=True):
        truth, frames = simulate(scene, SIMULATED_LAW, SIMULATED_SEED, artefact_rate=artefact_rate)
        example = {
            "scene": scene,
            "model": SIMULATED_LAW,
            "seed": SIMULATED_SEED,
            "outcome": _label(scene, truth.outcome),
            "artefact": truth.artefact,
            "verified": True,
        }
        strips[kind] = strip(example, frames, SIMULATOR_FPS)
    return strips


def _label(scene: str, outcome: int | None) -> str | None:
    return None if outcome is None else SCENES[scene].outcomes[outcome - 1]


def strip(example: Mapping[str, Any], frames: Iterable[Frame], fps: float) -> Strip:
    """Frames at equal distances from the first to the last, and the example with what these are."""
    small = [_small(frame) for frame in frames]
    wanted = sorted({round(index) for index in np.linspace(0, len(small) - 1, FRAMES)})
    times = [round(index / fps, 3) for index in wanted]
    return {**example, "frames": wanted, "times_s": times}, [small[index] for index in wanted]


def _small(frame: Frame) -> Frame:
    height = round(FRAME_WIDTH * frame.shape[0] / frame.shape[1])
    return np.asarray(Image.fromarray(frame).resize((FRAME_WIDTH, height), Image.Resampling.LANCZOS))


def draw(strips: Sequence[Strip]) -> "Figure":
    """A row a rollout, its time below each frame."""
    from figures import PAGE_WIDTH, hide_unused, new_figure

    tallest = max(frame.shape[0] for _, frames in strips for frame in frames)
    figure = new_figure(PAGE_WIDTH, len(strips) * (PAGE_WIDTH / FRAMES * tallest / FRAME_WIDTH + 0.35))
    rows = figure.subfigures(len(strips), 1, squeeze=False)[:, 0]
    for part, (example, frames) in zip(rows, strips, strict=True):
        axes = part.subplots(1, FRAMES)
        for ax, frame, time in zip(axes, frames, example["times_s"], strict=False):
            ax.imshow(frame)
            ax.set_xticks([])
            ax.set_yticks([])
            ax.set_xlabel(f"{time:.1f} s", fontsize=7)
        hide_unused(axes, len(example["frames"]))
        part.suptitle(title(example), x=0.005, ha="left", fontsize=8)
    return figure


def title(example: Mapping[str, Any]) -> str:
    model = resolve([example["model"]])[0].name
    if example["outcome"] is not None:
        read = f"scorable, outcome {example['outcome']}"
    else:
        read = "unscorable" + (f", {example['artefact'].replace('_', ' ')}" if example["artefact"] else "")
    return f"{SCENES[example['scene']].title}, {model}, seed {example['seed']}: {read}"


if __name__ == "__main__":
    sys.exit(main())
