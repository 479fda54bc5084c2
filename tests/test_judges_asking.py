"""How queries are asked: together, with the pauses that the service asks for, and not for ever."""

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from judges.asking import Asker, Settings
from judges.base import Evidence, Judge, RawReply, State, UnreachableError, UnusableError
from tests.services.base import Request, Response
from tests.services.gemini_server import (
    GeminiService,
    google_error,
    rate_limited,
)
from tests.services.reading_room import reading_room

GENERATE = ":generateContent"


class Idle:
    """A judge without a service."""

    name = model = "idle"

    def settings(self, kind: str) -> dict[str, object]:
        return {}

    async def open(self) -> None: ...
    async def prepare(self, evidence: Evidence) -> None: ...
    async def release(self, evidence: Evidence) -> None: ...
    async def close(self) -> None: ...


def test_the_votes_of_a_run_are_asked_for_together(tmp_path: Path) -> None:
    """Nobody is answered until so many queries are in flight as may be."""
    waiting = asyncio.Event()

    class Crowd(Idle):
        count = 0

        async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
            self.count += 1
            if self.count == 16:
                waiting.set()
            await asyncio.wait_for(waiting.wait(), 10)
            return RawReply(State.VOTE, "left")

    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=8)
        assert room.read(8, judge=Crowd()).results["cell"].complete


class Scripted(Idle):
    """Raises one error after the other, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.asked = 0

    async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
        self.asked += 1
        if self._errors:
            raise self._errors.pop(0)
        return RawReply(State.VOTE, "left")


async def _untold(reason: str) -> None:
    """For those to whom failed tries are nothing."""


def _ask(judge: Judge) -> list[tuple[str, float]]:
    """One query; the pauses for all that the asker announced."""
    pauses: list[tuple[str, float]] = []
    evidence = Evidence("final_frame", "", Path(), "", 1, 1, b"")

    async def run() -> None:
        asker = Asker(judge, Settings(1, 1, 0.001), lambda reason, seconds: pauses.append((reason, seconds)))
        await asker.reply(evidence, "", "ball", _untold)

    asyncio.run(run())
    return pauses


def test_the_pause_that_the_service_asks_for_is_announced() -> None:
    assert _ask(Scripted(UnreachableError("slow down", 0.02))) == [("slow down", 0.02)]


def test_the_pause_that_the_service_asks_for_is_taken_by_all(tmp_path: Path) -> None:
    """One query is told to wait while others are in flight; none is sent before the wait is over."""
    pause_s = 0.5
    told = threading.Event()

    class Busy(GeminiService):
        told_at = 0.0

        def handle(self, request: Request) -> Response:
            if GENERATE not in request.path:
                return super().handle(request)
            with self.mutex:
                is_first = len(self.sent("POST", GENERATE)) == 1
            if is_first:
                # Sixteen queries at once may be in flight; this one is answered when they have arrived.
                while len(self.sent("POST", GENERATE)) < 16:
                    time.sleep(0.001)
                self.told_at = time.monotonic()
                told.set()
                return rate_limited(f"{pause_s}s")
            told.wait()
            time.sleep(0.1)
            return super().handle(request)

    service = Busy()
    with reading_room(tmp_path, service) as room:
        room.put_clips("main", "ball", count=12)
        assert room.read(12).results["cell"].complete
        later = [request.time for request in service.sent("POST", GENERATE)][16:]
        assert len(later) == 36 - 16 + 1
        assert min(later) >= service.told_at + pause_s


def test_pauses_that_the_service_asks_for_are_not_counted_as_tries() -> None:
    judge = Scripted(*[UnreachableError("slow down", 0.001, turned_away=True) for _ in range(20)])
    _ask(judge)
    assert judge.asked == 21


def test_a_query_that_is_told_to_wait_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.asking._PATIENCE_S", 0.2)
    judge = Scripted(*[UnreachableError("slow down", 0.03, turned_away=True) for _ in range(1000)])
    with pytest.raises(UnreachableError, match="slow down"):
        _ask(judge)
    assert 1 < judge.asked < 10


@pytest.mark.parametrize(
    "error", [UnreachableError("slow down", 600.0, turned_away=True), UnreachableError("no answer")]
)
def test_a_query_does_not_begin_a_wait_beyond_its_patience(
    monkeypatch: pytest.MonkeyPatch, error: UnreachableError
) -> None:
    monkeypatch.setattr("judges.asking._PATIENCE_S", 0.0)
    judge = Scripted(error)
    with pytest.raises(UnreachableError, match=str(error)):
        _ask(judge)
    assert judge.asked == 1


def test_a_query_is_given_up_after_its_tries() -> None:
    judge = Scripted(*[UnreachableError("no answer") for _ in range(20)])
    with pytest.raises(UnreachableError):
        _ask(judge)
    assert judge.asked == 6


def test_an_error_that_names_a_pause_is_a_try_like_any_other() -> None:
    judge = Scripted(*[UnreachableError("no answer in time", 0.0) for _ in range(20)])
    with pytest.raises(UnreachableError):
        _ask(judge)
    assert judge.asked == 6


class Failing(GeminiService):
    """Answers no query, and asks for a pause of no length."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self._status = status

    def handle(self, request: Request) -> Response:
        if GENERATE not in request.path:
            return super().handle(request)
        answer = google_error(self._status, "DEADLINE_EXCEEDED", "no answer in time")
        return replace(answer, headers={**answer.headers, "Retry-After": "0"})


def test_a_service_that_may_have_begun_is_asked_so_often_and_each_try_is_logged(tmp_path: Path) -> None:
    with reading_room(tmp_path, Failing(504)) as room:
        room.put_clips("main", "ball", count=1)
        room.read(1, votes=1)
        assert len(room.service.sent("POST", GENERATE)) == 6
        states = [line["state"] for line in room.log("main", "ball")]
        assert states == ["judge_unanswered"] * 6 + ["judge_failed"]


def test_getting_ready_is_no_sign_of_a_service_that_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.asking._TRIES", 1)

    async def run() -> None:
        judge = Scripted(*[UnreachableError("no answer")] * 9)
        asker = Asker(judge, Settings(1, 1, 0.001), lambda *_: None)
        evidence = Evidence("final_frame", "", Path(), "", 1, 1, b"")
        for _ in range(4):
            await asker.prepare(evidence)
            with pytest.raises(UnreachableError):
                await asker.reply(evidence, "", "ball", _untold)
        await asker.prepare(evidence)
        with pytest.raises(UnusableError, match="5 queries in a row"):
            await asker.reply(evidence, "", "ball", _untold)

    asyncio.run(run())


def test_nothing_is_asked_again_of_a_judge_that_cannot_be_used() -> None:
    judge = Scripted(UnusableError("key refused"))
    with pytest.raises(UnusableError):
        _ask(judge)
    assert judge.asked == 1
