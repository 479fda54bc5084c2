"""Pictures of the walking scene: a corridor with a T-junction, ray-cast once, and a person made of tapered limbs.

World coordinates in metres: x to the right, y up from the floor, z away from the camera, which stands in the middle of
the corridor. The corridor runs to JUNCTION_Z, the crossing one from there to END_Z.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.base import Size, smoothstep
from simulator.drawing import SUPERSAMPLING, Colour, capsule
from video_io import Frame

HALF_WIDTH = 1.45
CEILING = 2.6
JUNCTION_Z = 4.9
END_Z = 7.1
CAMERA_HEIGHT = 1.0
# Of the picture, in frame heights: distance of the image plane, and the height of the horizon from the top.
FOCAL = 0.86
HORIZON = 0.45
# Where the corner of the corridor hides what walks into the crossing one, in scene coordinates.
CORNER_X = FOCAL * HALF_WIDTH / JUNCTION_Z

World = tuple[float, float, float]
# (forward, to the right, up) of a person, in metres -> world.
_At = Callable[[float, float, float], World]
_Array = NDArray[Any]

_CROSSING_Z = (JUNCTION_Z + END_Z) / 2
# Ceiling lamps (x, z), the last three of which light the crossing corridor only.
_LAMPS = ((0.0, 0.9), (0.0, 3.1), (0.0, _CROSSING_Z), (-2.6, _CROSSING_Z), (2.6, _CROSSING_Z))
_LAMP_HALF = (0.28, 0.6)
_TILE = 0.58
_WAINSCOT = 0.92

JACKET: Colour = (196, 62, 48)
TROUSERS: Colour = (44, 54, 78)
_PACK: Colour = (58, 116, 128)
_HAIR: Colour = (62, 42, 30)
_SKIN: Colour = (222, 170, 136)
_SHOES: Colour = (36, 34, 36)


def project(point: World, size: Size) -> tuple[float, float]:
    """Pixel position of a point in front of the camera."""
    x, y, z = point
    width, height = size
    return width / 2 + height * FOCAL * x / z, height * (HORIZON + FOCAL * (CAMERA_HEIGHT - y) / z)


# ---- corridor ---------------------------------------------------------------------------------------------------


@functools.cache
def corridor(size: Size) -> Frame:
    """The empty corridor, mirror-symmetric pixel by pixel. Computed in bands, so that little memory is needed."""
    width, height = size
    scale = SUPERSAMPLING
    x = ((np.arange(width // 2 * scale, dtype=np.float32) + 0.5) / scale - width / 2) / (height * FOCAL)
    frame = np.empty((height, width, 3), np.uint8)
    band = 40
    for top in range(0, height, band):
        rows = np.arange(top * scale, min(top + band, height) * scale, dtype=np.float32)
        down = ((rows + 0.5) / scale / height - HORIZON) / FOCAL
        large = _ray_cast(x[None, :], down[:, None])
        reduced = large.reshape(len(rows) // scale, scale, width // 2, scale, 3).mean(axis=(1, 3))
        frame[top : top + band, : width // 2] = (255 * np.clip(reduced, 0, 1) + 0.5).astype(np.uint8)
    frame[:, width // 2 :] = frame[:, : width // 2][:, ::-1]
    return frame


def _ray_cast(across: _Array, down: _Array) -> _Array:
    """Colours 0..1 seen along rays (across, -down, 1), shape (rows, columns, 3)."""
    across, down = np.broadcast_arrays(across, down)
    to_floor = np.where(down > 0, CAMERA_HEIGHT, CEILING - CAMERA_HEIGHT) / np.maximum(np.abs(down), 1e-6)
    to_wall = HALF_WIDTH / np.maximum(np.abs(across), 1e-6)
    is_wall = (to_wall < JUNCTION_Z) & (to_wall < to_floor)
    is_end = ~is_wall & (to_floor > END_Z)
    z = np.where(is_wall, to_wall, np.minimum(to_floor, END_Z))
    x, y = across * z, CAMERA_HEIGHT - down * z
    upright = is_wall | is_end
    is_floor = ~upright & (down > 0)

    colour = np.where(upright[..., None], _wall_colour(y), _ceiling_colour(x, z))
    colour = np.where(is_floor[..., None], _floor_colour(x, z), colour)
    plate, arrow = _signs(x, y)
    colour = np.where((is_end & plate)[..., None], (0.10, 0.38, 0.30), colour)
    colour = np.where((is_end & arrow)[..., None], (0.96, 0.97, 0.95), colour)
    light = _light(x, y, z, is_wall, is_end, is_floor)
    shaded = colour * light[..., None] * np.array([1.0, 0.985, 0.955])
    lamp = _is_lamp(x, z) & ~upright & ~is_floor
    shaded[lamp] = 1.0
    # The polished floor mirrors the lamps.
    rise = CEILING / np.maximum(down, 1e-6)
    mirrored_x, mirrored_z = x + rise * across, z + rise
    gleam = _is_lamp(mirrored_x, mirrored_z) & is_floor & (mirrored_z < END_Z) & (np.abs(mirrored_x) < HALF_WIDTH)
    shaded += 0.16 * gleam[..., None]
    return np.asarray(shaded, np.float32)


def _light(x: _Array, y: _Array, z: _Array, is_wall: _Array, is_end: _Array, is_floor: _Array) -> _Array:
    """Brightness from all lamps and from all around, darker towards the edges where two surfaces meet."""
    total = np.full(x.shape, 0.40, np.float32)
    for lamp_x, lamp_z in _LAMPS:
        dx, dy, dz = lamp_x - x, CEILING - 0.05 - y, lamp_z - z
        square = dx * dx + dy * dy + dz * dz + 0.25
        # Cosine to the surface; the ceiling is lit by what the floor throws back.
        cosine = np.where(is_wall, np.abs(dx), np.where(is_end, np.abs(dz), np.where(is_floor, dy, 0.9)))
        given = 0.95 * cosine / square**1.1
        total += np.where((z > JUNCTION_Z) | (lamp_z < JUNCTION_Z), given, 0.25 * given)
    to_edge = np.where(
        is_wall | is_end, np.minimum(y, CEILING - y), np.where(z < JUNCTION_Z, HALF_WIDTH - np.abs(x), END_Z - z)
    )
    return np.asarray(np.minimum(total, 1.12) * (1 - 0.32 * np.exp(-np.maximum(to_edge, 0) / 0.16)), np.float32)


def _wall_colour(y: _Array) -> _Array:
    plaster, panel, rail, skirting = (0.93, 0.91, 0.86), (0.52, 0.64, 0.66), (0.97, 0.97, 0.95), (0.30, 0.33, 0.36)
    level = y[..., None]
    colour = np.where(level < _WAINSCOT, panel, plaster)
    colour = np.where(np.abs(level - _WAINSCOT) < 0.022, rail, colour)
    return np.asarray(np.where(level < 0.11, skirting, colour), np.float32)


def _floor_colour(x: _Array, z: _Array) -> _Array:
    column, row = (x / _TILE + 0.5), z / _TILE
    odd = (np.floor(column) + np.floor(row)) % 2
    colour = np.where(odd[..., None] > 0, (0.70, 0.67, 0.62), (0.60, 0.57, 0.53))
    edge = np.minimum(np.abs(column - np.round(column)), np.abs(row - np.round(row))) * _TILE
    return np.asarray(np.where(edge[..., None] < 0.008, (0.44, 0.42, 0.40), colour), np.float32)


def _ceiling_colour(x: _Array, z: _Array) -> _Array:
    edge = np.minimum(np.abs((x / 0.6 + 0.5) % 1 - 0.5), np.abs((z / 0.6 + 0.5) % 1 - 0.5)) * 0.6
    return np.asarray(np.where(edge[..., None] < 0.012, (0.70, 0.71, 0.72), (0.86, 0.87, 0.87)), np.float32)


def _signs(x: _Array, y: _Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Two plates on the end wall, each with an arrow outwards: where the plates are, and where the arrows."""
    out, up = np.abs(x) - 0.98, np.abs(y - 1.72)
    plate = (np.abs(out) < 0.30) & (up < 0.15)
    shaft = (out > -0.2) & (out < 0.06) & (up < 0.025)
    head = (out >= 0.04) & (up < 0.7 * (0.2 - out))
    return plate, shaft | head


