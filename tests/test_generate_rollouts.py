"""generate_rollouts.py against Replicate on loopback: nothing is lost, and nothing is paid twice."""

import base64
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import generate_rollouts
from ledger import FolderLock
from models import MODELS
from paths import ROOT
from protocol import generation
from providers import downloading, replicate_api
from providers.base import Request, State
from providers.downloading import Downloader
from providers.history import History
from scenes import SCENES
from studies import STUDIES
from tests.services.base import NO_ANSWER, Fault, Response, json_response
from tests.services.clips import blank_clip, moving_clip
from tests.services.replicate_server import TOKEN, Outcome, ReplicateService, input_schema, version_of
from tests.services.studio import Studio, studio
from video_io import inspect_clip

Script = Callable[[str, Mapping[str, Any], int], Outcome]


def _for_seed(seed: int, *outcomes: Outcome) -> Script:
    """These outcomes, one after the other, for the predictions of one seed; success for all others."""

    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return outcomes[min(before, len(outcomes) - 1)] if inputs["seed"] == seed else Outcome()

    return outcome


def _always(outcome: Outcome) -> Script:
    return lambda model, inputs, before: outcome


def test_all_cells_of_a_study_are_made_in_their_places(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        ran = place.run("--count", "3", model="wan seedance", scene="ball dice")
        assert (ran.code, place.leftovers()) == (0, [])
        assert place.videos() == sorted(
            f"{scene}/{model}/seed_{seed}.mp4"
            for scene in ("ball", "dice")
            for model in ("wan", "seedance")
            for seed in range(3)
        )
        assert set(place.created().values()) == {1} and len(place.created()) == 12
        assert len(place.service.files) == 2, "a frame is uploaded once a run, whatever the models and seeds"
        again = place.run("--count", "3", model="wan seedance", scene="ball dice")
        assert again.code == 0 and "0 created by this run" in again.out
        assert len(place.service.predictions) == 12


def test_a_prediction_gets_the_settings_of_its_model_study_and_seed(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        assert place.run("--study", "seedance720", "--count", "2", model="all").code == 0
        assert place.run("--study", "face_3", "--count", "1", model="wan").code == 0
        first, second, face = sorted(
            place.service.predictions.values(), key=lambda p: (p.model != "bytedance/seedance-2.0", p.input["seed"])
        )
        for seed, prediction in enumerate((first, second)):
            frame = prediction.input.pop("image")
            assert frame.startswith(place.service.url)
            assert prediction.input == {
                "duration": 4,
                "resolution": "720p",
                "generate_audio": False,
                "prompt": SCENES["dice"].generation_prompt,
                "seed": seed,
            }
        assert face.input["prompt"].endswith("The die comes to rest showing the 3-pip face upward.")
        assert place.videos("seedance720") == ["dice/seedance/seed_0.mp4", "dice/seedance/seed_1.mp4"]


def test_a_second_complete_run_needs_neither_key_nor_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "2")
        arguments = place.arguments("--count", "2")
    monkeypatch.delenv("REPLICATE_API_TOKEN", raising=False)
    assert generate_rollouts.main(arguments) == 0


# --- what the output of a prediction looks like


@pytest.mark.parametrize(
    "output",
    [
        lambda url: url,
        lambda url: [url],
        lambda url: f"data:video/mp4;base64,{base64.b64encode(moving_clip()).decode()}",
    ],
    ids=["url", "list of one", "data URL"],
)
def test_one_video_is_taken_whatever_the_shape(tmp_path: Path, output: Callable[[str], Any]) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome(output=output)))) as place:
        assert place.run("--count", "1").code == 0
        assert place.videos() == ["dice/wan/seed_0.mp4"]
        assert inspect_clip(place.rollouts / "main" / "dice" / "wan" / "seed_0.mp4").frames == 8


@pytest.mark.parametrize(
    ("output", "says"),
    [
        (lambda url: [], "list of 0"),
        (lambda url: [url, url], "list of 2"),
        (lambda url: {"video": url}, r"\{'video'"),
        (lambda url: None, "empty"),
        (lambda url: "", "empty"),
        (lambda url: "sorry", "sorry"),
        (lambda url: ["data:video/mp4;base64,*"], "not base64"),
        (lambda url: "https://elsewhere.example/output.mp4", r"https://elsewhere\.example"),
        (lambda url: "file:///etc/passwd", "file:///etc"),
    ],
)
def test_anything_but_one_video_is_told_as_it_came(tmp_path: Path, output: Callable[[str], Any], says: str) -> None:
    with studio(tmp_path, ReplicateService(_for_seed(0, Outcome(output=output)))) as place:
        ran = place.run("--count", "2")
        assert ran.code == 1 and re.search(rf"missing: dice / wan seed 0: no_video \(.*{says}", ran.out)
        assert place.videos() == ["dice/wan/seed_1.mp4"]


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(output=lambda url: [], logs="Generating...\nThe prompt was flagged as sensitive content (E005)"),
        Outcome("failed", error="NSFW content detected. Try running it again, or try a different prompt."),
    ],
    ids=["empty list, text in the logs", "failed, text in the error"],
)
def test_moderation_is_a_refusal_with_its_text(tmp_path: Path, outcome: Outcome) -> None:
    with studio(tmp_path, ReplicateService(_for_seed(1, outcome))) as place:
        ran = place.run("--count", "2")
        assert ran.code == 1
        assert place.rollout(1).attempts[-1].state is State.REFUSED
        assert re.search(r"missing: dice / wan seed 1: refused \(.*(E005|NSFW)", ran.out)


