"""Fixtures that several test files share."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from paths import ANALYSIS, ROOT

# The same examples on every machine and in every run, however slow the machine is.
settings.register_profile("project", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("project")


@pytest.fixture
def analysis(tmp_path: Path) -> Path:
    """A copy of the committed outcomes, without any result: a test may write into it and break it."""
    folder = tmp_path / "analysis"
    shutil.copytree(ANALYSIS, folder, ignore=shutil.ignore_patterns("results", "tables", "figures"))
    return folder


@pytest.fixture
def python(tmp_path: Path) -> Callable[[str], str]:
    """Run code in a fresh interpreter that finds the project, in an empty folder; returns what it printed."""

    def run(code: str) -> str:
        completed = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (completed.returncode, completed.stderr) == (0, "")
        return completed.stdout

    return run
