"""How the die and its box look: the die is ray-traced as a rounded cube, a few thousand pixels a frame.

Scene coordinates are those of `drawing`; the die's own lengths are in its sides, axes x right, y up, z to the viewer.
"""

import functools

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import gaussian_filter

from simulator.base import Array, Size
from simulator.dice_motion import CORE, EDGE_RADIUS, Pose
from simulator.drawing import WHITE, Floats, Painter, Point, View, blend
from simulator.textures import wood
from video_io import Frame

# ---- geometry, in frame heights (scene coordinates)
DIE_SIDE = 0.17
BOX_CENTRE = (0.0, 0.5)
BOX_HALF_WIDTH, BOX_HALF_HEIGHT = 0.80, 0.425  # inside the walls
WALL = 0.062

# ---- the die, in sides
PIP_RADIUS = 0.108
PIP_SPACING = 0.25
# Outward axis of each face; opposite faces sum to seven, and 1-2-3 run counterclockwise about their corner.
FACES: dict[int, tuple[int, int, int]] = {
    1: (1, 0, 0),
    2: (0, 1, 0),
    3: (0, 0, 1),
    4: (0, 0, -1),
    5: (0, -1, 0),
    6: (-1, 0, 0),
}
_PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}

# ---- light and camera
CAMERA_HEIGHT = 18.0  # sides above the resting die: a die in the air looks a little larger
_LIGHT = np.array([-0.42, 0.52, 0.74]) / np.linalg.norm([-0.42, 0.52, 0.74])
_HALFWAY = (_LIGHT + np.eye(3)[2]) / np.linalg.norm(_LIGHT + np.eye(3)[2])
# The shadow is the outline of the die, blurred, laid down near and far: (part of the way of the light ray, opacity).
_SHADOWS = ((0.28, 0.35), (0.5, 0.35))
_SHADOW_BLUR = 0.07  # in sides, per side of height
_FULL, _NONE = WHITE, (0, 0, 0)  # of a shadow's mask
_WHITE = np.array([250, 247, 240], np.float32)
_PIP_TEXELS = 192
_PIP_LEVELS = 5


@functools.cache
def box(size: Size) -> Frame:
    """The empty box."""
    painter = Painter(size, wood(size, "dice/table", (34, 24, 18), (62, 44, 32)))
    (cx, cy), w, h = BOX_CENTRE, BOX_HALF_WIDTH, BOX_HALF_HEIGHT
    outer, inner = _corners(cx, cy, w + WALL, h + WALL), _corners(cx, cy, w, h)
    painter.soft(lambda mask: mask.polygon([(x + 0.012, y + 0.016) for x, y in outer], _FULL), 0.012, (0, 0, 0), 0.7)
    painter.textured(inner, wood(size, "dice/floor", (158, 106, 60), (216, 166, 108)))
    for k in range(1, 5):
        y = cy - h + 2 * h * k / 5
        painter.line([(cx - w, y), (cx + w, y)], 0.0025, (122, 80, 44))
        painter.line([(cx - w, y + 0.0025), (cx + w, y + 0.0025)], 0.0012, (224, 178, 124))
    # Each wall is a mitred board with a bright and a dark edge; they shade the floor at the left and the top.
    painter.soft(lambda mask: _ring(mask, inner, _corners(cx + 0.022, cy + 0.028, w, h)), 0.012, (40, 20, 8), 0.75)
    level = (
        wood(size, "dice/wall", (96, 54, 26), (150, 92, 50)),
        wood(size, "dice/wall side", (86, 47, 22), (138, 83, 44), upright=True),
    )
    for side in range(4):
        board = [outer[side], outer[(side + 1) % 4], inner[(side + 1) % 4], inner[side]]
        painter.textured(board, level[side % 2])
    for side in range(4):
        painter.line([outer[side], inner[side]], 0.002, (66, 35, 16))
        facing_light = side in (0, 3)
        painter.line([outer[side], outer[(side + 1) % 4]], 0.004, (186, 128, 78) if facing_light else (64, 34, 16))
        painter.line([inner[side], inner[(side + 1) % 4]], 0.004, (58, 30, 14) if facing_light else (190, 132, 82))
    return painter.frame()


def _corners(cx: float, cy: float, w: float, h: float) -> list[Point]:
    return [(cx - w, cy - h), (cx + w, cy - h), (cx + w, cy + h), (cx - w, cy + h)]


def _ring(mask: Painter, outside: list[Point], inside: list[Point]) -> None:
    mask.polygon(outside, _FULL)
    mask.polygon(inside, _NONE)


def draw(frame: Frame, pose: Pose, size: Size) -> None:
    """Shadow and die, in place."""
    height = float(pose.position[2])
    side = DIE_SIDE * size[1] * CAMERA_HEIGHT / (CAMERA_HEIGHT - (height - 0.5))
    x, y = View(size).at((BOX_CENTRE[0] + DIE_SIDE * pose.position[0], BOX_CENTRE[1] - DIE_SIDE * pose.position[1]))
    reach = int(0.9 * side) + 2  # half the space diagonal of the die, rounded up
    left, top = int(x) - reach, int(y) - reach
    rgb, alpha = _render(pose.rotation, 2 * reach, side, (x - left, y - top))
    room = int(0.2 * side)
    mask = Image.fromarray(np.pad((alpha * 255).astype(np.uint8), room)).filter(
        ImageFilter.BoxBlur(_SHADOW_BLUR * height * side)
    )
    shadow = np.zeros((*mask.size, 4), np.float32)
    shadow[..., 3] = np.asarray(mask, dtype=np.float32) / 255
    for stretch, opacity in _SHADOWS:
        x, y = (round(stretch * height * side * light / _LIGHT[2]) for light in (-_LIGHT[0], _LIGHT[1]))
        blend(frame, shadow, left - room + x, top - room + y, opacity)
    blend(frame, np.dstack([rgb * alpha[..., None], alpha]), left, top)


