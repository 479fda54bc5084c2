"""One place where rollouts are generated: a Replicate on loopback, a folder, and the command as a person runs it."""

import contextlib
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from PIL import Image

import generate_rollouts
from providers.history import LEDGER_FILE, History, Rollout
from scenes import SCENES
from tests.services.replicate_server import TOKEN, ReplicateService

# Every wait of the engine is a multiple of it: a test takes a hundredth of the usual time.
POLL_INTERVAL_S = 0.005


@dataclass(frozen=True)
class Ran:
    """What a run of the command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Studio:
    """rollouts: the folder of videos."""

    service: ReplicateService
    rollouts: Path
    frames: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "REPLICATE_API_TOKEN": TOKEN,
            "REPLICATE_BASE_URL": self.service.url,
            "REPLICATE_POLL_INTERVAL": str(POLL_INTERVAL_S),
        }

    def arguments(self, *arguments: str, model: str = "wan", scene: str = "dice", rate: int = 60_000) -> list[str]:
        where = ["--rollouts", str(self.rollouts), "--frames", str(self.frames)]
        return ["--model", *model.split(), "--scene", *scene.split(), "--rate", str(rate), *where, *arguments]

    def run(self, *arguments: str, model: str = "wan", scene: str = "dice", rate: int = 60_000) -> Ran:
        """Run generate_rollouts.py with these arguments, by default for one cell."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.dict(os.environ):
            os.environ.update(self.environment)
            code = generate_rollouts.main(self.arguments(*arguments, model=model, scene=scene, rate=rate))
        return Ran(code, out.getvalue(), err.getvalue())

    def videos(self, study: str = "main") -> list[str]:
        """Paths of all videos below a study's folder."""
        folder = self.rollouts / study
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.mp4"))

    def leftovers(self) -> list[Path]:
        """Files that no finished run leaves behind."""
        return list(self.rollouts.rglob("*.part"))

    def rollout(self, seed: int = 0, model: str = "wan", scene: str = "dice") -> Rollout:
        return History(self.rollouts / "main").rollout((scene, model, seed))

    def versions(self, model: str) -> set[str]:
        """The versions that the ledger names of a model's predictions; "" for a prediction without one."""
        lines = (self.rollouts / "main" / LEDGER_FILE).read_text().splitlines()
        events = [event for event in map(json.loads, lines) if (event["event"], event["model"]) == ("submitted", model)]
        return {event.get("version", "") for event in events}

    def created(self) -> Counter[object]:
        """How many predictions there have been at the service for each (model, prompt, seed)."""
        return Counter((p.model, p.input["prompt"], p.input["seed"]) for p in self.service.predictions.values())


@contextlib.contextmanager
def studio(tmp_path: Path, service: ReplicateService | None = None) -> Iterator[Studio]:
    """A studio with small conditioning frames; its service runs inside the `with`."""
    frames = tmp_path / "frames"
    frames.mkdir(exist_ok=True)
    for scene in SCENES.values():
        Image.new("RGB", (16, 16), "white").save(frames / f"{scene.frame_stem}.png")
    with service or ReplicateService() as running:
        yield Studio(running, tmp_path / "rollouts", frames)
