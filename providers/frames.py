"""Conditioning frames at a provider: uploaded once a run, and again when the upload is about to expire."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

# A prediction may wait in the provider's queue before it fetches its frame.
_MARGIN = timedelta(minutes=30)
# Replicate keeps uploads for 24 hours; this holds where an answer does not say.
_DEFAULT_LIFE = timedelta(hours=12)


@dataclass(frozen=True)
class Upload:
    """A file that a provider holds for us. expires: None when the provider did not say."""

    url: str
    expires: datetime | None


class FrameStore:
    """URLs of uploaded frames. `upload` sends one file."""

    def __init__(self, upload: Callable[[Path], Awaitable[Upload]]) -> None:
        self._upload = upload
        self._urls: dict[Path, tuple[str, datetime]] = {}
        self._locks: dict[Path, asyncio.Lock] = {}

    async def url(self, frame: Path) -> str:
        """Where the provider finds the frame. Raises what `upload` raises."""
        async with self._locks.setdefault(frame, asyncio.Lock()):
            url, until = self._urls.get(frame, ("", datetime.min.replace(tzinfo=UTC)))
            now = datetime.now(UTC)
            if now >= until:
                sent = await self._upload(frame)
                life = (sent.expires - now) if sent.expires else _DEFAULT_LIFE
                # A life shorter than twice the margin is used up to its half: never upload once a prediction.
                url, until = sent.url, now + max(life - _MARGIN, life / 2)
                self._urls[frame] = (url, until)
            return url
