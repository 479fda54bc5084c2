"""Small video files for the services to deliver."""

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from video_io import Frame, write_video


@cache
def moving_clip(width: int = 64, height: int = 48, frames: int = 8) -> bytes:
    """A valid clip in which a bright square moves."""
    return _encoded(_square(width, height, x) for x in np.linspace(0, width // 2, frames).astype(int))


@cache
def blank_clip() -> bytes:
    """What a safety checker returns: black from start to end."""
    return _encoded(np.zeros((48, 64, 3), np.uint8) for _ in range(8))


def unique_clip(clip: bytes, mark: str) -> bytes:
    """The same video as another file: a `free` box (ISO/IEC 14496-12, 8.1.2), which players skip, holds the mark."""
    payload = mark.encode()
    return clip + (8 + len(payload)).to_bytes(4) + b"free" + payload


def _square(width: int, height: int, x: int) -> Frame:
    frame = np.full((height, width, 3), 40, np.uint8)
    frame[height // 4 : height // 2, x : x + width // 4] = 220
    return frame


def _encoded(frames: Iterable[Frame]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.mp4"
        write_video(path, frames, 24)
        return path.read_bytes()
