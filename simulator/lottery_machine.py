"""The lottery machine and its balls: geometry and looks.

Lengths are in frame heights. The machine stands still but for the ribs of its drum; the balls are shaded discs on which
a number, turned to any angle, is looked up pixel by pixel.
"""

import functools
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from constants import LOTTERY_20
from simulator.base import Array, Size
from simulator.drawing import (
    WHITE,
    Colour,
    Floats,
    Painter,
    Point,
    Sprite,
    View,
    load_font,
    soft_disc,
    sphere,
    vertical_gradient,
)
from video_io import Frame

DRUM_CENTRE = (0.0, 0.578)
DRUM_RADIUS = 0.345
BALL_RADIUS = 0.044
# Rods along the drum that carry the balls up: angles clockwise from the top, and how far out they are.
RIB_ANGLES = (np.arange(8) + 0.5) * np.pi / 4
RIB_TRACK, RIB_RADIUS = DRUM_RADIUS - 0.028, 0.011
# Relative to the drum's centre, y down: where a ball leaves the drum, and the ends of the tube above.
MOUTH_Y = -(DRUM_RADIUS - BALL_RADIUS)
TUBE_FLOOR, TUBE_CAP = -0.362, -0.550
TUBE_HALF_WIDTH = 0.051
# Middle of a ball that lies in the tube, in scene coordinates.
TUBE_BALL = (DRUM_CENTRE[0], DRUM_CENTRE[1] + TUBE_FLOOR - BALL_RADIUS)
# The collar between drum and tube.
_COLLAR_HALF_WIDTH = 0.085
_COLLAR_TOP, _COLLAR_BOTTOM = DRUM_CENTRE[1] + TUBE_FLOOR, DRUM_CENTRE[1] - DRUM_RADIUS + 0.012

_STEEL: Colour = (150, 160, 178)
_LIGHT_STEEL: Colour = (226, 232, 242)
_DARK_STEEL: Colour = (70, 78, 96)
_GLASS: Colour = (196, 220, 244)
_PAPER, _INK = 253, 18  # grey levels of a ball and its number
_STRIPS = 64  # of a metal block's shading
_TEXELS = 192  # across a ball, of its number
_UNDERLINED = (6, 9)  # each looks like the other one when it stands on its head


# ---- still ------------------------------------------------------------------------------------------------------


@functools.cache
def machine(size: Size) -> Frame:
    """The machine without balls or ribs."""
    painter = Painter(
        size,
        vertical_gradient(size, [(0, (20, 26, 52)), (0.62, (52, 70, 122)), (0.80, (70, 90, 146)), (1, (30, 38, 72))]),
    )
    x, y = DRUM_CENTRE
    painter.soft(lambda mask: mask.disc((x, y - 0.06), 0.50, WHITE), 0.12, (120, 150, 220), 0.45)
    painter.soft(lambda mask: mask.rectangle((-0.34, 0.965), (0.34, 0.99), WHITE, 0.012), 0.018, (0, 0, 0), 0.7)
    _base(painter)
    _glass_drum(painter)
    _tube(painter)
    return painter.frame()


def _base(painter: Painter) -> None:
    for side in (-1, 1):
        leg = [(side * 0.15, 0.80), (side * 0.235, 0.80), (side * 0.29, 0.955), (side * 0.17, 0.955)]
        painter.polygon(leg, _DARK_STEEL)
        painter.polygon([leg[0], (side * 0.175, 0.80), (side * 0.21, 0.955), leg[3]], _STEEL)
    _metal(painter, (-0.33, 0.935), (0.33, 0.978))
    painter.rectangle((-0.327, 0.938), (0.327, 0.941), _LIGHT_STEEL)


def _glass_drum(painter: Painter) -> None:
    (x, y), r = DRUM_CENTRE, DRUM_RADIUS
    for grow, fill in (
        (0.019, _DARK_STEEL),
        (0.017, _STEEL),
        (0.012, _LIGHT_STEEL),
        (0.007, _STEEL),
        (0.003, _DARK_STEEL),
    ):
        painter.disc((x, y), r + grow, fill)
    painter.disc((x, y), r, (48, 62, 104))
    painter.soft(lambda mask: mask.disc((x, y + 0.10), 0.22, WHITE), 0.09, (104, 132, 196), 0.55)
    painter.soft(lambda mask: _arc(mask, r - 0.004, 0.014, 0, 360, WHITE), 0.008, (170, 200, 240), 0.45)


