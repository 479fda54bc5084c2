"""The roulette wheel: it turns one way, the ball runs the other way, drops, hops over the frets and rests in a pocket.

Nothing steers the ball to its pocket but the moment at which it leaves the track: rotor and ball turn against each
other, so that within one turn every pocket passes below it. Angles run clockwise from the top, radii are in frame
heights, as in `roulette_wheel`.
"""

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from constants import SIMULATOR_FPS
from scenes import SCENES
from simulator.base import SceneSimulator, Size, Take
from simulator.drawing import Sprite, View, soft_disc, sphere
from simulator.roulette_wheel import (
    BALL_RADIUS,
    NUMBERS,
    POCKET_ANGLE,
    POCKET_RADIUS,
    TRACK_RADIUS,
    bowl,
    colour,
    place,
    rotor,
)
from video_io import Frame

FRAMES = 116
# Speeds in radians per second, decelerations in radians per second squared.
ROTOR_SPEED = (2.3, 2.7)
ROTOR_STOPS_S = 4.5
BALL_SPEED = (4.6, 5.0)
BALL_DECELERATION = 0.6
# The ball leaves the track in this window, during which every pocket passes below it, and lands on the rotor later.
LEAVES_S = (1.4, 3.2)
DROP_S = 0.42
LANDING_RADIUS = 0.345
# What the camera sees of the ball in one frame is its way during this part of the time since the last one.
EXPOSURE = 0.6

# A ball in a pocket swings between its frets until it rests.
_SWING, _SWING_DECAY_S, _SWING_RATE = 0.022, 0.10, 26.0
# Pockets that it hops over, one list of hops for each way of coming to rest.
_HOPS = ((-6, -4, -2, -1), (-7, -3, -2, -1), (-5, -4, 1, -1), (-6, -3, -2, 1))
_HOP_S = (0.26, 0.22, 0.17, 0.12)
_HOP_HEIGHTS = (0.060, 0.040, 0.022, 0.010)


@dataclass(frozen=True)
class State:
    """One frame: the rotor's angle, and the ball's angle, radius and height above the wheel."""

    rotor: float
    angle: float
    radius: float
    height: float = 0.0

    @property
    def angle_on_rotor(self) -> float:
        return self.angle - self.rotor


@dataclass(frozen=True)
class Hop:
    """A flight after the landing. angle: how far it goes, on the rotor or, in the bowl, across the picture."""

    seconds: float
    angle: float
    radius: float
    height: float = 0.0


@dataclass(frozen=True)
class Rest:
    """How a ball comes to rest: the hops that take it there, whether it turns with the rotor, and how far it swings."""

    hops: tuple[Hop, ...]
    on_rotor: bool = True
    swing: float = 0.0


# Artefacts whose final place has nothing to do with a pocket.
_ASTRAY = {
    "on_hub": Rest((Hop(0.34, -0.9, 0.235, 0.06), Hop(0.30, -0.7, 0.135, 0.04), Hop(0.24, -0.4, 0.058, 0.025))),
    "on_cone": Rest((Hop(0.32, -0.9, 0.235, 0.05), Hop(0.28, -0.6, 0.160, 0.03), Hop(0.40, -0.25, 0.185))),
    "outside_ring": Rest(
        (Hop(0.28, -0.55, 0.400, 0.05), Hop(0.22, -0.40, TRACK_RADIUS, 0.02), Hop(0.60, -0.55, TRACK_RADIUS)),
        on_rotor=False,
    ),
    "no_ball": Rest((Hop(0.55, -0.55, 1.2, 0.08),), on_rotor=False),
}


# ---- motion -----------------------------------------------------------------------------------------------------


def course(take: Take) -> Callable[[float], State]:
    """The state at any time, in seconds from frame 0."""
    rng = take.rng
    rotor_speed, ball_speed = rng.uniform(*ROTOR_SPEED), rng.uniform(*BALL_SPEED)
    if take.outcome is not None or take.artefact == "on_fret":
        rest = _among_the_pockets(rng, still=take.outcome is None)
    else:
        rest = _ASTRAY[str(take.artefact)]
    leaves = _leaving_time(take, rest, rotor_speed, ball_speed)
    return lambda t: _state(t, leaves, rest, rotor_speed, ball_speed)


def motion(take: Take) -> list[State]:
    """The states of frames 0..FRAMES - 1."""
    state = course(take)
    return [state(i / SIMULATOR_FPS) for i in range(FRAMES)]


def _rotor_angle(t: float, speed: float) -> float:
    t = min(t, ROTOR_STOPS_S)
    return speed * (t - t * t / (2 * ROTOR_STOPS_S))


def _ball_angle(t: float, speed: float) -> float:
    """Until the ball lands: against the rotor, slowed by friction."""
    return -(speed * t - BALL_DECELERATION * t * t / 2)


def _among_the_pockets(rng: np.random.Generator, *, still: bool) -> Rest:
    """Hops over some frets; a ball that does not end `still` swings between the last two."""
    pockets = _HOPS[int(rng.integers(len(_HOPS)))]
    stretch = rng.uniform(0.9, 1.1)
    radii = np.linspace(LANDING_RADIUS, POCKET_RADIUS, len(pockets) + 1)[1:]
    parts = zip(_HOP_S, pockets, radii, _HOP_HEIGHTS, strict=True)
    hops = tuple(Hop(stretch * s, n * POCKET_ANGLE, float(r), stretch * h) for s, n, r, h in parts)
    return Rest(hops, swing=0.0 if still else float(np.copysign(_SWING, pockets[-1])))


