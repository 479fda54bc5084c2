"""The Gemini judge and the engine against the service on loopback: every way in which a query can go wrong."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from errors import UserError
from judges.asking import Asker, Settings
from judges.base import Evidence, Judge, RawReply, State, UnreachableError, UnusableError, one_line
from judges.engine import EQUAL_FAILURES_STOP
from ledger import AppendOnlyLog
from tests.services.base import NO_ANSWER, Request, Response, json_response
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
        with pytest.warns(UserWarning, match="TIRED"):
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
        rate_limited("0.02s"),
        rate_limited("0s"),
        rate_limited(),
        google_error(429, "RESOURCE_EXHAUSTED", "Slow down.", retry_after="0"),
        NO_ANSWER,
        Response(200, b'{"candidates": [{"con', {"Content-Type": "application/json"}, cut_at=12),
        Response(200, b"<html>welcome</html>", {"Content-Type": "text/html"}),
        Response(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}),
        json_response({"candidates": [{"content": 5}]}),
    ],
)
def test_a_query_without_a_usable_answer_is_sent_again(tmp_path: Path, fault: Response) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        room.service.fail("POST", GENERATE, fault, fault)
        assert room.read(1, votes=1).results["cell"].complete
        assert votes_of(room) == ["vote"], "nothing came, so nothing is logged"
        assert len(room.service.sent("POST", GENERATE)) == 3


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
        assert votes_of(room) == ["vote", "vote"]
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


def _ask(judge: Judge) -> list[tuple[str, float]]:
    """One query; the pauses for all that the asker announced."""
    pauses: list[tuple[str, float]] = []
    evidence = Evidence("final_frame", "", Path(), "", 1, 1, b"")

    async def run() -> None:
        asker = Asker(judge, Settings(1, 1, 0.001), lambda reason, seconds: pauses.append((reason, seconds)))
        await asker.reply(evidence, "", "ball")

    asyncio.run(run())
    return pauses


def test_the_pause_that_the_service_asks_for_is_taken_by_all(tmp_path: Path) -> None:
    assert _ask(Scripted(UnreachableError("slow down", 0.02))) == [("slow down", 0.02)]


def test_pauses_that_the_service_asks_for_are_not_counted_as_tries() -> None:
    judge = Scripted(*[UnreachableError("slow down", 0.001) for _ in range(20)])
    _ask(judge)
    assert judge.asked == 21


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


def test_messages_are_one_line_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "also-secret")
    text = one_line("a\nvery-secret\x1b[31m b\talso-secret" + "x" * 1000)
    assert text.startswith("a [GEMINI_API_KEY] [31m b [OPENAI_API_KEY]")
    assert len(text) == 300
    assert json.loads(json.dumps(text)) == text
