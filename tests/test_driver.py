"""run_pipeline.sh and its environment: the order of the stages, what is skipped and why, and how a failure ends.

Most tests run the real driver with a stand-in for Python that only notes what it is asked for.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from common import CONTROLS, STAGES, STUDIES
from outputs import stem_of
from paths import ROOT

Result = subprocess.CompletedProcess[str]
# Seconds after which a driver is given up. Its output ends when its last stage has: one that was to be ended and
# was not is found by this guard, which passing tests never meet.
PATIENCE = 120

STAND_IN = """#!/usr/bin/env bash
calls="$(dirname "$0")/calls"
echo "$*" >>"$calls"
if [ "$1" = "${ENDLESS:-}" ]; then exec sleep 1000; fi
if [ "$1" = "${FAILING:-}" ]; then
    # A stage that never ends is to run beside this one.
    until grep -q "${ENDLESS:-}" "$calls"; do sleep 0.01; done
    echo "half of its output"
    echo "what went wrong" >&2
    exit 3
fi
echo "output of $1"
"""
ONLINE = {stage.name for stage in STAGES if "key" in stage.options}
# What a run without a key and without further models comes to.
OFFLINE = [command for stage in STAGES if not {"key", "study"} & stage.options for command in stage.commands]


REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")


def after(stage: str) -> list[str]:
    """The scripts of this stage and of those after it."""
    return OFFLINE[OFFLINE.index(f"{stage}.py") :]


class Driver:
    """The driver in a folder of its own, with every stage script there, and an environment that has everything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.venv = folder / "venv"
        self.folder.mkdir()
        for name in ("run_pipeline.sh", "environment.sh", "constraints.txt", *REQUIREMENTS):
            shutil.copy(ROOT / name, self.folder)
        for stage in STAGES:
            (self.folder / f"{stage.script}.py").write_text("")
        self.make_venv()

    def make_venv(self) -> None:
        (self.venv / "bin").mkdir(parents=True)
        (self.venv / "bin" / "python").write_text(STAND_IN)
        (self.venv / "bin" / "python").chmod(0o755)
        stamp = (self.folder / "requirements.txt").read_text() + (self.folder / "constraints.txt").read_text()
        (self.venv / "requirements.txt.installed").write_text(stamp)

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        keep = {name: value for name, value in os.environ.items() if not name.endswith(("_TOKEN", "_API_KEY"))}
        return subprocess.Popen(
            [self.folder / "run_pipeline.sh", *arguments],
            cwd=self.folder.parent,
            env=keep | {"VENV": str(self.venv)} | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __call__(self, *arguments: str, **variables: str) -> Result:
        with self.start(*arguments, **variables) as process:
            output, errors = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def calls(self) -> list[str]:
        """What Python was asked for, except whether it has pip."""
        path = self.venv / "bin" / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [line for line in lines if line != "-m pip --version"]


# A second run of these says no more: they take long, and their random numbers start from fixed seeds like the others'.
SECOND_RUN = ["--skip", CONTROLS, "--skip", "verify_pendulum_v3", "--skip", "power_chi2"]


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return Driver(tmp_path)


def test_every_stage_has_its_script() -> None:
    assert [stage.script for stage in STAGES if not (ROOT / f"{stage.script}.py").is_file()] == []


def test_list_says_what_each_stage_makes_and_runs_nothing(driver: Driver) -> None:
    result = driver("--list")
    assert (result.returncode, result.stderr) == (0, "")
    assert [line.split(maxsplit=2) for line in result.stdout.splitlines()] == [
        [stage.name, f"{stage.script}.py", stage.makes] for stage in STAGES
    ]
    assert driver.calls() == []


def test_help_shows_every_option(driver: Driver) -> None:
    result = driver("--help")
    assert result.returncode == 0
    assert all(option in result.stdout for option in ("--list", "--only", "--from", "--skip", "--models"))
    assert driver.calls() == []


def test_all_stages_run_and_say_in_order_what_they_made_and_how_long_they_took(driver: Driver) -> None:
    result = driver()
    assert (result.returncode, result.stderr) == (0, "")
    assert sorted(driver.calls()) == sorted(OFFLINE)
    lines = [line for line in result.stdout.splitlines() if not line.startswith((" ", "output of"))]
    assert [line.split()[0] for line in lines[:-1]] == [stage.name for stage in STAGES]
    assert all(line.endswith(" s") for line in lines[:-1] if "skipped" not in line)
    assert lines[-1].startswith("done in ") and "open analysis/RESULTS.md, or analysis/report.html" in lines[-1]


def test_the_comparison_the_controls_and_the_pages_are_made_last_and_after_all_else(driver: Driver) -> None:
    driver()
    (controls,) = (stage.commands for stage in STAGES if stage.name == CONTROLS)
    last = ["compare_with_paper.py", *controls, "make_results.py", "make_report.py"]
    assert driver.calls()[-len(last) :] == last


def test_the_comparison_and_the_leaderboard_are_shown_the_controls_as_they_go_and_the_rest_is_not(
    driver: Driver,
) -> None:
    shown = [line for line in driver().stdout.splitlines() if "output of" in line]
    live = [f"output of {script}" for script in ("generate_rollouts.py", "extract_bin.py", "compute_controls.py")]
    assert shown == ["    output of compare_with_paper.py", *live, "    output of make_results.py"]


def test_the_output_of_a_stage_that_fails_is_shown_once(driver: Driver) -> None:
    for name in ("compute_chi2.py", "compute_controls.py"):
        result = driver(FAILING=name)
        assert result.returncode == 3
        assert (result.stdout.count("half of its output"), result.stderr.count("what went wrong")) == (1, 1)


def test_a_study_runs_only_when_it_is_named(driver: Driver) -> None:
    lines = driver().stdout.splitlines()
    assert STUDIES
    for study in STUDIES:
        assert f"{study.name:<24} skipped: a study, whose results are committed (--only {study.name})" in lines
        assert driver("--only", study.name).returncode == 0
        assert driver.calls()[-1] == f"{study.script}.py"


def test_what_only_a_study_or_the_control_makes_is_committed(committed: Path) -> None:
    stages = [*STUDIES, *(stage for stage in STAGES if stage.name == CONTROLS)]
    stems = [stem_of(f"{stage.script}.py") for stage in stages]
    made = [f"{folder}/{stem}.{kind}" for stem in stems for folder, kind in (("results", "json"), ("tables", "md"))]
    assert [name for name in made if not (committed / name).is_file()] == []


def test_stages_whose_key_is_absent_are_skipped_by_name(driver: Driver) -> None:
    lines = driver().stdout.splitlines()
    assert lines[0].split(maxsplit=1) == ["generate_rollouts", "skipped: REPLICATE_API_TOKEN is not set"]
    assert lines[1].split(maxsplit=1) == ["extract_bin", "skipped: GEMINI_API_KEY is not set"]


def test_a_key_alone_spends_nothing(driver: Driver) -> None:
    result = driver("--only", "generate_rollouts", REPLICATE_API_TOKEN="x")
    assert result.returncode == 0
    assert "skipped: every published cell has its outcomes; name further models with --models" in result.stdout
    assert driver.calls() == []


def test_further_models_are_generated_only_when_named_and_passed_to_the_stages_that_take_them(driver: Driver) -> None:
    assert driver("--models", "mine", "yours", REPLICATE_API_TOKEN="x", GEMINI_API_KEY="x").returncode == 0
    calls = driver.calls()
    assert calls[:2] == [f"{STAGES[0].commands[0]} --model mine yours", "extract_bin.py --model mine yours"]
    assert "compute_tv_band.py --models mine yours" in calls
    assert "compare_with_paper.py" in calls and "power_chi2.py" in calls


def test_only_runs_one_stage(driver: Driver) -> None:
    assert driver("--only", "chi2").returncode == 0
    assert driver.calls() == ["compute_chi2.py"]


def test_from_runs_that_stage_and_those_after_it(driver: Driver) -> None:
    assert driver("--from", "recompute_dur5s").returncode == 0
    assert sorted(driver.calls()) == sorted(after("recompute_dur5s"))


def test_skip_leaves_out_what_it_names_and_may_be_given_again(driver: Driver) -> None:
    result = driver("--skip", "chi2", "--from", "tv_band", "--skip", "verify_pendulum_v3")
    assert result.returncode == 0
    assert sorted(driver.calls()) == sorted({*after("compute_tv_band")} - {"compute_chi2.py", "verify_pendulum_v3.py"})
    said = [line.split()[0] for line in result.stdout.splitlines() if "skipped: as asked" in line]
    assert said == ["chi2", "verify_pendulum_v3"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "chi3"], "unknown stage 'chi3'; expected one of those that --list shows"),
        (["--from", "compute_chi2"], "unknown stage 'compute_chi2'; expected one of those that --list shows"),
        (["--skip", ""], "unknown stage ''; expected one of those that --list shows"),
        (["--only"], "--only without a stage; expected --list, --only STAGE"),
        (["--models"], "--models without a name; expected --list, --only STAGE"),
        (["--models", "--list"], "--models without a name; expected --list, --only STAGE"),
        (["--only", "chi2", "--from", "recompute_dur5s"], "--only together with --from; expected --list, --only STAGE"),
        (["chi2"], "unknown argument 'chi2'; expected --list, --only STAGE"),
        (["--ony", "chi2"], "unknown argument '--ony'; expected --list, --only STAGE"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line_and_exit_2(driver: Driver, arguments: list[str], message: str) -> None:
    result = driver(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"run_pipeline.sh: {message}") and result.stderr.count("\n") == 1
    assert driver.calls() == []


def test_the_first_failure_stops_the_run_and_is_named(driver: Driver) -> None:
    result = driver(FAILING="compute_chi2.py")
    assert result.returncode == 3
    # Two stages run at a time, so that the next one may have begun.
    assert len({*driver.calls()} & {*after("compute_chi2")}) <= 2
    assert "half of its output" in result.stdout and "done" not in result.stdout
    assert result.stderr == "what went wrong\nrun_pipeline.sh: stage chi2 failed (exit 3)\n"


def test_a_failure_ends_the_stage_beside_it(driver: Driver) -> None:
    result = driver(FAILING="compute_chi2.py", ENDLESS="compute_sequential.py")
    assert result.returncode == 3
    assert result.stderr == "what went wrong\nrun_pipeline.sh: stage chi2 failed (exit 3)\n"


@pytest.mark.parametrize("everybody", [True, False], ids=["Ctrl-C", "kill"])
def test_an_interrupt_ends_the_run_and_its_stages(driver: Driver, everybody: bool) -> None:
    process = driver.start("--from", "seedance_ablation", ENDLESS="recompute_dur5s.py")
    while "recompute_dur5s.py" not in driver.calls():
        assert process.poll() is None
    # The driver still has a few commands to go until it waits for its stages.
    time.sleep(0.5)
    if everybody:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    output, errors = process.communicate(timeout=PATIENCE)
    # After Ctrl-C the driver may see the end of its stage before it sees its own interrupt.
    assert (process.returncode, errors) in [
        (130, ""),
        (143, "run_pipeline.sh: stage recompute_dur5s failed (exit 143)\n"),
    ]
    assert "done" not in output


def test_a_stage_without_its_script_is_skipped_by_name(driver: Driver) -> None:
    (driver.folder / "make_scatter_grid.py").unlink()
    result = driver()
    assert result.returncode == 0
    assert "scatter_grid             skipped: there is no make_scatter_grid.py" in result.stdout.splitlines()
    assert sorted(driver.calls()) == sorted({*OFFLINE} - {"make_scatter_grid.py"})


def test_nothing_is_left_behind(driver: Driver, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    before = sorted(driver.folder.iterdir())
    driver("--only", "chi2", TMPDIR=str(tmp_path / "tmp"))
    driver("--only", "chi2", TMPDIR=str(tmp_path / "tmp"), FAILING="compute_chi2.py")
    assert sorted(driver.folder.iterdir()) == before
    assert list((tmp_path / "tmp").iterdir()) == []


def test_requirements_are_installed_once_and_again_when_they_change(driver: Driver) -> None:
    def installations() -> int:
        return sum(
            call.startswith("-m pip install ") and call.endswith(f"-r {driver.folder / 'requirements.txt'}")
            for call in driver.calls()
        )

    (driver.venv / "requirements.txt.installed").unlink()
    assert "installing requirements.txt\n" in driver("--only", "chi2").stdout
    assert installations() == 1
    assert "installing" not in driver("--only", "chi2").stdout
    assert installations() == 1
    for again, name in enumerate(("requirements.txt", "constraints.txt"), start=2):
        with (driver.folder / name).open("a") as file:
            file.write("more==1\n")
        driver("--only", "chi2")
        assert installations() == again
    assert driver.calls().count("compute_chi2.py") == 4


def test_a_failed_installation_stops_before_the_first_stage_and_is_tried_again(driver: Driver) -> None:
    (driver.venv / "requirements.txt.installed").unlink()
    (driver.venv / "bin" / "python").write_text(STAND_IN + '[ "$3" != install ] || exit 1\n')
    for tries in (1, 2):
        assert driver().returncode == 1
        assert len(driver.calls()) == tries and not any(".py" in call for call in driver.calls())


def stand_in_for_python(folder: Path, *, version: str) -> str:
    """A PATH on which every python3 claims this version; asked for an environment, it makes one of stand-ins."""
    old = int(version != "new")
    (folder / "path").mkdir()
    for name in ("python3", *(f"python3.{minor}" for minor in range(11, 20))):
        path = folder / "path" / name
        path.write_text(
            "#!/usr/bin/env bash\n"
            f'[ "$1" != -c ] || exit {old}\n'
            '[ "$1" != --version ] || { echo Python; exit; }\n'
            f'mkdir -p "$4/bin" && cp "{folder}/stand_in" "$4/bin/python"\n'
        )
        path.chmod(0o755)
    (folder / "stand_in").write_text(STAND_IN)
    (folder / "stand_in").chmod(0o755)
    return f"{folder / 'path'}:{os.environ['PATH']}"


def test_a_fresh_machine_gets_its_environment_and_keeps_it(driver: Driver, tmp_path: Path) -> None:
    shutil.rmtree(driver.venv)
    path = stand_in_for_python(tmp_path, version="new")
    first = driver("--only", "chi2", PATH=path)
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.splitlines()[:2] == ["making a virtual environment with Python", "installing requirements.txt"]
    second = driver("--only", "chi2", PATH=path)
    assert "environment" not in second.stdout and "installing" not in second.stdout
    assert driver.calls()[1:] == ["compute_chi2.py", "compute_chi2.py"]


def test_without_a_recent_python_the_driver_says_what_it_needs(driver: Driver, tmp_path: Path) -> None:
    shutil.rmtree(driver.venv)
    result = driver(PATH=stand_in_for_python(tmp_path, version="old"))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "run_pipeline.sh: no Python 3.11 or newer found; expected python3 on the PATH\n"


def test_a_fresh_clone_recomputes_everything_without_a_key(first_run: Result) -> None:
    assert (first_run.returncode, first_run.stderr.count("Traceback")) == (0, 0), first_run.stderr
    lines = [line for line in first_run.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines[:-1]] == [stage.name for stage in STAGES]
    assert {line.split()[0] for line in lines[:-1] if "skipped" in line} == {
        *ONLINE,
        *(study.name for study in STUDIES),
        CONTROLS,
    }
    assert lines[-1].startswith("done in ")
    assert " published figures match" in first_run.stdout and ", 0 missed" in first_run.stdout


def test_a_second_run_leaves_git_status_clean(
    first_run: Result, clone: Path, pipeline: Callable[..., Result], git: Callable[..., Result]
) -> None:
    assert first_run.returncode == 0
    # What another machine rounds differently is committed first: this is about two runs on one machine.
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "As recomputed here")
    assert pipeline(*SECOND_RUN).returncode == 0
    assert git(clone, "status", "--porcelain").stdout == ""
