"""The judge behind OpenAI's interface against a service on loopback."""

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from errors import UserError
from judges.evidence import sample_frames
from judges.openai_compatible import OpenAICompatibleJudge
from tests.services.base import NO_ANSWER, Response, json_response
from tests.services.openai_server import MODEL, VERSION, Answer, OpenAIService, Query, error, seen
from tests.services.reading_room import Reading, ReadingRoom, reading_room
from video_io import Frame, decode, encode_png

COMPLETIONS = "/chat/completions"


def first(*answers: Answer) -> Callable[[Query], Answer]:
    """These answers to the first queries about each evidence, then what is seen."""
    return lambda query: answers[query.before] if query.before < len(answers) else seen(query)


def read(room: ReadingRoom, service: OpenAIService, count: int = 1, scene: str = "dice", fps: float = 1.0) -> Reading:
    """Read the first clips of a cell with one vote a rollout; clips are put there first."""
    room.put_clips("main", scene, count=count)
    judge = OpenAICompatibleJudge(f"{service.url}/v1", MODEL, fps)
    return room.read(count, scene, judge, votes=1)


def test_the_last_frame_is_shown_as_a_picture_and_the_version_is_recorded(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        assert read(room, service, 2).results["cell"].complete
        assert {q.pictures for q in service.queries} == {(room.shown(seed, "main"),) for seed in range(2)}
        assert [(q.text, q.config) for q in service.queries] == [("", {})] * 2
        line = room.log("main")[0]
        assert line["model_version"] == VERSION
        assert line["tokens"] == {"prompt": 300, "reply": 2}


def test_a_video_is_shown_as_sampled_frames_and_the_last_one(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        # Clips of eight frames at 24 frames a second: every 0.125 s is every third frame.
        assert read(room, service, 1, "ball", fps=8.0).results["cell"].complete
        frames = list(decode(room.clip(0, "main", "ball")))
        expected = [hashlib.sha256(encode_png(frames[index])).hexdigest() for index in (0, 3, 6, 7)]
        (query,) = service.queries
        assert list(query.pictures) == expected
        assert (
            query.text == "These 4 pictures are the frames of a video in their order, 8 a second, and its last frame."
        )
        assert room.log("main", "ball")[0]["asked"]["settings"]["video_fps"] == 8.0


def test_sampling_includes_both_ends_of_a_clip(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball", count=1)
        clip = room.clip(0, "main", "ball")
        frames = list(decode(clip))
        for fps, indices in ((1.0, (0, 7)), (24.0, range(8)), (0.01, (0, 7))):
            sampled = sample_frames(clip, fps)
            assert [frame.tobytes() for frame in sampled] == [frames[index].tobytes() for index in indices]


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Answer(""), "judge_truncated"),
        (Answer(None, "length"), "judge_truncated"),
        (Answer("3", "length"), "judge_truncated"),
        (Answer("3", None), "judge_truncated"),
        (Answer(None, "content_filter"), "judge_blocked"),
        (Answer(None, "stop", extra={"refusal": "I can't help with that."}), "judge_refused"),
        (Answer("I'm sorry, I can't see it."), "judge_refused"),
        (Answer("3 or perhaps more"), "judge_unparseable"),
    ],
)
def test_a_reply_that_is_no_vote_is_logged_and_asked_again(tmp_path: Path, answer: Answer, state: str) -> None:
    with OpenAIService(first(answer)) as service, reading_room(tmp_path) as room:
        assert read(room, service).results["cell"].complete
        assert [line["state"] for line in room.log("main")] == [state, "vote"]


@pytest.mark.parametrize(
    "content",
    [
        "<think>Is it 3? No.</think>\n4",
        "<think>" + "Is it 3? No. " * 500 + "</think>\n4",
        "Is it 3? No. " * 500 + "\n</think>\n\n4",
        [{"type": "text", "text": "4"}],
    ],
    ids=["thinking", "thinking long", "thinking without its opening tag", "parts"],
)
def test_thoughts_and_parts_of_a_reply_are_told_apart(tmp_path: Path, content: object) -> None:
    with OpenAIService(first(Answer(content))) as service, reading_room(tmp_path) as room:
        read(room, service)
        assert [line["bin"] for line in room.log("main")] == [4]


@pytest.mark.parametrize(
    "fault",
    [
        error(429, "Rate limit reached. Please try again in 20ms.", "rate_limit_exceeded"),
        error(429, "Slow down.", headers={"Retry-After": "0"}),
        error(503, "The server is overloaded."),
        error(500, "Internal error"),
        NO_ANSWER,
        Response(200, b'{"choices": [', cut_at=5),
    ],
)
def test_a_query_without_an_answer_is_sent_again(tmp_path: Path, fault: Response) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, fault, fault)
        assert read(room, service).results["cell"].complete
        told_to_wait = fault.status == 429
        tries = [] if told_to_wait else ["judge_unanswered"] * 2
        assert [line["state"] for line in room.log("main")] == [*tries, "vote"]
        assert len(service.sent("POST", COMPLETIONS)) == 3


@pytest.mark.parametrize("body", [b"not json", b"", b"[]", b"[" * 100_000, b"\xff\xfe"])
def test_whatever_came_with_an_ok_is_logged_as_it_came_and_asked_again(tmp_path: Path, body: bytes) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, Response(200, body))
        assert read(room, service).results["cell"].complete
        lines = room.log("main")
        assert [line["state"] for line in lines] == ["judge_unparseable", "vote"]
        assert lines[0]["reply"][:100] == body.decode(errors="replace")[:100]


