"""How a run stands: the state of each rollout, the cells that are stopped, and why."""

import asyncio
import math
import re
from dataclasses import dataclass, field

from progress import Progress
from providers.base import Request, RolloutKey, State

# What a rollout is shown as before its end, or after it (SUCCEEDED is "done").
WAITING, RUNNING, DOWNLOADING, DONE = "waiting", "running", "downloading", "done"
_FAILURES = tuple(state.value for state in State if state is not State.SUCCEEDED)
# Where something else has the video's name, there is no attempt that could have ended.
IN_THE_WAY = "in_the_way"
DISPLAY = (WAITING, RUNNING, DOWNLOADING, DONE, *_FAILURES, IN_THE_WAY)

# So many equal failures one after the other, and a cell's further attempts would fail alike.
EQUAL_FAILURES_STOP = 5
# The first pause before a call is repeated, in poll intervals; each further one is twice as long, up to the longest.
_FIRST_PAUSE_POLLS = 4
_LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True)
class Settings:
    """concurrency: predictions in flight. rate: creates a minute. max_predictions: paid calls of this run, at most.

    retry: new attempts at rollouts that ended without a video. deadline_s: wall clock of one prediction, seconds.
    """

    concurrency: int
    rate: float
    max_predictions: int | None = None
    retry: bool = False
    deadline_s: float = 1800.0


@dataclass
class Report:
    """How a run ended. states: rollout -> one of DISPLAY. created: predictions that it paid for, or may have."""

    states: dict[RolloutKey, str] = field(default_factory=dict)
    created: int = 0
    remarks: list[str] = field(default_factory=list)


class RunState:
    """The report in the making, shown as it changes.

    halted: nothing more is created, in any cell. A model, or a cell, may be stopped by itself.
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.report = Report()
        self.halted = False
        self._stopped: set[tuple[str, str]] = set()
        self._stopped_models: set[str] = set()
        self._last_failure: dict[tuple[str, str], tuple[str, int]] = {}

    def show(self, request: Request, state: str) -> None:
        self.report.states[request.key] = state
        self.progress.move(cell_name(request), request.seed, state)

    def is_stopped(self, request: Request) -> bool:
        """Whether nothing more is created in the request's cell."""
        scene, model, _ = request.key
        return self.halted or model in self._stopped_models or (scene, model) in self._stopped

    def succeeded(self, request: Request) -> None:
        self._last_failure.pop(request.key[:2], None)
        self.show(request, DONE)

    def failed(self, request: Request, state: State, detail: str) -> None:
        """Show a failure, and stop its cell when it is one of a run of equal ones."""
        self.show(request, state.value)
        cell = request.key[:2]
        # Numbers and ids differ between equal failures.
        signature = f"{state}: {re.sub(r'[0-9a-z]*[0-9][0-9a-z]*', '#', detail)}"
        before, count = self._last_failure.get(cell, ("", 0))
        count = count + 1 if signature == before else 1
        self._last_failure[cell] = (signature, count)
        if count >= EQUAL_FAILURES_STOP and cell not in self._stopped:
            self._stopped.add(cell)
            self.remark(f"{cell_name(request)}: stopped after {count} equal failures: {state}: {detail}")

    def stop_model(self, request: Request, reason: str) -> None:
        model = request.generation.model.key
        self._stopped_models.add(model)
        self.remark(f"{model}: no more predictions are created: {reason}")

    def halt(self, reason: str) -> None:
        if not self.halted:
            self.halted = True
            self.remark(f"no more predictions are created: {reason}")

    def remark(self, text: str) -> None:
        """Something to be told at the end, once."""
        if text not in self.report.remarks:
            self.report.remarks.append(text)


class Pauses:
    """Growing pauses between the repeats of one call, and when to stop: so long after its first failure."""

    def __init__(self, poll_interval: float, deadline_s: float) -> None:
        self._pause = _FIRST_PAUSE_POLLS * poll_interval
        self._deadline_s = deadline_s
        self._until = math.inf

    @property
    def exhausted(self) -> bool:
        """To be asked after each failure: the first one starts the clock."""
        now = asyncio.get_running_loop().time()
        self._until = min(self._until, now + self._deadline_s)
        return now > self._until

    def next(self) -> float:
        pause, self._pause = self._pause, min(self._pause * 2, _LONGEST_PAUSE_S)
        return pause


def cell_name(request: Request) -> str:
    """The cell of a rollout as progress shows it."""
    return f"{request.generation.scene} / {request.generation.model.key}"
