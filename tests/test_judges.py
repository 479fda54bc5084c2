"""The Gemini judge and the engine against the service on loopback: every way in which a query can go wrong."""

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from errors import UserError
from judges.asking import Asker, Settings
from judges.base import Evidence, Judge, RawReply, State, UnreachableError, UnusableError
from judges.engine import EQUAL_FAILURES_STOP
from judges.gemini import DEFAULT_MODEL, GeminiJudge
from ledger import AppendOnlyLog
from tests.services.base import NO_ANSWER, Request, Response
from tests.services.gemini_server import (
    KEY,
    MODEL,
    Answer,
    GeminiService,
    Query,
    google_error,
    rate_limited,
    seen,
)
from tests.services.reading_room import ReadingRoom, reading_room

GENERATE = ":generateContent"
LARGE, TOO_LARGE_FOR_ONE_REQUEST = 5_000_000, 15_000_000


def first(*answers: Answer) -> Callable[[Query], Answer]:
    """These answers to the first queries about each evidence, then what is seen."""
    return lambda query: answers[query.before] if query.before < len(answers) else seen(query)


def always(answer: Answer) -> Callable[[Query], Answer]:
    return lambda query: answer


def votes_of(room: ReadingRoom, scene: str = "ball") -> list[str]:
    return [line["state"] for line in room.log("main", scene)]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(""),
        Answer("  \n"),
        Answer(None),
        Answer(None, "MAX_TOKENS"),
        Answer("le", "MAX_TOKENS"),
        Answer("", "MAX_TOKENS", thought="The ball goes left, so"),
        Answer("", thought="left"),
        Answer("left", None),
        Answer("left", "MALFORMED_RESPONSE"),
    ],
)
def test_a_reply_that_broke_off_is_truncated_and_asked_again(tmp_path: Path, answer: Answer) -> None:
    with reading_room(tmp_path, GeminiService(first(answer))) as room:
        room.put_clips("main", "ball", count=1)
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == ["judge_truncated", "vote"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(candidate=False, block_reason="SAFETY"), "SAFETY"),
        (Answer(candidate=False), "no candidate"),
        (Answer(None, "SAFETY"), "SAFETY"),
        (Answer("left", "RECITATION"), "RECITATION"),
        (Answer(None, "PROHIBITED_CONTENT"), "PROHIBITED_CONTENT"),
    ],
)
def test_a_blocked_query_is_no_null_and_keeps_its_reason(tmp_path: Path, answer: Answer, reason: str) -> None:
    with reading_room(tmp_path, GeminiService(always(answer))) as room:
        room.put_clips("main", "ball", count=1)
        result = room.read(1, votes=1).results["cell"]
        assert result.states == {0: "judge_blocked"}
        assert reason in result.details[0]
        assert votes_of(room) == ["judge_blocked"] * 3
        assert {line["bin"] for line in room.log("main", "ball")} == {None}


def test_a_finish_reason_that_nobody_knows_is_no_vote(tmp_path: Path) -> None:
    with reading_room(tmp_path, GeminiService(always(Answer("left", "TIRED")))) as room:
        room.put_clips("main", "ball", count=1)
        result = room.read(1, votes=1).results["cell"]
        assert result.states == {0: "judge_blocked"}
        assert "TIRED" in result.details[0]


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("I'm sorry, I can't watch videos.", "judge_refused"),
        ("It goes right and then exits left.", "judge_unparseable"),
        ("The ball left the ramp", "judge_unparseable"),
    ],
)
def test_a_reply_that_is_no_vote_is_asked_again_and_stays_on_the_log(tmp_path: Path, text: str, state: str) -> None:
    with reading_room(tmp_path, GeminiService(first(Answer(text), Answer(text)))) as room:
        room.put_clips("main", "ball", count=1)
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == [state, state, "vote"]
        assert room.log("main", "ball")[0]["reply"] == text


def test_a_judge_that_never_votes_leaves_the_rollout_missing(tmp_path: Path) -> None:
    with reading_room(tmp_path, GeminiService(always(Answer("perhaps")))) as room:
        room.put_clips("main", "ball", count=2)
        result = room.read(2).results["cell"]
        assert not result.complete
        assert result.states == {0: "judge_unparseable", 1: "judge_unparseable"}
        assert set(room.asked().values()) == {9}, "three queries for each of three votes"


