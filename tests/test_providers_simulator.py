"""The simulator as a provider: same folders, ledger and resume; its truth lies beside; no process is left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import extract_bin
import generate_rollouts
from common import STAGES
from files import read_json
from judges.votelog import VoteLog, log_path
from paths import ROOT, truth_path
from protocol import generation
from providers.history import History
from providers.simulator import simulated_model
from simulator import Truth, simulate
from simulator.laws import LAWS
from studies import STUDIES
from video_io import last_frame


def _arguments(tmp_path: Path, *arguments: str) -> list[str]:
    # No frame is there, and none is needed: the simulator draws its first frame itself.
    where = ["--frames", str(tmp_path / "frames"), "--rollouts", str(tmp_path / "rollouts")]
    return ["--provider", "simulator", "--scene", "ball", *where, *arguments]


def test_simulated_rollouts_lie_where_any_others_do_with_their_truth_beside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = _arguments(tmp_path, "--model", "sim_half", "--count", "2", "--artefact-rate", "0.5")
    assert generate_rollouts.main(arguments) == 0
    folder = tmp_path / "rollouts" / "main" / "ball" / "sim_half"
    assert sorted(path.name for path in folder.iterdir()) == [
        f"seed_{seed}.{ending}" for seed in range(2) for ending in ("mp4", "truth.json")
    ]
    for seed in range(2):
        truth = Truth.from_dict(read_json(folder / f"seed_{seed}.truth.json", "a truth"))
        assert truth == simulate("ball", "sim_half", seed, artefact_rate=0.5)[0]
    assert History(tmp_path / "rollouts" / "main").rollout(("ball", "sim_half", 1)).attempts[-1].sha256
    capsys.readouterr()
    assert generate_rollouts.main(arguments) == 0
    assert "2 done; 0 created" in capsys.readouterr().out


def test_only_laws_are_simulated_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_rollouts.main(_arguments(tmp_path, "--model", "wan")) == 2
    assert "--model wan: not a simulated model; expected one of sim_calibrated" in capsys.readouterr().err
    assert generate_rollouts.main(_arguments(tmp_path, "--artefact-rate", "2")) == 2
    assert "expected a probability between 0 and 1" in capsys.readouterr().err
    assert generate_rollouts.main(_arguments(tmp_path, "--dry-run", "--count", "3")) == 0
    bill = capsys.readouterr().out
    assert all(f"| {law} | 0 | 0 | 0 | 3 | ? | 0 |" in bill for law in LAWS)
    assert "| total | 0 | 0 | 0 | 12 | ? | 0 |" in bill and "conditioning frames" not in bill
    assert "do not say how long" in bill and "usd_per_second" not in bill


def test_a_conditioning_frame_is_no_part_of_how_a_simulated_rollout_was_made(tmp_path: Path) -> None:
    model = simulated_model("sim_half")
    before = generation(STUDIES["controls"], "ball", model, tmp_path)
    for ending in ("png", "jpg"):
        (tmp_path / f"ball.{ending}").write_bytes(b"a published frame")
    assert generation(STUDIES["controls"], "ball", model, tmp_path).digest == before.digest
    assert before.record["frame_sha256"] is None
    with pytest.raises(ValueError, match="given no conditioning frame"):
        _ = before.frame


def test_a_law_and_a_size_of_ones_own_are_made_read_and_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell, analysis = tmp_path / "rollouts" / "controls" / "ball" / "loaded", tmp_path / "analysis"
    arguments = _arguments(tmp_path, "--study", "controls", "--count", "2", "--size", "1280x720")
    assert generate_rollouts.main([*arguments, "--law", "loaded=0.25,0.75"]) == 0
    for seed in range(2):
        truth = Truth.from_dict(read_json(truth_path(cell / f"seed_{seed}.mp4"), "a truth"))
        assert truth == simulate("ball", "1/4,3/4", seed)[0]
        assert last_frame(cell / f"seed_{seed}.mp4").frame.shape == (720, 1280, 3)
    capsys.readouterr()
    assert generate_rollouts.main([*arguments, "--law", "loaded=1/4,3/4"]) == 0, "the same law, written otherwise"
    assert "2 done; 0 created" in capsys.readouterr().out
    for other in ("loaded=0.75,0.25", "loaded=0.25,0.75 --size 848x480"):
        assert generate_rollouts.main([*arguments, "--law", *other.split()]) == 2
        assert "was made under protocol" in capsys.readouterr().err
    read = ["--study", "controls", "--scene", "ball", "--model", "loaded", "--judge", "pixels", "--votes", "1"]
    assert extract_bin.main([*read, "--rollouts", str(tmp_path / "rollouts"), "--analysis", str(analysis)]) == 1
    votes = VoteLog(log_path(analysis, "controls", "ball", "loaded", "pixels"), "ball").replies
    assert {vote.seed: vote.outcome for vote in votes} == {i: simulate("ball", "1/4,3/4", i)[0].outcome for i in (0, 1)}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--law mine", "'mine'; expected a name, '=' and probabilities"),
        ("--law mine=sim_half", "'mine=sim_half'; expected a name, '=' and probabilities"),
        ("--law a/b=1/2,1/2", "not a usable key"),
        ("--law mine=1/2", "1 numbers with sum 1/2; expected one of sim_calibrated"),
        ("--law mine=1/2,1/2 --scene ball cards", "2 numbers with sum 1; expected one of"),
        ("--law wan=1/2,1/2", "--law wan: a model of this name exists"),
        ("--law sim_half=1/2,1/2", "--law sim_half: a model of this name exists"),
        ("--law mine=1/2,1/2 --model sim_half", "--law: together with --model"),
        ("--law mine=1/2,1/2 --study artefacts", "--law: --study artefacts says how its models are made"),
        ("--artefact-rate 0 --study artefacts", "--artefact-rate: --study artefacts says how its models are made"),
        ("--size 1280", "'1280'; expected width and height in pixels"),
        ("--size 721x405", "size 721x405: cannot be drawn"),
        ("--provider replicate --law mine=1/2,1/2", "--law: is of the simulator"),
        ("--provider replicate --size 1280x720", "--size: is of the simulator"),
        ("--provider replicate --artefact-rate 0", "--artefact-rate: is of the simulator"),
        ("--provider replicate --study artefacts", "--study artefacts: its models are simulated; expected --provider"),
    ],
)
def test_options_that_contradict_each_other_are_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, says: str
) -> None:
    assert generate_rollouts.main(_arguments(tmp_path, *arguments.split())) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1 and list(tmp_path.iterdir()) == []


def test_another_size_is_asked_for_of_a_study_that_fixes_the_artefacts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate_rollouts.main(_arguments(tmp_path, "--study", "artefacts", "--size", "1280x720", "--dry-run")) == 0
    assert "| sim_calibrated | 0 | 0 | 0 | 32 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", [command for stage in STAGES for command in stage.commands if "--provider simulator" in command]
)
def test_the_driver_asks_the_simulator_for_what_it_makes(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command.split()
    assert generate_rollouts.main([*words[1:], "--dry-run", "--rollouts", str(tmp_path)]) == 0
    assert re.search(r"^\| sim_calibrated \| 0 \| 0 \| 0 \| 288 \|", capsys.readouterr().out, re.MULTILINE)
    assert words[0] == "generate_rollouts.py"


def test_all_models_of_a_simulated_study_are_its_laws_and_of_a_published_one_every_law(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for study, laws in {"artefacts": ["sim_calibrated"], "controls": list(LAWS), "main": list(LAWS)}.items():
        assert generate_rollouts.main(_arguments(tmp_path, "--study", study, "--dry-run")) == 0
        assert re.findall(r"^\| (sim_\w+) \|", capsys.readouterr().out, re.MULTILINE) == laws


def test_a_killed_run_leaves_no_worker_and_is_resumed(tmp_path: Path) -> None:
    arguments = _arguments(tmp_path, "--model", "sim_flat", "--count", "3")
    command = [sys.executable, str(ROOT / "generate_rollouts.py"), *arguments]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True) as run:
        while not list((tmp_path / "rollouts").rglob("*.mp4")):
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
    patience = time.monotonic() + 20
    while _group_lives(run.pid):
        assert time.monotonic() < patience, "a worker outlived the run"
        time.sleep(0.02)
    assert generate_rollouts.main(arguments) == 0
    left = sorted(path.name for path in (tmp_path / "rollouts" / "main" / "ball" / "sim_flat").iterdir())
    assert left == [f"seed_{seed}.{ending}" for seed in range(3) for ending in ("mp4", "truth.json")]


def _group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True
