"""OpenAI's chat-completions interface on loopback, as vLLM and Ollama serve it.

    python -m tests.services.openai_server --port 8767 --latency 2
    python extract_bin.py --model wan --judge openai --base-url http://127.0.0.1:8767/v1 --judge-model test-model

Format: https://platform.openai.com/docs/api-reference/chat.
"""

import argparse
import base64
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenes import SCENES
from tests.services.base import LoopbackService, Request, Response, json_response
from tests.services.gemini_server import outcome_of

MODEL = "test-model"
VERSION = "test-model-2026-05"


@dataclass(frozen=True)
class Query:
    """One completion. pictures: SHA-256 of each, in order. text: what is said beside the question.

    before: how many queries with this question and these pictures there were before it. config: further fields.
    """

    question: str
    pictures: tuple[str, ...]
    text: str
    before: int
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What the model answers; `extra` are further fields of the message."""

    content: Any = "null"
    finish_reason: str | None = "stop"
    latency_s: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)


def seen(query: Query) -> Answer:
    """The answer of a judge that does as it is told: it looks at the last picture."""
    scene = next(scene for scene in SCENES.values() if scene.judge_question == query.question)
    outcome = outcome_of(scene.key, query.pictures[-1])
    return Answer("null" if outcome is None else scene.outcomes[outcome - 1])


def error(status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """An error as this interface sends it."""
    return json_response({"error": {"message": message, "type": "error", "code": code}}, status, headers)


class OpenAIService(LoopbackService):
    """answer: query -> what the model says. key: the one that is asked for; None: none. lists_models: GET /models."""

    def __init__(
        self,
        answer: Callable[[Query], Answer] = seen,
        *,
        port: int = 0,
        key: str | None = None,
        lists_models: bool = True,
    ) -> None:
        super().__init__(port)
        self._answer = answer
        self._key = key
        self._lists_models = lists_models
        self.queries: list[Query] = []

    def handle(self, request: Request) -> Response:
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return error(401, "Incorrect API key provided.", "invalid_api_key")
        if request.method == "GET" and request.path == "/v1/models" and self._lists_models:
            return json_response({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        if request.method == "POST" and request.path == "/v1/chat/completions":
            return self._complete(request)
        return error(404, "404 page not found")

    def _complete(self, request: Request) -> Response:
        body = request.json()
        if body["model"] != MODEL:
            return error(404, f'model "{body["model"]}" not found, try pulling it first', "model_not_found")
        (message,) = body["messages"]
        texts = [part["text"] for part in message["content"] if part["type"] == "text"]
        urls = [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
        pictures = [base64.b64decode(url.removeprefix("data:image/png;base64,"), validate=True) for url in urls]
        hashes = tuple(hashlib.sha256(picture).hexdigest() for picture in pictures)
        config = {name: value for name, value in body.items() if name not in {"model", "messages"}}
        with self.mutex:
            before = sum(q.pictures == hashes and q.question == texts[-1] for q in self.queries)
            query = Query(texts[-1], hashes, " ".join(texts[:-1]), before, config)
            self.queries.append(query)
        answer = self._answer(query)
        time.sleep(answer.latency_s)
        reply = {"role": "assistant", "content": answer.content, **answer.extra}
        return json_response(
            {
                "id": "chatcmpl-loopback",
                "object": "chat.completion",
                "model": VERSION,
                "choices": [{"index": 0, "message": reply, "finish_reason": answer.finish_reason}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 2, "total_tokens": 302},
            }
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options.add_argument("--latency", type=float, default=0.0, help="seconds that an answer takes")
    args = options.parse_args()

    def answer(query: Query) -> Answer:
        return Answer(seen(query).content, latency_s=args.latency)

    with OpenAIService(answer, port=args.port) as service:
        print(json.dumps({"url": f"{service.url}/v1", "model": MODEL}), flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
