"""Runs all rollouts of all cells together under one limit, so that each is paid for once and a crash loses nothing.

What is written in which order makes that true: intent, paid call, id, end. A later run takes up whatever it finds (see
`providers.resume`), and creates nothing before it has looked up the intents whose ids it does not know.
"""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from credentials import one_line
from errors import UserError
from progress import Progress
from providers.base import (
    ASK_AGAIN,
    DownloadError,
    Prediction,
    Provider,
    Request,
    RolloutKey,
    State,
    UnreachableError,
    UnusableError,
)
from providers.creation import Creator
from providers.history import Attempt, History
from providers.resume import Step, next_step, side_path, video_path
from providers.run_state import DONE, DOWNLOADING, RUNNING, WAITING, Pauses, Report, RunState, Settings
from video_io import VideoError, inspect_clip, sha256_file

# A link may fail, and a file may break, on the way: the video is fetched so often before it is given up.
_DOWNLOAD_TRIES = 3
# A prediction that was created a moment ago may not be known everywhere yet.
_EXPIRED_LOOKS = 3
_DOWNLOADS_AT_ONCE = 8
# Clips decoded at once: bounds memory and leaves a processor for the rest of the machine's work.
_DECODERS = 2
# The poll interval grows with the time that a prediction has been running, so that watching adds at most 3 % to it.
_POLL_GROWTH = 0.03
_POLL_LONGEST_S = 10.0


