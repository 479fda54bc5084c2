"""Fixtures that several test files share."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from common import COMMITTED, CONTROLS
from paths import ROOT

# The same examples on every machine and in every run, however slow the machine is.
settings.register_profile("project", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("project")

# Fixtures that take long and serve many tests. Those tests come first and in a row, so that of several processes one
# makes the fixture, while the others do the rest.
SHARED = ["first_run", "further_results", "evaluated"]

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def turn(item: pytest.Item) -> int:
        used = getattr(item, "fixturenames", [])
        return next((i for i, name in enumerate(SHARED) if name in used), len(SHARED))

    items.sort(key=turn)


@pytest.fixture
def analysis(committed: Path, tmp_path: Path) -> Path:
    """A copy of the committed outcomes, without any result: a test may write into it and break it."""
    made = shutil.ignore_patterns("results", "tables", "figures", "RESULTS.md", "*.html")
    return shutil.copytree(committed, tmp_path / "analysis", ignore=made)


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], str]:
    """Run code in a fresh interpreter that finds the project, in an empty folder; returns what it printed."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def run(code: str) -> str:
        completed = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert (completed.returncode, completed.stderr, list(folder.iterdir())) == (0, "", [])
        return completed.stdout

    return run


@pytest.fixture(scope="session")
def git() -> Run:
    """Run git in a folder, whoever owns it and whatever repository the tests themselves were started from."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    options = ["-c", "safe.directory=*", "-c", "user.name=test", "-c", "user.email=test@localhost"]

    def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = ["git", *options, *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)

    return run


@pytest.fixture(scope="session")
def committed(git: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """analysis/ as git has it, staged changes among it: without the outcomes of a further model, and without what a run
    with one has written over the results since."""
    folder = tmp_path_factory.mktemp("committed")
    names = git(ROOT, "ls-files", "-z", "analysis").stdout.split("\0")
    git(ROOT, "checkout-index", f"--prefix={folder}/", "--", *filter(None, names))
    return folder / "analysis"


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory, git: Run) -> Path:
    """A fresh clone of the project as it stands: what git tracks, and nothing else that lies in its folder."""
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    for name in git(ROOT, "ls-files", "-z").stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "As published")
    return folder


@pytest.fixture(scope="session")
def keyless(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables of a driver without keys, whose interpreter has all that the project requires already."""
    venv = tmp_path_factory.mktemp("venv")
    interpreter = venv / "bin" / "python"
    interpreter.parent.mkdir()
    interpreter.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    interpreter.chmod(0o755)
    stamp = (clone / "requirements.txt").read_text() + (clone / "constraints.txt").read_text()
    (venv / "requirements.txt.installed").write_text(stamp)
    keys = ("REPLICATE_API_TOKEN", "GEMINI_API_KEY")
    return {name: value for name, value in os.environ.items() if name not in keys} | {"VENV": str(venv)}


@pytest.fixture(scope="session")
def pipeline(clone: Path, keyless: dict[str, str]) -> Run:
    """Run the driver of the fresh clone, without keys."""

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [clone / "run_pipeline.sh", *arguments], cwd=keyless["VENV"], env=keyless, capture_output=True, text=True
        )

    return run


@pytest.fixture(scope="session")
def first_run(clone: Path, pipeline: Run) -> "subprocess.CompletedProcess[str]":
    """The whole keyless pipeline but for the controls, run once in the fresh clone, from the outcomes alone: what
    earlier runs wrote and was committed is removed first, except what only the controls or a study make."""
    for name in ("results", "tables", "figures"):
        for path in (clone / "analysis" / name).iterdir():
            if not path.name.startswith(COMMITTED):
                path.unlink()
    for name in ("RESULTS.md", "report.html"):
        (clone / "analysis" / name).unlink(missing_ok=True)
    return pipeline("--skip", CONTROLS)
