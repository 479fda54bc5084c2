"""The README's numbers come from files that scripts make, and its commands and file names exist."""

import json
import re
import subprocess
import sys
from pathlib import Path

from judges import engine
from paths import ANALYSIS, ROOT
from providers import run_state

README = (ROOT / "README.md").read_text(encoding="utf-8")


def marked(name: str) -> str:
    """The text between <!-- name --> and the next <!-- -->, without the fence of a code block."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- -->", README, re.DOTALL)
    assert found, f"README.md has no part marked {name}"
    lines = found.group(1).strip().splitlines()
    return "\n".join(line for line in lines if not line.startswith("```"))


def test_pipeline_time_and_memory_are_the_measured_ones() -> None:
    measured = json.loads((ROOT / "benchmarks" / "bench_analysis.json").read_text())
    assert marked("pipeline_seconds") == f"{measured['pipeline_seconds']:.0f}"
    assert marked("peak_mb") == f"{measured['peak_mb']:.0f}"


def test_time_of_the_control_is_the_measured_one() -> None:
    measured = json.loads((ROOT / "benchmarks" / "bench_simulator.json").read_text())
    assert marked("controls_seconds") == f"{measured['made']['seconds'] + measured['read']['seconds']:.0f}"


def test_tail_of_the_pipeline_is_what_the_scripts_print(committed: Path) -> None:
    compared = json.loads((committed / "results" / "compare_with_paper.json").read_text())
    figures, near, misses = compared["figures"], compared["last_digit"], compared["misses"]
    total = f"{figures - near - misses} of {figures} published figures match, {near} off by one last digit"
    tail = marked("pipeline_tail")
    assert total in tail
    board = (committed / "tables" / "results.md").read_text(encoding="utf-8")
    for row in [line for line in tail.splitlines() if line.lstrip().startswith("|")]:
        assert row.strip() in board.splitlines(), row


def test_toy_example_prints_what_the_readme_shows(analysis: Path) -> None:
    code = marked("toy_code").replace('Path("analysis")', f"Path({str(analysis)!r})")
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    command = [sys.executable, "compute_tv_band.py", "--model", "toy", "--analysis", str(analysis)]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert printed.strip() == marked("toy_output").strip()


def test_every_file_that_the_readme_names_exists() -> None:
    named = {name for name in re.findall(r"`([a-z_0-9/]+\.(?:py|sh|md|json|txt))`", README) if "{" not in name}
    assert named
    for name in named:
        assert (ROOT / name).exists() or (ANALYSIS / name).exists(), name


def test_every_published_table_and_figure_has_its_row() -> None:
    listed: dict[str, set[int]] = {"Table": set(), "Figure": set()}
    latest = ""
    for cell in re.findall(r"^\| ((?:Table|Figure)[^|]*)\|", README, re.MULTILINE):
        for kind, first, last in re.findall(r"(Table|Figure|,) (\d+)(?:-(\d+))?", cell):
            latest = kind if kind != "," else latest
            listed[latest].update(range(int(first), int(last or first) + 1))
    assert listed["Table"] == set(range(1, 13))
    # Figure 1 is a sketch of the protocol.
    assert listed["Figure"] == set(range(2, 16))


def test_every_state_of_a_video_and_of_a_reading_is_explained() -> None:
    for heading, states in (("a video's state", run_state.DISPLAY), ("a rollout's state at the judge", engine.DISPLAY)):
        table = README.partition(f"| {heading} |")[2].partition("\n\n")[0]
        explained = {name for line in table.splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1] or "")}
        assert explained == {*states}, heading


def test_every_module_and_package_has_its_place_in_the_layout() -> None:
    layout = README.partition("## How the code is laid out")[2]
    scripts = README.partition("## Which script makes what")[2].partition("\n## ")[0]
    named = set(re.findall(r"[\w/]+(?:\.py|/)", layout + scripts))
    here = {path.name for path in ROOT.glob("*.py")} | {f"{path.parent.name}/" for path in ROOT.glob("*/__init__.py")}
    assert here <= named
