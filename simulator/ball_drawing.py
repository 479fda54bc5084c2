"""Pictures of the ball fork: a board that leans back, seen from the front, with a ramp and two channels on it.

Scene coordinates (see `drawing`). The ramp narrows and its planks get closer towards its far, upper end.
"""

import functools
import itertools
import math

import numpy as np

from simulator.base import Array, Size
from simulator.drawing import WHITE, Colour, Floats, Painter, Point, Sprite, View, blend, soft_disc, vertical_gradient
from video_io import Frame

BALL_RADIUS = 0.036
BALL_COLOUR: Colour = (240, 104, 32)
STRIPE_COLOUR: Colour = (255, 226, 128)
CHANNEL_HALF_WIDTH = 0.05
FORK: Point = (0.0, 0.40)
ELBOW: Point = (0.40, 0.66)
EXIT_Y = 0.80
GROUND_Y = 0.925

_RAMP_TOP: Point = (0.0, 0.06)
_TOP_SHARE = 0.84  # width of the ramp at its top, of that at the fork
_WALL = 0.014
_STRIPE = 0.17  # half its width, in radii of the ball
_WALL_COLOUR: Colour = (58, 84, 124)
_WALL_LIGHT: Colour = (98, 130, 178)
_FLOOR, _FLOOR_FAR, _SEAM = (246, 249, 253), (206, 218, 234), (200, 212, 228)


@functools.cache
def background(size: Size) -> Frame:
    """All but the ball."""
    painter = Painter(size, vertical_gradient(size, [(0, (188, 199, 214)), (GROUND_Y, (222, 229, 238)), (1, WHITE)]))
    painter.rectangle((-1.0, GROUND_Y), (1.0, 1.0), (176, 188, 205))
    painter.soft(lambda mask: mask.polygon(_board(0.0), WHITE), 0.02, (40, 60, 96), 0.5)
    painter.polygon(_board(0.0), (150, 166, 190))
    board = vertical_gradient(size, [(0, (214, 224, 237)), (GROUND_Y, (245, 248, 252)), (1, (245, 248, 252))])
    painter.textured(_board(0.006), board)
    # The ledge at its foot, on which the ball ends.
    painter.rectangle((-0.74, GROUND_Y), (0.74, GROUND_Y + 0.036), (112, 132, 164), radius=0.006)
    painter.rectangle((-0.735, GROUND_Y), (0.735, GROUND_Y + 0.007), (160, 177, 202))
    outer = CHANNEL_HALF_WIDTH + _WALL
    painter.soft(lambda mask: _lay(mask, outer, WHITE), 0.018, (40, 60, 96), 0.35)
    _lay(painter, outer, _WALL_COLOUR)
    _lay(painter, outer - 0.004, _WALL_LIGHT)
    _lay(painter, CHANNEL_HALF_WIDTH, _FLOOR)
    _planks(painter)
    # The bar at the top, against which the ball leaned before it was let go.
    x, y = _TOP_SHARE * outer, _RAMP_TOP[1]
    painter.rectangle((-x - 0.008, y - 0.022), (x + 0.008, y), _WALL_COLOUR, radius=0.006)
    painter.rectangle((-x - 0.004, y - 0.018), (x + 0.004, y - 0.011), _WALL_LIGHT, radius=0.003)
    painter.mirror()
    return painter.frame()


def _board(inset: float) -> list[Point]:
    """The board leans back: it is narrower at the top."""
    top, bottom = 0.60 - inset, 0.70 - inset
    return [(-top, 0.012 + inset), (top, 0.012 + inset), (bottom, GROUND_Y), (-bottom, GROUND_Y)]


def _lay(painter: Painter, half_width: float, colour: Colour) -> None:
    """The ramp and both channels, so wide at the fork."""
    painter.polygon(_ramp_part(_RAMP_TOP[1], FORK[1], half_width), colour)
    for side in (-1, 1):
        arm = [FORK, (side * ELBOW[0], ELBOW[1]), (side * ELBOW[0], EXIT_Y)]
        painter.line(arm, 2 * half_width, colour, caps=False)
    painter.disc(FORK, half_width, colour)


def _ramp_part(top: float, bottom: float, half_width: float) -> list[Point]:
    """The piece of the ramp between two heights."""
    wide = [half_width * (1 - (1 - _TOP_SHARE) * (FORK[1] - y) / (FORK[1] - _RAMP_TOP[1])) for y in (top, bottom)]
    return [(-wide[0], top), (wide[0], top), (wide[1], bottom), (-wide[1], bottom)]


