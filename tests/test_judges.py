"""The Gemini judge and the engine against the service on loopback: every way in which a query can go wrong."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from google.genai.errors import APIError

from errors import UserError
from judges.base import RejectedError, UnreachableError
from judges.engine import EQUAL_FAILURES_STOP
from judges.gemini import DEFAULT_MODEL, GeminiJudge
from judges.gemini_errors import translated
from judges.votelog import VoteLog
from tests.services.base import NO_ANSWER, Response
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
# A clip of this size is uploaded.
LARGE = 5_000_000


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


ODD_DETAILS: tuple[object, ...] = (
    None,
    5,
    "x",
    {},
    [None],
    [5],
    ["x"],
    [{"violations": None}],
    [{"violations": 5}],
    [{"violations": [3]}],
)


@pytest.mark.parametrize("status", [400, 429])
@pytest.mark.parametrize("details", ODD_DETAILS, ids=str)
def test_no_shape_of_an_error_body_gets_in_the_way_of_its_status(status: int, details: object) -> None:
    with pytest.raises(UnreachableError if status == 429 else RejectedError), translated():
        raise APIError(status, {"error": {"code": status, "details": details}})


@pytest.mark.parametrize("seed", ["Infinity", "1e999", "NaN", "null"])
def test_a_line_of_a_log_without_a_whole_seed_is_named(tmp_path: Path, seed: str) -> None:
    line = '{"seed": %s, "vote": 0, "asked": {}, "came": "vote", "reply": "6", "detail": "", "model_version": ""}'
    log = tmp_path / "log.jsonl"
    log.write_text(line % seed + "\n")
    with pytest.raises(UserError, match=r"log\.jsonl: line 1: .*expected a judge's reply"):
        VoteLog(log, "dice")
