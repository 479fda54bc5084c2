"""Both Galton boards: one ball, ten rows of pegs, eleven bins; a flat drawing, and a board of wood and brass.

The ball decides left or right at each row, hops over the peg in a parabola, and comes to rest in the bin that the
number of its right turns leads to. Geometry in scene coordinates (see `drawing`), times in seconds.
"""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constants import SIMULATOR_FPS
from simulator.base import SceneSimulator, Size, Take
from simulator.drawing import WHITE, Colour, Painter, Sprite, View, capsule, chrome, soft_disc, sphere
from simulator.textures import wood
from video_io import Frame

ROWS = 10
BINS = ROWS + 1
BIN_PITCH = 0.105
BIN_CENTRES = tuple((i - ROWS / 2) * BIN_PITCH for i in range(BINS))
ROW_PITCH = 0.047
TOP_ROW_Y = 0.226
DIVIDER_TOP_Y = 0.715
FLOOR_Y = 0.895
LABEL_Y = 0.943
BALL_RADIUS = 0.0235
PEG_RADIUS = 0.0095
DIVIDER_WIDTH = 0.008
FUNNEL_BALL_Y = 0.112
GATE_Y = FUNNEL_BALL_Y + BALL_RADIUS + 0.004

DURATION_S = 4.25
ARTEFACTS = ("two_balls", "straddles_bins", "never_settles")

# Frame heights per second squared: a board about 0.7 m high, filmed in slow motion.
_GRAVITY = 4.2
_RELEASE_S = 0.25
_GATE_S = 0.2
# A hop rises by this much above its peg before it falls to the next row.
_HOP_RISE = (0.006, 0.014)
_FLOOR_RESTITUTION = 0.38
_WALL_RESTITUTION = 0.5
_FLOOR_FRICTION = 0.6
_STEP_S = 1 / (SIMULATOR_FPS * 40)
# Distance between the centres of ball and peg at contact.
_CONTACT = BALL_RADIUS + PEG_RADIUS

Track = list[tuple[float, float]]
"""Positions of a ball's centre at every step of _STEP_S."""


@dataclass(frozen=True)
class _Style:
    """How a board looks.

    ball: from its radius in pixels. shadow: opacity of the ball's shadow on the board, 0 for none.
    """

    board: Callable[[Size], Painter]
    ball: Callable[[float], Sprite]
    shadow: float
    gate: Colour


# ---- motion -----------------------------------------------------------------------------------------------------


class _Fall:
    """One ball's way, built up piece by piece."""

    def __init__(self) -> None:
        self.track: Track = []
        self.x, self.y = 0.0, FUNNEL_BALL_Y
        self.vx, self.vy = 0.0, 0.0

    def wait(self, seconds: float) -> None:
        self.track += [(self.x, self.y)] * round(seconds / _STEP_S)

    def step(self) -> None:
        self.vy += _GRAVITY * _STEP_S
        self.x += self.vx * _STEP_S
        self.y += self.vy * _STEP_S
        self.track.append((self.x, self.y))

    def drop_to(self, y: float) -> None:
        while self.y < y:
            self.step()
        self.y = y

    def hop_to(self, x: float, y: float, rise: float) -> None:
        """A parabola that rises by `rise` above its start and ends at (x, y) below it."""
        up, down = np.sqrt(2 * rise / _GRAVITY), np.sqrt(2 * (y - self.y + rise) / _GRAVITY)
        self.vy = -_GRAVITY * up
        self.vx = (x - self.x) / (up + down)
        self.drop_to(y)
        self.x = x

    def settle(self, floor: float, walls: tuple[float, float]) -> None:
        """Bounce between two walls on a floor (positions of the ball's centre) until nothing moves."""
        for _ in range(round(1.2 / _STEP_S)):
            self.step()
            if self.y > floor:
                self.y = floor
                # A bounce too small to see is none; otherwise the ball would bounce for ever.
                self.vy = -_FLOOR_RESTITUTION * self.vy if self.vy > 0.08 else 0.0
                self.vx *= _FLOOR_FRICTION if self.vy else 1 - 6 * _STEP_S
            if not walls[0] <= self.x <= walls[1]:
                self.x = min(max(self.x, walls[0]), walls[1])
                self.vx *= -_WALL_RESTITUTION


