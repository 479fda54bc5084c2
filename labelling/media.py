"""Which part of a file a browser asks for."""

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


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
