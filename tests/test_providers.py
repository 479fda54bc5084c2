"""The parts of the providers by themselves: outputs, hints, hosts, frames, pacing, and the engine's deadlines."""

import asyncio
import email.utils
import io
import itertools
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pytest
from replicate.helpers import transform_output

import hints
from addresses import check_base_url
from errors import UserError
from models import MODELS
from paths import ROOT
from progress import Progress
from protocol import Generation, generation
from providers import downloading
from providers.base import DownloadError, Request, State, UnreachableError
from providers.downloading import Downloader
from providers.engine import Engine
from providers.frames import FrameStore, Upload
from providers.history import History
from providers.local import LocalProvider
from providers.pacing import Gate
from providers.replicate_api import ReplicateProvider
from providers.replicate_output import one_video, read_prediction
from providers.replicate_schema import input_schema
from providers.resume import Step, plan
from providers.run_state import DISPLAY, Report, Settings
from providers.running import run
from studies import STUDIES
from tests.services.base import NO_ANSWER, Fault, LoopbackService, Response, json_response
from tests.services.clips import moving_clip
from tests.services.replicate_server import Outcome, ReplicateService
from tests.services.studio import POLL_INTERVAL_S, Studio, studio

URL = "https://replicate.delivery/x/output.mp4"
DATA_URL = "data:video/mp4;base64,AAAA"


# --- outputs


def test_every_shape_of_one_video_gives_its_url() -> None:
    for url in (URL, DATA_URL):
        file_object = transform_output(url, mock.sentinel.client)
        assert [one_video(shape) for shape in (url, [url], (url,), file_object, [file_object])] == [url] * 5


@pytest.mark.parametrize(
    "output", [None, "", [], {}, 7, [URL, URL], {"video": URL}, ["data:image/png;base64,AA"], [[URL]]]
)
def test_any_other_output_is_an_error_that_says_what_came(output: object) -> None:
    with pytest.raises(ValueError, match=r"output is .*; expected"):
        one_video(output)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"status": "starting", "output": None}, None),
        ({"status": "processing", "output": []}, None),
        ({"status": "processing", "output": URL, "error": "warning"}, None),
        ({"status": "succeeded", "output": URL}, State.SUCCEEDED),
        ({"status": "succeeded", "output": []}, State.NO_VIDEO),
        ({"status": "succeeded"}, State.NO_VIDEO),
        ({"status": "succeeded", "output": [], "logs": "blocked by moderation"}, State.REFUSED),
        ({"status": "succeeded", "output": None, "error": "empty"}, State.REFUSED),
        ({"status": "succeeded", "output": URL, "logs": "loading safety checker"}, State.SUCCEEDED),
        ({"status": "succeeded", "output": None, "input": {}}, State.EXPIRED),
        ({"status": "succeeded", "output": None, "data_removed": True}, State.EXPIRED),
        ({"status": "failed", "error": "The input or output was flagged as sensitive. (E005)"}, State.REFUSED),
        ({"status": "failed", "error": "CUDA out of memory", "logs": "safety checker loaded"}, State.FAILED),
        ({"status": "failed", "error": "error", "logs": "step 1\n" * 200 + "NSFW content"}, State.REFUSED),
        ({"status": "failed", "error": "the input text may contain sensitive information"}, State.REFUSED),
        ({"status": "failed", "error": "rejected by the safety system"}, State.REFUSED),
        ({"status": "failed", "error": "this prompt violates our usage policy"}, State.REFUSED),
        ({"status": "failed", "error": "thread-safety: lock not held"}, State.FAILED),
        ({"status": "failed", "error": "input names are case sensitive"}, State.FAILED),
        ({"status": "failed", "error": "memory access violation"}, State.FAILED),
        ({"status": "succeeded", "output": None, "logs": "safety checker loaded"}, State.NO_VIDEO),
        ({"status": "succeeded", "output": "data:application/octet-stream;base64,AAAA"}, State.SUCCEEDED),
        ({"status": "succeeded", "output": URL.replace("https", "HTTPS")}, State.SUCCEEDED),
        ({"status": "failed", "error": None}, State.FAILED),
        ({"status": "canceled"}, State.FAILED),
        ({"status": "aborted"}, State.UNKNOWN),
        ({"status": "paused for lunch"}, State.UNKNOWN),
        ({"status": None}, State.UNKNOWN),
        ({}, State.UNKNOWN),
    ],
)
def test_every_answer_about_a_prediction_has_a_state(fields: dict[str, Any], state: State | None) -> None:
    prediction = read_prediction({"id": "p1", "input": {"seed": 1}, **fields})
    assert prediction.state is state
    assert (prediction.video is not None) == (state is State.SUCCEEDED)
    assert "\n" not in prediction.detail and len(prediction.detail) <= 400


