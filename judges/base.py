"""What the engine and a judge say to each other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from credentials import redacted
from scenes import Evidence as EvidenceKind

GEMINI_KEY = "GEMINI_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"


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
    """No reply: the service turned the query down, or could not be reached in several tries."""


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

    @property
    def record(self) -> dict[str, Any]:
        """What identifies the evidence in a log: the clip's bytes decide which frame is its last."""
        return {"kind": self.kind, "clip_sha256": self.clip_sha256}


@dataclass(frozen=True)
class RawReply:
    """One reply as it came.

    state: State.VOTE when the judge ended its reply as it should, so that `text` can be parsed; else why there is
    nothing to parse, with the service's words in `detail`.
    model_version: what the service says has answered. tokens: by kind (prompt, reply, thinking), where it counts them.
    """

    state: State
    text: str = ""
    detail: str = ""
    model_version: str = ""
    finish_reason: str = ""
    tokens: Mapping[str, int] = field(default_factory=dict)


class JudgeError(Exception):
    """A query without a reply. The message is one line without secrets."""


class UnreachableError(JudgeError):
    """No answer, or one that says to come back: the same query may be sent again.

    seconds: the pause that the service asks of everybody; None when it asks for none.
    """

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


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


def one_line(text: str) -> str:
    """`text` for a log or a message: one line of at most 300 characters, without control characters and keys."""
    line = " ".join("".join(c if c.isprintable() else " " for c in redacted(text)).split())
    return line if len(line) <= 300 else f"{line[:297]}..."


def file_stem(text: str) -> str:
    """`text` as a part of a file name: letters, digits, dots and hyphens, at most 64."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:64]
