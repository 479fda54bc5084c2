"""Replicate through its own client: https://replicate.com/docs/reference/http.

Settings are the client's: REPLICATE_API_TOKEN, REPLICATE_BASE_URL (default https://api.replicate.com) and
REPLICATE_POLL_INTERVAL. Five properties of the client (1.0.7) shape this module. A create has no timeout, so every call
here has one. An error keeps the body of the answer but not its headers, where a reset hint may stand, so a response
hook reads both. A status that the client does not know is a ValidationError, so those answers are read again as plain
JSON. What it does not know of a model, `is_official`, it drops, so models are read as plain JSON too. GETs are repeated
by its transport; a create never is, and it must not be.
"""

import asyncio
import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx

import hints
from addresses import check_base_url, is_loopback
from credentials import REPLICATE_KEY, credential, one_line
from errors import UserError
from protocol import Generation
from providers.base import (
    Lost,
    ModelUnusableError,
    Prediction,
    RateLimitedError,
    RejectedError,
    Request,
    ResultUnknownError,
    RolloutKey,
    State,
    UnreachableError,
    UnusableError,
)
from providers.downloading import Downloader
from providers.frames import FrameStore, Upload
from providers.replicate_output import FAILED, read_prediction
from providers.replicate_schema import check_inputs, input_schema

BASE_URL = "REPLICATE_BASE_URL"
POLL_INTERVAL = "REPLICATE_POLL_INTERVAL"
_DEFAULT_BASE_URL = "https://api.replicate.com"
_DEFAULT_POLL_INTERVAL_S = 0.5
# How long a create may take to show in the list of predictions: so many looks, and never less than so many seconds,
# since what is not listed is made, and paid for, again. A service on this machine lists at once.
_SETTLE_POLLS = 40
_SETTLE_S = 20.0
_OUTPUT_DOMAINS = ("replicate.delivery", "replicate.com")

_HTTP_TIMEOUT = httpx.Timeout(30.0, connect=10.0)
# Wall clock of one whole call, with the repeats that the client's transport makes of a GET.
_CALL_TIMEOUT_S = 90.0
# What the service tells of its clock may be old, and is in whole seconds: a lost prediction may look this much older.
_CLOCK_TOLERANCE = timedelta(minutes=2)
# A create waits for a rate limit after its intent. What came later than this is of somebody else, unless its frame is
# the very upload that was to be used.
_LATEST = timedelta(hours=1)
# Where an intent lies in the future, some clock was wrong: uploads are kept, and so used, for no longer than this.
_UPLOAD_LIFE = timedelta(hours=24)
# A clock that is further off than this is none.
_LARGEST_OFFSET = timedelta(days=366)

# What the client raises for an answer that it cannot read: not JSON, not the fields it knows, not an object at all.
# A time may lie beyond what a clock can show.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError)
# Token refused, no credit.
_ACCOUNT = frozenset({401, 402})
# Not allowed to use this model, for instance before its licence is accepted; not there, or not under this address.
_MODEL = frozenset({403, 404})
# Before anything is paid a person waits: with the pauses between them, half a minute of a service's trouble.
_PREFLIGHT_TRIES = 5
_FIRST_PREFLIGHT_PAUSE_POLLS = 4

_Result = TypeVar("_Result")


class _HttpError(Exception):
    """An answer of 400 and above. seconds: its reset hint."""

    def __init__(self, status: int, detail: str, seconds: float | None) -> None:
        super().__init__(f"HTTP {status}: {detail}" if detail else f"HTTP {status}")
        self.status = status
        self.seconds = seconds


@dataclass(frozen=True)
class _Served:
    """How a model is asked for. version: the latest one, empty when none is published.

    by_version: Replicate keeps official models running and takes predictions for them by name; those of any other
    model are created for one of its versions. None: the model does not say which it is.
    """

    version: str
    by_version: bool | None


