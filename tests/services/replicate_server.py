"""Replicate on loopback: models, predictions, files and output downloads, in the wire format of its HTTP API.

    python -m tests.services.replicate_server --port 8765 --latency 2
    REPLICATE_BASE_URL=http://127.0.0.1:8765 REPLICATE_API_TOKEN=test-token python generate_rollouts.py --model wan

Format: https://replicate.com/docs/reference/http, as the client (replicate 1.0.7) sends and accepts it.
"""

import argparse
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from models import MODELS
from tests.services.base import LoopbackService, Request, Response, json_response
from tests.services.clips import moving_clip, unique_clip

TOKEN = "test-token"
_PAGE = 100


@dataclass(frozen=True)
class Outcome:
    """What becomes of one prediction.

    latency_s: from its creation to its end; inf: never. status: the one it ends with. video: the file's bytes; None:
    the server's own clip, different for each prediction. output: given the URL of the video, the `output` field.
    url: given the URL of the video, the one that is told. life_s: how long the output is kept after the end.
    """

    status: str = "succeeded"
    latency_s: float = 0.0
    error: str | None = None
    logs: str = ""
    video: bytes | None = None
    output: Callable[[str], Any] = lambda url: url
    url: Callable[[str], str] = lambda url: url
    life_s: float = 3600.0


@dataclass
class Created:
    """A prediction at the server. deliveries: how often its video was fetched."""

    id: str
    model: str
    version: str
    input: dict[str, Any]
    outcome: Outcome
    time: datetime
    cancelled: bool = False
    deliveries: int = 0

    @property
    def ends(self) -> datetime:
        return self.time + timedelta(seconds=min(self.outcome.latency_s, 1e6))


@dataclass
class StoredFile:
    """An uploaded file."""

    id: str
    name: str
    size: int
    expires: datetime


