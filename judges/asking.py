"""One query after another until there is a reply: pauses, repeats, and when to give up."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from judges.base import Evidence, Judge, RawReply, UnreachableError, UnusableError

Result = TypeVar("Result")
# Told of each try that had no answer, and why; a query goes on when it returns.
OnFailedTry = Callable[[str], Awaitable[None]]

# A query without an answer is sent again so often; the pauses double.
_TRIES = 6
_LONGEST_PAUSE_S = 60.0
_UNANSWERED_STOP = 5
# Pauses that the service itself asks for are not counted, but a query whose next try would be later is given up.
_PATIENCE_S = 1800.0
# A service that asks for more than this has no more to give today.
_LONGEST_HINT_S = 900.0


@dataclass(frozen=True)
class Settings:
    """votes: a rollout. concurrency: queries in flight. first_pause_s: before the first repeat, seconds.

    retry: ask again for votes that have had all their attempts.
    """

    votes: int
    concurrency: int
    first_pause_s: float
    retry: bool = False


class Asker:
    """Sends the queries of a run: at most so many at once, and none while the service asks for a pause.

    When several in a row went without an answer, in spite of all tries, the service is taken to be gone.
    """

    def __init__(self, judge: Judge, settings: Settings, on_wait: Callable[[str, float], None]) -> None:
        """on_wait(reason, seconds) is told of each pause that the service asks for."""
        self._judge = judge
        self._first_pause_s = settings.first_pause_s
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._on_wait = on_wait
        self._paused_until = 0.0
        self._unanswered = 0

    async def open(self) -> None:
        """Get the judge ready. Raises JudgeError."""
        await self._insist(self._judge.open)

    async def prepare(self, evidence: Evidence) -> None:
        """Make the evidence ready for its queries. Raises JudgeError as `reply` does."""
        await self._insist(lambda: self._judge.prepare(evidence))

    async def reply(self, evidence: Evidence, question: str, scene: str, on_failed_try: OnFailedTry) -> RawReply:
        """The reply to one query. Raises RejectedError, UnusableError, or UnreachableError after the last try.

        on_failed_try is not told of a query that the service turned away with a pause: nothing was made of that one.
        """
        reply = await self._insist(lambda: self._judge.ask(evidence, question, scene), on_failed_try)
        # Getting ready may ask nobody, and says nothing about the service.
        self._unanswered = 0
        return reply

    async def _insist(self, call: Callable[[], Awaitable[Result]], on_failed_try: OnFailedTry | None = None) -> Result:
        clock = asyncio.get_running_loop().time
        pause, tries = self._first_pause_s, 0
        async with self._slots:
            give_up = clock() + _PATIENCE_S
            last = UnreachableError("the service asks others for a longer pause than a query waits")
            while True:
                while (wait := self._paused_until - clock()) > 0:
                    if self._paused_until > give_up:
                        self._no_answer(last)
                    await asyncio.sleep(wait)
                try:
                    return await call()
                except UnreachableError as error:
                    last = error
                if last.seconds is not None:
                    # A service that keeps asking for no time at all gets some nevertheless.
                    self._pause_all(max(last.seconds, self._first_pause_s), str(last))
                    if last.turned_away:
                        continue
                tries += 1
                if on_failed_try is not None:
                    await on_failed_try(str(last))
                if tries == _TRIES or clock() + pause > give_up:
                    self._no_answer(last)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _no_answer(self, last: UnreachableError) -> NoReturn:
        self._unanswered += 1
        if self._unanswered >= _UNANSWERED_STOP:
            raise UnusableError(f"{last} ({self._unanswered} queries in a row)") from last
        raise last

    def _pause_all(self, seconds: float, reason: str) -> None:
        if seconds > _LONGEST_HINT_S:
            raise UnusableError(f"{reason} (it asks for a pause of {seconds / 3600:.1f} hours)")
        until = asyncio.get_running_loop().time() + seconds
        if until > self._paused_until:
            self._paused_until = until
            self._on_wait(reason, seconds)
