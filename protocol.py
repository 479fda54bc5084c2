"""The protocol digest: what a record was made with, as one SHA-256 that changes when any part of it does.

A digest is taken over canonical JSON. The generation part is the prompt, the bytes of the conditioning frame where the
model is given one, and the model with its inputs; the seed is no part of it, since the rollouts of a cell differ by
nothing else.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from errors import UserError
from models import Model
from paths import CONDITIONING_FRAMES
from scenes import SCENES, Scene
from studies import Study
from video_io import Clips, sha256_file

FRAME_ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
# Where the protocol entry of outcomes names what was read: {"0": SHA-256 of that seed's clip, hexadecimal, ...}.
CLIPS = "clip_sha256"


def digest(value: Any) -> str:
    """SHA-256, hexadecimal, of the canonical JSON of `value`: sorted keys, no spaces, ASCII."""
    return hashlib.sha256(
        json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    ).hexdigest()


def other_clips(clips: Clips, protocol: Mapping[str, Any]) -> list[int]:
    """Seeds whose clip is another than the one that was read, by the protocol entry of a cell's outcomes.

    Neither a clip that is gone nor one of which no hash is recorded (that of a published cell) is another one.
    """
    read = protocol.get(CLIPS, {})
    known = {seed: clip for seed, clip in sorted(clips.found.items()) if str(seed) in read}
    return [seed for seed, clip in known.items() if sha256_file(clip) != read[str(seed)]]


@dataclass(frozen=True, eq=False)
class Generation:
    """How the rollouts of one (study, scene, model) are made.

    frame_path: None for a model that is given no frame.
    """

    scene: str
    model: Model
    prompt: str
    frame_path: Path | None
    inputs: Mapping[str, object]

    @property
    def frame(self) -> Path:
        """The conditioning frame of a model that is given one. Raises ValueError for any other."""
        if self.frame_path is None:
            raise ValueError(f"{self.model.key} is given no conditioning frame")
        return self.frame_path

    @cached_property
    def record(self) -> dict[str, Any]:
        """What is digested. Reads the conditioning frame."""
        try:
            frame = None if self.frame_path is None else self.frame_path.read_bytes()
        except OSError as error:
            expected = "expected a conditioning frame"
            raise UserError(f"{self.frame_path}: cannot read: {error.strerror}; {expected}") from error
        return {
            "prompt": self.prompt,
            "frame_sha256": None if frame is None else hashlib.sha256(frame).hexdigest(),
            "model": self.model.replicate_id or self.model.key,
            "frame_field": self.model.frame_field,
            "inputs": dict(self.inputs),
        }

    @cached_property
    def digest(self) -> str:
        return digest(self.record)


def generation(study: Study, scene: str, model: Model, frames: Path = CONDITIONING_FRAMES) -> Generation:
    """The generation protocol of a cell, with what its study changes.

    Raises UserError when the conditioning frame of a model that is given one is missing or there are several.
    """
    return Generation(
        scene=scene,
        model=model,
        prompt=SCENES[scene].generation_prompt + study.prompt_suffix,
        frame_path=conditioning_frame(SCENES[scene], frames) if model.frame_field else None,
        inputs={**model.inputs, **study.overrides.get(model.key, {})},
    )


def frames_there(scene: Scene, frames: Path) -> list[Path]:
    """The pictures under the scene's stem in a folder, whatever their endings."""
    return [path for ending in FRAME_ENDINGS if (path := frames / f"{scene.frame_stem}{ending}").is_file()]


def conditioning_frame(scene: Scene, frames: Path = CONDITIONING_FRAMES) -> Path:
    """The scene's conditioning frame. Raises UserError unless there is exactly one picture of that name."""
    found = frames_there(scene, frames)
    if len(found) != 1:
        what = " and ".join(path.name for path in found) or "no such file"
        raise UserError(f"{frames}: {what}; expected one {scene.frame_stem} with one of {', '.join(FRAME_ENDINGS)}")
    return found[0]
