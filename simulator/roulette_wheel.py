"""A European roulette wheel seen from straight above: its numbers and how it looks.

Angles run clockwise from the top of the picture, in radians; radii are in frame heights, as in `drawing`.
The bowl stands still. The rotor turns: it is painted once, large, and looked up pixel by pixel at any angle.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from simulator.base import Size
from simulator.drawing import SUPERSAMPLING, WHITE, Colour, Painter, Point, View, load_font
from simulator.textures import felt, wood
from video_io import Frame

# Clockwise around the wheel.
NUMBERS = (
    *(0, 32, 15, 19, 4, 21, 2, 25, 17, 34, 6, 27, 13, 36, 11, 30, 8, 23, 10),
    *(5, 24, 16, 33, 1, 20, 14, 31, 9, 22, 18, 29, 7, 28, 12, 35, 3, 26),
)
_REDS = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}
POCKET_ANGLE = 2 * np.pi / len(NUMBERS)

CENTRE = (0.0, 0.5)
BOWL_RADIUS = 0.490
TRACK_OUTER, TRACK_RADIUS, TRACK_INNER = 0.464, 0.444, 0.424  # TRACK_RADIUS: where the ball's middle runs
ROTOR_RADIUS = 0.395
NUMBERS_OUTER, NUMBERS_INNER, POCKETS_INNER = 0.388, 0.334, 0.264
POCKET_RADIUS = 0.300  # of the middle of a ball that lies in a pocket
HUB_RADIUS = 0.080
ARM_RADIUS = 0.125  # reach of the turret's four arms
BALL_RADIUS = 0.0175
# The rotor is looked up inside this radius, where a ring of one colour hides the seam.
_SEAM_RADIUS = 0.3915

RED: Colour = (190, 18, 30)
BLACK: Colour = (20, 20, 24)
GREEN: Colour = (12, 128, 62)
_PAINT = {"red": RED, "black": BLACK, "green": GREEN}
_GOLD: Colour = (214, 172, 84)
_DARK_GOLD: Colour = (142, 98, 34)
_LIGHT_GOLD: Colour = (250, 224, 156)
_DARK_WOOD: Colour = (44, 20, 10)


def colour(number: int) -> str:
    """The colour of a number's pocket: "red", "black" or "green"."""
    if number == 0:
        return "green"
    return "red" if number in _REDS else "black"


def pocket_at(angle: float) -> int:
    """The index in `NUMBERS` of the pocket at an angle on the rotor."""
    return round(angle / POCKET_ANGLE) % len(NUMBERS)


def place(radius: float, angle: float) -> Point:
    """Scene coordinates of a point of the wheel."""
    return CENTRE[0] + radius * float(np.sin(angle)), CENTRE[1] - radius * float(np.cos(angle))


# ---- still ------------------------------------------------------------------------------------------------------


@functools.cache
def bowl(size: Size) -> Frame:
    """The table and the bowl, with nothing in it."""
    painter = Painter(size, felt(size, (6, 26, 40), (26, 84, 104)))
    painter.soft(lambda mask: mask.disc((0.012, 0.516), BOWL_RADIUS, WHITE), 0.014, (0, 0, 0), 0.7)
    light, dark = (
        wood(size, "roulette/rim", (104, 52, 22), (172, 98, 48)),
        wood(size, "roulette/track", (54, 24, 12), (98, 48, 22)),
    )
    _disc(painter, BOWL_RADIUS, _DARK_WOOD)
    painter.textured(_circle(BOWL_RADIUS - 0.003), light)
    _ring(painter, TRACK_OUTER + 0.004, TRACK_OUTER + 0.001, _LIGHT_GOLD)
    painter.textured(_circle(TRACK_OUTER), dark)
    # The track is a groove: shaded under its outer edge, bright where it turns down to the rotor.
    painter.soft(lambda mask: _ring(mask, TRACK_OUTER + 0.002, TRACK_OUTER - 0.012, WHITE), 0.006, (0, 0, 0), 0.75)
    painter.soft(
        lambda mask: _ring(mask, TRACK_RADIUS + 0.003, TRACK_RADIUS - 0.012, WHITE),
        0.008,
        (196, 130, 80),
        0.40,
    )
    painter.textured(_circle(TRACK_INNER), light)
    painter.soft(lambda mask: _ring(mask, ROTOR_RADIUS + 0.009, ROTOR_RADIUS - 0.01, WHITE), 0.005, (0, 0, 0), 0.8)
    for k in range(8):
        _diamond(painter, k * np.pi / 4 + np.pi / 8, upright=k % 2 == 0)
    _disc(painter, ROTOR_RADIUS, _DARK_GOLD)
    _disc(painter, ROTOR_RADIUS - 0.0012, _GOLD)
    return painter.frame()


