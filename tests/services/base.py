"""A real HTTP server on loopback, in threads, whose answers can be late, wrong, cut short or missing."""

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Request:
    """What a client sent. Header names are in lower case. time: of its arrival, on the monotonic clock."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    time: float = field(default_factory=time.monotonic)

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    """What the server sends back.

    delay_s: how long the client waits for it.
    cut_at: only so many bytes of the body are sent, then the connection is closed; -1: nothing at all is sent.
    drip_s: the body comes byte by byte, with such a pause after each.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_at: int | None = None
    drip_s: float = 0.0


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(status, json.dumps(value).encode(), {"Content-Type": "application/json", **(headers or {})})


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with one request.

    response: sent in place of the service's own answer.
    after: the service handles the request all the same before that; what it did cannot be told from the answer.
    """

    response: Response
    after: bool = False


NO_ANSWER = Response(cut_at=-1)


class LoopbackService:
    """Base of the services. A subclass defines `handle`; faults are queued for routes with `fail`.

    requests: all requests so far, in order of arrival. clock_ahead_s: how far the service's clock is ahead of ours.
    """

    def __init__(self, port: int = 0, clock_ahead_s: float = 0.0) -> None:
        self._clock_ahead = timedelta(seconds=clock_ahead_s)
        self.requests: list[Request] = []
        self.mutex = threading.RLock()
        self._faults: deque[tuple[Callable[[Request], bool], Fault]] = deque()
        self._server = _Server((LOOPBACK, port), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    def now(self) -> datetime:
        """The time on the service's clock."""
        return datetime.now(UTC) + self._clock_ahead

    def handle(self, request: Request) -> Response:
        """The service's own answer. Called from many threads; `mutex` guards its state."""
        raise LookupError(f"{type(self).__name__} answers nothing")

    def fail(self, method: str, path_part: str, *faults: Fault | Response) -> None:
        """Let the next requests of this method whose path contains `path_part` go wrong, one fault each."""
        for fault in faults:
            queued = fault if isinstance(fault, Fault) else Fault(fault)
            self._faults.append((lambda request: request.method == method and path_part in request.path, queued))

    def forget_faults(self) -> None:
        """Let nothing go wrong any more."""
        with self.mutex:
            self._faults.clear()

    def sent(self, method: str, path_part: str) -> list[Request]:
        """The requests so far of this method whose path contains `path_part`."""
        return [r for r in list(self.requests) if r.method == method and path_part in r.path]

    def answer(self, request: Request) -> Response:
        with self.mutex:
            self.requests.append(request)
            fault = self._next_fault(request)
        if fault is None:
            return self.handle(request)
        if fault.after:
            self.handle(request)
        return fault.response

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.close_connections()
        self._server.server_close()
        self._thread.join()

    def _next_fault(self, request: Request) -> Fault | None:
        for index, (matches, fault) in enumerate(self._faults):
            if matches(request):
                del self._faults[index]
                return fault
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A whole run may connect at the same moment.
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the threads of clients that keep their connections open."""
        for connection in list(self._connections):
            self.shutdown_request(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed, or that hang up, are part of the tests."""


def _handler(service: LoopbackService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body in one packet each; with small unbuffered writes every answer would wait for an ACK.
        wbufsize = 1 << 16

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(1 << 16)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            url = urlsplit(self.path)
            body = self._read_body()
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(service.answer(Request(self.command, url.path, dict(parse_qsl(url.query)), headers, body)))

        def _read_body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(chunks)

        def _send(self, response: Response) -> None:
            if response.delay_s:
                time.sleep(response.delay_s)
            if response.cut_at == -1:
                self.close_connection = True
                return
            self.send_response_only(response.status)
            for name, value in {"Date": format_datetime(service.now(), usegmt=True), **response.headers}.items():
                self.send_header(name, value)
            if response.status != 204:
                self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            if response.drip_s:
                for byte in response.body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(response.drip_s)
                return
            self.wfile.write(response.body[: response.cut_at])
            self.wfile.flush()
            if response.cut_at is not None:
                self.close_connection = True

    return Handler
