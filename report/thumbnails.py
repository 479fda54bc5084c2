"""Final frames as small pictures in the page itself."""

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from errors import UserError
from scenes import SCENES
from studies import STUDIES
from video_io import Clips, VideoError, find_clips, last_frame

# Wide enough to see a die's face or a pocket's colour; some 5 KB each, so that a model's 288 frames take 2 MB.
_WIDTH = 208
_QUALITY = 65

# Seed -> data URL, or None for a clip that does not decode.
Frames = Mapping[int, str | None]


def final_frames(rollouts: Path, models: Sequence[str]) -> dict[tuple[str, str], Frames]:
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
        return {key: _frames(cell, progress) for key, cell in clips.items() if cell.found}


def _frames(clips: Clips, progress: "tqdm[None]") -> Frames:
    frames: dict[int, str | None] = {}
    for seed in sorted(clips.found):
        try:
            frames[seed] = _data_url(Image.fromarray(last_frame(clips.found[seed]).frame))
        except VideoError:
            frames[seed] = None
        progress.update()
    return frames


def _data_url(picture: Image.Image) -> str:
    """The picture as a JPEG; the same picture gives the same text."""
    height = max(1, round(picture.height * _WIDTH / picture.width))
    buffer = io.BytesIO()
    picture.resize((_WIDTH, height), Image.Resampling.LANCZOS).save(buffer, format="JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