def test_an_answer_that_only_drips_is_given_up_by_the_clock(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        room.put_clips("main", count=1)
        service.fail("POST", COMPLETIONS, Response(200, b" " * 10_000, drip_s=0.01))
        judge = OpenAICompatibleJudge(f"{service.url}/v1", MODEL, 1.0, timeout_s=0.5)
        assert room.read(1, "dice", judge, votes=1).results["cell"].complete
        assert [line["state"] for line in room.log("main")] == ["judge_unanswered", "vote"]


@pytest.mark.parametrize(
    "answer", [{"id": "x"}, {"choices": [{"finish_reason": "stop"}]}, {"choices": [5]}, {"choices": 5}]
)
def test_an_answer_of_another_shape_is_logged_and_asked_again(tmp_path: Path, answer: object) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, json_response(answer))
        assert read(room, service).results["cell"].complete
        lines = room.log("main")
        assert [line["state"] for line in lines] == ["judge_unparseable", "vote"]
        assert json.loads(lines[0]["reply"]) == answer


@pytest.mark.parametrize("usage", ["x", 5, [], {"prompt_tokens": "many"}, None])
@pytest.mark.parametrize("content", ["4", ["4"], [{"type": "text", "text": "4"}]])
def test_a_reply_is_kept_whatever_stands_beside_it(tmp_path: Path, usage: object, content: object) -> None:
    message = {"message": {"content": content}, "finish_reason": "stop"}
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, json_response({"choices": [message], "usage": usage, "model": 7}))
        read(room, service)
        assert [line["bin"] for line in room.log("main")] == [4]


def test_a_reply_that_quotes_the_key_is_logged_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with OpenAIService(first(Answer(f"Bearer {key} says 4"))) as service, reading_room(tmp_path) as room:
        read(room, service)
        assert key not in room.log_file("main").read_text()
        assert "[OPENAI_API_KEY]" in room.log("main")[0]["reply"]


def test_a_completion_without_choices_is_blocked(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, json_response({"choices": []}))
        read(room, service)
        assert [line["state"] for line in room.log("main")] == ["judge_blocked", "vote"]


def test_a_query_that_is_turned_down_fails_its_rollout(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, error(400, "Too many images."))
        result = read(room, service).results["cell"]
        assert result.states == {0: "judge_failed"}
        assert "Too many images" in result.details[0]


def test_a_quota_that_is_used_up_stops_the_run(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("POST", COMPLETIONS, error(429, "You exceeded your quota.", "insufficient_quota"))
        halted = read(room, service).halted
        assert "quota is used up" in halted


def test_a_model_that_is_not_served_is_found_out_first(tmp_path: Path) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        room.put_clips("main", count=1)
        judge = OpenAICompatibleJudge(f"{service.url}/v1", "another", 1.0)
        with pytest.raises(UserError, match="no model another, only test-model"):
            room.read(1, "dice", judge)


@pytest.mark.parametrize("listed", [{"data": 5}, {"data": [5]}, {"data": [{}]}, [], 5, {"data": None}])
def test_a_list_of_models_of_another_shape_stops_nobody(tmp_path: Path, listed: object) -> None:
    with OpenAIService() as service, reading_room(tmp_path) as room:
        service.fail("GET", "/models", json_response(listed))
        assert read(room, service).results["cell"].complete


def test_votes_of_two_servers_are_not_mixed(tmp_path: Path) -> None:
    with OpenAIService() as one, OpenAIService() as other, reading_room(tmp_path) as room:
        for service in (one, other, one):
            assert read(room, service).results["cell"].complete
        assert (len(one.queries), len(other.queries)) == (1, 1)
        settings = [line["asked"]["settings"] for line in room.log("main")]
        assert settings == [{"server": service.url.removeprefix("http://")} for service in (one, other)]


def test_pictures_are_encoded_while_other_queries_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[threading.Thread] = set()

    def encode(frame: Frame) -> bytes:
        threads.add(threading.current_thread())
        return encode_png(frame)

    monkeypatch.setattr("judges.openai_compatible.encode_png", encode)
    with OpenAIService() as service, reading_room(tmp_path) as room:
        assert read(room, service, 1, "ball").results["cell"].complete
    assert threads and threading.main_thread() not in threads


def test_a_server_that_lists_no_models_is_asked_all_the_same(tmp_path: Path) -> None:
    with OpenAIService(lists_models=False) as service, reading_room(tmp_path) as room:
        assert read(room, service).results["cell"].complete


def test_a_key_is_sent_when_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIService(key="secret") as service, reading_room(tmp_path) as room:
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        with pytest.raises(UserError, match="Incorrect API key"):
            read(room, service)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        assert read(room, service).results["cell"].complete


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        ("http://gpu.example/v1", "secret", "https"),
        ("http://user:password@gpu.example/v1", "", "without a password"),
        ("ftp://gpu.example/v1", "", "expected a URL"),
        ("gpu.example", "", "expected a URL"),
        ("http://host:port/v1", "", "not a URL"),
    ],
)
def test_an_unusable_address_is_refused(url: str, key: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UserError, match=words) as raised:
        OpenAICompatibleJudge(url, MODEL, 1.0)
    assert "password@" not in str(raised.value)
