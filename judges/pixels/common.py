"""What every reader shares: its types, coordinates and connected parts, and how simulated frames are recognised."""

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from errors import UserError
from simulator import Size, first_frame
from simulator.drawing import Floats, Point, View
from video_io import Frame

Mask = NDArray[np.bool_]
Box = tuple[slice, slice]
"""Rows and columns of a frame."""

# Still pixels are compared on every third row and column, which is plenty and nine times as fast.
_STRIDE = 3
# Blocks of so many compared pixels a side: about a fifteenth of a frame's height at 480 lines.
_BLOCK = 10
# Mean absolute difference of RGB levels, 0..255, in any block: up to 6 in simulated clips of 480 lines and more, 8 at
# 240 lines, 10 when they are encoded once more at CRF 32; 14 and more when the picture has moved by one pixel.
TOLERANCE = 12.0


class NotSimulatedError(Exception):
    """The frames are not the simulator's. The message says in one line where they differ."""


@dataclass(frozen=True)
class Reading:
    """What a clip shows. outcome: 1..k, or None for null. reason: why, in a line, for the log."""

    outcome: int | None
    reason: str


@dataclass(frozen=True)
class SceneReader:
    """How clips of one scene are read.

    still: for frames of a size, the pixels (H, W) at which every simulated clip shows the same throughout its evidence.
    read: what the evidence shows, its frames being of the simulator and all of one size: the last one alone, or all of
        them in their order (`scenes.Scene.evidence`).
    background: what the still pixels show, when that is not what the first frame does.
    """

    still: Callable[[Size], Mask]
    read: Callable[[Iterator[Frame]], Reading]
    background: Callable[[Size], Frame] | None = None


def size_of(frame: Frame) -> Size:
    """(width, height) in pixels."""
    return frame.shape[1], frame.shape[0]


def coordinates(size: Size) -> tuple[Floats, Floats]:
    """Scene coordinates of the middles of all pixels, as in `simulator.drawing`: x of shape (1, W), y of (H, 1)."""
    width, height = size
    x = (np.arange(width, dtype=np.float32) + np.float32(0.5 - width / 2)) / np.float32(height)
    y = (np.arange(height, dtype=np.float32) + np.float32(0.5)) / np.float32(height)
    return x[None, :], y[:, None]


def box_of(size: Size, corner: Point, opposite: Point) -> Box:
    """The pixels whose middles lie between two points in scene coordinates, top left and bottom right, of the frame."""
    (x0, y0), (x1, y1) = View(size).at(corner), View(size).at(opposite)
    return slice(max(round(y0), 0), min(round(y1), size[1])), slice(max(round(x0), 0), min(round(x1), size[0]))


def darkest(frame: Frame) -> Frame:
    """The lowest of red, green and blue, shape (H, W): high for what is white, and for nothing else."""
    return np.minimum(np.minimum(frame[..., 0], frame[..., 1]), frame[..., 2])


def brightest(frame: Frame) -> Frame:
    """The highest of red, green and blue, shape (H, W). Hardly above `darkest` for what is grey."""
    return np.maximum(np.maximum(frame[..., 0], frame[..., 1]), frame[..., 2])


# ---- connected parts of a mask ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A connected part of a mask. box: where in the frame it lies. mask: it within the box."""

    box: Box
    mask: Mask

    @property
    def area(self) -> int:
        """In pixels."""
        return int(np.count_nonzero(self.mask))

    @property
    def centre(self) -> Point:
        """Mean x and y of its pixels, in pixels of the frame; pixel (0, 0) covers [0, 1) x [0, 1)."""
        rows, columns = np.nonzero(self.mask)
        return self.box[1].start + float(columns.mean()) + 0.5, self.box[0].start + float(rows.mean()) + 0.5

    @property
    def roundness(self) -> float:
        """The shorter axis over the longer one of the ellipse of the same covariance: 1 for a disc or a square."""
        points = np.argwhere(self.mask).T.astype(np.float64)
        # A pixel is no point: it has a variance of its own.
        smaller, larger = np.linalg.eigvalsh(np.cov(points, bias=True) + np.eye(2) / 12)
        return float(np.sqrt(smaller / larger))

    def filled(self) -> "Part":
        """With what it encloses."""
        return Part(self.box, ndimage.binary_fill_holes(self.mask))


