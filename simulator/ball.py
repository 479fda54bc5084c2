"""Ball fork: a ball rolls down a straight ramp, seen from the front, onto the wedge of a symmetric Y, and out below.

The ball stands on the tip of the wedge for a moment, leans over to one side, rolls down that channel, drops out of its
end and comes to rest on the ground below. Geometry in scene coordinates (see `drawing`), times in seconds.
"""

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np

from constants import SIMULATOR_FPS
from simulator.base import SceneSimulator, Size, Take
from simulator.drawing import WHITE, Colour, Painter, Point, Sprite, View, soft_disc, sphere, vertical_gradient
from video_io import Frame

BALL_RADIUS = 0.036
BALL_COLOUR: Colour = (240, 104, 32)
START_Y = 0.135
CHANNEL_HALF_WIDTH = 0.05
FORK: Point = (0.0, 0.40)
ELBOW: Point = (0.40, 0.66)
EXIT_Y = 0.80
GROUND_Y = 0.925

DURATION_S = 4.0
ARTEFACTS = ("stops_at_fork", "stops_in_channel")

_RAMP_TOP_Y = 0.05
_WALL = 0.014
# Frame heights per second squared along the slope, and in the free fall at the end.
_GRAVITY = 0.72
_FREE_FALL = 2.2
_HOLD_S = 0.2
_RESTITUTION = 0.4
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
            speed += _GRAVITY * slope * STEP_S
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
        speed += _GRAVITY * STEP_S
        y += speed * STEP_S
        track.append((0.0, y))
    speed *= -0.16
    while speed < 0 or y < touch:
        speed += _GRAVITY * STEP_S
        y += speed * STEP_S
        track.append((0.0, min(y, touch)))
    track += [(0.0, touch)] * round(_HOLD_S * rng.uniform(0.3, 1.0) / STEP_S)
    if take.artefact == "stops_at_fork":
        return track
    stop = rng.uniform(0.22, 0.38) if take.artefact == "stops_in_channel" else None
    piece, speed = _slide(_path(), rng.uniform(0.05, 0.08), stop)
    if stop is None:
        piece += _drop(speed, rng.uniform(-0.05, 0.09))
    return track + [(side * x, y) for x, y in piece]


def _drop(speed: float, drift: float) -> list[Point]:
    """Free fall out of the right exit, a few bounces, and a short roll; positions until the ball is at rest."""
    (x, y), track, rest, vx = (ELBOW[0], EXIT_Y), [], GROUND_Y - BALL_RADIUS, 0.0
    for _ in range(round(1.6 / STEP_S)):
        speed += _FREE_FALL * STEP_S
        y += speed * STEP_S
        if y > rest:
            y = rest
            vx = vx or drift
            speed = -_RESTITUTION * speed if speed > 0.06 else 0.0
        x += vx * STEP_S
        vx *= 1 - 1.8 * STEP_S
        track.append((x, y))
    return track


@functools.cache
def _background(size: Size) -> Frame:
    wall, inside = (58, 84, 124), (246, 249, 253)
    painter = Painter(
        size, vertical_gradient(size, [(0, (226, 234, 244)), (GROUND_Y, (247, 250, 253)), (1, WHITE)])
    )
    painter.rectangle((-1.0, GROUND_Y), (1.0, 1.0), (206, 215, 227))
    painter.rectangle((-1.0, GROUND_Y), (1.0, GROUND_Y + 0.006), (150, 165, 186))
    channels = [
        [(0.0, _RAMP_TOP_Y), FORK],
        *([FORK, (side * ELBOW[0], ELBOW[1]), (side * ELBOW[0], EXIT_Y)] for side in (-1, 1)),
    ]

    def lay(target: Painter, width: float, colour: Colour) -> None:
        for points in channels:
            target.line(points, width, colour, caps=False)
        target.disc(FORK, width / 2, colour)

    outer = 2 * (CHANNEL_HALF_WIDTH + _WALL)
    painter.soft(lambda mask: lay(mask, outer, WHITE), 0.018, (40, 60, 96), 0.35)
    lay(painter, outer, wall)
    lay(painter, outer - 0.008, (92, 124, 172))
    lay(painter, 2 * CHANNEL_HALF_WIDTH, inside)
    painter.mirror()
    return painter.frame()


@functools.cache
def _sprites(size: Size) -> tuple[Sprite, Sprite, Sprite]:
    radius = View(size).length(BALL_RADIUS)
    ground = soft_disc(0.9 * radius, 0.3 * radius, (30, 44, 70), 0.5, squash=0.25)
    return sphere(radius, BALL_COLOUR), soft_disc(radius, 0.35 * radius, (30, 44, 70), 0.35), ground


def _draw(size: Size, position: Point) -> Frame:
    frame, view = _background(size).copy(), View(size)
    ball, shadow, ground = _sprites(size)
    x, y = position
    above_ground = (GROUND_Y - BALL_RADIUS - y) / (GROUND_Y - EXIT_Y)
    if above_ground < 1:
        ground.paste(frame, view.at((x, GROUND_Y + 0.004)), 1 - above_ground)
    else:
        shadow.paste(frame, view.at((x, y + 0.2 * BALL_RADIUS)))
    ball.paste(frame, view.at(position))
    return frame


def _first_frame(size: Size) -> Frame:
    return _draw(size, (0.0, START_Y))


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    track = track_of(take)
    for index in range(1, round(DURATION_S * SIMULATOR_FPS)):
        yield _draw(size, track[min(round(index / SIMULATOR_FPS / STEP_S), len(track) - 1)])


SIMULATORS = {"ball": SceneSimulator(ARTEFACTS, _first_frame, _frames)}
