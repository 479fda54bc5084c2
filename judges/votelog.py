"""The log of one cell's votes: every reply that a judge gave, and every query without one, in the order of arrival.

A line holds what was asked (`asked`: question, evidence, judge, model, settings), of which rollout and vote, and what
came back, whether it is a vote or not. The reply stands there as it came and is parsed when the log is read, so that a
vote never differs from what the present rules make of it. Lines carry no time, no path and no secret: logs are
committed and compared.

Promised: whatever a service answered has a line, so has every try that may have been paid for without an answer
(State.UNANSWERED), and every query that ended without a reply (State.FAILED). No line stands before its query: what is
in flight when a run is killed, at most its concurrency, may be paid for and asked again. Nor has a query one that the
service turned away with a pause to wait for.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credentials import redacted
from errors import UserError
from judges.base import Evidence, Judge, RawReply, State
from judges.parse import parse_reply
from judges.reply import shortened
from ledger import AppendOnlyLog
from scenes import SCENES, Scene

FOLDER = "vlm_logs"


@dataclass(frozen=True)
class LoggedReply:
    """One line. state: State.VOTE for a vote; outcome: 1..k, or None for null, when it is one.

    asked: what the reply answers. reason: why the reply is that vote or none.
    """

    seed: int
    vote: int
    asked: Mapping[str, Any]
    state: State
    outcome: int | None
    reason: str
    reply: str
    model_version: str


def log_path(analysis: Path, study: str, scene_name: str, model: str, judge: str) -> Path:
    """Where the votes of a cell by one judge are."""
    return analysis / FOLDER / study / f"{scene_name}_{model}.{judge}.jsonl"


def work_folder(analysis: Path, study: str) -> Path:
    """Below it, under its own name, a judge keeps its lock and what it must remember between runs; not committed."""
    return analysis / FOLDER / study / ".run"


def question_sha256(scene: Scene) -> str:
    """SHA-256, hexadecimal, of the question that a judge is asked about a scene's rollouts."""
    return hashlib.sha256(scene.judge_question.encode()).hexdigest()


def asked(judge: Judge, scene: Scene, clip_sha256: str) -> dict[str, Any]:
    """What a vote answers. Votes with an equal record are votes about the same thing, and no other votes are."""
    return {
        "question_sha256": question_sha256(scene),
        "evidence": scene.evidence,
        "clip_sha256": clip_sha256,
        "judge": judge.name,
        "model": judge.model,
        "settings": judge.settings(scene.evidence),
    }


class VoteLog:
    """The log of one cell, open for appending. One process at a time writes to it."""

    def __init__(self, path: Path, scene: str) -> None:
        """Read the log. Raises UserError naming a line that is no reply."""
        self.path = path
        self._outcomes = SCENES[scene].outcomes
        self._log = AppendOnlyLog(path)
        self._replies: list[LoggedReply] = []
        for number, record in enumerate(self._log.read(), start=1):
            try:
                self._replies.append(self._parsed(record))
            except (KeyError, ValueError, TypeError, OverflowError) as error:
                raise UserError(f"{path}: line {number}: {error!r}; expected a judge's reply") from error

    @property
    def replies(self) -> list[LoggedReply]:
        """Every reply, oldest first."""
        return list(self._replies)

    def votes(self, seed: int, asked: Mapping[str, Any]) -> dict[int, LoggedReply]:
        """The votes about this evidence, by their number; of two with one number the first counts."""
        found: dict[int, LoggedReply] = {}
        for reply in self._replies:
            if reply.seed == seed and reply.state is State.VOTE and reply.asked == asked:
                found.setdefault(reply.vote, reply)
        return found

    def failures(self, seed: int, asked: Mapping[str, Any]) -> dict[int, list[LoggedReply]]:
        """By their number, the queries about this evidence that ended without a vote; an UNANSWERED one went on."""
        found: dict[int, list[LoggedReply]] = {}
        for reply in self._replies:
            if reply.seed == seed and reply.asked == asked and reply.state not in {State.VOTE, State.UNANSWERED}:
                found.setdefault(reply.vote, []).append(reply)
        return found

    def append(
        self, seed: int, vote: int, asked: Mapping[str, Any], evidence: Evidence, reply: RawReply
    ) -> LoggedReply:
        """Add one reply; it is on disk when this returns. What the line holds follows from its arguments alone."""
        record: dict[str, Any] = {
            "seed": seed,
            "vote": vote,
            "asked": dict(asked),
            "frames": evidence.frames,
            "promised_frames": evidence.promised_frames,
            "came": reply.state.value,
            "reply": shortened(redacted(reply.text)),
            "detail": redacted(reply.detail),
            "model_version": redacted(reply.model_version),
            "finish_reason": reply.finish_reason,
            "tokens": dict(reply.tokens),
        }
        logged = self._parsed(record)
        # For people and for other programs; reading the log does not rely on it.
        record |= {"state": logged.state.value, "bin": logged.outcome, "reason": logged.reason}
        self._log.append(record)
        self._replies.append(logged)
        return logged

    def close(self) -> None:
        self._log.close()

    def _parsed(self, record: Mapping[str, Any]) -> LoggedReply:
        state, outcome, reason = State(record["came"]), None, str(record["detail"])
        text = str(record["reply"])
        if state is State.VOTE:
            parsed = parse_reply(text, self._outcomes)
            state, outcome, reason = State(parsed.state), parsed.outcome, parsed.reason
        seed, vote, question = int(record["seed"]), int(record["vote"]), dict(record["asked"])
        return LoggedReply(seed, vote, question, state, outcome, reason, text, str(record["model_version"]))