@pytest.mark.parametrize(
    "fault",
    [
        google_error(503, "UNAVAILABLE", "The model is overloaded."),
        google_error(500, "INTERNAL", "An internal error has occurred."),
        google_error(504, "DEADLINE_EXCEEDED", "Deadline expired."),
        rate_limited(),
        NO_ANSWER,
        Response(200, b'{"candidates": [{"con', {"Content-Type": "application/json"}, cut_at=12),
        Response(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}),
    ],
)
def test_a_try_without_an_answer_is_logged_and_made_again(tmp_path: Path, fault: Response) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, fault, fault)
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == ["judge_unanswered", "judge_unanswered", "vote"]
        assert all(line["detail"] for line in room.log("main", "ball")[:2])
        assert len(room.service.sent("POST", GENERATE)) == 3


@pytest.mark.parametrize(
    "fault",
    [
        rate_limited("0.02s"),
        rate_limited("0s"),
        google_error(429, "RESOURCE_EXHAUSTED", "Slow down.", retry_after="0"),
    ],
)
def test_a_query_that_is_to_come_back_later_leaves_no_line(tmp_path: Path, fault: Response) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, fault, fault)
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == ["vote"]
        assert len(room.service.sent("POST", GENERATE)) == 3


@pytest.mark.parametrize(
    "body",
    [
        b"<html>welcome</html>",
        b"",
        b"[]",
        b"5",
        b"[" * 100_000,
        json.dumps({"candidates": [{"content": 5}]}).encode(),
        json.dumps({"candidates": 5}).encode(),
        json.dumps({"candidates": [{"content": {"parts": [5]}, "finishReason": "STOP"}]}).encode(),
        json.dumps({"candidates": [{"content": {"parts": [{"text": 5}]}, "finishReason": "STOP"}]}).encode(),
        json.dumps({"promptFeedback": 5}).encode(),
    ],
)
def test_whatever_came_with_an_ok_is_logged_as_it_came_and_asked_again(tmp_path: Path, body: bytes) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, Response(200, body))
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == ["judge_unparseable", "vote"]
        assert room.log("main", "ball")[0]["reply"][:100] == body.decode()[:100]


def test_a_reply_is_kept_whatever_stands_beside_it(tmp_path: Path) -> None:
    odd = {"usageMetadata": "many", "modelVersion": 7, "unheardOf": {"x": 1}, "createTime": "yesterday"}
    with reading_room(tmp_path, GeminiService(always(Answer("left", extra=odd)))) as room:
        room.put_clips("main", "ball", count=1)
        assert room.read(1, votes=1).results["cell"].complete
        (line,) = room.log("main", "ball")
        assert (line["state"], line["model_version"], line["tokens"]) == ("vote", "7", {})


def test_a_query_that_never_has_an_answer_leaves_a_line_for_each_try_and_for_its_end(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, *[NO_ANSWER] * 6)
        assert room.read(1, votes=1).results["cell"].states == {0: "judge_failed"}
        assert votes_of(room) == ["judge_unanswered"] * 6 + ["judge_failed"]
        assert room.read(1, votes=1).results["cell"].complete


def test_an_answer_that_only_drips_is_given_up_by_the_clock(tmp_path: Path) -> None:
    drip = Response(200, b" " * 10_000, drip_s=0.01)
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1, size=LARGE)
        room.service.fail("GET", f"/models/{MODEL}", drip)
        room.service.fail("POST", "/upload/", drip)
        room.service.fail("POST", GENERATE, drip)
        judge = GeminiJudge(room.analysis, DEFAULT_MODEL, 1.0, poll_s=0.01, upload_deadline_s=0.5, timeout_s=0.5)
        assert room.read(1, votes=1, judge=judge).results["cell"].complete
        assert votes_of(room) == ["judge_unanswered", "vote"]
        assert "no answer within 0.5 s" in room.log("main", "ball")[0]["detail"]


def test_a_query_that_is_turned_down_fails_its_rollout_alone(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=3)
        room.service.fail("POST", GENERATE, google_error(400, "INVALID_ARGUMENT", "Unable to process input video."))
        result = room.read(3, votes=1).results["cell"]
        assert Counter(result.states.values()) == {"done": 2, "judge_failed": 1}
        (detail,) = result.details.values()
        assert "Unable to process" in detail


def test_votes_that_came_are_kept_when_another_of_the_rollout_fails(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, google_error(400, "INVALID_ARGUMENT", "No."))
        assert room.read(1).results["cell"].states == {0: "judge_failed"}
        assert sorted(votes_of(room)) == ["judge_failed", "vote", "vote"]
        assert room.read(1).results["cell"].complete
        assert len(room.service.queries) == 3