@pytest.mark.parametrize("status", ["failed", "succeeded", "aborted \x1b[2J r8-0123456789"])
@pytest.mark.parametrize("words", ["bad \x1b[2J r8-0123456789", "NSFW \x1b[2J r8-0123456789"])
def test_no_answer_about_a_prediction_carries_a_key_or_an_escape(
    status: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", "r8-0123456789")
    for fields in (
        {"error": words},
        {"logs": words},
        {"output": [words, words]},
        {"version": words},
        {"output": words},
    ):
        prediction = read_prediction({"id": "p1", "input": {"seed": 1}, "status": status, **fields})
        told = prediction.detail + prediction.version
        assert told.isprintable() and "r8-" not in told


# --- settings


@pytest.mark.parametrize("text", ["abc", "", "0", "-1", "nan", "inf"])
def test_an_unusable_poll_interval_is_refused_by_name(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", "test-token")
    monkeypatch.setenv("REPLICATE_POLL_INTERVAL", text)
    with pytest.raises(UserError, match=r"REPLICATE_POLL_INTERVAL: .*; expected"):
        ReplicateProvider()


def test_no_client_is_imported_before_it_is_needed() -> None:
    environment = {**os.environ, "REPLICATE_POLL_INTERVAL": "abc"}
    command = [sys.executable, "generate_rollouts.py", "--help"]
    assert subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("base", "settle_s"), [("https://api.replicate.com", 20.0), ("http://127.0.0.1:9", 0.4)], ids=["far", "here"]
)
def test_a_lost_prediction_has_time_to_be_listed(base: str, settle_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", "test-token")
    monkeypatch.setenv("REPLICATE_BASE_URL", base)
    monkeypatch.setenv("REPLICATE_POLL_INTERVAL", "0.01")
    assert ReplicateProvider().settle_s == pytest.approx(settle_s)


def test_the_ledger_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLICATE_API_TOKEN", "r8-0123456789")
    with closing(History(tmp_path)) as history:
        attempt = history.intent(("dice", "wan", 0), "abc", "replicate", datetime.now(UTC), "")
        history.ended(("dice", "wan", 0), attempt, State.FAILED, "bad token r8-0123456789")
    assert "r8-0123456789" not in history.path.read_text()


# --- hints


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"Retry-After": "12"}, b"", 12.0),
        ({"Retry-After": "0.5"}, b"{}", 0.5),
        ({"RateLimit-Reset": "30"}, b"", 30.0),
        ({"X-RateLimit-Reset": "{epoch}"}, b"", 60.0),
        ({"Retry-After": "{date}"}, b"", 60.0),
        ({}, b'{"detail": "Request was throttled. Your rate limit resets in ~8s."}', 8.0),
        (
            {},
            b'{"detail": "... reduced to 6 requests per minute with a burst of 1 requests ... resets in ~10s."}',
            10.0,
        ),
        ({}, b'{"detail": "Request was throttled. Expected available in 12 seconds."}', 12.0),
        ({}, b'{"detail": "try again in 250ms"}', 0.25),
        ({}, b'{"detail": "try again in 2 minutes"}', 120.0),
        ({}, b'{"detail": "try again in 5 hours"}', 18000.0),
        ({}, b'{"error": {"message": "Limit 200, Used 200. Please try again in 7m12s. Visit ..."}}', 432.0),
        ({}, b'{"error": {"message": "Please try again in 1h2m3s."}}', 3723.0),
        ({}, b'{"error": {"message": "Please try again in 6.5s. Limit: 3 / min."}}', 6.5),
        ({}, b'{"detail": "available in 1 hour, 5 minutes and 10 seconds"}', 3910.0),
        ({}, b'{"detail": "in 2 milliseconds"}', 0.002),
        ({}, b'{"detail": "try again in 1 day"}', 86400.0),
        ({}, b'{"detail": "seen in 3 models"}', None),
        ({}, b'{"retry_after": 7}', 7.0),
        ({"Retry-After": "3"}, b'{"detail": "resets in ~9s"}', 9.0),
        ({"Retry-After": "soon"}, b"", None),
        ({}, b"[" * 100_000, None),
        ({"Retry-After": "nan"}, b"", None),
        ({"Retry-After": "-5"}, b"", 0.0),
        ({}, b'{"detail": "6 requests per minute"}', None),
        ({}, b"[1, 2]", None),
        ({}, b"\xff\xfe", None),
    ],
)
def test_the_pause_that_a_429_asks_for_is_read(headers: dict[str, str], body: bytes, seconds: float | None) -> None:
    in_a_minute = time.time() + 60
    values = {"{epoch}": str(int(in_a_minute)), "{date}": email.utils.formatdate(in_a_minute, usegmt=True)}
    found = hints.seconds(httpx.Headers({name: values.get(value, value) for name, value in headers.items()}), body)
    assert found == (None if seconds is None else pytest.approx(seconds, abs=2.0 if seconds == 60.0 else 0.0))


