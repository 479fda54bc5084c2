"""When creates are made: at one rate for all of a run, with one pause for all, and not while no video can be had."""

import asyncio
from collections.abc import Callable, Hashable

from providers.base import UnusableError

# One video that cannot be fetched says little of the others; so many, with none fetched in between, say that all fail.
_OUTAGE_VIDEOS = 3


class Gate:
    """Lets one caller through at a time, in order of arrival, at most `per_minute` a minute and none while closed."""

    def __init__(self, per_minute: float, on_wait: Callable[[str, float], None]) -> None:
        """on_wait(reason, seconds) is told of each pause that a provider or the network imposes."""
        self._spacing = 60.0 / per_minute
        self._on_wait = on_wait
        self._turn = asyncio.Lock()
        self._next = 0.0
        self._closed_until = 0.0

    async def turn(self) -> None:
        """Return when the caller may make its create."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (wait := max(self._next, self._closed_until) - clock()) > 0:
                await asyncio.sleep(wait)
            now = clock()
            # Sleeps end a little late; counting on from the planned moment keeps that from adding up.
            self._next = (self._next if now - self._next < self._spacing else now) + self._spacing

    def close(self, seconds: float, reason: str) -> None:
        """Let nobody through for so long from now on; a longer pause that already holds stays."""
        until = asyncio.get_running_loop().time() + seconds
        if until > self._closed_until:
            self._closed_until = until
            self._on_wait(reason, seconds)


class Outage:
    """Whether videos can be fetched at all. While they cannot, more of them would be paid for and not be had."""

    def __init__(self, deadline_s: float) -> None:
        """deadline_s: how long an outage is waited for, from its first failed download on."""
        self._deadline_s = deadline_s
        self._over = asyncio.Event()
        self._over.set()
        self._failing: set[Hashable] = set()
        self._deadline = 0.0
        self._reason = ""

    @property
    def holds(self) -> bool:
        return not self._over.is_set()

    @property
    def exhausted(self) -> bool:
        """Whether there is an outage, and it has lasted for longer than the deadline."""
        return self.holds and asyncio.get_running_loop().time() >= self._deadline

    def failed(self, video: Hashable, reason: str) -> None:
        """This video could not be fetched for now."""
        if not self._failing:
            self._deadline = asyncio.get_running_loop().time() + self._deadline_s
        self._failing.add(video)
        self._reason = reason
        if len(self._failing) >= _OUTAGE_VIDEOS:
            self._over.clear()

    def fetched(self) -> None:
        """Some video was fetched."""
        self._failing.clear()
        self._over.set()

    async def end(self) -> None:
        """Return when videos can be fetched. Raises UnusableError when that takes longer than the deadline."""
        try:
            while self.holds:
                async with asyncio.timeout_at(self._deadline):
                    await self._over.wait()
        except TimeoutError as error:
            minutes = self._deadline_s / 60
            raise UnusableError(f"{self._reason}; no video could be fetched for {minutes:g} minutes") from error