def _diamond(painter: Painter, angle: float, *, upright: bool) -> None:
    """A metal stop across the slope that scatters the ball."""
    middle = (TRACK_INNER + ROTOR_RADIUS) / 2
    long, short = 0.0115, 0.0058
    across, along = (short, long) if upright else (long, short)
    for grow, fill in ((1.25, _DARK_WOOD), (1.0, _GOLD), (0.5, _LIGHT_GOLD)):
        corners = [
            (middle + along * grow, 0.0),
            (middle, across * grow),
            (middle - along * grow, 0.0),
            (middle, -across * grow),
        ]
        painter.polygon([place(r, angle + side / middle) for r, side in corners], fill)


def _circle(radius: float) -> list[Point]:
    return [place(radius, angle) for angle in np.linspace(0, 2 * np.pi, 240, endpoint=False)]


def _disc(painter: Painter, radius: float, fill: Colour) -> None:
    painter.disc(CENTRE, radius, fill)


def _ring(painter: Painter, outer: float, inner: float, fill: Colour) -> None:
    painter.line([*_circle((outer + inner) / 2), place((outer + inner) / 2, 0)], outer - inner, fill, caps=False)


# ---- turning ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rotor:
    """The painted rotor and the pixels of the frame that it covers.

    texture: packed RGBX, blurred to the size of a pixel, shape (n * n,). x, y: of each covered pixel from the wheel's
    centre, in texels. pixels: their flat indices in the frame.
    """

    texture: NDArray[np.uint32]
    n: int
    x: NDArray[np.float32]
    y: NDArray[np.float32]
    pixels: NDArray[np.int64]

    def draw(self, frame: Frame, angle: float) -> None:
        """Draw the rotor, turned clockwise by `angle`, in place."""
        cos, sin, middle = np.float32(np.cos(angle)), np.float32(np.sin(angle)), np.float32(self.n / 2)
        column = (self.x * cos + (self.y * sin + middle)).astype(np.int32)
        row = (self.y * cos - (self.x * sin - middle)).astype(np.int32)
        packed = np.take(self.texture, row * self.n + column)
        frame.reshape(-1, 3)[self.pixels] = packed.view(np.uint8).reshape(-1, 4)[:, :3]


@functools.cache
def rotor(size: Size) -> Rotor:
    """The rotor for frames of a size."""
    side = 2 * round(View(size).length(ROTOR_RADIUS))
    large = _paint_rotor(side).filter(ImageFilter.BoxBlur((SUPERSAMPLING - 1) / 2))
    texture = np.array(large.convert("RGBA"), dtype=np.uint8).view(np.uint32).ravel()
    x0, y0 = View(size).at(CENTRE)
    y, x = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float32)
    x, y = x.ravel() + np.float32(0.5 - x0), y.ravel() + np.float32(0.5 - y0)
    pixels = np.flatnonzero(np.hypot(x, y) < View(size).length(_SEAM_RADIUS))
    texels = np.float32(large.width / (2 * View(size).length(ROTOR_RADIUS)))
    return Rotor(texture, large.width, x[pixels] * texels, y[pixels] * texels, pixels)


def _paint_rotor(side: int) -> Image.Image:
    """The rotor at angle 0, `side` pixels wide, oversampled."""
    painter = Painter((side, side), _GOLD)
    unit = 1 / (2 * ROTOR_RADIUS)  # the painter's lengths are in diameters of the rotor

    def at(radius: float, angle: float) -> Point:
        return unit * radius * float(np.sin(angle)), 0.5 - unit * radius * float(np.cos(angle))

    def disc(radius: float, fill: Colour) -> None:
        painter.disc((0, 0.5), unit * radius, fill)

    def cells(outer: float, inner: float, shade: float) -> None:
        for k, number in enumerate(NUMBERS):
            arc = (k + np.linspace(-0.5, 0.5, 9)) * POCKET_ANGLE
            outline = [at(outer, a) for a in arc] + [at(inner, a) for a in arc[::-1]]
            painter.polygon(outline, _shaded(_PAINT[colour(number)], shade))

    cells(NUMBERS_OUTER, NUMBERS_INNER, 1.0)
    for k, number in enumerate(NUMBERS):
        _number(painter, str(number), at((NUMBERS_OUTER + NUMBERS_INNER) / 2, k * POCKET_ANGLE), k * POCKET_ANGLE, unit)
    disc(NUMBERS_INNER + 0.002, _LIGHT_GOLD)
    disc(NUMBERS_INNER - 0.001, _DARK_GOLD)
    # A pocket's floor falls away from the numbers and rises towards the cone.
    steps = 16
    for k in range(steps):
        depth = k / (steps - 1)
        cells(
            NUMBERS_INNER - 0.002 - (NUMBERS_INNER - 0.002 - POCKETS_INNER) * k / steps,
            POCKETS_INNER,
            0.62 + 0.28 * depth,
        )
    for k in range(len(NUMBERS)):
        angle = (k + 0.5) * POCKET_ANGLE
        outline = [at(NUMBERS_OUTER, angle), at(POCKETS_INNER, angle)]
        painter.line([at(NUMBERS_INNER, angle), at(POCKETS_INNER, angle)], unit * 0.0056, _DARK_GOLD)
        painter.line(outline, unit * 0.0026, _LIGHT_GOLD)
    _paint_cone(painter, unit)
    return painter.image