def test_a_daily_quota_stops_the_run(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=32)
        used_up = rate_limited("36s", "GenerateRequestsPerDayPerProjectPerModel")
        room.service.fail("POST", GENERATE, *[used_up] * 96)
        reading = room.read(32)
        assert "daily quota" in reading.halted
        assert set(reading.results["cell"].states.values()) == {"waiting"}
        assert len(room.service.sent("POST", GENERATE)) <= 24, "what was in flight, and no more"


def test_a_pause_of_hours_stops_the_run(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, rate_limited("7200s"))
        assert "2.0 hours" in room.read(1, votes=1).halted


def test_a_service_that_is_gone_stops_the_run(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=32)
        room.service.fail("POST", GENERATE, *[NO_ANSWER] * 10_000)
        reading = room.read(32)
        assert "in a row" in reading.halted


def test_equal_failures_in_a_row_stop_their_cell(tmp_path: Path) -> None:
    with reading_room(tmp_path, GeminiService(always(Answer("perhaps")))) as room:
        room.put_clips("main", "ball", count=32)
        reading = room.read(32, votes=1)
        assert "judge_unparseable" in reading.stopped["cell"]
        counts = Counter(reading.results["cell"].states.values())
        assert counts["judge_unparseable"] >= EQUAL_FAILURES_STOP
        assert counts["waiting"] > 0


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (google_error(404, "NOT_FOUND", "models/x is not found"), f"no model {MODEL}"),
        (google_error(401, "UNAUTHENTICATED", "Invalid credentials."), "GEMINI_API_KEY is refused"),
        (google_error(403, "PERMISSION_DENIED", f"Consumer 'api_key:{KEY}' has been suspended."), "suspended"),
    ],
)
def test_a_judge_that_cannot_work_is_found_out_before_anything_is_asked(
    tmp_path: Path, answer: Response, words: str
) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("GET", f"/models/{MODEL}", answer)
        with pytest.raises(UserError, match=words) as raised:
            room.read(1)
        assert KEY not in str(raised.value)
        assert room.service.sent("POST", GENERATE) == []


def test_a_model_that_is_switched_off_in_mid_run_stops_it(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, google_error(404, "NOT_FOUND", f"models/{MODEL} is not found"))
        assert "not found" in room.read(1, votes=1).halted


def test_small_clips_go_inline_and_sampling_is_set(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=2)
        assert room.read(2).results["cell"].complete
        assert {(q.uploaded, q.mime_type, q.fps) for q in room.service.queries} == {(False, "video/mp4", 1.0)}
        assert room.service.sent("POST", "/upload/") == []
        assert [line["asked"]["settings"] for line in room.log("main", "ball")] == [{"video_fps": 1.0}] * 6


def test_pictures_are_the_last_frames_and_have_no_sampling(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "dice", count=2)
        assert room.read(2, "dice").results["cell"].complete
        assert {q.sha256 for q in room.service.queries} == {room.shown(seed, "main") for seed in range(2)}
        assert {(q.mime_type, q.fps) for q in room.service.queries} == {("image/png", None)}


def test_temperature_and_lengths_are_the_services_own(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "dice", count=1)
        room.read(1, "dice", votes=1)
        assert [query.config for query in room.service.queries] == [{}]


def test_a_large_clip_is_uploaded_once_for_all_its_votes_and_deleted(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=2, size=LARGE)
        assert room.read(2).results["cell"].complete
        assert [(q.uploaded, q.fps) for q in room.service.queries] == [(True, 1.0)] * 6
        assert {q.sha256 for q in room.service.queries} == {room.shown(seed, "main", "ball") for seed in range(2)}
        assert len(room.service.sent("POST", "/upload/")) == 4, "a start and one part for each clip"
        assert len(room.service.deleted) == 2
        assert room.service.files == {}
        room.put_clips("main", "ball", count=3)
        assert room.read(3).results["cell"].complete
        assert len(room.service.sent("DELETE", "/files/")) == 2, "what is deleted is not deleted again"


def test_no_more_than_a_few_leftovers_are_deleted_at_once(tmp_path: Path) -> None:
    class Counting(GeminiService):
        now_deleting = most = 0

        def handle(self, request: Request) -> Response:
            if request.method != "DELETE":
                return super().handle(request)
            with self.mutex:
                self.now_deleting += 1
                self.most = max(self.most, self.now_deleting)
            time.sleep(0.02)
            with self.mutex:
                self.now_deleting -= 1
            return super().handle(request)

    service = Counting()
    with reading_room(tmp_path, service) as room:
        log = AppendOnlyLog(room.analysis / "gemini" / "uploads.jsonl")
        for number in range(20):
            log.append({"event": "upload", "name": f"calibench-{number}"})
        room.put_clips("main", "ball", count=1)
        assert room.read(1).results["cell"].complete
        assert len(service.sent("DELETE", "/files/")) == 20
        assert 1 < service.most <= 4


