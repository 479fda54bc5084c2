"""Clips are written so that they play, and read so that no header is believed."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from errors import UserError
from video_io import Frame, VideoError, decode, encode_png, inspect_clip, last_frame, sha256_file, write_video

SIZE = (64, 96)
COUNT = 30


def moving_square(count: int = COUNT, step: int = 2) -> Iterator[Frame]:
    for i in range(count):
        frame = np.full((*SIZE, 3), (40, 90, 160), np.uint8)
        frame[20:36, 4 + step * i : 20 + step * i] = (230, 60, 40)
        yield frame


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    write_video(path, moving_square(), 24)
    return path


def cut(clip: Path, folder: Path, size: int) -> Path:
    path = folder / "cut.mp4"
    path.write_bytes(clip.read_bytes()[:size])
    return path


def write_other(path: Path, codec: str, pix_fmt: str, container: str) -> None:
    """A clip as other tools write them, with any codec."""
    with av.open(str(path), mode="w", format=container) as out:
        stream: Any = out.add_stream(codec, rate=24)
        stream.height, stream.width, stream.pix_fmt = SIZE[0], SIZE[1], pix_fmt
        for frame in moving_square():
            out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24").reformat(format=pix_fmt)))
        out.mux(stream.encode(None))


def write_sound(path: Path) -> None:
    with av.open(str(path), mode="w", format="mp4") as out:
        stream = out.add_stream("aac", rate=8000)
        sound = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        sound.sample_rate = 8000
        out.mux(stream.encode(sound))
        out.mux(stream.encode(None))


def test_a_written_clip_reads_back_frame_by_frame(clip: Path) -> None:
    for written, read in zip(moving_square(), decode(clip), strict=True):
        assert read.shape == written.shape
        assert np.abs(read.astype(int) - written).mean() < 4


def test_a_written_clip_is_what_every_player_takes(clip: Path) -> None:
    with av.open(str(clip)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert (stream.width, stream.height) == (SIZE[1], SIZE[0])
        assert stream.average_rate == 24
    data = clip.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), "the index stands before the data, so that playing starts at once"


def test_flat_colours_survive_encoding(tmp_path: Path) -> None:
    colours = [(255, 255, 255), (0, 0, 0), (200, 30, 30), (30, 140, 60), (20, 40, 180)]
    path = tmp_path / "colours.mp4"
    write_video(path, (np.full((*SIZE, 3), colour, np.uint8) for colour in colours), 24)
    for colour, frame in zip(colours, decode(path), strict=True):
        assert np.abs(frame[10:-10, 10:-10].astype(int) - colour).max() <= 4


def test_the_same_frames_give_the_same_bytes(clip: Path, tmp_path: Path) -> None:
    for name in ("again.mp4", "and again.mp4"):
        write_video(tmp_path / name, moving_square(), 24)
        assert (tmp_path / name).read_bytes() == clip.read_bytes()


def test_inspect_describes_a_good_clip(clip: Path) -> None:
    info = inspect_clip(clip)
    assert (info.width, info.height, info.fps) == (SIZE[1], SIZE[0], 24.0)
    assert info.frames == info.promised_frames == COUNT


def test_last_frame_is_the_last_one(clip: Path) -> None:
    *_, expected = decode(clip)
    last = last_frame(clip)
    assert np.array_equal(last.frame, expected)
    assert (last.frames, last.promised_frames) == (COUNT, COUNT)


@pytest.mark.parametrize("missing", [1, 100, 400])
def test_a_clip_cut_short_is_truncated_and_its_last_intact_frame_is_given(
    clip: Path, tmp_path: Path, missing: int
) -> None:
    path = cut(clip, tmp_path, clip.stat().st_size - missing)
    with pytest.raises(VideoError, match="expected a complete video") as caught:
        inspect_clip(path)
    assert caught.value.kind == "truncated"
    last = last_frame(path)
    assert last.promised_frames == COUNT
    assert 0 < last.frames < COUNT
    # Frames are stored in coding order, so the last intact one may stand behind a gap; it is never a damaged picture.
    assert any(np.array_equal(last.frame, frame) for frame in decode(clip))


def test_a_clip_without_its_trailing_box_is_truncated_although_every_frame_decodes(clip: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.mp4"
    path.write_bytes(clip.read_bytes() + (1000).to_bytes(4) + b"free")
    assert last_frame(path).frames == COUNT
    with pytest.raises(VideoError) as caught:
        inspect_clip(path)
    assert caught.value.kind == "truncated"


def test_zero_bytes_after_the_last_box_are_no_fault(clip: Path, tmp_path: Path) -> None:
    path = tmp_path / "padded.mp4"
    path.write_bytes(clip.read_bytes() + bytes(5))
    assert inspect_clip(path) == inspect_clip(clip)


@pytest.mark.parametrize("size", [0, 1, 7, 40, 300, 700])
@pytest.mark.parametrize("reader", [inspect_clip, last_frame, lambda path: list(decode(path))])
def test_a_clip_without_one_frame_is_an_error_that_names_the_file(
    clip: Path, tmp_path: Path, size: int, reader: Callable[[Path], object]
) -> None:
    path = cut(clip, tmp_path, size)
    with pytest.raises(VideoError, match=r"cut\.mp4: ") as caught:
        reader(path)
    assert caught.value.kind in ("unreadable", "no_frames")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"<html><body>404: this link has expired</body></html>",
        b'{"error": "expired"}',
        bytes(4096),
        b"\xff\xd8\xff" * 400,
    ],
)
def test_what_is_no_video_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "page.mp4"
    path.write_bytes(content)
    with pytest.raises(VideoError) as caught:
        inspect_clip(path)
    assert caught.value.kind in ("unreadable", "no_frames")


def test_random_bytes_are_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "noise.mp4"
    path.write_bytes(np.random.default_rng(0).bytes(20_000))
    with pytest.raises(VideoError) as caught:
        inspect_clip(path)
    assert caught.value.kind == "unreadable"


def test_sound_without_pictures_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "sound.mp4"
    write_sound(path)
    with pytest.raises(VideoError, match="no video stream"):
        last_frame(path)


def test_a_missing_file_and_a_folder_are_unreadable(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.mp4", tmp_path):
        with pytest.raises(VideoError) as caught:
            inspect_clip(path)
        assert caught.value.kind == "unreadable"


@pytest.mark.parametrize("shade", [0, 128])
def test_a_clip_of_one_picture_is_blank(tmp_path: Path, shade: int) -> None:
    path = tmp_path / "still.mp4"
    noise = np.random.default_rng(0)
    picture = np.clip(shade + noise.integers(-20, 20, (*SIZE, 3)), 0, 255).astype(np.uint8)
    write_video(path, [picture] * 12, 24)
    with pytest.raises(VideoError, match="same picture") as caught:
        inspect_clip(path)
    assert caught.value.kind == "blank"
    assert inspect_clip(path, allow_blank=True).frames == 12


def test_a_clip_in_which_one_small_thing_moves_once_is_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "small.mp4"
    frames = [np.full((*SIZE, 3), 90, np.uint8) for _ in range(10)]
    frames[-1][30:36, 40:46] = 200
    write_video(path, frames, 24)
    assert inspect_clip(path).frames == 10


@pytest.mark.parametrize(
    ("codec", "pix_fmt", "container"),
    [
        ("mpeg4", "yuv420p", "mp4"),
        ("libx264", "yuv444p", "mp4"),
        ("libx265", "yuv420p10le", "mp4"),
        ("mjpeg", "yuvj420p", "avi"),
        ("libvpx-vp9", "yuv420p", "webm"),
        ("rawvideo", "yuv420p", "nut"),
    ],
)
def test_clips_of_other_codecs_are_read_under_any_file_name(
    tmp_path: Path, codec: str, pix_fmt: str, container: str
) -> None:
    path = tmp_path / "clip.mp4"
    write_other(path, codec, pix_fmt, container)
    info = inspect_clip(path)
    assert (info.width, info.height, info.frames) == (SIZE[1], SIZE[0], COUNT)
    *_, expected = moving_square()
    assert np.abs(last_frame(path).frame.astype(int) - expected).mean() < 12


def test_a_failed_write_leaves_the_old_clip_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    write_video(path, moving_square(), 24)
    before = path.read_bytes()

    def breaking() -> Iterator[Frame]:
        yield from moving_square(5)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_video(path, breaking(), 24)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_frames_are_encoded_as_they_come(tmp_path: Path) -> None:
    alive: list[int] = []

    def counted() -> Iterator[Frame]:
        for frame in moving_square():
            alive.append(1)
            yield frame

    assert write_video(tmp_path / "clip.mp4", counted(), 24) == len(alive) == COUNT


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [np.zeros((63, 96, 3), np.uint8)],
        [np.zeros((64, 96), np.uint8)],
        [np.zeros((64, 96, 3), np.uint8), np.zeros((64, 98, 3), np.uint8)],
        [np.zeros((64, 96, 3), np.uint8), np.zeros((64, 96, 3), np.float64)],
    ],
)
def test_frames_that_cannot_be_encoded_are_refused(tmp_path: Path, frames: list[Frame]) -> None:
    with pytest.raises(ValueError, match="expected"):
        write_video(tmp_path / "clip.mp4", frames, 24)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_a_user_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="expected a writable folder"):
        write_video(tmp_path / "file" / "clip.mp4", moving_square(), 24)


def test_a_video_error_keeps_its_kind_on_the_way_out_of_a_worker() -> None:
    error = pickle.loads(pickle.dumps(VideoError("blank", "clip.mp4: grey")))
    assert (error.kind, str(error)) == ("blank", "clip.mp4: grey")


def test_png_is_lossless_and_stable(tmp_path: Path) -> None:
    frame = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8)
    path = tmp_path / "frame.png"
    path.write_bytes(encode_png(frame))
    assert np.array_equal(next(decode(path)), frame)
    assert encode_png(frame) == path.read_bytes()


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert sha256_file(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(UserError, match="absent"):
        sha256_file(tmp_path / "absent")
