"""Reads all rollouts of all cells under one limit; a vote that is on disk is never asked for again.

The votes of a rollout are asked for together. A reply that is no vote is logged like one that is, and asked for again:
a vote has so many attempts in all, over all runs, until the user allows as many again. What is then still missing stays
missing. A cell has its outcomes only when every rollout has all its votes:
a failure of the judge, a clip that is none and an absent clip are no nulls.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from errors import UserError
from judges.asking import Asker, Settings
from judges.base import Evidence, Judge, JudgeError, RawReply, RejectedError, State, UnreachableError, UnusableError
from judges.evidence import load_evidence
from judges.parse import majority
from judges.votelog import LoggedReply, VoteLog, asked
from progress import Progress
from scenes import SCENES
from video_io import Clips, VideoError, sha256_file

WAITING, READING, DONE, NO_VIDEO = "waiting", "reading", "done", "no_video"
CLIP_FAULTS = ("unreadable", "no_frames", "truncated", "blank")
# UNANSWERED is how a try ends, not a rollout.
_FAILURES = tuple(s.value for s in State if s not in {State.VOTE, State.UNANSWERED})
DISPLAY = (DONE, READING, WAITING, *_FAILURES, *CLIP_FAULTS, NO_VIDEO)

# A query that ends without a vote is made again: so many are made for a vote before the user is asked.
ATTEMPTS = 3
# So many rollouts of a cell that fail alike, one after the other, and its further ones would too.
EQUAL_FAILURES_STOP = 5
# The other JudgeError, UnusableError, ends the run.
_OF_ONE_ROLLOUT = (RejectedError, UnreachableError)
# Clips decoded at once: bounds memory and leaves a processor for the rest of the machine's work.
_DECODERS = 2


@dataclass(frozen=True)
class CellWork:
    """One cell to read. name: as shown to a person. log: of this judge's votes; the engine appends to it."""

    name: str
    scene: str
    model: str
    clips: Clips
    log: VoteLog


