"""What the report shows of the judges' logs and of the clips on disk."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_report
from constants import N_ROLLOUTS
from models import PUBLISHED
from report import inputs, page
from report.embedding import embedded
from report.thumbnails import final_frames
from report.votes import MAX_SHOWN_CHARS, Reading, entropy_bits, fitted, judge_logs, reading
from report_data import AnyJudge, committed, log_votes, record_protocol
from scenes import SCENES
from tests.services.clips import moving_clip, unique_clip
from tests.services.reading_room import reading_room
from video_io import sha256_file

CELL = ("dice", "wan")


def test_a_log_belongs_to_the_longest_key_that_its_name_begins_with(tmp_path: Path) -> None:
    analysis = tmp_path / "analysis"
    analysis.mkdir()
    for model, judge in (("my", "gemini"), ("my.model", "gemini"), ("my.model", "qwen2.5")):
        log_votes(analysis, "dice", model, judge, {0: ["1"]})
    log_votes(analysis, "dice", "nobody", "gemini", {0: ["1"]})
    logs = judge_logs(analysis, "dice", ["my", "my.model"])
    assert {model: sorted(found) for model, found in logs.items()} == {
        "my": ["gemini"],
        "my.model": ["gemini", "qwen2.5"],
    }
    assert judge_logs(analysis, "ball", ["my", "my.model"]) == {}


def test_the_report_reads_logs_and_leaves_them_alone(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    log_votes(analysis, "dice", "wan", "gemini", {3: ["1", "null", "The die shows six."], 0: ["5", "5", "5"]})
    before = {path: path.read_bytes() for path in (analysis / "vlm_logs").rglob("*") if path.is_file()}
    (found,) = make_report.judge_replies(analysis, inputs.read(analysis))["dice", "wan"]
    assert {path: path.read_bytes() for path in (analysis / "vlm_logs").rglob("*") if path.is_file()} == before
    assert (found["judge"], found["versions"], found["voted"]) == ("gemini", ["judge-1"], 2)
    assert [rollout["seed"] for rollout in found["rollouts"]] == [0, 3]
    assert [reply["said"] for reply in found["rollouts"][0]["replies"]] == ["5", "5", "5"]
    assert found["unanimous"] == 1
    assert found["remark"].startswith("Not the reading behind the counts: the outcome file does not record")


def read_log(folder: Path, protocol: Mapping[str, Any], judge: str = "gemini") -> Reading:
    return reading(judge_logs(folder, "dice", ["wan"])["wan"][judge], "dice", judge, protocol)


def said(of_judge: Reading) -> dict[int, list[str]]:
    return {rollout["seed"]: [reply["said"] for reply in rollout["replies"]] for rollout in of_judge["rollouts"]}


def test_replies_behind_the_counts_stand_without_a_remark(tmp_path: Path) -> None:
    protocol = log_votes(tmp_path, *CELL, "gemini", {0: ["5", "1", "5"]})
    found = read_log(tmp_path, protocol)
    assert (found["remark"], said(found)) == ("", {0: ["5", "1", "5"]})


@pytest.mark.parametrize(
    "other",
    [
        {"judge": "another"},
        {"judge_model": "another"},
        {"judge_settings": {"video_fps": 8.0}},
        {"question_sha256": "1" * 64},
        {"evidence": "video"},
        {"clip_sha256": {"0": "1" * 64}},
        {"clip_sha256": {}},
        {"votes": 0},
    ],
)
def test_replies_that_the_counts_do_not_come_from_say_so(tmp_path: Path, other: dict[str, Any]) -> None:
    protocol = log_votes(tmp_path, *CELL, "gemini", {0: ["5", "1", "5"]})
    found = read_log(tmp_path, protocol | other)
    assert found["remark"].startswith(
        "Not the reading behind the counts: its judge, clips, question, settings or votes"
    )
    assert said(found) == {0: ["5", "1", "5"]}
    assert "does not record who read it" in read_log(tmp_path, {})["remark"]


def test_of_two_readings_the_one_behind_the_counts_is_shown(tmp_path: Path) -> None:
    first = log_votes(tmp_path, *CELL, "gemini", {0: ["4", "4", "4"], 1: ["1", "1", "1"]}, {1: "1" * 64})
    second = log_votes(tmp_path, *CELL, "gemini", {1: ["2", "2", "2"]}, {1: "2" * 64})
    later = first | {"clip_sha256": first["clip_sha256"] | second["clip_sha256"]}
    for protocol, outcome in ((first, "1"), (later, "2")):
        found = read_log(tmp_path, protocol)
        assert said(found) == {0: ["4"] * 3, 1: [outcome] * 3}
        assert [rollout["entropy"] for rollout in found["rollouts"]] == [0, 0]
        assert found["remark"].endswith("of other clips or otherwise asked for, are left out: 3.")
        assert "behind the counts" not in found["remark"]
    # Where neither is behind them, the latest.
    unknown = read_log(tmp_path, first | {"clip_sha256": {"0": "0" * 64}})
    assert said(unknown)[1] == ["2"] * 3
    assert unknown["remark"].startswith("Not of the reading behind the counts: the replies about 1 of 2 rollouts.")


def test_settings_tell_readings_apart(tmp_path: Path) -> None:
    slow = log_votes(tmp_path, *CELL, AnyJudge("gemini", fps=1.0), {0: ["1", "1"]})
    log_votes(tmp_path, *CELL, AnyJudge("gemini", fps=8.0), {0: ["2", "2"]})
    assert said(read_log(tmp_path, slow)) == {0: ["1", "1"]}


def test_votes_beyond_those_that_were_counted_are_left_out(tmp_path: Path) -> None:
    protocol = log_votes(tmp_path, *CELL, "gemini", {0: ["5", "5", "5", "1", "2"]}) | {"votes": 3}
    found = read_log(tmp_path, protocol)
    assert (said(found), found["mean_entropy"]) == ({0: ["5"] * 3}, 0)
    assert found["remark"].endswith("left out: 2.")


def test_of_two_votes_with_one_number_the_first_counts(tmp_path: Path) -> None:
    protocol = log_votes(tmp_path, *CELL, "gemini", {0: ["5", "5"]})
    log_votes(tmp_path, *CELL, "gemini", {0: ["1", "1"]})
    assert said(read_log(tmp_path, protocol)) == {0: ["5", "5"]}


def test_a_cell_that_was_read_again_with_other_clips_shows_the_last_reading(tmp_path: Path) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips(study="main", count=32)
        assert room.run(study="main").code == 0
        for seed in range(4):
            clip = room.clip(seed, "main")
            clip.write_bytes(unique_clip(moving_clip(100 + 4 * seed), "anew"))
        assert room.run("--force", study="main").code == 0
        outcomes = room.outcomes("main")
        path = room.log_file("main")
    found = reading(path, "dice", "gemini", outcomes["protocol"])
    assert found["remark"].endswith("left out: 12.") and "behind" not in found["remark"]
    assert (found["unanimous"], found["mean_entropy"]) == (32, 0)
    labels = [None if votes[0] == "null" else int(votes[0]) for votes in said(found).values()]
    assert labels == [rollout["bin"] for rollout in outcomes["rollouts"]]


@given(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=1, max_size=7))
def test_entropy_is_zero_for_one_voice_and_at_most_that_of_all_different(votes: list[int | None]) -> None:
    entropy = entropy_bits(votes)
    assert 0 <= entropy <= math.log2(len(votes)) + 1e-12
    assert (entropy == 0) == (len(set(votes)) == 1)
    assert entropy == pytest.approx(entropy_bits(votes[::-1]))


def test_entropy_of_two_against_one() -> None:
    assert entropy_bits([1, 1, None]) == pytest.approx(math.log2(3) - 2 / 3)


def test_thumbnails_without_a_clip_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    analysis = committed(tmp_path)
    options = ["--analysis", str(analysis), "--thumbnails", "--rollouts", str(tmp_path / "rollouts")]
    assert make_report.main(options) == 2
    assert "expected {scene}/{model}/seed_0.mp4" in capsys.readouterr().err


# --- a page that stays small --------------------------------------------------------------------------------------


def long_reading(folder: Path, *texts: str) -> dict[str, object]:
    log_votes(folder, *CELL, "gemini", {0: list(texts)})
    return reading(judge_logs(folder, "dice", ["wan"])["wan"]["gemini"], "dice", "gemini", {})


def test_a_reply_that_is_too_long_says_how_long_it_was_and_where_it_is(tmp_path: Path) -> None:
    found = {CELL: [long_reading(tmp_path, "5 " + "x" * 3000, "5")]}
    cut, most = fitted(found, 100_000)
    (of_judge,) = cut[CELL]
    long, brief = of_judge["rollouts"][0]["replies"]
    assert (most, len(long["text"]), long["whole"]) == (MAX_SHOWN_CHARS, MAX_SHOWN_CHARS, 3002)
    assert of_judge["log"] == "dice_wan.gemini.jsonl" and "whole" not in brief


@pytest.mark.parametrize("letter", ["x", "<", "é", "😀"])
def test_replies_are_cut_until_they_fit(tmp_path: Path, letter: str) -> None:
    found = {CELL: [long_reading(tmp_path, *[letter * 900] * 20)]}
    whole, most = fitted(found, 10**7)
    assert most == MAX_SHOWN_CHARS and len(embedded(list(whole.values()))) > 12_000
    cut, most = fitted(found, 12_000)
    assert 0 < most < MAX_SHOWN_CHARS and len(embedded(list(cut.values()))) <= 12_000
    assert all(len(reply["text"]) == most for reply in cut[CELL][0]["rollouts"][0]["replies"])
    # What stands beside the replies is not given up.
    assert fitted(found, 0)[1] == 0


def test_full_logs_of_all_models_leave_the_page_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    analysis = committed(tmp_path)
    asked = {"judge": "gemini", "clip_sha256": "0" * 64}
    line = {"asked": asked, "came": "vote", "reply": "5 " + "<" * 1200, "detail": "", "model_version": "judge-1"}
    lines = [json.dumps(line | {"seed": i // 3, "vote": i % 3 + 1}) + "\n" for i in range(3 * N_ROLLOUTS)]
    folder = analysis / "vlm_logs" / "main"
    folder.mkdir(parents=True)
    for scene in SCENES:
        for model in PUBLISHED:
            (folder / f"{scene}_{model}.gemini.jsonl").write_text("".join(lines), encoding="utf-8")
    assert make_report.main(["--analysis", str(analysis)]) == 0
    written = (analysis / "report.html").read_bytes()
    assert page.MOST_BYTES / 2 < len(written) < page.MOST_BYTES
    assert "judges' replies are cut at 62 characters" in capsys.readouterr().out


# --- which clip was read ------------------------------------------------------------------------------------------


def test_a_frame_is_that_of_the_clip_that_was_read_only_when_the_outcome_file_says_so(tmp_path: Path) -> None:
    cell = tmp_path / "rollouts" / "main" / "dice" / "wan"
    cell.mkdir(parents=True)
    for seed in range(3):
        (cell / f"seed_{seed}.mp4").write_bytes(moving_clip())
    read = {CELL: {"0": sha256_file(cell / "seed_0.mp4"), "1": "1" * 64}}
    frames = final_frames(tmp_path / "rollouts", ["wan"], read)[CELL]
    assert {seed: frame["read"] for seed, frame in frames.items()} == {0: True, 1: False, 2: False}


def test_the_clips_that_were_read_reach_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = committed(tmp_path)
    record_protocol(analysis, *CELL, log_votes(tmp_path, *CELL, "gemini", {4: ["5"]}, {4: "4" * 64}))
    asked_for: list[Any] = []
    monkeypatch.setattr("report.thumbnails.final_frames", lambda *arguments: asked_for.append(arguments[2]) or {})
    assert make_report.main(["--analysis", str(analysis), "--thumbnails"]) == 0
    assert asked_for[0][CELL] == {"4": "4" * 64} and asked_for[0]["dice", "veo31"] == {}
