"""Ball fork: a ball rolls down a straight ramp, seen from the front, onto the wedge of a symmetric Y, and out below.

All of it lies on one board that leans back, so that one acceleration down the board moves the ball everywhere. The ball
stands on the tip of the wedge for a moment, leans over to one side, rolls down that channel and out of its end, and
comes to rest on the ground. Geometry in scene coordinates (see `drawing`), times in seconds.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np

from constants import SIMULATOR_FPS
from simulator.ball_drawing import BALL_RADIUS, CHANNEL_HALF_WIDTH, ELBOW, EXIT_Y, FORK, GROUND_Y, draw
from simulator.base import Array, SceneSimulator, Size, Take
from simulator.drawing import Point
from video_io import Frame

START_Y = 0.135

DURATION_S = 4.0
# Artefacts: how far from the tip of the wedge, along the channel, the ball comes to a halt.
_STOPS = {"stops_at_fork": (0.0, 0.0), "stops_in_channel": (0.22, 0.38)}
ARTEFACTS = tuple(_STOPS)

# Straight down the board, of a ball that rolls: frame heights per second squared.
ACCELERATION = 0.9
_HOLD_S = 0.2
_ROCKING_S = 2.0
_TIP_RESTITUTION, _GROUND_RESTITUTION = 0.16, 0.3
STEP_S = 1 / (SIMULATOR_FPS * 20)

_ARM_LENGTH = math.hypot(ELBOW[0] - FORK[0], ELBOW[1] - FORK[1])
# Unit vector down the right arm.
_ARM = ((ELBOW[0] - FORK[0]) / _ARM_LENGTH, (ELBOW[1] - FORK[1]) / _ARM_LENGTH)
# Where the lower walls of both arms meet.
TIP: Point = (0.0, FORK[1] + CHANNEL_HALF_WIDTH / _ARM[0])


def _path() -> list[Point]:
    """Centre of the ball from the tip of the wedge to the exit of the right channel."""
    normal = math.atan2(-_ARM[0], _ARM[1])  # of the lower wall, the direction from the wall to the ball
    over_tip = [
        (BALL_RADIUS * math.cos(angle), TIP[1] + BALL_RADIUS * math.sin(angle))
        for angle in np.linspace(-math.pi / 2, normal, 12)
    ]
    # Along the lower wall, then round the elbow into the middle of the last, vertical piece.
    bend = ((ELBOW[0] - over_tip[-1][0]) / _ARM[0]) * _ARM[1] + over_tip[-1][1]
    start = (ELBOW[0] - 0.09 * _ARM[0], bend - 0.09 * _ARM[1])
    end = (ELBOW[0], bend + 0.09)
    curve = []
    for t in np.linspace(0, 1, 16):
        weights = ((1 - t) ** 2, 2 * t * (1 - t), t * t)
        points = (start, (ELBOW[0], bend), end)
        curve.append(
            (
                sum(w * p[0] for w, p in zip(weights, points, strict=True)),
                sum(w * p[1] for w, p in zip(weights, points, strict=True)),
            )
        )
    return [*over_tip, *curve, (ELBOW[0], EXIT_Y)]


def _slide(path: list[Point], speed: float, stop_after: float | None) -> tuple[list[Point], float]:
    """Roll along a path from a speed, to a halt `stop_after` along it if given. Positions, and the final speed."""
    ends = list(itertools.accumulate((math.dist(a, b) for a, b in itertools.pairwise(path)), initial=0.0))
    xs, ys = [p[0] for p in path], [p[1] for p in path]
    track, along = [], 0.0
    while along < ends[-1]:
        here = float(np.interp(along, ends, xs)), float(np.interp(along, ends, ys))
        ahead = float(np.interp(along + 0.004, ends, ys))
        slope = (ahead - here[1]) / 0.004
        if stop_after is not None and along > 0.4 * stop_after:
            speed -= speed * speed / (2 * max(stop_after - along, 0.002)) * STEP_S
            if speed < 0.004:
                break
        else:
            speed += ACCELERATION * slope * STEP_S
        along += speed * STEP_S
        track.append(here)
    return track, speed


def track_of(take: Take) -> list[Point]:
    """Positions at every step of STEP_S, from the start; the last one holds from then on."""
    rng = take.rng
    side = rng.choice([-1, 1]) if take.outcome is None else (-1, 1)[take.outcome - 1]
    touch = TIP[1] - BALL_RADIUS
    track: list[Point] = []
    y, speed = START_Y, 0.0
    while y < touch:
        speed += ACCELERATION * STEP_S
        y += speed * STEP_S
        track.append((0.0, y))
    speed *= -_TIP_RESTITUTION
    while speed < 0 or y < touch:
        speed += ACCELERATION * STEP_S
        y += speed * STEP_S
        track.append((0.0, min(y, touch)))
    track += [(0.0, touch)] * round(_HOLD_S * rng.uniform(0.3, 1.0) / STEP_S)
    stop = None if take.outcome else rng.uniform(*_STOPS[str(take.artefact)])
    if stop == 0:
        # It rocks on the tip, less and less, and stays.
        reach, pace = rng.uniform(0.002, 0.006), rng.uniform(5, 9)
        times = np.arange(0, _ROCKING_S, STEP_S)
        return track + [(side * reach * math.sin(pace * t) * math.exp(-3 * t), touch) for t in times]
    piece, speed = _slide(_path(), rng.uniform(0.05, 0.08), stop)
    if stop is None:
        piece += _drop(speed, rng.uniform(-0.05, 0.09))
    return track + [(side * x, y) for x, y in piece]


def _drop(speed: float, drift: float) -> list[Point]:
    """Down the board from the right exit, a few bounces, and a short roll; positions until the ball is at rest."""
    (x, y), track, rest, vx = (ELBOW[0], EXIT_Y), [], GROUND_Y - BALL_RADIUS, 0.0
    for _ in range(round(1.6 / STEP_S)):
        speed += ACCELERATION * STEP_S
        y += speed * STEP_S
        if y > rest:
            y = rest
            vx = vx or drift
            speed = -_GROUND_RESTITUTION * speed if speed > 0.06 else 0.0
        x += vx * STEP_S
        vx *= 1 - 1.8 * STEP_S
        track.append((x, y))
    return track


# Axes of the ball's two stripes at first, as in `ball_drawing.draw`: one runs across it, the other is its outline.
_UPRIGHT = np.array([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])


def axes_along(track: list[Point]) -> Iterator[Array]:
    """The axes of the ball's stripes at every step of a track.

    The ball rolls on the board: as it moves by d it turns by d / radius about the line across its way.
    """
    axes = _UPRIGHT
    yield axes
    for (x0, y0), (x1, y1) in itertools.pairwise(track):
        turn = np.array([x1 - x0, y1 - y0]) / BALL_RADIUS
        # By a small angle: the side towards the viewer moves the way the ball goes.
        axes = np.column_stack([axes[:, :2] + axes[:, 2:] * turn, axes[:, 2] - axes[:, :2] @ turn])
        axes /= np.sqrt(np.einsum("ij,ij->i", axes, axes))[:, None]
        yield axes


def _first_frame(size: Size) -> Frame:
    return draw(size, (0.0, START_Y), _UPRIGHT)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    track = track_of(take)
    axes = list(axes_along(track))
    for index in range(1, round(DURATION_S * SIMULATOR_FPS)):
        step = min(round(index / SIMULATOR_FPS / STEP_S), len(track) - 1)
        yield draw(size, track[step], axes[step])


SIMULATORS = {"ball": SceneSimulator(ARTEFACTS, _first_frame, _frames)}
