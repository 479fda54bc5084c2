"""Reads the card: each half of it is compared with the same half of all faces of the deck."""

import functools
from collections.abc import Iterator

import numpy as np
from PIL import Image
from scipy import ndimage

from judges.pixels.common import Mask, Part, Reading, SceneReader, box_of, coordinates, darkest, parts, size_of
from scenes import SCENES
from simulator import Size
from simulator.card_faces import ASPECT, PAPER, RANKS, SUITS, back, face
from simulator.cards import CARD_HEIGHT, CARD_WIDTH, PLACE, table
from simulator.drawing import Floats
from video_io import Frame

# Half width and height of what the card and its shadow may cover around PLACE, in frame heights.
_REACH = (0.29, 0.37)
# Paper is at least so bright in red, green and blue; felt, ink and the back's print are not.
_PAPER = 140
# Part of a card's area that its silhouette must cover, and most that it can.
_AREA = (0.93, 1.07)
# Faces are compared at this height, in pixels: a corner's symbol is then 17 pixels high.
_HEIGHT = 210
_SIZE = (round(_HEIGHT * ASPECT), _HEIGHT)
# Rows of the upper half, and of the lower one from below; the middle belongs to both.
_UPPER = slice(round(0.03 * _HEIGHT), round(0.43 * _HEIGHT))
# Correlation of a half with its face: 0.98 and more when sharp, 0.89 at 240 lines, 0.66 when smeared. The nearest face
# of another suit is a court card's, 0.017 behind.
_ALIKE = 0.8


def _still(size: Size) -> Mask:
    """The felt and what remains of the deck."""
    x, y = coordinates(size)
    return np.asarray((np.abs(x - PLACE[0]) > _REACH[0]) | (np.abs(y - PLACE[1]) > _REACH[1]))


def _read(frames: Iterator[Frame]) -> Reading:
    (frame,) = frames
    card_area = CARD_WIDTH * CARD_HEIGHT * frame.shape[0] ** 2
    (x, y), (w, h) = PLACE, _REACH
    around = box_of(size_of(frame), (x - w, y - h), (x + w, y + h))
    found = parts(ndimage.binary_fill_holes(darkest(frame[around]) > _PAPER), 0.1 * card_area, around)
    if len(found) != 1:
        return Reading(None, f"{len(found)} cards on the table")
    card = found[0]
    whole = card.area / card_area
    if not _AREA[0] < whole < _AREA[1]:
        return Reading(None, f"partially obscured: {whole:.2f} of a card can be seen")
    halves = _halves(_upright(frame, card))
    names, faces, printed_back = _faces()
    likeness = np.einsum("fhn,hn->fh", faces, halves)
    if float((printed_back * halves).sum(axis=1).max()) > likeness.max():
        return Reading(None, "face down")
    (rank, suit), (_, other) = (names[k] for k in likeness.argmax(axis=0))
    worse = float(likeness.max(axis=0).min())
    if worse < _ALIKE:
        return Reading(None, f"blurred or deformed: correlation {worse:.2f} with the nearest face")
    if suit != other:
        return Reading(None, f"two suits: {suit} and {other}")
    outcome = SCENES["cards"].outcomes.index(suit) + 1
    return Reading(outcome, f"{rank} of {suit}, correlation {worse:.2f}")


def _upright(frame: Frame, card: Part) -> Floats:
    """The card's picture, its long axis upright, shape (_HEIGHT, width, 3)."""
    points = np.argwhere(card.mask).astype(np.float64)
    down, across = np.linalg.eigh(np.cov(points.T))[1][:, 1]
    turn = np.arctan2(-across, down) if down > 0 else np.arctan2(across, -down)
    cos, sin = float(np.cos(turn)), float(np.sin(turn))
    # From pixels of a picture twice as large to pixels of the frame.
    scale = CARD_HEIGHT * frame.shape[0] / (2 * _HEIGHT)
    (x, y), (width, height) = card.centre, (2 * _SIZE[0], 2 * _SIZE[1])
    a, b = scale * cos, -scale * sin
    matrix = (a, b, x - a * width / 2 - b * height / 2, -b, a, y + b * width / 2 - a * height / 2)
    large = Image.fromarray(frame).transform((width, height), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR)
    return np.asarray(large.reduce(2), dtype=np.float32)


def _halves(picture: Floats) -> Floats:
    """The upper and the lower half as vectors of length 1 and mean 0, shape (2, n): products are correlations."""
    halves = np.stack([picture[_UPPER, 4:-4].ravel(), picture[::-1][_UPPER, 4:-4].ravel()])
    halves -= halves.mean(axis=1, keepdims=True)
    return np.asarray(halves / np.maximum(np.linalg.norm(halves, axis=1, keepdims=True), 1e-6), np.float32)


@functools.cache
def _faces() -> tuple[list[tuple[str, str]], Floats, Floats]:
    """Rank and suit of each face, the halves of all faces, shape (52, 2, n), and those of the back, (2, n)."""
    names = [(rank, suit) for suit in SUITS for rank in RANKS]
    return names, np.stack([_printed(face(_SIZE, *name)) for name in names]), _printed(back(_SIZE))


def _printed(card: Image.Image) -> Floats:
    paper = Image.new("RGB", card.size, PAPER)
    paper.paste(card, (0, 0), card)
    return _halves(np.asarray(paper, dtype=np.float32))


READERS = {"cards": SceneReader(_still, _read, background=table)}
