"""The body of a generateContent answer -> RawReply: total, since whatever came with an OK may be paid for.

The client's own reading of it fails as a whole where one field is odd, and then keeps nothing. Format:
https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

import json
from collections.abc import Mapping
from typing import Any

from credentials import one_line
from judges.base import RawReply, State

# The reply is not complete: a length limit, or a fault of the service.
_TRUNCATING = frozenset({"", "FINISH_REASON_UNSPECIFIED", "MAX_TOKENS", "CONTINUATION", "MALFORMED_RESPONSE", "OTHER"})
_COUNTS = {"prompt": "promptTokenCount", "reply": "candidatesTokenCount", "thinking": "thoughtsTokenCount"}


def read_reply(body: str) -> RawReply:
    """The reply in an answer. One of another shape is State.UNPARSEABLE, with the body as its text."""
    try:
        return _reply(_object(json.loads(body)))
    except (ValueError, TypeError, RecursionError) as error:
        return RawReply(State.UNPARSEABLE, body, one_line(f"unusable answer: {type(error).__name__}: {error}"))


def _reply(answer: Mapping[str, Any]) -> RawReply:
    """Raises TypeError for a field of another type."""
    usage = answer.get("usageMetadata")
    counts = {kind: usage.get(name) for kind, name in _COUNTS.items()} if isinstance(usage, Mapping) else {}
    candidates = _list(answer.get("candidates"))
    candidate = _object(candidates[0]) if candidates else None
    finish = str((candidate or {}).get("finishReason") or "")
    text = _text(candidate or {})
    state, detail = _state(answer, candidate, finish, text)
    return RawReply(
        state=state,
        text=text,
        detail=one_line(detail),
        model_version=one_line(answer.get("modelVersion")),
        finish_reason=one_line(finish),
        tokens={kind: count for kind, count in counts.items() if isinstance(count, int)},
    )


def _text(candidate: Mapping[str, Any]) -> str:
    """The text of a candidate's parts, without its thoughts."""
    parts = [_object(part) for part in _list(_object(candidate.get("content") or {}).get("parts"))]
    texts = [part["text"] for part in parts if part.get("text") and not part.get("thought")]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a part's text is no string")
    return "".join(texts)


def _state(answer: Mapping[str, Any], candidate: Mapping[str, Any] | None, finish: str, text: str) -> tuple[State, str]:
    if candidate is None:
        reason = _object(answer.get("promptFeedback") or {}).get("blockReason") or "no reason given"
        return State.BLOCKED, f"no candidate: the prompt was blocked ({reason})"
    if finish == "STOP":
        return (State.VOTE, "") if text.strip() else (State.TRUNCATED, "an empty reply")
    message = f": {candidate['finishMessage']}" if candidate.get("finishMessage") else ""
    state = State.TRUNCATED if finish in _TRUNCATING else State.BLOCKED
    return state, f"finish reason {finish or 'missing'}{message}"


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{type(value).__name__}; expected an object")
    return value


def _list(value: object) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise TypeError(f"{type(value).__name__}; expected a list")
    return value or []