# --- attempts: what is made again by itself, and what only when the user says so


def test_refusals_and_failures_are_attempted_again_and_counted(tmp_path: Path) -> None:
    refused, failed = Outcome("failed", error="flagged as sensitive"), Outcome("failed", error="CUDA out of memory")
    with studio(tmp_path, ReplicateService(_for_seed(0, refused, failed, Outcome()))) as place:
        ran = place.run("--count", "2")
        assert ran.code == 0
        assert [attempt.state for attempt in place.rollout(0).attempts] == [
            State.REFUSED,
            State.FAILED,
            State.SUCCEEDED,
        ]
        assert "dice / wan: 4 predictions for 2 rollouts" in ran.out


def test_a_rollout_that_keeps_failing_is_left_until_the_user_asks(tmp_path: Path) -> None:
    fails = Outcome("failed", error="flagged as sensitive")
    with studio(tmp_path, ReplicateService(_for_seed(0, fails, fails, fails, Outcome()))) as place:
        ran = place.run("--count", "2")
        assert ran.code == 1 and ran.out.rstrip().endswith("--retry")
        assert place.run("--count", "2").code == 1, "a rerun alone asks for nothing new"
        assert len(place.service.predictions) == 4
        assert place.run("--count", "2", "--retry").code == 0
        assert len(place.service.predictions) == 5


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome(video=blank_clip()), State.BLANK),
        (Outcome(video=moving_clip()[:-40]), State.DAMAGED),
        (Outcome(video=b"<html>not a video</html>"), State.DAMAGED),
        (Outcome(life_s=-1.0), State.EXPIRED),
        (Outcome("aborted"), State.UNKNOWN),
        (Outcome("aborted", error="deadline exceeded in the queue"), State.UNKNOWN),
    ],
)
def test_what_may_have_been_paid_for_is_not_made_again_unasked(tmp_path: Path, outcome: Outcome, state: State) -> None:
    with studio(tmp_path, ReplicateService(_for_seed(0, outcome, Outcome()))) as place:
        ran = place.run("--count", "3")
        assert ran.code == 1 and f"seed 0: {state}" in ran.out
        assert (place.rollout(0).attempts[-1].state, place.leftovers()) == (state, [])
        assert len(place.videos()) == 2, "the other rollouts go on"
        assert "1 predictions, 1 of them for rollouts that may have been paid for" in ran.out
        assert place.run("--count", "3").code == 1
        assert place.created()["wan-video/wan-2.7-i2v", SCENES["dice"].generation_prompt, 0] == 1
        assert "| wan | 2 | 0 | 1 | 0 | 0 | 0 |" in place.run("--count", "3", "--dry-run").out
        assert "| wan | 2 | 0 | 0 | 1 | 3 | ? |" in place.run("--count", "3", "--dry-run", "--retry").out
        ran = place.run("--count", "3", "--retry")
        assert ran.code == 0 and "1 created by this run" in ran.out
        assert place.created()["wan-video/wan-2.7-i2v", SCENES["dice"].generation_prompt, 0] == 2


@pytest.mark.parametrize("arguments", [[], ["--retry"]], ids=["rerun", "with --retry"])
@pytest.mark.parametrize(
    "fault",
    [Response(403, b"AccessDenied"), Response(404), Response(200, moving_clip()[:-40]), Response(400)],
    ids=["no access", "not there", "broken", "turned down"],
)
def test_a_video_that_can_be_had_after_all_is_fetched_and_not_paid_again(
    tmp_path: Path, fault: Response, arguments: list[str]
) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/delivery/", *[fault] * (1 if fault.status == 400 else 3))
        ran = place.run("--count", "1")
        assert ran.code == 1 and place.videos() == []
        first, _, continued = ran.out.partition("continue with:\n")[2].partition("\nNew attempts")
        assert first == f"python generate_rollouts.py {' '.join(place.arguments('--count', '1'))}"
        assert continued.startswith(", up to 1 predictions, 1 of them for rollouts that may have been paid for")
        assert place.run("--count", "1", *arguments).code == 0
        assert len(place.service.predictions) == 1


def test_the_command_that_continues_does_not_ask_for_new_attempts_again(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome(life_s=-1.0)))) as place:
        place.run("--count", "1")
        ran = place.run("--count", "1", "--retry")
        assert len(place.service.predictions) == 2
        assert "--retry" not in ran.out.partition("continue with:\n")[2].partition("\n")[0]


def test_a_run_of_equal_failures_stops_its_cell_and_no_other(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        failing = model == "wan-video/wan-2.7-i2v"
        return Outcome("failed", error=f"worker {inputs['seed']} lost") if failing else Outcome()

    with studio(tmp_path, ReplicateService(outcome)) as place:
        ran = place.run("--count", "20", "--concurrency", "2", model="wan seedance")
        assert ran.code == 1 and "dice / wan: stopped after 5 equal failures: failed: worker" in ran.out
        assert place.videos() == sorted(f"dice/seedance/seed_{seed}.mp4" for seed in range(20))
        assert sum(p.model == "wan-video/wan-2.7-i2v" for p in place.service.predictions.values()) < 10


def test_a_stopped_cell_stops_no_other_while_both_wait_for_their_turn(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome("failed", error="worker lost") if model == "wan-video/wan-2.7-i2v" else Outcome()

    with studio(tmp_path, ReplicateService(outcome, creates_a_second=50)) as place:
        ran = place.run("--count", "16", "--concurrency", "16", model="wan seedance")
        assert "dice / wan: stopped after" in ran.out and "no more predictions are created" not in ran.out
        assert len(place.videos()) == 16


def test_identical_videos_are_told(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome(video=moving_clip())))) as place:
        ran = place.run("--count", "2")
        assert "identical videos, which are one draw and not 2: dice / wan seed 0, dice / wan seed 1" in ran.out


