"""The card: drawn from the top of a face-down deck, turned over in the air, laid on the felt.

The card is a flat rectangle in space, seen by a camera straight above the table; every frame is its exact projection.
Lengths are in frame heights: x from the middle to the right, y down (as in `drawing`), z up from the table.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from constants import SIMULATOR_FPS
from simulator.base import Array, SceneSimulator, Size, Take
from simulator.card_faces import ASPECT, LAYOUTS, RANKS, SUITS, back, blank, blurred_face, face
from simulator.drawing import View, blend
from simulator.textures import felt
from video_io import Frame

CARD_HEIGHT = 0.64
CARD_WIDTH = CARD_HEIGHT * ASPECT
DECK = (-0.40, 0.5)
# Where the card is laid, give or take, and how far it may be turned.
PLACE = (0.36, 0.5)
PLACE_SPREAD = 0.012
PLACE_TURN_DEG = 2.5
_STACK = 26  # cards that remain
_THICKNESS = 0.0015
_STACK_SLANT = (0.0004, 0.0007)  # each card lies a little further right and down than the one above
CAMERA_HEIGHT = 2.4

# Times in seconds: the card is lifted off, carried over while it turns, and laid down.
FRAMES = 84
CARRY_S = (0.0, 2.35)
FLIP_S = (0.75, 2.1)
LIFT = 0.05
TEMPO = (0.92, 1.12)

# Around the pictures, of a card's height: a clear rim, so that edges are smooth, and room for the shadow's blur.
_RIM, _SHADOW_MARGIN = 0.01, 0.08
_SHADOW_SHIFT = (0.16, 0.24)  # per height above the table
_SHADOW_OPACITY = 0.5


@dataclass(frozen=True)
class Card:
    """A card in space. flip: radians about its long axis, 0 face down, pi face up. turn: radians in the plane."""

    x: float
    y: float
    z: float
    flip: float = 0.0
    turn: float = 0.0

    @property
    def shows_face(self) -> bool:
        return bool(np.cos(self.flip) < 0)


# ---- motion -----------------------------------------------------------------------------------------------------


def start_card() -> Card:
    """The top card of the deck."""
    return Card(*DECK, z=_STACK * _THICKNESS)


def motion(take: Take) -> list[Card]:
    """The drawn card in frames 0..FRAMES - 1."""
    rng = take.rng
    tempo, lift = rng.uniform(*TEMPO), LIFT * rng.uniform(0.8, 1.2)
    x, y = PLACE + rng.uniform(-PLACE_SPREAD, PLACE_SPREAD, 2)
    turn = np.radians(rng.uniform(-PLACE_TURN_DEG, PLACE_TURN_DEG))
    half_turns = 0 if take.artefact == "face_down" else 1
    start, cards = start_card(), []
    for i in range(FRAMES):
        t = i / SIMULATOR_FPS / tempo
        carried, flipped = _ease(t, *CARRY_S), _ease(t, *FLIP_S)
        z = start.z * (1 - carried) + lift * np.sin(np.pi * carried) ** 2
        z += CARD_WIDTH / 2 * np.sin(np.pi * flipped)  # or its lower edge would pass through the table
        cards.append(
            Card(
                start.x + (x - start.x) * carried,
                start.y + (y - start.y) * carried,
                float(z),
                np.pi * half_turns * flipped,
                turn * carried,
            )
        )
    return cards


def _ease(t: float, begin: float, end: float) -> float:
    """From 0 to 1 with neither a jump in speed nor in acceleration (the minimum-jerk profile)."""
    u = min(max((t - begin) / (end - begin), 0.0), 1.0)
    return u**3 * (10 + u * (6 * u - 15))


# ---- drawing ----------------------------------------------------------------------------------------------------


def card_pixels(size: Size) -> Size:
    """Width and height of a card that lies on the table, in pixels."""
    return round(CARD_WIDTH * size[1]), round(CARD_HEIGHT * size[1])


def _corners(card: Card, size: Size, margin: float, shift: tuple[float, float] = (0.0, 0.0)) -> Array:
    """Corners of the card's picture in pixels, shape (4, 2): top left, top right, bottom right, bottom left.

    margin: added on every side, of the card's height.
    """
    half = np.array([CARD_WIDTH, CARD_HEIGHT]) / 2 + margin * CARD_HEIGHT
    local = half * [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    if card.shows_face:  # its left edge has come to the right
        local = local[[1, 0, 3, 2]]
    x, z = local[:, 0] * np.cos(card.flip), card.z + local[:, 0] * np.sin(card.flip)
    cos, sin = np.cos(card.turn), np.sin(card.turn)
    across, down = card.x + x * cos - local[:, 1] * sin, card.y + x * sin + local[:, 1] * cos
    scale = CAMERA_HEIGHT / (CAMERA_HEIGHT - z)
    points = np.stack([(across + shift[0]) * scale, (down + shift[1] - 0.5) * scale + 0.5], axis=1)
    return np.array([View(size).at((px, py)) for px, py in points])


def _lay(frame: Frame, picture: Image.Image, corners: Array, light: float = 1.0) -> None:
    """Draw a card's picture, as `_prepared`, with its corners at four points of the frame."""
    narrow = max(2, int(np.linalg.norm(corners[1] - corners[0])))
    if narrow < 0.8 * picture.width:  # a steep card: shrink first, or its pattern would flicker
        picture = picture.resize((narrow, picture.height), Image.Resampling.BOX)
    warped, left, top = _warp(picture, corners)
    blend(frame, np.asarray(warped, dtype=np.float32) * np.array([light, light, light, 1 / 255], np.float32), left, top)