def _contact_y(row: int) -> float:
    """Height of the ball's centre when it touches the top of a peg; row ROWS is where the next peg would be."""
    return TOP_ROW_Y + row * ROW_PITCH - _CONTACT


def _through_the_pegs(turns: NDArray[np.int_], rises: NDArray[np.float64]) -> _Fall:
    """From the funnel over one peg for each turn (+1 right, -1 left), up to the contact with the peg after that."""
    fall = _Fall()
    fall.wait(_RELEASE_S)
    fall.drop_to(_contact_y(0))
    for row, (turn, rise) in enumerate(zip(turns, rises, strict=True), start=1):
        fall.hop_to(fall.x + turn * BIN_PITCH / 2, _contact_y(row), rise)
    return fall


def _into_the_bin(fall: _Fall) -> Track:
    centre = round(fall.x / BIN_PITCH) * BIN_PITCH
    slack = (BIN_PITCH - DIVIDER_WIDTH) / 2 - BALL_RADIUS
    fall.settle(FLOOR_Y - BALL_RADIUS, (centre - slack, centre + slack))
    return fall.track


def _turns(outcome: int, rng: np.random.Generator) -> NDArray[np.int_]:
    rights = outcome - 1
    return rng.permutation(np.repeat([1, -1], [rights, ROWS - rights]))


def _two_balls(rng: np.random.Generator) -> list[Track]:
    """The ball becomes two at a peg in the upper half, which then go their own ways to two bins."""
    split = int(rng.integers(1, 5))
    pair = np.sort(rng.choice([1, -1], (2, ROWS)), axis=0)
    pair[1, :split] = pair[0, :split]
    pair[:, split] = -1, 1
    rises = rng.uniform(*_HOP_RISE, ROWS)
    return [_into_the_bin(_through_the_pegs(turns, rises)) for turns in pair]


def _straddles(rng: np.random.Generator) -> list[Track]:
    """The ball comes down on a divider and stays there, on its top or half way into it."""
    turns = _turns(int(rng.integers(3, BINS - 1)), rng)
    fall = _through_the_pegs(turns[:-1], rng.uniform(*_HOP_RISE, ROWS - 1))
    rest = DIVIDER_TOP_Y - BALL_RADIUS if rng.random() < 0.5 else FLOOR_Y - BALL_RADIUS
    fall.hop_to(fall.x + turns[-1] * BIN_PITCH, DIVIDER_TOP_Y - BALL_RADIUS, 0.02)
    fall.vx = 0.0
    fall.settle(rest, (fall.x, fall.x))
    return [fall.track]


def _never_settles(rng: np.random.Generator) -> list[Track]:
    """The ball stays in the funnel although the gate opens, or comes to rest on a peg."""
    row = int(rng.integers(0, ROWS))
    if row == 0:
        fall = _Fall()
        fall.wait(DURATION_S)
        return [fall.track]
    fall = _through_the_pegs(rng.choice([1, -1], row), rng.uniform(*_HOP_RISE, row))
    fall.settle(fall.y, (fall.x, fall.x))
    return [fall.track]


def _tracks(take: Take) -> list[Track]:
    if take.outcome is not None:
        return [_into_the_bin(_through_the_pegs(_turns(take.outcome, take.rng), take.rng.uniform(*_HOP_RISE, ROWS)))]
    make = {"two_balls": _two_balls, "straddles_bins": _straddles, "never_settles": _never_settles}
    return make[str(take.artefact)](take.rng)


# ---- picture ----------------------------------------------------------------------------------------------------


def _funnel(side: int) -> list[tuple[float, float]]:
    """One plate of the funnel, from its rim to the end of its neck; side is -1 or 1."""
    neck = side * (BALL_RADIUS + 0.009)
    return [(side * 0.125, 0.035), (neck, 0.095), (neck, GATE_Y + 0.008)]


def _pegs() -> Iterator[tuple[float, float]]:
    for row in range(ROWS):
        for peg in range(row + 1):
            yield (peg - row / 2) * BIN_PITCH, TOP_ROW_Y + row * ROW_PITCH


def _dividers() -> list[float]:
    return [(i - BINS / 2) * BIN_PITCH for i in range(BINS + 1)]


def _label(painter: Painter, colour: Colour) -> None:
    for number, x in enumerate(BIN_CENTRES, start=1):
        painter.text((x, LABEL_Y), str(number), 0.05, colour)


