"""What several test files share."""

import shutil
from pathlib import Path

import pytest

from paths import ANALYSIS


@pytest.fixture
def analysis(tmp_path: Path) -> Path:
    """A copy of the committed outcomes, without any result: a test may write into it and break it."""
    folder = tmp_path / "analysis"
    shutil.copytree(ANALYSIS, folder, ignore=shutil.ignore_patterns("results", "tables", "figures"))
    return folder
