"""Antialiased drawing: still backgrounds with Pillow, moving things with numpy, in one coordinate system.

Scene coordinates do not depend on the size of the picture: x from the middle of the frame to the right, y from its
top edge down, both in frame heights; y is 0..1 and x about -0.88..0.88. What is drawn once is painted at four times
the size and reduced (`Painter`). What moves is either a `Sprite`, painted once and then pasted, or a shape whose
coverage of a pixel follows from its distance to the outline (`capsule`): cheap, and smooth at any position.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from simulator.base import Size
from video_io import Frame

Colour = tuple[int, int, int]
Point = tuple[float, float]
Floats = NDArray[np.float32]

WHITE: Colour = (255, 255, 255)
# Linear oversampling of what is painted once.
SUPERSAMPLING = 4


@dataclass(frozen=True)
class View:
    """Scene coordinates to pixels of a frame of a size; pixel (0, 0) covers [0, 1) x [0, 1)."""

    size: Size

    def at(self, point: Point) -> Point:
        width, height = self.size
        return width / 2 + point[0] * height, point[1] * height

    def length(self, length: float) -> float:
        return length * self.size[1]


# ---- painted once -----------------------------------------------------------------------------------------------


class Painter:
    """A still picture in scene coordinates, painted large and reduced by `frame`."""

    def __init__(self, size: Size, ground: Colour | Image.Image, scale: int = SUPERSAMPLING) -> None:
        large = (size[0] * scale, size[1] * scale)
        self.view = View(large)
        self.scale = scale
        self.image = ground.resize(large) if isinstance(ground, Image.Image) else Image.new("RGB", large, ground)

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        ImageDraw.Draw(self.image).polygon([self.view.at(point) for point in points], fill=fill)

    def rectangle(self, corner: Point, opposite: Point, fill: Colour, radius: float = 0.0) -> None:
        """The axis-parallel rectangle between two corners; `radius` rounds them."""
        (x0, y0), (x1, y1) = self.view.at(corner), self.view.at(opposite)
        box = (min(x0, x1), min(y0, y1), max(x0, x1) - 1, max(y0, y1) - 1)
        ImageDraw.Draw(self.image).rounded_rectangle(box, self.view.length(radius), fill=fill)

    def disc(self, centre: Point, radius: float, fill: Colour) -> None:
        (x, y), r = self.view.at(centre), self.view.length(radius)
        ImageDraw.Draw(self.image).ellipse((x - r, y - r, x + r - 1, y + r - 1), fill=fill)

    def line(self, points: Sequence[Point], width: float, fill: Colour, *, caps: bool = True) -> None:
        """A polyline with round corners, and round ends unless `caps` is off."""
        pixels = np.array([self.view.at(point) for point in points])
        half = self.view.length(width) / 2
        for start, end in itertools.pairwise(pixels):
            along = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
            side = half * np.array([-along[1], along[0]])
            corners = [start + side, end + side, end - side, start - side]
            ImageDraw.Draw(self.image).polygon([(x, y) for x, y in corners], fill=fill)
        for point in points if caps else points[1:-1]:
            self.disc(point, width / 2, fill)

    def text(self, middle: Point, text: str, height: float, fill: Colour) -> None:
        """One line of text, centred on a point; `height` is the font size."""
        font = load_font(round(self.view.length(height)))
        ImageDraw.Draw(self.image).text(self.view.at(middle), text, fill=fill, font=font, anchor="mm")

    def soft(self, paint: Callable[["Painter"], None], blur: float, colour: Colour, opacity: float) -> None:
        """Lay a blurred silhouette over the picture: a shadow or a glow. `paint` draws it in white on a mask."""
        # A blurred picture needs no oversampling.
        mask = Painter((self.view.size[0] // self.scale, self.view.size[1] // self.scale), (0, 0, 0), scale=1)
        paint(mask)
        blurred = mask.image.convert("L").filter(ImageFilter.GaussianBlur(mask.view.length(blur)))
        large = blurred.resize(self.view.size, Image.Resampling.BILINEAR).point(lambda value: value * opacity)
        self.image.paste(colour, (0, 0), large)

    def textured(self, points: Sequence[Point], texture: Image.Image) -> None:
        """Fill a polygon from a picture that covers the whole frame."""
        mask = Image.new("L", self.view.size, 0)
        ImageDraw.Draw(mask).polygon([self.view.at(point) for point in points], fill=255)
        self.image.paste(texture.resize(self.view.size), (0, 0), mask)

    def stamp(self, sprite: "Sprite", centre: Point) -> None:
        """Paste a sprite that was made for the reduced size."""
        data = sprite.rgba.copy()
        data[..., :3] /= np.maximum(data[..., 3:], 1e-6)
        data[..., 3] *= 255
        picture = Image.fromarray((data + 0.5).astype(np.uint8))
        x, y = self.view.at(centre)
        self.image.paste(picture, (round(x - picture.width / 2), round(y - picture.height / 2)), picture)

    def mirror(self) -> None:
        """Make the right half the mirror image of the left one, pixel by pixel."""
        half = self.view.size[0] // 2
        left = self.image.crop((0, 0, half, self.view.size[1]))
        self.image.paste(left.transpose(Image.Transpose.FLIP_LEFT_RIGHT), (half, 0))

    def frame(self) -> Frame:
        return np.array(self.image.reduce(self.scale), dtype=np.uint8)


@functools.cache
def load_font(pixels: int) -> ImageFont.FreeTypeFont:
    """The font that comes with Pillow, so that no file of the machine matters."""
    font = ImageFont.load_default(pixels)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise TypeError("this build of Pillow has no FreeType")
    return font


def vertical_gradient(size: Size, stops: Sequence[tuple[float, Colour]]) -> Image.Image:
    """A picture whose rows run through the colours at the given heights (0 top .. 1 bottom)."""
    rows = np.linspace(0, 1, size[1])
    heights = [height for height, _ in stops]
    channels = [np.interp(rows, heights, [colour[i] for _, colour in stops]) for i in range(3)]
    column = np.stack(channels, axis=-1).round().astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(np.broadcast_to(column[:, None], (size[1], size[0], 3))))


# ---- moving -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sprite:
    """A small picture that is pasted at any position, to a quarter of a pixel, equally sharp at each.

    rgba: premultiplied, 0..255 and alpha 0..1, oversampled, shape (S * h, S * w, 4); its middle is the anchor.
    """

    rgba: Floats
    _phases: dict[tuple[int, int], Floats] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_image(cls, image: Image.Image) -> "Sprite":
        """From an oversampled RGBA picture."""
        data = np.asarray(image.convert("RGBA"), dtype=np.float32)
        alpha = data[..., 3:] / 255
        return cls(np.concatenate([data[..., :3] * alpha, alpha], axis=-1))

    def paste(self, frame: Frame, centre: Point, opacity: float = 1.0) -> None:
        """Draw with the middle at `centre`, in pixels; parts outside the frame are cut off."""
        height, width = self.rgba.shape[:2]
        left = round((centre[0]) * SUPERSAMPLING - width / 2)
        top = round((centre[1]) * SUPERSAMPLING - height / 2)
        (x, phase_x), (y, phase_y) = divmod(left, SUPERSAMPLING), divmod(top, SUPERSAMPLING)
        if (phase_x, phase_y) not in self._phases:
            self._phases[phase_x, phase_y] = self._reduced(phase_x, phase_y)
        blend(frame, self._phases[phase_x, phase_y], x, y, opacity)

    def _reduced(self, phase_x: int, phase_y: int) -> Floats:
        height, width = self.rgba.shape[:2]
        rows, columns = -(-(height + phase_y) // SUPERSAMPLING), -(-(width + phase_x) // SUPERSAMPLING)
        padded = np.zeros((rows * SUPERSAMPLING, columns * SUPERSAMPLING, 4), np.float32)
        padded[phase_y : phase_y + height, phase_x : phase_x + width] = self.rgba
        blocks = padded.reshape(rows, SUPERSAMPLING, columns, SUPERSAMPLING, 4)
        return np.asarray(blocks.mean(axis=(1, 3)), np.float32)


def blend(frame: Frame, rgba: Floats, x: int, y: int, opacity: float = 1.0) -> None:
    """Lay a premultiplied picture, as in `Sprite` but of the final size, with its corner at pixel (x, y)."""
    height, width = rgba.shape[:2]
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + width, frame.shape[1]), min(y + height, frame.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    part = rgba[y0 - y : y1 - y, x0 - x : x1 - x]
    under = frame[y0:y1, x0:x1]
    mixed = under * (1 - opacity * part[..., 3:]) + opacity * part[..., :3]
    frame[y0:y1, x0:x1] = (mixed + 0.5).astype(np.uint8)


def sphere(radius: float, colour: Colour, *, gloss: float = 0.6, rim: float = 0.45) -> Sprite:
    """A shaded ball of a radius in pixels, lit from above and in front, so that it is mirror-symmetric.

    gloss: strength of the highlight. rim: how dark the edge gets, 0..1.
    """
    y, z, inside = _ball_normals(radius)
    # Lambert with the light at (0, -0.55, 0.83), and a Blinn highlight between light and viewer.
    light = (1 - rim) + rim * np.clip(-0.55 * y + 0.83 * z, 0, 1)
    highlight = gloss * np.clip(-0.29 * y + 0.957 * z, 0, 1) ** 40
    rgb = np.asarray(colour, np.float32) * light[..., None]
    return _ball(np.asarray(rgb + (255 - rgb) * highlight[..., None], np.float32), inside)


def chrome(radius: float) -> Sprite:
    """A polished metal ball of a radius in pixels: it mirrors a bright sky, a dark horizon and a warm ground."""
    y, z, inside = _ball_normals(radius)
    up = -2 * z * y  # height of what is mirrored there, -1..1
    stops = (-1.0, -0.35, -0.08, 0.06, 0.45, 0.85, 1.0)
    colours = (
        (150, 128, 108),
        (104, 92, 84),
        (46, 46, 52),
        (92, 100, 112),
        (188, 197, 208),
        (250, 252, 255),
        (226, 232, 240),
    )
    rgb = np.stack([np.interp(up, stops, [colour[i] for colour in colours]) for i in range(3)], axis=-1)
    rgb *= (0.55 + 0.45 * np.sqrt(z))[..., None]
    return _ball(np.asarray(rgb, np.float32), inside)


def _ball_normals(radius: float) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Oversampled grid around a ball: the normal's y (down) and z (to the viewer), and where the ball is."""
    half = int(np.ceil(radius + 1)) * SUPERSAMPLING
    axis = (np.arange(2 * half, dtype=np.float32) + 0.5 - half) / (radius * SUPERSAMPLING)
    x, y = np.meshgrid(axis, axis)
    square = x * x + y * y
    return y, np.sqrt(np.clip(1 - square, 0, 1)), square <= 1


