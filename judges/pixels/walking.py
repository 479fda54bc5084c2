"""Reads the T-junction: follows the walker's jacket through all frames, and sees on which side it is last seen."""

from collections.abc import Iterator

import numpy as np

from judges.pixels.common import Mask, Reading, SceneReader, coordinates
from judges.pixels.following import GREEN, RED, places
from simulator import Size
from simulator.walking import START_Z
from simulator.walking_drawing import CORNER_X, END_Z, FOCAL, HORIZON, JUNCTION_Z
from video_io import Frame

# The drawing of the walker with a shadow stays within these lengths of the point at the camera's height, metres.
_HALF_WIDTH, _ABOVE_HORIZON, _BELOW_HORIZON = 0.45, 0.85, 1.15
# Red less green: the jacket is above it, skin and walls are not.
_RED = 60
# A jacket is seen when a rectangle so wide and high is, at the far end, metres: a sixth of one seen from the side.
_SEEN = 0.08 * 0.25 * (FOCAL / END_Z) ** 2
# Last seen so near to the corner, as a share of the way from the middle to it, the walker has made the turn.
_TURNED = 0.5
_WITHIN = (
    (-CORNER_X, HORIZON - FOCAL * _ABOVE_HORIZON / START_Z),
    (CORNER_X, HORIZON + FOCAL * _BELOW_HORIZON / START_Z),
)


def _still(size: Size) -> Mask:
    """What neither the walker in the corridor nor the one in the crossing one covers."""
    x, y = coordinates(size)

    def seen(z: float, half_width: float) -> Mask:
        scale = FOCAL / z
        across = np.abs(x) < half_width
        return np.asarray(across & (y > HORIZON - scale * _ABOVE_HORIZON) & (y < HORIZON + scale * _BELOW_HORIZON))

    return ~(seen(START_Z, _HALF_WIDTH * FOCAL / START_Z) | seen(JUNCTION_Z, CORNER_X + 0.01))


def _read(frames: Iterator[Frame]) -> Reading:
    last, place = None, None
    for place in places(frames, _WITHIN, (RED, GREEN), _RED, _SEEN):
        last = place or last
    if last is None:
        return Reading(None, "no walker is seen")
    share = last[0] / CORNER_X
    where = f"last seen {share:+.2f} of the way to the corner" + ("" if place else ", then gone")
    if abs(share) < _TURNED:
        return Reading(None, f"not committed: {where}")
    return Reading(1 if share < 0 else 2, where)


READERS = {"walking": SceneReader(_still, _read)}
