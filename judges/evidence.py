"""What of each clip a judge is shown."""

from pathlib import Path

import numpy as np

from judges.base import Evidence
from scenes import Evidence as EvidenceKind
from video_io import Frame, VideoError, decode, encode_png, inspect_clip, sha256_file

# A picture has nothing on it when the samples of no channel differ by more: what an encoder adds is less. Each channel
# by itself, since a plain picture may have any colour.
_UNIFORM = 12


def load_evidence(clip: Path, rollout: str, kind: EvidenceKind) -> Evidence:
    """Decode a clip to its end and take what the judge is to see: its last decodable frame, or the clip as it is.

    Raises VideoError for a clip that is no evidence: "unreadable", "no_frames", "truncated", or "blank" when it stays
    one empty picture, as a safety filter delivers. A clip in which a scene stands still is evidence: the judge sees
    what the model made of it.
    """
    info = inspect_clip(clip, allow_blank=True)
    if info.still and int(np.ptp(info.last, axis=(0, 1)).max()) <= _UNIFORM:
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
