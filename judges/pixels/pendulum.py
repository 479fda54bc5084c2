"""Reads the pendulum: fits a rigid one to every frame, and sees on which side its lowest weight is in the last one.

A frame shows no rigid pendulum when a rod or a weight of the best fit is not all there, or when there is brass outside
of it. The first such frame decides; the frames after it are compared with what stands still, like all others.
"""

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judges.pixels.common import Mask, Reading, SceneReader, Still, box_of, check_still, coordinates, size_of
from simulator import Size, first_frame
from simulator.base import Array
from simulator.drawing import Point
from simulator.pendulum import DISK_RADIUS, PIVOT, PIVOT_RADIUS, ROD_LENGTHS, ROD_RADIUS, weights
from video_io import Frame

Indices = NDArray[np.intp]

# How far a whole pendulum reaches from its pivot, in frame heights.
_REACH = sum(ROD_LENGTHS) + DISK_RADIUS
# No whole pendulum, and no end that broke off before the break is seen, is so far from the pivot.
_BEYOND = 0.7
# Red less blue: 148 in a rod and 89 or more in a disk; at most 58 in the post, and more in the table below this height.
_BRASS = 75
_TABLE_Y = 0.94
# The fit looks at about so many rows of a frame, in which a rod is three wide, and tries so many directions.
_ROWS = 240
_DIRECTIONS = 360
# Rows and columns without brass around them, so that no place is outside: those of a weight just reach the table.
_PAD = 3
# Where brass is looked for in a weight, in its radii from the middle and degrees from the rod, which is not there.
_RING, _RING_DEG = 0.65, (45, 75, 105, 135, -45, -75, -105, -135)
# Brass farther than this from the fit is extra; the fit is off by less.
_NEAR = 0.012
# Of a rod or a weight missing, and in areas of a weight outside; whole pendulums stay below half of either.
_MISSING = 0.3
_EXTRA = 0.12
# How the edge of brass looks in a clip: from none to all of it over these levels of red less blue, and so many pixels.
_EDGE_LEVELS = (_BRASS - 20, _BRASS + 20)
_EDGE_PX = 2.5


@dataclass(frozen=True)
class _Fit:
    """The rigid pendulum that comes nearest to a frame.

    angles: of both rods, radians from straight down to the right. missing: the share of a rod or a weight that is not
    there, of that which lacks most. extra: the brass outside, in areas of a weight.
    """

    angles: Array
    missing: float
    extra: float

    @property
    def fault(self) -> str:
        """Why this is no rigid pendulum; empty when it is one."""
        if self.missing > _MISSING:
            return f"{self.missing:.2f} of a rod or a weight is not where it belongs"
        if self.extra > _EXTRA:
            return f"brass beside rods and weights, {self.extra:.2f} times the area of a weight"
        return ""


