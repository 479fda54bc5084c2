"""What simulated rollouts look like and how they are read, in a table beside the versions that say so.

    python -m tests.rollout_table

Writes tests/rollout_table.json anew. To be run after a version was raised.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from constants import SIMULATOR_VERSION
from judges.pixels import VERSION, read
from scenes import SCENES
from simulator import SIMULATORS, first_frame
from tests.pixel_clips import SMALL, label, take
from video_io import Frame

TABLE = Path(__file__).with_suffix(".json")
CELLS = (12, 8)  # across and down
FRAMES = (0, 12, 30, 60, -1)
# Tumbling balls: rounding on another machine makes another tumble of them after a while.
_EARLY = {"lottery": (0, 12, 30)}


@functools.cache
def rollout(scene: str, shown: str) -> list[Frame]:
    return [first_frame(scene, SMALL), *SIMULATORS[scene].frames(take(scene, shown), SMALL)]


def shown_in(scene: str) -> tuple[str, str]:
    """Of each scene one outcome and one artefact."""
    return SCENES[scene].outcomes[-1], SIMULATORS[scene].artefacts[-1]


def cell_means(frame: Frame) -> bytes:
    """Mean levels 0..255 of red, green and blue in each cell, row by row."""
    (columns, rows), (width, height) = CELLS, SMALL
    cells = frame.reshape(rows, height // rows, columns, width // columns, 3)
    return np.rint(cells.mean(axis=(1, 3))).astype(np.uint8).tobytes()


def pictures(scene: str) -> dict[str, str]:
    frames = rollout(scene, shown_in(scene)[0])
    return {str(i): cell_means(frames[i]).hex() for i in _EARLY.get(scene, FRAMES)}


def readings(scene: str) -> dict[str, list[str]]:
    """The answer of the pixels judge and its reason, of frames that went through no encoder."""
    found = {}
    for shown in shown_in(scene):
        frames = rollout(scene, shown)
        reading = read(scene, frames[-1:] if SCENES[scene].evidence == "final_frame" else frames)
        found[shown] = [label(scene, reading), reading.reason]
    return found


def table() -> dict[str, Any]:
    return {
        "simulator_version": SIMULATOR_VERSION,
        "judge_version": VERSION,
        "pictures": {scene: pictures(scene) for scene in SCENES},
        "readings": {scene: readings(scene) for scene in SCENES},
    }


def rewritten() -> str:
    """The text of the table as of now. Raises SystemExit when it changed under versions that did not."""
    old, new = json.loads(TABLE.read_text(encoding="utf-8")), table()
    for version, part in (("simulator_version", "pictures"), ("judge_version", "readings")):
        if old[version] == new[version] and old[part] != new[part]:
            raise SystemExit(f"{part} changed and {version} did not: raise it first")
    return json.dumps(new, indent=1) + "\n"


if __name__ == "__main__":
    TABLE.write_text(rewritten(), encoding="utf-8")
