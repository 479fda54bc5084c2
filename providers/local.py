"""Videos that are made on this machine: the same folders, ledger, states and resume as the paid ones."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from datetime import UTC, datetime
from pathlib import Path

from protocol import Generation
from providers.base import Lost, Prediction, Request, RolloutKey, State, UnusableError


class LocalProvider:
    """Renders with `render(request, path)` in an executor, at the moment at which another provider would download.

    `render` raises DownloadError for a video that cannot be made. Nothing is paid for and nothing outlives the process,
    so that a lost intent has come to nothing, and a known id only says that a video is to be rendered.

    version: what renders, for the ledger, as far as the inputs do not say it.
    """

    poll_interval = 0.05
    settle_s = 0.0

    def __init__(
        self, name: str, render: Callable[[Request, Path], None], executor: Executor, version: str = ""
    ) -> None:
        self.name = name
        self._render = render
        self._executor = executor
        self._version = version

    async def prepare(self, generations: Sequence[Generation]) -> list[str]:
        return []

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def frame_url(self, request: Request) -> str:
        return ""

    async def submit(self, request: Request, frame_url: str) -> Prediction:
        scene, model, seed = request.key
        return Prediction(f"{self.name}:{scene}/{model}/{seed}", None, version=self._version)

    async def poll(self, prediction_id: str) -> Prediction:
        return Prediction(prediction_id, State.SUCCEEDED, video=prediction_id)

    async def find(self, lost: Sequence[Lost], known_ids: frozenset[str]) -> Mapping[RolloutKey, Prediction]:
        return {}

    async def download(self, request: Request, video: str, path: Path) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._executor, self._render, request, path)
        except BrokenExecutor as error:
            # Every other worker of the pool is ended with it.
            raise UnusableError("a rendering process was ended from outside, perhaps for want of memory") from error

    async def cancel(self, prediction_id: str) -> Prediction:
        """There is nothing to cancel: what is rendered ends with the process."""
        return await self.poll(prediction_id)

    async def close(self) -> None:
        self._executor.shutdown(cancel_futures=True)
