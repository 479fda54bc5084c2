"""What is committed is what the scripts make now: results by their numbers, tables by their text, figures by the same
bytes from the same numbers."""

import json
import math
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from common import script, snapshot

Result = subprocess.CompletedProcess[str]
Run = Callable[..., Result]

# The stem of the one script whose numbers another processor may change: its system is chaotic, so the last bit of an
# angle decides on which side a few of the 40,000 pendulums end.
CHAOTIC = "verify_pendulum_v3"
CHAOTIC_TOLERANCE = 0.02
RELATIVE_TOLERANCE = 1e-8


def differences(found: Any, committed: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """Where two results differ: in shape, in text, or in a number by more than the tolerance."""
    if isinstance(found, dict) and isinstance(committed, dict):
        for key in found.keys() | committed.keys():
            if key in found and key in committed:
                yield from differences(found[key], committed[key], tolerance, f"{where}.{key}")
            else:
                yield f"{where}.{key} is in one of them only"
    elif isinstance(found, list) and isinstance(committed, list) and len(found) == len(committed):
        for index, pair in enumerate(zip(found, committed, strict=True)):
            yield from differences(*pair, tolerance, f"{where}[{index}]")
    elif isinstance(found, float) and isinstance(committed, float):
        if not math.isclose(found, committed, rel_tol=tolerance, abs_tol=tolerance / 100):
            yield f"{where}: {found} now, {committed} committed"
    elif type(found) is not type(committed) or found != committed:
        yield f"{where}: {found} now, {committed} committed"


def without_the_chaotic(page: str) -> str:
    """RESULTS.md without its section on the pendulum; another text as it is."""
    return re.sub(r"^## The pendulum's reference$.*?(?=^## )", "", page, flags=re.DOTALL | re.MULTILINE)


def test_a_difference_is_found_wherever_it_is() -> None:
    committed = {"a": [1, {"b": 0.5}], "c": None, "d": "x"}
    for found, difference in (
        ({"a": [1, {"b": 0.5 * (1 + 1e-12)}], "c": None, "d": "x"}, []),
        ({"a": [1, {"b": 0.5 * (1 + 1e-6)}], "c": None, "d": "x"}, [".a[1].b: 0.5000005 now, 0.5 committed"]),
        ({"a": [2, {"b": 0.5}], "c": None, "d": "x"}, [".a[0]: 2 now, 1 committed"]),
        ({"a": [True, {"b": 0.5}], "c": None, "d": "x"}, [".a[0]: True now, 1 committed"]),
        ({"a": [1], "c": None, "d": "x"}, [".a: [1] now, [1, {'b': 0.5}] committed"]),
        ({"a": [1, {"b": 0.5}], "d": "y", "c": 0}, [".c: 0 now, None committed", ".d: y now, x committed"]),
        ({"a": [1, {"b": 0.5}], "d": "x"}, [".c is in one of them only"]),
    ):
        assert sorted(differences(found, committed, RELATIVE_TOLERANCE)) == difference


def test_the_pipeline_makes_every_committed_file_anew_and_no_other(
    first_run: Result, clone: Path, committed: Path, git: Run
) -> None:
    assert first_run.returncode == 0, first_run.stderr
    listed = git(clone / "analysis", "ls-files", "-z", "--cached", "--others", "--exclude-standard").stdout.split("\0")
    assert {name for name in listed if name and (clone / "analysis" / name).is_file()} == set(snapshot(committed))


def test_committed_results_are_recomputed(first_run: Result, clone: Path, committed: Path) -> None:
    assert first_run.returncode == 0, first_run.stderr
    for path in sorted((committed / "results").glob("*.json")):
        tolerance = CHAOTIC_TOLERANCE if path.stem == CHAOTIC else RELATIVE_TOLERANCE
        found = json.loads((clone / "analysis" / "results" / path.name).read_text())
        assert list(differences(found, json.loads(path.read_text()), tolerance)) == [], path.name


def test_committed_tables_are_recomputed(first_run: Result, clone: Path, committed: Path) -> None:
    assert first_run.returncode == 0, first_run.stderr
    texts = [path for path in committed.rglob("*") if path.suffix in (".md", ".tex") and CHAOTIC not in path.name]
    assert len(texts) > 20
    for path in texts:
        found = (clone / "analysis" / path.relative_to(committed)).read_text()
        assert without_the_chaotic(found) == without_the_chaotic(path.read_text()), path.name


def test_every_figure_has_both_formats(committed: Path) -> None:
    figures = snapshot(committed / "figures")
    assert set(figures) == {f"{Path(name).stem}{kind}" for name in figures for kind in (".pdf", ".png")}
    assert all(data.startswith(b"%PDF-" if name.endswith(".pdf") else b"\x89PNG") for name, data in figures.items())


def test_what_is_committed_has_no_trace_of_when_and_where_it_was_made(committed: Path) -> None:
    for name, data in snapshot(committed).items():
        for trace in (b"CreationDate", b"ModDate", b"/tmp/", b"/home/", b"/Users/"):
            assert trace not in data, (name, trace)
        if name.endswith((".json", ".md", ".tex")):
            assert data.endswith(b"\n") and b"\r" not in data, name


@pytest.mark.parametrize("name", ["compute_mcar_sensitivity", "validate_extraction", "make_seedance_ablation"])
def test_a_script_run_again_alone_writes_the_same_bytes(name: str, analysis: Path) -> None:
    written = []
    for _ in range(2):
        assert script(name).main(["--analysis", str(analysis)]) == 0
        written.append(snapshot(analysis))
        for folder in ("results", "tables", "figures"):
            shutil.rmtree(analysis / folder, ignore_errors=True)
    assert written[0] == written[1]
    assert any("results/" in path for path in written[0])
