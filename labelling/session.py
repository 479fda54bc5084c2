"""One person's answers to one sample, kept in an append-only log: closing and coming back loses nothing.

The first line of the log holds the sample; each further line is an answer, an answer taken back, or the end. A line is
on disk before the page moves on.
"""

import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from errors import UserError
from labelling.sample import Clip, Sample
from ledger import AppendOnlyLog
from records import HumanLabel
from scenes import SCENES

LOG_FILE = "labels.jsonl"


class OutOfTurn(Exception):  # noqa: N818 - an answer that came too late is no fault
    """An answer to another clip than the present one, for instance from a second window."""


@dataclass(frozen=True)
class Answer:
    """label: an outcome's name, or None for an unscorable rollout. skipped: why there is no label; otherwise empty."""

    label: str | None
    skipped: str = ""


@dataclass(frozen=True)
class State:
    """Where a session stands. asked: what its sample was drawn by. answers: to the first clips of the sample."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    sample: Sample | None = None
    answers: tuple[Answer, ...] = ()
    finished: bool = False

    @property
    def clips(self) -> tuple[Clip, ...]:
        return self.sample.clips if self.sample else ()

    @property
    def present(self) -> int | None:
        """The clip to be answered now, from 0; None when all are."""
        return len(self.answers) if len(self.answers) < len(self.clips) else None

    @property
    def skipped(self) -> dict[str, str]:
        """Names of the clips that got no label, and why."""
        answered = zip(self.clips, self.answers, strict=False)
        return {clip.name: answer.skipped for clip, answer in answered if answer.skipped}

    def labels(self, study: str) -> list[HumanLabel]:
        """The labels so far, without the skipped clips."""
        labels = []
        for clip, answer in zip(self.clips, self.answers, strict=False):
            if not answer.skipped:
                outcome = None if answer.label is None else SCENES[clip.scene].outcomes.index(answer.label) + 1
                labels.append(HumanLabel(clip.scene, clip.model, clip.seed, outcome, study))
        return labels


class Session:
    """A state and its log. Safe to call from the threads of the one process that holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        """Read the log; without one the session has not begun. Raises UserError naming a line that is not its own."""
        self._log = AppendOnlyLog(folder / LOG_FILE)
        self._mutex = threading.Lock()
        self._state = State()
        for number, record in enumerate(self._log.read(), start=1):
            try:
                self._state = _after(self._state, record)
            except (KeyError, ValueError, TypeError, OutOfTurn) as error:
                raise UserError(f"{self.path}: line {number}: {error!r}; expected the log of a labelling") from error

    @property
    def path(self) -> Path:
        return self._log.path

    @property
    def state(self) -> State:
        return self._state

    def begin(self, asked: Mapping[str, Any], sample: Sample) -> None:
        """Fix the sample."""
        clips = [asdict(clip) for clip in sample.clips]
        self._append({"asked": dict(asked), "clips": clips, "unusable": list(sample.unusable)})

    def label(self, clip: int, label: str | None) -> None:
        """Answer the present clip. Raises OutOfTurn, and ValueError for a label that is none of the scene's outcomes.

        Like all that follow it raises UserError, and changes nothing, when the log cannot be written.
        """
        self._append({"clip": clip, "label": label})

    def skip(self, clip: int, reason: str) -> None:
        """Go on without a label, since the present clip cannot be shown. Raises OutOfTurn."""
        self._append({"clip": clip, "skipped": reason})

    def undo(self, clip: int) -> None:
        """Take back the latest answer, which was to this clip. Raises OutOfTurn."""
        self._append({"undo": clip})

    def finish(self) -> None:
        """Make the answers final, as the judge's may be seen from here on. Raises OutOfTurn while clips are left."""
        self._append({"finished": True})

    def close(self) -> None:
        self._log.close()

    def _append(self, record: Mapping[str, Any]) -> None:
        with self._mutex:
            state = _after(self._state, record)
            self._log.append(record)
            self._state = state


def _after(state: State, record: Mapping[str, Any]) -> State:
    """The state after one more line. Raises OutOfTurn, KeyError, TypeError or ValueError for one that does not fit."""
    if "clips" in record:
        if state.sample is not None:
            raise ValueError("a second sample")
        sample = Sample(tuple(Clip(**clip) for clip in record["clips"]), tuple(record["unusable"]))
        return State(dict(record["asked"]), sample)
    if state.finished:
        raise OutOfTurn("the labels are final")
    if "finished" in record:
        if state.sample is None or state.present is not None:
            raise OutOfTurn("clips are left")
        return replace(state, finished=True)
    if "undo" in record:
        if not state.answers or _number(record["undo"]) != len(state.answers) - 1:
            raise OutOfTurn(f"clip {record['undo']} was not the last to be answered")
        return replace(state, answers=state.answers[:-1])
    if state.present is None or _number(record["clip"]) != state.present:
        raise OutOfTurn(f"clip {record['clip']} is not the present one")
    answer = Answer(None, str(record["skipped"])) if "skipped" in record else Answer(record["label"])
    outcomes = SCENES[state.clips[state.present].scene].outcomes
    if answer.label is not None and answer.label not in outcomes:
        raise ValueError(f"label {answer.label!r}; expected null or one of {', '.join(outcomes)}")
    return replace(state, answers=(*state.answers, answer))


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"clip {value!r}; expected a number")
    return value