def _tube(painter: Painter) -> None:
    x, y = DRUM_CENTRE
    top, floor, w = y + TUBE_CAP, y + TUBE_FLOOR, TUBE_HALF_WIDTH
    painter.rectangle((x - w - 0.006, top), (x + w + 0.006, floor), (150, 176, 214))
    painter.rectangle((x - w, top), (x + w, floor), (50, 66, 112))
    painter.soft(lambda mask: mask.rectangle((x - w, top), (x - w + 0.008, floor), WHITE), 0.004, _GLASS, 0.5)
    painter.soft(lambda mask: mask.rectangle((x + w - 0.006, top), (x + w, floor), WHITE), 0.004, _GLASS, 0.35)
    # The collar between drum and tube, and the cap.
    _metal(painter, (x - _COLLAR_HALF_WIDTH, _COLLAR_TOP), (x + _COLLAR_HALF_WIDTH, _COLLAR_BOTTOM))
    _metal(painter, (x - 0.066, top - 0.016), (x + 0.066, top))


def _metal(painter: Painter, corner: Point, opposite: Point) -> None:
    """A polished steel block, lit along its middle."""
    (x0, y0), (x1, y1) = corner, opposite
    painter.rectangle(corner, opposite, _DARK_STEEL, radius=0.005)
    for k in range(_STRIPS):
        a, b = x0 + 0.003 + (x1 - x0 - 0.006) * k / _STRIPS, x0 + 0.003 + (x1 - x0 - 0.006) * (k + 1) / _STRIPS
        glow = np.exp(-(((k / _STRIPS - 0.29) / 0.21) ** 2)) + 0.4 * np.exp(-(((k / _STRIPS - 0.79) / 0.10) ** 2))
        low, high = np.array((96, 105, 124)), np.array(_LIGHT_STEEL)
        red, green, blue = (low + (high - low) * min(glow, 1)).astype(int)
        painter.rectangle((a, y0 + 0.002), (b, y1 - 0.002), (int(red), int(green), int(blue)))


def _arc(painter: Painter, radius: float, width: float, start_deg: float, end_deg: float, fill: Colour) -> None:
    """Part of a circle around the drum's centre, angles clockwise from the top."""
    turn = np.radians(np.linspace(start_deg, end_deg, 90))
    points = [(DRUM_CENTRE[0] + radius * float(np.sin(a)), DRUM_CENTRE[1] - radius * float(np.cos(a))) for a in turn]
    painter.line(points, width, fill)


# ---- moving -----------------------------------------------------------------------------------------------------


def draw_balls(frame: Frame, position: Array, angle: Array, drum: float, size: Size) -> None:
    """Ribs, balls and the glass in front of them, in place. position, angle: as in `lottery.State`."""
    view = View(size)
    rod, shadow = _rod(size)
    for turn in RIB_ANGLES + drum:
        x, y = DRUM_CENTRE[0] + RIB_TRACK * float(np.sin(turn)), DRUM_CENTRE[1] - RIB_TRACK * float(np.cos(turn))
        shadow.paste(frame, view.at((x, y + 0.004)))
        rod.paste(frame, view.at((x, y)))
    centre = np.array(view.at(DRUM_CENTRE)) + position * size[1]
    _paste_balls(frame, centre, angle, view.length(BALL_RADIUS))
    _restore_collar(frame, size)
    for reflection, middle in _reflections(size):
        reflection.paste(frame, view.at(middle))


def _restore_collar(frame: Frame, size: Size) -> None:
    """A ball passes behind the collar."""
    left, top = View(size).at((DRUM_CENTRE[0] - _COLLAR_HALF_WIDTH, _COLLAR_TOP))
    right, bottom = View(size).at((DRUM_CENTRE[0] + _COLLAR_HALF_WIDTH, _COLLAR_BOTTOM))
    part = np.s_[round(top) : round(bottom), round(left) : round(right)]
    frame[part] = machine(size)[part]


def _paste_balls(frame: Frame, centre: Array, angle: Array, radius: float) -> None:
    """All balls at once: shading and number of every pixel, then one small blend for each ball."""
    light, gloss, coverage = _shading(radius)
    side = light.shape[-1]
    quarter = np.round(4 * (centre - side / 2)).astype(int)
    corner, phase = quarter // 4, quarter % 4
    grid = np.arange(side) + 0.5
    x, y = (
        (corner[:, k, None] + grid - centre[:, k, None]).astype(np.float32) * np.float32(_TEXELS / 2 / radius)
        for k in (0, 1)
    )
    x, y = x[:, None, :], y[:, :, None]
    cos, sin = (f(angle).astype(np.float32)[:, None, None] for f in (np.cos, np.sin))
    middle, last = np.float32(_TEXELS / 2), np.float32(_TEXELS - 1)
    column = np.clip((x * cos + middle) + y * sin, 0, last).astype(np.int32)
    row = np.clip((y * cos + middle) - x * sin, 0, last).astype(np.int32)
    face = (np.arange(len(centre), dtype=np.int32) * _TEXELS)[:, None, None]
    paper = np.take(_numbers(), (face + row) * _TEXELS + column)
    which = phase[:, 1], phase[:, 0]
    grey, alpha = paper * light[which] + gloss[which], coverage[which]
    for k, (left, top) in enumerate(corner):
        under = frame[top : top + side, left : left + side]
        under[:] = (under + (grey[k, ..., None] - under) * alpha[k, ..., None] + np.float32(0.5)).astype(np.uint8)


