"""How a die moves: a rigid cube with rounded edges in a box, whose floor and walls are planes.

Free flight, and impacts with restitution and Coulomb friction; at rest when hardly any energy is left. Lengths are in
sides of the die, axes x right, y up (in the picture) and z towards the viewer; times in seconds. The loop runs on plain
floats: with three numbers at a time numpy would take several times as long.
"""

import math
from dataclasses import dataclass

import numpy as np

from constants import SIMULATOR_FPS
from simulator.base import Array

EDGE_RADIUS = 0.13
CORE = 0.5 - EDGE_RADIUS  # half the side of the cube to which the rounded edge is added
GRAVITY = 10.0  # of a die in slow motion
RESTITUTION = 0.5
FRICTION = 0.35
_AIR_DRAG = 0.2
_BOUNCES_FROM = 0.5  # a slower impact is taken up entirely
_STEPS_PER_FRAME = 8
_DT = 1 / (SIMULATOR_FPS * _STEPS_PER_FRAME)
_REST_ENERGY = 2e-3
_INERTIA = 1 / 6  # of a cube of side 1 and mass 1, about every axis

# Inner corners of the die: the middles of the spheres that are its rounded corners, all that can touch a plane.
_CORNERS = tuple((x * CORE, y * CORE, z * CORE) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))


@dataclass(frozen=True)
class Pose:
    """position: of the die's middle, shape (3,). rotation: columns are the die's axes, shape (3, 3)."""

    position: Array
    rotation: Array

    def reach(self, axis: int) -> float:
        """How far the die reaches from its middle along an axis of the box."""
        return float(CORE * np.abs(self.rotation[axis]).sum() + EDGE_RADIUS)


def rotation_by(vector: Array) -> Array:
    """Rotation by |vector| radians about it (Rodrigues), shape (3, 3)."""
    return np.reshape(_rotation(*map(float, vector)), (3, 3))


def simulate(start: Pose, velocity: Array, spin: Array, walls: tuple[float, float], frames: int) -> list[Pose]:
    """Poses, one a frame, until the die is at rest or for `frames` frames. Semi-implicit Euler steps of _DT.

    walls: how far from the middle they are, to the sides and up and down. spin: angular velocity, shape (3,).
    """
    # Axis, direction of the inward normal, and how far along it the plane is.
    planes = ((2, 1.0, 0.0), *((axis, sign, -walls[axis]) for axis in (0, 1) for sign in (1.0, -1.0)))
    die = _Die(start, velocity, spin)
    poses = [start]
    while len(poses) < frames and (len(poses) == 1 or die.energy > _REST_ENERGY):
        for _ in range(_STEPS_PER_FRAME):
            die.step(planes)
        poses.append(Pose(np.array(die.position), np.reshape(die.rotation, (3, 3))))
    return poses


_Matrix = tuple[float, float, float, float, float, float, float, float, float]
_Plane = tuple[int, float, float]


class _Die:
    """The state of a die. rotation: row by row."""

    def __init__(self, pose: Pose, velocity: Array, spin: Array) -> None:
        self.position = [float(x) for x in pose.position]
        self.velocity = [float(v) for v in velocity]
        self.spin = [float(w) for w in spin]
        a, b, c, d, e, f, g, h, i = (float(r) for r in pose.rotation.ravel())
        self.rotation: _Matrix = (a, b, c, d, e, f, g, h, i)

    @property
    def energy(self) -> float:
        """Kinetic, twice."""
        return sum(v * v for v in self.velocity) + _INERTIA * sum(w * w for w in self.spin)

    def step(self, planes: tuple[_Plane, ...]) -> None:
        self.velocity[2] -= GRAVITY * _DT
        position, rotation, near = self.position, self.rotation, []
        for axis, sign, offset in planes:
            a, b, c = rotation[3 * axis : 3 * axis + 3]
            gap = sign * position[axis] - offset - EDGE_RADIUS - CORE * (abs(a) + abs(b) + abs(c))
            if gap < 0.2:
                near.append((axis, sign, offset))
            if gap < 0:  # what the impulses left of an overlap is pushed out gently
                position[axis] -= 0.3 * gap * sign
        if near:
            self._impacts(near)
        for k in range(3):
            position[k] += self.velocity[k] * _DT
        x, y, z = (w * _DT for w in self.spin)
        self.rotation = _product(_rotation(x, y, z), rotation)
        self.spin = [w * (1 - _AIR_DRAG * _DT) for w in self.spin]

    def _impacts(self, near: list[_Plane]) -> None:
        """Sequential impulses where a corner would pass a plane in this step: with restitution first, then without."""
        a, b, c, d, e, f, g, h, i = self.rotation
        arms = []
        for x, y, z in _CORNERS:
            corner = (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)
            for axis, sign, offset in near:
                gap = sign * (self.position[axis] + corner[axis]) - offset - EDGE_RADIUS
                if gap < 0.1:
                    arm = [*corner]
                    arm[axis] -= EDGE_RADIUS * sign
                    arms.append((axis, sign, gap, arm))
        for sweep in range(3):
            for axis, sign, gap, arm in arms:
                self._impact(axis, sign, gap, arm, bounces=sweep == 0)

    def _impact(self, axis: int, sign: float, gap: float, arm: list[float], *, bounces: bool) -> None:
        """Change velocity and spin so that the point at `arm` does not cross its gap to the plane in this step."""
        wx, wy, wz = self.spin
        x, y, z = arm
        vx, vy, vz = self.velocity
        at_contact = [vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x]
        approach = sign * at_contact[axis]
        if approach >= -max(gap / _DT, 0.0):
            return
        bounce = RESTITUTION if bounces and approach < -_BOUNCES_FROM else 0.0
        square = x * x + y * y + z * z
        push = -(1 + bounce) * approach / (1 + (square - arm[axis] ** 2) / _INERTIA)
        at_contact[axis] = 0.0
        sliding = math.sqrt(sum(u * u for u in at_contact))
        jx, jy, jz = 0.0, 0.0, 0.0
        if sliding > 1e-9:
            along = [u / sliding for u in at_contact]
            lever = x * along[0] + y * along[1] + z * along[2]
            friction = min(FRICTION * push, sliding / (1 + (square - lever * lever) / _INERTIA))
            jx, jy, jz = (-friction * u for u in along)
        impulse = [jx, jy, jz]
        impulse[axis] += sign * push
        jx, jy, jz = impulse
        self.velocity = [vx + jx, vy + jy, vz + jz]
        self.spin = [
            wx + (y * jz - z * jy) / _INERTIA,
            wy + (z * jx - x * jz) / _INERTIA,
            wz + (x * jy - y * jx) / _INERTIA,
        ]


def _rotation(x: float, y: float, z: float) -> _Matrix:
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-12:
        return 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    x, y, z = x / angle, y / angle, z / angle
    s, c = math.sin(angle), math.cos(angle)
    t = 1 - c
    return (
        *(c + t * x * x, t * x * y - s * z, t * x * z + s * y),
        *(t * x * y + s * z, c + t * y * y, t * y * z - s * x),
        *(t * x * z - s * y, t * y * z + s * x, c + t * z * z),
    )


def _product(p: _Matrix, q: _Matrix) -> _Matrix:
    a, b, c, d, e, f, g, h, i = p
    j, k, m, n, o, r, s, t, u = q
    return (
        *(a * j + b * n + c * s, a * k + b * o + c * t, a * m + b * r + c * u),
        *(d * j + e * n + f * s, d * k + e * o + f * t, d * m + e * r + f * u),
        *(g * j + h * n + i * s, g * k + h * o + i * t, g * m + h * r + i * u),
    )
