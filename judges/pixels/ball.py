"""Reads the fork: follows the ball through all frames, and sees below which channel it is in the end."""

import math
from collections.abc import Iterator

import numpy as np

from judges.pixels.common import Mask, Reading, SceneReader, coordinates
from judges.pixels.following import BLUE, RED, places
from simulator import Size
from simulator.ball import START_Y
from simulator.ball_drawing import BALL_RADIUS, ELBOW, EXIT_Y, FORK, GROUND_Y
from video_io import Frame

# How far the ball rolls on the ground, and the reach of ball and shadow around its centre, in frame heights.
_ROLL = 0.06
_REACH = 2.2 * BALL_RADIUS
# Red less blue: nearly all of the ball's disc is above it, and nothing else.
_ORANGE = 60
# A ball is seen when half of its disc is.
_SEEN = 0.5 * math.pi * BALL_RADIUS**2
_AROUND = ELBOW[0] + _ROLL + BALL_RADIUS
_WITHIN = (-_AROUND, START_Y - BALL_RADIUS), (_AROUND, GROUND_Y + BALL_RADIUS)


def _still(size: Size) -> Mask:
    """What is farther from the ball's way than the ball and its shadow reach."""
    x, y = coordinates(size)
    # The way widens with the arms from the fork to the elbows, and goes straight down from there.
    way = np.clip((y + _REACH - FORK[1]) / (ELBOW[1] - FORK[1]), 0, 1) * (ELBOW[0] + _ROLL)
    return np.asarray((np.abs(x) > way + _REACH) | (y < START_Y - _REACH))


def _read(frames: Iterator[Frame]) -> Reading:
    last = None
    for place in places(frames, _WITHIN, (RED, BLUE), _ORANGE, _SEEN):
        last = place or last
    if last is None:
        return Reading(None, "no ball is seen")
    x, y = last
    where = f"the ball was last seen at x {x:+.3f}, y {y:.3f}"
    if y < EXIT_Y + BALL_RADIUS:
        return Reading(None, f"never exits: {where}, and the channels end at {EXIT_Y:.3f}")
    if abs(x) < ELBOW[0] / 2:
        return Reading(None, f"below neither channel: {where}")
    return Reading(1 if x < 0 else 2, where)


READERS = {"ball": SceneReader(_still, _read)}
