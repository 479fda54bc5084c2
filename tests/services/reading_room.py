"""One place where rollouts are read: a judge on loopback, folders of clips, and the command as a person runs it."""

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import extract_bin
from judges.votelog import log_path
from scenes import SCENES
from studies import STUDIES
from tests.services.clips import moving_clip, unique_clip
from tests.services.gemini_server import KEY, GeminiService, outcome_of
from tests.services.studio import Ran
from video_io import encode_png, last_frame


@dataclass(frozen=True)
class ReadingRoom:
    """rollouts, analysis: the folders that the command works on; both are empty at first."""

    service: GeminiService
    rollouts: Path
    analysis: Path

    @property
    def environment(self) -> Mapping[str, str]:
        return {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": self.service.url}

    def arguments(self, *arguments: str, model: str = "mine", scene: str = "dice") -> list[str]:
        where = ["--rollouts", str(self.rollouts), "--analysis", str(self.analysis)]
        return ["--model", *model.split(), "--scene", *scene.split(), *where, *arguments]

    def run(self, *arguments: str, model: str = "mine", scene: str = "dice") -> Ran:
        """Run extract_bin.py with these arguments, by default for one cell."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.dict(os.environ):
            os.environ.update(self.environment)
            code = extract_bin.main(self.arguments(*arguments, model=model, scene=scene))
        return Ran(code, out.getvalue(), err.getvalue())

    def clip(self, seed: int, model: str = "mine", scene: str = "dice", study: str = "main") -> Path:
        return self.rollouts / study / scene / model / f"seed_{seed}.mp4"

    def put_clips(self, model: str = "mine", scene: str = "dice", study: str = "main", pad: int = 0) -> None:
        """As many clips as a cell has, all different to the last frame; `pad` bytes larger than need be."""
        for seed in range(STUDIES[study].n):
            path = self.clip(seed, model, scene, study)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(unique_clip(moving_clip(64 + 2 * seed), f"{study} {scene} {model} {seed}".ljust(pad)))

    def truth(self, scene: str = "dice", model: str = "mine", study: str = "main") -> list[int | None]:
        """What a judge sees who does as it is told, by seed."""
        return [outcome_of(scene, self.shown(seed, scene, model, study)) for seed in range(STUDIES[study].n)]

    def shown(self, seed: int, scene: str = "dice", model: str = "mine", study: str = "main") -> str:
        """SHA-256 of what the judge must be sent of a rollout."""
        clip = self.clip(seed, model, scene, study)
        sent = encode_png(last_frame(clip).frame) if SCENES[scene].evidence == "final_frame" else clip.read_bytes()
        return hashlib.sha256(sent).hexdigest()

    def log(self, scene: str = "dice", model: str = "mine", judge: str = "gemini") -> list[dict[str, Any]]:
        """The lines of a cell's log."""
        path = log_path(self.analysis, "main", scene, model, judge)
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def outcomes(self, scene: str = "dice", model: str = "mine") -> dict[str, Any]:
        """The cell's outcome file."""
        path = self.analysis / STUDIES["main"].bins_file(scene, model)
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return data

    def bins(self, scene: str = "dice", model: str = "mine") -> list[int | None]:
        return [rollout["bin"] for rollout in self.outcomes(scene, model)["rollouts"]]


@contextlib.contextmanager
def reading_room(tmp_path: Path, service: GeminiService | None = None) -> Iterator[ReadingRoom]:
    """A room without clips; its judge runs inside the `with`."""
    analysis = tmp_path / "analysis"
    analysis.mkdir(exist_ok=True)
    with service or GeminiService() as running:
        yield ReadingRoom(running, tmp_path / "rollouts", analysis)
