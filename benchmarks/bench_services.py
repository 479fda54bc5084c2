"""Makespan, uploads and memory of generation and extraction against both services on loopback, hours scaled down.

    python benchmarks/bench_services.py

Writes benchmarks/bench_services.json. A ratio is the makespan of the whole command, from its start to its end, over the
bound that no scheduler can beat: total service time / concurrency, or the number of calls / the rate, whichever is
larger. Latencies are those of the real services divided by a scale. Run it on an otherwise idle machine: client and
services share it.
"""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from files import write_json
from scenes import SCENES
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import KEY, Answer, GeminiService, Query, seen
from tests.services.replicate_server import TOKEN, Outcome, ReplicateService

ROLLOUTS_A_CELL = 32
CONCURRENCY = 16
LIMIT_RATIO, LIMIT_MB = 1.15, 400

# A hosted video model takes one to two and a half minutes.
GENERATION_SCALE = 30
VIDEO_LATENCY_S = (60 / GENERATION_SCALE, 150 / GENERATION_SCALE)
# Of the client's first look at a prediction: half a second, scaled less than the latencies, as it costs real time here.
POLL_INTERVAL_S = 0.05
# Creates a minute under a rate that binds, ours or the service's.
BINDING_RATE = 240

# The judge thinks for eight to twenty seconds before it answers.
EXTRACTION_SCALE = 20
JUDGE_LATENCY_S = (8 / EXTRACTION_SCALE, 20 / EXTRACTION_SCALE)

# Five seconds at 720p, for the peak of memory; padded to the sizes that video models deliver: one that goes inline, and
# one above the limit for that.
LARGE_CLIP = (1280, 720, 120)
INLINE_BYTES, UPLOADED_BYTES = 1_900_000, 9_000_000

# In a small process of its own: what a process takes counts from its fork, and this one has served gigabytes.
_MEASURE = """
import os, subprocess, sys, time
started = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(status != 0)
"""


