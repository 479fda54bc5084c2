"""SIGKILL at random moments: whatever was being done, a rerun completes it, and nothing is paid twice."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from paths import ROOT
from tests.services.base import NO_ANSWER, Fault, Response
from tests.services.clips import moving_clip
from tests.services.replicate_server import Outcome, ReplicateService
from tests.services.studio import studio
from video_io import inspect_clip

KILLS = 25
# Imports once, then becomes a new process for each run: what is killed is that process, while it works.
FORKS = """
import os, sys
sys.path.insert(0, sys.argv[1])
import generate_rollouts
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os._exit(generate_rollouts.main(sys.argv[2:]))
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Runs:
    """Starts runs of the command, one at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout

    def start(self) -> int:
        """The process id of a new run."""
        self._in.write("run\n")
        self._in.flush()
        return int(self._out.readline())

    def finish(self) -> int:
        """The exit code of the run, once it is over; -9 when it was killed."""
        return int(self._out.readline())


def test_after_25_kills_every_rollout_is_there_and_paid_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(20)

    def outcome(model: str, inputs: Mapping[str, Any], before: int) -> Outcome:
        # Some fail at first; nobody is charged for these.
        failing = inputs["seed"] % 5 == 0 and not before
        return Outcome(
            "failed" if failing else "succeeded", latency_s=float(rng.uniform(0.02, 1.0)), error="worker lost"
        )

    with studio(tmp_path, ReplicateService(outcome)) as place:
        for _ in range(3):
            place.service.fail("POST", "/predictions", Fault(NO_ANSWER, after=True), Fault(NO_ANSWER))
            place.service.fail("GET", "/delivery/", NO_ANSWER, Response(200, moving_clip(), cut_at=300))
        arguments = place.arguments("--count", "16", "--concurrency", "6", model="wan seedance", scene="ball dice")
        environment = {**os.environ, **place.environment}
        with subprocess.Popen(
            [sys.executable, "-c", FORKS, str(ROOT), *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            runs = Runs(process)
            for _ in range(KILLS):
                seen = len(place.service.requests)
                pid = runs.start()
                # So many requests and some milliseconds from the start: a slow machine is hit as a fast one is.
                moment, patience = seen + int(rng.integers(0, 35)), time.monotonic() + 20
                while len(place.service.requests) < moment and time.monotonic() < patience:
                    time.sleep(0.002)
                time.sleep(rng.uniform(0.0, 0.05))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                assert runs.finish() == -signal.SIGKILL, "a run ended before it was killed: nothing was left to test"
            runs.start()
            assert runs.finish() == 0
            assert process.stdin is not None
            process.stdin.close()

        assert len(place.service.paid()) == 64
        paid = {(p.model, p.input["prompt"], p.input["seed"]) for p in place.service.paid()}
        assert len(paid) == 64, "each rollout is paid for once"
        assert len(place.videos()) == 64 and not place.leftovers()
        for video in place.videos():
            assert inspect_clip(place.rollouts / "main" / video).frames == 8
        assert place.run("--count", "16", model="wan seedance", scene="ball dice").code == 0
        assert len(place.service.paid()) == 64
