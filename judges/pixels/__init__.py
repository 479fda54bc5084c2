"""The pixels judge: reads simulated clips by image processing, without a key. `--judge pixels`

    judge = PixelsJudge()
    reply = await judge.ask(evidence, question, "dice")     # text "5" or "null"; the reason stands in `detail`

It is shown what any judge is shown, the final frame or the video, and uses nothing else: no truth file, no name of a
file, no draw of the simulator. What it knows beforehand is how the simulator draws. It reads no other clips: where the
still parts of a scene do not look as the simulator paints them, the reply is `State.NOT_SIMULATED`, which is no vote.

A reader plugs in as a module of this package that defines `READERS`, scene key -> `common.SceneReader`, and is listed
in `READERS` below. It says at which pixels of a frame nothing ever moves (`still`), and makes a `common.Reading` of the
frames of the evidence (`read`): the last frame alone, or all of them in their order. By then the framework has compared
the still pixels. Geometry comes from the scene's simulator module, templates from its drawing code, at the frame's
own size.
"""

import asyncio
import io
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from PIL import Image

from credentials import one_line
from judges.base import Evidence, RawReply, State
from judges.pixels import ball, cards, dice, galton, lottery, pendulum, roulette, walking
from judges.pixels.common import NotSimulatedError, Reading, SceneReader, recognised
from scenes import SCENES
from scenes import Evidence as EvidenceKind
from video_io import Frame, decode

# To be raised with any change that gives some clip another reading: votes of different versions are not mixed.
VERSION = 1
# Clips read at once: readers spend most of their time outside the interpreter's lock.
_WORKERS = 2

READERS: dict[str, SceneReader] = {
    **galton.READERS,
    **ball.READERS,
    **walking.READERS,
    **pendulum.READERS,
    **dice.READERS,
    **cards.READERS,
    **lottery.READERS,
    **roulette.READERS,
}


def read(scene: str, frames: Iterable[Frame]) -> Reading:
    """What the evidence of a clip shows: its final frame alone, or all of its frames in their order.

    Raises NotSimulatedError when these are not frames of the scene's simulator.
    """
    reader = READERS[scene]
    return reader.read(recognised(scene, reader, frames))


class PixelsJudge:
    """Deterministic: all votes of a rollout are one reading of it."""

    name = "pixels"
    model = f"pixels-{VERSION}"

    def __init__(self) -> None:
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="pixels")
        self._replies: dict[str, asyncio.Future[RawReply]] = {}

    def settings(self, kind: EvidenceKind) -> dict[str, Any]:
        return {}

    async def open(self) -> None:
        pass

    async def prepare(self, evidence: Evidence) -> None:
        pass

    async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
        if evidence.rollout not in self._replies:
            loop = asyncio.get_running_loop()
            self._replies[evidence.rollout] = loop.run_in_executor(self._workers, answer, evidence, scene)
        return await asyncio.shield(self._replies[evidence.rollout])

    async def release(self, evidence: Evidence) -> None:
        self._replies.pop(evidence.rollout, None)

    async def close(self) -> None:
        self._workers.shutdown()


def answer(evidence: Evidence, scene: str) -> RawReply:
    """The judge's reply. Raises VideoError for a video that does not decode."""
    try:
        reading = read(scene, _frames(evidence))
    except NotSimulatedError as error:
        return RawReply(State.NOT_SIMULATED, detail=one_line(str(error)), model_version=PixelsJudge.model)
    text = "null" if reading.outcome is None else SCENES[scene].outcomes[reading.outcome - 1]
    return RawReply(State.VOTE, text, detail=one_line(reading.reason), model_version=PixelsJudge.model)


def _frames(evidence: Evidence) -> Iterable[Frame]:
    if evidence.final_frame is None:
        return decode(evidence.clip)
    return [np.array(Image.open(io.BytesIO(evidence.final_frame)).convert("RGB"), dtype=np.uint8)]