class _Grid:
    """The pixels of a frame of a size at which the fit looks: some rows and columns around the pivot."""

    def __init__(self, size: Size) -> None:
        stride = max(size[1] // _ROWS, 1)
        self._unit = stride / size[1]
        box = box_of(size, (PIVOT[0] - _REACH, PIVOT[1] - _REACH), (PIVOT[0] + _REACH, _TABLE_Y))
        self._rows, self._columns = (slice(side.start, side.stop, stride) for side in box)
        x, y = coordinates(size)
        self._x, self._y = x[0, self._columns].astype(np.float64), y[self._rows, 0].astype(np.float64)
        self._shape = len(self._y) + 2 * _PAD, len(self._x) + 2 * _PAD
        self._directions = np.arange(_DIRECTIONS) * (2 * math.pi / _DIRECTIONS)
        ring = np.radians(_RING_DEG)
        across, along = _RING * DISK_RADIUS * np.sin(ring), _RING * DISK_RADIUS * np.cos(ring)
        # For each rod where to look for the rod, and where for the weight at its end.
        self._places = []
        for length in ROD_LENGTHS:
            rod = np.arange(DISK_RADIUS, length - DISK_RADIUS, self._unit)
            self._places.append((self._turned(rod, np.zeros_like(rod)), self._turned(length + along, across)))

    def _turned(self, along: Array, across: Array) -> Indices:
        """Places along and beside a rod in all directions: flat indices less that of its start, (_DIRECTIONS, n)."""
        sine, cosine = np.sin(self._directions)[:, None], np.cos(self._directions)[:, None]
        x, y = along * sine + across * cosine, along * cosine - across * sine
        return np.asarray(np.rint(y / self._unit) * self._shape[1] + np.rint(x / self._unit), np.intp)

    def fit(self, frame: Frame) -> _Fit:
        part, brass = frame[self._rows, self._columns], np.zeros(self._shape, np.bool_)
        inner = brass[_PAD:-_PAD, _PAD:-_PAD]
        inner[...] = _is_brass(part)
        masks = _thickened(brass), brass
        first, missing = self._direction(masks, PIVOT, 0)
        joint, _ = weights(np.array((first, 0.0)))
        second, also_missing = self._direction(masks, joint, 1)
        angles = np.array((first, second))
        rows, columns = np.nonzero(inner)
        outside = np.count_nonzero(_distance(self._x[columns], self._y[rows], angles) > _NEAR)
        return _Fit(angles, max(missing, also_missing), outside * self._unit**2 / (math.pi * DISK_RADIUS**2))

    def _direction(self, masks: tuple[Mask, Mask], start: Point, rod: int) -> tuple[float, float]:
        """The angle at which most is seen of a rod from a point and of its weight, and the share that is missing."""
        column, row = ((at - edge) / self._unit for at, edge in zip(start, (self._x[0], self._y[0]), strict=True))
        there = (round(row) + _PAD) * self._shape[1] + round(column) + _PAD
        of_rod, of_weight = (
            mask.take(there + places).mean(axis=1) for mask, places in zip(masks, self._places[rod], strict=True)
        )
        best = of_rod + of_weight > (of_rod + of_weight).max() - 1e-9
        missing = 1 - np.minimum(of_rod, of_weight)[best].max()
        # In the middle of all directions that are as good.
        x, y = np.sin(self._directions[best]).sum(), np.cos(self._directions[best]).sum()
        return math.atan2(x, y), float(missing)


_grid = functools.cache(_Grid)


def _thickened(brass: Mask) -> Mask:
    """With the pixels beside it, in which the gaps close that a coarse picture has in a rod."""
    thick = brass.copy()
    thick[1:] |= brass[:-1]
    thick[:-1] |= brass[1:]
    thick[:, 1:] |= brass[:, :-1]
    thick[:, :-1] |= brass[:, 1:]
    return thick


def _distance(x: Array, y: Array, angles: Array) -> Array:
    """How far points are from the edge of the pendulum at two angles; negative inside. All in scene coordinates."""
    joint, tip = weights(angles)
    nearest = np.hypot(x - PIVOT[0], y - PIVOT[1]) - PIVOT_RADIUS
    for (x0, y0), (x1, y1), length in ((PIVOT, joint, ROD_LENGTHS[0]), (joint, tip, ROD_LENGTHS[1])):
        along = (((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length**2).clip(0, 1)
        rod = np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0)) - ROD_RADIUS
        disk = np.hypot(x - x1, y - y1) - DISK_RADIUS
        nearest = np.minimum(nearest, np.minimum(rod, disk))
    return np.asarray(nearest)


def _refined(frame: Frame, angles: Array) -> Array:
    """The angles to a fraction of a pixel: least squares, by Gauss and Newton, around both weights."""
    size = size_of(frame)
    all_x, all_y = coordinates(size)
    reach, low, high = DISK_RADIUS + 0.02, *_EDGE_LEVELS
    pixels = []
    for middle in weights(angles):
        corner, opposite = (middle[0] - reach, middle[1] - reach), (middle[0] + reach, min(middle[1] + reach, _TABLE_Y))
        box = box_of(size, corner, opposite)
        levels = np.subtract(frame[box][..., 0], frame[box][..., 2], dtype=np.int16)
        seen_here = ((levels - low) / (high - low)).clip(0, 1)
        pixels.append(np.stack(np.broadcast_arrays(all_x[:, box[1]], all_y[box[0]], seen_here)).reshape(3, -1))
    x, y, seen = np.concatenate(pixels, axis=1)

    def drawn(angles: Array) -> Array:
        return np.asarray((0.5 - _distance(x, y, angles) * size[1] / _EDGE_PX).clip(0, 1))

    step = 1e-3 * np.eye(2)
    for _ in range(4):
        slopes = np.stack([(drawn(angles + d) - drawn(angles - d)) / 2e-3 for d in step], axis=1)
        angles = angles + np.linalg.lstsq(slopes, seen - drawn(angles))[0]
    return angles


def _still(size: Size) -> Mask:
    """Nothing: an end that breaks off flies anywhere. `_read` compares each frame."""
    return np.zeros(size[::-1], np.bool_)


@functools.cache
def _far(size: Size, floor: float) -> Still:
    """What is far from the pivot, and above a floor."""
    x, y = coordinates(size)
    return Still.of(first_frame("pendulum", size), (np.hypot(x - PIVOT[0], y - PIVOT[1]) > _BEYOND) & (y < floor))


def _is_brass(pixels: Frame) -> Mask:
    return np.asarray(np.subtract(pixels[..., 0], pixels[..., 2], dtype=np.int16) > _BRASS)


def _read(frames: Iterator[Frame]) -> Reading:
    fault = ""
    for index, frame in enumerate(frames):
        if fault:
            # An end may have broken off: all but brass is compared, above the table, which looks like it.
            check_still(frame, _far(size_of(frame), _TABLE_Y).apart_from(frame, _is_brass))
            continue
        check_still(frame, _far(size_of(frame), 1.0))
        fit = _grid(size_of(frame)).fit(frame)
        if fit.fault:
            fault = f"frame {index}: {fit.fault}"
    if fault:
        return Reading(None, fault)
    x, y = max(weights(_refined(frame, fit.angles)), key=lambda point: point[1])
    return Reading(1 if x < PIVOT[0] else 2, f"the lowest weight ends at x {x:+.4f}, y {y:.4f}")


READERS = {"pendulum": SceneReader(_still, _read)}
