"""Every script explains itself, runs from anywhere, does nothing when imported, and stands above what it uses."""

import ast
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

import cli
from common import ANALYSES, SCRIPTS, is_script, script, selections, snapshot
from paths import ANALYSIS, ROOT

FOLDERS = ["providers", "judges", "simulator", "labelling", "report", "cosmos"]
# Packages of many files count file by file, as providers.engine.
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path
    for path in sorted([*ROOT.glob("*.py"), *(p for name in FOLDERS for p in (ROOT / name).rglob("*.py"))])
}
# What the README says of the floors, the highest first: title -> patterns of file names, and folders.
FLOORS = {
    title: patterns.replace("...", "").split()
    for title, patterns in re.findall(
        r"^\| ([^|`]+?) \| `([^|`]*(?:\.py|/)[^|`]*)` \|$",
        (ROOT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
}
SPECIFICATION, STATISTICS = (
    next((patterns for title, patterns in FLOORS.items() if title.startswith(start)), [])
    for start in ("specification", "statistics")
)
# The packages, and those that each may use.
PACKAGES: dict[str, set[str]] = {
    "simulator": set(),
    "providers": {"simulator"},
    "judges": {"simulator"},
    "labelling": {"judges"},
}
# The only scripts that call a service.
ONLINE = {"generate_rollouts", "extract_bin"}


@cache
def imports(name: str) -> frozenset[str]:
    """The project's own modules that a module imports, anywhere in its file."""
    found = set()
    for node in ast.walk(ast.parse(SOURCES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = name.rpartition(".")[0] if node.level else ""
            module = ".".join(part for part in (package, node.module) if part)
            names = {f"{module}.{alias.name}" for alias in node.names}
            # What is no file of a package is a name in its __init__.
            found |= names | ({module, f"{module}.__init__"} if names - SOURCES.keys() else set())
    return frozenset(found & SOURCES.keys())


def reachable(name: str) -> set[str]:
    """Every module of the project that importing this one loads, itself not counted."""
    found: set[str] = set()
    waiting = set(imports(name))
    while waiting:
        found.add(current := waiting.pop())
        waiting |= imports(current) - found
    return found


def test_the_scripts_were_found() -> None:
    assert (
        {"analyze_rollouts", "compute_tv_band", "compute_chi2", "compare_with_paper"} <= set(ANALYSES) <= set(SCRIPTS)
    )
    assert not is_script("records")
    assert imports("compute_tv_band") >= {"records", "stats_utils", "scenes"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_help_says_what_the_script_makes_and_how_to_call_it(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / f"{name}.py"), "--help"]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    doc = script(name).__doc__
    assert doc is not None and f"python {name}.py" in doc
    assert doc.strip() in completed.stdout


@pytest.mark.parametrize("name", [name for name in ANALYSES if selections(name)])
def test_a_selection_runs_from_any_directory_and_writes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = selections(name)
    argv = ["--scene", "dice"] * ("--scene" in options) + ["--model", "seedance"] * ("--model" in options)
    # The folder that is used when none is named.
    folder = tmp_path / "analysis"
    shutil.copytree(ANALYSIS, folder)
    monkeypatch.setattr(cli, "ANALYSIS", folder)
    before = snapshot(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert script(name).main(argv) == 0
    assert "(a selection: nothing written)" in capsys.readouterr().out
    assert snapshot(tmp_path) == before


def test_importing_the_scripts_does_nothing_and_loads_no_service(python: Callable[[str], str]) -> None:
    offline = [name for name in SCRIPTS if name not in ONLINE]
    printed = python(
        f"import {', '.join(offline)}\n"
        "services = [name for name in ('replicate', 'google.genai', 'httpx') if name in sys.modules]\n"
        "print(services, 'matplotlib' in sys.modules)"
    )
    # Drawing is loaded when something is drawn: it would be most of the time of a script that draws nothing.
    assert printed == "[] False\n"


def test_no_script_imports_a_script() -> None:
    for name in SOURCES:
        assert imports(name) & set(SCRIPTS) == set(), name


def test_imports_make_no_circle() -> None:
    for name in SOURCES:
        assert name not in reachable(name)


def stands_on(name: str, pattern: str) -> bool:
    """Whether a floor's entry, a file name or a folder, is about this module."""
    return name.startswith(f"{pattern[:-1]}.") if pattern.endswith("/") else fnmatch(f"{name}.py", pattern)


def floor(name: str) -> int:
    """On which floor a module stands: 0 the scripts, 1 the highest floor that the README names, and so on down."""
    found = [i for i, patterns in enumerate(FLOORS.values(), start=1) if any(stands_on(name, p) for p in patterns)]
    assert found if name not in SCRIPTS else not found, f"README.md: {name} stands on {len(found)} floors"
    assert len(found) <= 1, name
    return found[0] if found else 0


def test_the_readme_names_the_floors_and_every_file_on_them_exists() -> None:
    assert len(FLOORS) >= 5 and len(SPECIFICATION) >= 5 and len(STATISTICS) >= 5
    for pattern in itertools.chain(*FLOORS.values()):
        assert any(stands_on(name, pattern) for name in SOURCES), pattern
    assert {name.partition(".")[0] for name in SOURCES if floor(name) == 0} == {*SCRIPTS}


@pytest.mark.parametrize("name", SOURCES)
def test_an_arrow_only_points_down(name: str) -> None:
    assert {used for used in reachable(name) if floor(used) < floor(name)} == set()


@pytest.mark.parametrize("pattern", SPECIFICATION)
def test_the_specification_stands_on_itself(pattern: str) -> None:
    assert {f"{name}.py" for name in reachable(pattern.removesuffix(".py"))} <= {*SPECIFICATION, "errors.py"}


@pytest.mark.parametrize("pattern", STATISTICS)
def test_the_statistics_know_numbers_only(pattern: str) -> None:
    used = {f"{name}.py" for name in reachable(pattern.removesuffix(".py"))}
    others = set(itertools.chain(*FLOORS.values())) - {*SPECIFICATION, *STATISTICS}
    assert used & others == set()


@pytest.mark.parametrize(("package", "may_use"), PACKAGES.items(), ids=PACKAGES)
def test_a_package_knows_no_script_and_only_the_packages_below_it(package: str, may_use: set[str]) -> None:
    for name in SOURCES:
        if name.startswith(f"{package}."):
            folders = {used.partition(".")[0] for used in imports(name)} & {*FOLDERS}
            assert folders <= {package, *may_use}, name
            assert not reachable(name) & {"cli", "outputs", "figures", *SCRIPTS}, name


def test_outcome_files_are_opened_by_records_only() -> None:
    users = {name for name in SOURCES if "_bins.json" in code_without_docstrings(name)}
    assert users == {"records", "studies"}


def code_without_docstrings(name: str) -> str:
    tree = ast.parse(SOURCES[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)
