"""The Gemini API on loopback: models, generateContent and the Files API, in its wire format.

    python -m tests.services.gemini_server --port 8766 --latency 2
    GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8766 GEMINI_API_KEY=test-key python extract_bin.py --model wan

Format: https://ai.google.dev/api, as the client (google-genai 3.6.1) sends and accepts it.
"""

import argparse
import base64
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenes import SCENES
from tests.services.base import LoopbackService, Request, Response, json_response

KEY = "test-key"
MODEL = "gemini-3.1-pro-preview"
# A request may have this many bytes, as documented.
MAX_REQUEST_BYTES = 20_000_000
_MAX_FPS = 24.0


@dataclass(frozen=True)
class Query:
    """One generateContent. before: how many queries with this question and evidence there were before it.

    sha256: of the evidence's bytes. uploaded: they came through the Files API. fps: sampling, None when not set.
    """

    question: str
    mime_type: str
    sha256: str
    uploaded: bool
    fps: float | None
    before: int
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What the model answers. text: None for a candidate without content. candidate: False for none at all.

    thought: a part that is marked as a thought, before the text. extra: further fields of the response.
    """

    text: str | None = "null"
    finish_reason: str | None = "STOP"
    candidate: bool = True
    block_reason: str | None = None
    thought: str = ""
    latency_s: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class StoredFile:
    """A file of the Files API. polls: how often its state was asked for."""

    name: str
    mime_type: str
    size: int
    data: bytes = b""
    finished: bool = False
    polls: int = 0


def outcome_of(scene: str, sha256: str) -> int | None:
    """What a model that does as it is told sees in the evidence with this hash: an outcome or null, always the same."""
    drawn = int(sha256[:8], 16) % (SCENES[scene].k + 1)
    return drawn or None


def seen(query: Query) -> Answer:
    """The answer of a judge that does as it is told."""
    scene = next(scene for scene in SCENES.values() if scene.judge_question == query.question)
    outcome = outcome_of(scene.key, query.sha256)
    return Answer("null" if outcome is None else scene.outcomes[outcome - 1])


def google_error(code: int, status: str, message: str, *details: Mapping[str, Any], **headers: str) -> Response:
    """A google.rpc.Status as this API sends it. Underscores in header names stand for hyphens."""
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return json_response({"error": error}, code, {name.replace("_", "-"): value for name, value in headers.items()})


def rate_limited(retry_delay: str = "", quota: str = "GenerateRequestsPerMinutePerProjectPerModel") -> Response:
    """429 with its QuotaFailure, and a RetryInfo when there is a delay."""
    failure = {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "generate_requests", "quotaId": quota, "quotaValue": "25"}],
    }
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}
    details = [failure, info] if retry_delay else [failure]
    return google_error(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", *details)


class GeminiService(LoopbackService):
    """answer: query -> what the model says. states: state of an uploaded file at its first, second ... look; the last
    one stays. queries: every generateContent that was answered. bytes_received: of all request bodies.

    keep_bodies: whether `requests` keeps what was sent; a long run with large clips would fill the memory.
    """

    def __init__(
        self,
        answer: Callable[[Query], Answer] = seen,
        *,
        port: int = 0,
        states: tuple[str, ...] = ("PROCESSING", "ACTIVE"),
        keep_bodies: bool = True,
    ) -> None:
        super().__init__(port)
        self._answer = answer
        self._states = states
        self._keep_bodies = keep_bodies
        self.queries: list[Query] = []
        self.files: dict[str, StoredFile] = {}
        self.deleted: list[str] = []
        self.bytes_received = 0

    def answer(self, request: Request) -> Response:
        with self.mutex:
            self.bytes_received += len(request.body)
        response = super().answer(request)
        if not self._keep_bodies:
            with self.mutex:
                self.requests.clear()
        return response

    def handle(self, request: Request) -> Response:
        # The parts of an upload come without the key: their URL is the secret.
        if request.headers.get("x-goog-api-key") != KEY and "upload_id" not in request.query:
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return google_error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", reason)
        # The client's default version is v1; GOOGLE_GENAI_API_VERSION selects another.
        path = re.sub(r"/v1(?:beta)?/", "/v1/", request.path, count=1)
        if request.method == "GET" and path == f"/v1/models/{MODEL}":
            return json_response({"name": f"models/{MODEL}", "supportedGenerationMethods": ["generateContent"]})
        if request.method == "POST" and path == f"/v1/models/{MODEL}:generateContent":
            return self._generate(request)
        if request.method == "POST" and path == "/upload/v1/files":
            return self._upload(request)
        if path.startswith("/v1/files/"):
            return self._file(request, path.removeprefix("/v1/"))
        if "/models/" in path:
            return google_error(404, "NOT_FOUND", f"{path.removeprefix('/v1/')} is not found for API version v1")
        return google_error(404, "NOT_FOUND", "Requested entity was not found.")

    def _generate(self, request: Request) -> Response:
        if len(request.body) > MAX_REQUEST_BYTES:
            return google_error(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.")
        body = _camel_case(request.json())
        shown, asked = body["contents"][0]["parts"]
        fps = shown.get("videoMetadata", {}).get("fps")
        if fps is not None and not 0 < fps <= _MAX_FPS:
            return google_error(400, "INVALID_ARGUMENT", "The fps must be in the range (0.0, 24.0].")
        if "inlineData" in shown:
            data, mime_type = base64.urlsafe_b64decode(shown["inlineData"]["data"]), shown["inlineData"]["mimeType"]
        else:
            name = shown["fileData"]["fileUri"].removeprefix(f"{self.url}/v1/")
            file = self.files.get(name)
            if file is None:
                message = f"You do not have permission to access the File {name} or it may not exist."
                return google_error(403, "PERMISSION_DENIED", message)
            if self._state(file) != "ACTIVE":
                message = f"The File {name} is not in an ACTIVE state and usage is not allowed."
                return google_error(400, "FAILED_PRECONDITION", message)
            data, mime_type = file.data, file.mime_type
        sha256 = hashlib.sha256(data).hexdigest()
        with self.mutex:
            before = sum(q.sha256 == sha256 and q.question == asked["text"] for q in self.queries)
            query = Query(
                asked["text"], mime_type, sha256, "fileData" in shown, fps, before, body.get("generationConfig", {})
            )
            self.queries.append(query)
        answer = self._answer(query)
        time.sleep(answer.latency_s)
        return json_response(_response(answer))

    def _upload(self, request: Request) -> Response:
        command = request.headers["x-goog-upload-command"]
        if command == "start":
            file = _camel_case(request.json()["file"])
            name = str(file["name"])
            with self.mutex:
                if name in self.files:
                    return google_error(409, "ALREADY_EXISTS", "Requested entity already exists")
                size = int(request.headers["x-goog-upload-header-content-length"])
                self.files[name] = StoredFile(name, str(file["mimeType"]), size)
            url = f"{self.url}/upload/v1/files?upload_id={name.removeprefix('files/')}&upload_protocol=resumable"
            return json_response({}, headers={"X-Goog-Upload-URL": url, "X-Goog-Upload-Status": "active"})
        file = self.files[f"files/{request.query['upload_id']}"]
        if int(request.headers["x-goog-upload-offset"]) != len(file.data):
            return google_error(400, "INVALID_ARGUMENT", "Wrong offset.")
        file.data += request.body
        file.finished = "finalize" in command
        status = "final" if file.finished else "active"
        return json_response({"file": self._described(file)}, headers={"X-Goog-Upload-Status": status})

    def _file(self, request: Request, name: str) -> Response:
        with self.mutex:
            if name not in self.files:
                message = f"You do not have permission to access the File {name} or it may not exist."
                return google_error(403, "PERMISSION_DENIED", message)
            if request.method == "DELETE":
                del self.files[name]
                self.deleted.append(name)
                return json_response({})
            self.files[name].polls += 1
            return json_response(self._described(self.files[name]))

    def _state(self, file: StoredFile) -> str:
        return self._states[min(file.polls, len(self._states) - 1)] if file.finished else "PROCESSING"

    def _described(self, file: StoredFile) -> dict[str, Any]:
        described: dict[str, Any] = {
            "name": file.name,
            "mimeType": file.mime_type,
            "sizeBytes": str(file.size),
            "createTime": self.now().isoformat(),
            "sha256Hash": base64.b64encode(hashlib.sha256(file.data).hexdigest().encode()).decode(),
            "uri": f"{self.url}/v1/{file.name}",
            "state": self._state(file),
            "source": "UPLOADED",
        }
        if described["state"] == "FAILED":
            described["error"] = {"code": 3, "message": "The video could not be processed."}
        return described


def _camel_case(value: Any) -> Any:
    """Field names in the one of two forms that Protocol Buffers' JSON knows; the client mixes them, as it may."""
    if isinstance(value, list):
        return [_camel_case(item) for item in value]
    if isinstance(value, dict):
        return {re.sub(r"_(.)", lambda m: m.group(1).upper(), key): _camel_case(item) for key, item in value.items()}
    return value


