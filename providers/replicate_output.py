"""What a Replicate prediction's fields mean: its status, its moderation texts, and the many shapes of its output."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from credentials import one_line, redacted
from providers.base import Prediction, State

# Documented at https://replicate.com/docs/topics/predictions/lifecycle. Whatever else turns up is `unknown`.
RUNNING = frozenset({"starting", "processing"})
FAILED = frozenset({"failed", "canceled"})
# What stands for the version of an official model.
_HIDDEN = "hidden"

# Phrases of moderation messages; E005 is Replicate's own code for input or output flagged as sensitive. Whole phrases:
# programs are thread-safe, names case sensitive, memory accesses violations, and safety checkers loaded, without harm.
_MODERATION = re.compile(
    r"\b(nsfw|E005|flagged|content[ _]polic(y|ies)|prohibited[ _](content|use)"
    r"|(as|be|contains?|potentially) sensitive|sensitive (content|information|material|words?|text|data|image|topics?)"
    r"|(by|failed|violat\w+) (the |our |a )?safety|safety (polic(y|ies)|guidelines?|violations?|reasons?)"
    r"|(by|failed|rejected in|content) (the |our |a |content )?moderat(ion|or)|moderat(ed|ion (failed|error|policy))"
    r"|violat\w+ (of )?(\w+ ){0,3}(polic(y|ies)|guidelines?|terms|rules))\b",
    re.IGNORECASE,
)
_LOG_TAIL_CHARACTERS = 250
# Some models name no type of their data URLs; decoding tells whether it is a video.
_VIDEO_URLS = ("https://", "http://", "data:video/", "data:application/octet-stream")


def read_prediction(data: Mapping[str, Any]) -> Prediction:
    """The provider's answer about one prediction, as a `Prediction`: any mapping with an id has a meaning."""
    version = one_line(data.get("version"))
    prediction = _read(data)
    return prediction if version == _HIDDEN else replace(prediction, version=version)


def _read(data: Mapping[str, Any]) -> Prediction:
    prediction_id, status = str(data["id"]), str(data.get("status"))
    if status in RUNNING:
        # Output of a prediction that runs is not its result, and none is not its failure.
        return Prediction(prediction_id, None)
    error = one_line(data.get("error"))
    if status in FAILED:
        told = _moderation_of(data.get("error")) or _moderation_of(data.get("logs"))
        if told:
            return Prediction(prediction_id, State.REFUSED, told)
        # What went wrong stands at the end of a log. Redacted before the cut, which may go through a key.
        logs = one_line(redacted(str(data.get("logs") or ""))[-_LOG_TAIL_CHARACTERS:])
        return Prediction(prediction_id, State.FAILED, error or (f"{status}: {logs}" if logs else status))
    if status != "succeeded":
        return Prediction(prediction_id, State.UNKNOWN, f"status {one_line(status)} {error}".strip())
    output = data.get("output")
    # `data_removed` says it, but the client does not hand that field on: then there is no input either.
    if data.get("data_removed") or not (output or data.get("input")):
        return Prediction(prediction_id, State.EXPIRED, "the provider has deleted the output")
    if not output and (told := error or _moderation_of(data.get("logs"))):
        return Prediction(prediction_id, State.REFUSED, told)
    try:
        return Prediction(prediction_id, State.SUCCEEDED, video=one_video(output))
    except ValueError as wrong:
        return Prediction(prediction_id, State.NO_VIDEO, str(wrong))


def one_video(output: Any) -> str:
    """The URL of the one video in a model's output: a URL, a data URL, a file object, or a list of one of these.

    Raises ValueError saying what came, for anything else.
    """
    items = list(output) if isinstance(output, list | tuple) else [output]
    if len(items) != 1:
        raise ValueError(f"output is a list of {len(items)}; expected one video")
    item = items[0]
    url = item if isinstance(item, str) else getattr(item, "url", None)
    if not isinstance(url, str) or not url.lower().startswith(_VIDEO_URLS):
        raise ValueError(
            f"output is {one_line(item if url is None else url)[:80] or 'empty'}; expected the URL of a video"
        )
    return url


def _moderation_of(value: Any) -> str:
    """The words of a moderation message from the line in which they stand on, bounded; empty when there are none."""
    for line in str(value or "").splitlines():
        if _MODERATION.search(line):
            return one_line(line)
    return ""