class ReplicateService(LoopbackService):
    """outcome: model, input and how many predictions of this input there have been -> what becomes of the next one.

    creates_a_second: rate limit; beyond it a create gets a 429 with a hint in the body or in the header, by turns.
    file_life_s: how long uploads are kept. schemas: replicate id -> properties of its input schema.
    community: replicate ids of models that are not official: their predictions are created by version only. Models say
    which kind they are unless `tells_kind` is false.
    limits: of each 429, the time of its request on the monotonic clock and the pause that it asked for, seconds.
    """

    def __init__(
        self,
        outcome: Callable[[str, Mapping[str, Any], int], Outcome] = lambda model, inputs, before: Outcome(),
        *,
        port: int = 0,
        clock_ahead_s: float = 0.0,
        creates_a_second: float | None = None,
        file_life_s: float = 24 * 3600.0,
        schemas: Mapping[str, Mapping[str, Any]] | None = None,
        community: Collection[str] = (),
        tells_kind: bool = True,
    ) -> None:
        super().__init__(port, clock_ahead_s)
        self.predictions: dict[str, Created] = {}
        self.files: dict[str, StoredFile] = {}
        self.schemas = dict(published_schemas() if schemas is None else schemas)
        self.limits: list[tuple[float, float]] = []
        self._community = frozenset(community)
        self._tells_kind = tells_kind
        self._outcome = outcome
        self._spacing = 1 / creates_a_second if creates_a_second else 0.0
        self._next_create = 0.0
        self._file_life = timedelta(seconds=file_life_s)
        self._clip = moving_clip()

    def handle(self, request: Request) -> Response:
        parts = request.path.strip("/").split("/")
        if parts[0] == "delivery":
            return self._deliver(parts[1])
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return _problem(401, "Unauthenticated", "You did not pass a valid authentication token")
        with self.mutex:
            match (request.method, *parts[1:]):
                case ("GET", "account"):
                    return json_response({"type": "user", "username": "test", "name": "Test", "github_url": None})
                case ("GET", "models", owner, name):
                    return self._model(f"{owner}/{name}")
                case ("POST", "models", owner, name, "predictions") if f"{owner}/{name}" not in self._community:
                    return self._create(f"{owner}/{name}", request)
                case ("POST", "predictions"):
                    versions = {version_of(model): model for model in self._community}
                    return self._create(versions.get(request.json()["version"], ""), request)
                case ("GET", "predictions"):
                    return self._list(int(request.query.get("cursor", 0)))
                case ("GET", "predictions", prediction_id) if prediction_id in self.predictions:
                    return json_response(self._prediction(self.predictions[prediction_id]))
                case ("POST", "predictions", prediction_id, "cancel") if prediction_id in self.predictions:
                    created = self.predictions[prediction_id]
                    created.cancelled = created.cancelled or self.now() < created.ends
                    return json_response(self._prediction(self.predictions[prediction_id]))
                case ("POST", "files"):
                    return self._upload(request)
        return _problem(404, "Not found", "The requested resource could not be found")

    def create(self, model: str, inputs: Mapping[str, Any]) -> str:
        """A prediction that somebody else made on the same account; its id."""
        with self.mutex:
            before = sum(p.model == model and _same(p.input, inputs) for p in self.predictions.values())
            outcome = self._outcome(model, inputs, before)
            version = version_of(model) if model in self._community else "hidden"
            created = Created(secrets.token_hex(13), model, version, dict(inputs), outcome, self.now())
            self.predictions[created.id] = created
        return created.id

    def paid(self) -> list[Created]:
        """The predictions that are charged for: all but those that failed or were cancelled."""
        return [p for p in self.predictions.values() if not p.cancelled and p.outcome.status == "succeeded"]

    def _model(self, model: str) -> Response:
        if model not in self.schemas:
            return _problem(404, "Not found", "The requested resource could not be found")
        owner, name = model.split("/")
        schema = {"components": {"schemas": self.schemas[model]}}
        version = {
            "id": version_of(model),
            "created_at": _stamp(self.now()),
            "cog_version": "0.9",
            "openapi_schema": schema,
        }
        links = dict.fromkeys(["description", "github_url", "paper_url", "license_url", "cover_image_url"])
        about = {"url": f"https://replicate.com/{model}", "owner": owner, "name": name, "visibility": "public"}
        kind = {"is_official": model not in self._community} if self._tells_kind else {}
        rest = {"run_count": 1, "default_example": None, "latest_version": version}
        return json_response({**about, **links, **kind, **rest})

    def _create(self, model: str, request: Request) -> Response:
        inputs: dict[str, Any] = request.json()["input"]
        if model not in self.schemas:
            return _problem(404, "Not found", "The requested resource could not be found")
        if request.time < self._next_create:
            return self._limit(request.time, self._next_create - request.time)
        self._next_create = request.time + self._spacing
        unknown = set(inputs) - set(self.schemas[model].get("Input", {}).get("properties", inputs))
        if unknown:
            return _problem(422, "Input validation failed", f"- input.{min(unknown)}: additional property")
        created = self.predictions[self.create(model, inputs)]
        if not self._has_frame(inputs):
            created.outcome = Outcome("failed", error="could not fetch the input image: 404")
        return json_response(self._prediction(created), 201)

    def _limit(self, now: float, wait_s: float) -> Response:
        self.limits.append((now, wait_s))
        if len(self.limits) % 2:
            text = "Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute"
            return _problem(429, "", f"{text} with a burst of 1. Your rate limit resets in ~{wait_s:.3f}s.")
        return _problem(429, "", "Request was throttled.", {"Retry-After": f"{wait_s:.3f}"})

    def _has_frame(self, inputs: Mapping[str, Any]) -> bool:
        """Whether some input is the URL of a file that is still kept."""
        now = self.now()
        return any(
            isinstance(v, str) and any(f"/files/{f.id}" in v and f.expires > now for f in self.files.values())
            for v in inputs.values()
        )

    def _list(self, cursor: int) -> Response:
        newest_first = list(self.predictions.values())[::-1]
        page = newest_first[cursor : cursor + _PAGE]
        more = cursor + _PAGE < len(newest_first)
        following = f"{self.url}/v1/predictions?cursor={cursor + _PAGE}" if more else None
        return json_response({"previous": None, "next": following, "results": [self._prediction(p) for p in page]})

    def _prediction(self, created: Created) -> dict[str, Any]:
        now, outcome = self.now(), created.outcome
        over = now >= created.ends or created.cancelled
        status = "canceled" if created.cancelled else outcome.status if over else "processing"
        removed = over and now > created.ends + timedelta(seconds=outcome.life_s)
        url = outcome.url(f"{self.url}/delivery/{created.id}/output.mp4")
        succeeded = over and status == "succeeded" and not removed
        own = f"{self.url}/v1/predictions/{created.id}"
        return {
            "id": created.id,
            "model": created.model,
            "version": created.version,
            "input": {} if removed else created.input,
            "logs": "" if removed else outcome.logs,
            "output": outcome.output(url) if succeeded else None,
            "data_removed": removed,
            "error": outcome.error if over else None,
            "source": "api",
            "status": status,
            "created_at": _stamp(created.time),
            "started_at": _stamp(created.time),
            "completed_at": _stamp(created.ends) if over else None,
            "metrics": {"predict_time": outcome.latency_s} if over else {},
            "urls": {"get": own, "cancel": f"{own}/cancel", "web": f"https://replicate.com/p/{created.id}"},
        }

    def _upload(self, request: Request) -> Response:
        name = request.body.partition(b'filename="')[2].partition(b'"')[0].decode()
        stored = StoredFile(secrets.token_hex(8), name, len(request.body), self.now() + self._file_life)
        self.files[stored.id] = stored
        return json_response(
            {
                "id": stored.id,
                "name": stored.name,
                "content_type": "image/png",
                "size": stored.size,
                "etag": stored.id,
                "checksums": {},
                "metadata": {},
                "created_at": _stamp(self.now()),
                "expires_at": _stamp(stored.expires),
                "urls": {"get": f"{self.url}/v1/files/{stored.id}"},
            },
            201,
        )

    def _deliver(self, prediction_id: str) -> Response:
        created = self.predictions.get(prediction_id)
        now = self.now()
        if created is None or now > created.ends + timedelta(seconds=created.outcome.life_s):
            return Response(404, b"<Error><Code>NoSuchKey</Code></Error>", {"Content-Type": "application/xml"})
        created.deliveries += 1
        video = created.outcome.video
        return Response(
            200, unique_clip(self._clip, prediction_id) if video is None else video, {"Content-Type": "video/mp4"}
        )


