"""Makespan, uploads and memory of generation against Replicate on loopback, hours scaled to minutes.

    python benchmarks/bench_services.py

Writes benchmarks/bench_services.json. A ratio is the makespan of the whole command, from its start to its end, over the
bound that no scheduler can beat: total service time / concurrency, or the number of calls / the rate, whichever is
larger. Latencies are those of the real services divided by SCALE. Run it on an otherwise idle machine: client and
services share it. Extraction has bench_extraction.py.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from tests.services.base import LoopbackService
from tests.services.clips import moving_clip
from tests.services.replicate_server import TOKEN, Outcome, ReplicateService

SCALE = 30
ROLLOUTS = 288
# A hosted video model takes one to two and a half minutes.
VIDEO_LATENCY_S = (60 / SCALE, 150 / SCALE)
# Of the client's first look at a prediction: half a second, scaled less than the latencies, as it costs real time here.
POLL_INTERVAL_S = 0.05
GENERATION_CONCURRENCY = 16
# Creates a minute under a rate that binds, ours or the service's.
BINDING_RATE = 240
# Clips of five seconds at 720p, for the peak of memory.
LARGE_CLIP = (1280, 720, 120)
LARGE_CLIPS = 32


def measured(command: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall-clock seconds and peak resident memory in MB of a command that must succeed."""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    # Linux counts in KB, macOS in bytes.
    return seconds, usage.ru_maxrss / (1e6 if platform.system() == "Darwin" else 1e3)


def uploaded(service: LoopbackService) -> int:
    """Bytes of all request bodies."""
    return sum(len(request.body) for request in service.requests)


def generate(service: ReplicateService, *arguments: str) -> dict[str, float]:
    environment = {
        "REPLICATE_API_TOKEN": TOKEN,
        "REPLICATE_BASE_URL": service.url,
        "REPLICATE_POLL_INTERVAL": str(POLL_INTERVAL_S),
    }
    with tempfile.TemporaryDirectory() as folder:
        command = [str(ROOT / "generate_rollouts.py"), "--model", "wan", "--rollouts", folder, *arguments]
        seconds, peak_mb = measured(command, environment)
    return {
        "predictions": len(service.predictions),
        "service_seconds": round(sum(p.outcome.latency_s for p in service.predictions.values()), 1),
        "seconds": round(seconds, 2),
        "peak_mb": round(peak_mb),
        "uploaded_bytes": uploaded(service),
        "requests": len(service.requests),
    }


def latencies(low: float, high: float) -> Callable[[str, Mapping[str, Any], int], Outcome]:
    rng = np.random.default_rng(0)
    return lambda model, inputs, before: Outcome(latency_s=float(rng.uniform(low, high)))


def bench_generation() -> dict[str, dict[str, float]]:
    results = {}
    with ReplicateService(latencies(*VIDEO_LATENCY_S)) as service:
        found = generate(service, "--concurrency", str(GENERATION_CONCURRENCY), "--rate", "60000")
        bound = found["service_seconds"] / GENERATION_CONCURRENCY
        results["generation, concurrency binds"] = found | {"ratio": round(found["seconds"] / bound, 3)}
    bound = ROLLOUTS * 60 / BINDING_RATE
    with ReplicateService(latencies(*VIDEO_LATENCY_S)) as service:
        found = generate(service, "--concurrency", "64", "--rate", str(BINDING_RATE))
        results["generation, our rate binds"] = found | {"ratio": round(found["seconds"] / bound, 3)}
    with ReplicateService(latencies(*VIDEO_LATENCY_S), creates_a_second=BINDING_RATE / 60) as service:
        # As by default: we would go some times faster than a new account may.
        found = generate(service, "--concurrency", "64", "--rate", str(4 * BINDING_RATE))
        results["generation, the service's rate binds"] = found | {"ratio": round(found["seconds"] / bound, 3)}
    clip = moving_clip(*LARGE_CLIP)
    with ReplicateService(lambda *_: Outcome(video=clip)) as service:
        found = generate(service, "--scene", "dice", "--count", str(LARGE_CLIPS), "--rate", "60000")
        results["generation, 720p clips"] = found
    return results


def main() -> int:
    results = bench_generation()
    for name, found in results.items():
        ratio = f"{found['ratio']:>7.3f} of the bound" if "ratio" in found else " " * 20
        size = f"{found['peak_mb']:>5} MB {found['uploaded_bytes']:>10} bytes up"
        print(f"{name:<40} {found['seconds']:>7.1f} s {ratio} {size}")
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    text = json.dumps({"runs": results, "machine": machine, "scale": SCALE}, indent=2, sort_keys=True)
    (ROOT / "benchmarks" / "bench_services.json").write_text(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
