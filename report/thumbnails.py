"""Final frames as small pictures in the page itself."""

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from tqdm import tqdm

from errors import UserError
from scenes import SCENES
from studies import STUDIES
from video_io import Clips, VideoError, find_clips, last_frame, sha256_file

# Wide enough to see a die's face or a pocket's colour; some 5 KB each, so that a model's 288 frames take 2 MB.
_WIDTH = 208
_QUALITY = 65

# Seed -> its picture: "source", a data URL or None for a clip that does not decode, and "read", whether the clip is the
# one that the outcome was read from.
Frames = Mapping[int, Mapping[str, Any]]
# (scene, model) -> seed, as text -> SHA-256 of the clip that its outcome was read from, where that is known.
Read = Mapping[tuple[str, str], Mapping[str, str]]


def final_frames(rollouts: Path, models: Sequence[str], read: Read) -> dict[tuple[str, str], Frames]:
    """(scene, model) -> the last decodable frame of each clip in rollouts/main/<scene>/<model>/.

    Raises UserError when there is no clip of any of these models.
    """
    study = STUDIES["main"]
    clips = {
        (scene, model): find_clips(rollouts / study.key / study.scene_name(scene) / model, study.n)
        for scene in SCENES
        for model in models
    }
    total = sum(len(cell.found) for cell in clips.values())
    if not total:
        where = rollouts / study.key
        raise UserError(f"{where}: no clip of {', '.join(models)}; expected {{scene}}/{{model}}/seed_0.mp4 and so on")
    with tqdm(total=total, desc="final frames", unit="clip", disable=None) as progress:
        return {key: _frames(cell, read.get(key, {}), progress) for key, cell in clips.items() if cell.found}


def _frames(clips: Clips, read: Mapping[str, str], progress: "tqdm[None]") -> Frames:
    frames: dict[int, dict[str, Any]] = {}
    for seed, path in sorted(clips.found.items()):
        try:
            source = _data_url(Image.fromarray(last_frame(path).frame))
        except VideoError:
            source = None
        known = read.get(str(seed))
        frames[seed] = {"source": source, "read": known is not None and sha256_file(path) == known}
        progress.update()
    return frames


def _data_url(picture: Image.Image) -> str:
    """The picture as a JPEG; the same picture gives the same text."""
    height = max(1, round(picture.height * _WIDTH / picture.width))
    buffer = io.BytesIO()
    picture.resize((_WIDTH, height), Image.Resampling.LANCZOS).save(buffer, format="JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