def _is_lamp(x: _Array, z: _Array) -> NDArray[np.bool_]:
    inside = np.zeros(x.shape, bool)
    for index, (lamp_x, lamp_z) in enumerate(_LAMPS):
        half_x, half_z = _LAMP_HALF if index < 2 else _LAMP_HALF[::-1]
        inside |= (np.abs(x - lamp_x) < half_x) & (np.abs(z - lamp_z) < half_z)
    return inside


# ---- person -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pose:
    """Where a person is and how.

    x, z: on the floor, metres. heading: radians to the right of straight ahead. phase: of the gait, 2 pi for two
    steps. stride: length of a step, metres; 0 is standing. glance: of the head, radians to the right of the heading.
    """

    x: float
    z: float
    heading: float = 0.0
    phase: float = 0.0
    stride: float = 0.0
    glance: float = 0.0


@dataclass(frozen=True)
class Limb:
    start: World
    end: World
    start_radius: float
    end_radius: float
    colour: Colour


_HIP_HEIGHT, _HIP_HALF = 0.92, 0.085
_THIGH, _SHIN, _ANKLE_HEIGHT = 0.43, 0.42, 0.075
_SHOULDER_HEIGHT, _SHOULDER_HALF = 1.44, 0.19
_UPPER_ARM, _FOREARM = 0.28, 0.25
_HEM = 0.055