@functools.cache
def _pip_texture() -> Floats:
    """How black the faces are, shape (levels * 6 * texels * texels,); rows of a level: 2 * axis + (negative end).

    Level k is blurred for a face that is foreshortened 2**k times, so that its pips do not break up into dots.
    """
    faces = np.zeros((6, _PIP_TEXELS, _PIP_TEXELS), np.float32)
    u, v = np.meshgrid(*[(np.arange(_PIP_TEXELS) + 0.5) / _PIP_TEXELS - 0.5] * 2, indexing="ij")
    for face, axis in FACES.items():
        row = 2 * int(np.abs(axis).argmax()) + (sum(axis) < 0)
        for a, b in _PIPS[face]:
            faces[row] += np.hypot(u - a * PIP_SPACING, v - b * PIP_SPACING) < PIP_RADIUS
    sharp = _PIP_TEXELS / 180  # half a pixel of a die 90 pixels wide
    return np.stack([gaussian_filter(faces, (0, sharp * 2**k, sharp * 2**k)) for k in range(_PIP_LEVELS)]).ravel()


def _render(rotation: Array, n: int, side: float, middle: Point) -> tuple[Floats, Floats]:
    """The die seen from above: RGB 0..255, shape (n, n, 3), and coverage 0..1, shape (n, n).

    side, middle: in pixels. The die is all points at EDGE_RADIUS from an inner cube. A ray o + t d meets it where the
    squared distance to that cube, a convex function made of pieces of parabolas, falls to EDGE_RADIUS squared; the root
    of the piece at hand is the next guess. A ray that misses ends at its nearest point, which gives the soft outline.
    """
    axis = np.arange(n, dtype=np.float32) + np.float32(0.5)
    x, y = ((axis - middle[0]) / side)[None, :], ((middle[1] - axis) / side)[:, None]
    inverse = rotation.T.astype(np.float32)
    o = inverse[:, 0, None, None] * x.astype(np.float32) + inverse[:, 1, None, None] * y.astype(np.float32)
    d = -inverse[:, 2]
    ray = d[:, None, None]
    parallel = np.abs(ray) < 1e-4
    t = np.where(parallel, np.float32(-9), (-0.5 * np.sign(ray) - o) / np.where(parallel, np.float32(1), ray)).max(
        axis=0
    )
    for _ in range(3):
        point = o + t * ray
        away = point - np.clip(point, -CORE, CORE)
        excess = np.einsum("ijk,ijk->jk", away, away) - np.float32(EDGE_RADIUS**2)
        slope = np.tensordot(d, away, 1)
        bend = np.maximum(np.tensordot(d * d, (away != 0).astype(np.float32), 1), np.float32(1e-3))
        t = t - (slope + np.sqrt(np.maximum(slope * slope - excess * bend, 0))) / bend
    point = o + t * ray
    away = point - np.clip(point, -CORE, CORE)
    distance = np.sqrt(np.einsum("ijk,ijk->jk", away, away))
    coverage = np.clip(1 - (distance - EDGE_RADIUS) * np.float32(side), 0, 1)
    normal = away / np.maximum(distance, np.float32(1e-6))
    lit = np.clip(np.tensordot((inverse @ _LIGHT).astype(np.float32), normal, 1), 0, 1)
    gloss = np.clip(np.tensordot((inverse @ _HALFWAY).astype(np.float32), normal, 1), 0, 1) ** 32
    black = _pips_at(point, d)
    luminance = (np.float32(0.56) + np.float32(0.5) * lit) * (1 - np.float32(0.89) * black)
    rgb = luminance[..., None] * _WHITE + (np.float32(45) * gloss * (1 - np.float32(0.8) * black))[..., None]
    return np.clip(rgb, 0, 255), coverage


def _pips_at(point: Floats, ray: Floats) -> Floats:
    """How black the die is at points of its surface, shape (3, n, n) -> (n, n), seen along `ray`."""
    axis = np.abs(point).argmax(axis=0)
    negative = np.take_along_axis(point, axis[None], 0)[0] < 0
    texel = np.clip(((point + np.float32(0.5)) * _PIP_TEXELS).astype(np.int32), 0, _PIP_TEXELS - 1)
    u, v = np.where(axis == 0, texel[1], texel[0]), np.where(axis == 2, texel[1], texel[2])
    level = np.clip(-np.log2(np.maximum(np.abs(ray), 1e-6)), 0, _PIP_LEVELS - 1).round().astype(np.int64)
    row = 6 * level[axis] + 2 * axis + negative
    return np.asarray(np.take(_pip_texture(), (row * _PIP_TEXELS + u) * _PIP_TEXELS + v))