def _planks(painter: Painter) -> None:
    """The floor is darker in the distance, and has seams across."""
    steps = 40
    rows = np.linspace(_RAMP_TOP[1], FORK[1] + 0.004, steps + 1)
    for k, (top, bottom) in enumerate(itertools.pairwise(rows)):
        far, near = np.array(_FLOOR_FAR), np.array(_FLOOR)
        red, green, blue = (far + (near - far) * k / steps).astype(int)
        painter.polygon(_ramp_part(top, bottom, CHANNEL_HALF_WIDTH), (int(red), int(green), int(blue)))
    for k in range(1, 9):
        y = _RAMP_TOP[1] + (FORK[1] - _RAMP_TOP[1]) * (k / 9) ** 1.35
        painter.polygon(_ramp_part(y, y + 0.0018 + 0.0002 * k, CHANNEL_HALF_WIDTH), _SEAM)
    # Of the channels the left one, which `Painter.mirror` copies.
    along = np.subtract((-ELBOW[0], ELBOW[1]), FORK)
    along /= np.hypot(*along)
    across = CHANNEL_HALF_WIDTH * np.array([along[1], -along[0]])
    for distance in np.arange(0.13, math.dist(FORK, ELBOW) - 0.03, 0.06):
        middle = FORK + distance * along
        painter.line([tuple(middle - across), tuple(middle + across)], 0.003, _SEAM, caps=False)
    for y in np.arange(ELBOW[1] + 0.045, EXIT_Y - 0.02, 0.06):
        ends = [(-ELBOW[0] + side * CHANNEL_HALF_WIDTH, float(y)) for side in (-1, 1)]
        painter.line(ends, 0.003, _SEAM, caps=False)


@functools.cache
def _shadows(size: Size) -> tuple[Sprite, Sprite]:
    """On the board, and on the ground."""
    radius = View(size).length(BALL_RADIUS)
    ground = soft_disc(0.9 * radius, 0.3 * radius, (30, 44, 70), 0.5, squash=0.25)
    return soft_disc(radius, 0.35 * radius, (30, 44, 70), 0.35), ground


def draw(size: Size, position: Point, axes: Array) -> Frame:
    """A frame. axes: of the ball, around each of which a stripe runs, as rows: right, down, towards the viewer."""
    frame, view = background(size).copy(), View(size)
    shadow, ground = _shadows(size)
    x, y = position
    above_ground = (GROUND_Y - BALL_RADIUS - y) / (GROUND_Y - EXIT_Y)
    if above_ground < 1:
        ground.paste(frame, view.at((x, GROUND_Y + 0.004)), 1 - above_ground)
    else:
        shadow.paste(frame, view.at((x, y + 0.2 * BALL_RADIUS)))
    rgba, left, top = _ball(view.at(position), view.length(BALL_RADIUS), axes)
    blend(frame, rgba, left, top)
    return frame


def _ball(centre: Point, radius: float, axes: Array) -> tuple[Floats, int, int]:
    """The premultiplied picture of a ball in pixels, and the pixel where its corner lies."""
    reach = math.ceil(radius) + 1
    left, top = math.floor(centre[0]) - reach, math.floor(centre[1]) - reach
    grid = np.arange(2 * reach + 1) + 0.5
    x, y = (grid + (left - centre[0])) / radius, ((grid + (top - centre[1])) / radius)[:, None]
    distance = np.sqrt(x * x + y * y)
    z = np.sqrt(np.clip(1 - distance * distance, 0, 1))
    # How much of a pixel is stripe: a pixel is as wide as 1 / radius in the middle of the ball.
    off = np.minimum.reduce([np.abs(x * right + y * down + z * near) for right, down, near in axes])
    stripe = np.clip((_STRIPE - off) * radius + 0.5, 0, 1)[..., None]
    paint = (1 - stripe) * np.array(BALL_COLOUR) + stripe * np.array(STRIPE_COLOUR)
    # As `drawing.sphere`: Lambert with the light at (0, -0.55, 0.83), and a Blinn highlight.
    rgb = paint * (0.55 + 0.45 * np.clip(-0.55 * y + 0.83 * z, 0, 1))[..., None]
    rgb += (255 - rgb) * (0.6 * np.clip(-0.29 * y + 0.957 * z, 0, 1) ** 40)[..., None]
    alpha = np.clip((1 - distance) * radius + 0.5, 0, 1)[..., None]
    return np.concatenate([rgb * alpha, alpha], axis=-1).astype(np.float32), left, top
