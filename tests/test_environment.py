"""use_browser of environment.sh: a browser that is there is used, root installs one, and else one line says what is
missing."""

import subprocess
from pathlib import Path

import pytest

from paths import ROOT


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
