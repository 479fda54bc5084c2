"""The page's server: this machine only, one secret in the URL, and nothing on the way that tells who made a clip.

It listens on the loopback interface. Another web site that is open in the same browser neither knows the URL nor gets
past the check of the Host header by giving its own name our address (DNS rebinding); the content security policy keeps
the page from loading, running or sending anything elsewhere. Media are named by their place in the sample.
"""

import json
import re
import secrets
import socketserver
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from errors import UserError
from labelling.media import Unsatisfiable, anonymous, requested_span
from labelling.session import OutOfTurn, Session
from scenes import SCENES
from video_io import VideoError, encode_png, last_frame

LOOPBACK = "127.0.0.1"
# Names of this machine in a Host header; the port may be that of a tunnel.
_OWN_NAMES = {LOOPBACK, "localhost"}
_STATIC = Path(__file__).parent / "static"
_ASSETS = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "icon.svg": ("icon.svg", "image/svg+xml"),
}
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    # One request a connection: the browser then never waits for us, nor we for it.
    "Connection": "close",
}
# The longest message of the page is far shorter.
_MAX_BODY = 1024
# Media held: the present one, the one fetched ahead, and those that undo goes back to.
_HELD = 8
_CLIP_FAULT = "the browser could not show it"


class LabellingServer(ThreadingHTTPServer):
    """Serves one session until its labels are final. `url` is where; `serve_forever` returns at the end.

    folder: the study's rollouts. conclude: called once the labels are final; what it returns (all JSON) is shown last.
    """

    daemon_threads = True

    def __init__(self, session: Session, folder: Path, conclude: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__((LOOPBACK, 0), _Handler)
        self.session = session
        self.folder = folder
        self.conclude = conclude
        self.token = secrets.token_urlsafe(32)
        self.assets = {route: ((_STATIC / name).read_bytes(), kind) for route, (name, kind) in _ASSETS.items()}
        self.media = lru_cache(_HELD)(self._media)
        # Place in the sample -> why its clip cannot be shown.
        self._faults: dict[int, str] = {}

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_address[1]}/{self.token}/"

    def server_bind(self) -> None:
        # Not HTTPServer's, which asks the name service what this machine is called.
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up, as it does whenever it skips in a video, is no error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def view(self) -> dict[str, Any]:
        """What the page may know now: nothing of the model, the seed or the judge before the labels are final."""
        state = self.session.state
        place = len(state.answers)
        view: dict[str, Any] = {
            "total": len(state.clips),
            "place": place,
            "skipped": len(state.skipped),
            "clip": None,
            "ahead": None,
            "result": None,
        }
        if state.present is not None:
            scene = SCENES[state.clips[place].scene]
            same = [i for i, clip in enumerate(state.clips) if clip.scene == scene.key]
            view["clip"] = {
                "scene": scene.title,
                "place": same.index(place),
                "total": len(same),
                "question": scene.judge_question,
                "outcomes": scene.outcomes,
                "evidence": scene.evidence,
                "media": f"media/{place}",
            }
            if place + 1 < len(state.clips) and SCENES[state.clips[place + 1].scene].evidence == "final_frame":
                view["ahead"] = f"media/{place + 1}"
        return view

    def act(self, action: str, message: Mapping[str, Any]) -> None:
        """Do what the page asks. Raises OutOfTurn, KeyError, ValueError or UserError."""
        if action == "finish":
            # Asked again after its conclusion failed, for instance on a full disk, it is finished already.
            state = self.session.state
            if not state.finished:
                if state.present is None and not any(not answer.skipped for answer in state.answers):
                    raise UserError("every clip was skipped: put the clips back and undo the skips, or close this page")
                self.session.finish()
            return
        clip = message["clip"]
        if action == "label":
            self.session.label(clip, message["label"])
        elif action == "undo":
            self.session.undo(clip)
        else:
            # Which clip it is, and why, is said once all labels are final.
            self.session.skip(clip, self._faults.get(clip, _CLIP_FAULT))
            print(f"clip {clip + 1} skipped", file=sys.stderr)

    def _media(self, place: int) -> tuple[bytes, str]:
        """What the page shows at this place of the sample, and its type. Raises VideoError."""
        clip = self.session.state.clips[place]
        path = clip.path(self.folder)
        try:
            if SCENES[clip.scene].evidence == "final_frame":
                return encode_png(last_frame(path).frame), "image/png"
            return anonymous(path), "video/mp4"
        except VideoError as error:
            self._faults[place] = str(error)
            raise


class _Handler(BaseHTTPRequestHandler):
    server: LabellingServer
    protocol_version = "HTTP/1.1"  # browsers ask for parts of a video only then
    timeout = 60

    def do_GET(self) -> None:
        route = self._route()
        if route is None:
            return
        if route in self.server.assets:
            body, kind = self.server.assets[route]
            self._send(HTTPStatus.OK, body, kind)
        elif route == "state":
            self._send_json(HTTPStatus.OK, self.server.view())
        elif (media := re.fullmatch(r"media/(\d{1,9})", route)) and int(media[1]) < len(
            self.server.session.state.clips
        ):
            self._send_media(int(media[1]))
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        route = self._route()
        if route is None:
            return
        if route not in ("label", "skip", "undo", "finish"):
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MAX_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            message = json.loads(self.rfile.read(int(length)))
            self.server.act(route, message)
            view = self.server.view()
            if route == "finish":
                view["result"] = self.server.conclude()
        except OutOfTurn:
            self._send_json(HTTPStatus.CONFLICT, self.server.view())
        except UserError as error:
            self._send_json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})
            print(error, file=sys.stderr)
        except (KeyError, TypeError, ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST)
        else:
            self._send_json(HTTPStatus.OK, view)
            if view["result"] is not None:
                self.server.shutdown()

    def _route(self) -> str | None:
        """The path below the secret one; None when the request was refused, without saying what was wrong."""
        host = self.headers.get("Host", "")
        origin = self.headers.get("Origin")
        if _name(f"//{host}") not in _OWN_NAMES or origin not in (None, f"http://{host}"):
            self._refuse(HTTPStatus.FORBIDDEN)
            return None
        token, slash, route = self.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()) or not slash:
            self._refuse(HTTPStatus.NOT_FOUND)
            return None
        return route

    def _send_media(self, place: int) -> None:
        try:
            body, kind = self.server.media(place)
        except VideoError:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        # The browser may keep a clip for undo: it stays the same as long as its secret URL exists.
        headers = {"Cache-Control": "private, max-age=86400, immutable", "Accept-Ranges": "bytes"}
        try:
            span = requested_span(self.headers.get("Range"), len(body))
        except Unsatisfiable:
            beyond = {"Content-Range": f"bytes */{len(body)}"}
            self._send(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, b"", kind, beyond)
            return
        if span is None:
            self._send(HTTPStatus.OK, body, kind, headers)
            return
        headers["Content-Range"] = f"bytes {span.first}-{span.last}/{len(body)}"
        self._send(HTTPStatus.PARTIAL_CONTENT, body[span.first : span.last + 1], kind, headers)

    def _send_json(self, status: HTTPStatus, value: Mapping[str, Any]) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, status.phrase.encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self.send_response_only(status)
        more = {"Cache-Control": "no-store"} if headers is None else headers
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses by itself, such as another method or a malformed line: without its page, which
        names the software, and after the same checks."""
        self.close_connection = True
        if code != HTTPStatus.NOT_IMPLEMENTED or self._route() is not None:
            self._refuse(HTTPStatus(code))

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is for what the person must know."""


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
