"""Time and memory of the controls: 288 simulated clips at 848x480 made, and read by the pixels judge.

    python benchmarks/bench_simulator.py

Writes benchmarks/bench_simulator.json. The commands are those of the `controls` stage, in a temporary folder, from
their start to their end. Memory is that of the command and its worker processes together, at its highest. Run it on
an otherwise idle machine. Exit code 1 beyond a limit.
"""

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from files import write_json

CELLS = ["--study", "controls", "--model", "sim_calibrated"]
CLIPS = 288
# Seconds on two cores, and MB.
LIMITS = {"made": (120, 500), "read": (40, 500)}
# Between two looks at the memory: a look costs some hundredths of a second of one processor.
LOOK_S = 0.5


def resident_mb(parent: int) -> float:
    """Resident memory of a process and its descendants, MB.

    On Linux a page that several of them share counts once (PSS). Elsewhere it counts once in each: an upper bound.
    """
    listing = subprocess.run(["ps", "-e", "-o", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
    processes = [tuple(map(int, line.split())) for line in listing.splitlines()]
    family, found = set[int](), {parent}
    while found:
        family |= found
        found = {pid for pid, ppid, _ in processes if ppid in family} - family
    return sum(_proportional_kb(pid) or rss for pid, _, rss in processes if pid in family) / 1e3


def _proportional_kb(pid: int) -> int | None:
    """PSS, kB; None where there is no such figure, or no such process any more."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), None)


def measured(command: Sequence[str]) -> dict[str, float]:
    """Wall-clock seconds, processor seconds and peak memory of a command that must succeed."""
    before, started = os.times(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([sys.executable, *command], stdout=output, stderr=output)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, resident_mb(process.pid))
            time.sleep(LOOK_S)
        seconds = time.perf_counter() - started
        if process.returncode != 0:
            output.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{output.read()}")
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": round(seconds, 1), "cpu_seconds": round(cpu, 1), "peak_mb": round(peak)}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        rollouts, analysis = Path(folder) / "rollouts", Path(folder) / "analysis"
        analysis.mkdir()
        where = ["--rollouts", str(rollouts)]
        made = measured([str(ROOT / "generate_rollouts.py"), "--provider", "simulator", *CELLS, *where])
        clips = list(rollouts.glob("controls/*/*/seed_*.mp4"))
        megabytes = round(sum(clip.stat().st_size for clip in clips) / 1e6, 1)
        into = ["--analysis", str(analysis)]
        read = measured([str(ROOT / "extract_bin.py"), "--judge", "pixels", *CELLS, *where, *into])
    result = {"made": made, "read": read}
    for name, found in result.items():
        print(f"{name:<6} {found['seconds']:>6.1f} s {found['cpu_seconds']:>6.1f} CPU s {found['peak_mb']:>5.0f} MB")
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    clips_made = {"clips": len(clips), "clips_mb": megabytes}
    write_json(Path(__file__).with_suffix(".json"), result | clips_made | {"machine": machine})
    within = all(found["seconds"] <= LIMITS[k][0] and found["peak_mb"] <= LIMITS[k][1] for k, found in result.items())
    return int(len(clips) != CLIPS or not within)


if __name__ == "__main__":
    sys.exit(main())