class Engine:
    """One run over one study's folder, whose lock the caller holds."""

    def __init__(
        self, provider: Provider, folder: Path, history: History, settings: Settings, progress: Progress
    ) -> None:
        self._provider = provider
        self._folder = folder
        self._history = history
        self._settings = settings
        self._run = RunState(progress)
        self._creator = Creator(provider, history, settings, self._run)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._downloads = asyncio.Semaphore(_DOWNLOADS_AT_ONCE)
        self._decoders = ThreadPoolExecutor(_DECODERS, thread_name_prefix="decode")

    async def run(self, requests: Sequence[Request], steps: Mapping[RolloutKey, Step]) -> Report:
        """Bring every request to an end. steps: what `providers.resume.plan` found for each.

        Raises UserError for a folder, ledger or disk that cannot be used.
        """
        try:
            first = {request.key: self._first_step(request, steps[request.key]) for request in requests}
            lost = [request for request in requests if first[request.key] is Step.LOOK_UP]
            await self._look_up(lost)
            first |= {request.key: next_step(self._history, self._folder, request) for request in lost}
            # By seed first, so that all cells move together and a broken one is found out early.
            order = sorted(requests, key=lambda request: request.seed)
            await _all([self._rollout(request, first[request.key]) for request in order])
        finally:
            self._decoders.shutdown()
        return self._run.report

    def _first_step(self, request: Request, step: Step) -> Step:
        self._run.show(request, WAITING)
        if step is Step.GIVEN_UP and self._settings.retry:
            self._history.retry(request.key)
            return Step.CREATE
        return step

    async def _look_up(self, lost: Sequence[Request]) -> None:
        try:
            await self._creator.look_up(lost)
        except UnusableError as error:
            message = f"{self._provider.name}: {error}; expected its list of what an earlier run may have paid for"
            raise UserError(message) from error

    async def _rollout(self, request: Request, step: Step) -> None:
        try:
            while step in {Step.ASK, Step.CREATE}:
                async with self._slots:
                    if step is Step.CREATE:
                        attempt = await self._creator.create(request)
                    else:
                        attempt = self._history.rollout(request.key).last
                    if attempt is None or attempt.id is None:
                        return
                    prediction = await self._watch(request, attempt, attempt.id, fresh=step is Step.CREATE)
                if prediction.state is State.SUCCEEDED:
                    async with self._downloads:
                        await self._fetch(request, attempt, prediction)
                else:
                    await self._record_failure(request, attempt, prediction)
                if self._run.report.states[request.key] == DONE:
                    return
                step = next_step(self._history, self._folder, request)
                if step is Step.ASK:
                    return  # stuck or unknown: a later run asks again
        except UnusableError as error:
            self._run.halt(str(error))

    async def _watch(self, request: Request, attempt: Attempt, prediction_id: str, *, fresh: bool) -> Prediction:
        """Poll to a terminal status, or to the deadline."""
        self._run.show(request, RUNNING)
        clock = asyncio.get_running_loop().time
        started, trouble = clock(), ""
        # One that had been given up, and is to be made anew, gets one last look.
        deadline_s = 0.0 if self._settings.retry and attempt.state in ASK_AGAIN else self._settings.deadline_s
        pause = self._provider.poll_interval if fresh else 0.0
        pauses, looks = Pauses(self._provider.poll_interval, deadline_s), 0
        while True:
            await asyncio.sleep(pause)
            try:
                prediction = await self._provider.poll(prediction_id)
                if prediction.state is State.EXPIRED and (looks := looks + 1) < _EXPIRED_LOOKS:
                    pause = pauses.next()
                    continue
                if prediction.state is not None:
                    return prediction
                trouble = ""
            except UnreachableError as error:
                trouble = f"; last: {error}"
            elapsed = clock() - started
            if elapsed >= deadline_s:
                return Prediction(prediction_id, State.STUCK, f"no end within {deadline_s / 60:g} minutes{trouble}")
            pause = min(max(self._provider.poll_interval, _POLL_GROWTH * elapsed), _POLL_LONGEST_S)

    async def _record_failure(self, request: Request, attempt: Attempt, prediction: Prediction) -> None:
        assert prediction.state is not None
        make_anew = self._settings.retry and attempt.state in ASK_AGAIN and prediction.state in ASK_AGAIN
        self._end(request, attempt, prediction.state, prediction.detail)
        if make_anew:
            try:
                await self._provider.cancel(prediction.id)
                self._history.retry(request.key)
            except UnreachableError as error:
                self._run.progress.note(f"cannot cancel {prediction.id}: {error}; it is not made anew")

    async def _fetch(self, request: Request, attempt: Attempt, prediction: Prediction) -> None:
        """Download, decode to the end, hash, record, and only then rename."""
        assert prediction.video is not None
        self._run.show(request, DOWNLOADING)
        path = video_path(self._folder, request)
        pauses = Pauses(self._provider.poll_interval, self._settings.deadline_s)
        tries = 0
        while True:
            try:
                await self._provider.download(request, prediction.video, side_path(path))
                loop = asyncio.get_running_loop()
                facts = await loop.run_in_executor(self._decoders, _verify, side_path(path))
                self._history.verified(request.key, attempt, facts)
                side_path(path).replace(path)
                self._run.succeeded(request)
                return
            except UnreachableError as error:
                state, detail = State.STUCK, str(error)
                final = pauses.exhausted
            except DownloadError as error:
                state, detail = error.state, str(error)
                tries += 1
                final = state is not State.EXPIRED or tries == _DOWNLOAD_TRIES
            except VideoError as error:
                state = State.BLANK if error.kind == "blank" else State.DAMAGED
                detail = str(error).removeprefix(f"{side_path(path)}: ")
                tries += 1
                final = state is State.BLANK or tries == _DOWNLOAD_TRIES
            except OSError as error:
                raise UserError(f"{path}: cannot write: {error.strerror}; expected a writable folder") from error
            if final:
                side_path(path).unlink(missing_ok=True)
                self._end(request, attempt, state, detail)
                return
            await asyncio.sleep(pauses.next())

    def _end(self, request: Request, attempt: Attempt, state: State, detail: str) -> None:
        # A provider's words are cleaned where they come in; these may also be a decoder's, about a file from outside.
        detail = one_line(detail)
        self._history.ended(request.key, attempt, state, detail)
        self._run.failed(request, state, detail)


def _verify(path: Path) -> dict[str, Any]:
    """Decode a clip to its end; its facts for the ledger. Raises VideoError."""
    clip = inspect_clip(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return {
        "sha256": sha256_file(path),
        "bytes": path.stat().st_size,
        "frames": clip.frames,
        "promised_frames": clip.promised_frames,
        "width": clip.width,
        "height": clip.height,
        "fps": clip.fps,
    }


async def _all(coroutines: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Await all; the first exception cancels the others and is raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
