"""Both Galton boards: one ball, ten rows of pegs, eleven bins; a flat drawing, and a board of wood and brass.

The ball decides left or right at each row, hops over the peg in a parabola, and comes to rest in the bin that the
number of its right turns leads to. Scene coordinates (see `drawing`), times in seconds.
"""

import functools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from constants import SIMULATOR_FPS
from simulator.base import SceneSimulator, Size, Take
from simulator.drawing import Point
from simulator.galton_drawing import (
    BALL_RADIUS,
    BIN_PITCH,
    BINS,
    DIVIDER_TOP_Y,
    DIVIDER_WIDTH,
    FLOOR_Y,
    FUNNEL_BALL_Y,
    PEG_RADIUS,
    ROW_PITCH,
    ROWS,
    STYLES,
    TOP_ROW_Y,
    draw,
)
from video_io import Frame

DURATION_S = 4.25

# Frame heights per second squared: a board about 0.7 m high, filmed in slow motion.
_GRAVITY = 4.2
_RELEASE_S = 0.25
_GATE_S = 0.2
# A hop rises by this much above its peg before it falls to the next row; higher ones would hit the peg above.
_HOP_RISE = (0.003, 0.009)
_FLOOR_RESTITUTION = 0.38
_WALL_RESTITUTION = 0.5
_FLOOR_FRICTION = 0.6
STEP_S = 1 / (SIMULATOR_FPS * 40)
# Distance between the centres of ball and peg at contact.
_CONTACT = BALL_RADIUS + PEG_RADIUS

Track = list[Point]
"""Positions of a ball's centre at every step of STEP_S."""


class _Fall:
    """One ball's way, built up piece by piece."""

    def __init__(self) -> None:
        self.track: Track = []
        self.x, self.y = 0.0, FUNNEL_BALL_Y
        self.vx, self.vy = 0.0, 0.0

    def wait(self, seconds: float) -> None:
        self.track += [(self.x, self.y)] * round(seconds / STEP_S)

    def step(self) -> None:
        self.vy += _GRAVITY * STEP_S
        self.x += self.vx * STEP_S
        self.y += self.vy * STEP_S
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
        for _ in range(round(1.2 / STEP_S)):
            self.step()
            if self.y > floor:
                self.y = floor
                # A bounce too small to see is none; otherwise the ball would bounce for ever.
                self.vy = -_FLOOR_RESTITUTION * self.vy if self.vy > 0.08 else 0.0
                self.vx *= _FLOOR_FRICTION if self.vy else 1 - 6 * STEP_S
            if not walls[0] <= self.x <= walls[1]:
                self.x = min(max(self.x, walls[0]), walls[1])
                self.vx *= -_WALL_RESTITUTION
            self.track[-1] = (self.x, self.y)


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
    """The ball comes down on a divider and stays on its top, or sinks through it to the floor between two bins."""
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


_ARTEFACTS = {"two_balls": _two_balls, "straddles_bins": _straddles, "never_settles": _never_settles}


def tracks(take: Take) -> list[Track]:
    """The way of each ball of a take; at its end it stays where it is."""
    if take.outcome is not None:
        return [_into_the_bin(_through_the_pegs(_turns(take.outcome, take.rng), take.rng.uniform(*_HOP_RISE, ROWS)))]
    return _ARTEFACTS[str(take.artefact)](take.rng)


def _first_frame(scene: str, size: Size) -> Frame:
    return draw(scene, size, [(0.0, FUNNEL_BALL_Y)], 0.0)


def _frames(scene: str, take: Take, size: Size) -> Iterator[Frame]:
    ways = tracks(take)
    for index in range(1, round(DURATION_S * SIMULATOR_FPS)):
        seconds = index / SIMULATOR_FPS
        step = round(seconds / STEP_S)
        gate = min(max((seconds - _RELEASE_S + _GATE_S) / _GATE_S, 0.0), 1.0)
        yield draw(scene, size, [way[min(step, len(way) - 1)] for way in ways], gate)


SIMULATORS = {
    scene: SceneSimulator(tuple(_ARTEFACTS), functools.partial(_first_frame, scene), functools.partial(_frames, scene))
    for scene in STYLES
}
