"""The labelling page's server: who may ask, what it tells, and what it keeps."""

import io
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from label_client import CLIP, SAMPLE, ask, put_clips
from labelling.media import Unsatisfiable, anonymous, requested_span
from labelling.server import LabellingServer
from labelling.session import Session
from models import MODELS
from video_io import encode_png, last_frame


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LabellingServer]:
    """Serves two ball videos and a final frame of a die, from models wan and veo31."""
    for scene, model, seeds in (("ball", "wan", range(4)), ("ball", "veo31", range(1)), ("dice", "wan", range(2))):
        put_clips(tmp_path / "rollouts", scene, model, seeds)
    session = Session(tmp_path / "session")
    session.begin({}, SAMPLE)
    with LabellingServer(session, tmp_path / "rollouts" / "main", lambda: {"summary": "done"}) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
    session.close()


def test_only_this_machine_can_reach_the_page(server: LabellingServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", server.url)


@pytest.mark.parametrize("token", ["", "x", "..", "%2e", "x" * 43, "x" * 10_000])
def test_nothing_is_served_without_the_token(server: LabellingServer, token: str) -> None:
    for route in ("", "state", "media/0", "page.js"):
        assert ask(server, route, token=token).status == 404
    assert ask(server, "label", {"clip": 0, "label": None}, token=token).status == 404
    assert server.session.state.answers == ()


def test_a_token_beyond_ascii_is_only_a_wrong_one(server: LabellingServer) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as connection:
        connection.sendall("GET /ключ/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        assert connection.recv(64).startswith(b"HTTP/1.1 404 ")


def test_another_name_for_this_address_is_refused(server: LabellingServer) -> None:
    for host in (
        "evil.example",
        f"evil.example:{server.server_address[1]}",
        "127.0.0.1.evil.example",
        "",
        "[",
        "0.0.0.0",
    ):
        assert ask(server, "state", headers={"Host": host}).status == 403
        assert ask(server, "label", {"clip": 0, "label": None}, {"Host": host}).status == 403
    for host in ("localhost:9000", "127.0.0.1:9000"):
        assert ask(server, "state", headers={"Host": host}).status == 200
    assert server.session.state.answers == ()


def test_a_post_from_another_site_is_refused(server: LabellingServer) -> None:
    for origin in ("http://evil.example", "null", "https://127.0.0.1"):
        assert ask(server, "label", {"clip": 0, "label": None}, {"Origin": origin}).status == 403
    own = f"http://127.0.0.1:{server.server_address[1]}"
    assert ask(server, "label", {"clip": 0, "label": None}, {"Origin": own}).status == 200


def test_a_get_changes_nothing_and_other_paths_do_not_exist(server: LabellingServer) -> None:
    for route in (
        "label",
        "undo",
        "finish",
        "skip",
        "../x",
        "media/3",
        "media/-1",
        "media/0/..",
        "media/x",
        "page.html",
    ):
        assert ask(server, route).status == 404
    assert ask(server, "state", {}).status == 404
    assert server.session.state.answers == ()


@pytest.mark.parametrize(
    "message",
    [
        *(b"", b"{", b"[]", b"null", b"7", b"[" * 1000, b"\xff"),
        *({}, {"clip": 0}, {"clip": "0", "label": None}, {"clip": True, "label": None}, {"clip": 0.0, "label": None}),
        *({"clip": 0, "label": "up"}, {"clip": 0, "label": ["left"]}),
    ],
)
def test_a_malformed_answer_is_refused(server: LabellingServer, message: object) -> None:
    assert ask(server, "label", message).status == 400
    assert server.session.state.answers == ()


def test_an_answer_has_a_size_that_is_bounded_and_stated(server: LabellingServer) -> None:
    assert ask(server, "label", b" " * 1025).status == 413
    assert ask(server, "label", b"{}", {"Content-Length": "-1"}).status == 413


def test_every_response_forbids_what_the_page_does_not_need(server: LabellingServer) -> None:
    for route in ("", "page.css", "page.js", "state", "media/0", "media/2", "nowhere"):
        headers = ask(server, route).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';") and "unsafe" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"


def test_the_page_learns_nothing_of_model_seed_and_judge(server: LabellingServer) -> None:
    seen, media = [], []
    for clip, label in enumerate(("left", None, "3")):
        media.append(ask(server, f"media/{clip}"))
        seen += [ask(server, "state"), ask(server, "label", {"clip": clip, "label": label})]
    page = [ask(server, route) for route in ("", "page.js", "page.css")]
    told = [reply.body.decode() for reply in (*seen, *page)] + [repr(reply.headers) for reply in (*seen, *page, *media)]
    words = set(re.findall(r"[a-z0-9_]+", "\n".join(told).lower()))
    assert words & {"die", "fork"} and not words & {*MODELS, "model", "seed", "seed_3", "sha256", "mp4v"}
    assert {key for reply in seen for key in reply.json()} == {
        "total",
        "place",
        "skipped",
        "clip",
        "ahead",
        "result",
    }


def test_an_answer_moves_on_and_undo_moves_back(server: LabellingServer) -> None:
    first = ask(server, "state").json()
    assert (first["place"], first["total"], first["clip"]["media"], first["ahead"]) == (0, 3, "media/0", None)
    second = ask(server, "label", {"clip": 0, "label": "left"}).json()
    assert (second["place"], second["clip"]["place"], second["clip"]["total"]) == (1, 1, 2)
    assert second["ahead"] == "media/2"
    assert ask(server, "undo", {"clip": 0}).json() == first
    # From a second window, which still shows a clip that has its answer.
    assert ask(server, "label", {"clip": 0, "label": "right"}).json()["place"] == 1
    late = ask(server, "label", {"clip": 0, "label": "left"})
    assert (late.status, late.json()["place"]) == (409, 1)


def test_the_evidence_is_what_the_scene_says(server: LabellingServer) -> None:
    video, picture = ask(server, "media/0"), ask(server, "media/2")
    assert video.headers["content-type"] == "video/mp4"
    assert frames_of(video.body) == frames_of(CLIP)
    frame = last_frame(server.folder / "dice" / "wan" / "seed_1.mp4").frame
    assert (picture.headers["content-type"], picture.body) == ("image/png", encode_png(frame))


def frames_of(clip: bytes) -> list[tuple[float | None, bytes]]:
    """Time and picture of each frame."""
    with av.open(io.BytesIO(clip)) as container:
        return [(frame.time, frame.to_ndarray(format="rgb24").tobytes()) for frame in container.decode(video=0)]


@pytest.mark.parametrize(("codec", "named"), [("libx264", b"x264"), ("mpeg4", b"SomeModel")])
def test_a_video_goes_out_without_word_of_its_maker_and_without_sound(tmp_path: Path, codec: str, named: bytes) -> None:
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w") as container:
        container.metadata["comment"] = "made by SomeModel 3"
        video, audio = container.add_stream(codec, 24), container.add_stream("aac", 48_000)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        for i in range(8):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 30 * i, np.uint8), format="rgb24")
            container.mux(video.encode(frame))
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 9600), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 48_000
        for stream, last in ((audio, sound), (video, None), (audio, None)):
            container.mux(stream.encode(last))
    sent = anonymous(path)
    assert named in path.read_bytes() and named not in sent and b"SomeModel" not in sent and b"Lavf" not in sent
    assert frames_of(sent) == frames_of(path.read_bytes()) != []
    with av.open(io.BytesIO(sent)) as container:
        assert [stream.type for stream in container.streams] == ["video"]


