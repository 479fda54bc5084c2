"""What the engine and a provider say to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from credentials import one_line
from protocol import Generation


class State(StrEnum):
    """How an attempt at a rollout ended. Only the first one leaves a video; none of them is an outcome."""

    SUCCEEDED = "succeeded"
    """The video was downloaded, decoded to its end, hashed and put in its place."""
    REFUSED = "refused"
    """The provider's moderation said no."""
    FAILED = "failed"
    """The provider says that the prediction failed or was cancelled."""
    REJECTED = "rejected"
    """The request as such was turned down, for instance for an input that the model does not take."""
    NO_VIDEO = "no_video"
    """The provider says that it succeeded, but what came is not one video from one of its own hosts."""
    DAMAGED = "damaged"
    """The file does not decode to its end, on several downloads."""
    BLANK = "blank"
    """Every frame is the same picture, as in the clip that a safety checker puts in place of another."""
    EXPIRED = "expired"
    """The provider deleted the video before it could be downloaded."""
    STUCK = "stuck"
    """No end within the deadline."""
    UNKNOWN = "unknown"
    """The provider gave a status that it had not documented."""


# Another attempt is made without asking: both are in part random. (What they cost is the bill's to say.)
ATTEMPTED_AGAIN = frozenset({State.REFUSED, State.FAILED})
# The provider may have a video by now, or still: every later run looks before anything else. All of these may have been
# paid for, so that none is made anew unasked.
LOOKED_AT_AGAIN = frozenset({State.NO_VIDEO, State.DAMAGED, State.EXPIRED, State.STUCK, State.UNKNOWN})


RolloutKey = tuple[str, str, int]
"""Scene, model, seed."""


@dataclass(frozen=True)
class Request:
    """One rollout to be made."""

    generation: Generation
    seed: int

    @property
    def key(self) -> RolloutKey:
        return (self.generation.scene, self.generation.model.key, self.seed)

    @property
    def inputs(self) -> dict[str, Any]:
        """What the model is given, apart from the frame."""
        return {**self.generation.inputs, "prompt": self.generation.prompt, "seed": self.seed}


@dataclass(frozen=True)
class Lost:
    """An intent without an id: a prediction that may or may not have been created.

    time: of the intent, on the provider's clock. frame_url: where it would find its frame; empty when not known.
    """

    request: Request
    time: datetime
    frame_url: str = ""


@dataclass(frozen=True)
class Prediction:
    """What a provider says about one prediction.

    state: None while it runs, SUCCEEDED when there is something to download, else why there is nothing.
    detail: the provider's words, in one line.
    video: where the video is, for `Provider.download`; None unless the state is SUCCEEDED.
    version: of the model that answers, as far as the provider says it; empty when it does not.
    """

    id: str
    state: State | None
    detail: str = ""
    video: str | None = None
    version: str = ""


class ProviderError(Exception):
    """Something between us and the provider. The message is one line without secrets."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class RateLimitedError(ProviderError):
    """Nothing was created; the provider asks for a pause.

    seconds: how long, or None when it does not say.
    """

    def __init__(self, message: str, seconds: float | None) -> None:
        super().__init__(message)
        self.seconds = seconds


class UnreachableError(ProviderError):
    """No answer, and nothing was created: the same call may be made again."""


class RejectedError(ProviderError):
    """Nothing was created, and the same request would be turned down again."""


class ModelUnusableError(ProviderError):
    """Nothing was created, and no request for this model would be: its licence is not accepted, or it is gone."""


class UnusableError(ProviderError):
    """The account cannot go on: token refused, no credit, a quota that lasts for hours."""


class ResultUnknownError(ProviderError):
    """A paid call without a usable answer: the prediction may exist."""


class DownloadError(ProviderError):
    """The video cannot be had; `state` says why."""

    def __init__(self, state: State, message: str) -> None:
        super().__init__(message)
        self.state = state


class Provider(Protocol):
    """Whoever makes videos. Implementations hold no state that a later run would miss."""

    name: str
    poll_interval: float
    """Seconds between two looks at a prediction, at first."""
    settle_s: float
    """Seconds after which `find` knows of every prediction that was created."""

    async def prepare(self, generations: Sequence[Generation]) -> list[str]:
        """Check token, models and input names before anything is paid; returns remarks for the user.

        Raises UserError when the run cannot work.
        """

    def now(self) -> datetime:
        """The time on the provider's clock, as far as it is known: it outlasts a wrong clock of this machine."""

    async def frame_url(self, request: Request) -> str:
        """Where the provider finds the request's frame; empty when it needs none. Raises UnreachableError or
        UnusableError.
        """

    async def submit(self, request: Request, frame_url: str) -> Prediction:
        """Create one prediction, never twice.

        Raises RateLimitedError, UnreachableError, RejectedError, ModelUnusableError, UnusableError or
        ResultUnknownError.
        """

    async def poll(self, prediction_id: str) -> Prediction:
        """Look at a prediction. Raises UnreachableError or UnusableError."""

    async def find(self, lost: Sequence[Lost], known_ids: frozenset[str]) -> Mapping[RolloutKey, Prediction]:
        """Those lost predictions that do exist, by the key of their request; `known_ids` belong to others.

        Raises UnreachableError or UnusableError.
        """

    async def download(self, request: Request, video: str, path: Path) -> None:
        """Write the video that a prediction named to `path`.

        Raises UnreachableError, UnusableError or DownloadError.
        """

    async def cancel(self, prediction_id: str) -> Prediction:
        """Stop a prediction that is given up; how it stands then, for it may have ended in between.

        Raises UnreachableError or UnusableError.
        """

    async def close(self) -> None:
        """Close all connections."""
