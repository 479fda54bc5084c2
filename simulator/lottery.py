"""The lottery machine: twenty balls tumble in a drum until air lifts one of them into the tube on top.

The balls are discs in a plane that move by position-based dynamics (Müller et al., Journal of Visual Communication and
Image Representation 18, 2007): each step moves them freely, then moves those that overlap with each other, the drum or
one of its ribs apart, and takes their velocities from where that left them. All balls are the same to the physics until
the air picks one.

Positions are in frame heights from the middle of the drum, x to the right and y down.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from constants import LOTTERY_20, SIMULATOR_FPS
from simulator.base import Array, SceneSimulator, Size, Take, generator
from simulator.lottery_machine import (
    BALL_RADIUS,
    DRUM_RADIUS,
    MOUTH_Y,
    RIB_ANGLES,
    RIB_RADIUS,
    RIB_TRACK,
    TUBE_CAP,
    TUBE_FLOOR,
    draw_balls,
    machine,
)
from video_io import Frame

BALLS = LOTTERY_20.k
FRAMES = 104
STEPS_PER_FRAME = 5
_STEP_S = 1 / (SIMULATOR_FPS * STEPS_PER_FRAME)
_SWEEPS = 4  # passes over the constraints in a step

# Accelerations and speeds in frame heights and seconds.
GRAVITY = 3.2
JET = (8.0, 10.0)  # of the air that blows up through the middle of the drum
_JET_WIDTH = 0.10
TOP_SPEED = 1.5
_AIR_DRAG = 0.25
_WALL_GRIP = 6.0  # rate at which the wall carries a ball along, per second
_MAX_SPIN = 7.0  # radians per second: a number that spins faster could not be followed

# The drum turns by a whole number of rib spacings, so that it stops with its mouth clear.
SPACINGS = (5, 6)
SPIN_UP_S, SPIN_DOWN_S = 0.5, 0.6
SLOWS_S = (1.45, 1.85)  # when it begins to slow down
LIFT_AFTER_S, SECOND_AFTER_S = 0.45, 0.75
LIFT_SPEED, RISE_SPEED = 0.9, 0.75
_LIFTED_WEIGHT = 8.0  # the air behind the lifted ball lets it push the others aside
_TUBE_BOUNCE = 0.35

# Artefacts: how many balls are lifted.
_LIFTED_BY_MISTAKE = {"empty_tube": 0, "double_tube": 2}

_FREE, _LIFTED, _IN_TUBE = 0, 1, 2


@dataclass
class Balls:
    """Positions and velocities, shape (n, 2), angles of the numbers and their rates, (n,), and where each ball is."""

    position: Array
    velocity: Array
    angle: Array
    spin: Array
    place: NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """One frame: positions (n, 2) and angles (n,) of the balls, and the angle of the drum."""

    position: Array
    angle: Array
    drum: float


# ---- the course of a draw ---------------------------------------------------------------------------------------


def motion(take: Take) -> Iterator[State]:
    """The states of frames 0..FRAMES - 1. The ball of outcome k has index k - 1."""
    rng = take.rng
    turn = int(rng.choice(SPACINGS)) * (RIB_ANGLES[1] - RIB_ANGLES[0]) * int(rng.choice([-1, 1]))
    slows, jet = rng.uniform(*SLOWS_S), rng.uniform(*JET)
    top_rate = turn / (slows - SPIN_UP_S / 2 + SPIN_DOWN_S / 2)
    lifts = _lifts(take, slows + LIFT_AFTER_S)
    balls, drum, t = _copy(_start()), 0.0, 0.0
    yield State(balls.position, balls.angle, drum)
    for _ in range(FRAMES - 1):
        for _ in range(STEPS_PER_FRAME):
            rate = top_rate * _trapezium(t, slows)
            for ball, when in lifts:
                if balls.place[ball] == _FREE and t >= when:
                    balls.place[ball] = _LIFTED
            drum += rate * _STEP_S
            _step(balls, drum, rate, jet * _trapezium(t, slows - 0.2))
            t += _STEP_S
        yield State(balls.position, balls.angle, drum)


def _lifts(take: Take, first: float) -> list[tuple[int, float]]:
    """Which balls the air lifts, and when."""
    if take.outcome is not None:
        return [(take.outcome - 1, first)]
    balls = take.rng.choice(BALLS, _LIFTED_BY_MISTAKE[str(take.artefact)], replace=False)
    return [(int(ball), first + i * SECOND_AFTER_S) for i, ball in enumerate(balls)]


def _trapezium(t: float, slows: float) -> float:
    """From 0 up to 1, there until `slows`, and down to 0."""
    return float(np.clip(min(t / SPIN_UP_S, 1 - (t - slows) / SPIN_DOWN_S), 0, 1))


@functools.cache
def _start() -> Balls:
    """The balls at rest at the bottom of the drum, always the same: poured in by the physics itself."""
    rng = generator("lottery", "start")
    grid = np.array([((i % 5 - 2) * 0.1 + (i // 5 % 2) * 0.03, (i // 5) * 0.1 - 0.15) for i in range(BALLS)])
    poured = grid[rng.permutation(BALLS)] + rng.normal(0, 0.003, (BALLS, 2))
    still = np.zeros((BALLS, 2))
    balls = Balls(poured, still, rng.uniform(-0.5, 0.5, BALLS), np.zeros(BALLS), np.zeros(BALLS, dtype=np.int64))
    angle = balls.angle
    for _ in range(6 * SIMULATOR_FPS * STEPS_PER_FRAME):
        _step(balls, 0.0, 0.0, 0.0)
    balls.angle, balls.spin, balls.velocity = angle, np.zeros(BALLS), still
    return balls


def _copy(balls: Balls) -> Balls:
    return Balls(balls.position, balls.velocity, balls.angle, balls.spin, balls.place.copy())


# ---- one step ---------------------------------------------------------------------------------------------------


def _step(balls: Balls, drum: float, rate: float, jet: float) -> None:
    """Advance by one step; the arrays of `balls` are replaced, never written to."""
    free, lifted, risen = (balls.place == place for place in (_FREE, _LIFTED, _IN_TUBE))
    position = balls.position + _velocities(balls, jet) * _STEP_S
    ribs = RIB_TRACK * np.stack([np.sin(RIB_ANGLES + drum), -np.cos(RIB_ANGLES + drum)], axis=1)
    lightness = np.where(free, 1.0, np.where(lifted, 1 / _LIFTED_WEIGHT, 1e-6))
    for _ in range(_SWEEPS):
        position = position + 0.85 * _apart(position, lightness)
        position = position + free[:, None] * _off_ribs(position, ribs)
        distance = np.maximum(np.hypot(position[:, 0], position[:, 1]), 1e-9)
        outside = np.where(risen, 0.0, np.maximum(distance - (DRUM_RADIUS - BALL_RADIUS), 0))
        position = position * (1 - outside / distance)[:, None]
    if risen.any():
        position = _in_tube(position, balls.position, risen)
    velocity = (position - balls.position) / _STEP_S
    at_wall = free & (distance > DRUM_RADIUS - BALL_RADIUS - 0.001)
    along = np.stack([-position[:, 1], position[:, 0]], axis=1) / distance[:, None]
    slip = rate * DRUM_RADIUS - np.einsum("ij,ij->i", velocity, along)
    velocity = velocity + along * (np.where(at_wall, 1 - np.exp(-_WALL_GRIP * _STEP_S), 0) * slip)[:, None]
    speed = np.hypot(velocity[:, 0], velocity[:, 1])
    velocity = velocity * np.minimum(1, TOP_SPEED / np.maximum(speed, 1e-9))[:, None]
    if risen.any():
        velocity = _after_bounce(velocity, position, balls.velocity, risen)
    balls.place = np.where(lifted & (np.hypot(position[:, 0], position[:, 1] - MOUTH_Y) < 0.015), _IN_TUBE, balls.place)
    rolling = np.clip(0.4 * slip / BALL_RADIUS, -_MAX_SPIN, _MAX_SPIN)
    spin = np.where(at_wall, 0.9 * balls.spin + 0.1 * rolling, balls.spin * (1 - 0.3 * _STEP_S))
    # A ball on its way out turns its number upright.
    tilt = (balls.angle + np.pi) % (2 * np.pi) - np.pi
    spin = np.where(free, spin, spin - (60 * tilt + 14 * spin) * _STEP_S)
    balls.position, balls.velocity, balls.spin = position, velocity, spin
    balls.angle = balls.angle + spin * _STEP_S


def _velocities(balls: Balls, jet: float) -> Array:
    """Velocities after gravity, air and drag."""
    x, y = balls.position.T
    column = np.exp(-((x / _JET_WIDTH) ** 2)) * np.clip((y + 0.1) / 0.35, 0, 1)
    falling = balls.velocity + np.stack([np.zeros(len(y)), GRAVITY - jet * column], axis=1) * _STEP_S
    falling = falling * (1 - _AIR_DRAG * _STEP_S)
    to_mouth = np.array([0.0, MOUTH_Y]) - balls.position
    aim = LIFT_SPEED * to_mouth / np.maximum(np.hypot(to_mouth[:, 0], to_mouth[:, 1]), 1e-9)[:, None]
    steered = balls.velocity + (aim - balls.velocity) * (9 * _STEP_S)
    below_floor = y + BALL_RADIUS > TUBE_FLOOR
    rising = np.stack([-12 * x, np.where(below_floor, -RISE_SPEED, falling[:, 1])], axis=1)
    place = balls.place[:, None]
    return np.where(place == _FREE, falling, np.where(place == _LIFTED, steered, rising))


_NOT_ITSELF = 1.0 - np.eye(BALLS)


def _apart(position: Array, lightness: Array) -> Array:
    """Displacements that move overlapping balls apart, the lighter one further, shape (n, 2)."""
    x, y = position.T
    dx, dy = x[:, None] - x, y[:, None] - y
    distance = np.maximum(np.sqrt(dx * dx + dy * dy), 1e-9)
    overlap = np.maximum(2 * BALL_RADIUS - distance, 0) * _NOT_ITSELF
    push = overlap / distance * (lightness[:, None] / (lightness[:, None] + lightness))
    return np.stack([np.einsum("ij,ij->i", dx, push), np.einsum("ij,ij->i", dy, push)], axis=1)


def _off_ribs(position: Array, ribs: Array) -> Array:
    dx, dy = position[:, :1] - ribs[:, 0], position[:, 1:] - ribs[:, 1]
    distance = np.sqrt(dx * dx + dy * dy)
    push = np.maximum(BALL_RADIUS + RIB_RADIUS - distance, 0) / distance
    return np.stack([np.einsum("ij,ij->i", dx, push), np.einsum("ij,ij->i", dy, push)], axis=1)


def _in_tube(position: Array, before: Array, risen: NDArray[np.bool_]) -> Array:
    """Keep the balls in the tube between its floor, once they are past it, and its cap; the lower one carries."""
    position = position.copy()
    lowest = TUBE_FLOOR - BALL_RADIUS
    for ball in sorted(np.flatnonzero(risen), key=lambda k: -before[k, 1]):
        if before[ball, 1] <= lowest:
            position[ball, 1] = min(position[ball, 1], lowest)
        position[ball, 1] = max(position[ball, 1], TUBE_CAP + BALL_RADIUS)
        lowest = min(lowest, position[ball, 1] - 2 * BALL_RADIUS)
    return position


def _after_bounce(velocity: Array, position: Array, before: Array, risen: NDArray[np.bool_]) -> Array:
    """A ball that fell on the tube's floor leaves it more slowly."""
    at_floor = risen & (position[:, 1] >= TUBE_FLOOR - BALL_RADIUS - 1e-9) & (before[:, 1] > 0.1)
    velocity = velocity.copy()
    velocity[at_floor, 1] = -_TUBE_BOUNCE * before[at_floor, 1]
    return velocity


# ---- the scene --------------------------------------------------------------------------------------------------


def _picture(state: State, size: Size) -> Frame:
    frame = machine(size).copy()
    draw_balls(frame, state.position, state.angle, state.drum, size)
    return frame


def _first_frame(size: Size) -> Frame:
    start = _start()
    return _picture(State(start.position, start.angle, 0.0), size)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    states = motion(take)
    next(states)
    for state in states:
        yield _picture(state, size)


SIMULATORS = {"lottery": SceneSimulator(artefacts=tuple(_LIFTED_BY_MISTAKE), first_frame=_first_frame, frames=_frames)}