def version_of(model: str) -> str:
    """The id of a model's latest version."""
    return hashlib.sha256(model.encode()).hexdigest()


def published_schemas() -> dict[str, dict[str, Any]]:
    """Input schemas of the models of Table 1: what we set, what they document, prompt, seed and frame."""
    return {
        model.replicate_id: input_schema(model.frame_field, *model.inputs, *model.api_defaults)
        for model in MODELS.values()
        if model.replicate_id
    }


def input_schema(*names: str) -> dict[str, Any]:
    """Component schemas of a model with these inputs beside prompt and seed; choices as Replicate writes them."""
    properties: dict[str, Any] = {name: {"title": name} for name in ("prompt", "seed", *names)}
    schemas: dict[str, Any] = {"Input": {"type": "object", "properties": properties, "required": ["prompt"]}}
    if "resolution" in properties:
        properties["resolution"] = {"allOf": [{"$ref": "#/components/schemas/resolution"}]}
        schemas["resolution"] = {"enum": ["480p", "720p", "1080p"], "type": "string"}
    return schemas


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return (first.get("prompt"), first.get("seed")) == (second.get("prompt"), second.get("seed"))


def _problem(status: int, title: str, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    return json_response({"title": title, "detail": detail, "status": status}, status, headers)


def _stamp(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--latency", type=float, default=1.0, help="seconds that a prediction takes")
    args = options.parse_args()
    with ReplicateService(lambda *_: Outcome(latency_s=args.latency), port=args.port) as service:
        print(json.dumps({"url": service.url, "token": TOKEN}), flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main()