def _paint_cone(painter: Painter, unit: float) -> None:
    """The sloped wood between the pockets and the hub, and the turret on it."""
    middle = (0.0, 0.5)

    def spoke(angle: float, inner: float, outer: float, width: float, fill: Colour) -> None:
        sin, cos = float(np.sin(angle)), float(np.cos(angle))
        ends = [(unit * r * sin, 0.5 - unit * r * cos) for r in (inner, outer)]
        painter.line(ends, unit * width, fill)

    painter.disc(middle, unit * (POCKETS_INNER + 0.002), _DARK_GOLD)
    painter.disc(middle, unit * POCKETS_INNER, _LIGHT_GOLD)
    painter.disc(middle, unit * (POCKETS_INNER - 0.003), _DARK_WOOD)
    grain = wood((painter.image.width // SUPERSAMPLING,) * 2, "roulette/cone", (118, 60, 26), (186, 112, 56))
    radius = POCKETS_INNER - 0.005
    turn = np.linspace(0, 2 * np.pi, 240, endpoint=False)
    painter.textured([(unit * radius * float(np.sin(a)), 0.5 - unit * radius * float(np.cos(a))) for a in turn], grain)
    for k in range(8):
        spoke(k * np.pi / 4 + np.pi / 8, HUB_RADIUS, radius - 0.012, 0.0022, (222, 168, 96))
    for inset in (0.012, 0.016):
        _outline(painter, unit * (radius - inset), unit * 0.0016, (222, 168, 96))
    # The cone is dark around its edge, and the hub throws a shadow on it.
    painter.soft(lambda mask: _outline(mask, unit * radius, unit * 0.03, WHITE), unit * 0.014, (30, 12, 4), 0.55)
    painter.soft(lambda mask: mask.disc(middle, unit * (HUB_RADIUS + 0.012), WHITE), unit * 0.010, (20, 8, 2), 0.7)

    def arms(mask: Painter) -> None:
        for k in range(4):
            end = (
                unit * ARM_RADIUS * float(np.sin(k * np.pi / 2)),
                0.5 - unit * ARM_RADIUS * float(np.cos(k * np.pi / 2)),
            )
            mask.line([middle, end], unit * 0.016, WHITE)
            mask.disc(end, unit * 0.020, WHITE)

    painter.soft(arms, unit * 0.006, (20, 8, 2), 0.6)
    _dome(painter, middle, unit * HUB_RADIUS)
    for k in range(4):
        angle = k * np.pi / 2
        for width, fill in ((0.0150, _DARK_GOLD), (0.0115, _GOLD), (0.0040, _LIGHT_GOLD)):
            spoke(angle, 0.0, ARM_RADIUS, width, fill)
        knob = (unit * ARM_RADIUS * float(np.sin(angle)), 0.5 - unit * ARM_RADIUS * float(np.cos(angle)))
        _dome(painter, knob, unit * 0.017)
    _dome(painter, middle, unit * 0.034)
    _dome(painter, middle, unit * 0.016)


def _outline(painter: Painter, radius: float, width: float, fill: Colour) -> None:
    turn = np.linspace(0, 2 * np.pi, 241)
    painter.line([(radius * float(np.sin(a)), 0.5 - radius * float(np.cos(a))) for a in turn], width, fill, caps=False)


def _dome(painter: Painter, middle: Point, radius: float) -> None:
    """A round piece of turned brass."""
    steps = 14
    for k in range(steps):
        level = k / (steps - 1)
        low, high = np.array(_DARK_GOLD), np.array(_LIGHT_GOLD)
        red, green, blue = (low + (high - low) * level**0.9).astype(int)
        painter.disc(middle, radius * (1 - 0.92 * level), (int(red), int(green), int(blue)))


def _number(painter: Painter, text: str, middle: Point, angle: float, unit: float) -> None:
    """A number that stands on the wheel's rim, its head outwards."""
    height = painter.view.length(unit * 0.043)
    stamp = Image.new("L", (int(1.7 * height),) * 2, 0)
    half = stamp.width / 2
    ImageDraw.Draw(stamp).text(
        (half, half), text, fill=255, font=load_font(round(height)), anchor="mm", stroke_width=0.022 * height
    )
    stamp = stamp.rotate(-np.degrees(angle), Image.Resampling.BICUBIC)
    x, y = painter.view.at(middle)
    painter.image.paste((255, 252, 244), (round(x - half), round(y - half)), stamp)


def _shaded(paint: Colour, shade: float) -> Colour:
    red, green, blue = (round(shade * channel) for channel in paint)
    return red, green, blue
