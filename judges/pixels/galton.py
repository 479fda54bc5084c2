"""Reads both Galton boards: how many balls are on the board, and whether the one that is lies on the floor of a bin."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from judges.pixels.common import (
    Mask,
    Part,
    Reading,
    SceneReader,
    Still,
    box_of,
    brightest,
    check_still,
    coordinates,
    darkest,
    parts,
    size_of,
)
from simulator import Size
from simulator.drawing import View
from simulator.galton_drawing import (
    BALL_RADIUS,
    BIN_CENTRES,
    BIN_PITCH,
    BINS,
    DIVIDER_WIDTH,
    FLOOR_Y,
    FUNNEL_BALL_Y,
    draw,
)
from video_io import Frame

_HALF_WIDTH = BINS / 2 * BIN_PITCH
# A ball is at most so far from the middle of its bin: there it touches the divider.
_SLACK = (BIN_PITCH - DIVIDER_WIDTH) / 2 - BALL_RADIUS
# What a centre may be off as it is measured, in frame heights: a seventh of the ball's diameter. A ball that straddles
# two bins, on a divider or in its place, is 0.025 farther from the middle than one that touches the divider.
_OFF = 0.006
# Parts of a disc: more of it than the first is a ball, and a whole one covers as much as the others say.
_BALL = 0.25
_WHOLE = (0.7, 1.3)
# Reach of the ball and its shadow around its centre, and of what the encoder makes of them.
_REACH = 2.5 * BALL_RADIUS


def _green(frame: Frame) -> Mask:
    """Green is well above red and blue, in the ball's shaded edge too; nothing else on the flat board is green."""
    red, green, blue = np.moveaxis(frame, 2, 0)
    return np.asarray(np.subtract(green, np.maximum(red, blue), dtype=np.int16) > 40)


def _metal(frame: Frame) -> Mask:
    """Grey, whether bright or dark: wood and brass have much less blue than red, in the shade too."""
    return np.asarray(darkest(frame) > 0.66 * brightest(frame))


def _still(size: Size) -> Mask:
    """What is outside of funnel, pegs and bins, wherever the ball is. `_read` compares all but the ball."""
    x, y = coordinates(size)
    beside = np.abs(x) > _HALF_WIDTH - BALL_RADIUS + _REACH
    return np.asarray(beside | (y < FUNNEL_BALL_Y - _REACH) | (y > FLOOR_Y - BALL_RADIUS + _REACH))


def _read(scene: str, is_ball: Callable[[Frame], Mask], frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    size, height = size_of(frame), frame.shape[0]
    disc = np.pi * (BALL_RADIUS * height) ** 2
    board = box_of(size, (-_HALF_WIDTH, FUNNEL_BALL_Y - _REACH), (_HALF_WIDTH, FLOOR_Y))
    found = [part.filled() for part in parts(is_ball(frame[board]), _BALL * disc, board)]
    check_still(frame, Still.of(draw(scene, size, [], 1.0), _around(found, size)))
    if len(found) != 1:
        return Reading(None, f"{len(found)} balls on the board")
    balls = found[0].area / disc
    if not _WHOLE[0] < balls < _WHOLE[1]:
        return Reading(None, f"not one whole ball: {balls:.2f} balls are visible")
    x0, y0 = View(size).at((0.0, FLOOR_Y - BALL_RADIUS))
    x, above = (found[0].centre[0] - x0) / height, (y0 - found[0].centre[1]) / height
    if above > _OFF:
        return Reading(None, f"not settled: {above:.3f} above the floor of the bins")
    nearest = int(np.abs(np.subtract(BIN_CENTRES, x)).argmin())
    off = abs(x - BIN_CENTRES[nearest])
    if off > _SLACK + _OFF:
        return Reading(None, f"straddles two bins: {off:.3f} from the middle of bin {nearest + 1}")
    return Reading(nearest + 1, f"on the floor of bin {nearest + 1}, {off:.3f} from its middle")


def _around(balls: Sequence[Part], size: Size) -> Mask:
    """All pixels but those of balls and their shadows."""
    x, y = np.arange(size[0])[None, :] + 0.5, np.arange(size[1])[:, None] + 0.5
    still = np.ones(size[::-1], bool)
    for ball in balls:
        still &= np.hypot(x - ball.centre[0], y - ball.centre[1]) > _REACH * size[1]
    return still


READERS = {
    scene: SceneReader(_still, partial(_read, scene, is_ball))
    for scene, is_ball in (("galton_board", _green), ("galton_board_real", _metal))
}