@functools.cache
def _shading(radius: float) -> tuple[Floats, Floats, Floats]:
    """Of a ball that is placed to a quarter of a pixel: light, highlight and coverage, shapes (4, 4, side, side).

    The first two indices are the quarters down and across.
    """
    side = 2 * int(np.ceil(radius)) + 2
    grid = np.arange(side) + 0.5 - side / 2
    offset = (grid - np.arange(4)[:, None] / 4) / radius
    x, y = offset[None, :, None, :], offset[:, None, :, None]
    square = x * x + y * y
    z = np.sqrt(np.maximum(1 - square, 0))
    # Lambert and a Blinn highlight; the light comes from above and a little from the left.
    light = np.minimum(0.60 + 0.42 * np.clip(-0.30 * x - 0.52 * y + 0.80 * z, 0, 1), 1)
    gloss = 60 * np.clip(-0.16 * x - 0.27 * y + 0.95 * z, 0, 1) ** 60
    gloss = np.minimum(gloss, 255 - _PAPER * light)
    coverage = np.clip((1 - np.sqrt(square)) * radius + 0.5, 0, 1)
    return light.astype(np.float32), gloss.astype(np.float32), coverage.astype(np.float32)


@functools.cache
def _numbers() -> Floats:
    """How bright each ball is, 0..255, shape (n * texels * texels,): its number within a thin ring."""
    faces = []
    for number in range(1, LOTTERY_20.k + 1):
        large = Image.new("L", (2 * _TEXELS,) * 2, 0)
        drawing, middle = ImageDraw.Draw(large), float(_TEXELS)
        ring = 0.80 * middle
        drawing.ellipse(
            (middle - ring, middle - ring, middle + ring, middle + ring), outline=120, width=round(0.035 * middle)
        )
        height, up = (1.18 if number < 10 else 1.0) * middle, 0.0
        if number in _UNDERLINED:
            height, up = 1.06 * middle, 0.09 * middle
            drawing.rectangle((0.70 * middle, 1.43 * middle, 1.30 * middle, 1.53 * middle), fill=255)
        drawing.text(
            (middle, middle - up),
            str(number),
            fill=255,
            font=load_font(round(height)),
            anchor="mm",
            stroke_width=0.035 * height,
        )
        # A pixel of a small frame is about four texels wide.
        faces.append(np.asarray(large.reduce(2).filter(ImageFilter.GaussianBlur(1.2)), dtype=np.float32) / 255)
    return np.asarray(_PAPER + (_INK - _PAPER) * np.stack(faces).ravel(), dtype=np.float32)


@functools.cache
def _rod(size: Size) -> tuple[Sprite, Sprite]:
    radius = View(size).length(RIB_RADIUS)
    return sphere(radius, (220, 176, 84), gloss=0.8, rim=0.6), soft_disc(radius, 0.5 * radius, (0, 0, 0), 0.5)


@functools.cache
def _reflections(size: Size) -> tuple[tuple[Sprite, Point], ...]:
    """Reflections in front of the balls, each with its middle: two arcs on the drum and a strip on the tube."""
    x, y = DRUM_CENTRE
    strip = y + (TUBE_CAP + TUBE_FLOOR) / 2
    length = (TUBE_FLOOR - TUBE_CAP) / 2 - 0.02
    return (
        _glint(
            size,
            lambda mask: _arc(mask, DRUM_RADIUS - 0.035, 0.022, 292, 332, WHITE),
            (-0.34, 0.24),
            (-0.10, 0.50),
            0.34,
        ),
        _glint(
            size,
            lambda mask: _arc(mask, DRUM_RADIUS - 0.022, 0.008, 112, 150, WHITE),
            (0.10, 0.66),
            (0.36, 0.90),
            0.26,
        ),
        _glint(
            size,
            lambda mask: mask.line([(x - 0.036, strip - length), (x - 0.036, strip + length)], 0.007, WHITE),
            (-0.055, strip - length - 0.02),
            (-0.015, strip + length + 0.02),
            0.5,
        ),
    )


def _glint(
    size: Size, paint: Callable[[Painter], None], corner: Point, opposite: Point, opacity: float
) -> tuple[Sprite, Point]:
    """What `paint` draws in white within a box, as soft light, and the middle of the box."""
    painter = Painter(size, (0, 0, 0))
    paint(painter)
    (left, top), (right, bottom) = painter.view.at(corner), painter.view.at(opposite)
    mask = painter.image.convert("L").crop((round(left), round(top), round(right), round(bottom)))
    mask = mask.filter(ImageFilter.GaussianBlur(painter.view.length(0.0025)))
    light = Image.new("RGBA", mask.size, _GLASS)
    light.putalpha(mask.point(lambda value: value * opacity))
    return Sprite.from_image(light), ((corner[0] + opposite[0]) / 2, (corner[1] + opposite[1]) / 2)
