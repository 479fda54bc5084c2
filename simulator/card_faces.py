"""Playing cards as pictures: pips laid out as on a real deck, corner indices, court cards with a crown, and the back.

A card is painted in its own scene coordinates (see `drawing`): x from its middle, y from its top edge, in card heights.
"""

import functools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from simulator.base import Size
from simulator.drawing import SUPERSAMPLING, Colour, Painter, Point, load_font

Outline = NDArray[np.float64]

ASPECT = 5 / 7
SUITS = ("hearts", "diamonds", "clubs", "spades")
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")

PAPER: Colour = (252, 251, 247)
RED: Colour = (200, 18, 34)
BLACK: Colour = (22, 22, 26)
BACK_BLUE: Colour = (36, 58, 122)
_PALE_BLUE: Colour = (124, 150, 210)
_GOLD: Colour = (208, 162, 62)
_CREAM: Colour = (255, 248, 228)
_CUT: Colour = (168, 164, 156)
_CORNER_RADIUS = 0.042

PIP_SIZE, ACE_SIZE, CORNER_SIZE = 0.140, 0.30, 0.080
_COLUMN, _ROW = 0.140, 0.335  # of the outer pips, from the middle
CORNER_X, _RANK_Y, CORNER_Y = ASPECT / 2 - 0.062, 0.078, 0.175

# Where the pips lie: columns -1..1 and rows -1..1.
_SIDES: tuple[Point, ...] = ((-1, -1), (1, -1), (-1, 1), (1, 1))
_SIX: tuple[Point, ...] = (*_SIDES, (-1, 0), (1, 0))
_EIGHT: tuple[Point, ...] = (*_SIDES, (-1, -1 / 3), (1, -1 / 3), (-1, 1 / 3), (1, 1 / 3))
LAYOUTS: dict[str, tuple[Point, ...]] = {
    "A": ((0, 0),),
    "2": ((0, -1), (0, 1)),
    "3": ((0, -1), (0, 0), (0, 1)),
    "4": _SIDES,
    "5": (*_SIDES, (0, 0)),
    "6": _SIX,
    "7": (*_SIX, (0, -1 / 2)),
    "8": (*_SIX, (0, -1 / 2), (0, 1 / 2)),
    "9": (*_EIGHT, (0, 0)),
    "10": (*_EIGHT, (0, -2 / 3), (0, 2 / 3)),
}
# A crown's outline over its band, and the points that carry a pearl.
_CROWNS: dict[str, tuple[tuple[Point, ...], tuple[Point, ...]]] = {
    "K": (
        ((-1, 0.3), (-1.15, -0.5), (-0.55, 0.0), (0, -0.8), (0.55, 0.0), (1.15, -0.5), (1, 0.3)),
        ((-1.15, -0.5), (0, -0.8), (1.15, -0.5)),
    ),
    "Q": (
        (
            (-0.9, 0.3),
            (-1.15, -0.3),
            (-0.62, 0.0),
            (-0.5, -0.6),
            (0, -0.1),
            (0.5, -0.6),
            (0.62, 0.0),
            (1.15, -0.3),
            (0.9, 0.3),
        ),
        ((-1.15, -0.3), (-0.5, -0.6), (0.5, -0.6), (1.15, -0.3)),
    ),
    "J": (((-1, 0.3), (-0.95, -0.1), (-0.5, -0.35), (0, -0.45), (0.5, -0.35), (0.95, -0.1), (1, 0.3)), ((0, -0.5),)),
}


def ink(suit: str) -> Colour:
    return RED if suit in ("hearts", "diamonds") else BLACK


def face(size: Size, rank: str, suit: str, lower_suit: str | None = None) -> Image.Image:
    """A card's face, RGBA, `size` pixels. `lower_suit`: what the lower half shows, when that is not the same suit."""
    pips = LAYOUTS.get(rank, ())
    upper = _half(size, rank, suit, [(x, y) for x, y in pips if y < 0])
    lower_pips = [(-x, -y) for x, y in pips if y > 0]
    lower = _half(size, rank, lower_suit or suit, lower_pips).image.transpose(Image.Transpose.ROTATE_180)
    middle = upper.image.height // 2
    upper.image.paste(lower.crop((0, middle, *upper.image.size)), (0, middle))
    for x, y in pips:
        if y == 0:
            _glyph(upper, suit, (x * _COLUMN, 0.5), ACE_SIZE if rank == "A" else PIP_SIZE)
    return _cut(upper)


