"""The generation ledger of a study: what it records, and what it says about each rollout.

Lines, each with `time` (UTC) and, but for `protocol`, with `scene`, `model`, `seed`:

    protocol   digest and its parts, once for each digest of a cell
    intent     attempt, digest, provider, provider_time, frame_url: written before each paid call; the time on the
               provider's clock, and where it finds the frame, by which a later run knows what came of the call
    submitted  attempt, id, version: written after it; version of the model, where the provider says it
    absent     attempt, detail: nothing was created, and why, as far as it is known
    ended      attempt, state, detail: the end, except for a video (see `providers.base.State`)
    verified   attempt, sha256, bytes, frames, width, height, fps: the video is decoded to its end and takes its place
    retry      the user asked for new attempts at a rollout that had ended without a video
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from credentials import one_line
from errors import UserError
from ledger import AppendOnlyLog
from providers.base import ATTEMPTED_AGAIN, Prediction, RolloutKey, State

LEDGER_FILE = "ledger.jsonl"


@dataclass
class Attempt:
    """One paid call and what came of it.

    time: of its intent, on the provider's clock. state: None while it is open. detail: of its end, or why nothing was
        created. sha256: of the verified video.
    """

    number: int
    time: datetime
    digest: str
    frame_url: str = ""
    id: str | None = None
    state: State | None = None
    detail: str = ""
    sha256: str | None = None
    absent: bool = False


@dataclass
class Rollout:
    """All attempts at one rollout, oldest first. allowance_from: attempts before this one no longer count."""

    attempts: list[Attempt] = field(default_factory=list)
    allowance_from: int = 0

    @property
    def last(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def failures(self) -> int:
        """Attempts that were refused or failed since the user last asked for new ones."""
        return sum(attempt.state in ATTEMPTED_AGAIN for attempt in self.attempts[self.allowance_from :])

    @property
    def created(self) -> int:
        """Predictions that are known to have been created."""
        return sum(attempt.id is not None for attempt in self.attempts)


class History:
    """The ledger in a study's folder of rollouts, and every rollout in it. Holds the ledger open."""

    def __init__(self, folder: Path) -> None:
        """Read the ledger. Raises UserError naming a line that does not follow from the lines before it."""
        self.path = folder / LEDGER_FILE
        self._log = AppendOnlyLog(self.path)
        self._rollouts: dict[RolloutKey, Rollout] = {}
        self._protocols: set[tuple[str, str, str]] = set()
        for number, record in enumerate(self._log.read(), start=1):
            try:
                self._apply(record)
            except (KeyError, ValueError, TypeError, IndexError) as error:
                raise UserError(f"{self.path}: line {number}: {error!r}; expected a generation record") from error

    def rollout(self, key: RolloutKey) -> Rollout:
        return self._rollouts.setdefault(key, Rollout())

    def ids(self) -> frozenset[str]:
        """Every prediction that an intent of this ledger has already been given."""
        return frozenset(a.id for rollout in self._rollouts.values() for a in rollout.attempts if a.id is not None)

    def protocol(self, scene: str, model: str, digest: str, parts: Mapping[str, Any]) -> None:
        """Record the parts of a digest before its first use."""
        if (scene, model, digest) not in self._protocols:
            self._write({"event": "protocol", "scene": scene, "model": model, "digest": digest, "parts": dict(parts)})

    def intent(self, key: RolloutKey, digest: str, provider: str, time: datetime, frame_url: str) -> Attempt:
        """About to make a paid call, at `time` on the provider's clock. It is on disk when this returns."""
        marks = {"provider_time": time.isoformat(timespec="milliseconds"), "frame_url": frame_url}
        self._event(key, "intent", len(self.rollout(key).attempts), digest=digest, provider=provider, **marks)
        return self.rollout(key).attempts[-1]

    def submitted(self, key: RolloutKey, attempt: Attempt, prediction: Prediction) -> None:
        version = {"version": prediction.version} if prediction.version else {}
        self._event(key, "submitted", attempt.number, id=prediction.id, **version)

    def absent(self, key: RolloutKey, attempt: Attempt, detail: str) -> None:
        self._event(key, "absent", attempt.number, detail=one_line(detail))

    def ended(self, key: RolloutKey, attempt: Attempt, state: State, detail: str) -> None:
        self._event(key, "ended", attempt.number, state=state.value, detail=one_line(detail))

    def verified(self, key: RolloutKey, attempt: Attempt, facts: Mapping[str, Any]) -> None:
        """facts: sha256 and what decoding showed."""
        self._event(key, "verified", attempt.number, **facts)

    def retry(self, key: RolloutKey) -> None:
        self._event(key, "retry", len(self.rollout(key).attempts))

    def close(self) -> None:
        self._log.close()

    def _event(self, key: RolloutKey, event: str, attempt: int, **fields: Any) -> None:
        scene, model, seed = key
        self._write({"event": event, "scene": scene, "model": model, "seed": seed, "attempt": attempt, **fields})

    def _write(self, record: dict[str, Any]) -> None:
        record["time"] = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._log.append(record)
        self._apply(record)

    def _apply(self, record: Mapping[str, Any]) -> None:
        event = record["event"]
        if event == "protocol":
            self._protocols.add((record["scene"], record["model"], record["digest"]))
            return
        rollout = self.rollout((str(record["scene"]), str(record["model"]), _whole(record, "seed")))
        number = _whole(record, "attempt")
        if event == "intent":
            if number != len(rollout.attempts):
                raise ValueError(f"attempt {number} follows {len(rollout.attempts)} attempts")
            frame_url = str(record.get("frame_url", ""))
            rollout.attempts.append(Attempt(number, _time(record), str(record["digest"]), frame_url))
            return
        if event == "retry":
            rollout.allowance_from = number
            return
        attempt = rollout.attempts[number]
        if event == "submitted":
            attempt.id = str(record["id"])
        elif event == "absent":
            attempt.absent, attempt.detail = True, str(record.get("detail", ""))
        elif event == "ended":
            attempt.state, attempt.detail, attempt.sha256 = State(record["state"]), str(record["detail"]), None
        elif event == "verified":
            attempt.state, attempt.detail, attempt.sha256 = State.SUCCEEDED, "", str(record["sha256"])
        else:
            raise ValueError(f"unknown event {event!r}")


def _whole(record: Mapping[str, Any], name: str) -> int:
    value = record[name]
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}, no whole number from 0 on")
    return value


def _time(record: Mapping[str, Any]) -> datetime:
    text = record.get("provider_time", record["time"])
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"time is {text!r}, without a time zone")
    return time


def identical_videos(history: History, keys: Iterable[RolloutKey]) -> list[list[RolloutKey]]:
    """Groups of two or more rollouts whose verified videos are the same bytes: one draw, not several."""
    groups: dict[str, list[RolloutKey]] = {}
    for key in keys:
        last = history.rollout(key).last
        if last is not None and last.sha256 is not None:
            groups.setdefault(last.sha256, []).append(key)
    return [group for group in groups.values() if len(group) > 1]
