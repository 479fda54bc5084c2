"""Double pendulum: released from rest in the published state, it moves as the equations of motion say.

The outcome is where the lower weight is at the last frame, and it follows from the release angles, whose noise is half
a degree. For an outcome that is asked for, releases are drawn until the physics leads there. Frame 0 shows the state
without noise, which is less than can be seen in it.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from constants import (
    GRAVITY,
    PENDULUM_ANGLES_DEG,
    PENDULUM_LENGTHS_M,
    PENDULUM_NOISE_DEG,
    SIMULATOR_FPS,
)
from double_pendulum import derivative
from runge_kutta import integrate
from simulator.base import Array, SceneSimulator, Size, Take, smoothstep
from simulator.drawing import (
    SUPERSAMPLING,
    WHITE,
    Colour,
    Painter,
    Point,
    Sprite,
    View,
    capsule,
    vertical_gradient,
)
from simulator.textures import wood
from video_io import Frame

PIVOT: Point = (0.0, 0.475)
# Scene coordinates per metre: the pendulum just fits the frame.
SCALE = 1.6
ROD_LENGTHS = (PENDULUM_LENGTHS_M[0] * SCALE, PENDULUM_LENGTHS_M[1] * SCALE)
ROD_RADIUS = 0.0075
DISK_RADIUS = 0.034
PIVOT_RADIUS = 0.021
BRASS: Colour = (214, 164, 66)
BRASS_EDGE: Colour = (142, 102, 36)

DURATION_S = 4.0
ARTEFACTS = ("rod_bends", "rod_breaks", "extra_arm", "extra_ball")

_FRAMES = round(DURATION_S * SIMULATOR_FPS)
_TABLE_Y = 0.945
# The drawn angles leave those of frame 0 for the true ones within a few frames.
_NOISE_FADE_S = 0.1
_MAX_RELEASES = 1000
# Tighter than for the reference, whose members are many: errors of 1e-6 a step favour the left by two per cent.
_RTOL, _ATOL = 1e-9, 1e-12
# When an artefact begins, and how long it takes to be fully there, in seconds.
_ONSET_S = (0.8, 2.2)
_GROWTH_S = 0.5


# ---- physics ----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def _motion(release: tuple[float, float]) -> Array:
    """Both angles at every frame, radians, shape (frames, 2), from rest at angles in degrees."""
    start = np.array([*np.radians(release), 0.0, 0.0])
    times = [frame / SIMULATOR_FPS for frame in range(1, _FRAMES)]
    return np.array([start, *integrate(derivative, start, times, _RTOL, _ATOL)])[:, :2]


def weights(angles: Array) -> tuple[Point, Point]:
    """Where both weights are, in scene coordinates."""
    x, y = PIVOT
    points = []
    for length, angle in zip(ROD_LENGTHS, angles, strict=True):
        x, y = x + length * math.sin(angle), y + length * math.cos(angle)
        points.append((x, y))
    return points[0], points[1]


def outcome_of(angles: Array) -> int:
    """1 when the lower of both weights is left of the pivot, 2 when it is to the right."""
    lowest = max(weights(angles), key=lambda point: point[1])
    return 1 if lowest[0] < PIVOT[0] else 2


def _release(rng: np.random.Generator) -> tuple[float, float]:
    first, second = rng.normal(PENDULUM_ANGLES_DEG, PENDULUM_NOISE_DEG)
    return float(first), float(second)


def _natural_outcome(rng: np.random.Generator) -> int:
    return outcome_of(_motion(_release(rng))[-1])


def motion_to(outcome: int | None, rng: np.random.Generator) -> Array:
    """The motion after the first release that leads to an outcome; after the first of all when none is asked for."""
    for _ in range(_MAX_RELEASES):
        motion = _motion(_release(rng))
        if outcome in (None, outcome_of(motion[-1])):
            return motion
    raise RuntimeError(f"no release out of {_MAX_RELEASES} led to outcome {outcome}")


# ---- picture ----------------------------------------------------------------------------------------------------


@functools.cache
def _background(size: Size) -> Frame:
    painter = Painter(
        size, vertical_gradient(size, [(0, (216, 222, 229)), (_TABLE_Y, (243, 244, 246)), (1, (243, 244, 246))])
    )
    edge = 1.0
    table = [(-edge, _TABLE_Y), (edge, _TABLE_Y), (edge, 1.0), (-edge, 1.0)]
    painter.textured(table, wood(size, "pendulum/table", (112, 74, 46), (166, 118, 78)))
    painter.rectangle((-edge, _TABLE_Y), (edge, _TABLE_Y + 0.004), (196, 152, 108))
    post = [(-0.017, PIVOT[1] - 0.03), (0.017, PIVOT[1] - 0.03), (0.022, _TABLE_Y - 0.02), (-0.022, _TABLE_Y - 0.02)]
    foot = [(-0.12, _TABLE_Y - 0.022), (0.12, _TABLE_Y - 0.022), (0.14, _TABLE_Y + 0.012), (-0.14, _TABLE_Y + 0.012)]
    painter.soft(lambda mask: mask.polygon([(x, y + 0.008) for x, y in post], WHITE), 0.012, (60, 60, 70), 0.35)
    painter.soft(lambda mask: mask.polygon([(x, y + 0.014) for x, y in foot], WHITE), 0.012, (30, 18, 8), 0.6)
    painter.polygon(post, (78, 52, 36))
    painter.polygon([(0.45 * x - 0.003, y) for x, y in post], (112, 78, 54))
    painter.polygon(foot, (72, 47, 32))
    painter.rectangle((-0.12, _TABLE_Y - 0.022), (0.12, _TABLE_Y - 0.017), (120, 84, 58))
    return painter.frame()


@functools.cache
def _disk(radius: float, rim: float) -> Sprite:
    """A brass disk of a radius in pixels, turned on a lathe: the light fans out from its middle; with a raised rim."""
    half = math.ceil(radius + 1) * SUPERSAMPLING
    axis = (np.arange(2 * half, dtype=np.float32) + 0.5 - half) / (radius * SUPERSAMPLING)
    x, y = np.meshgrid(axis, axis)
    distance = np.hypot(x, y)
    fan = 1.0 + 0.16 * np.cos(2 * np.arctan2(y, x) + 1.2) + 0.02 * np.sin(60 * distance)
    edge = np.where(distance > 1 - rim, 0.72 - 0.14 * y, 1.0)
    light = (fan * edge)[..., None]
    rgb = np.clip(np.array((232, 184, 84)) * light, 0, 255)
    rgb[distance < 0.16] = (132, 92, 34)
    alpha = (distance <= 1)[..., None]
    return Sprite(np.concatenate([rgb * alpha, alpha], axis=-1).astype(np.float32))


@dataclass(frozen=True)
class _Fault:
    """What goes wrong with the pendulum from one frame on, and to which side."""

    kind: str
    onset: int
    side: int

    def growth(self, index: int) -> float:
        """How far it has gone at a frame, 0 to 1."""
        return smoothstep((index - self.onset) / SIMULATOR_FPS / _GROWTH_S)


def _draw(size: Size, motion: Array, index: int, fault: _Fault | None = None) -> Frame:
    """The picture at a frame of a motion."""
    frame, view = _background(size).copy(), View(size)
    joint, tip = weights(motion[index])
    _rod(frame, view, [PIVOT, joint])
    _disk(view.length(PIVOT_RADIUS), 0.2).paste(frame, view.at(PIVOT))
    growth = fault.growth(index) if fault else 0.0
    if fault is None or growth == 0:
        _outer(frame, view, [joint, tip])
    elif fault.kind == "rod_bends":
        _outer(frame, view, _bent(joint, tip, 0.16 * fault.side * growth))
    elif fault.kind == "rod_breaks":
        _rod(frame, view, [joint, _between(joint, tip, 0.45)])
        _outer(frame, view, _flying(motion, fault, index))
    elif fault.kind == "extra_arm":
        angle = motion[index][1] + 1.9 * fault.side
        length = 0.8 * ROD_LENGTHS[1] * growth
        end = joint[0] + length * math.sin(angle), joint[1] + length * math.cos(angle)
        _outer(frame, view, [joint, end], growth)
        _outer(frame, view, [joint, tip])
    elif fault.kind == "extra_ball":
        _outer(frame, view, [joint, tip])
        _weight(frame, view, _between(joint, tip, 0.5) if fault.side > 0 else _between(PIVOT, joint, 0.5), growth)
    else:
        raise KeyError(fault.kind)
    _weight(frame, view, joint)
    return frame


def _rod(frame: Frame, view: View, points: list[Point]) -> None:
    for share, colour in ((1.0, BRASS_EDGE), (0.6, BRASS)):
        radius = share * view.length(ROD_RADIUS)
        for start, end in itertools.pairwise(points):
            capsule(frame, view.at(start), view.at(end), radius, radius, colour)


def _weight(frame: Frame, view: View, point: Point, size: float = 1.0) -> None:
    # A growing disk is one of a few sizes, each of which is painted once.
    _disk(view.length(DISK_RADIUS) * max(round(size * 12), 1) / 12, 0.14).paste(frame, view.at(point))


def _outer(frame: Frame, view: View, points: list[Point], size: float = 1.0) -> None:
    """A rod along the points with a weight at its end."""
    _rod(frame, view, points)
    _weight(frame, view, points[-1], size)


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def _bent(start: Point, end: Point, bulge: float) -> list[Point]:
    """A parabola from one point to another whose middle stands off their line by about half of `bulge`."""
    across = (end[1] - start[1]) / ROD_LENGTHS[1], (start[0] - end[0]) / ROD_LENGTHS[1]
    points = []
    for share in np.linspace(0, 1, 25):
        x, y = _between(start, end, float(share))
        off = 2 * share * (1 - share) * bulge
        points.append((x + off * across[0], y + off * across[1]))
    return points


def _flying(motion: Array, fault: _Fault, index: int) -> list[Point]:
    """The broken-off end of the outer rod: it flies on as it moved when it broke, and turns."""
    (joint, before), (_, now) = weights(motion[fault.onset]), weights(motion[fault.onset + 1])
    seconds = (index - fault.onset) / SIMULATOR_FPS
    x = before[0] + (now[0] - before[0]) * (index - fault.onset)
    y = before[1] + (now[1] - before[1]) * (index - fault.onset) + GRAVITY * SCALE * seconds**2 / 2
    angle = math.atan2(joint[1] - before[1], joint[0] - before[0]) + 5 * fault.side * seconds
    length = 0.5 * ROD_LENGTHS[1]
    return [(x + length * math.cos(angle), y + length * math.sin(angle)), (x, y)]


def _first_frame(size: Size) -> Frame:
    return _draw(size, np.radians([PENDULUM_ANGLES_DEG]), 0)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    motion = motion_to(take.outcome, take.rng).copy()
    hidden_noise = np.radians(PENDULUM_ANGLES_DEG) - motion[0]
    motion += hidden_noise * np.exp(-np.arange(_FRAMES) / SIMULATOR_FPS / _NOISE_FADE_S)[:, None]
    fault = None
    if take.artefact is not None:
        onset = round(take.rng.uniform(*_ONSET_S) * SIMULATOR_FPS)
        fault = _Fault(take.artefact, onset, int(take.rng.choice([-1, 1])))
    for index in range(1, _FRAMES):
        yield _draw(size, motion, index, fault)


SIMULATORS = {"pendulum": SceneSimulator(ARTEFACTS, _first_frame, _frames, _natural_outcome)}
