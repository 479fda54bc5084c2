"""Downloads from a provider's own hosts, to a side file, with a bound on the size."""

import asyncio
import base64
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urljoin

import httpx

from addresses import is_loopback, parse_url
from providers.base import DownloadError, State, UnreachableError

# The longest clip of any listed model at its highest resolution is some 60 MB.
MAX_VIDEO_BYTES = 256 * 2**20
# Such a clip takes eight minutes at 1 Mbit/s. The client's own limits are between two bytes only.
DOWNLOAD_TIMEOUT_S = 600.0
_MAX_REDIRECTS = 3
_CHUNK_BYTES = 2**16
# What a store answers for an object that is no more there.
_GONE = frozenset({403, 404, 410})
_TRANSIENT = frozenset({408, 425, 429})


class Downloader:
    """Fetches videos from allowed hosts only.

    base_url: the provider's API. When that is on this machine, so may its videos be; otherwise they must come over
        https from one of `domains` or a host below one.
    authorization: header for the API's own host, and for no other. client: follows no redirects by itself.
    """

    def __init__(
        self, base_url: httpx.URL, domains: Sequence[str], authorization: str, client: httpx.AsyncClient
    ) -> None:
        self._base_url = base_url
        self._domains = tuple(domains)
        self._authorization = authorization
        self._client = client

    async def fetch(self, url: str, path: Path) -> None:
        """Write what is at `url` (https:, or a data: URL) to `path`.

        Raises DownloadError when it will never come, UnreachableError when another try may help.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        if url[:5].lower() == "data:":
            path.write_bytes(_decode_data_url(url))
            return
        try:
            async with asyncio.timeout(DOWNLOAD_TIMEOUT_S):
                await self._follow(url, path)
        except TimeoutError as error:
            raise UnreachableError(f"download: not complete after {DOWNLOAD_TIMEOUT_S / 60:g} minutes") from error
        except ValueError as error:
            raise DownloadError(State.NO_VIDEO, f"output is not a URL that can be reached ({error})") from error
        except httpx.HTTPError as error:
            # A body that is shorter than announced arrives here too.
            raise UnreachableError(f"download: {type(error).__name__}") from error

    async def _follow(self, url: str, path: Path) -> None:
        for _ in range(_MAX_REDIRECTS + 1):
            target = self._checked(url)
            headers = {"Authorization": self._authorization} if self._same_origin(target) else {}
            async with self._client.stream("GET", target, headers=headers) as response:
                if not response.is_redirect:
                    _check_status(response)
                    await _save(response, path)
                    return
                url = urljoin(str(target), response.headers.get("Location", ""))
        raise DownloadError(State.NO_VIDEO, f"more than {_MAX_REDIRECTS} redirects")

    def _checked(self, url: str) -> httpx.URL:
        target = parse_url(url)
        if is_loopback(self._base_url.host):
            allowed = is_loopback(target.host) and target.scheme in {"http", "https"}
        else:
            below = any(target.host == domain or target.host.endswith(f".{domain}") for domain in self._domains)
            allowed = target.scheme == "https" and below
        if not allowed:
            where = f"{target.scheme}://{target.host}"
            raise DownloadError(
                State.NO_VIDEO, f"output is at {where}; expected https from {' or '.join(self._domains)}"
            )
        return target

    def _same_origin(self, target: httpx.URL) -> bool:
        base = self._base_url
        return (target.scheme, target.host, target.port) == (base.scheme, base.host, base.port)


def _check_status(response: httpx.Response) -> None:
    status = response.status_code
    if status in _GONE:
        raise DownloadError(State.EXPIRED, f"the output is no more there (HTTP {status})")
    if status in _TRANSIENT or status >= 500:
        raise UnreachableError(f"download: HTTP {status}")
    if status != 200:
        raise DownloadError(State.NO_VIDEO, f"the output's host answered HTTP {status}")


async def _save(response: httpx.Response, path: Path) -> None:
    size = 0
    with path.open("wb") as file:
        async for chunk in response.aiter_bytes(_CHUNK_BYTES):
            size += len(chunk)
            if size > MAX_VIDEO_BYTES:
                raise DownloadError(State.NO_VIDEO, f"the output is larger than {MAX_VIDEO_BYTES} bytes")
            file.write(chunk)


def _decode_data_url(url: str) -> bytes:
    head, _, body = url.partition(",")
    if not head.lower().endswith(";base64") or len(body) > MAX_VIDEO_BYTES * 4 // 3:
        raise DownloadError(State.NO_VIDEO, f"output is {head[:40]} with {len(body)} characters; expected base64 video")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise DownloadError(State.NO_VIDEO, f"output is a data URL that is not base64 ({error})") from error