class ReplicateProvider:
    """The models of Replicate. Raises UserError when the token is not set or the base URL is unusable."""

    name = "replicate"

    def __init__(self) -> None:
        token = credential(REPLICATE_KEY)
        if not token:
            raise UserError(
                f"{REPLICATE_KEY}: not set to a token; expected one from https://replicate.com/account/api-tokens"
            )
        self._base_url = check_base_url(BASE_URL, os.environ.get(BASE_URL) or _DEFAULT_BASE_URL)
        self.poll_interval = _poll_interval()
        on_this_machine = is_loopback(self._base_url.host)
        self.settle_s = max(_SETTLE_POLLS * self.poll_interval, 0.0 if on_this_machine else _SETTLE_S)
        # Here, since the client reads the poll interval, and fails at a wrong one, while it is imported.
        from replicate.client import Client

        authorization = f"Bearer {token}"
        self._transport = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=None))
        hooks = {"response": [self._on_response]}
        self._client = Client(
            token, base_url=str(self._base_url), timeout=_HTTP_TIMEOUT, transport=self._transport, event_hooks=hooks
        )
        self._plain = httpx.AsyncClient(
            base_url=self._base_url,
            timeout=_HTTP_TIMEOUT,
            transport=self._transport,
            headers={"Authorization": authorization},
            event_hooks=hooks,
        )
        downloads = httpx.AsyncClient(timeout=_HTTP_TIMEOUT, transport=self._transport)
        self._downloader = Downloader(self._base_url, _OUTPUT_DOMAINS, authorization, downloads)
        self._frames = FrameStore(self._upload)
        self._served: dict[str, _Served] = {}
        # A time that the service told, and when that was on a clock that nobody sets.
        self._told: tuple[datetime, float] | None = None

    async def prepare(self, generations: Sequence[Generation]) -> list[str]:
        # The token first: with a bad one, models and versions are said not to exist.
        try:
            await self._preflight(lambda: self._get("/v1/account", self._client.accounts.async_current()))
        except _HttpError as error:
            message = f"{self._base_url}: {error}; expected Replicate's API there, in {BASE_URL} without its /v1"
            raise UserError(message) from error
        remarks = []
        schemas: dict[str, Mapping[str, Any]] = {}
        for generation in generations:
            model = str(generation.model.replicate_id)
            if model not in schemas:
                about = await self._about(generation)
                self._served[model] = _served(about)
                if self._served[model] == _Served("", by_version=True):
                    where = f"model {generation.model.key} ({model})"
                    raise UserError(f"{where}: is not official and has no version to run; expected one of either kind")
                schemas[model] = input_schema(about)
                if not schemas[model]:
                    remarks.append(f"{model}: publishes no input schema; its input names are not checked")
            if schemas[model]:
                names = {**Request(generation, 0).inputs, generation.model.frame_field: ""}
                check_inputs(generation.model.key, model, names, schemas[model])
        return remarks

    def now(self) -> datetime:
        if self._told is None:
            return datetime.now(UTC)
        told, then = self._told
        return told + timedelta(seconds=time.monotonic() - then)

    async def frame_url(self, request: Request) -> str:
        return await self._frames.url(request.generation.frame)

    async def submit(self, request: Request, frame_url: str) -> Prediction:
        model = str(request.generation.model.replicate_id)
        inputs = {**request.inputs, request.generation.model.frame_field: frame_url}
        served = self._served.get(model, _Served("", by_version=False))
        try:
            return await self._create(model, served, inputs)
        except _HttpError as error:
            if error.status == 404 and served.by_version is None and served.version:
                # Nothing was created: the model has no such address, so it is not an official one.
                self._served[model] = replace(served, by_version=True)
                return await self.submit(request, frame_url)
            if error.status in _MODEL:
                raise ModelUnusableError(str(error)) from error
            if error.status == 429:
                raise RateLimitedError(str(error), error.seconds) from error
            if error.status in _ACCOUNT:
                raise UnusableError(str(error)) from error
            if error.status < 500 and error.status != 408:
                raise RejectedError(str(error)) from error
            raise ResultUnknownError(str(error)) from error
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise UnreachableError(f"cannot connect ({type(error).__name__})") from error
        except (httpx.HTTPError, TimeoutError, *_UNREADABLE) as error:
            raise ResultUnknownError(f"no usable answer to a create ({type(error).__name__})") from error

    async def _create(self, model: str, served: _Served, inputs: dict[str, Any]) -> Prediction:
        if served.by_version:
            create = self._client.predictions.async_create(served.version, inputs)
        else:
            create = self._client.models.predictions.async_create(model, inputs)
        made = read_prediction((await asyncio.wait_for(create, _CALL_TIMEOUT_S)).dict())
        return made if made.version else replace(made, version=served.version)

    async def poll(self, prediction_id: str) -> Prediction:
        path = f"/v1/predictions/{prediction_id}"
        try:
            data = await self._get(path, self._client.predictions.async_get(prediction_id))
        except _HttpError as error:
            return Prediction(prediction_id, State.EXPIRED, f"the provider no longer knows it ({error})")
        if data.get("id") != prediction_id:
            raise UnreachableError("the answer to a look at a prediction is not about it")
        return read_prediction(data)

    async def find(self, lost: Sequence[Lost], known_ids: frozenset[str]) -> dict[RolloutKey, Prediction]:
        """See `Provider.find`. Matched on model, inputs with the frame's URL, and time.

        One whose data the provider has already deleted may be any of its model and time: it is taken for the lost one,
        so that nothing that may have been paid for is made again unasked.
        """
        found: dict[RolloutKey, Prediction] = {}
        if not lost:
            return found
        horizon = min(self._earliest(one) for one in lost)
        taken = set(known_ids)
        listed = await self._listed_since(horizon)
        # Oldest first on both sides: of two equal requests the earlier one gets the earlier prediction.
        for one in sorted(lost, key=lambda one: one.time):
            for data in reversed(listed):
                if data["id"] not in taken and self._is_of(data, one):
                    found[one.request.key] = read_prediction(data)
                    taken.add(data["id"])
                    break
        return found

    async def download(self, request: Request, video: str, path: Path) -> None:
        await self._downloader.fetch(video, path)

    async def cancel(self, prediction_id: str) -> Prediction:
        try:
            answer = await self._call(self._client.predictions.async_cancel(prediction_id))
            return read_prediction(answer.dict())
        except (_HttpError, *_UNREADABLE):
            # Nothing to cancel, or a status that the client does not know.
            return await self.poll(prediction_id)

    async def close(self) -> None:
        # The one transport below all three clients; the client of the service has no close of its own.
        await self._transport.aclose()

    async def _on_response(self, response: httpx.Response) -> None:
        if date := response.headers.get("Date"):
            with suppress(ValueError, TypeError):
                told = parsedate_to_datetime(date)
                if abs(told - datetime.now(UTC)) < _LARGEST_OFFSET:
                    self._told = told, time.monotonic()
        if response.status_code >= 400:
            body = await response.aread()
            detail = one_line(hints.detail(body))
            raise _HttpError(response.status_code, detail, hints.seconds(response.headers, body))

    async def _call(self, call: Awaitable[_Result]) -> _Result:
        """A call that may be made again: raises UnreachableError, UnusableError, _HttpError 404, or of _UNREADABLE."""
        try:
            return await asyncio.wait_for(call, _CALL_TIMEOUT_S)
        except _HttpError as error:
            if error.status in _ACCOUNT:
                raise UnusableError(str(error)) from error
            if error.status == 404:
                raise  # not a matter of trying again: the caller knows what is missing
            raise UnreachableError(str(error)) from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise UnreachableError(f"no answer ({type(error).__name__})") from error

    async def _get(self, path: str, call: Awaitable[Any]) -> dict[str, Any]:
        try:
            return dict((await self._call(call)).dict())
        except _UNREADABLE:
            return await self._get_plain(path)

    async def _get_plain(self, path: str) -> dict[str, Any]:
        response = await self._call(self._plain.get(path))
        try:
            data = response.json()
        except (ValueError, RecursionError) as error:
            raise UnreachableError(f"the answer to GET {path.partition('?')[0]} is not JSON") from error
        if not isinstance(data, dict):
            raise UnreachableError(f"the answer to GET {path.partition('?')[0]} is not an object")
        return data

    async def _preflight(self, get: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        """A GET before anything is paid, made again when there is no answer. Raises UserError, or _HttpError 404."""
        pause = _FIRST_PREFLIGHT_PAUSE_POLLS * self.poll_interval
        for remaining in reversed(range(_PREFLIGHT_TRIES)):
            try:
                return await get()
            except UnusableError as error:
                raise UserError(f"{self._base_url}: {error}; expected Replicate to accept {REPLICATE_KEY}") from error
            except UnreachableError as error:
                if not remaining:
                    raise UserError(
                        f"{self._base_url}: {error}; expected an answer; nothing was paid, try again later"
                    ) from error
            await asyncio.sleep(pause)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    async def _about(self, generation: Generation) -> dict[str, Any]:
        model = str(generation.model.replicate_id)
        try:
            return await self._preflight(lambda: self._get_plain(f"/v1/models/{model}"))
        except _HttpError as error:
            where = f"model {generation.model.key}"
            raise UserError(
                f"{where}: Replicate knows no {model} ({error}); expected owner/name in models.py"
            ) from error

    async def _upload(self, frame: Path) -> Upload:
        # Uploads are not paid for, so that one without an answer is simply made again.
        try:
            sent = await self._call(self._client.files.async_create(frame))
            expires = None if sent.expires_at is None else _time(sent.expires_at) - (self.now() - datetime.now(UTC))
            return Upload(str(sent.urls["get"]), expires)
        except (_HttpError, *_UNREADABLE) as error:
            raise UnreachableError(
                f"no usable answer to the upload of {frame.name} ({type(error).__name__})"
            ) from error

    async def _listed_since(self, horizon: datetime) -> list[dict[str, Any]]:
        """Our predictions since `horizon`, newest first."""
        listed: list[dict[str, Any]] = []
        page = await self._list_page("/v1/predictions", self._client.predictions.async_list())
        while True:
            try:
                results = [{**data, "id": str(data["id"])} for data in page["results"]]
                listed += [data for data in results if _created(data) >= horizon]
            except _UNREADABLE as error:
                raise UnreachableError(f"the list of predictions is not readable ({type(error).__name__})") from error
            following = page.get("next")
            if not following or len(results) == 0 or _created(results[-1]) < horizon:
                return listed
            cursor = self._base_url.join(str(following))
            if cursor.host != self._base_url.host:
                raise UnreachableError(
                    f"the list of predictions goes on at {cursor.host}; expected {self._base_url.host}"
                )
            page = await self._list_page(str(cursor), self._client.predictions.async_list(str(cursor)))

    async def _list_page(self, path: str, call: Awaitable[Any]) -> dict[str, Any]:
        try:
            return await self._get(path, call)
        except _HttpError as error:
            raise UnusableError(f"cannot list the predictions: {error}") from error

    def _earliest(self, lost: Lost) -> datetime:
        """When a lost prediction was created at the earliest."""
        now = self.now()
        return (lost.time if lost.time <= now + _CLOCK_TOLERANCE else now - _UPLOAD_LIFE) - _CLOCK_TOLERANCE

    def _is_of(self, data: Mapping[str, Any], lost: Lost) -> bool:
        model, created = lost.request.generation.model, _created(data)
        if data.get("model") != model.replicate_id or created < self._earliest(lost):
            return False
        inputs = data.get("input")
        if not inputs:
            return data.get("status") not in FAILED and created - lost.time <= _LATEST
        wanted = {**lost.request.inputs, model.frame_field: lost.frame_url}
        if not lost.frame_url:
            del wanted[model.frame_field]
            if created - lost.time > _LATEST:
                return False
        return all(name in inputs and inputs[name] == value for name, value in wanted.items())


def _created(data: Mapping[str, Any]) -> datetime:
    """When a prediction was created, on the service's clock."""
    return _time(str(data["created_at"]))


def _served(about: Mapping[str, Any]) -> _Served:
    """From the answer to a request for a model."""
    latest, official = about.get("latest_version"), about.get("is_official")
    version = str(latest.get("id") or "") if isinstance(latest, Mapping) else ""
    return _Served(version, None if official is None else not official)


def _poll_interval() -> float:
    """Seconds between two looks. Raises UserError naming the setting."""
    text = os.environ.get(POLL_INTERVAL, str(_DEFAULT_POLL_INTERVAL_S))
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UserError(f"{POLL_INTERVAL}: {text!r}; expected a number of seconds above 0")
    return seconds


def _time(text: str) -> datetime:
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
