"""Another judge than the paper's: reading on its own, and compared with the first one over the same rollouts."""

import json
from pathlib import Path

from studies import STUDIES
from tests.services.clips import moving_clip
from tests.services.openai_server import MODEL, Answer, OpenAIService, Query, seen
from tests.services.reading_room import STUDY, ReadingRoom, reading_room
from tests.services.studio import Ran

N = STUDIES[STUDY].n


def _rejudge(room: ReadingRoom, service: OpenAIService, *arguments: str) -> Ran:
    openai = ["--judge", "openai", "--base-url", f"{service.url}/v1", "--judge-model", MODEL]
    return room.run(*openai, "--rejudge", *arguments)


def test_rejudging_compares_two_judges_and_leaves_the_outcomes_alone(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room, OpenAIService() as service:
        room.put_clips()
        room.run()
        before = room.outcome_file().read_bytes()
        ran = _rejudge(room, service)
        assert ran.code == 0
        assert room.outcome_file().read_bytes() == before
        assert len(room.log(judge="openai-test-model")) == 3 * N
        results = json.loads((room.analysis / "results" / "extract_bin.json").read_text(encoding="utf-8"))
        assert results["judges"] == ["openai-test-model", "gemini"]
        assert results["rows"]["dice"]["agree"] == results["rows"]["total"]["agree"] == N
        assert results["rows"]["dice"]["kappa"] == 1.0
        assert results["rows"]["dice"]["kappa_interval"]["low"] < 1.0
        assert (room.analysis / "tables" / "extract_bin.md").exists()
        assert "| Dice" in ran.out


def test_rejudging_counts_disagreements_over_the_same_clips_alone(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        room.run()
        room.clip(4).write_bytes(moving_clip(200))
        other = room.shown(0)

        def answer(query: Query) -> Answer:
            right = seen(query)
            wrong = Answer("null" if right.content != "null" else "1")
            return wrong if query.pictures == (other,) else right

        with OpenAIService(answer) as service:
            ran = _rejudge(room, service)
        assert ran.code == 0
        results = json.loads((room.analysis / "results" / "extract_bin.json").read_text(encoding="utf-8"))
        assert (results["rows"]["dice"]["n"], results["rows"]["dice"]["agree"]) == (4, 3)


def test_rejudging_leaves_out_what_lacks_votes_of_either_judge(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room, OpenAIService() as service:
        room.put_clips()
        room.run()
        # Of the last rollout the first vote of three.
        kept = [line for line in room.log() if (line["seed"], line["vote"]) not in {(N - 1, 1), (N - 1, 2)}]
        room.log_file().write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in kept))
        ran = _rejudge(room, service)
        assert ran.code == 0
        assert "1 rollouts are left out: without 3 votes of both judges" in ran.out
        results = json.loads((room.analysis / "results" / "extract_bin.json").read_text(encoding="utf-8"))
        assert (results["rows"]["dice"]["n"], results["left_out"]) == (N - 1, 1)
        assert "left out" not in _rejudge(room, service, "--votes", "1").out


def test_rejudging_without_votes_of_the_other_judge_says_so(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room, OpenAIService() as service:
        room.put_clips()
        ran = _rejudge(room, service)
        assert ran.code == 2
        assert "--against gemini: no votes of it about these clips" in ran.err


def test_a_local_judge_can_read_a_study_on_its_own(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room, OpenAIService() as service:
        room.put_clips()
        openai = ["--judge", "openai", "--base-url", f"{service.url}/v1", "--judge-model", MODEL]
        assert room.run(*openai).code == 0
        assert room.bins() == room.truth()
        assert room.outcomes()["protocol"]["judge"] == "openai-test-model"
