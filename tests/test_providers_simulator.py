"""The simulator as a provider: same folders, ledger and resume; its truth lies beside; no process is left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

import generate_rollouts
from common import STAGES
from files import read_json
from paths import ROOT
from providers.history import History
from scenes import SCENES
from simulator import Truth, simulate
from simulator.laws import LAWS


def _arguments(tmp_path: Path, *arguments: str) -> list[str]:
    frames = tmp_path / "frames"
    frames.mkdir(exist_ok=True)
    for scene in SCENES.values():
        Image.new("RGB", (16, 16)).save(frames / f"{scene.frame_stem}.png")
    where = ["--frames", str(frames), "--rollouts", str(tmp_path / "rollouts")]
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
    assert all(f"| {law} | 0 | 0 | 0 | 3 |" in capsys.readouterr().out for law in list(LAWS)[:1])


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
