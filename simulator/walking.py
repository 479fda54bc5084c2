"""Walking: a person seen from behind walks down a corridor to a T-junction, turns left or right and walks off screen.

The person starts from a stand, walks straight, turns in a quarter circle in the middle of the crossing corridor and
disappears behind its corner.
"""

import math
from collections.abc import Iterator

from constants import SIMULATOR_FPS
from simulator.base import SceneSimulator, Size, Take, smoothstep
from simulator.walking_drawing import END_Z, JUNCTION_Z, Pose, corridor, draw_person
from video_io import Frame

START_Z = 2.5
DURATION_S = 4.5
ARTEFACTS = ("stops_before_junction", "stops_at_junction")

_CROSSING_Z = (JUNCTION_Z + END_Z) / 2
_SPEED = (1.40, 1.55)
_TURN_RADIUS = (0.55, 0.8)
_STEP_LENGTH = 0.70
# Time to walk at full speed, and distance before a halt over which the person slows down.
_START_S = 0.5
_BRAKING_M = 0.7


def _on_path(along: float, side: int, radius: float) -> tuple[float, float, float]:
    """(x, z, heading) after walking `along` metres: straight ahead, a quarter circle, straight to the side."""
    straight = _CROSSING_Z - radius - START_Z
    if along < straight:
        return 0.0, START_Z + along, 0.0
    angle = min((along - straight) / radius, math.pi / 2)
    rest = along - straight - radius * angle
    x = radius * (1 - math.cos(angle)) + rest
    return side * x, START_Z + straight + radius * math.sin(angle), side * angle


def poses(take: Take) -> Iterator[Pose]:
    """The pose at frames 1, 2, ..."""
    rng = take.rng
    side = 0 if take.outcome is None else (-1, 1)[take.outcome - 1]
    speed, radius = rng.uniform(*_SPEED), rng.uniform(*_TURN_RADIUS)
    halts = {"stops_before_junction": rng.uniform(3.0, 4.1), "stops_at_junction": rng.uniform(5.6, 6.1)}
    halt = halts[take.artefact] - START_Z if take.artefact else math.inf
    first_foot = math.pi * rng.integers(2)
    glance_side = rng.choice([-1, 1])
    along, now, glance = 0.0, 0.0, 0.0
    for index in range(1, round(DURATION_S * SIMULATOR_FPS)):
        wanted = speed * smoothstep(index / SIMULATOR_FPS / _START_S)
        braked = speed * math.sqrt(max(halt - along, 0.0) / _BRAKING_M)
        now = min(wanted, braked)
        along += now / SIMULATOR_FPS
        x, z, heading = _on_path(along, side, radius)
        # A step starts and ends with the feet together; in between the left one or the right one is ahead.
        phase = first_foot + math.pi / 2 + math.pi * along / _STEP_LENGTH
        if take.artefact == "stops_at_junction" and now < 0.15:
            glance += (glance_side * 0.8 * math.sin(2.2 * (along + index / SIMULATOR_FPS)) - glance) * 0.12
        yield Pose(x, z, heading, phase, _STEP_LENGTH * now / speed, glance)


def _draw(size: Size, pose: Pose) -> Frame:
    frame = corridor(size).copy()
    draw_person(frame, pose, size)
    return frame


def _first_frame(size: Size) -> Frame:
    frame = _draw(size, Pose(0.0, START_Z))
    # Standing still the person is symmetric, but for the rounding where two limbs overlap.
    half = size[0] // 2
    frame[:, half:] = frame[:, :half][:, ::-1]
    return frame


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    for pose in poses(take):
        yield _draw(size, pose)


SIMULATORS = {"walking": SceneSimulator(ARTEFACTS, _first_frame, _frames)}