def test_the_words_of_an_error_are_found() -> None:
    assert (
        hints.detail(b'{"title": "Input validation failed", "detail": "- seed"}') == "Input validation failed: - seed"
    )
    assert hints.detail(b"<html>bad gateway</html>") == "<html>bad gateway</html>"
    assert hints.detail(b'{"unknown": 1}') == '{"unknown": 1}'
    quota = b'{"error": {"message": "You exceeded your quota", "type": "x", "code": "insufficient_quota"}}'
    assert hints.detail(quota) == "insufficient_quota: You exceeded your quota"
    listed = b'{"detail": [{"loc": ["body", "seed"], "msg": "not an integer"}, {"msg": "no image"}]}'
    assert hints.detail(listed) == "not an integer; no image"
    assert hints.detail(b'{"error": "busy", "message": "busy"}') == "busy"
    deep = b'{"error": ' * 900 + b"1" + b"}" * 900
    assert hints.detail(deep) == deep.decode()


# --- hosts and downloads


@pytest.mark.parametrize(
    "url", ["https://api.replicate.com", "http://127.0.0.1:8000", "http://localhost:1", "http://[::1]:1"]
)
def test_https_and_loopback_are_usable_base_urls(url: str) -> None:
    assert str(check_base_url("X", url)) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://api.replicate.com",
        "ftp://127.0.0.1",
        "api.replicate.com",
        "",
        "http://127.0.0.1.evil.org",
        "https://a:b@c.org",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        f"https://{'a' * 64}.org",
        "https://a..org",
    ],
)
def test_other_base_urls_are_refused_by_name(url: str) -> None:
    with pytest.raises(UserError, match=r"^SETTING: .*expected https"):
        check_base_url("SETTING", url)


def _fetch(base: str, url: str, path: Path) -> None:
    async def fetch() -> None:
        async with httpx.AsyncClient(timeout=5.0) as client:
            downloader = Downloader(httpx.URL(base), ("replicate.delivery",), "Bearer secret", client)
            await downloader.fetch(url, path)

    asyncio.run(fetch())


@pytest.mark.parametrize(
    "url",
    [
        "http://replicate.delivery/x.mp4",
        "https://replicate.delivery.evil.org/x.mp4",
        "https://evilreplicate.delivery/x.mp4",
        "https://replicate.delivery@evil.org/x.mp4",
        "https://127.0.0.1/x.mp4",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "https://replicate.delivery:99999/x.mp4",
        "https://replicate.delivery/x\ud800",
        f"https://{'a' * 64}.replicate.delivery/x.mp4",
        "https://[::1",
        "data:video/mp4;base64,\u00e9",
    ],
)
def test_nothing_is_fetched_from_other_hosts(tmp_path: Path, url: str) -> None:
    with pytest.raises(DownloadError, match="output is") as refused:
        _fetch("https://api.replicate.com", url, tmp_path / "clip")
    assert refused.value.state is State.NO_VIDEO and not (tmp_path / "clip").exists()


