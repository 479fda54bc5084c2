"""What a browser gets of a clip: pictures without sound, metadata and what an encoder of H.264 says of itself,
whole or in part. What encoders of other codecs write into their own stream (x265: its name and settings) stays."""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import av
from av.bitstream import BitStreamFilterContext

from video_io import VideoError

_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


# Takes out the messages (SEI) in which an encoder of H.264 names itself and its settings. Other codecs' packets go out
# as they are: HEVC has such messages also in the description of the stream, which this filter leaves.
_SILENCING = "filter_units=remove_types=6"


def anonymous(path: Path) -> bytes:
    """The clip's video stream, packet by packet as it is, in an MP4 file without metadata and sound.

    Raises VideoError when it cannot be read or written so.
    """
    buffer = io.BytesIO()
    try:
        with (
            av.open(str(path)) as source,
            av.open(buffer, "w", format="mp4", options={"fflags": "+bitexact"}) as target,
        ):
            stream = source.streams.video[0]
            copy = target.add_stream_from_template(stream)
            copy.metadata.clear()
            is_h264 = stream.codec_context.name == "h264"
            quiet = BitStreamFilterContext(_SILENCING, stream, copy) if is_h264 else None
            for packet in source.demux(stream):
                if packet.dts is None:  # the end
                    continue
                for kept in quiet.filter(packet) if quiet else [packet]:
                    kept.stream = copy
                    target.mux(kept)
    except (av.FFmpegError, OSError, IndexError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise VideoError("unreadable", f"{path}: cannot be shown: {why}; expected a video") from error
    return buffer.getvalue()


class Unsatisfiable(Exception):  # noqa: N818 - the protocol's word for it
    """The range asked for lies beyond the end of the file."""


@dataclass(frozen=True)
class Span:
    """Bytes first..last of a file, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


def requested_span(header: str | None, size: int) -> Span | None:
    """The span that a Range header asks for, of a file of `size` bytes; None: the whole file.

    RFC 9110, section 14: a header that is absent, malformed, of another unit or of several ranges may be ignored.
    Raises Unsatisfiable.
    """
    found = _ONE_RANGE.fullmatch(header.strip()) if header else None
    if not found or found[0] == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        length = min(int(last), size)
        if length == 0:
            raise Unsatisfiable
        return Span(size - length, size - 1)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise Unsatisfiable
    return Span(int(first), min(int(last or size - 1), size - 1))
