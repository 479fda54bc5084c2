"""What the tests of labelling share: clips on disk, a small sample, and a client of the page's server."""

import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from labelling.sample import Clip, Sample
from labelling.server import LabellingServer
from services.clips import moving_clip

CLIP = moving_clip()
SAMPLE = Sample((Clip("ball", "wan", 3, "a"), Clip("ball", "veo31", 0, "b"), Clip("dice", "wan", 1, "c")), ())


def put_clips(rollouts: Path, scene: str, model: str, seeds: range) -> None:
    folder = rollouts / "main" / scene / model
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / f"seed_{seed}.mp4").write_bytes(CLIP)


class Reply:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    server: LabellingServer,
    route: str,
    message: object = None,
    headers: Mapping[str, str] | None = None,
    token: str | None = None,
) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    body = message if isinstance(message, bytes) else None if message is None else json.dumps(message).encode()
    path = f"/{server.token if token is None else token}/{route}"
    connection.request("GET" if body is None else "POST", path, body, dict(headers or {}))
    reply = Reply(connection.getresponse())
    connection.close()
    return reply
