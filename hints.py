"""What an error answer says: its words, and after how many seconds to come back."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

# Header names as of RFC 9110 and of the IETF draft on rate-limit headers, with the older X- form.
_DELAY_HEADERS = ("retry-after", "ratelimit-reset", "x-ratelimit-reset")
_DELAY_FIELDS = ("retry_after", "retryAfter", "retry_after_seconds")
# "Your rate limit resets in ~8s.", "Expected available in 12 seconds."
_DELAY_TEXT = re.compile(r"\bin\s*~?\s*(\d+(?:\.\d+)?)\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?)\b", re.IGNORECASE)
_UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
# Above this a number of seconds is a point in time, as some services send it.
_EPOCH = 1e9


def detail(body: bytes) -> str:
    """The words of an error body: `title` and `detail` of RFC 9457, an `error` message, or the text itself."""
    data = _parsed(body)
    if not isinstance(data, Mapping):
        return body.decode("utf-8", errors="replace")
    words = [data.get(key) for key in ("title", "detail", "error", "message")]
    return ": ".join(str(word) for word in words if word) or body.decode("utf-8", errors="replace")


def seconds(headers: Mapping[str, str], body: bytes) -> float | None:
    """The pause that a 429 asks for: the longest one that its headers and body name, None when they name none."""
    hints = [_delay(headers[name]) for name in _DELAY_HEADERS if name in headers]
    data = _parsed(body)
    if isinstance(data, Mapping):
        hints += [_delay(str(data[name])) for name in _DELAY_FIELDS if name in data]
    hints += [float(number) * _UNITS[_unit(unit)] for number, unit in _DELAY_TEXT.findall(detail(body))]
    return max((hint for hint in hints if hint is not None), default=None)


def _delay(text: str) -> float | None:
    now = datetime.now(UTC)
    try:
        number = float(text.strip().removesuffix("s"))
    except ValueError:
        try:
            number = parsedate_to_datetime(text).timestamp()
        except (ValueError, TypeError, OverflowError):
            return None
    delay = number - now.timestamp() if number > _EPOCH else number
    return max(delay, 0.0) if delay < _EPOCH else None  # also leaves out NaN and infinity


def _unit(text: str) -> str:
    return "ms" if text.lower() == "ms" else text[0].lower()


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
