"""The die: thrown into a wooden box, seen from straight above.

What is drawn is what the equations of motion give (`dice_motion`), from the conditioning pose to rest. The outcome
follows from velocity and spin of the throw, so that throws are drawn at random until one ends with the wanted face up.

Lengths are in sides of the die, axes x right, y up (in the picture) and z towards the viewer.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from constants import SIMULATOR_FPS
from simulator.base import Array, SceneSimulator, Size, Take, smoothstep
from simulator.dice_drawing import BOX_HALF_HEIGHT, BOX_HALF_WIDTH, DIE_SIDE, FACES, box, draw
from simulator.dice_motion import Pose, rotation_by, simulate
from video_io import Frame

# ---- the throw, in sides and seconds
START = (-3.6, 0.3, 1.35)
START_TILT_DEG, START_TURN_DEG = 34.0, 14.0
SPEED = ((7.5, 10.0), (-4.0, 4.0), (0.6, 1.6))
SPIN = ((-2.5, 2.5), (3.5, 6.5), (-2.5, 2.5))
FRAMES = 100
# Not shown: throws that roll longer than this many frames, or turn farther from one frame to the next. A cube that
# turned by more than 45 degrees would seem to turn backwards.
REST_BY = 88
MAX_TURN_DEG = 35.0
WALLS = (BOX_HALF_WIDTH / DIE_SIDE, BOX_HALF_HEIGHT / DIE_SIDE)
_LEVEL = 0.9999  # cosine between an axis of a die at rest and the line of sight
_TO_EDGE_S = 0.9


def start_pose() -> Pose:
    """In the air at the left, tilted about a level edge: 1 and 5 can be seen, and no other face."""
    tilt = np.radians(START_TILT_DEG)
    one, five = np.array([-np.sin(tilt), 0, np.cos(tilt)]), np.array([np.cos(tilt), 0, np.sin(tilt)])
    untwisted = np.stack([one, -five, np.cross(one, -five)], axis=1)
    return Pose(np.array(START), rotation_by(np.array([0, 0, np.radians(START_TURN_DEG)])) @ untwisted)


def throw(take: Take) -> list[Pose]:
    """The poses of frames 0..FRAMES - 1; the last ones are the same: the die at rest."""
    poses = _throw_that_rests(take.rng)
    if take.outcome is None:
        poses = _ENDINGS[str(take.artefact)](poses, take.rng)
    else:
        while top_face(poses[-1]) != take.outcome:
            poses = _throw_that_rests(take.rng)
    return poses + [poses[-1]] * (FRAMES - len(poses))


def up_components(pose: Pose) -> dict[int, float]:
    """How far each face looks up: the cosine between its axis and the line of sight."""
    return {face: float(pose.rotation[2] @ axis) for face, axis in FACES.items()}


def top_face(pose: Pose) -> int:
    return max(FACES, key=lambda face: float(pose.rotation[2] @ FACES[face]))


def _throw_that_rests(rng: np.random.Generator) -> list[Pose]:
    while True:
        velocity, spin = (np.array([rng.uniform(*bounds) for bounds in ranges]) for ranges in (SPEED, SPIN))
        poses = simulate(start_pose(), velocity, spin, WALLS, REST_BY + 1)
        if len(poses) <= REST_BY and np.abs(poses[-1].rotation[2]).max() > _LEVEL and _can_be_followed(poses):
            return [*poses[:-1], _levelled(poses[-1])]


def _can_be_followed(poses: list[Pose]) -> bool:
    rotations = np.array([pose.rotation for pose in poses])
    traces = np.einsum("nij,nij->n", rotations[1:], rotations[:-1])
    return bool(traces.min() > 1 + 2 * np.cos(np.radians(MAX_TURN_DEG)))


def _levelled(pose: Pose) -> Pose:
    """With the axis that is nearly upright exactly so."""
    axis = int(np.abs(pose.rotation[2]).argmax())
    now = pose.rotation[:, axis]
    upright = np.array([0, 0, np.sign(now[2])])
    return Pose(np.array([*pose.position[:2], 0.5]), rotation_by(np.cross(now, upright)) @ pose.rotation)


def _end_on_edge(poses: list[Pose], rng: np.random.Generator) -> list[Pose]:
    """As the die comes to rest it tips by 45 degrees about a level edge, and stays there: two faces are equally up."""
    last = poses[-1].rotation
    level = last[:, np.abs(last[2]) < 0.5].T
    axis = level[int(rng.integers(2))] * rng.choice([-1, 1])
    frames = round(SIMULATOR_FPS * _TO_EDGE_S)
    begin = len(poses) - 1 - frames // 2
    result = []
    for i, pose in enumerate([*poses, *itertools.repeat(poses[-1], frames // 2)]):
        lean = np.pi / 4 * smoothstep((i - begin) / frames)
        result.append(_leaning(pose, lean * axis) if lean else pose)
    return result


def _leaning(pose: Pose, turn: Array) -> Pose:
    """Turned farther, as high above the floor as before, and moved away from a wall that it would pass."""
    leant = Pose(pose.position, rotation_by(turn) @ pose.rotation)
    room = np.array([wall - leant.reach(axis) for axis, wall in enumerate(WALLS)])
    height = pose.position[2] + leant.reach(2) - pose.reach(2)
    return Pose(np.array([*np.clip(pose.position[:2], -room, room), height]), leant.rotation)


# Artefacts: how the throw is made to end.
_ENDINGS = {"on_edge": _end_on_edge}


# ---- the scene --------------------------------------------------------------------------------------------------


def _picture(pose: Pose, size: Size) -> Frame:
    frame = box(size).copy()
    draw(frame, pose, size)
    return frame


def _first_frame(size: Size) -> Frame:
    return _picture(start_pose(), size)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    previous, picture = start_pose(), _first_frame(size)
    for pose in throw(take)[1:]:
        if pose is not previous:
            previous, picture = pose, _picture(pose, size)
        yield picture.copy()


SIMULATORS = {"dice": SceneSimulator(artefacts=tuple(_ENDINGS), first_frame=_first_frame, frames=_frames)}
