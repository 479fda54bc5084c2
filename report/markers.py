"""The models' markers as SVG symbols, the same shapes as in the figures."""

from collections.abc import Sequence
from math import cos, pi, sin

from markupsafe import Markup

from models import Model
from report.svg import element


def _polygon(corners: int, *, inner: float = 1.0, turn: float = 0.0) -> str:
    """A regular polygon with its first corner up, or a star when every other corner lies at `inner` of the radius."""
    points = []
    for i in range(corners):
        radius = 5.2 * (inner if i % 2 else 1.0)
        angle = 2 * pi * i / corners + turn - pi / 2
        points.append(f"{radius * cos(angle):.2f} {radius * sin(angle):.2f}")
    return f"M{'L'.join(points)}Z"


_CIRCLE = "M-4.6 0A4.6 4.6 0 1 1 4.6 0A4.6 4.6 0 1 1 -4.6 0Z"
_PLUS = "M-1.7 -5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z"
_CROSS = "M-4.7 -2.3L-2.3 -4.7L0 -2.4L2.3 -4.7L4.7 -2.3L2.4 0L4.7 2.3L2.3 4.7L0 2.4L-2.3 4.7L-4.7 2.3L-2.4 0Z"
# By the figures' marker codes (models.py).
_PATHS = {
    "o": _CIRCLE,
    "s": "M-4.2 -4.2H4.2V4.2H-4.2Z",
    "D": _polygon(4),
    "^": _polygon(3),
    "v": _polygon(3, turn=pi),
    "<": _polygon(3, turn=-pi / 2),
    ">": _polygon(3, turn=pi / 2),
    "P": _PLUS,
    "X": _CROSS,
    "*": _polygon(10, inner=0.42),
    "p": _polygon(5),
    "h": _polygon(6),
}


# Symbols that belong to no model: those of panels, and the verdicts of report.cells.VERDICTS. The style sheet colours
# them.
_SIGNS = {
    "mark-dot": ("M-3.6 0A3.6 3.6 0 1 1 3.6 0A3.6 3.6 0 1 1 -3.6 0Z", "solid"),
    "mark-ring": ("M-5 0A5 5 0 1 1 5 0A5 5 0 1 1 -5 0Z", "open thin-stroke"),
    "mark-diamond": (_polygon(4), "solid"),
    "mark-square": ("M-3.8 -3.8H3.8V3.8H-3.8Z", "solid"),
    "mark-cross": ("M-4 -4L4 4M4 -4L-4 4", "stroke"),
    "verdict-differs": ("M-4.6 0A4.6 4.6 0 1 1 4.6 0A4.6 4.6 0 1 1 -4.6 0Z", "solid"),
    "verdict-alike": ("M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z", "open"),
    "verdict-few": ("M0 -5V5M-3 -2H3", "stroke"),
    "verdict-none": ("M-4 0H4", "stroke"),
}


def symbol_id(index: int) -> str:
    """Id of the symbol of the model at this place in display order. No key is part of it: keys come from file names."""
    return f"marker-{index}"


def sheet(models: Sequence[Model]) -> Markup:
    """A hidden drawing that defines every model's symbol. A marker code without a shape here is drawn as a circle."""
    symbols = [
        element(
            "symbol",
            element("path", d=_PATHS.get(model.marker, _CIRCLE), fill=model.colour, class_="marker"),
            id=symbol_id(index),
            viewBox="-6 -6 12 12",
        )
        for index, model in enumerate(models)
    ]
    signs = [
        element("symbol", element("path", d=path, class_=look), id=sign, viewBox="-6 -6 12 12")
        for sign, (path, look) in _SIGNS.items()
    ]
    ring, half = _SIGNS["verdict-alike"][0], "M0 -4A4 4 0 0 1 0 4Z"
    split = [element("path", d=ring, class_="open"), element("path", d=half, class_="solid")]
    signs.append(element("symbol", *split, id="verdict-split", viewBox="-6 -6 12 12"))
    return element("svg", *symbols, *signs, class_="sheet", aria_hidden="true")
