"""One rate for all creates of a run, and one pause for all of them when the provider asks for it."""

import asyncio
from collections.abc import Callable


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
