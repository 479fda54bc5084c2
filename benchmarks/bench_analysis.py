"""Seconds and peak memory of each stage of the keyless pipeline, and of the 50,000-replicate bootstrap alone.

    python benchmarks/bench_analysis.py

Writes benchmarks/bench_analysis.json. Times are wall-clock seconds of one run on an otherwise idle machine.
"""

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
# Stages that need a key, the control, and the studies: bench_services.py and bench_simulator.py time the first two.
NOT_TIMED = {
    *("generate_rollouts", "extract_bin", "controls"),
    *("study_interval_coverage", "study_controls", "validate_judge"),
}


def measure(command: list[str]) -> dict[str, float]:
    """Wall-clock seconds and peak resident memory in MB of one command (its children counted for memory)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    # Linux counts in KB, macOS in bytes.
    unit = 1e6 if platform.system() == "Darwin" else 1e3
    return {"seconds": round(seconds, 2), "peak_mb": round(usage.ru_maxrss / unit)}


def bootstrap_seconds() -> float:
    """The published bootstrap of the six models over nine scenes, without reading and writing."""
    import records
    from constants import BOOTSTRAP_REPLICATES
    from intervals import Outcomes, bootstrap_mntv, model_rng
    from models import PUBLISHED
    from paths import ANALYSIS
    from scenes import SCENES

    read = records.read_study(ANALYSIS, "main")
    outcomes = {key: Outcomes(cell.counts, cell.n, SCENES[key[0]].reference) for key, cell in read.items()}
    started = time.perf_counter()
    for model in PUBLISHED:
        bootstrap_mntv([outcomes[scene, model] for scene in SCENES], BOOTSTRAP_REPLICATES, model_rng(model))
    return round(time.perf_counter() - started, 2)


def pipeline_seconds() -> float:
    """Wall-clock seconds of run_pipeline.sh without the control, in this interpreter's environment."""
    started = time.perf_counter()
    environment = os.environ | {"VENV": sys.prefix}
    subprocess.run(
        [ROOT / "run_pipeline.sh", "--skip", "controls"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return round(time.perf_counter() - started, 1)


def main() -> int:
    listing = subprocess.run([ROOT / "run_pipeline.sh", "--list"], capture_output=True, text=True, check=True).stdout
    stages = {}
    for line in listing.splitlines():
        name, script = line.split()[:2]
        if name not in NOT_TIMED and (ROOT / script).exists():
            stages[name] = measure([sys.executable, str(ROOT / script)])
            print(f"{name:<24} {stages[name]['seconds']:>6.2f} s {stages[name]['peak_mb']:>6.0f} MB")
    total = round(sum(stage["seconds"] for stage in stages.values()), 1)
    # Two stages run at a time: no two need more than this together.
    peak = sum(sorted(stage["peak_mb"] for stage in stages.values())[-2:])
    result = {
        "stages": stages,
        "total_seconds": total,
        "pipeline_seconds": pipeline_seconds(),
        "peak_mb": peak,
        "bootstrap_seconds": bootstrap_seconds(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    print(f"{'one by one':<24} {total:>6.2f} s {peak:>6.0f} MB (the two largest)")
    print(f"run_pipeline.sh {result['pipeline_seconds']:.1f} s, bootstrap alone {result['bootstrap_seconds']:.2f} s")
    (ROOT / "benchmarks" / "bench_analysis.json").write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
