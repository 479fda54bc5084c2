"""Simulated clips for the tests of the pixels judge: what a take's frames look like once they were encoded."""

import itertools
import tempfile
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from judges.pixels import Reading, read
from scenes import SCENES
from simulator import SIMULATORS, Size, Take, first_frame
from simulator.base import generator
from video_io import Frame, decode, write_video

SMALL = (432, 240)


def take(scene: str, shown: str, seed: int = 0) -> Take:
    """A rollout that shows an outcome, by its label, or a kind of artefact."""
    outcomes = SCENES[scene].outcomes
    rng = generator("test", "pixels", scene, shown, seed)
    return Take(outcomes.index(shown) + 1, None, rng) if shown in outcomes else Take(None, shown, rng)


@cache
def final_frame(scene: str, shown: str, size: Size = SMALL, seed: int = 0) -> Frame:
    """The last frame of such a rollout, through the encoder."""
    *_, last = SIMULATORS[scene].frames(take(scene, shown, seed), size)
    return encoded(last)


def encoded(frame: Frame) -> Frame:
    """A frame as it comes out of a clip in which it stands still for a moment, as final frames do."""
    return encoded_video([frame] * 3)[-1]


def encoded_video(frames: Iterable[Frame]) -> list[Frame]:
    """Frames as they come out of a clip."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_video(path, frames, 24)
        return list(decode(path))


@lru_cache(maxsize=8)
def video(scene: str, shown: str, size: Size = SMALL, seed: int = 0) -> list[Frame]:
    """Every fourth frame of such a rollout and its last one, through the encoder: readers do not count frames."""
    frames = itertools.chain([first_frame(scene, size)], SIMULATORS[scene].frames(take(scene, shown, seed), size))
    *before, last = frames
    return encoded_video([*before[::4], last])


def seen(scene: str, shown: str, size: Size = SMALL, seed: int = 0) -> Reading:
    """What the judge reads in the evidence of such a rollout."""
    of_final_frame = SCENES[scene].evidence == "final_frame"
    return read(scene, [final_frame(scene, shown, size, seed)] if of_final_frame else video(scene, shown, size, seed))


def label(scene: str, reading: Reading) -> str:
    """The answer that a reading stands for."""
    return "null" if reading.outcome is None else SCENES[scene].outcomes[reading.outcome - 1]


def covered(frame: Frame, top: float, bottom: float, left: float, right: float) -> Frame:
    """A copy with a grey rectangle over it, sides in frame heights from the top and from the middle to the right."""
    height, width = frame.shape[:2]
    copy = np.array(frame)
    rows = slice(round(top * height), round(bottom * height))
    copy[rows, round(width / 2 + left * height) : round(width / 2 + right * height)] = 90
    return copy
