"""Seconds to make the report of 12 models, and to open it in a browser until a person can use it.

    python benchmarks/bench_report.py

Six further models with outcomes of their own stand beside the published six; their results are computed first and not
timed. Opening: a headless Chromium with an empty profile loads the file from disk; it is interactive when its script
has run. Medians of REPEATS on an otherwise idle machine; needs chromium and chromedriver on the PATH.
Writes benchmarks/bench_report.json.
"""

import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.driving import open_browser  # noqa: E402 - found on the path above

FURTHER = [f"further_{i}" for i in range(6)]
REPEATS = 5
# What the report reads of further models.
SCRIPTS = (
    "analyze_rollouts.py",
    "compute_tv_band.py",
    "compute_mntv_ci.py",
    "compute_chi2.py",
    "compute_sequential.py",
    "compute_mcar_sensitivity.py",
    "make_scatter_grid.py",
    "make_config_table.py",
)


def twelve_models(folder: Path) -> Path:
    """The committed outcomes and results, with those of six further models."""
    import numpy as np

    import records
    from paths import ANALYSIS
    from scenes import SCENES

    analysis = folder / "analysis"
    shutil.copytree(ANALYSIS, analysis)
    rng = np.random.default_rng(0)
    for model in FURTHER:
        for scene in SCENES.values():
            drawn = rng.integers(0, scene.k + 1, size=32).tolist()
            bins = tuple(outcome or None for outcome in drawn)
            records.write_cell(analysis, records.Cell("main", scene.key, model, bins))
    for script in SCRIPTS:
        command = [sys.executable, str(ROOT / script), "--analysis", str(analysis), "--models", *FURTHER]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return analysis


def making(analysis: Path) -> dict[str, float]:
    """Wall-clock and processor seconds of make_report.py, in a process of its own."""
    wall, cpu = [], []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        command = [sys.executable, str(ROOT / "make_report.py"), "--analysis", str(analysis)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"seconds": round(statistics.median(wall), 2), "cpu_seconds": round(statistics.median(cpu), 2)}


def opening(page: Path, folder: Path) -> dict[str, float]:
    """Seconds from the start of loading until the page's script has run, and until something is painted."""
    interactive, painted = [], []
    with open_browser(folder) as window:
        for _ in range(REPEATS):
            window.open(page)
            timing: dict[str, Any] = window.run(
                "const [load] = performance.getEntriesByType('navigation');"
                "const [paint] = performance.getEntriesByName('first-contentful-paint');"
                "return {interactive: load.domContentLoadedEventEnd, painted: paint ? paint.startTime : null};"
            )
            interactive.append(timing["interactive"] / 1000)
            if timing["painted"] is not None:
                painted.append(timing["painted"] / 1000)
    return {
        "interactive_seconds": round(statistics.median(interactive), 3),
        "painted_seconds": round(statistics.median(painted), 3),
    }


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        analysis = twelve_models(Path(folder))
        result = {
            "models": 6 + len(FURTHER),
            **making(analysis),
            "megabytes": round((analysis / "report.html").stat().st_size / 1e6, 2),
            **opening(analysis / "report.html", Path(folder)),
            "repeats": REPEATS,
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        }
    for name, value in result.items():
        print(f"{name:<20} {value}")
    (ROOT / "benchmarks" / "bench_report.json").write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
