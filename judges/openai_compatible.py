"""Any judge behind OpenAI's chat-completions interface, such as a local model served by vLLM or Ollama.

    --judge openai --base-url http://127.0.0.1:11434/v1 --judge-model qwen2.5vl:7b

OPENAI_API_KEY is sent when it is set. Pictures go as data URLs. The interface has no video: of a video the judge is
shown frames in their order, sampled as often as the Gemini judge samples, and the last frame.
"""

import asyncio
import base64
import json
from typing import Any

import httpx

import hints
from addresses import check_base_url
from credentials import OPENAI_KEY, credential, one_line
from errors import UserError
from judges.base import (
    TURNED_AWAY,
    Evidence,
    JudgeError,
    RawReply,
    RejectedError,
    State,
    UnreachableError,
    UnusableError,
    answer_within,
    file_stem,
)
from judges.evidence import sample_frames
from scenes import Evidence as EvidenceKind
from video_io import encode_png

# Local models on small machines take their time; a query without an answer for so long is given up and sent again.
_TIMEOUT_S = 600.0
_CONNECT_TIMEOUT_S = 10.0
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_UNUSABLE = frozenset({401, 402, 403, 404})
# To be changed with _PREFACE: settings tell votes apart that were asked for differently.
_PRESENTATION = "frames-1"
_PREFACE = "These {count} pictures are the frames of a video in their order, {fps:g} a second, and its last frame."
_STATES = {"stop": State.VOTE, "length": State.TRUNCATED, "content_filter": State.BLOCKED}


class OpenAICompatibleJudge:
    """timeout_s: for the answer to a query, seconds. Raises UserError for an unusable setting."""

    def __init__(self, base_url: str, model: str, video_fps: float, *, timeout_s: float = _TIMEOUT_S) -> None:
        key = credential(OPENAI_KEY)
        self.model = model
        self.name = file_stem(f"openai-{model}")
        self._video_fps = video_fps
        self._timeout_s = timeout_s
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = _checked(base_url, bool(key))
        # Two servers may call two models by one name: their votes are not mixed.
        self._server = url.host if url.port is None else f"{url.host}:{url.port}"
        timeout = httpx.Timeout(_TIMEOUT_S, connect=_CONNECT_TIMEOUT_S)
        self._client = httpx.AsyncClient(base_url=url, timeout=timeout, headers=headers)
        self._shown: dict[str, list[dict[str, Any]]] = {}

    def settings(self, kind: EvidenceKind) -> dict[str, Any]:
        shown = {"video_fps": self._video_fps, "presentation": _PRESENTATION} if kind == "video" else {}
        return {"server": self._server, **shown}

    async def open(self) -> None:
        try:
            listed = await self._call("GET", "models")
        except RejectedError:
            return  # not every server lists its models
        models = _ids(listed)
        if models and self.model not in models:
            raise UnusableError(one_line(f"there is no model {self.model}, only {', '.join(models)}"))

    async def prepare(self, evidence: Evidence) -> None:
        # In a thread: decoding and encoding a whole video would hold up every query in flight.
        self._shown[evidence.rollout] = await asyncio.to_thread(_shown, evidence, self._video_fps)

    async def ask(self, evidence: Evidence, question: str, scene: str) -> RawReply:
        content = [*self._shown[evidence.rollout], {"type": "text", "text": question}]
        message = {"role": "user", "content": content}
        answer = await self._call("POST", "chat/completions", {"model": self.model, "messages": [message]})
        try:
            return _reply(json.loads(answer))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            # It may have been paid for, so that it belongs on the log.
            return RawReply(State.UNPARSEABLE, answer, one_line(f"unusable answer: {type(error).__name__}: {error}"))

    async def release(self, evidence: Evidence) -> None:
        self._shown.pop(evidence.rollout, None)

    async def close(self) -> None:
        await self._client.aclose()

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> str:
        """The body of an answer that is OK. Raises JudgeError for any other, and for none."""
        try:
            async with answer_within(self._timeout_s):
                response = await self._client.request(method, path, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(one_line(f"{type(error).__name__}: {error}")) from None
        if response.is_success:
            return response.text
        raise _error(response, is_listing=method == "GET")


def _checked(base_url: str, with_key: bool) -> httpx.URL:
    """A key goes nowhere without encryption; without a key, a server in the local network may do without it."""
    if with_key:
        return check_base_url("--base-url", base_url)
    expected = "expected a URL such as http://127.0.0.1:8000/v1"
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise UserError(f"--base-url: not a URL; {expected}") from error
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        raise UserError(f"--base-url {url.copy_with(userinfo=b'')}: {expected}, without a password")
    return url


def _error(response: httpx.Response, *, is_listing: bool) -> JudgeError:
    detail = hints.detail(response.content)
    text = one_line(f"HTTP {response.status_code}: {detail}")
    if response.status_code == 429 and "insufficient_quota" in detail:
        return UnusableError(f"the quota is used up ({text})")
    if response.status_code in _TRANSIENT:
        pause = hints.seconds(response.headers, response.content)
        return UnreachableError(text, pause, turned_away=response.status_code in TURNED_AWAY)
    if response.status_code in _UNUSABLE and not (is_listing and response.status_code == 404):
        return UnusableError(text)
    return RejectedError(text)


def _ids(listed: str) -> list[str]:
    """The models that a server lists; empty when its list is of another shape."""
    try:
        entries = json.loads(listed)["data"]
        return [str(entry["id"]) for entry in entries]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []


def _shown(evidence: Evidence, fps: float) -> list[dict[str, Any]]:
    """The parts of a message that hold the evidence. Raises VideoError."""
    if evidence.final_frame is not None:
        return [_picture(evidence.final_frame)]
    frames = sample_frames(evidence.clip, fps)
    preface = {"type": "text", "text": _PREFACE.format(count=len(frames), fps=fps)}
    return [preface, *(_picture(encode_png(frame)) for frame in frames)]


def _picture(png: bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(png).decode()}"}}


def _reply(completion: Any) -> RawReply:
    """Raises LookupError, TypeError or AttributeError for an answer of another shape."""
    choices = completion["choices"]
    if not choices:
        return RawReply(State.BLOCKED, detail="no choice in the answer")
    choice = choices[0]
    finish = str(choice.get("finish_reason") or "")
    message = choice["message"]
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) if isinstance(part, dict) else str(part) for part in content)
    text = str(content or "")
    state = _STATES.get(finish, State.TRUNCATED)
    detail = "" if state is State.VOTE else f"finish reason {finish or 'missing'}"
    if message.get("refusal"):
        state, detail = State.REFUSED, str(message["refusal"])
    elif state is State.VOTE and not text.strip():
        state, detail = State.TRUNCATED, "an empty reply"
    # Nothing is paid for but the reply: whatever stands in the place of the counts, it is kept.
    usage = completion["usage"] if isinstance(completion.get("usage"), dict) else {}
    counts = {"prompt": usage.get("prompt_tokens"), "reply": usage.get("completion_tokens")}
    return RawReply(
        state=state,
        text=text,
        detail=one_line(detail),
        model_version=one_line(str(completion.get("model") or "")),
        finish_reason=one_line(finish),
        tokens={kind: count for kind, count in counts.items() if isinstance(count, int)},
    )
