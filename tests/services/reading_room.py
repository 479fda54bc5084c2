"""One place where rollouts are read: a judge on loopback, folders of clips, and the command as a person runs it."""

import asyncio
import contextlib
import functools
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import extract_bin
from judges import gemini
from judges.asking import Settings
from judges.base import Judge
from judges.engine import DISPLAY, CellResult, CellWork, Engine
from judges.votelog import VoteLog, log_path
from paths import ROOT
from progress import Progress
from scenes import SCENES
from studies import STUDIES
from tests.services.base import LOOPBACK
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import KEY, GeminiService, outcome_of
from tests.services.studio import Ran
from video_io import encode_png, find_clips, last_frame

# A study with five rollouts a cell: most tests need no more.
STUDY, SCENE, MODEL = "face_3", "dice", "mine"
# Pauses of a run in a test: a hundredth of the usual ones.
FIRST_PAUSE_S = 0.01
_Patient = functools.partial(gemini.GeminiJudge, poll_s=0.01, upload_deadline_s=0.3)


@dataclass(frozen=True)
class Reading:
    """What a run of the engine alone left."""

    results: Mapping[str, CellResult]
    halted: str
    stopped: Mapping[str, str]


@dataclass(frozen=True)
class ReadingRoom:
    """rollouts, analysis: the folders that the command works on; both are empty at first."""

    service: GeminiService
    rollouts: Path
    analysis: Path

    @property
    def environment(self) -> Mapping[str, str]:
        # An empty folder of certificates: loopback needs none, and reading the system's takes longer than most tests.
        certificates = {"SSL_CERT_DIR": str(self.analysis), "NO_PROXY": LOOPBACK}
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.service.url, **certificates}

    def arguments(self, *arguments: str, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> list[str]:
        where = ["--rollouts", str(self.rollouts), "--analysis", str(self.analysis)]
        models = ["--model", *model.split()] if model else []
        return ["--study", study, "--scene", *scene.split(), *models, *where, *arguments]

    def run(self, *arguments: str, study: str = STUDY, scene: str = SCENE, model: str = MODEL, **variables: str) -> Ran:
        """Run extract_bin.py with these arguments and environment variables, by default for one small cell."""
        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.dict(os.environ, {**self.environment, **variables}),
            mock.patch.object(extract_bin, "FIRST_PAUSE_S", FIRST_PAUSE_S),
            mock.patch.object(gemini, "GeminiJudge", _Patient),
        ):
            code = extract_bin.main(self.arguments(*arguments, study=study, scene=scene, model=model))
        return Ran(code, out.getvalue(), err.getvalue())

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        """The command in a process of its own, for one small cell."""
        return subprocess.Popen(
            [sys.executable, str(ROOT / "extract_bin.py"), *self.arguments(*arguments)],
            env={**os.environ, **self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def read(self, count: int, scene: str = "ball", judge: Judge | None = None, votes: int = 3) -> Reading:
        """Run the engine alone over the first `count` clips of a cell of the main study."""
        log = VoteLog(log_path(self.analysis, "main", scene, MODEL, "gemini"), scene)
        cell = CellWork("cell", scene, MODEL, find_clips(self.rollouts / "main" / scene / MODEL, count), log)
        judge = judge or _Patient(self.analysis, gemini.DEFAULT_MODEL, 1.0)

        async def run() -> tuple[Mapping[str, CellResult], Engine]:
            try:
                with Progress("reading", {"cell": range(count)}, DISPLAY, stream=io.StringIO()) as p:
                    engine = Engine(judge, Settings(votes, 16, FIRST_PAUSE_S), p, lambda *_: None)
                    return await engine.run([cell]), engine
            finally:
                await judge.close()
                log.close()

        with mock.patch.dict(os.environ, self.environment):
            results, engine = asyncio.run(run())
        return Reading(results, engine.halted, engine.stopped)

    def clip(self, seed: int, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> Path:
        return self.rollouts / study / scene / model / f"seed_{seed}.mp4"

    def put_clips(
        self, study: str = STUDY, scene: str = SCENE, model: str = MODEL, count: int | None = None, size: int = 0
    ) -> None:
        """Clips of a cell (all by default), each different to its last frame and of at least `size` bytes."""
        for seed in range(STUDIES[study].n if count is None else count):
            path = self.clip(seed, study, scene, model)
            path.parent.mkdir(parents=True, exist_ok=True)
            mark = f"{study} {scene} {model} {seed}".ljust(size)
            path.write_bytes(unique_clip(moving_clip(64 + 2 * seed), mark))

    def truth(self, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> list[int | None]:
        """What a judge sees who does as it is told, by seed."""
        return [outcome_of(scene, self.shown(seed, study, scene, model)) for seed in range(STUDIES[study].n)]

    def shown(self, seed: int, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> str:
        """SHA-256 of what the judge must be sent of a rollout."""
        clip = self.clip(seed, study, scene, model)
        sent = encode_png(last_frame(clip).frame) if SCENES[scene].evidence == "final_frame" else clip.read_bytes()
        return hashlib.sha256(sent).hexdigest()

    def log(
        self, study: str = STUDY, scene: str = SCENE, model: str = MODEL, judge: str = "gemini"
    ) -> list[dict[str, Any]]:
        """The lines of a cell's log."""
        text = self.log_file(study, scene, model, judge).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def log_file(self, study: str = STUDY, scene: str = SCENE, model: str = MODEL, judge: str = "gemini") -> Path:
        return log_path(self.analysis, study, STUDIES[study].scene_name(scene), model, judge)

    def outcome_file(self, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> Path:
        return self.analysis / STUDIES[study].bins_file(scene, model)

    def outcomes(self, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.outcome_file(study, scene, model).read_text(encoding="utf-8"))
        return data

    def bins(self, study: str = STUDY, scene: str = SCENE, model: str = MODEL) -> list[int | None]:
        return [rollout["bin"] for rollout in self.outcomes(study, scene, model)["rollouts"]]

    def asked(self) -> dict[str, int]:
        """SHA-256 of evidence -> how many queries about it were answered."""
        shown = [query.sha256 for query in self.service.queries]
        return {sha256: shown.count(sha256) for sha256 in shown}


def run_alone(arguments: list[str], environment: dict[str, str]) -> None:
    """The command as the only thing that a process does, for tests that kill it."""
    os.environ.update(environment)
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        sys.exit(extract_bin.main(arguments))


@contextlib.contextmanager
def reading_room(tmp_path: Path, service: GeminiService | None = None) -> Iterator[ReadingRoom]:
    """A room without clips; its judge runs inside the `with`."""
    analysis = tmp_path / "analysis"
    analysis.mkdir(exist_ok=True)
    with service or GeminiService() as running:
        yield ReadingRoom(running, tmp_path / "rollouts", analysis)
