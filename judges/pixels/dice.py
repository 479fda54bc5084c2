"""Reads the die: the pips that face the viewer squarely are those of the top face."""

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from judges.pixels.common import (
    Mask,
    Part,
    Reading,
    SceneReader,
    box_of,
    brightest,
    coordinates,
    darkest,
    parts,
    size_of,
)
from simulator import Size
from simulator.dice_drawing import BOX_CENTRE, BOX_HALF_HEIGHT, BOX_HALF_WIDTH, DIE_SIDE, FACES, PIP_RADIUS
from video_io import Frame

# Reach of the shadow, which falls to the right and down, beyond a die at the wall, in frame heights.
_SHADOW = 0.045
# Die and pips are grey, the wood is not, in the shadow neither: highest less lowest of red, green and blue.
_GREY = 40
# Of the die's grey level: a pip is darker. Its shaded faces are at half of the bright ones, its pips at a tenth.
_DARK = 0.4
# The silhouette less its rim, in sides, which the shadow darkens; pips end at 0.14 sides from it.
_RIM = 0.06
# A pip is as much shorter across than along as its face leans: by this ratio at 32 degrees. Die on an edge: 0.71.
_SQUARELY = 0.85
# What a silhouette may cover, in faces of the die: it covers 0.98 when level, 1.38 on an edge.
_AREA = (0.85, 1.2)


def _still(size: Size) -> Mask:
    """The table and the walls, as far as no shadow falls on them."""
    x, y = coordinates(size)
    x, y = x - BOX_CENTRE[0], y - BOX_CENTRE[1]
    across = (x > -BOX_HALF_WIDTH) & (x < BOX_HALF_WIDTH + _SHADOW)
    return np.asarray(~(across & (y > -BOX_HALF_HEIGHT) & (y < BOX_HALF_HEIGHT + _SHADOW)))


def _read(frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    side = DIE_SIDE * frame.shape[0]
    (x, y), w, h = BOX_CENTRE, BOX_HALF_WIDTH, BOX_HALF_HEIGHT
    floor = box_of(size_of(frame), (x - w, y - h), (x + w, y + h))
    grey = brightest(frame[floor]) - darkest(frame[floor]) < _GREY
    dice = parts(grey, 0.3 * side**2, floor)
    if len(dice) != 1:
        return Reading(None, f"{len(dice)} dice in the box")
    die = dice[0].filled()
    faces = die.area / side**2
    if not _AREA[0] < faces < _AREA[1]:
        return Reading(None, f"no face dominant: the die covers {faces:.2f} times one of its faces")
    pips = _pips(frame, die, side)
    squarely = sum(pip.roundness > _SQUARELY for pip in pips)
    if squarely not in FACES:
        return Reading(None, f"no face dominant: {squarely} of {len(pips)} pips are seen squarely")
    return Reading(squarely, f"{squarely} of {len(pips)} pips are seen squarely")


def _pips(frame: Frame, die: Part, side: float) -> list[Part]:
    luminance = frame[die.box].mean(axis=2)
    inner = ndimage.binary_erosion(np.pad(die.mask, 1), iterations=int(np.ceil(_RIM * side)))[1:-1, 1:-1]
    dark = inner & (luminance < _DARK * np.percentile(luminance[die.mask], 75))
    return parts(dark, 0.3 * np.pi * (PIP_RADIUS * side) ** 2, die.box)


READERS = {"dice": SceneReader(_still, _read)}