# --- rate limits, quotas, caps


def test_reset_hints_of_a_429_are_obeyed(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(creates_a_second=4)) as place:
        assert place.run("--count", "4", "--concurrency", "1").code == 0
        assert len(place.service.limits) > 1, "a hint in the body, and one in a header"
        assert set(place.created().values()) == {1}
        arrivals = [request.time for request in place.service.sent("POST", "/predictions")]
        for asked, pause_s in place.service.limits:
            after = [arrival for arrival in arrivals if arrival > asked]
            assert after[0] >= asked + pause_s - 0.001, "the hint has three decimals"


def test_creates_keep_the_rate_that_is_set(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        start = time.monotonic()
        assert place.run("--count", "4", rate=300).code == 0
        for number, request in enumerate(place.service.sent("POST", "/predictions")):
            assert request.time - start >= number * 60 / 300


@pytest.mark.parametrize(
    "answer",
    [
        json_response({"title": "Insufficient credit", "detail": "You have no credit left", "status": 402}, 402),
        json_response({"detail": "Daily quota reached. Try again in 5 hours."}, 429),
        json_response({"detail": "slow down"}, 429, {"Retry-After": "7200"}),
    ],
)
def test_an_exhausted_account_ends_the_run_with_the_command_that_continues(tmp_path: Path, answer: Response) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", answer)
        ran = place.run("--count", "3", "--concurrency", "1")
        assert ran.code == 1 and "no more predictions are created" in ran.out
        assert "continue with:\npython generate_rollouts.py --model wan" in ran.out
        assert place.run("--count", "3").code == 0
        assert set(place.created().values()) == {1}


def test_a_model_that_may_not_be_used_stops_its_own_cells_only(tmp_path: Path) -> None:
    forbidden = json_response({"title": "Forbidden", "detail": "accept the licence of this model first"}, 403)
    with studio(tmp_path) as place:
        place.service.fail("POST", "/models/wan-video/", *[forbidden] * 12)
        ran = place.run("--count", "3", model="wan seedance", scene="ball dice")
        assert ran.code == 1 and len(place.videos()) == 6
        assert ran.out.count("wan: no more predictions are created: HTTP 403: Forbidden: accept the licence") == 1
        assert "--retry" not in ran.out
        place.service.forget_faults()
        assert place.run("--count", "3", model="wan seedance", scene="ball dice").code == 0
        assert set(place.created().values()) == {1} and len(place.created()) == 12


def test_the_cap_bounds_what_a_run_creates(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        ran = place.run("--count", "5", "--max-predictions", "2")
        assert ran.code == 1 and "--max-predictions 2 reached" in ran.out
        assert len(place.service.predictions) == 2
        assert place.run("--count", "5").code == 0
        assert len(place.service.predictions) == 5


# --- a paid call without a usable answer


UNUSABLE = [
    NO_ANSWER,
    Response(200, b"<html>gateway</html>", {"Content-Type": "text/html"}),
    Response(201, b'{"id": "abc", "sta', cut_at=18),
    json_response({"id": "abc", "status": "queued"}, 201),
    json_response({"detail": "bad gateway"}, 502),
    json_response(["unexpected"], 500),
]


@pytest.mark.parametrize("answer", UNUSABLE)
def test_a_create_that_was_made_is_found_and_not_made_again(tmp_path: Path, answer: Response) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", Fault(answer, after=True))
        assert place.run("--count", "2").code == 0
        assert sorted(place.created().values()) == [1, 1]


@pytest.mark.parametrize("answer", UNUSABLE)
def test_a_create_that_was_not_made_is_made_once(tmp_path: Path, answer: Response) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", Fault(answer))
        assert place.run("--count", "2").code == 0
        assert sorted(place.created().values()) == [1, 1]


def _lost_intent(place: Studio) -> Request:
    """What a run leaves that is killed between its intent and the answer."""
    request = Request(generation(STUDIES["main"], "dice", MODELS["wan"], place.frames), 0)
    history = History(place.rollouts / "main")
    history.intent(request.key, request.generation.digest, "replicate", place.service.now(), "")
    history.close()
    return request


@pytest.mark.parametrize("clock_ahead_s", [0.0, 5000.0, -5000.0])
def test_a_lost_create_is_found_among_all_others_whatever_the_clock(tmp_path: Path, clock_ahead_s: float) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        # The client cannot read a list in which this status stands.
        return Outcome("aborted") if inputs["seed"] == 77 else Outcome()

    with studio(tmp_path, ReplicateService(outcome, clock_ahead_s=clock_ahead_s)) as place:
        request = _lost_intent(place)
        place.service.create("wan-video/wan-2.7-i2v", {**request.inputs, "duration": 5})
        wanted = place.service.create("wan-video/wan-2.7-i2v", request.inputs)
        for seed in range(1, 150):
            place.service.create("wan-video/wan-2.7-i2v", {**request.inputs, "seed": seed})
        place.service.create("google/veo-3.1", request.inputs)
        assert place.run("--count", "1").code == 0
        assert place.rollout(0).attempts[-1].id == wanted
        assert len(place.service.predictions) == 152, "nothing was created"


def _lose_ids(place: Studio, hours_ahead: float = 0.0) -> None:
    """The ledger and the folder as if every create had been killed before its answer, under a clock that was ahead."""
    ledger = place.rollouts / "main" / "ledger.jsonl"
    events = [json.loads(line) for line in ledger.read_text().splitlines()]
    kept = [event for event in events if event["event"] in {"protocol", "intent"}]
    for event in kept:
        event["time"] = (datetime.fromisoformat(event["time"]) + timedelta(hours=hours_ahead)).isoformat()
    ledger.write_text("".join(f"{json.dumps(event)}\n" for event in kept))
    for video in place.videos():
        (place.rollouts / "main" / video).unlink()


@pytest.mark.parametrize("hours_ahead", [-5.0, 0.5, 5.0])
def test_a_lost_create_is_found_when_the_clock_was_wrong_and_is_set_right(tmp_path: Path, hours_ahead: float) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "2")
        _lose_ids(place, hours_ahead)
        assert place.run("--count", "2").code == 0 and len(place.service.predictions) == 2


def test_a_lost_create_whose_data_were_removed_is_made_anew_only_on_request(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(lambda *_: Outcome(life_s=0.5))) as place:
        assert place.run("--count", "2").code == 0
        _lose_ids(place)
        time.sleep(0.6)
        ran = place.run("--count", "2")
        assert ran.code == 1 and "seed 0-1: expired" in ran.out and len(place.service.predictions) == 2
        assert place.run("--count", "2", "--retry").code == 0 and len(place.service.predictions) == 4


def test_a_prediction_of_another_upload_is_not_taken_for_a_lost_one(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "1")
        _lose_ids(place)
        ((mine, created),) = place.service.predictions.items()
        del place.service.predictions[mine]
        other = place.service.create(created.model, {**created.input, "first_frame": "http://127.0.0.1/files/other"})
        assert place.run("--count", "1").code == 0
        assert place.rollout(0).attempts[-1].id != other and len(place.service.predictions) == 2


def test_what_was_created_long_after_an_intent_is_not_taken_for_it(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        request = _lost_intent(place)
        other = place.service.create("wan-video/wan-2.7-i2v", request.inputs)
        place.service.predictions[other].time += timedelta(hours=2)
        assert place.run("--count", "1").code == 0
        assert place.rollout(0).attempts[-1].id != other


def test_a_lost_create_that_came_to_nothing_is_made_once(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        _lost_intent(place)
        assert place.run("--count", "1").code == 0
        assert [attempt.absent for attempt in place.rollout(0).attempts] == [True, False]
        assert len(place.service.predictions) == 1


def test_a_prediction_that_is_already_accounted_for_is_not_taken_for_a_lost_one(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        if before:
            return Outcome()
        service.fail("POST", "/predictions", NO_ANSWER)
        return Outcome("failed", error="worker lost")

    service = ReplicateService(outcome)
    with studio(tmp_path, service) as place:
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 2


def test_creates_without_an_answer_are_told_with_the_reason_and_made_by_a_rerun(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", *[json_response({"detail": "no capacity"}, 500)] * 5)
        ran = place.run("--count", "1")
        assert ran.code == 1 and "missing: dice / wan seed 0: failed (HTTP 500: no capacity)" in ran.out
        assert "continue with:" in ran.out and "--retry" not in ran.out
        assert {attempt.detail for attempt in place.rollout().attempts} == {"HTTP 500: no capacity"}
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_a_request_that_is_turned_down_is_told_and_not_repeated(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail(
            "POST", "/predictions", json_response({"title": "Input validation failed", "detail": "seed"}, 422)
        )
        ran = place.run("--count", "1")
        assert ran.code == 1 and "seed 0: rejected (HTTP 422: Input validation failed: seed)" in ran.out


# --- watching and downloading


def test_polls_that_go_wrong_are_made_again(tmp_path: Path) -> None:
    faults = [
        NO_ANSWER,
        json_response({}, 500),
        Response(200, b"no json"),
        Response(200, b'{"id"', cut_at=3),
        json_response([]),
        json_response({}, 403),
    ]
    with studio(tmp_path, ReplicateService(_always(Outcome(latency_s=0.05)))) as place:
        place.service.fail("GET", "/v1/predictions/", *faults)
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_a_prediction_that_is_not_known_at_once_is_asked_for_again(tmp_path: Path) -> None:
    unknown = json_response({"detail": "The requested resource could not be found"}, 404)
    with studio(tmp_path) as place:
        place.service.fail("GET", "/v1/predictions/", unknown, unknown)
        assert place.run("--count", "1").code == 0
        place.service.fail("GET", "/v1/predictions/", unknown, unknown, unknown)
        ran = place.run("--count", "2")
        assert ran.code == 1 and "seed 1: expired (the provider no longer knows it" in ran.out


def test_an_output_before_the_end_is_not_the_result(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome(latency_s=0.1)))) as place:
        early = {"id": "x", "model": "m", "version": "v", "status": "processing", "output": []}
        place.service.fail(
            "GET", "/v1/predictions/", json_response(early), json_response({**early, "status": "starting"})
        )
        assert place.run("--count", "1").code == 0


def test_a_broken_download_is_made_again_and_never_left_in_place(tmp_path: Path) -> None:
    half = Response(200, moving_clip(), cut_at=len(moving_clip()) // 2)
    with studio(tmp_path) as place:
        place.service.fail(
            "GET", "/delivery/", half, NO_ANSWER, json_response({}, 503), Response(200, moving_clip()[:-30])
        )
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1 and place.leftovers() == []


def test_a_video_may_come_from_another_port_of_this_machine_but_never_with_the_token(tmp_path: Path) -> None:
    with ReplicateService() as store:
        elsewhere = lambda url: url.replace(url.split("/delivery")[0], store.url)  # noqa: E731
        with studio(tmp_path, ReplicateService(_always(Outcome(url=elsewhere)))) as place:
            store.fail("GET", "/delivery/", Response(200, moving_clip()))
            assert place.run("--count", "1").code == 0
            assert place.service.sent("GET", "/delivery/") == []
        assert "authorization" not in store.sent("GET", "/delivery/")[0].headers


def test_a_video_on_the_services_own_host_is_fetched_with_the_token(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        assert place.run("--count", "1").code == 0
        assert [r.headers.get("authorization") for r in place.service.sent("GET", "/delivery/")] == [f"Bearer {TOKEN}"]


def test_a_frame_whose_upload_expires_is_uploaded_again(tmp_path: Path) -> None:
    service = ReplicateService(_always(Outcome(latency_s=0.4)), file_life_s=1.5)
    with studio(tmp_path, service) as place:
        ran = place.run("--count", "5", "--concurrency", "1")
        assert ran.code == 0 and 1 < len(place.service.files) < 5
        assert set(place.created().values()) == {1}, "no prediction fails for want of its frame"


def test_a_download_that_trickles_is_broken_off_and_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloading, "DOWNLOAD_TIMEOUT_S", 0.3)
    # Whoever waits for their ends finds all three broken.
    trickle = Response(200, moving_clip()[:60], drip_s=0.1)
    with studio(tmp_path) as place:
        place.service.fail("GET", "/delivery/", *[trickle] * 3)
        assert place.run("--count", "1").code == 0
        assert len(place.service.sent("GET", "/delivery/")) == 4 and len(place.service.predictions) == 1


def test_an_answer_that_does_not_come_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicate_api, "_CALL_TIMEOUT_S", 0.5)
    # Whoever waits for these is told something else.
    rejected = replace(json_response({"detail": "too late"}, 422), delay_s=3.0)
    failed = {"id": "x", "model": "m", "version": "v", "status": "failed", "error": "too late"}
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", Fault(rejected, after=True))
        place.service.fail("GET", "/v1/predictions/", replace(json_response(failed), delay_s=3.0))
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_the_token_is_nowhere_but_in_headers(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        echo = json_response({"detail": f"bad request with Bearer {TOKEN}"}, 400)
        place.service.fail("POST", "/predictions", echo)
        ran = place.run("--count", "2")
        assert ran.code == 1 and "rejected" in ran.out
        written = b"".join(path.read_bytes() for path in place.rollouts.rglob("*") if path.is_file())
        assert TOKEN not in ran.out + ran.err and TOKEN.encode() not in written


@pytest.mark.parametrize(
    "fields",
    [
        {"error": f"upstream said: Bearer {TOKEN} is bad \x1b[2J\x1b]0;x\x07"},
        {"logs": "step\n" * 200 + f"Bearer {TOKEN} is bad \x1b[2J"},
        {"error": f"flagged as sensitive: {TOKEN}\x1b[2J"},
    ],
)
def test_what_a_prediction_says_is_printed_without_the_token_and_without_escapes(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome("failed", **fields)))) as place:
        ran = place.run("--count", "6", "--concurrency", "2")
        said = ran.out + ran.err + place.rollout(0).attempts[-1].detail
        assert "[REPLICATE_API_TOKEN]" in said and "stopped after 5 equal failures" in said
        assert TOKEN not in said and "\x1b" not in said and "\x07" not in said


# --- before anything is paid


def test_the_bill_needs_no_key_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "2")
        before = {path: path.read_bytes() for path in place.rollouts.rglob("*") if path.is_file()}
        monkeypatch.delenv("REPLICATE_API_TOKEN", raising=False)
        ran = place.run("--count", "8", "--dry-run", model="wan cosmos3_super seedance")
        assert ran.code == 0
        assert "| wan | 2 | 0 | 0 | 6 | 18 | ? |" in ran.out and "| seedance | 0 | 0 | 0 | 8 | 32 | ? |" in ran.out
        assert "1 conditioning frames" in ran.out
        assert "python cosmos/generate_cosmos3_minimal.py --study main" in ran.out
        assert {path: path.read_bytes() for path in place.rollouts.rglob("*") if path.is_file()} == before


def test_the_bill_names_what_may_have_to_be_created_as_well(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        _lost_intent(place)
        ran = place.run("--count", "3", "--dry-run", "--max-predictions", "2")
        assert "| wan | 0 | 1 | 0 | 2 | 6 | ? |" in ran.out
        assert "1 of those under way may never have been created" in ran.out
        assert "--max-predictions 2: this run creates no more than that" in ran.out
        place.run("--count", "3")
        assert "under way may" not in place.run("--count", "4", "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--study", "nothing"], "--study nothing: unknown study"),
        (["--scene", "chess"], "--scene chess: not a scene of main"),
        (["--model", "../wan"], "not a usable key"),
        (["--model", "mymodel"], "--model mymodel: Replicate does not make it"),
        (["--model", "cosmos3_super"], "no model that Replicate makes"),
        (["--study", "dur5s", "--model", "veo31"], "not a model of dur5s"),
        (["--count", "33"], "--count 33: too many"),
        (["--count", "0"], "expected an integer of at least 1"),
        (["--rate", "-1"], "expected an integer of at least 1"),
        (["--provider", "simulator", "--size", "99998x56248"], "at most 3840x2160"),
        (["--frames", "nowhere"], "expected one galton_board_final with one of .png"),
    ],
)
def test_bad_arguments_are_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_rollouts.main(arguments) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"REPLICATE_API_TOKEN": ""}, "REPLICATE_API_TOKEN: not set"),
        ({"REPLICATE_API_TOKEN": "two words"}, "REPLICATE_API_TOKEN: holds a space"),
        ({"REPLICATE_API_TOKEN": "wrong-token"}, "HTTP 401: Unauthenticated"),
        ({"REPLICATE_BASE_URL": "http://example.org"}, "REPLICATE_BASE_URL: http://example.org; expected https"),
        ({"REPLICATE_BASE_URL": "https://me:secret@example.org"}, "REPLICATE_BASE_URL: holds a user name or password"),
        ({"REPLICATE_BASE_URL": "http://127.0.0.1:9"}, "ConnectError"),
        ({"REPLICATE_BASE_URL": "{url}/v1"}, "/v1: HTTP 404: Not found: "),
    ],
)
def test_an_unusable_account_is_told_before_anything_is_paid(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
    says: str,
) -> None:
    with studio(tmp_path) as place:
        for name, value in {**place.environment, **variables}.items():
            monkeypatch.setenv(name, value.replace("{url}", place.service.url))
        assert generate_rollouts.main(place.arguments("--count", "1")) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert says in error and "wrong-token" not in error and "secret" not in error
        assert not place.service.predictions