def parts(mask: Mask, least_area: float, box: Box) -> list[Part]:
    """The connected parts of a mask, which is one of a box, that cover at least so many pixels; the largest first."""
    labels, _ = ndimage.label(mask)
    found = [
        Part((_moved(rows, box[0]), _moved(columns, box[1])), labels[rows, columns] == k)
        for k, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1)
    ]
    return sorted((part for part in found if part.area >= least_area), key=lambda part: -part.area)


def _moved(part: slice, origin: slice) -> slice:
    return slice(origin.start + part.start, origin.start + part.stop)


# ---- recognition ------------------------------------------------------------------------------------------------


def recognised(scene: str, reader: SceneReader, frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames, one by one, each compared with the simulator's picture of what stands still.

    Raises NotSimulatedError at the first one that differs or has a size that the simulator does not draw.
    """
    size: Size | None = None
    for frame in frames:
        if size is not None and size_of(frame) != size:
            raise NotSimulatedError(f"a frame of {frame.shape[1]}x{frame.shape[0]} after one of {size[0]}x{size[1]}")
        size = size_of(frame)
        check_still(frame, still_picture(scene, reader, size))
        yield frame


def check_still(frame: Frame, still: "Still") -> None:
    """Raises NotSimulatedError when the frame differs from what stands still."""
    difference = still.difference(frame)
    if difference > TOLERANCE:
        raise NotSimulatedError(f"what stands still in the simulated scene differs by {difference:.0f} of 255 levels")


@dataclass(frozen=True)
class Still:
    """A picture, and where in it nothing moves.

    picture: int16 (h, w, 3), every _STRIDE-th pixel. weight: (h, w), 1 where it is still, else 0.
    per_block: what turns a block's sum of differences into their mean; 0 in a block with few still pixels.
    """

    picture: NDArray[np.int16]
    weight: NDArray[np.int16]
    per_block: Floats

    @classmethod
    def of(cls, picture: Frame, still: Mask) -> "Still":
        weight = np.broadcast_to(still, picture.shape[:2])[::_STRIDE, ::_STRIDE].astype(np.int16)
        counts = _block_sums(weight)
        enough = counts >= _BLOCK * _BLOCK // 4
        per_block = np.where(enough, 1 / np.maximum(3 * counts, 1), 0).astype(np.float32)
        return cls(picture[::_STRIDE, ::_STRIDE].astype(np.int16), weight, per_block)

    def apart_from(self, frame: Frame, moves: Callable[[Frame], Mask]) -> "Still":
        """Without the pixels of a frame that `moves` picks by their colour, and those next to them."""
        covered = ndimage.binary_dilation(moves(frame[::_STRIDE, ::_STRIDE]), iterations=4)
        return replace(self, weight=self.weight * ~covered)

    def difference(self, frame: Frame) -> float:
        """Mean absolute difference of a frame to the picture, RGB levels, in the block where it is largest."""
        red, green, blue = np.moveaxis(np.abs(frame[::_STRIDE, ::_STRIDE] - self.picture), 2, 0)
        # Four times as fast as a sum over an axis of three.
        return float((_block_sums((red + green + blue) * self.weight) * self.per_block).max())


def _block_sums(values: NDArray[np.int16]) -> NDArray[np.int64]:
    rows, columns = (np.arange(0, n, _BLOCK) for n in values.shape)
    return np.asarray(np.add.reduceat(np.add.reduceat(values, rows, axis=0), columns, axis=1), np.int64)


_building = threading.Lock()


def still_picture(scene: str, reader: SceneReader, size: Size) -> Still:
    """What stands still in a scene. Raises NotSimulatedError for a size that the simulator does not draw."""
    with _building:  # or several threads would paint the same picture at once
        return _painted(scene, reader, size)


@functools.cache
def _painted(scene: str, reader: SceneReader, size: Size) -> Still:
    try:
        background = first_frame(scene, size)
    except UserError as error:
        raise NotSimulatedError(str(error)) from error
    if reader.background is not None:
        background = reader.background(size)
    return Still.of(background, reader.still(size))
