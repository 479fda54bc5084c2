"""Reads the die: the pips that face the viewer squarely are those of the top face."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import ndimage

from judges.pixels.common import (
    Mask,
    Part,
    Reading,
    SceneReader,
    Still,
    brightest,
    check_still,
    coordinates,
    darkest,
    parts,
    size_of,
)
from simulator import Size
from simulator.dice_drawing import BOX_CENTRE, BOX_HALF_HEIGHT, BOX_HALF_WIDTH, DIE_SIDE, FACES, PIP_RADIUS, box
from video_io import Frame

# How far beyond the walls' inner edges a die that leans on one, and its shadow, may cover them, in frame heights; the
# light comes from the left and the top.
_LEANS, _SHADOW = 0.045, 0.075
# How far a die's shadow reaches beyond it, and how far the encoder smears it.
_SHADE, _SMEAR = 0.07, 0.02
# A die is grey and bright: wood has more between the highest and the lowest of red, green and blue, and is darker in
# the shadow, where it has not. Its pips are neither, but enclosed.
_GREY, _BRIGHT = 40, 110
# Of the die's grey level: a pip is darker. Its shaded faces are at half of the bright ones, its pips at a tenth.
_DARK = 0.4
# A pip is as much shorter across than along as its face leans: by this ratio at 32 degrees. Die on an edge: 0.71.
_SQUARELY = 0.85
# What a silhouette may cover, in faces of the die: it covers 0.98 when level, 1.38 on an edge.
_AREA = (0.85, 1.2)


def _still(size: Size) -> Mask:
    """The table and the outer parts of the walls, whatever the die does. `_read` compares all but the die."""
    x, y = coordinates(size)
    x, y = x - BOX_CENTRE[0], y - BOX_CENTRE[1]
    across = (x > -BOX_HALF_WIDTH - _LEANS) & (x < BOX_HALF_WIDTH + _SHADOW)
    return np.asarray(~(across & (y > -BOX_HALF_HEIGHT - _LEANS) & (y < BOX_HALF_HEIGHT + _SHADOW)))


def _read(frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    side = DIE_SIDE * frame.shape[0]
    dice = _dice(frame, 0.3 * side**2)
    check_still(frame, Still.of(box(size_of(frame)), _around(dice, frame)))
    if len(dice) != 1:
        return Reading(None, f"{len(dice)} dice in the box")
    die = dice[0]
    faces = die.area / side**2
    if not _AREA[0] < faces < _AREA[1]:
        return Reading(None, f"no face dominant: the die covers {faces:.2f} times one of its faces")
    pips = _pips(frame, die, side)
    squarely = sum(pip.roundness > _SQUARELY for pip in pips)
    if squarely not in FACES:
        return Reading(None, f"no face dominant: {squarely} of {len(pips)} pips are seen squarely")
    return Reading(squarely, f"{squarely} of {len(pips)} pips are seen squarely")


def _dice(frame: Frame, least_area: float) -> list[Part]:
    low, high = darkest(frame), brightest(frame)
    white = ndimage.binary_fill_holes((high - low < _GREY) & (high > _BRIGHT))
    return parts(white, least_area, (slice(0, frame.shape[0]), slice(0, frame.shape[1])))


def _around(dice: Sequence[Part], frame: Frame) -> Mask:
    """All pixels but those of the dice and their shadows."""
    still = np.ones(frame.shape[:2], bool)
    shade, smear = round(_SHADE * frame.shape[0]), round(_SMEAR * frame.shape[0])
    for die in dice:
        rows, columns = (slice(max(part.start - smear, 0), part.stop + shade) for part in die.box)
        still[rows, columns] = False
    return still


def _pips(frame: Frame, die: Part, side: float) -> list[Part]:
    luminance = frame[die.box].mean(axis=2)
    dark = die.mask & (luminance < _DARK * np.percentile(luminance[die.mask], 75))
    return parts(dark, 0.3 * np.pi * (PIP_RADIUS * side) ** 2, die.box)


READERS = {"dice": SceneReader(_still, _read)}
