"""Clips that the Gemini judge uploads: once for all votes, ready before they are shown, and deleted after."""

import time
from pathlib import Path

import pytest

from ledger import AppendOnlyLog
from tests.services.base import NO_ANSWER, Request, Response
from tests.services.gemini_server import (
    GeminiService,
    google_error,
)
from tests.services.reading_room import reading_room

GENERATE = ":generateContent"
LARGE, TOO_LARGE_FOR_ONE_REQUEST = 5_000_000, 15_000_000


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
