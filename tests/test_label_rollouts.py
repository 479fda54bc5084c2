"""Labelling by hand: the command, and the files that come of it."""

import hashlib
import json
import re
import shlex
import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import label_rollouts
import records
import validate_extraction
from common import snapshot, write_model
from label_client import CLIP, ask, put_clips
from labelling.server import LabellingServer
from ledger import FolderLock
from records import HumanLabel

N = 32


@pytest.fixture
def rollouts(tmp_path: Path) -> Path:
    for scene in ("ball", "dice"):
        for model in ("wan", "mine"):
            put_clips(tmp_path / "rollouts", scene, model, range(3))
    return tmp_path / "rollouts"


def call(analysis: Path, rollouts: Path, *options: str) -> int:
    argv = [
        "--analysis",
        str(analysis),
        "--rollouts",
        str(rollouts),
        "--scene",
        "ball",
        "dice",
        "--model",
        "wan",
        "mine",
    ]
    return label_rollouts.main([*argv, "--per-scene", "4", *options])


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> list[LabellingServer]:
    """In place of a browser: gives every clip the same answers, over HTTP. Holds the servers that it met."""
    met: list[LabellingServer] = []

    def label_all(self: LabellingServer) -> None:
        met.append(self)
        thread = threading.Thread(target=lambda: serve(self, poll_interval=0.02), daemon=True)
        thread.start()
        while (view := ask(self, "state").json())["clip"]:
            ask(self, "label", {"clip": view["place"], "label": view["clip"]["outcomes"][0]})
        assert ask(self, "finish", {}).status == 200
        thread.join()

    serve = LabellingServer.serve_forever
    monkeypatch.setattr(LabellingServer, "serve_forever", label_all)
    return met