class Store(LoopbackService):
    """Serves one body; other paths lead there or away."""

    def handle(self, request: Any) -> Response:
        away = {"/there": f"{self.url}/clip", "/round": f"{self.url}/round", "/away": "https://elsewhere.example/clip"}
        away |= {"/port": "http://127.0.0.1:99999/", "/bracket": "http://["}
        if request.path in away:
            return Response(302, headers={"Location": away[request.path]})
        return Response(200, moving_clip())


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/there", ""),
        ("/round", "redirects"),
        ("/away", "elsewhere.example"),
        ("/port", "99999"),
        ("/bracket", "not a URL"),
    ],
)
def test_redirects_are_followed_within_the_allowed_hosts(tmp_path: Path, path: str, says: str) -> None:
    with Store() as store:
        if says:
            with pytest.raises(DownloadError, match=says):
                _fetch(store.url, f"{store.url}{path}", tmp_path / "clip")
        else:
            _fetch(store.url, f"{store.url}{path}", tmp_path / "clip")
            assert (tmp_path / "clip").read_bytes() == moving_clip()


def test_a_download_is_bounded(tmp_path: Path) -> None:
    with Store() as store, mock.patch.object(downloading, "MAX_VIDEO_BYTES", 100):
        with pytest.raises(DownloadError, match="larger than 100 bytes"):
            _fetch(store.url, f"{store.url}/clip", tmp_path / "clip")
        with pytest.raises(DownloadError, match="data:video"):
            _fetch(store.url, f"data:video/mp4;base64,{'A' * 200}", tmp_path / "clip")


def test_a_short_body_is_worth_another_try(tmp_path: Path) -> None:
    with Store() as store:
        store.fail("GET", "/clip", Response(200, moving_clip(), cut_at=100))
        with pytest.raises(UnreachableError, match="RemoteProtocolError"):
            _fetch(store.url, f"{store.url}/clip", tmp_path / "clip")


# --- frames and pacing


def test_a_frame_is_uploaded_once_and_again_when_it_expires() -> None:
    sent: list[str] = []

    async def upload(frame: Path) -> Upload:
        await asyncio.sleep(0.005)
        sent.append(frame.name)
        return Upload(f"{frame.name}/{len(sent)}", datetime.now(UTC) + timedelta(seconds=0.1))

    async def use() -> list[str]:
        store = FrameStore(upload)
        first = await asyncio.gather(*(store.url(Path(name)) for name in ["dice.png", "ball.png"] * 10))
        await asyncio.sleep(0.06)
        return [*sorted(set(first)), await store.url(Path("dice.png"))]

    assert asyncio.run(use()) == ["ball.png/2", "dice.png/1", "dice.png/3"]
    assert sent == ["dice.png", "ball.png", "dice.png"]


def test_a_failed_upload_is_not_remembered() -> None:
    answers: Iterator[Exception | Upload] = iter([UnreachableError("no answer"), Upload("second", None)])

    async def upload(frame: Path) -> Upload:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def use() -> str:
        store = FrameStore(upload)
        with pytest.raises(UnreachableError):
            await store.url(Path("dice.png"))
        return await store.url(Path("dice.png"))

    assert asyncio.run(use()) == "second"