def draw_person(frame: Frame, pose: Pose, size: Size) -> None:
    """Draw a person and the shadow on the floor, cut off where the corridor's corner stands in front."""
    hidden = pose.z > JUNCTION_Z
    edges = [round(size[0] / 2 + side * CORNER_X * size[1]) for side in (-1, 1)]
    kept = frame[:, edges[0] : edges[1]] if hidden else frame
    shift = edges[0] if hidden else 0
    _shadow(kept, pose, size, shift)
    for limb in limbs(pose):
        scale = FOCAL * size[1] * 2 / (limb.start[2] + limb.end[2])
        (x0, y0), (x1, y1) = project(limb.start, size), project(limb.end, size)
        radii = limb.start_radius * scale, limb.end_radius * scale
        capsule(kept, (x0 - shift, y0), (x1 - shift, y1), *radii, limb.colour, relief=0.38)


def _shadow(frame: Frame, pose: Pose, size: Size, shift: int) -> None:
    x, y = project((pose.x, 0.0, pose.z), size)
    across = 0.30 * FOCAL * size[1] / pose.z
    deep = 0.26 * FOCAL * size[1] * CAMERA_HEIGHT / pose.z**2
    x0, x1 = max(int(x - shift - 2 * across), 0), min(int(x - shift + 2 * across) + 1, frame.shape[1])
    y0, y1 = max(int(y - 2 * deep), 0), min(int(y + 2 * deep) + 1, frame.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    dx = (np.arange(x0, x1, dtype=np.float32) + 0.5 - (x - shift)) / across
    dy = (np.arange(y0, y1, dtype=np.float32)[:, None] + 0.5 - y) / deep
    alpha = 0.55 * np.exp(-1.6 * (dx * dx + dy * dy))[..., None]
    frame[y0:y1, x0:x1] = (frame[y0:y1, x0:x1] * (1 - alpha) + 0.5).astype(np.uint8)


def limbs(pose: Pose) -> list[Limb]:
    """All limbs in the order of drawing: from far to near, and the jacket over the legs."""
    ahead, right = (math.sin(pose.heading), math.cos(pose.heading)), (math.cos(pose.heading), -math.sin(pose.heading))
    # The leg on the ground is nearly straight, so that the hips are lowest when the legs are apart.
    sink = 0.12 * pose.stride**2 * math.cos(pose.phase) ** 2
    hip, shoulder = _HIP_HEIGHT - sink, _SHOULDER_HEIGHT - sink

    def at(forward: float, side: float, height: float) -> World:
        return pose.x + forward * ahead[0] + side * right[0], height, pose.z + forward * ahead[1] + side * right[1]

    legs, upper = [], [*_trunk(at, hip, shoulder, abs(math.cos(pose.heading))), *_head(pose, shoulder)]
    for side, phase in ((-1, pose.phase), (1, pose.phase + math.pi)):
        legs += _leg(at, side, phase, pose.stride, hip)
        upper += _arm(at, side, phase + math.pi, pose.stride, shoulder)

    def distance(limb: Limb) -> float:
        return (limb.start[2] + limb.end[2]) / 2

    upper, legs = (sorted(limbs, key=distance, reverse=True) for limbs in (upper, legs))
    behind = [limb for limb in upper if distance(limb) > pose.z + 0.05]
    return behind + legs + upper[len(behind) :]


def _trunk(at: _At, hip: float, shoulder: float, seen_from_behind: float) -> list[Limb]:
    """Body, shoulders, backpack and neck; a body is wider from behind (1) than from the side (0)."""
    chest, waist = 0.135 + 0.045 * seen_from_behind, 0.112 + 0.045 * seen_from_behind
    x, hem, z = at(0, 0, hip - 0.02)
    across = 0.11 + 0.066 * seen_from_behind - _HEM
    return [
        Limb(at(0, 0, hip + 0.10), at(0, 0, shoulder - 0.14), waist, chest, JACKET),
        # The hem lies across, or the jacket would end in a ball.
        Limb((x - across, hem, z), (x + across, hem, z), _HEM, _HEM, JACKET),
        Limb(at(-0.01, -0.15, shoulder - 0.03), at(-0.01, 0.15, shoulder - 0.03), 0.065, 0.065, JACKET),
        Limb(at(-0.17, 0, hip + 0.20), at(-0.17, 0, shoulder - 0.13), 0.115, 0.105, _PACK),
        Limb(at(0.0, 0, shoulder - 0.02), at(0.01, 0, shoulder + 0.09), 0.055, 0.05, _SKIN),
    ]


def _head(pose: Pose, shoulder: float) -> list[Limb]:
    look, crown = pose.heading + pose.glance, shoulder + 0.20

    def ball(forward: float, up: float, radius: float, colour: Colour) -> Limb:
        point = (pose.x + forward * math.sin(look), crown + up, pose.z + forward * math.cos(look))
        return Limb(point, point, radius, radius, colour)

    return [ball(0.02, 0.0, 0.098, _SKIN), ball(-0.01, 0.04, 0.1, _HAIR), ball(-0.035, 0.015, 0.105, _HAIR)]


def _leg(at: _At, side: int, phase: float, stride: float, hip: float) -> list[Limb]:
    phase %= 2 * math.pi
    share = phase / math.pi
    if share < 1:  # on the ground, while the body moves on by one step: first on the heel, in the end on the toes
        reach = stride * (0.5 - share)
        lift = stride * (0.03 * max(0.0, 1 - 2 * share) ** 2 + 0.12 * max(0.0, 2 * share - 1) ** 2)
    else:
        share -= 1
        reach = stride * (smoothstep(share) - 0.5)
        lift = stride * (0.12 * (1 - share) ** 2 + 0.03 * share**2 + 0.16 * math.sin(math.pi * share))
    ankle = (reach, _ANKLE_HEIGHT + lift)
    knee, ankle = _two_bones((0.0, hip), ankle, _THIGH, _SHIN)
    inward = 0.9 * side * _HIP_HALF
    toe = (ankle[0] + 0.17, max(ankle[1] - 0.045 - 0.35 * lift, 0.03))
    return [
        Limb(at(0, side * _HIP_HALF, hip), at(knee[0], side * _HIP_HALF, knee[1]), 0.088, 0.062, TROUSERS),
        Limb(at(knee[0], side * _HIP_HALF, knee[1]), at(ankle[0], inward, ankle[1]), 0.062, 0.05, TROUSERS),
        Limb(at(ankle[0] - 0.03, inward, ankle[1] - 0.03), at(toe[0], inward * 1.15, toe[1]), 0.046, 0.036, _SHOES),
    ]


def _arm(at: _At, side: int, phase: float, stride: float, shoulder: float) -> list[Limb]:
    swing = 0.75 * stride * math.cos(phase)
    bend = swing + 0.12 + 0.35 * stride
    elbow = (_UPPER_ARM * math.sin(swing), shoulder - 0.03 - _UPPER_ARM * math.cos(swing))
    hand = (elbow[0] + _FOREARM * math.sin(bend), elbow[1] - _FOREARM * math.cos(bend))
    outer = side * _SHOULDER_HALF
    palm = at(hand[0], 1.1 * outer, hand[1] - 0.03)
    return [
        Limb(at(0, outer, shoulder - 0.04), at(elbow[0], 1.16 * outer, elbow[1]), 0.062, 0.052, JACKET),
        Limb(at(elbow[0], 1.16 * outer, elbow[1]), at(hand[0], 1.1 * outer, hand[1]), 0.05, 0.042, JACKET),
        Limb(palm, palm, 0.042, 0.042, _SKIN),
    ]


def _two_bones(
    root: tuple[float, float], target: tuple[float, float], upper: float, lower: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Knee and ankle of a leg from `root` towards `target` (forward, height); the knee bends forward."""
    dx, dy = target[0] - root[0], target[1] - root[1]
    distance = min(math.hypot(dx, dy), 0.999 * (upper + lower))
    angle = math.atan2(dx, -dy)
    inner = math.acos((upper**2 + distance**2 - lower**2) / (2 * upper * distance))
    knee = root[0] + upper * math.sin(angle + inner), root[1] - upper * math.cos(angle + inner)
    return knee, (root[0] + distance * math.sin(angle), root[1] - distance * math.cos(angle))