@dataclass
class CellResult:
    """How a cell stands. states: seed -> one of DISPLAY. details: seed -> why, where it has no outcome.

    clips: seed -> SHA-256 of its file, where it was read. votes: seed -> its votes, by number. given_up: seed -> how
    many of its votes had all their attempts.
    """

    states: dict[int, str]
    details: dict[int, str] = field(default_factory=dict)
    clips: dict[int, str] = field(default_factory=dict)
    votes: dict[int, list[LoggedReply]] = field(default_factory=dict)
    given_up: dict[int, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return all(state == DONE for state in self.states.values())

    def outcome(self, seed: int) -> int | None:
        """The majority of the votes of a rollout that is done."""
        return majority([vote.outcome for vote in self.votes[seed]])

    @property
    def bins(self) -> tuple[int | None, ...]:
        """The outcomes of a complete cell, by seed."""
        return tuple(self.outcome(seed) for seed in sorted(self.states))

    @property
    def identical(self) -> list[list[int]]:
        """Groups of seeds whose clips are the same file: one draw, not several."""
        groups: dict[str, list[int]] = {}
        for seed, clip in sorted(self.clips.items()):
            groups.setdefault(clip, []).append(seed)
        return [seeds for seeds in groups.values() if len(seeds) > 1]


class Engine:
    """One run. The caller holds the lock of the logs' folder and closes the logs."""

    def __init__(
        self, judge: Judge, settings: Settings, progress: Progress, finished: Callable[[CellWork, CellResult], None]
    ) -> None:
        """finished(cell, result) is called once a cell is complete, while others are still read."""
        self._judge = judge
        self._votes = settings.votes
        self._retry = settings.retry
        # Enough rollouts in work to fill all slots with their votes, and a few whose clips are being decoded.
        self._open = asyncio.Semaphore(-(-settings.concurrency // settings.votes) + _DECODERS)
        self._asker = Asker(judge, settings, progress.wait)
        self._progress = progress
        self._finished = finished
        self._decoders = ThreadPoolExecutor(_DECODERS, thread_name_prefix="decode")
        self._results: dict[str, CellResult] = {}
        self._equal_failures: dict[str, tuple[str, int]] = {}
        self.stopped: dict[str, str] = {}
        """Cells that were given up after a run of equal failures, and of which."""
        self.halted = ""
        """Why nothing more is asked; empty when all was."""

    async def queries(self, cells: Sequence[CellWork]) -> Mapping[str, int]:
        """How many queries a run would make if each is answered with a vote, by cell. Asks nobody, writes nothing."""
        try:
            rollouts = await self._begin(cells)
        finally:
            self._decoders.shutdown()
        counts = dict.fromkeys((cell.name for cell in cells), 0)
        for cell, seed in rollouts:
            if cell.name not in self.stopped:
                counts[cell.name] += len(self._attempts_left(cell, seed))
        return counts

    async def run(self, cells: Sequence[CellWork]) -> Mapping[str, CellResult]:
        """Read all cells; their results by name. Raises UserError for a log or disk that cannot be used."""
        try:
            rollouts = await self._begin(cells)
            for cell in cells:
                if self._results[cell.name].complete:
                    self._finished(cell, self._results[cell.name])
            unread = [(c, seed) for c, seed in rollouts if c.name not in self.stopped and self._attempts_left(c, seed)]
            if unread:
                await self._open_judge()
            await _all([self._rollout(cell, seed) for cell, seed in unread])
        finally:
            self._decoders.shutdown()
        for cell, seed in rollouts:
            spent = sum(len(replies) >= ATTEMPTS for replies in self._failures(cell, seed).values())
            if spent and not self._is_foreign(cell, seed):
                self._results[cell.name].given_up[seed] = spent
        return self._results

    async def _begin(self, cells: Sequence[CellWork]) -> list[tuple[CellWork, int]]:
        """Find what earlier runs left; (cell, seed) of each clip."""
        for cell in cells:
            seeds = sorted([*cell.clips.found, *cell.clips.missing])
            self._results[cell.name] = CellResult(dict.fromkeys(seeds, WAITING))
            for seed in seeds:
                self._show(cell, seed, WAITING if seed in cell.clips.found else NO_VIDEO)
        rollouts = [(cell, seed) for cell in cells for seed in cell.clips.found]
        await _all([self._take_up(cell, seed) for cell, seed in rollouts])
        for cell in cells:
            states = list(self._results[cell.name].states.values())
            foreign = states.count(State.NOT_SIMULATED)
            if foreign >= EQUAL_FAILURES_STOP and DONE not in states:
                self.stopped[cell.name] = f"{foreign} rollouts ended as {State.NOT_SIMULATED}, and none in an outcome"
        return rollouts

    async def _open_judge(self) -> None:
        try:
            await self._asker.open()
        except JudgeError as error:
            raise UserError(f"judge {self._judge.name}: {error}; expected a judge that answers") from error

    async def _take_up(self, cell: CellWork, seed: int) -> None:
        """Find the votes that earlier runs left."""
        result = self._results[cell.name]
        result.clips[seed] = await self._in_thread(sha256_file, cell.clips.found[seed])
        if len(self._votes_on_disk(cell, seed)) == self._votes:
            self._show(cell, seed, DONE)
        elif not self._attempts_left(cell, seed):
            (end, *_) = self._ends(cell, seed)
            self._show(cell, seed, end.state)
            result.details[seed] = end.reason

    def _votes_on_disk(self, cell: CellWork, seed: int) -> list[LoggedReply]:
        votes = cell.log.votes(seed, self._about(cell, seed))
        self._results[cell.name].votes[seed] = [votes[number] for number in range(self._votes) if number in votes]
        return self._results[cell.name].votes[seed]

    def _failures(self, cell: CellWork, seed: int) -> dict[int, list[LoggedReply]]:
        """Number of a vote that a rollout lacks -> its queries that ended without one."""
        about = self._about(cell, seed)
        known, failures = cell.log.votes(seed, about), cell.log.failures(seed, about)
        return {number: failures.get(number, []) for number in range(self._votes) if number not in known}

    def _ends(self, cell: CellWork, seed: int) -> list[LoggedReply]:
        """The last failure of each vote that a rollout lacks; one for which no other attempt helps goes first."""
        ends = [replies[-1] for replies in self._failures(cell, seed).values() if replies]
        return sorted(ends, key=lambda reply: reply.state is not State.NOT_SIMULATED)

    def _is_foreign(self, cell: CellWork, seed: int) -> bool:
        """Whether the judge said that it does not read such a clip: it would say so of the same clip again."""
        return any(reply.state is State.NOT_SIMULATED for reply in self._ends(cell, seed))

    def _attempts_left(self, cell: CellWork, seed: int) -> dict[int, int]:
        """Number of a vote that a rollout lacks -> how often it may be asked for, where it may."""
        if self._is_foreign(cell, seed):
            return {}
        failed = {number: 0 if self._retry else len(replies) for number, replies in self._failures(cell, seed).items()}
        return {number: ATTEMPTS - count for number, count in failed.items() if count < ATTEMPTS}

    def _about(self, cell: CellWork, seed: int) -> dict[str, Any]:
        return asked(self._judge, SCENES[cell.scene], self._results[cell.name].clips[seed])

    async def _rollout(self, cell: CellWork, seed: int) -> None:
        async with self._open:
            if self.halted or cell.name in self.stopped:
                return
            self._show(cell, seed, READING)
            try:
                state, detail = await self._read(cell, seed)
            except VideoError as error:
                state, detail = error.kind, str(error).removeprefix(f"{cell.clips.found[seed]}: ")
            except UnusableError as error:
                self.halted = self.halted or str(error)
                state, detail = WAITING, ""
            except _OF_ONE_ROLLOUT as error:
                state, detail = State.FAILED, str(error)
            self._end(cell, seed, state, detail)

    async def _read(self, cell: CellWork, seed: int) -> tuple[str, str]:
        """Ask for the votes that a rollout lacks; its state and why it has that one. Raises VideoError, JudgeError."""
        clip, rollout = cell.clips.found[seed], f"{cell.scene}/{cell.model}/seed_{seed}"
        evidence = await self._in_thread(load_evidence, clip, rollout, SCENES[cell.scene].evidence)
        if evidence.promised_frames is not None and evidence.frames < evidence.promised_frames:
            came = f"{evidence.frames} frames decode of {evidence.promised_frames} that the file promises"
            self._progress.note(f"{rollout}: {came}; the last one that does is taken")
        attempts = self._attempts_left(cell, seed)
        try:
            await self._asker.prepare(evidence)
            # Votes are paid for: one that fails does not take the others with it.
            ends = await asyncio.gather(
                *(self._vote(cell, seed, number, evidence, left) for number, left in attempts.items()),
                return_exceptions=True,
            )
        finally:
            await self._judge.release(evidence)
        self._votes_on_disk(cell, seed)
        errors = [end for end in ends if isinstance(end, BaseException)]
        if errors:
            # What ends the run goes before what ends the rollout.
            raise min(errors, key=lambda error: isinstance(error, JudgeError) + isinstance(error, _OF_ONE_ROLLOUT))
        failures = self._ends(cell, seed)
        return (failures[0].state, failures[0].reason) if failures else (DONE, "")

    async def _vote(self, cell: CellWork, seed: int, number: int, evidence: Evidence, attempts: int) -> LoggedReply:
        """Ask until a reply is a vote, so many times; the last reply. Raises JudgeError for a query without a reply."""

        async def log(reply: RawReply) -> LoggedReply:
            # In a thread: the disk may take its time, and other queries need not wait for it.
            return await asyncio.to_thread(cell.log.append, seed, number, self._about(cell, seed), evidence, reply)

        async def log_try(reason: str) -> None:
            await log(RawReply(State.UNANSWERED, detail=reason))

        question = SCENES[cell.scene].judge_question
        for _ in range(attempts):
            try:
                reply = await log(await self._asker.reply(evidence, question, cell.scene, log_try))
            except _OF_ONE_ROLLOUT as error:
                await log(RawReply(State.FAILED, detail=str(error)))
                raise
            if reply.state in {State.VOTE, State.NOT_SIMULATED} or self.halted:
                break
        return reply

    def _end(self, cell: CellWork, seed: int, state: str, detail: str) -> None:
        result = self._results[cell.name]
        self._show(cell, seed, state)
        if state == WAITING:
            return
        if state == DONE:
            self._equal_failures.pop(cell.name, None)
            if result.complete:
                self._finished(cell, result)
            return
        result.details[seed] = detail
        before, count = self._equal_failures.get(cell.name, ("", 0))
        count = count + 1 if state == before else 1
        self._equal_failures[cell.name] = (state, count)
        if count >= EQUAL_FAILURES_STOP and state not in CLIP_FAULTS:
            self.stopped.setdefault(cell.name, f"{count} rollouts in a row ended as {state} ({detail})")

    def _show(self, cell: CellWork, seed: int, state: str) -> None:
        self._results[cell.name].states[seed] = state
        self._progress.move(cell.name, seed, state)

    async def _in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._decoders, function, *arguments)


async def _all(coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Await all, in order of their results; the first exception cancels the others and is raised."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