def _ball(rgb: Floats, inside: NDArray[np.bool_]) -> Sprite:
    alpha = inside.astype(np.float32)[..., None]
    return Sprite(np.concatenate([rgb * alpha, alpha], axis=-1))


def soft_disc(radius: float, blur: float, colour: Colour, opacity: float, squash: float = 1.0) -> Sprite:
    """A blurred disc, a ball's shadow; radius and blur in pixels, `squash` its height over its width."""
    half_x, half_y = (int(np.ceil(r + 2.5 * blur)) for r in (radius, radius * squash))
    size = (2 * half_x * SUPERSAMPLING, 2 * half_y * SUPERSAMPLING)
    x = (np.arange(size[0], dtype=np.float32) + 0.5) / SUPERSAMPLING - half_x
    y = ((np.arange(size[1], dtype=np.float32) + 0.5) / SUPERSAMPLING - half_y) / squash
    distance = np.hypot(*np.meshgrid(x, y)) - radius
    alpha = (opacity / (1 + np.exp(np.clip(1.7 * distance / (0.6 * blur), -30, 30))))[..., None].astype(np.float32)
    return Sprite(np.concatenate([np.asarray(colour, np.float32) * alpha, alpha], axis=-1))


def capsule(
    frame: Frame,
    start: Point,
    end: Point,
    start_radius: float,
    end_radius: float,
    colour: Colour,
    relief: float = 0.0,
) -> None:
    """A thick line with round ends whose radius runs from one value to another: a rod or a limb; pixels.

    relief: how much darker its edges are than its middle, 0 flat to 1 black.
    """
    reach = max(start_radius, end_radius) + 1
    x0, x1 = int(min(start[0], end[0]) - reach), int(max(start[0], end[0]) + reach) + 1
    y0, y1 = int(min(start[1], end[1]) - reach), int(max(start[1], end[1]) + reach) + 1
    x0, y0, x1, y1 = max(x0, 0), max(y0, 0), min(x1, frame.shape[1]), min(y1, frame.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    # Subtracted in double precision, so that mirrored shapes stay mirror images.
    x = (np.arange(x0, x1) + (0.5 - start[0])).astype(np.float32)
    y = (np.arange(y0, y1) + (0.5 - start[1])).astype(np.float32)[:, None]
    dx, dy = end[0] - start[0], end[1] - start[1]
    along = np.clip((x * dx + y * dy) / max(dx * dx + dy * dy, 1e-9), 0, 1).astype(np.float32)
    distance = np.sqrt((x - along * dx) ** 2 + (y - along * dy) ** 2)
    radius = start_radius + (end_radius - start_radius) * along
    alpha = np.clip(radius - distance + 0.5, 0, 1)[..., None]
    over = np.asarray(colour, np.float32)
    if relief:
        over = over * (1 - relief * np.minimum(distance / radius, 1) ** 2)[..., None]
    under = frame[y0:y1, x0:x1]
    mixed = under + (over - under) * alpha
    frame[y0:y1, x0:x1] = (mixed + 0.5).astype(np.uint8)
