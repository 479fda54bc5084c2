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
from ledger import sync_folder
from progress import Progress
from providers.base import (
    DownloadError,
    Prediction,
    Provider,
    ProviderError,
    Request,
    RolloutKey,
    State,
    UnreachableError,
    UnusableError,
)
from providers.creation import Creator
from providers.history import Attempt, History
from providers.pacing import Outage
from providers.resume import Step, next_step, side_path, video_path
from providers.run_state import DOWNLOADING, RUNNING, WAITING, Pauses, Report, RunState, Settings, cell_name
from video_io import VideoError, inspect_clip, sha256_file

# A link may fail, and a file may break, on the way: the video is fetched so often before it is given up.
_DOWNLOAD_TRIES = 3
# A prediction that was created a moment ago may not be known everywhere yet.
_EXPIRED_LOOKS = 3
# Cancelling takes a moment: so many poll intervals are waited for the end of a prediction that is being cancelled.
_CANCEL_POLLS = 20
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
        self._outage = Outage(settings.deadline_s)
        self._creator = Creator(provider, history, settings, self._run, self._outage)
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
            while step in {Step.ASK, Step.LOOK_AGAIN, Step.CREATE}:
                # One of an earlier run is made anew when the user asks, and when a look shows that there is no video.
                replace = self._settings.retry and step is Step.LOOK_AGAIN
                async with self._slots:
                    if step is Step.CREATE:
                        attempt = await self._creator.create(request)
                    else:
                        attempt = self._history.rollout(request.key).last
                    if attempt is None or attempt.id is None:
                        return
                    self._run.show(request, RUNNING)
                    patience_s = 0.0 if replace else self._settings.deadline_s
                    prediction = await self._watch(attempt.id, patience_s, fresh=step is Step.CREATE)
                    if replace and prediction.state in {None, State.UNKNOWN}:
                        prediction = await self._call_off(attempt.id)
                if prediction.state is State.SUCCEEDED:
                    state = await self._fetch(request, attempt, prediction)
                else:
                    state = self._ended_without_video(request, attempt, prediction)
                if state is State.SUCCEEDED:
                    return
                if replace and state is not State.STUCK:  # which is no answer, or one that it still runs
                    self._history.retry(request.key)
                step = next_step(self._history, self._folder, request)
                if step in {Step.ASK, Step.LOOK_AGAIN}:
                    return  # a later run looks again
        except UnusableError as error:
            self._run.halt(str(error))
        except (UserError, ProviderError):
            raise
        except Exception as error:
            # One odd answer that nobody foresaw is not to keep the videos of all others from being fetched.
            self._unforeseen(request, f"unforeseen {type(error).__name__}: {error}")

    def _unforeseen(self, request: Request, detail: str) -> None:
        attempt = self._history.rollout(request.key).last
        if attempt is not None and attempt.id is not None:
            self._end(request, attempt, State.UNKNOWN, detail)
        else:  # an intent stays open: the next run looks up what became of it
            detail = one_line(detail)
            self._run.remark(f"{cell_name(request)} seed {request.seed}: {detail}")
            self._run.failed(request, State.UNKNOWN, detail)

    async def _watch(self, prediction_id: str, patience_s: float, *, fresh: bool) -> Prediction:
        """Poll until the prediction has ended, or has run for `patience_s` more: its state is then None.

        A poll without an answer says nothing: the prediction is STUCK when none comes for the run's deadline.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        pause = self._provider.poll_interval if fresh else 0.0
        pauses, looks = Pauses(self._provider.poll_interval, patience_s), 0
        while True:
            await asyncio.sleep(pause)
            try:
                prediction = await self._provider.poll(prediction_id)
                if prediction.state is State.EXPIRED and (looks := looks + 1) < _EXPIRED_LOOKS:
                    pause = pauses.next()
                    continue
                elapsed = clock() - started
                if prediction.state is not None or elapsed >= patience_s:
                    return prediction
            except UnreachableError as error:
                elapsed = clock() - started
                if elapsed >= self._settings.deadline_s:
                    return Prediction(prediction_id, State.STUCK, f"{self._no_end()}; last: {error}")
            pause = min(max(self._provider.poll_interval, _POLL_GROWTH * elapsed), _POLL_LONGEST_S)

    async def _call_off(self, prediction_id: str) -> Prediction:
        """Cancel a prediction that is to be made anew; what it comes to, which may after all be a video."""
        try:
            prediction = await self._provider.cancel(prediction_id)
        except UnreachableError as error:
            return Prediction(prediction_id, State.STUCK, f"cannot be cancelled: {error}; not made anew")
        if prediction.state is None:
            patience_s = _CANCEL_POLLS * self._provider.poll_interval
            prediction = await self._watch(prediction_id, patience_s, fresh=True)
        if prediction.state is None:
            return Prediction(prediction_id, State.STUCK, "still runs, although it is cancelled; not made anew")
        return prediction

    def _no_end(self) -> str:
        return f"no end within {self._settings.deadline_s / 60:g} minutes"

    async def _fetch(self, request: Request, attempt: Attempt, prediction: Prediction) -> State:
        """Download, decode to the end, hash, record, and only then rename; how it ended."""
        self._run.show(request, DOWNLOADING)
        path = video_path(self._folder, request)
        pauses = Pauses(self._provider.poll_interval, self._settings.deadline_s)
        tries = 0
        while True:
            try:
                # Held for one try only: whoever pauses leaves the place to the others.
                async with self._downloads:
                    facts = await self._download(request, attempt, prediction, side_path(path))
                self._history.verified(request.key, attempt, facts)
                side_path(path).replace(path)
                self._run.succeeded(request)
                return State.SUCCEEDED
            except UnreachableError as error:
                state, detail = State.STUCK, str(error)
                # Where none can be fetched, all wait together, for as long as one would by itself.
                final = self._outage.exhausted if self._outage.holds else pauses.exhausted
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
                return self._end(request, attempt, state, detail)
            await asyncio.sleep(pauses.next())

    async def _download(self, request: Request, attempt: Attempt, prediction: Prediction, side: Path) -> dict[str, Any]:
        """One try: the video at `side`, decoded to its end; its facts. Raises what a download does, and VideoError."""
        assert prediction.video is not None
        try:
            await self._provider.download(request, prediction.video, side)
        except UnreachableError as error:
            # One that an earlier run could not fetch either says nothing of those that are yet to be made.
            if attempt.state is None:
                self._outage.failed(request.key, str(error))
            raise
        self._outage.fetched()
        return await asyncio.get_running_loop().run_in_executor(self._decoders, _verify, side)

    def _ended_without_video(self, request: Request, attempt: Attempt, prediction: Prediction) -> State:
        if prediction.state is None:
            return self._end(request, attempt, State.STUCK, self._no_end())
        return self._end(request, attempt, prediction.state, prediction.detail)

    def _end(self, request: Request, attempt: Attempt, state: State, detail: str) -> State:
        # A provider's words are cleaned where they come in; these may also be a decoder's, about a file from outside.
        detail = one_line(detail)
        self._history.ended(request.key, attempt, state, detail)
        self._run.failed(request, state, detail)
        return state


def _verify(path: Path) -> dict[str, Any]:
    """Decode a clip to its end and let it outlast a power cut; its facts for the ledger. Raises VideoError."""
    clip = inspect_clip(path)
    with path.open("rb") as file:
        os.fsync(file.fileno())
    # Its name too. A rename that a power cut undoes is made again by the next run, from the side file.
    sync_folder(path.parent)
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