@pytest.mark.parametrize("states", [("PROCESSING", "FAILED"), ("PROCESSING",)], ids=["failed", "never ready"])
def test_a_clip_that_the_service_cannot_prepare_goes_inline(tmp_path: Path, states: tuple[str, ...]) -> None:
    with reading_room(tmp_path, GeminiService(states=states)) as room:
        room.put_clips("main", "ball", count=1, size=LARGE)
        assert room.read(1).results["cell"].complete
        assert [q.uploaded for q in room.service.queries] == [False] * 3
        assert room.service.files == {}, "the upload is deleted all the same"


def test_a_clip_that_can_neither_be_prepared_nor_go_inline_fails_with_the_reason(tmp_path: Path) -> None:
    with reading_room(tmp_path, GeminiService(states=("FAILED",))) as room:
        room.put_clips("main", "ball", count=1, size=TOO_LARGE_FOR_ONE_REQUEST)
        result = room.read(1).results["cell"]
        assert result.states == {0: "judge_failed"}
        assert "15 MB" in result.details[0]


class Forgetful(GeminiService):
    """Knows no uploaded file when it is asked about one."""

    def handle(self, request: Request) -> Response:
        if GENERATE in request.path and "fileData" in request.body.decode():
            return google_error(403, "PERMISSION_DENIED", "You do not have permission to access the File x.")
        return super().handle(request)


def test_a_clip_that_the_service_loses_goes_inline(tmp_path: Path) -> None:
    with reading_room(tmp_path, Forgetful()) as room:
        room.put_clips("main", "ball", count=1, size=LARGE)
        assert room.read(1).results["cell"].complete
        assert [q.uploaded for q in room.service.queries] == [False] * 3
        assert room.service.files == {}


def test_an_upload_that_fails_is_made_again(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1, size=LARGE)
        room.service.fail("POST", "/upload/", NO_ANSWER)
        room.service.fail("GET", "/files/", google_error(503, "UNAVAILABLE", "Later."))
        assert room.read(1).results["cell"].complete
        assert [q.uploaded for q in room.service.queries] == [True] * 3
        assert room.service.files == {}


def test_the_name_of_an_upload_is_on_disk_before_it_begins_and_a_later_run_deletes_it(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=2, size=LARGE)
        # The deletion after the last vote fails, as it would in a run that was killed.
        room.service.fail("DELETE", "/files/", NO_ANSWER, NO_ANSWER)
        assert room.read(2).results["cell"].complete
        left = set(room.service.files)
        assert len(left) == 2
        names = [record["name"] for record in AppendOnlyLog(room.analysis / "gemini" / "uploads.jsonl").read()]
        assert {f"files/{name}" for name in names} == left
        room.put_clips("main", "ball", count=3)
        assert room.read(3).results["cell"].complete
        assert set(room.service.deleted) >= left
        assert room.service.files == {}
        deleted = len(room.service.sent("DELETE", "/files/"))
        room.put_clips("main", "ball", count=4)
        room.read(4)
        assert len(room.service.sent("DELETE", "/files/")) == deleted, "what is deleted is not deleted again"


def test_a_leftover_that_is_gone_already_is_no_fault(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        AppendOnlyLog(room.analysis / "gemini" / "uploads.jsonl").append({"event": "upload", "name": "calibench-1"})
        assert room.read(1).results["cell"].complete


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
    judge = Scripted(*[UnreachableError("slow down", 0.001) for _ in range(20)])
    _ask(judge)
    assert judge.asked == 21


def test_a_query_that_is_told_to_wait_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.asking._PATIENCE_S", 0.2)
    judge = Scripted(*[UnreachableError("slow down", 0.03) for _ in range(1000)])
    with pytest.raises(UnreachableError, match="slow down"):
        _ask(judge)
    assert 1 < judge.asked < 10


@pytest.mark.parametrize("error", [UnreachableError("slow down", 600.0), UnreachableError("no answer")])
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


def test_nothing_is_asked_again_of_a_judge_that_cannot_be_used() -> None:
    judge = Scripted(UnusableError("key refused"))
    with pytest.raises(UnusableError):
        _ask(judge)
    assert judge.asked == 1
