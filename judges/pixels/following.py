"""Follows the one thing of its colour through the frames of a video."""

from collections.abc import Iterable, Iterator

import numpy as np

from judges.pixels.common import box_of, size_of
from simulator.drawing import Point
from video_io import Frame

RED, GREEN, BLUE = range(3)

# It is looked for on every other row and column, which gives its middle to about a pixel.
_STRIDE = 2


def places(
    frames: Iterable[Frame], within: tuple[Point, Point], channels: tuple[int, int], level: int, least_area: float
) -> Iterator[Point | None]:
    """For each frame the middle of the pixels whose first channel is more than `level` above their second one.

    within: corners of where to look, top left and bottom right, and what is given: scene coordinates, as in
    `simulator.drawing`. None when these pixels cover less than `least_area`, in squares of the frame's height.
    """
    for frame in frames:
        (width, height), (rows, columns) = size_of(frame), box_of(size_of(frame), *within)
        part = frame[rows.start : rows.stop : _STRIDE, columns.start : columns.stop : _STRIDE]
        seen = np.subtract(part[..., channels[0]], part[..., channels[1]], dtype=np.int16) > level
        by_row, by_column = seen.sum(axis=1), seen.sum(axis=0)
        count = int(by_row.sum())
        if count < max(least_area * (height / _STRIDE) ** 2, 1):
            yield None
            continue
        row, column = (float(n @ np.arange(len(n))) / count for n in (by_row, by_column))
        yield (columns.start + _STRIDE * column + 0.5 - width / 2) / height, (rows.start + _STRIDE * row + 0.5) / height