def measured(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, float]:
    """Wall-clock seconds, processor seconds and peak resident memory in MB of a script that must succeed."""
    completed = subprocess.run(
        [sys.executable, "-c", _MEASURE, sys.executable, *command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if completed.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{completed.stderr}")
    seconds, cpu_seconds, peak = map(float, completed.stdout.split())
    # Linux counts in KB, macOS in bytes.
    peak_mb = peak / (1e6 if platform.system() == "Darwin" else 1e3)
    return {"seconds": round(seconds, 2), "cpu_seconds": round(cpu_seconds, 1), "peak_mb": round(peak_mb)}


def within(latency_s: tuple[float, float]) -> Callable[[], float]:
    """Latencies in this range, one a call, the same ones in every run."""
    rng = np.random.default_rng(0)
    return lambda: float(rng.uniform(*latency_s))


def generate(service: ReplicateService, *arguments: str) -> dict[str, float]:
    """Make one model's cells, all scenes unless told otherwise; what it took."""
    environment = {
        "REPLICATE_API_TOKEN": TOKEN,
        "REPLICATE_BASE_URL": service.url,
        "REPLICATE_POLL_INTERVAL": str(POLL_INTERVAL_S),
    }
    with tempfile.TemporaryDirectory() as folder:
        command = [str(ROOT / "generate_rollouts.py"), "--model", "wan", "--rollouts", folder, *arguments]
        found = measured(command, environment)
    return found | {
        "calls": len(service.predictions),
        "service_seconds": round(sum(p.outcome.latency_s for p in service.predictions.values()), 1),
        "uploaded_bytes": sum(len(request.body) for request in service.requests),
    }


def against_bound(found: Mapping[str, float], bound: float) -> dict[str, float]:
    return dict(found) | {"bound_seconds": round(bound, 1), "ratio": round(found["seconds"] / bound, 3)}


def bench_generation() -> dict[str, dict[str, float]]:
    def studio(creates_a_second: float | None = None) -> ReplicateService:
        latency = within(VIDEO_LATENCY_S)
        return ReplicateService(
            lambda model, inputs, before: Outcome(latency_s=latency()), creates_a_second=creates_a_second
        )

    results = {}
    with studio() as service:
        found = generate(service, "--concurrency", str(CONCURRENCY), "--rate", "60000")
        results["generation, concurrency binds"] = against_bound(found, found["service_seconds"] / CONCURRENCY)
    bound = len(SCENES) * ROLLOUTS_A_CELL * 60 / BINDING_RATE
    with studio() as service:
        found = generate(service, "--concurrency", "64", "--rate", str(BINDING_RATE))
        results["generation, our rate binds"] = against_bound(found, bound)
    with studio(creates_a_second=BINDING_RATE / 60) as service:
        # As by default: we would go some times faster than a new account may.
        found = generate(service, "--concurrency", "64", "--rate", str(4 * BINDING_RATE))
        results["generation, the service's rate binds"] = against_bound(found, bound)
    clip = moving_clip(*LARGE_CLIP)
    with ReplicateService(lambda *_: Outcome(video=clip)) as service:
        results["generation, 720p clips"] = generate(service, "--scene", "dice", "--rate", "60000")
    return results


def extract(scenes: Sequence[str], clip: bytes, size: int) -> dict[str, float]:
    """Read one model's cells of these scenes, each with 32 clips of `size` bytes at least; what it took."""
    latency, served = within(JUDGE_LATENCY_S), []

    def answer(query: Query) -> Answer:
        served.append(latency())
        return Answer(seen(query).text, latency_s=served[-1])

    with tempfile.TemporaryDirectory() as folder, GeminiService(answer, keep_bodies=False) as service:
        for scene in scenes:
            for seed in range(ROLLOUTS_A_CELL):
                path = Path(folder) / "rollouts" / "main" / scene / "bench" / f"seed_{seed}.mp4"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(unique_clip(clip, f"{scene} {seed}".ljust(size - len(clip))))
        (Path(folder) / "analysis").mkdir()
        where = ["--rollouts", f"{folder}/rollouts", "--analysis", f"{folder}/analysis"]
        # All clips end on the same picture, so that a cell may well be of nulls alone.
        cells = ["--model", "bench", "--scene", *scenes, "--accept-all-null", "--concurrency", str(CONCURRENCY)]
        environment = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": service.url}
        found = measured([str(ROOT / "extract_bin.py"), *cells, *where], environment)
    return found | {
        "calls": len(service.queries),
        "service_seconds": round(sum(served), 1),
        "uploaded_bytes": service.bytes_received,
    }


def bench_extraction() -> dict[str, dict[str, float]]:
    found = extract(list(SCENES), moving_clip(), 0)
    large = moving_clip(*LARGE_CLIP)
    return {
        "extraction, concurrency binds": against_bound(found, found["service_seconds"] / CONCURRENCY),
        "extraction, 720p clips inline": extract(["ball"], large, INLINE_BYTES),
        "extraction, 720p clips uploaded": extract(["ball"], large, UPLOADED_BYTES),
        "extraction, 720p last frames": extract(["dice"], large, 0),
    }


def main() -> int:
    results: dict[str, dict[str, Any]] = bench_generation() | bench_extraction()
    for name, found in results.items():
        ratio = f"{found['ratio']:>7.3f} of the bound" if "ratio" in found else " " * 20
        size = f"{found['peak_mb']:>5} MB {found['uploaded_bytes']:>12} bytes up"
        print(f"{name:<40} {found['seconds']:>7.1f} s {ratio} {size}")
    scale = {"generation": GENERATION_SCALE, "extraction": EXTRACTION_SCALE}
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    write_json(Path(__file__).with_suffix(".json"), {"runs": results, "machine": machine, "scale": scale})
    return int(any(found.get("ratio", 0) > LIMIT_RATIO or found["peak_mb"] > LIMIT_MB for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