def blurred_face(size: Size, rank: str, suit: str) -> Image.Image:
    """A face whose symbols are smeared to blots of which only the colour can be told."""
    sharp = face(size, rank, suit)
    picture = Image.new("RGB", size, PAPER)
    picture.paste(sharp, (0, 0), sharp)
    picture = picture.filter(ImageFilter.GaussianBlur(0.055 * size[1]))
    picture.putalpha(sharp.getchannel("A"))
    return picture


@functools.cache
def back(size: Size) -> Image.Image:
    """The back: a blue lattice with a star, RGBA."""
    painter = Painter(size, PAPER)
    edge = (ASPECT / 2 - 0.035, 0.465)
    painter.rectangle((-edge[0], 0.5 - edge[1]), (edge[0], 0.5 + edge[1]), BACK_BLUE, radius=0.02)
    for x, y in _lattice(edge[0] - 0.02, edge[1] - 0.02, 0.045):
        painter.polygon([(x - 0.0225, y), (x, y - 0.0225), (x + 0.0225, y), (x, y + 0.0225)], _PALE_BLUE)
        painter.polygon([(x - 0.018, y), (x, y - 0.018), (x + 0.018, y), (x, y + 0.018)], BACK_BLUE)
        painter.disc((x, y), 0.006, _PALE_BLUE)
    painter.disc((0, 0.5), 0.150, PAPER)
    painter.disc((0, 0.5), 0.140, BACK_BLUE)
    turn = np.arange(16) * np.pi / 8
    reach = np.where(np.arange(16) % 2, 0.045, 0.12)
    painter.polygon(list(zip(reach * np.sin(turn), 0.5 - reach * np.cos(turn), strict=True)), (214, 224, 246))
    return _cut(painter)


def blank(size: Size) -> Image.Image:
    """An unprinted card: a card in the stack, of which only an edge can be seen."""
    return _cut(Painter(size, PAPER))


def _half(size: Size, rank: str, suit: str, pips: Sequence[Point]) -> Painter:
    """A card whose upper half is painted."""
    painter = Painter(size, PAPER)
    if rank in _CROWNS:
        _court(painter, rank, suit)
    for x, y in pips:
        _glyph(painter, suit, (x * _COLUMN, 0.5 + y * _ROW), PIP_SIZE)
    _bold(painter, (-CORNER_X, _RANK_Y), rank, 0.115 if rank != "10" else 0.100, ink(suit))
    _glyph(painter, suit, (-CORNER_X, CORNER_Y), CORNER_SIZE)
    return painter


def _court(painter: Painter, rank: str, suit: str) -> None:
    colour = RED if ink(suit) == RED else BACK_BLUE
    painter.rectangle((-0.235, 0.075), (0.235, 0.925), colour)
    painter.rectangle((-0.229, 0.081), (0.229, 0.919), _CREAM)
    painter.rectangle((-0.218, 0.092), (0.218, 0.908), _GOLD)
    painter.rectangle((-0.214, 0.096), (0.214, 0.904), _CREAM)
    for k in range(-6, 7):
        x, fill = k * 0.033, colour if k % 2 else _GOLD
        painter.polygon([(x - 0.0165, 0.5), (x, 0.470), (x + 0.0165, 0.5), (x, 0.530)], fill)
    outline, pearls = _CROWNS[rank]
    x0, y0, scale = 0.03, 0.225, 0.105
    painter.polygon([(x0 + scale * x, y0 + scale * y) for x, y in outline], _GOLD)
    painter.rectangle((x0 - 0.105, y0 + 0.025), (x0 + 0.105, y0 + 0.055), colour)
    for x, y in pearls:
        painter.disc((x0 + scale * x, y0 + scale * y), 0.015, colour)
    _bold(painter, (x0, 0.375), rank, 0.20, ink(suit))
    _glyph(painter, suit, (-0.150, 0.165), 0.095)


