"""Does the pixels judge see what simulated clips show? Fresh clips of all scenes, read and compared with their truth.

    python benchmarks/eval_pixels.py [--clips 2000] [--scene dice cards] [--first-seed 10000]

Writes benchmarks/eval_pixels.json, after a full run over all scenes, and prints a confusion table for each scene: what
was read of every outcome and of every kind of artefact. Half of the clips are of each resolution, two in five show an
artefact. A clip is deleted once it was read, in one of two processes. Exit code 1 when the judge misses a target, or
when an outcome, or a kind of artefact at either resolution, never came up.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tqdm import tqdm

from constants import CONDITIONING_SIZE, SIMULATOR_FPS, SIMULATOR_SIZE
from files import write_json
from judges.base import State
from judges.evidence import load_evidence
from judges.parse import parse_reply
from judges.pixels import answer
from scenes import SCENES
from simulator import SIMULATORS, simulate
from video_io import write_video

RESULT = Path(__file__).with_suffix(".json")
CLIPS = 2000
PROCESSES = 2
SIZES = (SIMULATOR_SIZE, CONDITIONING_SIZE)
# Every outcome equally often, so that rare ones are read too.
LAW = "sim_flat"
ARTEFACT_RATE = 0.4
# Clips of the pipeline have seeds below it. Another first seed gives clips on which no threshold was ever tuned.
FIRST_SEED = 10_000
# Agreement overall and in every scene, and the share of an artefact's clips that may be read as an outcome.
TARGET, TARGET_SCENE, TARGET_ARTEFACT = 0.995, 0.98, 0.02


@dataclass(frozen=True)
class Case:
    """truth: the outcome's label or the kind of artefact. read: a label, null, or the judge's state. cpu_s: reading."""

    scene: str
    seed: int
    height: int
    truth: str
    read: str
    reason: str
    cpu_s: float

    @property
    def is_artefact(self) -> bool:
        return self.truth not in SCENES[self.scene].outcomes

    @property
    def agrees(self) -> bool:
        return self.read == ("null" if self.is_artefact else self.truth)


def run(folder: Path, first_seed: int, job: tuple[str, int]) -> Case:
    """Render one clip, read it, and delete it."""
    scene, index = job
    outcomes, size, seed = SCENES[scene].outcomes, SIZES[index % len(SIZES)], first_seed + index
    truth, frames = simulate(scene, LAW, seed, size, ARTEFACT_RATE)
    clip = folder / f"{scene}_{index}.mp4"
    write_video(clip, frames, SIMULATOR_FPS)
    started = time.process_time()
    reply = answer(load_evidence(clip, clip.stem, SCENES[scene].evidence), scene)
    cpu_s = time.process_time() - started
    clip.unlink()
    read: str = reply.state
    if reply.state is State.VOTE:
        vote = parse_reply(reply.text, outcomes)
        read = "null" if vote.outcome is None else outcomes[vote.outcome - 1]
    shown = truth.artefact if truth.outcome is None else outcomes[truth.outcome - 1]
    return Case(scene, seed, size[1], str(shown), read, reply.detail, cpu_s)


def evaluate(clips: int, scenes: Sequence[str], first_seed: int) -> list[Case]:
    jobs = [(scenes[i % len(scenes)], i // len(scenes)) for i in range(clips)]
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(PROCESSES, mp_context=context) as pool,
    ):
        return list(tqdm(pool.map(partial(run, Path(folder), first_seed), jobs), total=len(jobs), unit="clip"))


def share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def summary(cases: Sequence[Case]) -> dict[str, Any]:
    """Agreement over these clips, the confusion, and of each kind of artefact how many were read as an outcome."""
    confusion = Counter((case.truth, case.read) for case in cases)
    kinds: dict[str, list[bool]] = {}
    for case in cases:
        if case.is_artefact:
            kinds.setdefault(case.truth, []).append(case.read in SCENES[case.scene].outcomes)
    agreed = sum(case.agrees for case in cases)
    return {
        "clips": len(cases),
        "agreed": agreed,
        "agreement": share(agreed, len(cases)),
        "confusion": {f"{truth} -> {read}": count for (truth, read), count in sorted(confusion.items())},
        "artefacts": {
            kind: {"clips": len(as_outcome), "read_as_an_outcome": sum(as_outcome)}
            for kind, as_outcome in sorted(kinds.items())
        },
        "cpu_seconds_a_clip": {
            f"{height}p": round(sum(times) / len(times), 3)
            for height in sorted({case.height for case in cases})
            if (times := [case.cpu_s for case in cases if case.height == height])
        },
    }


def show(scene: str, cases: Sequence[Case]) -> None:
    """Print the confusion table of one scene: a row for each outcome and kind, a column for each thing read."""
    found = Counter((case.truth, case.read) for case in cases)
    ranks = {label: i for i, label in enumerate([*SCENES[scene].outcomes, "null"])}
    rows, columns = (sorted({pair[k] for pair in found}, key=lambda name: (ranks.get(name, 99), name)) for k in (0, 1))
    width = max(len(name) for name in [*rows, *columns]) + 1
    agreed = sum(case.agrees for case in cases)
    print(f"\n{scene}: {agreed} of {len(cases)} clips read as they are ({share(agreed, len(cases)):.1%})")
    print(" " * (width + 2) + "".join(f"{name:>{max(len(name), 4) + 1}}" for name in columns))
    for row in rows:
        counts = "".join(f"{found[row, name] or '.':>{max(len(name), 4) + 1}}" for name in columns)
        print(f"  {row:<{width}}{counts}")


def unseen(scene: str, cases: Sequence[Case]) -> list[str]:
    """The outcomes that these clips of a scene lack, and the kinds of artefact that they lack at a size."""
    outcomes, at_sizes = {case.truth for case in cases}, {(case.truth, case.height) for case in cases}
    kinds = [(kind, height) for kind in SIMULATORS[scene].artefacts for _, height in SIZES]
    return [
        *(f"{scene}: outcome {label} never came up" for label in SCENES[scene].outcomes if label not in outcomes),
        *(f"{scene}: {kind} never came up at {height}p" for kind, height in kinds if (kind, height) not in at_sizes),
    ]


def misses(total: dict[str, Any], scenes: dict[str, dict[str, Any]]) -> list[str]:
    """The targets that were not reached."""
    missed = [] if total["agreement"] >= TARGET else [f"agreement {total['agreement']:.2%}, target {TARGET:.1%}"]
    for scene, found in scenes.items():
        if found["agreement"] < TARGET_SCENE:
            missed.append(f"{scene}: agreement {found['agreement']:.2%}, target {TARGET_SCENE:.0%}")
        for kind, read in found["artefacts"].items():
            if share(read["read_as_an_outcome"], read["clips"]) > TARGET_ARTEFACT:
                count = f"{read['read_as_an_outcome']} of {read['clips']}"
                missed.append(f"{scene}: {kind} read as an outcome in {count}, target {TARGET_ARTEFACT:.0%}")
    return missed


def main(argv: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--clips", type=int, default=CLIPS, metavar="N", help=f"in all (default {CLIPS})")
    options.add_argument("--scene", nargs="+", choices=SCENES, default=list(SCENES), help="default: all")
    options.add_argument(
        "--first-seed", type=int, default=FIRST_SEED, metavar="N", help=f"other clips (default {FIRST_SEED})"
    )
    args = options.parse_args(argv)
    cases = evaluate(args.clips, args.scene, args.first_seed)
    by_scene = {scene: [case for case in cases if case.scene == scene] for scene in args.scene}
    for scene, found in by_scene.items():
        show(scene, found)
    total, scenes = summary(cases), {scene: summary(found) for scene, found in by_scene.items() if found}
    misread = [case for case in cases if not case.agrees]
    print(f"\n{total['agreed']} of {len(cases)} ({total['agreement']:.2%}); CPU seconds {total['cpu_seconds_a_clip']}")
    for case in misread:
        print(f"  {case.scene} seed {case.seed} {case.height}p: {case.truth} read as {case.read}: {case.reason}")
    missed = [*misses(total, scenes), *(line for scene, found in by_scene.items() for line in unseen(scene, found))]
    for line in missed:
        print(f"missed: {line}")
    if set(args.scene) == set(SCENES) and args.clips >= CLIPS:
        keys = ("clips", "agreed", "agreement", "cpu_seconds_a_clip")
        where = [
            {"scene": c.scene, "seed": c.seed, "height": c.height, "truth": c.truth, "read": c.read} for c in misread
        ]
        settings = {"law": LAW, "artefact_rate": ARTEFACT_RATE, "first_seed": args.first_seed}
        result = settings | {"all": {key: total[key] for key in keys}, "scenes": scenes, "misread": where}
        write_json(RESULT, result)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
