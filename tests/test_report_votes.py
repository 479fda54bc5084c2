"""What the report shows of the judges' logs and of the clips on disk."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_report
from constants import N_ROLLOUTS
from files import write_json
from models import PUBLISHED
from report import inputs, page
from report.embedding import embedded
from report.thumbnails import final_frames
from report.votes import MAX_SHOWN_CHARS, clips_read, entropy_bits, fitted, judge_logs, reading
from report_data import committed, log_votes
from scenes import SCENES
from services.clips import moving_clip
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


def test_replies_say_when_the_counts_do_not_come_from_them(tmp_path: Path) -> None:
    log_votes(tmp_path, "dice", "wan", "gemini", {0: ["5", "1"]})
    path = judge_logs(tmp_path, "dice", ["wan"])["wan"]["gemini"]
    assert reading(path, "dice", "gemini", {"judge": "gemini"})["remark"] == ""
    other = reading(path, "dice", "gemini", {"judge": "another"})["remark"]
    assert other.startswith("Not the reading behind the counts: its judge, question or settings differ")
    line = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    line["asked"]["judge"] = "another"
    with path.open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    mixed = reading(path, "dice", "gemini", {"judge": "another"})["remark"]
    assert mixed == "2 of these 3 replies are not of the reading behind the counts."


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
    line = {"asked": asked, "came": "vote", "reply": "5 " + "<x>" * 400, "detail": "", "model_version": "judge-1"}
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


def test_a_frame_is_that_of_the_clip_that_was_read_only_when_a_log_says_so(tmp_path: Path) -> None:
    cell = tmp_path / "rollouts" / "main" / "dice" / "wan"
    cell.mkdir(parents=True)
    for seed in range(3):
        (cell / f"seed_{seed}.mp4").write_bytes(moving_clip())
    clips = {0: sha256_file(cell / "seed_0.mp4"), 1: "1" * 64}
    log_votes(tmp_path, *CELL, "gemini", {seed: ["5"] for seed in clips}, clips)
    path = judge_logs(tmp_path, "dice", ["wan"])["wan"]["gemini"]
    read = {CELL: clips_read(path, "dice", {"judge": "gemini"})}
    assert read[CELL] == {seed: {clip} for seed, clip in clips.items()}
    frames = final_frames(tmp_path / "rollouts", ["wan"], read)[CELL]
    assert {seed: frame["read"] for seed, frame in frames.items()} == {0: True, 1: False, 2: False}
    # Another reading than that of the outcomes knows nothing of their clips.
    assert clips_read(path, "dice", {"judge": "another"}) == {}


def test_the_clips_that_were_read_reach_the_page(tmp_path: Path) -> None:
    analysis = committed(tmp_path)
    path = analysis / "dice_wan_bins.json"
    outcomes = json.loads(path.read_text(encoding="utf-8"))
    write_json(path, outcomes | {"protocol": {"judge": "gemini"}})
    log_votes(analysis, *CELL, "gemini", {4: ["5"]}, {4: "4" * 64})
    assert make_report.clips_read(analysis, inputs.read(analysis)) == {CELL: {4: {"4" * 64}}}
