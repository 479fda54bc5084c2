"""environment.sh: every package is pinned; a browser that is there is used, root installs one, and else one line says
what is missing."""

import ast
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from paths import ROOT

Run = Callable[..., "subprocess.CompletedProcess[str]"]


class Machine:
    """A PATH of stand-ins: what is on it, who we are, and what apt-get does."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "path"
        self.path.mkdir()
        self.add("id", "echo 1000")

    def add(self, name: str, does: str = "") -> None:
        program = self.path / name
        program.write_text(f"#!/bin/bash\n{does}\n")
        program.chmod(0o755)

    def has_apt(self, *, works: bool) -> None:
        self.add("id", "echo 0")
        makes = "; ".join(f'printf "#!/bin/bash\\n" >{self.path}/{n}; chmod +x {self.path}/{n}' for n in PROGRAMS)
        # Its own tools are found where they always are.
        act = f'PATH=/usr/bin:/bin; [[ "$*" != *install* ]] || {{ {makes}; }}' if works else "exit 100"
        self.add("apt-get", f'echo "$*" >>{self.path}/asked; {act}')

    def use_browser(self) -> "subprocess.CompletedProcess[str]":
        code = f"set -euo pipefail; source {ROOT}/environment.sh; use_browser; echo ready"
        environment = {"PATH": str(self.path)}
        return subprocess.run(
            ["/bin/bash", "-c", code, "run_tests.sh"], env=environment, capture_output=True, text=True
        )


PROGRAMS = ("chromium", "chromedriver")
MISSING = (
    "run_tests.sh: no browser for the tests of the pages; expected chromium and chromedriver on the PATH "
    "(Debian: apt-get install chromium chromium-driver)\n"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("browser", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_used(machine: Machine, browser: str) -> None:
    machine.add(browser)
    machine.add("chromedriver")
    machine.has_apt(works=False)
    result = machine.use_browser()
    assert (result.returncode, result.stdout, result.stderr) == (0, "ready\n", "")


def test_root_installs_one_where_there_is_none(machine: Machine) -> None:
    machine.has_apt(works=True)
    result = machine.use_browser()
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "installing chromium chromium-driver\nready\n"
    assert (machine.path / "asked").read_text().splitlines() == [
        "-qq update",
        "-qq install --yes --no-install-recommends chromium chromium-driver",
    ]


def test_where_none_can_be_had_one_line_says_what_is_missing(machine: Machine) -> None:
    result = machine.use_browser()
    assert (result.returncode, result.stdout, result.stderr) == (2, "", MISSING)


def test_a_failed_installation_is_said_in_the_same_line(machine: Machine) -> None:
    machine.has_apt(works=False)
    result = machine.use_browser()
    assert (result.returncode, result.stderr) == (2, MISSING)


def test_a_browser_without_its_driver_will_not_do(machine: Machine) -> None:
    machine.add("chromium")
    assert machine.use_browser().returncode == 2


def pins(*names: str) -> dict[str, str]:
    """Package -> how these files pin it."""
    lines = [line for name in names for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    found = {canonicalize_name(line.partition("==")[0]): line for line in lines}
    assert len(found) == len(lines) and all("==" in line for line in lines)
    return {str(name): line for name, line in found.items()}


def test_every_package_that_a_requirement_needs_is_pinned_once() -> None:
    pinned = pins("requirements.txt", "requirements-dev.txt", "constraints.txt")
    waiting = {(name, frozenset[str]()) for name in pins("requirements.txt", "requirements-dev.txt")}
    needed: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        needed.add(current := waiting.pop())
        name, extras = current
        for need in map(Requirement, requires(name) or []):
            if not need.marker or any(need.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
                waiting.add((str(canonicalize_name(need.name)), frozenset(need.extras)))
        waiting -= needed
    assert {name for name, _ in needed} <= set(pinned)


def test_every_library_that_the_project_imports_is_a_requirement_of_its_own(git: Run) -> None:
    required = {*pins("requirements.txt")}
    files = [name for name in git(ROOT, "ls-files", "-z", "*.py").stdout.split("\0") if name]
    sources = [ROOT / name for name in files if not name.startswith(("tests/", "benchmarks/", "cosmos/"))]
    distributions = packages_distributions()
    for path in sources:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for top in {name.partition(".")[0] for name in names} - sys.stdlib_module_names:
                owners = {str(canonicalize_name(owner)) for owner in distributions.get(top, [])}
                assert not owners or owners & required, (path.name, top)
