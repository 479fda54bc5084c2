"""What the Gemini client raises, in the words of `judges.base`."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from google.genai import errors

import hints
from credentials import GEMINI_KEY, one_line
from judges.base import TURNED_AWAY, RejectedError, UnreachableError, UnusableError

# Overloaded, restarting, or too slow; the client's own default is not to try again.
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
# What the HTTP library raises that `judges.gemini` gives to the client, and what the client does for an answer that it
# cannot read: not JSON, or not the fields that it knows. The answers to paid queries it does not read.
_NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, OSError)
_UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


class NotFoundError(RejectedError):
    """There is no such model or file, or it is somebody else's."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise UnreachableError, RejectedError or UnusableError for whatever the client raises inside."""
    try:
        yield
    except errors.APIError as error:
        raise _translate(error) from None
    except _NO_ANSWER as error:
        raise UnreachableError(one_line(f"{type(error).__name__}: {error}")) from None
    except _UNREADABLE as error:
        raise UnreachableError(one_line(f"unusable answer: {type(error).__name__}: {error}")) from None


def _translate(error: errors.APIError) -> RejectedError | UnreachableError | UnusableError:
    details = _details(error)
    text = one_line(f"HTTP {error.code} {error.status or ''}: {error.message or ''}")
    quotas = [
        str(violation.get("quotaId", "")) for detail in details for violation in _objects(detail.get("violations"))
    ]
    if error.code == 429 and any("PerDay" in quota for quota in quotas):
        return UnusableError(f"the daily quota is used up ({text})")
    if error.code in _TRANSIENT:
        return UnreachableError(text, _pause(error, details), turned_away=error.code in TURNED_AWAY)
    if error.code == 401 or any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
        return UnusableError(f"{GEMINI_KEY} is refused ({text})")
    return NotFoundError(text) if error.code in {403, 404} else RejectedError(text)


def _details(error: errors.APIError) -> list[Mapping[str, Any]]:
    """The `details` of a google.rpc.Status, those that are objects."""
    body = error.details.get("error", error.details) if isinstance(error.details, Mapping) else {}
    return _objects(body.get("details")) if isinstance(body, Mapping) else []


def _objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a JSON array; none of any other value."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _pause(error: errors.APIError, details: list[Mapping[str, Any]]) -> float | None:
    """Seconds that the service asks for: google.rpc.RetryInfo in the body, or a header."""
    pauses = [_DURATION.fullmatch(str(detail.get("retryDelay", ""))) for detail in details]
    named = [float(pause.group(1)) for pause in pauses if pause]
    header = hints.seconds(getattr(error.response, "headers", {}), b"")
    return max([*named, header or 0.0]) if named or header is not None else None
