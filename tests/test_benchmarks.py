"""The committed measurements are those of the present benchmarks and within what the project promises. Nothing is timed
here: benchmarks/*.py measure, on an otherwise idle machine."""

import json
from typing import Any

import pytest

from benchmarks import bench_services, bench_simulator, eval_pixels
from paths import ROOT
from scenes import SCENES

FOLDER = ROOT / "benchmarks"


def measured(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_every_benchmark_has_its_measurement() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {path.stem for path in FOLDER.glob("*.json")}


@pytest.mark.parametrize(
    ("name", "key", "limit"),
    [
        ("bench_analysis", "pipeline_seconds", 25),
        ("bench_analysis", "bootstrap_seconds", 2),
        ("bench_report", "seconds", 3),
        ("bench_report", "interactive_seconds", 1),
    ],
)
def test_the_keyless_run_and_its_report_take_seconds(name: str, key: str, limit: float) -> None:
    assert 0 < measured(name)[key] <= limit


def test_paid_runs_keep_close_to_the_bound_and_in_little_memory() -> None:
    runs = measured("bench_services")["runs"]
    bound = {name: run for name, run in runs.items() if "ratio" in run}
    assert len(bound) == 4 and all(1 <= run["ratio"] <= bench_services.LIMIT_RATIO for run in bound.values())
    assert any("720p" in name for name in runs)
    assert all(0 < run["peak_mb"] <= bench_services.LIMIT_MB for run in runs.values())


def test_the_control_is_made_and_read_in_minutes() -> None:
    found = measured("bench_simulator")
    assert found["clips"] == bench_simulator.CLIPS
    for part, (seconds, megabytes) in bench_simulator.LIMITS.items():
        assert 0 < found[part]["seconds"] <= seconds and 0 < found[part]["peak_mb"] <= megabytes


def test_the_pixels_judge_reads_simulated_clips_as_they_are() -> None:
    found = measured("eval_pixels")
    assert found["all"]["clips"] >= eval_pixels.CLIPS and found["scenes"].keys() == SCENES.keys()
    assert eval_pixels.misses(found["all"], found["scenes"]) == []