def _response(answer: Answer) -> dict[str, Any]:
    response: dict[str, Any] = {
        "usageMetadata": {
            "promptTokenCount": 400,
            "candidatesTokenCount": 1,
            "totalTokenCount": 521,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 100}, {"modality": "IMAGE", "tokenCount": 300}],
            "thoughtsTokenCount": 120,
        },
        "modelVersion": MODEL,
        "responseId": "loopback",
    }
    if answer.block_reason:
        response["promptFeedback"] = {"blockReason": answer.block_reason}
    if answer.candidate:
        candidate: dict[str, Any] = {"index": 0}
        if answer.text is not None:
            thoughts = [{"text": answer.thought, "thought": True}] if answer.thought else []
            candidate["content"] = {"parts": [*thoughts, {"text": answer.text}], "role": "model"}
        if answer.finish_reason is not None:
            candidate["finishReason"] = answer.finish_reason
        response["candidates"] = [candidate]
    return response | dict(answer.extra)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options.add_argument("--latency", type=float, default=0.0, help="seconds that an answer takes")
    args = options.parse_args()

    def answer(query: Query) -> Answer:
        return Answer(seen(query).text, latency_s=args.latency)

    with GeminiService(answer, port=args.port, keep_bodies=False) as service:
        print(json.dumps({"url": service.url, "key": KEY}), flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
