"""Reads the wheel: how far the rotor has turned, where on it the ball is, and the colour of that pocket."""

import functools
from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from judges.pixels.common import Mask, Part, Reading, SceneReader, box_of, coordinates, darkest, parts, size_of
from scenes import SCENES
from simulator import Size
from simulator.base import Array
from simulator.drawing import Floats, View
from simulator.roulette_wheel import (
    BALL_RADIUS,
    CENTRE,
    NUMBERS,
    NUMBERS_OUTER,
    POCKET_ANGLE,
    POCKETS_INNER,
    ROTOR_RADIUS,
    TRACK_INNER,
    TRACK_OUTER,
    colour,
    place,
)
from video_io import Frame

# The ball is white and thick; numbers are as white, but thin.
_WHITE = 150
_CORE = 0.45  # of the ball's radius: what holds no square of twice that size is no ball
# The pockets' colours are compared on this circle, between the ball and the numbers, at so many points a pocket.
_COLOURS_RADIUS = 0.326
_SAMPLES = 32
# Correlation of these colours with those of a wheel: 0.9 and more in a sharp picture.
_ALIKE = 0.7
# From the middle of a pocket, in pockets: beyond it the ball lies on a fret, split between two pockets.
_SPLIT = 0.42


def _still(size: Size) -> Mask:
    """The table, the rim of the bowl, and its slope between the rotor and the track."""
    radius = _radius(size)
    slope = (radius > ROTOR_RADIUS + 0.004) & (radius < TRACK_INNER - 0.004)
    return np.asarray(slope | (radius > TRACK_OUTER + 0.012))


def _radius(size: Size) -> Floats:
    x, y = coordinates(size)
    return np.asarray(np.hypot(x - CENTRE[0], y - CENTRE[1]), np.float32)


def _read(frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    balls = _balls(frame)
    if len(balls) != 1:
        return Reading(None, f"{len(balls)} balls in the wheel")
    x, y = balls[0].centre
    x0, y0 = View(size_of(frame)).at(CENTRE)
    radius, angle = float(np.hypot(x - x0, y - y0)) / frame.shape[0], float(np.arctan2(x - x0, y0 - y))
    if radius < POCKETS_INNER:
        return Reading(None, f"inside the pocket ring: radius {radius:.3f}")
    if radius > NUMBERS_OUTER:
        return Reading(None, f"outside the pocket ring: radius {radius:.3f}")
    turned, likeness = _turned(frame)
    if likeness < _ALIKE:
        return Reading(None, f"blurred: correlation {likeness:.2f} with the pockets' colours")
    pockets = (angle - turned) / POCKET_ANGLE
    nearest = round(pockets)
    if abs(pockets - nearest) > _SPLIT:
        return Reading(None, f"on a fret: {abs(pockets - nearest):.2f} pockets from the middle of one")
    number = NUMBERS[nearest % len(NUMBERS)]
    outcome = SCENES["roulette"].outcomes.index(colour(number)) + 1
    return Reading(outcome, f"number {number}, {abs(pockets - nearest):.2f} pockets from its middle")


def _balls(frame: Frame) -> list[Part]:
    """The cores of all white discs in the bowl."""
    r = TRACK_OUTER + 0.01
    bowl = box_of(size_of(frame), (CENTRE[0] - r, CENTRE[1] - r), (CENTRE[0] + r, CENTRE[1] + r))
    side = 1 + 2 * int(_CORE * BALL_RADIUS * frame.shape[0])
    return parts(ndimage.minimum_filter(darkest(frame[bowl]), side) > _WHITE, 4, bowl)


def _turned(frame: Frame) -> tuple[float, float]:
    """The rotor's angle, radians clockwise, and the correlation of the colours seen with those of a wheel so turned."""
    x, y = np.array([View(size_of(frame)).at(place(_COLOURS_RADIUS, angle)) for angle in _angles()]).T
    seen = [ndimage.map_coordinates(frame[..., k].astype(np.float32), [y - 0.5, x - 0.5], order=1) for k in range(3)]
    products = np.fft.ifft(np.fft.fft(_standard(np.array(seen))) * np.conj(np.fft.fft(_wheel()))).real.sum(axis=0)
    best = int(products.argmax())
    return float(_angles()[best]), float(products[best])


def _angles() -> Array:
    count = len(NUMBERS) * _SAMPLES
    return 2 * np.pi * np.arange(count) / count


@functools.cache
def _wheel() -> Array:
    """Red less green and green less blue around a wheel at angle 0, as `_standard` gives them."""
    pockets = np.rint(_angles() / POCKET_ANGLE).astype(int) % len(NUMBERS)
    paints = {"red": (1.0, 0.0, 0.0), "black": (0.0, 0.0, 0.0), "green": (0.0, 1.0, 0.0)}
    return _standard(np.array([paints[colour(NUMBERS[k])] for k in pockets]).T)


def _standard(rgb: Array) -> Array:
    """Colour differences, shape (2, n), of mean 0 and length 1 in all: products of two are correlations."""
    differences = np.stack([rgb[0] - rgb[1], rgb[1] - rgb[2]])
    differences -= differences.mean(axis=1, keepdims=True)
    return np.asarray(differences / max(float(np.linalg.norm(differences)), 1e-6))


READERS = {"roulette": SceneReader(_still, _read)}
