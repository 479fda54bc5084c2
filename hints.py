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
# 8s, 12 seconds, 7m12s, 1 hour and 5 minutes: a unit ends where no letter follows.
_PART = r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])"
_DURATION = re.compile(_PART, re.IGNORECASE)
# "Your rate limit resets in ~8s.", "Please try again in 7m12s."
_DELAY_TEXT = re.compile(rf"\bin\s*~?\s*((?:{_PART}(?:\s*,)?\s*(?:and\s+)?)+)", re.IGNORECASE)
_UNITS = {"ms": 1e-3, "mil": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Where the words of an error stand, a code before its explanation; an error may lie in an error.
_WORDS = ("code", "title", "detail", "error", "message", "msg")
_DEPTH = 4
# Characters in which a pause is looked for: more is a page, not a message.
_SEARCHED = 2000
# Above this a number of seconds is a point in time, as some services send it.
_EPOCH = 1e9


def detail(body: bytes) -> str:
    """The words of an error body: `title` and `detail` of RFC 9457, the code and message of an `error`, as OpenAI and
    Google write it, or the text itself."""
    return _words(_parsed(body), _DEPTH) or body.decode("utf-8", errors="replace")


def seconds(headers: Mapping[str, str], body: bytes) -> float | None:
    """The pause that a 429 asks for: the longest one that its headers and body name, None when they name none."""
    hints = [_delay(headers[name]) for name in _DELAY_HEADERS if name in headers]
    data = _parsed(body)
    if isinstance(data, Mapping):
        hints += [_delay(str(data[name])) for name in _DELAY_FIELDS if name in data]
    hints += [_duration(found[0]) for found in _DELAY_TEXT.findall(detail(body)[:_SEARCHED])]
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


def _duration(text: str) -> float:
    """Seconds in a text such as 1h2m3s: the sum of its parts."""
    return sum(float(number) * _UNITS[_unit(unit.lower())] for number, unit in _DURATION.findall(text))


def _unit(text: str) -> str:
    return text if text == "ms" else "mil" if text.startswith("mil") else text[0]


def _words(value: Any, depth: int) -> str:
    """The words in the parts of an error, in order; empty when there are none."""
    if isinstance(value, list) and depth:
        return "; ".join(filter(None, (_words(item, depth - 1) for item in value)))
    if isinstance(value, Mapping) and depth:
        found = (_words(value.get(key), depth - 1) for key in _WORDS)
        return ": ".join(dict.fromkeys(filter(None, found)))
    return "" if value is None or isinstance(value, bool | list | Mapping) else str(value)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
