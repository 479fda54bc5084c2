"""Video and picture files: the only code that encodes or decodes them.

What a file's header says about itself is not trusted: frame counts lie, and seeking to the last frame returns another
one. Every reader here decodes from the start to the end.
"""

import hashlib
import io
import itertools
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
from av.video.reformatter import Colorspace, VideoReformatter
from numpy.typing import NDArray
from PIL import Image

from errors import UserError

Frame = NDArray[np.uint8]
"""An RGB picture, shape (height, width, 3)."""

VideoFault = Literal["unreadable", "no_frames", "truncated", "blank"]

# Same frames, same bytes: one thread, since with several the rate control depends on their timing; and the code paths
# that x264 guarantees to be reproducible, since its fast weighted prediction was seen to vary from run to run.
_ENCODER_OPTIONS = {
    "preset": "veryfast",
    "crf": "20",
    "threads": "1",
    "x264-params": "cpu-independent=1:weightp=0",
}
# Video tag of ITU-R BT.709, which players assume for high definition; without a tag they guess by size.
_BT709 = 1
# How a clip of a cell is named.
_CLIP = re.compile(r"seed_(0|[1-9]\d*)\.mp4")
# Two frames are the same picture when no luma sample differs by more: what an encoder adds to a still picture is less.
_SAME_LUMA = 12


class VideoError(UserError):
    """A video file that cannot be used.

    kind: "unreadable" (no video in it, or a single picture), "no_frames" (a video without one decodable frame),
    "truncated" (data is missing or damaged), "blank" (every frame is the same picture, as in the clip that a safety
    filter puts in place of one).
    """

    def __init__(self, kind: VideoFault, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type["VideoError"], tuple[VideoFault, str]]:
        return VideoError, (self.kind, str(self))  # or it would be lost on its way out of a worker process


@dataclass(frozen=True)
class ClipInfo:
    """What decoding a clip from start to end showed.

    frames: frames that were decoded. promised_frames: what the header says, None when it says nothing.
    still: every frame is the same picture. last: the last frame.
    """

    width: int
    height: int
    fps: float
    frames: int
    promised_frames: int | None
    still: bool
    last: Frame = field(repr=False, compare=False)


@dataclass(frozen=True)
class LastFrame:
    """The last decodable frame, how many frames came, and how many the header promised (None: it does not say)."""

    frame: Frame
    frames: int
    promised_frames: int | None


@dataclass(frozen=True)
class Clips:
    """The clips of one cell. extra: names of files that are none of seed_0 ... seed_{n-1}; nobody reads them."""

    folder: Path
    found: Mapping[int, Path]
    missing: Sequence[int]
    extra: Sequence[str]


def find_clips(folder: Path, n: int) -> Clips:
    """The clips in rollouts/<study>/<scene>/<model>/, whoever put them there. An absent folder holds none."""
    files = sorted(path for path in folder.glob("*") if not path.name.startswith(".")) if folder.is_dir() else []
    found, extra = {}, []
    for path in files:
        name = _CLIP.fullmatch(path.name)
        if name and int(name.group(1)) < n and path.is_file():
            found[int(name.group(1))] = path
        else:
            extra.append(path.name)
    return Clips(folder, found, [seed for seed in range(n) if seed not in found], extra)


def write_video(path: Path, frames: Iterable[Frame], fps: int) -> int:
    """Encode `frames` as H.264 / yuv420p / faststart mp4, move it to `path`; returns the frame count.

    Frames are uint8 RGB, shape (H, W, 3), all of one size with H and W even; they are encoded as they come, so that one
    frame is in memory at a time. The same frames give the same bytes on one machine. Nothing is left behind on failure.
    Raises ValueError for frames that cannot be encoded, UserError when the folder cannot be written.
    """
    temporary = _side_file(path)
    try:
        written = _encode(temporary, frames, fps)
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return written


def decode(path: Path) -> Iterator[Frame]:
    """The frames of a clip in order, uint8 RGB (H, W, 3), up to the last one that decodes.

    Raises VideoError "unreadable" or "no_frames"; a clip that breaks off ends early (see `inspect_clip`).
    """
    with _Reader(path) as reader:
        for frame in reader.frames():
            yield frame.to_ndarray(format="rgb24")


def last_frame(path: Path) -> LastFrame:
    """The last decodable frame, found by decoding to the end. Raises VideoError "unreadable" or "no_frames"."""
    with _Reader(path) as reader:
        count = 0
        for frame in reader.frames():
            count, last = count + 1, frame
        return LastFrame(last.to_ndarray(format="rgb24"), count, reader.promised_frames)


def inspect_clip(path: Path, *, allow_blank: bool = False) -> ClipInfo:
    """Decode a whole clip and describe it. Raises VideoError of any kind; "blank" unless `allow_blank`.

    A header that promises more frames than came is not in itself a fault, as long as no data is missing: both counts
    are returned.
    """
    with _Reader(path) as reader:
        frames = reader.frames()
        first = next(frames)
        last, luma, still, count = first, _luma(first), True, 1
        for frame in frames:
            last, count = frame, count + 1
            still = still and _same_picture(luma, _luma(frame))
        if reader.damage or _breaks_off(path):
            promised = "" if reader.promised_frames is None else f" of {reader.promised_frames}"
            reason = reader.damage or "the file is shorter than its header says"
            raise VideoError("truncated", f"{path}: {reason} after {count}{promised} frames; expected a complete video")
        if count == 1:
            raise VideoError("unreadable", f"{path}: one picture; expected a video, of two frames at least")
        if still and not allow_blank:
            raise VideoError("blank", f"{path}: all {count} frames are the same picture; expected a moving one")
        return ClipInfo(
            width=first.width,
            height=first.height,
            fps=reader.fps,
            frames=count,
            promised_frames=reader.promised_frames,
            still=still,
            last=last.to_ndarray(format="rgb24"),
        )


