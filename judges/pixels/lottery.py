"""Reads the tube: how many balls are in it, and which of the twenty balls looks like the one that is."""

import functools
from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from constants import LOTTERY_20
from judges.pixels.common import Mask, Part, Reading, SceneReader, box_of, coordinates, darkest, parts, size_of
from simulator import Size
from simulator.drawing import Floats, Point, View
from simulator.lottery_machine import (
    BALL_RADIUS,
    DRUM_CENTRE,
    DRUM_RADIUS,
    TUBE_BALL,
    TUBE_CAP,
    TUBE_FLOOR,
    TUBE_HALF_WIDTH,
    draw_balls,
    machine,
)
from video_io import Frame

# Its ends, scene coordinates.
_TUBE = (DRUM_CENTRE[1] + TUBE_CAP, DRUM_CENTRE[1] + TUBE_FLOOR)
# Darkest of red, green and blue: paper is brighter, glass and its reflections are not.
_PAPER = 145
# A ball's paper and number cover this part of its disc, give or take: the shaded edge is lost.
_WHOLE = (0.75, 1.1)
# The number is compared inside this part of the ball's radius, within the printed ring.
_NUMBER = 0.72
# The tube's reflection moves what is seen of a ball's middle by a pixel or two.
_SEARCH = 2
# Correlation with the ball of the number that it shows: 0.99 at rest. Numbers correlate by up to 0.95 with each other.
_ALIKE = 0.9


def _still(size: Size) -> Mask:
    """All but what is inside the drum and the tube."""
    x, y = coordinates(size)
    outside_drum = np.hypot(x - DRUM_CENTRE[0], y - DRUM_CENTRE[1]) > DRUM_RADIUS + 0.003
    in_tube = (np.abs(x - DRUM_CENTRE[0]) < TUBE_HALF_WIDTH + 0.008) & (y > _TUBE[0]) & (y < _TUBE[1])
    return np.asarray(outside_drum & ~in_tube)


def _read(frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    balls = _balls(frame)
    covered = sum(ball.area for ball in balls) / _disc(frame)
    if not balls:
        return Reading(None, "no ball in the tube")
    if len(balls) != 1 or not _WHOLE[0] < covered < _WHOLE[1]:
        return Reading(None, f"not exactly one ball in the tube: {covered:.2f} balls are visible")
    likeness = _likeness(frame, balls[0].centre)
    best = int(likeness.argmax())
    if likeness[best] < _ALIKE:
        return Reading(None, f"number not legible: correlation {likeness[best]:.2f} with the nearest")
    return Reading(best + 1, f"number {best + 1}, correlation {likeness[best]:.2f}")


def _balls(frame: Frame) -> list[Part]:
    """The balls in the tube; two that touch are one part, twice as large."""
    tube = box_of(size_of(frame), (-TUBE_HALF_WIDTH, _TUBE[0]), (TUBE_HALF_WIDTH, _TUBE[1]))
    return parts(ndimage.binary_fill_holes(darkest(frame[tube]) > _PAPER), 0.1 * _disc(frame), tube)


def _disc(frame: Frame) -> float:
    """The area of a ball in pixels."""
    return float(np.pi * (BALL_RADIUS * frame.shape[0]) ** 2)


def _likeness(frame: Frame, centre: Point) -> Floats:
    """The correlation of a ball with each number where it fits best, shape (20,)."""
    rest = View(size_of(frame)).at(TUBE_BALL)
    x, y = (round(c - r) for c, r in zip(centre, rest, strict=True))
    nearby = range(-_SEARCH, _SEARCH + 1)
    seen = [_number(frame, x + dx, y + dy) for dx in nearby for dy in nearby]
    return np.asarray((_numbers(size_of(frame)) @ np.transpose(seen)).max(axis=1))


def _number(frame: Frame, dx: int, dy: int) -> Floats:
    """Grey levels, less their mean and of length 1, of the middle of a ball that lies so many pixels from its rest.

    The product of two is their correlation.
    """
    x, y = View(size_of(frame)).at(TUBE_BALL)
    reach = _NUMBER * BALL_RADIUS * frame.shape[0]
    left, top, side = round(x - reach) + dx, round(y - reach) + dy, round(2 * reach)
    columns, rows = np.arange(side) + 0.5 - side / 2, np.arange(side)[:, None] + 0.5 - side / 2
    grey = frame[top : top + side, left : left + side].mean(axis=2)[np.hypot(columns, rows) < reach]
    return np.asarray((grey - grey.mean()) / max(float(np.linalg.norm(grey - grey.mean())), 1e-6), np.float32)


@functools.cache
def _numbers(size: Size) -> Floats:
    """What `_number` gives for each number at rest in the tube, shape (20, n)."""
    rest = np.array([(0.0, TUBE_BALL[1] - DRUM_CENTRE[1])])
    vectors = []
    for number in range(1, LOTTERY_20.k + 1):
        frame = machine(size).copy()
        # A ball's number is its index; the others lie in the drum.
        draw_balls(frame, np.concatenate([np.zeros((number - 1, 2)), rest]), np.zeros(number), 0.0, size)
        vectors.append(_number(frame, 0, 0))
    return np.stack(vectors)


READERS = {"lottery": SceneReader(_still, _read)}
