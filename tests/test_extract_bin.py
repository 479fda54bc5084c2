"""extract_bin.py as a person runs it: what it reads, writes, resumes, refuses and says."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from judges.base import Evidence, JudgeError, RawReply
from judges.pixels import PixelsJudge
from ledger import AppendOnlyLog, FolderLock
from records import read_cell
from scenes import SCENES
from studies import STUDIES
from tests.services.base import NO_ANSWER
from tests.services.clips import blank_clip, moving_clip
from tests.services.gemini_server import Answer, GeminiService, Query, google_error, seen
from tests.services.reading_room import SCENE, STUDY, ReadingRoom, reading_room
from video_io import encode_png

GENERATE = ":generateContent"
N = STUDIES[STUDY].n


def test_a_cell_gets_the_outcomes_that_the_judge_sees(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        ran = room.run()
        assert (ran.code, ran.out.splitlines()[0]) == (0, "5 rollouts: 5 done; 15 replies in this run")
        assert room.bins() == room.truth()
        cell = read_cell(room.analysis, STUDIES[STUDY], SCENE, "mine")
        assert list(cell.bins) == room.truth()
        assert len(room.log()) == 3 * N


def test_scenes_of_both_kinds_of_evidence_are_read_together(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        for scene in ("ball", "cards"):
            room.put_clips("main", scene)
        assert room.run("--votes", "1", study="main", scene="ball cards").code == 0
        for scene in ("ball", "cards"):
            assert room.bins("main", scene) == room.truth("main", scene)


def test_the_majority_decides_and_a_null_is_a_vote(tmp_path: Path) -> None:
    votes = [("3", "3", "5"), ("null", "3", "null"), ("1", "2", "3"), ("6", "6", "null"), ("null", "null", "null")]
    numbers: dict[str, int] = {}

    def answer(query: Query) -> Answer:
        return Answer(votes[numbers[query.sha256]][query.before])

    with reading_room(tmp_path, GeminiService(answer)) as room:
        room.put_clips()
        numbers.update({room.shown(seed): seed for seed in range(N)})
        assert room.run().code == 0
        assert room.bins() == [3, None, None, 6, None]


def test_a_record_says_how_it_was_made(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run()
        protocol = room.outcomes()["protocol"]
        assert (protocol["judge"], protocol["judge_model"]) == ("gemini", "gemini-3.1-pro-preview")
        assert protocol["judge_versions"] == ["gemini-3.1-pro-preview"]
        assert (protocol["votes"], protocol["generation"]) == (3, None)
        clips = {str(seed): hashlib.sha256(room.clip(seed).read_bytes()).hexdigest() for seed in range(N)}
        assert protocol["clip_sha256"] == clips
        room.run("--force", "--votes", "1")
        assert room.outcomes()["protocol"]["digest"] != protocol["digest"]
        assert room.outcomes()["protocol"]["clip_sha256"] == clips


def _record_generation(room: ReadingRoom, digests: Mapping[int, str]) -> None:
    """Write what generate_rollouts.py would have, for these seeds."""
    with AppendOnlyLog(room.rollouts / STUDY / "ledger.jsonl") as log:
        for seed, digest in digests.items():
            line = {"scene": SCENE, "model": "mine", "seed": seed, "attempt": 0, "time": "2026-07-01T00:00:00+00:00"}
            sha256 = hashlib.sha256(room.clip(seed).read_bytes()).hexdigest()
            log.append({**line, "event": "intent", "digest": digest, "provider": "replicate"})
            log.append({**line, "event": "verified", "sha256": sha256})


def test_the_protocol_of_generation_travels_with_the_record(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        _record_generation(room, dict.fromkeys(range(N), "abc"))
        room.run()
        assert room.outcomes()["protocol"]["generation"] == "abc"


def test_rollouts_of_several_protocols_do_not_become_one_cell(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        _record_generation(room, {0: "abc", 1: "def"})
        ran = room.run()
        assert ran.code == 2
        assert "several protocols (abc, def)" in ran.err
        assert room.service.requests == []


def test_a_clip_that_was_not_generated_for_its_seed_is_not_read(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        _record_generation(room, dict.fromkeys(range(3), "abc"))
        first, second, free = (room.clip(seed).read_bytes() for seed in (0, 1, 3))
        room.clip(0).write_bytes(second)
        room.clip(1).write_bytes(first)
        ran = room.run()
        assert ran.code == 2 and "ledger.jsonl records: " in ran.err and "seed 0-1; expected the generated" in ran.err
        assert room.service.requests == []
        room.clip(0).write_bytes(first)
        room.clip(1).write_bytes(second)
        room.clip(3).write_bytes(free + b"free")
        assert "ledger.jsonl records" not in room.run().err, "a seed that the ledger does not know is anybody's"


def test_the_published_study_needs_neither_key_nor_videos(analysis: Path, tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        for study in ("main", "dur5s"):
            ran = room.run(study=study, scene="all", model="all", GEMINI_API_KEY="")
            assert (ran.code, ran.err) == (0, ""), "every cell has its outcomes or is recorded as absent"


def test_nothing_is_paid_for_that_was_not_named(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.put_clips(model="yours")
        ran = room.run(model="")
        assert ran.code == 2 and f"--model: not given; expected the models to pay for, or all, for {2 * N}" in ran.err
        assert room.service.requests == []
        assert room.run(model="all").code == 1, "those of the study have no clips"
        assert len(room.service.queries) == 2 * N * 3


def test_a_free_judge_reads_all_models_unnamed(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        assert "not_simulated" in room.run("--judge", "pixels", model="").out


def test_a_dry_run_counts_the_votes_that_are_missing_and_asks_for_none(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.put_clips(model="yours", count=2)
        room.run("--votes", "1")
        sent = len(room.service.requests)
        before = sorted(path for path in tmp_path.rglob("*"))
        ran = room.run("--dry-run", "--force", model="mine yours", GEMINI_API_KEY="")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.splitlines() == [
            f"dice / mine: {2 * N} queries",
            "dice / yours: 6 queries",
            f"{2 * N + 6} queries, and more for replies that are no vote",
        ]
        assert sorted(path for path in tmp_path.rglob("*")) == before
        assert len(room.service.requests) == sent
        assert f"{2 * N + 6} queries" in room.run("--dry-run", "--force", model="mine yours").out


def test_all_models_are_those_of_the_study_and_those_with_videos(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips(model="unheard-of")
        ran = room.run(model="all")
        assert ran.code == 1
        assert room.bins(model="unheard-of") == room.truth(model="unheard-of")
        assert "missing: dice / wan seed 0-4: no_video" in ran.out


def test_missing_and_foreign_files_are_named_and_a_cell_without_all_clips_is_not_written(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.clip(2).unlink()
        room.clip(N).write_bytes(moving_clip())
        (room.clip(0).parent / "notes.txt").write_text("hm", encoding="utf-8")
        (room.clip(0).parent / ".seed_2.mp4.part").write_bytes(b"half")
        ran = room.run()
        assert ran.code == 1
        assert "not read, since no seed of this study is named so: notes.txt, seed_5.mp4" in ran.out
        assert "missing: dice / mine seed 2: no_video" in ran.out
        assert not room.outcome_file().exists()
        assert "continue with:\npython extract_bin.py --study face_3" in ran.out
        assert len(room.log()) == 3 * (N - 1), "what is there is read all the same"


@pytest.mark.parametrize(
    ("clip", "state"),
    [
        (b"not a video", "unreadable"),
        (b"", "unreadable"),
        (moving_clip()[: len(moving_clip()) // 2], "no_frames"),
        (moving_clip()[:-10], "truncated"),
        (blank_clip(), "blank"),
    ],
    ids=["text", "empty", "half", "cut short", "blank"],
)
def test_a_clip_that_is_none_is_shown_to_nobody(tmp_path: Path, clip: bytes, state: str) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.clip(1).write_bytes(clip)
        ran = room.run()
        assert ran.code == 1
        assert f"missing: dice / mine seed 1: {state}" in ran.out
        assert len(room.service.queries) == 3 * (N - 1)


def test_identical_videos_are_reported(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.clip(3).write_bytes(room.clip(1).read_bytes())
        ran = room.run()
        assert (ran.code, "seeds 1, 3 are the same video" in ran.out) == (0, True)
        assert room.outcomes()["protocol"]["identical_seeds"] == [[1, 3]]


def test_whatever_else_a_judge_raises_is_one_line_and_exit_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(PixelsJudge):
        async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
            raise JudgeError("it makes no sense")

    monkeypatch.setattr("extract_bin.get_judge", lambda *_: Odd())
    with reading_room(tmp_path) as room:
        room.put_clips()
        ran = room.run("--judge", "pixels")
        assert ran.code == 2
        assert "extract_bin.py: judge pixels: it makes no sense; expected a judge that answers" in ran.err


def test_no_other_http_library_is_used_whatever_is_installed(tmp_path: Path) -> None:
    """One of them raises errors of its own, and sends paid queries again by itself."""
    (tmp_path / "aiohttp.py").write_text(
        "class ClientSession:\n"
        "    def __init__(self, *_, **__): raise SystemExit('aiohttp was used')\n"
        "def __getattr__(name):\n"
        "    if name.startswith('__'): raise AttributeError(name)\n"
        "    return type(name, (Exception,), {})\n"
    )
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.service.fail("POST", GENERATE, NO_ANSWER)
        process = room.start("--votes", "1", PYTHONPATH=str(tmp_path))
        out, err = process.communicate(timeout=60)
        assert (process.returncode, "aiohttp was used" in err) == (0, False), err
        assert "5 replies in this run, 1 tries without one" in out
        assert len(room.service.sent("POST", GENERATE)) == N + 1


def test_one_bad_cell_does_not_stop_the_others(tmp_path: Path) -> None:
    def answer(query: Query) -> Answer:
        return Answer("perhaps") if query.question == SCENES["dice"].judge_question else seen(query)

    with reading_room(tmp_path, GeminiService(answer)) as room:
        room.put_clips("main", "dice", "bad")
        room.put_clips("main", "cards", "good")
        ran = room.run("--votes", "1", study="main", scene="dice cards", model="bad good")
        assert ran.code == 1
        assert "dice / bad: stopped: 5 rollouts in a row ended as judge_unparseable" in ran.out
        assert room.bins("main", "cards", "good") == room.truth("main", "cards", "good")


def test_a_cell_of_nulls_alone_stops_the_run_until_it_is_accepted(tmp_path: Path) -> None:
    with reading_room(tmp_path, GeminiService(lambda query: Answer("null"))) as room:
        room.put_clips()
        ran = room.run()
        assert (ran.code, room.outcome_file().exists(), len(room.log())) == (1, False, 3 * N)
        (line,) = [line for line in ran.out.splitlines() if "--accept-all-null" in line]
        assert line.startswith("dice / mine: not written, every rollout is null")
        assert "missing" not in ran.out
        accepted = room.run("--accept-all-null", GEMINI_API_KEY="")
        assert (accepted.code, room.bins(), len(room.log())) == (0, [None] * N, 3 * N)


def test_every_reason_for_a_missing_rollout_is_told(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.clip(1).write_bytes(b"")
        room.clip(2).write_bytes(encode_png(np.zeros((48, 64, 3), np.uint8)))
        room.clip(3).write_bytes(b"")
        ran = room.run()
        told = [line for line in ran.out.splitlines() if line.startswith("missing:")]
        assert len(told) == 2
        assert told[0].startswith("missing: dice / mine seed 1, 3: unreadable (")


def test_nothing_is_said_of_the_truth_of_simulated_clips(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.clip(0).with_name("seed_0.truth.json").write_text("{}")
        room.clip(0).with_name("notes.txt").write_text("mine")
        ran = room.run()
        assert "truth.json" not in ran.out and "not read" in ran.out and "notes.txt" in ran.out


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        ({"study": "nine"}, {}, "--study nine: unknown study"),
        ({"scene": "ball"}, {}, "--scene ball: not a scene of face_3"),
        ({"model": "../mine"}, {}, "not a usable key"),
        ({"model": "yours"}, {}, "no videos of dice / yours; expected <scene>/<model>/seed_<i>.mp4"),
        ({}, {"GEMINI_API_KEY": ""}, "GEMINI_API_KEY: not set to a key"),
        ({}, {"GEMINI_API_KEY": "wrong"}, "GEMINI_API_KEY is refused"),
        ({}, {"GOOGLE_GEMINI_BASE_URL": "http://example.org"}, "GOOGLE_GEMINI_BASE_URL: http://example.org; expected"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    tmp_path: Path, arguments: dict[str, str], variables: dict[str, str], words: str
) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        ran = room.run(**arguments, **variables)
        assert ran.code == 2
        (line,) = [line for line in ran.err.splitlines() if line.startswith("extract_bin.py: ")]
        assert words in line
        assert "Traceback" not in ran.err
        assert room.service.queries == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--votes", "0"], "--votes"),
        (["--video-fps", "0"], "--video-fps 0"),
        (["--video-fps", "25"], "at most 24"),
        (["--judge", "nobody"], "nobody"),
        (["--judge", "openai"], "expected --base-url"),
        (["--base-url", "http://127.0.0.1:1/v1"], "--judge openai only"),
        (["--rejudge"], "expected another judge than gemini"),
        (["--rejudge", "--against", "../gemini"], "expected another judge"),
    ],
)
def test_unusable_options_are_one_line_and_exit_2(tmp_path: Path, options: list[str], words: str) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        ran = room.run(*options)
        assert ran.code == 2
        assert words in ran.err


def test_a_log_holds_no_key_no_path_and_no_time(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>\x1b[2J\u202e\n3"
    with reading_room(tmp_path, GeminiService(lambda query: Answer(hostile))) as room:
        room.put_clips()
        room.service.fail("POST", GENERATE, google_error(503, "UNAVAILABLE", "key test-key is busy"))
        ran = room.run()
        assert room.bins() == [3] * N
        log = (room.log_file()).read_text(encoding="utf-8")
        assert log.isascii() and "\x1b" not in log
        assert {line["reply"] for line in room.log() if line["state"] == "vote"} == {hostile}
        for text in (log, ran.out, ran.err, room.outcome_file().read_text(encoding="utf-8")):
            assert "test-key" not in text
        assert str(tmp_path) not in log + room.outcome_file().read_text(encoding="utf-8")
        assert set(room.log()[0]) == {
            "asked", "bin", "came", "detail", "finish_reason", "frames", "model_version", "promised_frames", "reason",
            "reply", "seed", "state", "tokens", "vote",
        }  # fmt: skip


def test_a_second_run_refuses_and_names_the_first(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        with FolderLock(room.analysis / "vlm_logs" / STUDY / ".run" / "gemini"):
            ran = room.run()
        assert ran.code == 2
        assert f"in use by process {os.getpid()}" in ran.err
        assert room.service.requests == []


def test_an_ablation_has_its_own_folders_and_names(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("seedance720", "dice", "seedance")
        assert room.run("--votes", "1", study="seedance720", model="seedance").code == 0
        assert (room.analysis / "seedance720" / "dice_seedance_bins.json").exists()
        assert (room.analysis / "vlm_logs" / "seedance720" / "dice_seedance.gemini.jsonl").exists()
        assert room.bins("seedance720", "dice", "seedance") == room.truth("seedance720", "dice", "seedance")
