"""extract_bin.py killed again and again: every vote that was logged is kept, and none of them is asked for twice."""

import json
import multiprocessing
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tests.services.gemini_server import Answer, GeminiService, Query, seen
from tests.services.reading_room import ReadingRoom, reading_room, run_alone

KILLS = 25
SCENES = ("ball", "dice")
CONCURRENCY = 4
VOTES = 64 * 3
# A clip of this size is uploaded.
LARGE = 5_000_000


def _votes_on_disk(room: ReadingRoom) -> Counter[tuple[str, int, int]]:
    """(scene, seed, number) of every vote that is wholly on disk."""
    lines = []
    for scene in SCENES:
        path = room.log_file("main", scene)
        complete = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        lines += [(scene, json.loads(line)) for line in complete]
    return Counter((scene, line["seed"], line["vote"]) for scene, line in lines if line["state"] == "vote")


def test_after_many_kills_every_vote_is_there_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)

    def answer(query: Query) -> Answer:
        return Answer(seen(query).text, latency_s=0.01)

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([run_alone.__module__])
    with reading_room(tmp_path, GeminiService(answer)) as room:
        for scene in SCENES:
            room.put_clips("main", scene)
        for seed in (0, 16):
            clip = room.clip(seed, "main", "ball")
            clip.write_bytes(clip.read_bytes() + LARGE.to_bytes(4) + b"free" + bytes(LARGE - 8))
        arguments = room.arguments("--concurrency", str(CONCURRENCY), study="main", scene=" ".join(SCENES))

        def run_until(requests: int) -> int | None:
            """Run the command, kill it once the service has seen so many more requests; its exit code if it ended."""
            process = context.Process(target=run_alone, args=(arguments, dict(room.environment)))
            seen_before = len(room.service.requests)
            process.start()
            while process.is_alive() and len(room.service.requests) < seen_before + requests:
                time.sleep(0.001)
            time.sleep(float(rng.uniform(0, 0.02)))
            ended = not process.is_alive()
            process.kill()
            process.join()
            return process.exitcode if ended else None

        kept: Counter[tuple[str, int, int]] = Counter()
        for _ in range(KILLS):
            assert run_until(int(rng.integers(1, 12))) is None, "the work lasts for all kills"
            now = _votes_on_disk(room)
            assert kept <= now, "what was on disk stays there"
            kept = now
        assert 0 < kept.total() < VOTES
        assert run_until(1_000_000) == 0

        votes = _votes_on_disk(room)
        assert len(votes) == votes.total() == VOTES, "every vote once"
        assert len(room.service.queries) <= VOTES + KILLS * CONCURRENCY, "only what was in flight is asked again"
        for scene in SCENES:
            assert room.bins("main", scene) == room.truth("main", scene)
        assert any(query.uploaded for query in room.service.queries)
        assert room.service.files == {}, "no upload is left behind"
