"""Clips on disk: which are there, and what of each a judge is shown."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from judges.base import Evidence
from scenes import Evidence as EvidenceKind
from video_io import Frame, VideoError, decode, encode_png, inspect_clip, sha256_file

_CLIP = re.compile(r"seed_(0|[1-9]\d*)\.mp4")
# A picture whose brightest and darkest samples differ by no more has nothing on it: what an encoder adds is less.
_UNIFORM = 12


@dataclass(frozen=True)
class Clips:
    """The clips of one cell. extra: names of files that are none of seed_0 ... seed_{n-1}; nobody reads them."""

    folder: Path
    found: Mapping[int, Path]
    missing: Sequence[int]
    extra: Sequence[str]


def find_clips(folder: Path, n: int) -> Clips:
    """The clips in rollouts/<study>/<scene>/<model>/, whoever put them there. An absent folder holds none."""
    files = sorted(path for path in folder.glob("*") if not path.name.startswith(".")) if folder.is_dir() else []
    found, extra = {}, []
    for path in files:
        name = _CLIP.fullmatch(path.name)
        if name and int(name.group(1)) < n and path.is_file():
            found[int(name.group(1))] = path
        else:
            extra.append(path.name)
    return Clips(folder, found, [seed for seed in range(n) if seed not in found], extra)


def load_evidence(clip: Path, rollout: str, kind: EvidenceKind) -> Evidence:
    """Decode a clip to its end and take what the judge is to see: its last decodable frame, or the clip as it is.

    Raises VideoError for a clip that is no evidence: "unreadable", "no_frames", "truncated", or "blank" when it stays
    one empty picture, as a safety filter delivers. A clip in which a scene stands still is evidence: the judge sees
    what the model made of it.
    """
    info = inspect_clip(clip, allow_blank=True)
    if info.still and int(np.ptp(info.last)) <= _UNIFORM:
        raise VideoError("blank", f"{clip}: one empty picture from start to end; expected a video of a scene")
    picture = encode_png(info.last) if kind == "final_frame" else None
    return Evidence(kind, rollout, clip, sha256_file(clip), info.frames, info.promised_frames, picture)


def sample_frames(clip: Path, fps: float) -> list[Frame]:
    """The frames at 0, 1/fps, 2/fps ... seconds and the last one, for judges that are shown pictures.

    Raises VideoError.
    """
    info = inspect_clip(clip, allow_blank=True)
    # A clip with fewer frames a second, or with no known rate, is shown whole.
    spacing = max(info.fps / fps, 1.0)
    wanted = {round(i * spacing) for i in range(1 + int(info.frames / spacing))} | {info.frames - 1}
    return [frame for index, frame in enumerate(decode(clip)) if index in wanted]
