"""What a run would cost, before anything is paid."""

from collections.abc import Mapping, Sequence

from models import clip_seconds
from providers.base import Request, RolloutKey
from providers.resume import MAX_ATTEMPTS, Step
from providers.run_state import Settings
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

_Kinds = tuple[tuple[Step, ...], ...]
# The steps behind each of the columns of counts.
_KINDS: _Kinds = (
    (Step.NOTHING, Step.FOREIGN),
    (Step.ASK, Step.LOOK_UP),
    (Step.LOOK_AGAIN, Step.GIVEN_UP, Step.IN_THE_WAY),
    (Step.CREATE,),
)
_KINDS_WITH_RETRY: _Kinds = (*_KINDS[:2], (Step.IN_THE_WAY,), (Step.CREATE, Step.GIVEN_UP, Step.LOOK_AGAIN))


def bill(requests: Sequence[Request], steps: Mapping[RolloutKey, Step], settings: Settings) -> Table:
    """Predictions to create, seconds of video and money, a row a model, for rollouts with these next steps."""
    kinds = _KINDS_WITH_RETRY if settings.retry else _KINDS
    models = {request.generation.model.key: request.generation.model for request in requests}
    rows = [[key, *_row([r for r in requests if r.generation.model is m], steps, kinds)] for key, m in models.items()]
    rows.append(["total", *_row(requests, steps, kinds)])
    to_create = [request for request in requests if steps[request.key] in kinds[-1]]
    clips = [_clip_seconds(request) for request in to_create]
    paid = [request for request in to_create if request.generation.model.replicate_id]
    notes = []
    if paid:
        frames = {request.generation.frame_path for request in paid}
        notes += [
            f"{len(frames)} conditioning frames are uploaded, once a run each.",
            f"What is refused or fails is attempted again, up to {MAX_ATTEMPTS} attempts in all. Not counted here: "
            "many models charge nothing for those, others for the time that they took.",
        ]
    if looked_at := sum(steps[request.key] is Step.LOOK_AGAIN for request in to_create):
        notes.append(
            f"{looked_at} of these may have been paid for: each is looked at once more first, and created anew only "
            "when there is still no video of it."
        )
    lost = sum(step is Step.LOOK_UP for step in steps.values())
    if lost:
        notes.append(
            f"Not counted here: {lost} of those under way may never have been created. Each is looked up first, and "
            "created when it was not."
        )
    max_predictions = settings.max_predictions
    if max_predictions is not None and max_predictions < len(to_create) + lost:
        notes.append(f"--max-predictions {max_predictions}: this run creates no more than that.")
    if None in clips:
        notes.append(f"{_UNKNOWN}: the inputs of some model do not say how long its videos are.")
    if any(request.generation.model.usd_per_second is None for request in to_create):
        notes.append(f"{_UNKNOWN}: no usd_per_second is given for some model in models.py.")
    return Table("What this run would create", _COLUMNS, rows, notes)


def _row(requests: Sequence[Request], steps: Mapping[RolloutKey, Step], kinds: _Kinds) -> list[str]:
    """Counts of these kinds, seconds of video, and money, of which the last kind is created."""
    counts = [str(sum(steps[request.key] in kind for request in requests)) for kind in kinds]
    to_create = [request for request in requests if steps[request.key] in kinds[-1]]
    return [*counts, _sum([_clip_seconds(r) for r in to_create]), _sum([_price(r) for r in to_create])]


def _clip_seconds(request: Request) -> float | None:
    return clip_seconds(request.generation.inputs)


def _price(request: Request) -> float | None:
    seconds, per_second = _clip_seconds(request), request.generation.model.usd_per_second
    if per_second == 0:
        return 0.0
    return None if seconds is None or per_second is None else seconds * per_second


def _sum(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    text = fixed(sum(known), 2).removesuffix(".00")
    if len(known) == len(values):
        return text
    return f"{text} + {_UNKNOWN}" if known else _UNKNOWN
