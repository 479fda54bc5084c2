"""extract_bin.py run again: what is on disk is not asked for again, and what never succeeds not for ever."""

import json
import signal
import threading
from pathlib import Path

from studies import STUDIES
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import Answer, GeminiService, Query, google_error, rate_limited, seen
from tests.services.reading_room import STUDY, reading_room
from video_io import find_clips

GENERATE = ":generateContent"
N = STUDIES[STUDY].n


def test_votes_on_disk_are_not_asked_for_again(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run()
        first = room.outcome_file().read_bytes()
        room.outcome_file().unlink()
        # Without key and network too: there is nothing to ask.
        ran = room.run(GEMINI_API_KEY="")
        assert (ran.code, "0 replies in this run" in ran.out) == (0, True)
        assert room.outcome_file().read_bytes() == first
        assert len(room.service.queries) == 3 * N


def test_further_votes_are_added_to_those_on_disk(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run("--votes", "2")
        room.run("--votes", "3", "--force")
        assert set(room.asked().values()) == {3}
        room.run("--votes", "1", "--force")
        assert set(room.asked().values()) == {3}


def test_another_clip_or_sampling_is_asked_about_anew(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips("main", "ball")
        room.run("--votes", "1", study="main", scene="ball")
        assert len(room.service.queries) == 32
        room.clip(7, "main", "ball").write_bytes(moving_clip(100))
        room.run("--votes", "1", "--force", study="main", scene="ball")
        assert len(room.service.queries) == 33
        assert room.bins("main", "ball") == room.truth("main", "ball")
        room.run("--votes", "1", "--force", "--video-fps", "8", study="main", scene="ball")
        assert [query.fps for query in room.service.queries[33:]] == [8.0] * 32
        assert room.outcomes("main", "ball")["protocol"]["judge_settings"] == {"video_fps": 8.0}


def test_a_cell_that_has_outcomes_is_left_alone_unless_forced(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run()
        corrected = json.loads(room.outcome_file().read_text(encoding="utf-8"))
        corrected["rollouts"][0]["bin"] = None
        room.outcome_file().write_text(json.dumps(corrected), encoding="utf-8")
        ran = room.run()
        assert (ran.code, json.loads(room.outcome_file().read_text(encoding="utf-8"))) == (0, corrected)
        assert "have their outcomes" in ran.out
        assert room.run("--force").code == 0
        assert room.bins() == room.truth()
        assert len(room.service.queries) == 3 * N, "from the votes on the log"


def test_outcomes_of_other_clips_than_those_there_are_not_taken_for_theirs(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        for model in ("mine", "yours"):
            room.put_clips(model=model)
        room.run(model="mine yours")
        asked = len(room.service.queries)
        contents = {seed: room.clip(seed).read_bytes() for seed in range(N)}
        room.clip(4).unlink()
        assert room.run().code == 0, "clips may be gone"
        for seed in (0, 1, 3):
            room.clip(seed).write_bytes(unique_clip(contents[seed], "made anew"))
        room.clip(2, model="yours").write_bytes(contents[2])
        ran = room.run(model="mine yours")
        assert ran.code == 2 and "--force" in ran.err
        assert "dice / mine seed 0-1, 3; dice / yours seed 2;" in ran.err
        for seed, content in contents.items():
            room.clip(seed).write_bytes(content)
        assert room.run().code == 0
        assert len(room.service.queries) == asked


def test_a_judge_failure_is_never_an_outcome_and_a_later_run_asks_again(tmp_path: Path) -> None:
    broken = True

    def answer(query: Query) -> Answer:
        return Answer(candidate=False, block_reason="OTHER") if broken and query.sha256 == bad else seen(query)

    with reading_room(tmp_path, GeminiService(answer)) as room:
        room.put_clips()
        bad = room.shown(2)
        ran = room.run()
        assert ran.code == 1
        assert "missing: dice / mine seed 2: judge_blocked (no candidate: the prompt was blocked (OTHER))" in ran.out
        assert "of 21 lines on its log no votes: 9 judge_blocked" in ran.out
        assert "3 votes had 3 attempts; up to 9 queries with:\npython extract_bin.py" in ran.out
        assert ran.out.endswith(" --retry\n")
        assert not room.outcome_file().exists()
        again = room.run()
        assert (again.code, "0 replies in this run" in again.out) == (1, True), "nothing is paid for unasked"
        assert "missing: dice / mine seed 2: judge_blocked (no candidate: the prompt was blocked (OTHER))" in again.out
        assert again.out.endswith(" --retry\n") and room.asked()[bad] == 9
        assert room.run("--retry").code == 1
        assert room.asked()[bad] == 18
        broken = False
        assert room.run("--retry").code == 0
        assert room.bins() == room.truth()
        assert room.asked()[bad] == 21


def test_attempts_are_counted_over_all_runs(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        turned_down = google_error(400, "INVALID_ARGUMENT", "No.")
        for expected in (1, 2, 3, 3):
            room.service.fail("POST", GENERATE, *[turned_down] * N)
            assert room.run("--votes", "1").code == 1
            assert len(room.service.sent("POST", GENERATE)) == expected * N
        assert len(room.log()) == 3 * N


def test_rollouts_that_are_given_up_do_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    bad: set[str] = set()

    def answer(query: Query) -> Answer:
        return Answer(candidate=False, block_reason="OTHER") if query.sha256 in bad else seen(query)

    with reading_room(tmp_path, GeminiService(answer)) as room:
        room.put_clips("main", "dice")
        in_turn = find_clips(room.clip(0, "main").parent, 32).found
        bad |= {room.shown(seed, "main") for seed in list(in_turn)[:8]}
        one_by_one = ("--votes", "1", "--concurrency", "1")
        assert "stopped: 5 rollouts in a row" in room.run(*one_by_one, study="main", scene="dice").out
        second = room.run(*one_by_one, study="main", scene="dice")
        assert "24 done, 8 judge_blocked" in second.out
        assert "8 votes had 3 attempts; up to 24 queries with:" in second.out
        queries = len(room.service.queries)
        room.run(*one_by_one, study="main", scene="dice")
        assert len(room.service.queries) == queries == 24 + 24


def test_a_daily_quota_ends_the_run_with_the_command_that_continues(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.service.fail("POST", GENERATE, *[rate_limited("9s", "GenerateRequestsPerDayPerProjectPerModel")] * 15)
        ran = room.run()
        assert ran.code == 1
        assert "nothing more was asked: the daily quota is used up" in ran.out
        assert "continue with:" in ran.out
        assert room.run().code == 0


def test_a_damaged_log_is_named_with_its_line_and_a_torn_last_line_is_not_missed(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run()
        log = room.log_file()
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
        assert room.run("--force").code == 0
        assert len(room.service.queries) == 3 * N + 1, "the vote on the torn line, and no other"
        log.write_bytes(b"".join(lines[:2]) + b'{"seed": 1}\n')
        ran = room.run("--force")
        assert ran.code == 2
        assert "line 3" in ran.err


def test_a_reply_is_read_by_the_present_rules_whatever_the_line_says(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run("--votes", "1")
        log = room.log_file()
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        log.write_text("".join(json.dumps({**line, "bin": 6, "state": "vote"}) + "\n" for line in lines))
        room.run("--votes", "1", "--force")
        assert room.bins() == room.truth()


def test_an_interrupt_ends_with_130_and_the_command_that_continues(tmp_path: Path) -> None:
    arrived = threading.Event()

    def answer(query: Query) -> Answer:
        arrived.set()
        return Answer(latency_s=0.5)

    with reading_room(tmp_path, GeminiService(answer)) as room:
        room.put_clips()
        process = room.start()
        assert arrived.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "continue with:" in err.lower() and "Traceback" not in err