def test_a_labelling_writes_what_validate_extraction_reads(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    write_model(analysis, "mine", {"ball": [1] * N, "dice": [2] * N})
    assert call(analysis, rollouts, "--labeller", "anna") == 0
    printed = capsys.readouterr().out
    output = analysis / "labels" / "main_anna.json"
    labels = records.read_human_labels(output)
    assert Counter((label.scene, label.model) for label in labels) == {
        ("ball", "mine"): 2,
        ("ball", "wan"): 2,
        ("dice", "mine"): 2,
        ("dice", "wan"): 2,
    }
    assert {label.bin for label in labels} == {1}
    assert (
        f"8 labels written to {output}" in printed and "Two readers of the same rollouts, anna and the judge" in printed
    )
    assert set(json.loads(output.read_text())) == {"labels"}
    assert validate_extraction.main(["--analysis", str(analysis), "--labels", str(output)]) == 0
    rows = json.loads((analysis / "results" / "validate_extraction_main_anna.json").read_text())["scenes"]
    assert rows["total"]["n"] == 8


def test_outcomes_of_other_clips_than_those_labelled_are_not_compared(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    write_model(analysis, "mine", {"ball": [1] * N, "dice": [2] * N})
    for scene, same in (("ball", True), ("dice", False)):
        path = analysis / f"{scene}_mine_bins.json"
        clips = {seed: rollouts / "main" / scene / "mine" / f"seed_{seed}.mp4" for seed in range(3)}
        read = {
            str(seed): hashlib.sha256(clip.read_bytes()).hexdigest() if same else "0" for seed, clip in clips.items()
        }
        path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": {"clip_sha256": read}}))
    assert call(analysis, rollouts, "--labeller", "anna") == 0
    printed = capsys.readouterr().out
    assert "the judge has read 6 of these rollouts" in printed
    assert "not compared, the judge read other clips: dice/mine seed " in printed and ": ball/mine" not in printed


def test_two_people_get_the_same_sample_and_are_compared(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("anna", "ben"):
        assert call(analysis, rollouts, "--labeller", name) == 0
    first, second = (server.session.state.clips for server in person)
    assert first == second
    anna, ben = (analysis / "labels" / f"main_{name}.json" for name in ("anna", "ben"))
    assert anna.read_bytes() == ben.read_bytes()
    data = json.loads(ben.read_text())
    data["labels"][0]["label"] = None
    ben.write_text(json.dumps(data))
    assert label_rollouts.main(["--analysis", str(analysis), "--compare", str(anna), str(ben)]) == 0
    rows = json.loads((analysis / "results" / "label_rollouts_main_anna_main_ben.json").read_text())["rows"]
    assert (rows["ball"]["n"], rows["ball"]["agree"], rows["total"]["agree"]) == (4, 3, 7)
    assert rows["ball"]["rate_interval"]["low"] < 0.75 < rows["ball"]["rate_interval"]["high"]
    # Ball: anna gives one outcome only, so that agreement is chance. In all, anna four of each of two outcomes and ben
    # three, four and a null: chance is (4 * 3 + 4 * 4) / 64, kappa (7 / 8 - 28 / 64) / (1 - 28 / 64).
    assert (rows["ball"]["kappa"], rows["dice"]["kappa"]) == (0.0, None)
    assert rows["total"]["kappa"] == pytest.approx(7 / 9)
    assert rows["total"]["kappa_interval"]["low"] < 7 / 9 < rows["total"]["kappa_interval"]["high"]
    table = (analysis / "tables" / "label_rollouts_main_anna_main_ben.md").read_text()
    assert "main_anna and main_ben" in table and "| Total | 8 | 7/8 |" in table and "| 0.78 |" in table
    # Another pair is another result.
    before = snapshot(analysis / "results")
    carl = ben.with_name("main_carl.json")
    carl.write_bytes(anna.read_bytes())
    assert label_rollouts.main(["--analysis", str(analysis), "--compare", str(anna), str(carl)]) == 0
    after = snapshot(analysis / "results")
    assert before.items() < after.items() and "label_rollouts_main_anna_main_carl.json" in after


def test_labels_are_not_replaced_without_force(
    analysis: Path, rollouts: Path, person: list[LabellingServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "mine.json"
    output.write_text("something else")
    assert call(analysis, rollouts, "--output", str(output)) == 2
    assert f"{output}: exists already; expected no file, or --force" in capsys.readouterr().err
    # Said before the first clip is shown, not after the last one.
    assert person == [] and output.read_text() == "something else"
    assert call(analysis, rollouts, "--output", str(output), "--force") == 0
    assert len(records.read_human_labels(output)) == 8


def test_a_finished_session_says_again_what_came_of_it(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    output = analysis / "labels" / "main_labeller.json"
    assert call(analysis, rollouts) == 0
    written, printed = output.read_bytes(), capsys.readouterr().out
    output.unlink()
    assert call(analysis, rollouts) == 0
    assert capsys.readouterr().out in printed
    assert (output.read_bytes(), len(person)) == (written, 1)


def test_force_does_not_pretend_to_label_anew(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    output = analysis / "labels" / "main_labeller.json"
    assert call(analysis, rollouts) == 0
    written = output.read_bytes()
    capsys.readouterr()
    error = error_of(call(analysis, rollouts, "--force"), capsys)
    assert f"{output.with_name('main_labeller.session')}: its labels are final" in error
    # What was lost between the end and the file is still written over other labels.
    output.write_text("something else")
    assert call(analysis, rollouts, "--force") == 0
    assert (output.read_bytes(), len(person)) == (written, 1)


def test_stopping_keeps_the_labels_and_prints_how_to_go_on(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(self: LabellingServer) -> None:
        self.session.label(len(self.session.state.answers), None)
        raise KeyboardInterrupt

    monkeypatch.setattr(LabellingServer, "serve_forever", stop)
    for done in (1, 2):
        assert call(analysis, rollouts) == 130
        captured = capsys.readouterr()
        assert f"{done - 1} of 8 clips done" in captured.out
        assert f"{done} of 8 clips done, all on disk" in captured.err
        assert "python label_rollouts.py --analysis" in captured.err
    assert not (analysis / "labels" / "main_labeller.json").exists()


def stopped(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A session that has begun."""

    def stop(self: LabellingServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LabellingServer, "serve_forever", stop)
    assert call(analysis, rollouts) == 130
    capsys.readouterr()


def error_of(code: int, capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1) and error.startswith("label_rollouts.py: ")
    return error


def test_other_options_than_the_session_began_with_are_an_error(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(analysis, rollouts, monkeypatch, capsys)
    error = error_of(call(analysis, rollouts, "--per-scene", "5"), capsys)
    assert "began with per_scene 4, found 5; expected the same again" in error


def test_a_clip_that_changed_since_the_session_began_is_an_error(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(analysis, rollouts, monkeypatch, capsys)
    for path in rollouts.glob("main/*/*/*.mp4"):
        path.write_bytes(CLIP + b"\0\0\0\x08free")
    assert "is another file than when" in error_of(call(analysis, rollouts), capsys)


def test_a_clip_that_is_gone_is_left_to_the_page(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(analysis, rollouts, monkeypatch, capsys)
    for path in rollouts.glob("main/ball/*/*.mp4"):
        path.unlink()
    assert call(analysis, rollouts) == 130
    assert "0 of 8 clips done" in capsys.readouterr().out


def test_the_end_says_how_to_get_rates_only_when_there_are_any(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    for path in analysis.glob("*_wan_bins.json"):
        path.unlink()
    assert call(analysis, rollouts) == 0
    printed = capsys.readouterr().out
    assert "the judge has read 0 of these rollouts" in printed and "validate_extraction.py" not in printed
    output = analysis / "labels" / "main_labeller.json"
    code = validate_extraction.main(["--analysis", str(analysis), "--labels", str(output)])
    error = capsys.readouterr().err
    assert code == 2 and "no outcomes of ball/mine, ball/wan, dice/mine, dice/wan; expected a judge to have" in error


def test_a_cell_that_no_judge_has_read_keeps_nobody_from_the_rates_of_the_others(
    analysis: Path, rollouts: Path, person: list[LabellingServer], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(analysis, rollouts) == 0
    (command,) = re.findall(
        r"The judge's error rates on these labels: python validate_extraction.py (.*)", capsys.readouterr().out
    )
    # The command as it is printed, with the folder that was given.
    assert validate_extraction.main(shlex.split(command)) == 0
    assert (
        "left out, as no judge has read them yet (extract_bin.py does): ball/mine, dice/mine" in capsys.readouterr().out
    )
    rows = json.loads((analysis / "results" / "validate_extraction_main_labeller.json").read_text())["scenes"]
    assert (rows["total"]["n"], rows["ball"]["n"]) == (4, 2)


def test_labels_of_skipped_clips_alone_name_the_way_on(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def skip_all(self: LabellingServer) -> None:
        for place in range(len(self.session.state.clips)):
            self.session.skip(place, "gone")
        self.session.finish()

    monkeypatch.setattr(LabellingServer, "serve_forever", skip_all)
    assert call(analysis, rollouts) == 2
    way_on = f"put the clips back, move {analysis / 'labels' / 'main_labeller.session'} away, and begin again"
    assert way_on in capsys.readouterr().err


def test_a_session_in_use_is_refused(analysis: Path, rollouts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FolderLock(analysis / "labels" / "main_labeller.session"):
        assert "in use by process" in error_of(call(analysis, rollouts), capsys)


def test_missing_rollouts_are_named_in_one_line(
    analysis: Path, rollouts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(LabellingServer, "serve_forever", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    shutil.rmtree(rollouts / "main" / "dice" / "wan")
    (rollouts / "main" / "ball" / "wan" / "seed_0.mp4").write_bytes(b"no video")
    assert call(analysis, rollouts, "--model", "wan", "mine", "veo31", "--per-scene", "8") == 130
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "not on disk: veo31 (all scenes); seed 3-31 of ball/wan, ball/mine, dice/mine; seed 0-31 of dice/wan"
    )
    assert "seed_0.mp4" in lines[1] and lines[1].startswith("not shown: ")
    assert lines[2] == "broken and not shown: 1; others are drawn in their place as far as there are any"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scene", "cards"], "no videos of cards; expected <scene>/<model>/seed_<i>.mp4"),
        (["--scene", "coin"], "--scene coin: not a scene of main; expected all or galton_board_real"),
        (["--study", "other"], "--study other: unknown study; expected one of main"),
        (["--model", "<script>"], "model '<script>': not a usable key; expected letters"),
        (["--labeller", "../anna"], "--labeller '../anna': not a usable key; expected letters"),
        (["--output", ""], "--output .: a folder; expected the name of a file"),
        (["--output", "/"], "--output /: a folder; expected the name of a file"),
        (["--per-scene", "0"], "'0'; expected an integer of at least 1"),
    ],
)
def test_bad_input_is_one_line(
    analysis: Path, rollouts: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error_of(call(analysis, rollouts, *options), capsys)
    assert not list(analysis.glob("labels/*.json"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "a.json: no such file; expected hand labels"),
        (["--labeller", "anna"], "--labeller does not go with --compare"),
        (["--per-scene", "3"], "--per-scene does not go with --compare"),
        (["--force"], "--force does not go with --compare"),
    ],
)
def test_a_comparison_takes_two_files_and_no_other_option(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error_of(label_rollouts.main(["--compare", "a.json", "b.json", *options]), capsys)


def test_labels_without_a_common_rollout_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (0, 1):
        records.write_human_labels(tmp_path / f"{seed}.json", [HumanLabel("dice", "wan", seed, 1)])
    code = label_rollouts.main(["--compare", str(tmp_path / "0.json"), str(tmp_path / "1.json")])
    assert "no rollout that" in error_of(code, capsys)


LABELS = st.builds(
    HumanLabel, st.just("dice"), st.sampled_from(["wan", "mine"]), st.integers(0, 31), st.none() | st.integers(1, 6)
)


@given(labels=st.lists(LABELS, min_size=1, unique_by=lambda label: (label.model, label.seed)))
def test_written_labels_are_read_back_in_one_order(
    tmp_path_factory: pytest.TempPathFactory, labels: list[HumanLabel]
) -> None:
    folder = tmp_path_factory.mktemp("labels")
    records.write_human_labels(folder / "a.json", labels)
    records.write_human_labels(folder / "b.json", labels[::-1])
    assert set(records.read_human_labels(folder / "a.json")) == set(labels)
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


def test_labels_of_an_ablation_are_joined_to_its_own_outcomes(analysis: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    cell = records.read_study(analysis, "dur5s", ["dice"], ["wan"])["dice", "wan"]
    labels = [HumanLabel("dice", "wan", seed, outcome, "dur5s") for seed, outcome in enumerate(cell.bins)]
    records.write_human_labels(path, labels)
    assert json.loads(path.read_text())["study"] == "dur5s"
    assert validate_extraction.main(["--analysis", str(analysis), "--labels", str(path)]) == 0
    row = json.loads((analysis / "results" / "validate_extraction_labels.json").read_text())["scenes"]["dice"]
    assert (row["n"], row["agree"]) == (N, N)
