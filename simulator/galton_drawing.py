"""Pictures of both Galton boards, and the geometry that they share with the motion; scene coordinates."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from simulator.base import Size
from simulator.drawing import WHITE, Colour, Painter, Point, Sprite, View, capsule, chrome, soft_disc, sphere
from simulator.textures import wood
from video_io import Frame

ROWS = 10
BINS = ROWS + 1
BIN_PITCH = 0.105
BIN_CENTRES = tuple((i - ROWS / 2) * BIN_PITCH for i in range(BINS))
ROW_PITCH = 0.0505
TOP_ROW_Y = 0.222
DIVIDER_TOP_Y = 0.74
FLOOR_Y = 0.9
LABEL_Y = 0.945
BALL_RADIUS = 0.021
PEG_RADIUS = 0.009
DIVIDER_WIDTH = 0.008
FUNNEL_BALL_Y = 0.112
GATE_Y = FUNNEL_BALL_Y + BALL_RADIUS + 0.004
# Half the inner width of the funnel's neck, in which the ball waits for the gate to open.
_NECK = BALL_RADIUS + 0.009
_HALF_WIDTH = BINS / 2 * BIN_PITCH


@dataclass(frozen=True)
class _Style:
    """How a board looks.

    ball: from its radius in pixels. shadow: opacity of the ball's shadow on the board, 0 for none.
    """

    board: Callable[[Size], Painter]
    ball: Callable[[float], Sprite]
    shadow: float
    gate: Colour


def _funnel(side: int) -> list[Point]:
    """One plate of the funnel, from its rim to the end of its neck; side is -1 or 1."""
    return [(side * 0.125, 0.035), (side * _NECK, 0.095), (side * _NECK, GATE_Y + 0.008)]


def pegs() -> Iterator[Point]:
    """Middles of all pegs, row by row."""
    for row in range(ROWS):
        for peg in range(row + 1):
            yield (peg - row / 2) * BIN_PITCH, TOP_ROW_Y + row * ROW_PITCH


def _dividers() -> list[float]:
    return [(i - BINS / 2) * BIN_PITCH for i in range(BINS + 1)]


def _label(painter: Painter, colour: Colour) -> None:
    for number, x in enumerate(BIN_CENTRES, start=1):
        painter.text((x, LABEL_Y), str(number), 0.05, colour)


def _flat_board(size: Size) -> Painter:
    ink = (52, 73, 102)
    painter = Painter(size, (248, 250, 253))
    for i in range(BINS):
        left = (i - BINS / 2) * BIN_PITCH
        shade = (222, 230, 241) if i % 2 == 0 else (234, 240, 247)
        painter.rectangle((left, DIVIDER_TOP_Y), (left + BIN_PITCH, FLOOR_Y), shade)
    for x in _dividers():
        painter.line([(x, DIVIDER_TOP_Y), (x, FLOOR_Y)], DIVIDER_WIDTH, ink)
    painter.line([(-_HALF_WIDTH, FLOOR_Y + 0.004), (_HALF_WIDTH, FLOOR_Y + 0.004)], DIVIDER_WIDTH, ink)
    for peg in pegs():
        painter.disc(peg, PEG_RADIUS, ink)
    painter.line(_funnel(-1), 0.01, ink)
    painter.mirror()
    _label(painter, ink)
    return painter


def _brass_board(size: Size) -> Painter:
    painter = Painter(size, wood(size, "galton/wall", (62, 36, 20), (120, 78, 46), upright=True))
    left, right, top, bottom = -_HALF_WIDTH - 0.025, _HALF_WIDTH + 0.025, 0.02, 0.985
    painter.soft(lambda mask: mask.rectangle((left, top), (right, bottom), WHITE), 0.012, (20, 10, 4), 0.8)
    painter.textured(
        [(left, top), (right, top), (right, bottom), (left, bottom)],
        wood(size, "galton/board", (178, 128, 76), (240, 204, 150), upright=True),
    )
    # A shadow along the frame's inner edge sets the board back.
    painter.line([(left, bottom), (left, top), (right, top), (right, bottom)], 0.006, (74, 44, 24))
    well = [
        (-_HALF_WIDTH, DIVIDER_TOP_Y),
        (_HALF_WIDTH, DIVIDER_TOP_Y),
        (_HALF_WIDTH, FLOOR_Y),
        (-_HALF_WIDTH, FLOOR_Y),
    ]
    painter.textured(well, wood(size, "galton/bins", (128, 84, 46), (184, 138, 90), upright=True))
    painter.soft(lambda mask: mask.line(well[:2], 0.02, WHITE), 0.008, (40, 20, 6), 0.5)

    def metal(mask: Painter, shift: float) -> None:
        for x in _dividers():
            mask.line([(x, DIVIDER_TOP_Y + shift), (x, FLOOR_Y + shift)], DIVIDER_WIDTH + 0.002, WHITE)
        for x, y in pegs():
            mask.disc((x, y + shift), PEG_RADIUS + 0.001, WHITE)
        mask.line([(x, y + shift) for x, y in _funnel(-1)], 0.012, WHITE)

    painter.soft(lambda mask: metal(mask, 0.010), 0.005, (40, 20, 6), 0.75)
    for x in _dividers():
        _brass_bar(painter, [(x, DIVIDER_TOP_Y), (x, FLOOR_Y)], DIVIDER_WIDTH)
    _brass_bar(painter, _funnel(-1), 0.012)
    peg = sphere(View(size).length(PEG_RADIUS), (226, 178, 74), gloss=0.9, rim=0.7)
    for point in pegs():
        painter.stamp(peg, point)
    painter.rectangle((-_HALF_WIDTH - 0.006, FLOOR_Y), (_HALF_WIDTH + 0.006, 0.975), (150, 108, 34), radius=0.006)
    painter.rectangle(
        (-_HALF_WIDTH - 0.003, FLOOR_Y + 0.003), (_HALF_WIDTH + 0.003, 0.972), (222, 182, 92), radius=0.004
    )
    painter.rectangle((-_HALF_WIDTH - 0.003, FLOOR_Y + 0.003), (_HALF_WIDTH + 0.003, FLOOR_Y + 0.012), (246, 220, 150))
    painter.mirror()
    _label(painter, (58, 34, 12))
    return painter


def _brass_bar(painter: Painter, points: list[Point], width: float) -> None:
    for share, colour in ((1.0, (138, 96, 28)), (0.7, (206, 160, 66)), (0.28, (250, 226, 152))):
        painter.line(points, width * share, colour)


STYLES = {
    "galton_board_real": _Style(_brass_board, chrome, 0.75, (206, 160, 66)),
    "galton_board": _Style(
        _flat_board, lambda radius: sphere(radius, (46, 184, 72), gloss=0.5, rim=0.4), 0.0, (52, 73, 102)
    ),
}


@functools.cache
def _background(scene: str, size: Size) -> Frame:
    return STYLES[scene].board(size).frame()


@functools.cache
def _sprites(scene: str, size: Size) -> tuple[Sprite, Sprite | None]:
    radius = View(size).length(BALL_RADIUS)
    style = STYLES[scene]
    shadow = soft_disc(radius, 0.35 * radius, (40, 20, 6), style.shadow) if style.shadow else None
    return style.ball(radius), shadow


def draw(scene: str, size: Size, balls: list[Point], gate: float) -> Frame:
    """One picture; `gate` runs from 0, closed, to 1, drawn back into the funnel's walls."""
    frame, view = _background(scene, size).copy(), View(size)
    ball, shadow = _sprites(scene, size)
    radius = view.length(0.0035)
    bars = [(-_NECK, -gate * _NECK), (gate * _NECK, _NECK)] if gate else [(-_NECK, _NECK)]
    for left, right in bars:
        capsule(frame, view.at((left, GATE_Y)), view.at((right, GATE_Y)), radius, radius, STYLES[scene].gate)
    if shadow:
        for x, y in balls:
            shadow.paste(frame, view.at((x, y + 0.3 * BALL_RADIUS)))
    for position in balls:
        ball.paste(frame, view.at(position))
    return frame