def _leaving_time(take: Take, rest: Rest, rotor_speed: float, ball_speed: float) -> float:
    """When the ball has to leave the track to end where it should."""
    if not rest.on_rotor:
        return float(take.rng.uniform(*LEAVES_S))
    end = _final_angle(take) - sum(hop.angle for hop in rest.hops)
    step = 1e-3
    times = np.arange(*LEAVES_S, step)
    landed = np.array([_ball_angle(t, ball_speed) - _rotor_angle(t, rotor_speed) for t in times + DROP_S])
    off = (landed - end + np.pi) % (2 * np.pi) - np.pi
    nearest = int(np.abs(off).argmin())
    rate = (landed[-1] - landed[0]) / (times[-1] - times[0])
    return float(times[nearest] - off[nearest] / rate)


def _final_angle(take: Take) -> float:
    """Where on the rotor the ball is to end."""
    rng = take.rng
    if take.outcome is not None:
        wanted = SCENES["roulette"].outcomes[take.outcome - 1]
        pockets = [k for k, number in enumerate(NUMBERS) if colour(number) == wanted]
        return float(pockets[int(rng.integers(len(pockets)))] * POCKET_ANGLE)
    if take.artefact == "on_fret":
        return float((rng.integers(len(NUMBERS)) + 0.5) * POCKET_ANGLE)
    if take.artefact == "on_hub":
        return float((rng.integers(4) + 0.5) * np.pi / 2)  # between two arms of the turret
    return float(rng.uniform(0, 2 * np.pi))


def _state(t: float, leaves: float, rest: Rest, rotor_speed: float, ball_speed: float) -> State:
    turned = _rotor_angle(t, rotor_speed)
    landing = leaves + DROP_S
    if t <= landing:
        fall = max(t - leaves, 0.0) / DROP_S
        radius = TRACK_RADIUS + (LANDING_RADIUS - TRACK_RADIUS) * fall * fall
        return State(turned, _ball_angle(t, ball_speed), radius)
    angle = _ball_angle(landing, ball_speed) - (_rotor_angle(landing, rotor_speed) if rest.on_rotor else 0.0)
    base = turned if rest.on_rotor else 0.0
    radius, since = LANDING_RADIUS, t - landing
    for hop in rest.hops:
        if since < hop.seconds:
            u = since / hop.seconds
            arch = 4 * u * (1 - u) * hop.height
            part = u if hop.height else 1 - (1 - u) ** 2  # a ball that rolls slows down
            return State(turned, base + angle + hop.angle * part, radius + (hop.radius - radius) * part, arch)
        since -= hop.seconds
        angle, radius = angle + hop.angle, hop.radius
    angle += rest.swing * float(np.exp(-since / _SWING_DECAY_S) * np.sin(_SWING_RATE * since))
    return State(turned, base + angle, radius)


# ---- drawing ----------------------------------------------------------------------------------------------------


# A ball's way in one frame is drawn as so many balls in each of its radii, or as one when it is shorter, in radii.
_BALLS_A_RADIUS, _SHARP = 3, 0.2


@functools.cache
def _ball(size: Size) -> tuple[Sprite, Sprite]:
    """The ball and its shadow."""
    radius = View(size).length(BALL_RADIUS)
    return sphere(radius, (255, 255, 252), gloss=0.9, rim=0.42), soft_disc(radius, 0.35 * radius, (0, 0, 0), 0.65)


def _picture(states: Sequence[State], size: Size) -> Frame:
    """The wheel at the last of the states, and the ball on its way through all of them."""
    frame = bowl(size).copy()
    rotor(size).draw(frame, states[-1].rotor)
    _lay_balls(frame, states, size)
    return frame


def _lay_balls(frame: Frame, states: Sequence[State], size: Size) -> None:
    """The mean of the pictures with the ball at each state, in place."""
    ball, shadow = _ball(size)
    spots = [View(size).at(place(state.radius, state.angle)) for state in states]
    asides = [View(size).length(0.25 * BALL_RADIUS + 0.5 * state.height) for state in states]
    reach = 3 * View(size).length(BALL_RADIUS) + 1.3 * max(asides)
    xs, ys = zip(*spots, strict=True)
    left, top = max(int(min(xs) - reach), 0), max(int(min(ys) - reach), 0)
    part = frame[top : max(int(max(ys) + reach), 0), left : max(int(max(xs) + reach), 0)]
    total = np.zeros(part.shape, np.uint16)
    for (x, y), aside in zip(spots, asides, strict=True):
        copy = part.copy()
        shadow.paste(copy, (x - left + aside, y - top + 1.3 * aside))
        ball.paste(copy, (x - left, y - top))
        total += copy
    part[...] = (total + len(states) // 2) // len(states)


def _exposed(state: Callable[[float], State], index: int) -> list[State]:
    """States at which the camera saw the ball for a frame: so many that the ball seems to slide."""
    end, begin = state(index / SIMULATOR_FPS), state((index - EXPOSURE) / SIMULATOR_FPS)
    way = math.dist(place(begin.radius, begin.angle), place(end.radius, end.angle)) / BALL_RADIUS
    count = 1 + math.ceil(_BALLS_A_RADIUS * way) if way > _SHARP else 1
    return [state((index - EXPOSURE * (1 - k / count)) / SIMULATOR_FPS) for k in range(1, count + 1)]


# ---- the scene --------------------------------------------------------------------------------------------------


def _first_frame(size: Size) -> Frame:
    return _picture([State(0.0, 0.0, TRACK_RADIUS)], size)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    state = course(take)
    for index in range(1, FRAMES):
        yield _picture(_exposed(state, index), size)


SIMULATORS = {
    "roulette": SceneSimulator(
        artefacts=(*_ASTRAY, "on_fret"),
        first_frame=_first_frame,
        frames=_frames,
    )
}
