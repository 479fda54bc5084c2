"""Creates predictions, each once: intent on disk, paid call, id on disk, and never a second call on a guess."""

import asyncio
import math
from collections.abc import Sequence

from providers.base import (
    Lost,
    ModelUnusableError,
    Prediction,
    Provider,
    RateLimitedError,
    RejectedError,
    Request,
    ResultUnknownError,
    State,
    UnreachableError,
    UnusableError,
)
from providers.history import Attempt, History
from providers.pacing import Gate, Outage
from providers.run_state import WAITING, Pauses, RunState, Settings, cell_name

# Creates without an answer that came to nothing, before the rollout is given up: some minutes of a provider's trouble.
_UNANSWERED_CREATES = 5
# So many hints of a rate limit are followed to the letter, until some create is let through.
_TRUSTED_HINTS = 3
# A provider that asks for a longer pause than this has run out of a quota: the run ends, to be continued later.
_QUOTA_PAUSE_S = 900.0


class Creator:
    """The only caller of `Provider.submit`. outage: while it lasts, nothing is created."""

    def __init__(self, provider: Provider, history: History, settings: Settings, run: RunState, outage: Outage) -> None:
        self._provider = provider
        self._history = history
        self._settings = settings
        self._run = run
        self._outage = outage
        self._gate = Gate(settings.rate, run.progress.wait)
        self._last_created = -math.inf

    async def create(self, request: Request) -> Attempt | None:
        """A prediction with an id; None when none may be made, or the request came to nothing.

        Raises UnusableError when no request can.
        """
        pauses, trouble = self._pauses(), ""
        for _ in range(_UNANSWERED_CREATES):
            self._run.show(request, WAITING)
            await self._turn()
            frame_url = await self._frame_url(request)
            if frame_url is None or not self._may_create(request):
                return None
            self._history.protocol(*request.key[:2], request.generation.digest, request.generation.record)
            attempt = self._history.intent(
                request.key, request.generation.digest, self._provider.name, self._provider.now(), frame_url
            )
            self._run.report.created += 1
            try:
                prediction = await self._submit(request, frame_url)
            except ResultUnknownError as error:
                trouble = str(error)
                self._run.progress.note(f"{cell_name(request)} seed {request.seed}: {error}; looking whether it exists")
                await self._look_up_new(request, trouble)
                if attempt.id is not None:
                    return attempt
                self._run.report.created -= 1
                await asyncio.sleep(pauses.next())
            except RejectedError as error:
                self._run.report.created -= 1
                self._history.ended(request.key, attempt, State.REJECTED, str(error))
                self._run.failed(request, State.REJECTED, str(error))
                return None
            except ModelUnusableError as error:
                self._run.report.created -= 1
                self._history.absent(request.key, attempt, str(error))
                self._run.stop_model(request, str(error))
                return None
            except UnusableError as error:
                self._run.report.created -= 1
                self._history.absent(request.key, attempt, str(error))
                raise
            else:
                if prediction is None:
                    self._run.report.created -= 1
                    self._history.absent(request.key, attempt, "not sent: nothing more was to be created")
                    return None
                self._history.submitted(request.key, attempt, prediction)
                return attempt
        self._run.failed(request, State.FAILED, trouble)
        return None

    async def look_up(self, requests: Sequence[Request]) -> None:
        """Give the lost intents of an earlier run their ids, or record that they came to nothing.

        Raises UnusableError when the provider's list cannot be had.
        """
        if requests:
            await asyncio.sleep(self._provider.settle_s)
            await self._look_up(requests, absent="not among the provider's predictions")

    async def _turn(self) -> None:
        """Wait for the turn of a create. Raises UnusableError when no video can be fetched for too long."""
        await self._gate.turn()
        while self._outage.holds:
            await self._outage.end()
            await self._gate.turn()

    def _may_create(self, request: Request) -> bool:
        limit = self._settings.max_predictions
        if limit is not None and self._run.report.created >= limit:
            self._run.remark(f"--max-predictions {limit} reached")
            return False
        return not self._run.is_stopped(request)

    async def _frame_url(self, request: Request) -> str | None:
        """Where the provider finds the frame; None when nothing more is to be created."""
        pauses = self._pauses()
        while not self._run.is_stopped(request):
            try:
                return await self._provider.frame_url(request)
            except UnreachableError as error:
                if pauses.exhausted:
                    raise UnusableError(str(error)) from error
                self._gate.close(pauses.next(), str(error))
            await self._turn()
        return None

    async def _submit(self, request: Request, frame_url: str) -> Prediction | None:
        """The paid call, repeated only after an answer that nothing was created; None when it is not made after all."""
        pauses, clock = self._pauses(), asyncio.get_running_loop().time
        refusals, last_created = 0, self._last_created
        while True:
            try:
                prediction = await self._provider.submit(request, frame_url)
                self._last_created = clock()
                return prediction
            except RateLimitedError as error:
                # A hint of no time at all says no more than none; nor does one after which nobody is let through.
                refusals = refusals + 1 if last_created == self._last_created else 1
                last_created = self._last_created
                pause = error.seconds or pauses.next()
                if refusals > _TRUSTED_HINTS and pause == error.seconds:
                    pause = max(pause, pauses.next())
                if pause > _QUOTA_PAUSE_S:
                    raise UnusableError(f"{error}; the limit lasts for {pause / 60:.0f} minutes") from error
                # Where many wait for a slow rate, one of them may wait long: only a limit for all is one without end.
                deadline_s = self._settings.deadline_s
                if pauses.exhausted and clock() - self._last_created > deadline_s:
                    message = f"{error}; nothing was let through for {deadline_s / 60:g} minutes"
                    raise UnusableError(message) from error
                self._gate.close(pause, "rate limit")
            except UnreachableError as error:
                if pauses.exhausted:
                    raise UnusableError(str(error)) from error
                self._gate.close(pauses.next(), str(error))
            await self._turn()
            if self._run.is_stopped(request):
                return None

    async def _look_up_new(self, request: Request, trouble: str) -> None:
        """Find out whether a create without an answer was one: at once, and again when it must be listed."""
        await self._look_up([request])
        if self._attempt(request).id is None:
            await asyncio.sleep(self._provider.settle_s)
            await self._look_up([request], absent=trouble)

    async def _look_up(self, requests: Sequence[Request], *, absent: str | None = None) -> None:
        """absent: what is recorded of those that are not listed by now; None: they may yet be."""
        attempts = {request: self._attempt(request) for request in requests}
        wanted = [Lost(request, attempt.time, attempt.frame_url) for request, attempt in attempts.items()]
        pauses = self._pauses()
        while True:
            try:
                found = await self._provider.find(wanted, self._history.ids())
                break
            except UnreachableError as error:
                if pauses.exhausted:
                    raise UnusableError(f"cannot list the predictions: {error}") from error
                await asyncio.sleep(pauses.next())
        for request in requests:
            if request.key in found:
                self._history.submitted(request.key, self._attempt(request), found[request.key])
            elif absent is not None:
                self._history.absent(request.key, self._attempt(request), absent)

    def _attempt(self, request: Request) -> Attempt:
        return self._history.rollout(request.key).attempts[-1]

    def _pauses(self) -> Pauses:
        return Pauses(self._provider.poll_interval, self._settings.deadline_s)