_HALF_WIDTH = BINS / 2 * BIN_PITCH


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
    for peg in _pegs():
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
        for x, y in _pegs():
            mask.disc((x, y + shift), PEG_RADIUS + 0.001, WHITE)
        mask.line([(x, y + shift) for x, y in _funnel(-1)], 0.012, WHITE)

    painter.soft(lambda mask: metal(mask, 0.010), 0.005, (40, 20, 6), 0.75)
    for x in _dividers():
        _brass_bar(painter, [(x, DIVIDER_TOP_Y), (x, FLOOR_Y)], DIVIDER_WIDTH)
    _brass_bar(painter, _funnel(-1), 0.012)
    peg = sphere(View(size).length(PEG_RADIUS), (226, 178, 74), gloss=0.9, rim=0.7)
    for point in _pegs():
        painter.stamp(peg, point)
    painter.rectangle((-_HALF_WIDTH - 0.006, FLOOR_Y), (_HALF_WIDTH + 0.006, 0.975), (150, 108, 34), radius=0.006)
    painter.rectangle(
        (-_HALF_WIDTH - 0.003, FLOOR_Y + 0.003), (_HALF_WIDTH + 0.003, 0.972), (222, 182, 92), radius=0.004
    )
    painter.rectangle((-_HALF_WIDTH - 0.003, FLOOR_Y + 0.003), (_HALF_WIDTH + 0.003, FLOOR_Y + 0.012), (246, 220, 150))
    painter.mirror()
    _label(painter, (58, 34, 12))
    return painter


def _brass_bar(painter: Painter, points: list[tuple[float, float]], width: float) -> None:
    for share, colour in ((1.0, (138, 96, 28)), (0.7, (206, 160, 66)), (0.28, (250, 226, 152))):
        painter.line(points, width * share, colour)


_STYLES = {
    "galton_board": _Style(
        _flat_board, lambda radius: sphere(radius, (46, 184, 72), gloss=0.5, rim=0.4), 0.0, (52, 73, 102)
    ),
    "galton_board_real": _Style(_brass_board, chrome, 0.75, (206, 160, 66)),
}


@functools.cache
def _background(scene: str, size: Size) -> Frame:
    return _STYLES[scene].board(size).frame()


@functools.cache
def _sprites(scene: str, size: Size) -> tuple[Sprite, Sprite | None]:
    radius = View(size).length(BALL_RADIUS)
    style = _STYLES[scene]
    shadow = soft_disc(radius, 0.35 * radius, (40, 20, 6), style.shadow) if style.shadow else None
    return style.ball(radius), shadow


def _draw(scene: str, size: Size, balls: list[tuple[float, float]], gate: float) -> Frame:
    """One picture; `gate` runs from 0, closed, to 1, drawn back into the funnel's walls."""
    frame, view = _background(scene, size).copy(), View(size)
    ball, shadow = _sprites(scene, size)
    radius = view.length(0.0035)
    outer = BALL_RADIUS + 0.009
    for side in (-1, 1):
        inner = side * gate * outer
        start, end = view.at((inner, GATE_Y)), view.at((side * outer, GATE_Y))
        capsule(frame, start, end, radius, radius, _STYLES[scene].gate)
    if shadow:
        for x, y in balls:
            shadow.paste(frame, view.at((x, y + 0.3 * BALL_RADIUS)))
    for position in balls:
        ball.paste(frame, view.at(position))
    return frame


def _first_frame(scene: str, size: Size) -> Frame:
    return _draw(scene, size, [(0.0, FUNNEL_BALL_Y)], 0.0)


def _frames(scene: str, take: Take, size: Size) -> Iterator[Frame]:
    tracks = _tracks(take)
    for index in range(1, round(DURATION_S * SIMULATOR_FPS)):
        seconds = index / SIMULATOR_FPS
        step = round(seconds / _STEP_S)
        gate = min(max((seconds - _RELEASE_S + _GATE_S) / _GATE_S, 0.0), 1.0)
        yield _draw(scene, size, [track[min(step, len(track) - 1)] for track in tracks], gate)


SIMULATORS = {
    scene: SceneSimulator(ARTEFACTS, functools.partial(_first_frame, scene), functools.partial(_frames, scene))
    for scene in _STYLES
}