@pytest.mark.parametrize("path", ["/v1/account", "/v1/models/"])
@pytest.mark.parametrize("fault", [NO_ANSWER, json_response({"detail": "internal"}, 500), Response(200, b"no json")])
def test_a_preflight_without_an_answer_is_made_again_and_ends_in_one_line(
    tmp_path: Path, path: str, fault: Response
) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", path, fault, fault)
        assert place.run("--count", "1").code == 0
        place.service.fail("GET", path, *[fault] * 20)
        ran = place.run("--count", "2")
        assert ran.code == 2 and "expected an answer; nothing was paid" in ran.err
        assert ran.err.count("\n") == 1 and "REPLICATE_API_TOKEN" not in ran.err
        assert len(place.service.predictions) == 1


@pytest.mark.parametrize("path", ["/v1/account", "/v1/models/", "/v1/predictions"])
@pytest.mark.parametrize("status", [401, 404])
def test_an_answer_that_no_repeat_changes_ends_a_preflight_in_one_line(tmp_path: Path, path: str, status: int) -> None:
    with studio(tmp_path) as place:
        _lost_intent(place)
        place.service.fail("GET", path, json_response({"detail": "no such page"}, status))
        ran = place.run("--count", "1")
        told = ran.err.removeprefix("main: 1 waiting\n")
        assert ran.code == 2 and f"HTTP {status}: no such page" in told and told.count("\n") == 1
        assert not place.service.predictions
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_a_list_that_is_not_there_ends_the_run_and_a_rerun_finds_what_was_created(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", Fault(NO_ANSWER, after=True))
        place.service.fail("GET", "/v1/predictions", json_response({"detail": "no such page"}, 404))
        ran = place.run("--count", "1")
        assert ran.code == 1 and "no more predictions are created: cannot list the predictions: HTTP 404" in ran.out
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


@pytest.mark.parametrize("tells_kind", [True, False])
def test_a_model_that_is_not_official_is_run_by_its_version(tmp_path: Path, tells_kind: bool) -> None:
    wan = "wan-video/wan-2.7-i2v"
    with studio(tmp_path, ReplicateService(community=[wan], tells_kind=tells_kind)) as place:
        assert place.run("--count", "3", model="wan seedance").code == 0
        assert {p.version for p in place.service.predictions.values() if p.model == wan} == {version_of(wan)}
        assert place.service.sent("POST", "/models/wan-video/") == [] or not tells_kind
        assert place.versions("wan") == {version_of(wan)} and len(place.service.predictions) == 6


def test_the_ledger_keeps_the_version_of_an_official_model(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        assert place.run("--count", "2").code == 0
        assert place.versions("wan") == {version_of("wan-video/wan-2.7-i2v")}


def test_a_lost_create_of_a_version_is_found(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(community=["wan-video/wan-2.7-i2v"])) as place:
        place.service.fail("POST", "/predictions", Fault(NO_ANSWER, after=True))
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1 and place.versions("wan") == {version_of("wan-video/wan-2.7-i2v")}


def test_a_model_that_cannot_be_run_at_all_is_named(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        about = {"is_official": False, "latest_version": None}
        place.service.fail("GET", "/v1/models/", json_response(about))
        ran = place.run("--count", "1")
        assert ran.code == 2 and "model wan (wan-video/wan-2.7-i2v): is not official and has no version" in ran.err


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (None, "Replicate knows no wan-video/wan-2.7-i2v"),
        (
            input_schema("first_frame", "duration", "negative_prompt", "resolution"),
            "takes no input enable_prompt_expansion",
        ),
        (input_schema("image", "duration"), "takes no input"),
    ],
)
def test_models_and_inputs_are_checked_before_anything_is_paid(
    tmp_path: Path, schema: dict[str, Any] | None, says: str
) -> None:
    schemas = {"other/model": {}} if schema is None else {"wan-video/wan-2.7-i2v": schema}
    with studio(tmp_path, ReplicateService(schemas=schemas)) as place:
        ran = place.run("--count", "1")
        assert ran.code == 2 and says in ran.err
        assert not place.service.predictions


def test_a_choice_and_a_required_input_are_checked_too(tmp_path: Path) -> None:
    schema = input_schema("first_frame", "duration", "negative_prompt", "resolution", "enable_prompt_expansion")
    schema["resolution"]["enum"] = ["1080p"]
    with studio(tmp_path, ReplicateService(schemas={"wan-video/wan-2.7-i2v": schema})) as place:
        assert "resolution is '720p'; expected one of 1080p" in place.run("--count", "1").err
    schema["resolution"]["enum"] = ["720p"]
    schema["Input"]["required"] = ["prompt", "aspect_ratio"]
    with studio(tmp_path, ReplicateService(schemas={"wan-video/wan-2.7-i2v": schema})) as place:
        assert "needs the input aspect_ratio" in place.run("--count", "1").err


def test_a_model_without_a_published_schema_is_used_and_told(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(schemas={"wan-video/wan-2.7-i2v": {}})) as place:
        ran = place.run("--count", "1")
        assert ran.code == 0 and "publishes no input schema" in ran.out


def test_unchecked_inputs_are_told_before_anything_is_paid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []

    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        told.append(capsys.readouterr().out)
        return Outcome()

    with studio(tmp_path, ReplicateService(outcome, schemas={"wan-video/wan-2.7-i2v": {}})) as place:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in place.environment.items():
                patch.setenv(name, value)
            assert generate_rollouts.main(place.arguments("--count", "1")) == 0
        assert ["its input names are not checked" in text for text in told] == [True]


def test_nothing_is_paid_for_models_that_were_not_named(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        where = ["--rollouts", str(place.rollouts), "--frames", str(place.frames)]
        assert generate_rollouts.main([*where, "--scene", "dice", "--dry-run"]) == 0
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(io.StringIO()) as error:
            for name, value in place.environment.items():
                patch.setenv(name, value)
            assert generate_rollouts.main([*where, "--scene", "dice"]) == 2
        assert "--model: not given; expected the models to pay for, or all, for 160 rollouts" in error.getvalue()
        assert place.service.requests == []


# --- folders


def test_a_second_run_on_a_folder_is_refused(tmp_path: Path) -> None:
    with studio(tmp_path) as place, FolderLock(place.rollouts / "main"):
        ran = place.run("--count", "1")
        assert ran.code == 2 and f"in use by process {os.getpid()} " in ran.err


def test_videos_from_elsewhere_are_left_alone(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        mine = place.rollouts / "main" / "dice" / "wan" / "seed_1.mp4"
        mine.parent.mkdir(parents=True)
        mine.write_bytes(moving_clip())
        ran = place.run("--count", "3")
        assert ran.code == 0 and "1 videos are not in the ledger" in ran.out
        assert mine.read_bytes() == moving_clip() and len(place.service.predictions) == 2


def test_what_only_has_the_name_of_a_video_is_named_and_left_alone(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        cell = place.rollouts / "main" / "dice" / "wan"
        (cell / "seed_0.mp4").mkdir(parents=True)
        (cell / "seed_1.mp4").write_bytes(b"")
        (cell / "seed_2.mp4").write_text("text")
        ran = place.run("--count", "4")
        assert ran.code == 1 and len(place.service.predictions) == 1
        for seed in range(3):
            assert f"{cell / f'seed_{seed}.mp4'}: " in ran.out
        assert "missing: dice / wan seed 0-2: in_the_way\n" in ran.out and "--retry" not in ran.out
        assert (cell / "seed_0.mp4").is_dir() and (cell / "seed_2.mp4").read_text() == "text"


def test_only_side_files_of_our_own_are_tidied_up(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        cell = place.rollouts / "main" / "dice" / "wan"
        (cell / ".seed_0.mp4.d").mkdir(parents=True)
        (cell / ".seed_1.mp4.part").mkdir()
        theirs = [".seed_0.mp4.Ab12Cd", ".seed_notes", ".seed_9.mp4.part", ".seed_0.mp4.partial"]
        ours = [".seed_0.mp4.part", "..seed_0.mp4.part.ab12cd_9", ".seed_0.truth.json.ab12cd_9"]
        for name in (*theirs, *ours):
            (cell / name).write_bytes(b"half")
        assert place.run("--count", "1").code == 0
        left = {path.name for path in cell.iterdir()}
        assert left == {*theirs, ".seed_0.mp4.d", ".seed_1.mp4.part", "seed_0.mp4"}


def test_an_unusable_cell_folder_is_told_before_anything_is_paid(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        scene = place.rollouts / "main" / "dice"
        scene.parent.mkdir(parents=True)
        scene.write_text("no folder")
        ran = place.run("--count", "1", scene="ball dice")
        assert ran.code == 2 and f"{scene / 'wan'}: cannot write" in ran.err
        assert place.service.predictions == {} and place.service.requests == []


def test_every_reason_for_a_missing_video_is_told(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome("failed", error="CUDA out of memory" if inputs["seed"] else "the queue is full")

    with studio(tmp_path, ReplicateService(outcome)) as place:
        ran = place.run("--count", "2")
        assert "missing: dice / wan seed 0: failed (the queue is full)" in ran.out
        assert "missing: dice / wan seed 1: failed (CUDA out of memory)" in ran.out


def test_a_changed_video_is_told_and_not_overwritten(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "2")
        changed = place.rollouts / "main" / "dice" / "wan" / "seed_1.mp4"
        changed.write_bytes(b"changed")
        ran = place.run("--count", "2")
        assert ran.code == 2 and "seed_1.mp4: SHA-256 is" in ran.err
        assert changed.read_bytes() == b"changed"


def test_a_video_that_was_deleted_is_fetched_again_and_not_paid_again(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "2")
        (place.rollouts / "main" / "dice" / "wan" / "seed_1.mp4").unlink()
        assert place.run("--count", "2").code == 0
        assert len(place.service.predictions) == 2 and len(place.videos()) == 2


def test_cells_of_two_protocols_are_not_mixed(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "1")
        (place.frames / "dice.png").write_bytes(b"another picture")
        ran = place.run("--count", "2")
        assert ran.code == 2 and "was made under protocol" in ran.err
        assert len(place.service.predictions) == 1


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        '{"event": "dance", "scene": "dice", "model": "wan", "seed": 0, "attempt": 0}',
        '{"event": "submitted", "scene": "dice", "model": "wan", "seed": 7, "attempt": 0, "id": "x"}',
        '{"event": "retry", "scene": "dice", "model": "wan", "seed": 0, "attempt": 1e999}',
        '{"event": "retry", "scene": "dice", "model": "wan", "seed": 1e999, "attempt": 0}',
        '{"event": "ended", "scene": "dice", "model": "wan", "seed": 0, "attempt": -1, "state": "stuck", "detail": ""}',
        '{"event": "intent", "scene": "dice", "model": "wan", "seed": 1, "attempt": 0, "digest": "D", '
        '"time": "2026-12-01T06:00:00"}',
    ],
)
def test_a_ledger_that_makes_no_sense_stops_the_run(tmp_path: Path, line: str) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "1")
        with (place.rollouts / "main" / "ledger.jsonl").open("a") as file:
            file.write(f"{line}\n")
        ran = place.run("--count", "2")
        assert ran.code == 2 and re.search(r"ledger\.jsonl: line 5: ", ran.err)


@pytest.mark.parametrize(
    "output", ["data:video/mp4;base64,\u00e9", "http://127.0.0.1:99999/x", "http://127.0.0.1/\ud800"]
)
def test_one_odd_output_costs_no_other_video(tmp_path: Path, output: str) -> None:
    odd = _for_seed(0, Outcome(output=lambda url: output))
    with studio(tmp_path, ReplicateService(odd)) as place:
        for _ in range(2):
            ran = place.run("--count", "4")
            assert ran.code == 1 and len(place.videos()) == 3 and len(place.service.predictions) == 4
            assert place.rollout(0).attempts[-1].state is State.NO_VIDEO


def test_an_error_that_nobody_foresaw_ends_one_rollout_alone(tmp_path: Path) -> None:
    fetch = Downloader.fetch

    async def odd(self: Downloader, url: str, path: Path) -> None:
        if path.name == ".seed_0.mp4.part":
            raise LookupError("something odd")
        await fetch(self, url, path)

    with studio(tmp_path) as place:
        with mock.patch.object(Downloader, "fetch", odd):
            ran = place.run("--count", "4")
        assert ran.code == 1 and len(place.videos()) == 3
        assert "dice / wan seed 0: unknown (unforeseen LookupError: something odd)" in ran.out
        assert place.run("--count", "4").code == 0 and len(place.service.predictions) == 4


@pytest.mark.parametrize("body", [{}, {"detail": "x"}, {"id": "other", "status": "succeeded", "output": "https://x/y"}])
def test_an_answer_that_is_not_about_the_prediction_is_no_answer(tmp_path: Path, body: dict[str, str]) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/predictions/", *[json_response(body)] * 3)
        assert place.run("--count", "1").code == 0 and len(place.service.predictions) == 1


def test_a_date_that_no_clock_shows_does_no_harm(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/v1/account", Response(503, b"", {"Date": "Mon, 01 Jan 0001 00:00:00 GMT"}))
        assert place.run("--count", "1").code == 0


def test_a_rate_without_end_is_no_limit(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        assert place.run("--count", "1", "--rate", "9" * 400).code == 0


def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(_always(Outcome(latency_s=30.0)))) as place:
        command = [sys.executable, str(ROOT / "generate_rollouts.py"), *place.arguments("--count", "2")]
        with subprocess.Popen(
            command, env={**os.environ, **place.environment}, stderr=subprocess.PIPE, text=True
        ) as run:
            while len(place.service.predictions) < 2:
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            _, error = run.communicate(timeout=20)
        assert run.returncode == 130
        assert "Continue with:\npython generate_rollouts.py --model wan" in error and "Traceback" not in error


def test_the_ledger_holds_the_protocol_and_every_paid_call(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.run("--count", "1")
        text = (place.rollouts / "main" / "ledger.jsonl").read_text()
        protocol, *events = [json.loads(line) for line in text.splitlines()]
        assert protocol["parts"]["inputs"]["duration"] == 3 and len(protocol["parts"]["frame_sha256"]) == 64
        assert [event["event"] for event in events] == ["intent", "submitted", "verified"]
        assert events[0]["digest"] == protocol["digest"] and events[2]["frames"] == 8
        shutil.rmtree(place.rollouts)
