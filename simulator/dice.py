"""The die: thrown into a wooden box, seen from straight above.

Its motion is that of a rigid cube with rounded edges: free flight, impacts with restitution and Coulomb friction on the
floor and the four walls. A cube moves the same however its faces are numbered, so that any throw can end with any face
up: in its first flight the die turns by as much more as brings the wanted face to where the throw ends.

Lengths are in sides of the die, axes x right, y up (in the picture) and z towards the viewer.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from constants import SIMULATOR_FPS
from simulator.base import SceneSimulator, Size, Take
from simulator.dice_drawing import (
    BOX_HALF_HEIGHT,
    BOX_HALF_WIDTH,
    CORE,
    DIE_SIDE,
    EDGE_RADIUS,
    FACES,
    Array,
    Pose,
    box,
    draw,
)
from video_io import Frame

# ---- the throw, in sides and seconds
START = (-3.6, 0.3, 1.35)
START_TILT_DEG, START_TURN_DEG = 34.0, 14.0
SPEED = ((7.5, 10.0), (-4.0, 4.0), (0.6, 1.6))
SPIN = ((-2.5, 2.5), (3.5, 6.5), (-2.5, 2.5))
GRAVITY = 10.0  # of a die in slow motion
RESTITUTION = 0.5
FRICTION = 0.35
_AIR_DRAG = 0.2
STEPS_PER_FRAME = 8
FRAMES = 100
REST_BY = 88  # a throw that rolls longer than this many frames is thrown again
_REST_ENERGY = 2e-3
_EXTRA_TURN_S = 0.9
_TO_EDGE_S = 0.9


def start_pose() -> Pose:
    """In the air at the left, tilted about a level edge: 1 and 5 can be seen, and no other face."""
    tilt = np.radians(START_TILT_DEG)
    one, five = np.array([-np.sin(tilt), 0, np.cos(tilt)]), np.array([np.cos(tilt), 0, np.sin(tilt)])
    untwisted = np.stack([one, -five, np.cross(one, -five)], axis=1)
    return Pose(np.array(START), _rotation(np.array([0, 0, np.radians(START_TURN_DEG)])) @ untwisted)


def throw(take: Take) -> list[Pose]:
    """The poses of frames 0..FRAMES - 1; the last ones are the same: the die at rest."""
    poses = _throw_that_rests(take.rng)
    rest = _nearest_level(poses[-1].rotation)
    face = take.outcome or int(take.rng.integers(1, 7))
    turn = _turn_between(np.array(FACES[face], float), rest.T @ [0, 0, 1], take.rng)
    result = []
    for i, pose in enumerate(poses):
        extra = _smoothstep(i / (SIMULATOR_FPS * _EXTRA_TURN_S))
        result.append(Pose(pose.position, pose.rotation @ _rotation(extra * turn)))
    result[-1] = Pose(poses[-1].position, rest @ _rotation(turn))
    if take.artefact == "on_edge":
        result = _end_on_edge(result, take.rng)
    return result + [result[-1]] * (FRAMES - len(result))


def up_components(pose: Pose) -> dict[int, float]:
    """How far each face looks up: the cosine between its axis and the line of sight."""
    return {face: float(pose.rotation[2] @ axis) for face, axis in FACES.items()}


def _throw_that_rests(rng: np.random.Generator) -> list[Pose]:
    while True:
        velocity, spin = (np.array([rng.uniform(*bounds) for bounds in ranges]) for ranges in (SPEED, SPIN))
        poses = _simulate(velocity, spin)
        if len(poses) <= REST_BY and np.abs(poses[-1].rotation[2]).max() > 0.9999:
            return poses


# Inner corners of the die: the middles of the spheres that are its rounded corners, all that can touch a plane.
_CORNERS = CORE * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_HALF_X, _HALF_Y = BOX_HALF_WIDTH / DIE_SIDE, BOX_HALF_HEIGHT / DIE_SIDE
# Floor and walls as planes: inward normal n and offset d, a point p being inside when n p > d.
_NORMALS = np.array([(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)], float)
_OFFSETS = np.array([0, -_HALF_X, -_HALF_X, -_HALF_Y, -_HALF_Y])


def _simulate(velocity: Array, spin: Array) -> list[Pose]:
    """Poses, one a frame, until the die is at rest or for REST_BY + 1 frames. Semi-implicit Euler steps of 1/192 s."""
    dt = 1 / (SIMULATOR_FPS * STEPS_PER_FRAME)
    position, rotation = start_pose().position, start_pose().rotation
    poses = [Pose(position, rotation)]
    while len(poses) <= REST_BY:
        for _ in range(STEPS_PER_FRAME):
            velocity = velocity - [0, 0, GRAVITY * dt]
            corners = _CORNERS @ rotation.T
            gaps = (position + corners) @ _NORMALS.T - _OFFSETS - EDGE_RADIUS
            velocity, spin = _impacts(velocity, spin, corners, np.argwhere(gaps < 0))
            # What the impulses left of an overlap is pushed out gently.
            position = position - 0.3 * np.minimum(gaps.min(axis=0) + 0.002, 0) @ _NORMALS
            position = position + velocity * dt
            rotation = _rotation(spin * dt) @ rotation
            spin = spin * (1 - _AIR_DRAG * dt)
        poses.append(Pose(position, rotation))
        if velocity @ velocity + spin @ spin / 6 < _REST_ENERGY:
            break
    return poses


def _impacts(velocity: Array, spin: Array, corners: Array, touching: NDArray[np.int64]) -> tuple[Array, Array]:
    """Sequential impulses at the touching (corner, plane) pairs: restitution first, then two passes without.

    Mass 1 and moment of inertia 1/6 about every axis, as a cube of side 1 has.
    """
    for sweep in range(3 if len(touching) > 1 else min(1, len(touching))):
        for corner, plane in touching:
            normal = _NORMALS[plane]
            arm = corners[corner] - EDGE_RADIUS * normal
            at_contact = velocity + np.cross(spin, arm)
            approach = at_contact @ normal
            if approach >= 0:
                continue
            bounce = RESTITUTION if sweep == 0 and approach < -0.5 else 0.0
            push = -(1 + bounce) * approach / (1 + 6 * (arm @ arm - (arm @ normal) ** 2))
            impulse = push * normal
            sliding = at_contact - approach * normal
            speed = np.sqrt(sliding @ sliding)
            if speed > 1e-9:
                along = sliding / speed
                stop = speed / (1 + 6 * (arm @ arm - (arm @ along) ** 2))
                impulse = impulse - min(FRICTION * push, stop) * along
            velocity = velocity + impulse
            spin = spin + 6 * np.cross(arm, impulse)
    return velocity, spin


def _end_on_edge(poses: list[Pose], rng: np.random.Generator) -> list[Pose]:
    """As the die comes to rest it tips by 45 degrees about a level edge, and stays there: two faces are equally up."""
    last = poses[-1].rotation
    level = last.T[np.abs(last[2]) < 0.5]
    axis = level[int(rng.integers(2))] * rng.choice([-1, 1])
    begin = len(poses) - 1 - round(SIMULATOR_FPS * _TO_EDGE_S / 2)
    padded = poses + [poses[-1]] * round(SIMULATOR_FPS * _TO_EDGE_S / 2)
    result = []
    for i, pose in enumerate(padded):
        lean = np.pi / 4 * _smoothstep((i - begin) / (SIMULATOR_FPS * _TO_EDGE_S))
        lift = np.array([0, 0, (np.sqrt(0.5) - 0.5) * lean / (np.pi / 4)])
        result.append(Pose(pose.position + lift, _rotation(lean * axis) @ pose.rotation))
    return result


def _rotation(vector: Array) -> Array:
    """Rotation by |vector| radians about it (Rodrigues), shape (3, 3)."""
    angle = float(np.sqrt(vector @ vector))
    x, y, z = vector / max(angle, 1e-12)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross)


def _turn_between(start: Array, end: Array, rng: np.random.Generator) -> Array:
    """The shortest rotation vector that takes one axis of the die to another."""
    if start @ end > 0.5:
        return np.zeros(3)
    if start @ end < -0.5:
        sideways = np.eye(3)[np.abs(start) < 0.5]
        return np.asarray(np.pi * sideways[int(rng.integers(2))])
    return np.asarray(np.pi / 2 * np.cross(start, end))


def _nearest_level(rotation: Array) -> Array:
    """The nearest rotation with one of the die's axes exactly upright."""
    axis = int(np.abs(rotation[2]).argmax())
    now = rotation[:, axis]
    upright = np.array([0, 0, np.sign(now[2])])
    return _rotation(np.cross(now, upright)) @ rotation


def _smoothstep(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return t * t * (3 - 2 * t)


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


SIMULATORS = {"dice": SceneSimulator(artefacts=("on_edge",), first_frame=_first_frame, frames=_frames)}