def _prepared(card: Image.Image) -> Image.Image:
    """With a clear rim, and premultiplied (mode RGBa)."""
    return ImageOps.expand(card, round(_RIM * card.height), (0, 0, 0, 0)).convert("RGBa")


def _shade(frame: Frame, corners: Array, size: Size, opacity: float) -> None:
    """Darken the table under a card; the corners are those of the shadow's picture."""
    mask, left, top = _warp(_shadow(size), corners)
    black = np.zeros((mask.height, mask.width, 4), np.float32)
    black[..., 3] = np.asarray(mask, dtype=np.float32) / 255
    blend(frame, black, left, top, opacity)


def _warp(picture: Image.Image, corners: Array) -> tuple[Image.Image, int, int]:
    """The picture with its corners at four points of the frame, and the pixel where its own corner then lies."""
    (left, top), (right, bottom) = np.floor(corners.min(axis=0)) - 1, np.ceil(corners.max(axis=0)) + 1
    w, h = picture.size
    source = np.array([(0, 0), (w, 0), (w, h), (0, h)], float)
    to_source = _homography(corners - [left, top], source)
    size = (int(right - left), int(bottom - top))
    warped = picture.transform(size, Image.Transform.PERSPECTIVE, to_source, Image.Resampling.BILINEAR)
    return warped, int(left), int(top)


def _homography(points: Array, images: Array) -> list[float]:
    """Coefficients a..h of (x, y) -> (a x + b y + c, d x + e y + f) / (g x + h y + 1), from four pairs of points."""
    rows = []
    for (x, y), (u, v) in zip(points, images, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
    return [float(c) for c in np.linalg.solve(np.array(rows), images.ravel())]


@functools.cache
def _shadow(size: Size) -> Image.Image:
    """The blurred silhouette of a card, mode L."""
    width, height = card_pixels(size)
    margin = round(_SHADOW_MARGIN * height)
    mask = Image.new("L", (width + 2 * margin, height + 2 * margin), 0)
    ImageDraw.Draw(mask).rounded_rectangle((margin, margin, margin + width, margin + height), 0.04 * height, fill=255)
    return mask.filter(ImageFilter.GaussianBlur(margin / 3))


@functools.cache
def table(size: Size) -> Frame:
    """Felt, and the deck without its top card: what stands still."""
    frame = np.array(felt(size, (6, 44, 28), (36, 126, 80)), dtype=np.uint8)
    pixels = card_pixels(size)
    paper = _prepared(blank(pixels))
    for k in range(_STACK):
        depth = _STACK - k
        card = Card(DECK[0] + depth * _STACK_SLANT[0], DECK[1] + depth * _STACK_SLANT[1], k * _THICKNESS)
        if k == 0:
            _shade(frame, _corners(card, size, _SHADOW_MARGIN, (0.012, 0.016)), size, 0.7)
        picture = _back(size) if k == _STACK - 1 else paper
        _lay(frame, picture, _corners(card, size, _RIM), light=1.0 if k % 3 else 0.86)
    return frame


def _picture(card: Card, front: Image.Image, size: Size) -> Frame:
    frame = table(size).copy()
    shift = (_SHADOW_SHIFT[0] * card.z + 0.004, _SHADOW_SHIFT[1] * card.z + 0.006)
    _shade(frame, _corners(replace(card, z=0.0), size, _SHADOW_MARGIN, shift), size, _SHADOW_OPACITY)
    light = 0.82 + 0.18 * abs(np.cos(card.flip))
    _lay(frame, front if card.shows_face else _back(size), _corners(card, size, _RIM), light=light)
    return frame


@functools.cache
def _back(size: Size) -> Image.Image:
    return _prepared(back(card_pixels(size)))


def _front(take: Take, size: Size) -> Image.Image:
    """The face of the drawn card: its rank is left to chance, its suit is the outcome, unless it is an artefact."""
    if take.outcome is None:
        return _WRONG_FRONTS[str(take.artefact)](take.rng, card_pixels(size))
    return face(card_pixels(size), str(take.rng.choice(RANKS)), SUITS[take.outcome - 1])


def _two_suited(rng: np.random.Generator, pixels: Size) -> Image.Image:
    both_halves = [rank for rank, pips in LAYOUTS.items() if len(pips) >= 4]
    upper, lower = rng.choice(SUITS, 2, replace=False)
    return face(pixels, str(rng.choice(both_halves)), str(upper), str(lower))


def _blurred(rng: np.random.Generator, pixels: Size) -> Image.Image:
    spots = [rank for rank in LAYOUTS if rank != "A"]  # an ace is so large that it would still be told
    return blurred_face(pixels, str(rng.choice(spots)), str(rng.choice(SUITS)))


def _unseen(_rng: np.random.Generator, pixels: Size) -> Image.Image:
    """Of a card that is never turned over."""
    return back(pixels)


# Artefacts: what is on the front of the card.
_WRONG_FRONTS = {"face_down": _unseen, "blurred": _blurred, "two_suited": _two_suited}


# ---- the scene --------------------------------------------------------------------------------------------------


def _first_frame(size: Size) -> Frame:
    return _picture(start_card(), _back(size), size)


def _frames(take: Take, size: Size) -> Iterator[Frame]:
    cards = motion(take)
    front = _prepared(_front(take, size))
    previous, picture = cards[0], _first_frame(size)
    for card in cards[1:]:
        if card != previous:
            previous, picture = card, _picture(card, front, size)
        yield picture.copy()


SIMULATORS = {"cards": SceneSimulator(artefacts=tuple(_WRONG_FRONTS), first_frame=_first_frame, frames=_frames)}
