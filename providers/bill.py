"""What a run would cost, before anything is paid."""

from collections.abc import Mapping, Sequence

from models import Model
from providers.base import Request, RolloutKey
from providers.resume import Step
from tables import Column, Table, fixed

_COLUMNS = (
    Column("model", "l"),
    Column("there"),
    Column("under way"),
    Column("given up"),
    Column("to create"),
    Column("seconds of video"),
    Column("US$"),
)
_UNKNOWN = "?"


def bill(requests: Sequence[Request], steps: Mapping[RolloutKey, Step], max_predictions: int | None) -> Table:
    """Predictions to create, seconds of video and money, a row a model, for rollouts with these next steps."""
    models = {request.generation.model.key: request.generation.model for request in requests}
    rows = [_row(model, [r for r in requests if r.generation.model is model], steps) for model in models.values()]
    to_create = [request for request in requests if steps[request.key] is Step.CREATE]
    clips = [clip_seconds(request) for request in to_create]
    prices = [_price(request) for request in to_create]
    rows.append(["total", *(_count(requests, steps, *kinds) for kinds in _KINDS), _sum(clips), _sum(prices)])
    frames = {request.generation.frame_path for request in to_create} - {None}
    notes = [
        f"{len(frames)} conditioning frames are uploaded, once a run each.",
        "A rollout that is refused or fails is attempted again; neither is charged for by most models.",
    ]
    if max_predictions is not None and max_predictions < len(to_create):
        notes.append(f"--max-predictions {max_predictions}: this run creates no more than that.")
    if None in clips:
        notes.append(f"{_UNKNOWN}: the inputs of some model do not say how long its videos are.")
    if any(request.generation.model.usd_per_second is None for request in to_create):
        notes.append(f"{_UNKNOWN}: no usd_per_second is given for some model in models.py.")
    return Table("What this run would create", _COLUMNS, rows, notes)


def clip_seconds(request: Request) -> float | None:
    """The length of the video that is asked for, from the inputs; None when they do not say."""
    inputs = request.generation.inputs
    match inputs:
        case {"duration": int() | float() as duration}:
            return float(duration)
        case {"num_frames": int() as frames, "fps": int() | float() as fps}:
            return frames / fps
    return None


_KINDS = ((Step.NOTHING, Step.FOREIGN), (Step.ASK, Step.LOOK_UP), (Step.GIVEN_UP, Step.IN_THE_WAY), (Step.CREATE,))


def _row(model: Model, requests: Sequence[Request], steps: Mapping[RolloutKey, Step]) -> list[str]:
    to_create = [request for request in requests if steps[request.key] is Step.CREATE]
    counts = [_count(requests, steps, *kinds) for kinds in _KINDS]
    return [model.key, *counts, _sum([clip_seconds(r) for r in to_create]), _sum([_price(r) for r in to_create])]


def _count(requests: Sequence[Request], steps: Mapping[RolloutKey, Step], *kinds: Step) -> str:
    return str(sum(steps[request.key] in kinds for request in requests))


def _price(request: Request) -> float | None:
    seconds, per_second = clip_seconds(request), request.generation.model.usd_per_second
    if per_second == 0:
        return 0.0
    return None if seconds is None or per_second is None else seconds * per_second


def _sum(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    text = fixed(sum(known), 2).removesuffix(".00")
    if len(known) == len(values):
        return text
    return f"{text} + {_UNKNOWN}" if known else _UNKNOWN
