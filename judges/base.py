"""What the engine and a judge say to each other."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from scenes import Evidence as EvidenceKind


class State(StrEnum):
    """How one query to a judge ended. Only the first one is a vote, and only a vote can be null."""

    VOTE = "vote"
    """An outcome of the scene, or null."""
    REFUSED = "judge_refused"
    """The judge declines to look."""
    UNPARSEABLE = "judge_unparseable"
    """The reply is neither an outcome nor null (see `judges.parse`)."""
    TRUNCATED = "judge_truncated"
    """The reply broke off, or all of its budget went into thinking."""
    BLOCKED = "judge_blocked"
    """The service filtered the question or the reply."""
    NOT_SIMULATED = "not_simulated"
    """The judge reads simulated clips only, and this is none."""
    FAILED = "judge_failed"
    """No reply: the service turned the query down, or gave no answer in several tries."""
    UNANSWERED = "judge_unanswered"
    """One such try: a timeout, a cut connection or an error of the service. Perhaps paid for; on the log only."""


@dataclass(frozen=True)
class Evidence:
    """What a judge is shown of one rollout.

    rollout: its name, such as dice/wan/seed_3. clip: the video file. clip_sha256: of its bytes, hexadecimal.
    frames: how many decode. promised_frames: how many its header promises, None when it does not say.
    final_frame: the last one that decodes, as PNG; None when the evidence is the video.
    """

    kind: EvidenceKind
    rollout: str
    clip: Path
    clip_sha256: str
    frames: int
    promised_frames: int | None
    final_frame: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class RawReply:
    """One reply as it came.

    state: State.VOTE when the judge ended its reply as it should, so that `text` can be parsed; else why there is
    nothing to parse, with the service's words in `detail`. Whatever a service sends with its OK may be paid for, and is
    a reply, be it as odd as it may: then `text` is the answer's body.
    model_version: what the service says has answered. tokens: by kind (prompt, reply, thinking), where it counts them.
    """

    state: State
    text: str = ""
    detail: str = ""
    model_version: str = ""
    finish_reason: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)


# The HTTP answers of a service that has not begun with a query: too many requests, unavailable (RFC 6585, RFC 9110).
TURNED_AWAY = frozenset({429, 503})


class JudgeError(Exception):
    """A query without a reply. The message is one line without secrets."""


class UnreachableError(JudgeError):
    """No answer, or one that says to come back: the same query may be sent again.

    seconds: the pause that the service asks of everybody; None when it asks for none. turned_away: whether the service
    says that it made nothing of the query; after any other error it may have, and be paid for it.
    """

    def __init__(self, message: str, seconds: float | None = None, *, turned_away: bool = False) -> None:
        super().__init__(message)
        self.seconds = seconds
        self.turned_away = turned_away


class RejectedError(JudgeError):
    """The service turned this query down, and would turn it down again."""


class UnusableError(JudgeError):
    """No query can succeed any more: key refused, no such model, or a quota that lasts for hours."""


class Judge(Protocol):
    """Whoever reads outcomes. `prepare` and `release` bracket the queries about one rollout.

    name: names its logs; judges whose votes must not be mixed have different names.
    model: what the service is asked for; its replies name the version that answered.
    """

    name: str
    model: str

    def settings(self, kind: EvidenceKind) -> dict[str, Any]:
        """Everything beside question and evidence that bears on its replies, such as the sampling of a video."""

    async def open(self) -> None:
        """Check key and model, and tidy up after earlier runs, before the first query. Raises JudgeError."""

    async def prepare(self, evidence: Evidence) -> None:
        """Make the evidence ready for several queries. Raises JudgeError."""

    async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
        """Send one query. Raises JudgeError."""

    async def release(self, evidence: Evidence) -> None:
        """No more queries about this evidence. Never raises JudgeError: what cannot be tidied up is left for later."""

    async def close(self) -> None:
        """Close all connections."""


@asynccontextmanager
async def answer_within(seconds: float) -> AsyncIterator[None]:
    """Raise UnreachableError when what is awaited inside takes longer by the clock on the wall.

    The limits of HTTP clients are for each read: a service that sends a byte now and then is never too late for them.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise UnreachableError(f"no answer within {seconds:g} s") from None


def file_stem(text: str) -> str:
    """`text` as a part of a file name: letters, digits, dots and hyphens, at most 64."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:64]
