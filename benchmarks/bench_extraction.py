"""Makespan, uploads and memory of extraction against the judge on loopback, hours scaled to seconds.

    python benchmarks/bench_extraction.py

Writes benchmarks/bench_extraction.json. A ratio is the makespan of the whole command, from its start to its end, over
the bound that no scheduler can beat: total service time / concurrency. Latencies are those of the real judge divided by
SCALE. Run it on an otherwise idle machine: client and service share it.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from scenes import SCENES
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import KEY, Answer, GeminiService, Query, seen

SCALE = 20
# The judge thinks for eight to twenty seconds before it answers.
LATENCY_S = (8 / SCALE, 20 / SCALE)
CONCURRENCY = 16
ROLLOUTS = 32
# Five seconds at 720p, padded to the sizes that video models deliver: inline, and above the limit for that.
LARGE_CLIP = (1280, 720, 120)
INLINE_BYTES, UPLOADED_BYTES = 2_900_000, 9_000_000

# In a small process of its own: what a process takes counts from its fork, and this one has served gigabytes.
_MEASURE = """
import os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(status != 0)
"""


def extract(scenes: list[str], clip: bytes, size: int, latency: tuple[float, float]) -> dict[str, Any]:
    """Read one model's cells of these scenes, each with 32 clips of `size` bytes at least; what it took."""
    rng, mutex, served = np.random.default_rng(0), threading.Lock(), 0.0

    def answer(query: Query) -> Answer:
        nonlocal served
        with mutex:
            seconds = float(rng.uniform(*latency))
            served += seconds
        return Answer(seen(query).text, latency_s=seconds)

    with tempfile.TemporaryDirectory() as folder, GeminiService(answer, keep_bodies=False) as service:
        for scene in scenes:
            for seed in range(ROLLOUTS):
                path = Path(folder) / "rollouts" / "main" / scene / "bench" / f"seed_{seed}.mp4"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(unique_clip(clip, f"{scene} {seed}".ljust(size - len(clip))))
        (Path(folder) / "analysis").mkdir()
        where = ["--rollouts", f"{folder}/rollouts", "--analysis", f"{folder}/analysis"]
        environment = {**os.environ, "GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": service.url}
        command = [sys.executable, str(ROOT / "extract_bin.py"), "--model", "bench", "--scene", *scenes, *where]
        completed = subprocess.run(
            [sys.executable, "-c", _MEASURE, *command], env=environment, capture_output=True, text=True, check=True
        )
    seconds, cpu_seconds, peak = map(float, completed.stdout.split())
    return {
        "queries": len(service.queries),
        "service_seconds": round(served, 1),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu_seconds, 1),
        # Linux counts in KB, macOS in bytes.
        "peak_mb": round(peak / (1e6 if platform.system() == "Darwin" else 1e3)),
        "uploaded_bytes": service.bytes_received,
    }


def main() -> int:
    found = extract(list(SCENES), moving_clip(), 0, LATENCY_S)
    ratio = round(found["seconds"] / (found["service_seconds"] / CONCURRENCY), 3)
    large = moving_clip(*LARGE_CLIP)
    results = {
        "extraction, concurrency binds": found | {"ratio": ratio},
        "extraction, 720p clips inline": extract(["ball"], large, INLINE_BYTES, LATENCY_S),
        "extraction, 720p clips uploaded": extract(["ball"], large, UPLOADED_BYTES, LATENCY_S),
        "extraction, 720p last frames": extract(["dice"], large, 0, LATENCY_S),
    }
    for name, found in results.items():
        ratio_text = f"{found['ratio']:>7.3f} of the bound" if "ratio" in found else " " * 20
        size = f"{found['peak_mb']:>5} MB {found['uploaded_bytes']:>12} bytes up"
        print(f"{name:<40} {found['seconds']:>7.1f} s {ratio_text} {size}")
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    text = json.dumps({"runs": results, "machine": machine, "scale": SCALE}, indent=2, sort_keys=True)
    (ROOT / "benchmarks" / "bench_extraction.json").write_text(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