def test_a_part_of_a_video_can_be_asked_for(server: LabellingServer) -> None:
    whole = ask(server, "media/0").body
    part = ask(server, "media/0", headers={"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, whole[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(whole)}"
    beyond = ask(server, "media/0", headers={"Range": f"bytes={len(whole)}-"})
    assert (beyond.status, beyond.body, beyond.headers["content-range"]) == (416, b"", f"bytes */{len(whole)}")


@given(size=st.integers(1, 50), first=st.none() | st.integers(0, 60), last=st.none() | st.integers(0, 60))
def test_a_range_is_the_slice_that_it_names(size: int, first: int | None, last: int | None) -> None:
    data = bytes(range(size))
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    if first is None:
        expected = data if last is None else data[max(size - last, 0) :]
    elif last is not None and last < first:
        expected = data
    else:
        expected = data[first : None if last is None else last + 1]
    try:
        span = requested_span(header, size)
    except Unsatisfiable:
        assert expected == b""
        return
    assert (data if span is None else data[span.first : span.last + 1]) == expected


@pytest.mark.parametrize(
    "header", [None, "", "bytes", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,3-4", "bytes=٣-"]
)
def test_a_range_that_means_nothing_is_the_whole_file(header: str | None) -> None:
    assert requested_span(header, 10) is None


def test_a_clip_that_is_gone_is_skipped_by_name(server: LabellingServer, capsys: pytest.CaptureFixture[str]) -> None:
    gone = server.folder / "ball" / "wan" / "seed_3.mp4"
    gone.unlink()
    assert ask(server, "media/0").status == 404
    assert ask(server, "skip", {"clip": 0}).json()["skipped"] == 1
    # Which one it was, and why, stays unsaid until the end.
    assert capsys.readouterr().err == "clip 1 skipped\n"
    (reason,) = server.session.state.skipped.values()
    assert list(server.session.state.skipped) == ["ball/wan/seed_3"] and str(gone) in reason


def test_labels_of_nothing_are_not_made_final(server: LabellingServer) -> None:
    for clip in range(3):
        ask(server, "skip", {"clip": clip})
    refused = ask(server, "finish", {})
    assert refused.status == 500 and "put the clips back and undo the skips" in refused.json()["error"]
    assert not server.session.state.finished
    assert ask(server, "undo", {"clip": 2}).json()["place"] == 2
    assert ask(server, "label", {"clip": 2, "label": None}).status == 200
    assert ask(server, "finish", {}).status == 200


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "FOO"])
def test_another_method_is_refused_in_our_own_words(server: LabellingServer, method: str) -> None:
    for host, path, status in (
        ("127.0.0.1", f"/{server.token}/state", 501),
        ("evil.example", f"/{server.token}/state", 403),
        ("127.0.0.1", "/x/state", 404),
    ):
        head, body = spoken(server, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")
        assert head.startswith(f"HTTP/1.1 {status} ")
        assert "server:" not in head.lower() and "python" not in (head + body).lower()
        assert "content-security-policy: default-src 'none'" in head.lower()
        assert (body == "") == (method == "HEAD")
    assert server.session.state.answers == ()


@pytest.mark.parametrize("line", ["GET", "GET / HTTP/9.9", "GET /" + "x" * 70_000 + " HTTP/1.1", "\0"])
def test_a_malformed_request_is_refused_in_our_own_words(server: LabellingServer, line: str) -> None:
    head, body = spoken(server, f"{line}\r\nHost: 127.0.0.1\r\n\r\n")
    assert "python" not in (head + body).lower() and "server:" not in head.lower()


def spoken(server: LabellingServer, request: str) -> tuple[str, str]:
    """Head and body of what the server says to this request."""
    with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as connection:
        connection.sendall(request.encode("latin-1"))
        said = b""
        try:
            while data := connection.recv(4096):
                said += data
        except ConnectionResetError:
            # It hangs up on what it does not read to the end.
            pass
    head, _, body = said.decode("latin-1").partition("\r\n\r\n")
    return head, body


def test_a_log_that_cannot_be_written_keeps_the_clip_and_says_so(
    server: LabellingServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.session.close()
    shutil.rmtree(tmp_path / "session")
    (tmp_path / "session").write_text("a file where the folder was")
    reply = ask(server, "label", {"clip": 0, "label": "left"})
    assert reply.status == 500 and "cannot write" in reply.json()["error"]
    assert ask(server, "state").json()["place"] == 0


def test_the_server_ends_when_the_labels_are_final(server: LabellingServer) -> None:
    assert ask(server, "finish", {}).status == 409
    for clip, label in enumerate(("left", None, "3")):
        ask(server, "label", {"clip": clip, "label": label})
    assert ask(server, "state").json()["clip"] is None
    assert ask(server, "finish", {}).json()["result"] == {"summary": "done"}
    assert server.session.state.finished
