"""Simulated clips for the tests of the pixels judge: what a take's final frame looks like once it was encoded."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from judges.pixels import Reading, read
from scenes import SCENES
from simulator import SIMULATORS, Size, Take
from simulator.base import generator
from video_io import Frame, last_frame, write_video

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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_video(path, [frame] * 3, 24)
        return last_frame(path).frame


def seen(scene: str, shown: str, size: Size = SMALL, seed: int = 0) -> Reading:
    """What the judge reads in the final frame of such a rollout."""
    return read(scene, [final_frame(scene, shown, size, seed)])


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
