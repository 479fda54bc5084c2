"""One browser a process, and the pages that its tests open."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

import make_report
from browser.driving import Page, open_browser
from report_data import add_model, committed, log_votes

# What other people wrote, and must never run: a model's key, a judge's name, its replies.
EVIL_MODEL = "<img src=x onerror=window.pwned=1>"
EVIL_JUDGE = '"><script>window.pwned=2<!script>'
EVIL_REPLIES = [
    "</script><script>window.pwned=3</script>",
    "<svg onload=window.pwned=4> `${window.pwned=5}` {{ 7 * 7 }} &lt;b&gt; javascript:window.pwned=6",
    "<!--<script> \u2028 ]]> \\u003cimg src=x onerror=window.pwned=7\\u003e",
]


@pytest.fixture(scope="session")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("browser") / "downloads"


@pytest.fixture(scope="session")
def window(downloads: Path) -> Iterator[Page]:
    with open_browser(downloads.parent) as page:
        yield page


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the committed results."""
    analysis = committed(tmp_path_factory.mktemp("published"))
    assert make_report.main(["--analysis", str(analysis)]) == 0
    return analysis / "report.html"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a further model and judges' replies, all of which hold markup."""
    analysis = committed(tmp_path_factory.mktemp("hostile"))
    add_model(analysis, EVIL_MODEL)
    for model in ("wan", EVIL_MODEL):
        log_votes(analysis, "dice", model, EVIL_JUDGE, {0: ["1", "1", "null"], 1: EVIL_REPLIES})
    assert make_report.main(["--analysis", str(analysis)]) == 0
    return analysis / "report.html"


@pytest.fixture(scope="session")
def axe_core() -> str:
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