def _bold(painter: Painter, middle: Point, text: str, height: float, fill: Colour) -> None:
    font = load_font(round(painter.view.length(height)))
    weight = painter.view.length(0.035 * height)
    ImageDraw.Draw(painter.image).text(
        painter.view.at(middle), text, fill=fill, font=font, anchor="mm", stroke_width=weight, stroke_fill=fill
    )


def _cut(painter: Painter) -> Image.Image:
    """Cut the picture to a card: rounded corners and a thin line along the edge."""
    width, height = painter.image.size
    box, radius = (0, 0, width - 1, height - 1), painter.view.length(_CORNER_RADIUS)
    ImageDraw.Draw(painter.image).rounded_rectangle(box, radius, outline=_CUT, width=SUPERSAMPLING)
    mask = Image.new("L", painter.image.size, 0)
    ImageDraw.Draw(mask).rounded_rectangle(box, radius, fill=255)
    picture = painter.image.reduce(SUPERSAMPLING)
    picture.putalpha(mask.reduce(SUPERSAMPLING))
    return picture


def _lattice(half_width: float, half_height: float, step: float) -> Iterator[Point]:
    columns, rows = int(half_width / step), int(half_height / step)
    for i in range(-2 * columns, 2 * columns + 1):
        for j in range(-2 * rows, 2 * rows + 1):
            if (i + j) % 2 == 0:
                yield i * step / 2, 0.5 + j * step / 2


# ---- suits ------------------------------------------------------------------------------------------------------


def _glyph(painter: Painter, suit: str, middle: Point, size: float) -> None:
    """A suit's symbol; `size` is its height."""
    for outline in _SYMBOLS[suit]:
        painter.polygon([(middle[0] + size / 2 * x, middle[1] + size / 2 * y) for x, y in outline], ink(suit))


def _curve(*points: Point) -> Outline:
    """A chain of cubic Bezier curves, three further points each, shape (n, 2)."""
    p = np.array(points)
    t = np.linspace(0, 1, 24)[:, None]
    weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    pieces = [sum(w * p[i + k] for k, w in enumerate(weights)) for i in range(0, len(p) - 1, 3)]
    return np.concatenate(pieces)


def _symmetric(right: Outline) -> Outline:
    return np.concatenate([right, right[::-1] * [-1, 1]])


def _circle(x: float, y: float, radius: float) -> Outline:
    turn = np.linspace(0, 2 * np.pi, 64)
    return np.stack([x + radius * np.cos(turn), y + radius * np.sin(turn)], axis=1)


_HEART = _curve(
    (0, -0.52),
    (0.12, -0.86),
    (0.36, -0.96),
    (0.55, -0.93),
    (0.95, -0.88),
    (1.06, -0.42),
    (0.86, -0.06),
    (0.62, 0.36),
    (0.22, 0.62),
    (0, 1),
)
_SPADE = _curve(
    (0, -1),
    (0.2, -0.62),
    (0.55, -0.36),
    (0.78, -0.02),
    (1.0, 0.34),
    (0.72, 0.7),
    (0.42, 0.64),
    (0.25, 0.62),
    (0.1, 0.5),
    (0, 0.36),
)
_DIAMOND = _curve((0, -1), (0.16, -0.66), (0.45, -0.26), (0.74, 0), (0.45, 0.26), (0.16, 0.66), (0, 1))
_STEM = _curve((0.02, 0.25), (0.06, 0.7), (0.14, 0.86), (0.42, 0.98))
_CLUB_MIDDLE = np.array([(-0.2, -0.3), (0.2, -0.3), (0.25, 0.3), (-0.25, 0.3)])
# Outlines in a box from -1 to 1, y down.
_SYMBOLS: dict[str, tuple[Outline, ...]] = {
    "hearts": (_symmetric(_HEART),),
    "diamonds": (_symmetric(_DIAMOND),),
    "clubs": (
        _circle(0, -0.54, 0.42),
        _circle(-0.52, 0.14, 0.42),
        _circle(0.52, 0.14, 0.42),
        _CLUB_MIDDLE,
        _symmetric(_STEM),
    ),
    "spades": (_symmetric(_SPADE), _symmetric(_STEM)),
}