def encode_png(frame: Frame) -> bytes:
    """The picture, uint8 RGB (H, W, 3), as PNG; the same picture gives the same bytes."""
    buffer = io.BytesIO()
    # The default effort: the highest one takes seven times as long to save a tenth, and judges see thousands of these.
    Image.fromarray(frame).save(buffer, format="PNG")
    return buffer.getvalue()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal. Raises UserError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot read: {error.strerror}; expected a file") from error


class _Reader:
    """One open clip. `damage` says why decoding stopped early, once `frames` is exhausted; empty when it did not."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        try:
            self._container: Any = av.open(str(path), mode="r", metadata_errors="replace")
        except (av.FFmpegError, OSError) as error:
            raise VideoError("unreadable", f"{path}: {_reason(error)}; expected a video file") from error
        if not self._container.streams.video:
            self._container.close()
            raise VideoError("unreadable", f"{path}: no video stream; expected a video file")
        self._stream: Any = self._container.streams.video[0]
        # Frame threads would hold a dozen frames in memory; slices of one frame do not.
        self._stream.thread_type = "SLICE"

    def __enter__(self) -> "_Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self._container.close()

    @property
    def promised_frames(self) -> int | None:
        return int(self._stream.frames) or None

    @property
    def fps(self) -> float:
        rate: Fraction | None = self._stream.average_rate or self._stream.guessed_rate
        return float(rate) if rate else 0.0

    def frames(self) -> Iterator[Any]:
        """The decodable frames; at least one, else VideoError "no_frames"."""
        count = 0
        for frame in self._intact():
            count += 1
            yield frame
        if count == 0:
            raise VideoError("no_frames", f"{self.path}: no frame decodes; expected at least one")

    def _intact(self) -> Iterator[Any]:
        try:
            for packet in self._container.demux(self._stream):
                if packet.is_corrupt:
                    self.damage = "data is missing"
                    break
                yield from packet.decode()
            if self.damage:
                yield from self._stream.decode(None)  # the intact frames that the decoder still holds back
        except (av.FFmpegError, OSError) as error:
            self.damage = _reason(error)


def _encode(path: Path, frames: Iterable[Frame], fps: int) -> int:
    remaining = iter(frames)
    first = next(remaining, None)
    if first is None:
        raise ValueError(f"{path}: no frame to write; expected at least one")
    if first.ndim != 3 or first.shape[2] != 3 or first.shape[0] % 2 or first.shape[1] % 2:
        raise ValueError(f"frame of shape {first.shape}; expected (H, W, 3) with H and W even, as yuv420p needs")
    count = 0
    convert = VideoReformatter().reformat  # one for all frames, as it keeps its tables
    # Bit-exact: no date and no version of the muxer in the file.
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), mode="w", format="mp4", options=options) as container:
        stream = container.add_stream("libx264", rate=fps, options=dict(_ENCODER_OPTIONS))
        stream.height, stream.width, stream.pix_fmt = first.shape[0], first.shape[1], "yuv420p"
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = _BT709
        for count, array in enumerate(itertools.chain([first], remaining), start=1):
            if array.shape != first.shape or array.dtype != np.uint8:
                found = f"{array.dtype} {array.shape}"
                raise ValueError(f"frame {count - 1} is {found}; expected uint8 {first.shape}, as the first one")
            frame = av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(array), format="rgb24")
            picture = convert(frame, format="yuv420p", dst_colorspace=Colorspace.ITU709, threads=1)
            picture.pts = count - 1
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return count


def _side_file(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UserError(f"{path}: cannot write: {error.strerror}; expected a writable folder") from error
    os.close(handle)
    return Path(name)


def _luma(frame: Any) -> NDArray[np.int16]:
    return np.asarray(frame.to_ndarray(format="gray"), dtype=np.int16)


def _same_picture(first: NDArray[np.int16], other: NDArray[np.int16]) -> bool:
    return first.shape == other.shape and int(np.abs(first - other).max()) <= _SAME_LUMA


def _breaks_off(path: Path) -> bool:
    """Whether an mp4 or mov file ends before its last top-level box does: a download that was cut short.

    The demuxer does not always notice: a cut between two frames looks like the end. Box headers as in ISO/IEC 14496-12.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(8)[4:] != b"ftyp":
            return False
        offset = 0
        while offset + 8 <= size:
            file.seek(offset)
            header = file.read(16)
            length = int.from_bytes(header[:4])
            if length == 1:
                length = int.from_bytes(header[8:16])
            if length == 0:  # this box reaches to the end of the file, wherever that is
                return False
            if length < 8:  # not a box: whatever follows the last one is no part of the clip
                return False
            offset += length
        return offset > size


def _reason(error: Exception) -> str:
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split()).lower()