class Hours(selectors.DefaultSelector):
    """Waits for nothing, and lets the clock of a loop jump ahead instead."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


def test_the_gate_keeps_the_rate_the_order_and_the_pause() -> None:
    told: list[tuple[str, float]] = []
    hours = Hours()
    loop = asyncio.SelectorEventLoop(hours)
    loop.time = lambda: hours.now  # type: ignore[method-assign]

    async def use() -> list[tuple[int, float]]:
        gate = Gate(6.0, lambda reason, seconds: told.append((reason, seconds)))
        passed: list[tuple[int, float]] = []

        async def go(number: int) -> None:
            await gate.turn()
            passed.append((number, round(hours.now, 6)))
            if number == 3:
                gate.close(100.0, "rate limit")
                gate.close(15.0, "shorter, so it changes nothing")

        await asyncio.gather(*(go(number) for number in range(7)))
        return passed

    with closing(loop):
        passed = loop.run_until_complete(use())
    assert passed == [(0, 0), (1, 10), (2, 20), (3, 30), (4, 130), (5, 140), (6, 150)]
    assert told == [("rate limit", 100.0)]


# --- deadlines


def _generate(place: Studio, settings: Settings, count: int = 1) -> Report:
    """What generate_rollouts.py does, with settings that it has no option for."""
    folder = place.rollouts / "main"
    made = generation(STUDIES["main"], "dice", MODELS["wan"], place.frames)
    requests = [Request(made, seed) for seed in range(count)]

    async def run() -> Report:
        provider = ReplicateProvider()
        history = History(folder)
        try:
            with Progress("main", {"dice / wan": range(count)}, DISPLAY, stream=io.StringIO()) as progress:
                steps = plan(history, folder, requests)
                open_requests = [request for request in requests if steps[request.key] is not Step.NOTHING]
                return await Engine(provider, folder, history, settings, progress).run(open_requests, steps)
        finally:
            history.close()
            await provider.close()

    with mock.patch.dict(os.environ, place.environment):
        return asyncio.run(run())


def test_a_prediction_that_never_ends_is_stuck_asked_again_later_and_replaced_only_on_request(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome(latency_s=float("inf") if inputs["seed"] == 0 and not before else 0.0)

    with studio(tmp_path, ReplicateService(outcome)) as place:
        report = _generate(place, Settings(8, 60_000, deadline_s=0.3), count=3)
        assert sorted(report.states.values()) == ["done", "done", "stuck"]
        report = _generate(place, Settings(8, 60_000, deadline_s=0.1), count=3)
        assert list(report.states.values()) == ["stuck"] and len(place.service.predictions) == 3
        stuck = place.rollout(0).attempts[-1].id
        report = _generate(place, Settings(8, 60_000, deadline_s=5.0, retry=True), count=3)
        assert set(report.states.values()) == {"done"}
        assert len(place.service.predictions) == 4 and place.service.predictions[str(stuck)].cancelled


def test_a_stuck_prediction_that_ends_after_all_is_used(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(lambda *_: Outcome(latency_s=0.4))) as place:
        assert set(_generate(place, Settings(8, 60_000, deadline_s=0.1)).states.values()) == {"stuck"}
        time.sleep(0.4)
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_a_service_that_answers_no_create_is_given_up_cell_by_cell(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", *[Response(500)] * 1000)
        report = _generate(place, Settings(8, 60_000), count=8)
        assert "failed" in report.states.values() and report.created == 0
        assert any("stopped after 5 equal failures" in remark for remark in report.remarks)


def _runs(prediction_id: str) -> Response:
    return json_response({"id": prediction_id, "model": "m", "version": "v", "status": "processing"})


@pytest.mark.parametrize("fault", [json_response({"detail": "internal"}, 500), NO_ANSWER, Response(200, b"no json")])
def test_a_stuck_prediction_is_not_made_anew_before_an_answer_that_it_runs(tmp_path: Path, fault: Response) -> None:
    with studio(tmp_path, ReplicateService(lambda *_: Outcome(latency_s=0.4))) as place:
        assert set(_generate(place, Settings(8, 60_000, deadline_s=0.1)).states.values()) == {"stuck"}
        place.service.fail("GET", "/v1/predictions/", *[fault] * 1000)
        report = _generate(place, Settings(8, 60_000, deadline_s=0.3, retry=True))
        assert set(report.states.values()) == {"stuck"} and len(place.service.predictions) == 1
        place.service.forget_faults()
        place.service.fail("GET", "/v1/predictions/", fault, fault)
        time.sleep(0.4)
        assert place.run("--count", "1", "--retry").code == 0
        assert len(place.service.predictions) == 1


def test_a_prediction_that_ends_before_it_is_cancelled_is_used(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(lambda *_: Outcome(latency_s=0.4))) as place:
        _generate(place, Settings(8, 60_000, deadline_s=0.1))
        time.sleep(0.4)
        place.service.fail("GET", "/v1/predictions/", _runs(*place.service.predictions))
        assert place.run("--count", "1", "--retry").code == 0
        assert len(place.service.sent("POST", "/cancel")) == 1 and len(place.service.predictions) == 1


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (NO_ANSWER, "cannot be cancelled: no answer"),
        (json_response({}, 500), "cannot be cancelled: HTTP 500"),
        (_runs("x"), "still runs, although it is cancelled"),
    ],
)
def test_a_prediction_that_cannot_be_cancelled_is_not_made_anew(tmp_path: Path, fault: Response, says: str) -> None:
    with studio(tmp_path, ReplicateService(lambda *_: Outcome(latency_s=float("inf")))) as place:
        _generate(place, Settings(8, 60_000, deadline_s=0.1))
        place.service.fail("POST", "/cancel", fault)
        report = _generate(place, Settings(8, 60_000, deadline_s=5.0, retry=True))
        assert set(report.states.values()) == {"stuck"} and len(place.service.predictions) == 1
        assert says in place.rollout(0).attempts[-1].detail


def test_an_unreadable_answer_to_a_cancel_is_asked_for_again(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome(latency_s=0.0 if before else float("inf"))

    with studio(tmp_path, ReplicateService(outcome)) as place:
        _generate(place, Settings(8, 60_000, deadline_s=0.1))
        place.service.fail("POST", "/cancel", Fault(json_response({"id": "x", "status": "aborted"}), after=True))
        assert set(_generate(place, Settings(8, 60_000, retry=True)).states.values()) == {"done"}
        assert len(place.service.predictions) == 2 and len(place.service.paid()) == 1


@pytest.mark.parametrize(("hint", "trusted"), [("0", 0), ("0.001", 3)])
def test_a_rate_limit_without_end_ends_the_run_and_its_pauses_grow(tmp_path: Path, hint: str, trusted: int) -> None:
    throttled = json_response({"detail": "slow down"}, 429, {"Retry-After": hint})
    with studio(tmp_path) as place:
        place.service.fail("POST", "/predictions", *[throttled] * 1000)
        report = _generate(place, Settings(1, 60_000, deadline_s=1.0))
        assert report.created == 0 and any("nothing was let through for" in remark for remark in report.remarks)
        arrivals = [request.time for request in place.service.sent("POST", "/predictions")]
        gaps = [later - earlier for earlier, later in itertools.pairwise(arrivals)][trusted:]
        assert len(gaps) >= 3
        for number, gap in enumerate(gaps):
            assert gap >= 4 * POLL_INTERVAL_S * 2**number, (
                "a hint after which nothing is let through is no leave to ask"
            )
        place.service.forget_faults()
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_a_slow_rate_is_no_limit_without_end(tmp_path: Path) -> None:
    with studio(tmp_path, ReplicateService(creates_a_second=4)) as place:
        # The last of them waits for far longer than the deadline, while the others get through.
        report = _generate(place, Settings(10, 60_000, deadline_s=1.5), count=10)
        assert set(report.states.values()) == {"done"} and not report.remarks


def test_frames_that_cannot_be_uploaded_end_the_run_at_its_deadline(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("POST", "/v1/files", *[json_response({"detail": "store is full"}, 500)] * 1000)
        report = _generate(place, Settings(8, 60_000, deadline_s=0.3))
        assert any("no more predictions are created: HTTP 500: store is full" in remark for remark in report.remarks)
        assert not place.service.predictions


def test_a_list_that_cannot_be_had_ends_the_run_before_anything_is_created(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        made = generation(STUDIES["main"], "dice", MODELS["wan"], place.frames)
        with closing(History(place.rollouts / "main")) as history:
            history.intent(("dice", "wan", 0), made.digest, "replicate", datetime.now(UTC), "")
        place.service.fail("GET", "/v1/predictions", *[json_response({}, 500)] * 1000)
        with pytest.raises(UserError, match="expected its list of what an earlier run may have paid for"):
            _generate(place, Settings(8, 60_000, deadline_s=0.3))
        assert not place.service.predictions


def test_a_store_that_is_not_reached_is_given_up_at_the_deadline_and_asked_again_by_a_rerun(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/delivery/", *[json_response({}, 503)] * 1000)
        for retry in (False, True):
            report = _generate(place, Settings(8, 60_000, deadline_s=0.3, retry=retry))
            assert set(report.states.values()) == {"stuck"} and len(place.service.predictions) == 1
        place.service.forget_faults()
        assert place.run("--count", "1").code == 0
        assert len(place.service.predictions) == 1


def test_nothing_more_is_paid_for_while_no_video_can_be_fetched(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/delivery/", *[json_response({}, 503)] * 100_000)
        report = _generate(place, Settings(4, 60_000, deadline_s=1.0), count=32)
        created = len(place.service.predictions)
        assert created <= 16 and list(report.states.values()).count("waiting") == 32 - created
        assert "stuck" in report.states.values()
        assert "no more predictions are created: download: HTTP 503; no video could be fetched for" in " ".join(
            report.remarks
        )
        place.service.forget_faults()
        assert place.run("--count", "32").code == 0
        assert len(place.service.predictions) == 32


def test_creates_go_on_when_videos_can_be_fetched_again(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        place.service.fail("GET", "/delivery/", *[json_response({}, 503)] * 20)
        report = _generate(place, Settings(4, 60_000), count=24)
        assert set(report.states.values()) == {"done"} and not report.remarks
        assert len(place.service.predictions) == 24


def _break(url: str) -> str:
    return url.replace("output", "broken")


class HalfAStore(ReplicateService):
    """Has no answer for broken videos until all others have been fetched, of which there are ten."""

    def handle(self, request: Any) -> Response:
        if "/broken" in request.path and len(self.sent("GET", "/output")) < 10:
            return json_response({}, 503)
        return super().handle(request)


def test_videos_that_cannot_be_fetched_keep_no_place_from_the_others(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome(latency_s=0.3) if inputs["seed"] < 10 else Outcome(url=_break)

    with studio(tmp_path, HalfAStore(outcome)) as place:
        report = _generate(place, Settings(32, 60_000, deadline_s=10.0), count=20)
        assert list(report.states.values()) == ["done"] * 20 and not report.remarks


def test_videos_that_an_earlier_run_could_not_fetch_hold_up_no_creates(tmp_path: Path) -> None:
    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        return Outcome(url=_break) if inputs["seed"] < 4 else Outcome()

    with studio(tmp_path, ReplicateService(outcome)) as place:
        place.service.fail("GET", "/broken", *[json_response({}, 503)] * 100_000)
        _generate(place, Settings(8, 60_000, deadline_s=0.2), count=4)
        report = _generate(place, Settings(1, 60_000, deadline_s=1.0), count=12)
        assert sorted(report.states.values()) == ["done"] * 8 + ["stuck"] * 4


def test_a_renderer_that_is_killed_is_told_in_one_line_and_a_rerun_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def killed(request: Request, path: Path) -> None:
        raise BrokenProcessPool("a process in the process pool was terminated abruptly")

    def render(request: Request, path: Path) -> None:
        path.write_bytes(moving_clip())

    with studio(tmp_path) as place:
        requests = [Request(generation(STUDIES["main"], "dice", MODELS["wan"], place.frames), seed) for seed in (0, 1)]
        for renderer, code in ((killed, 1), (render, 0)):
            provider = partial(LocalProvider, "simulator", renderer, ThreadPoolExecutor(1))
            assert run(requests, place.rollouts / "main", provider, Settings(1, 60_000), "the command") == code
            told = capsys.readouterr().out
            assert ("no more predictions are created: a rendering process was ended" in told) == bool(code)
            assert ("continue with:\nthe command\n" in told) == bool(code) and "--retry" not in told


class Unreachable(LocalProvider):
    """Says so where nobody expects it."""

    def __init__(self) -> None:
        super().__init__("nowhere", mock.Mock(), ThreadPoolExecutor(1))

    async def prepare(self, generations: Sequence[Generation]) -> list[str]:
        raise UnreachableError("no route")


def test_any_trouble_with_a_provider_is_one_line_for_the_user(tmp_path: Path) -> None:
    with studio(tmp_path) as place:
        request = Request(generation(STUDIES["main"], "dice", MODELS["wan"], place.frames), 0)
        with pytest.raises(UserError, match=r"^no route; expected a service that answers"):
            run([request], place.rollouts / "main", Unreachable, Settings(1, 60), "the command")


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"latest_version": None},
        {"latest_version": "v1"},
        {"latest_version": {"openapi_schema": {"components": []}}},
        {"latest_version": {"openapi_schema": {"components": {"schemas": {"Input": []}}}}},
        {"latest_version": {"openapi_schema": {"components": {"schemas": {"Input": {"properties": {"a": 1}}}}}}},
    ],
)
def test_a_model_without_a_readable_schema_has_none(about: dict[str, Any]) -> None:
    assert input_schema(about) == {}


VERIFIED = -1


def test_a_clip_is_named_and_its_name_outlasts_a_power_cut_before_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    sync, verified = os.fsync, History.verified

    def fsync(descriptor: int) -> None:
        done.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    def record(self: History, *arguments: Any) -> None:
        done.append(VERIFIED)
        verified(self, *arguments)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(History, "verified", record)
    with studio(tmp_path) as place:
        assert place.run("--count", "1").code == 0
        cell = place.rollouts / "main" / "dice" / "wan"
        before = done[: done.index(VERIFIED)]
        assert before[-2:] == [path.stat().st_ino for path in (cell / "seed_0.mp4", cell)]
        folders = {cell.parent.stat().st_ino, cell.parent.parent.stat().st_ino}
        assert folders <= set(before), "the folders that were made for it outlast it too"
