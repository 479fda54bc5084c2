"""What a judge is shown of a clip, and which clips are none."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from judges.evidence import load_evidence
from tests.services.clips import blank_clip, moving_clip
from tests.services.reading_room import reading_room
from video_io import Frame, VideoError, encode_png, find_clips, last_frame, write_video


def still_frames(count: int = 8) -> Iterator[Frame]:
    """A scene in which nothing moves."""
    frame = np.full((48, 64, 3), 90, np.uint8)
    frame[10:20, 10:20] = 200
    return (frame for _ in range(count))


def promising_clip(path: Path, promised: int) -> None:
    """An AVI file of eight frames whose stream header promises another number."""
    with av.open(str(path), mode="w", format="avi") as container:
        stream = container.add_stream("mpeg4", rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for shade in range(8):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 20 * shade, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    data = bytearray(path.read_bytes())
    # dwLength of the stream header: tag, size, and eight fields before it.
    at = data.index(b"strh") + 40
    data[at : at + 4] = promised.to_bytes(4, "little")
    path.write_bytes(data)


def test_the_evidence_of_a_picture_scene_is_the_last_frame(tmp_path: Path) -> None:
    clip = tmp_path / "seed_0.mp4"
    clip.write_bytes(moving_clip())
    evidence = load_evidence(clip, "dice/mine/seed_0", "final_frame")
    assert evidence.final_frame == encode_png(last_frame(clip).frame)
    assert evidence.clip_sha256 == hashlib.sha256(moving_clip()).hexdigest()
    assert (evidence.frames, evidence.promised_frames) == (8, 8)


def test_the_evidence_of_a_video_scene_is_the_clip_itself(tmp_path: Path) -> None:
    clip = tmp_path / "seed_0.mp4"
    clip.write_bytes(moving_clip())
    assert load_evidence(clip, "ball/mine/seed_0", "video").final_frame is None


@pytest.mark.parametrize("kind", ["final_frame", "video"])
def test_an_empty_picture_from_start_to_end_is_blank_and_no_evidence(tmp_path: Path, kind: str) -> None:
    clip = tmp_path / "seed_0.mp4"
    clip.write_bytes(blank_clip())
    with pytest.raises(VideoError) as raised:
        load_evidence(clip, "ball/mine/seed_0", kind)  # type: ignore[arg-type]
    assert raised.value.kind == "blank"


@pytest.mark.parametrize("colour", [(0, 0, 255), (0, 128, 0), (200, 30, 90), (255, 255, 255)])
def test_an_empty_picture_of_any_colour_is_blank(tmp_path: Path, colour: tuple[int, int, int]) -> None:
    clip = tmp_path / "seed_0.mp4"
    write_video(clip, (np.full((48, 64, 3), colour, np.uint8) for _ in range(8)), 24)
    with pytest.raises(VideoError) as raised:
        load_evidence(clip, "ball/mine/seed_0", "video")
    assert raised.value.kind == "blank"


def test_a_single_picture_is_no_video(tmp_path: Path) -> None:
    clip = tmp_path / "seed_0.mp4"
    clip.write_bytes(encode_png(next(still_frames())))
    with pytest.raises(VideoError, match="one picture; expected a video") as raised:
        load_evidence(clip, "dice/mine/seed_0", "final_frame")
    assert raised.value.kind == "unreadable"


def test_a_scene_that_stands_still_is_evidence(tmp_path: Path) -> None:
    clip = tmp_path / "seed_0.mp4"
    write_video(clip, still_frames(), 24)
    assert load_evidence(clip, "ball/mine/seed_0", "video").frames == 8


def test_a_header_that_promises_more_frames_than_decode_is_said_and_logged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with reading_room(tmp_path) as room:
        room.put_clips()
        promising_clip(room.clip(3), 20)
        ran = room.run("--votes", "1")
        assert ran.code == 0
        assert "dice/mine/seed_3: 8 frames decode of 20 that the file promises; the last one that does" in ran.err
        counts = {line["seed"]: (line["frames"], line["promised_frames"]) for line in room.log()}
        assert counts[3] == (8, 20)
        assert counts[0] == (8, 8)
        assert room.bins() == room.truth()


def test_clips_are_found_by_their_exact_names(tmp_path: Path) -> None:
    names = (
        "seed_0.mp4",
        "seed_01.mp4",
        "seed_1.MP4",
        "seed_2.mp4",
        "seed_3.mp4",
        "seed_2 (1).mp4",
        "x.mp4",
        ".seed_1.mp4",
    )
    for name in names:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "seed_1.mp4").mkdir()
    clips = find_clips(tmp_path, 3)
    assert sorted(clips.found) == [0, 2]
    assert clips.missing == [1]
    assert sorted(clips.extra) == sorted(set(names) - {"seed_0.mp4", "seed_2.mp4", ".seed_1.mp4"} | {"seed_1.mp4"})


def test_a_folder_that_is_not_there_has_no_clips(tmp_path: Path) -> None:
    clips = find_clips(tmp_path / "nowhere", 2)
    assert (dict(clips.found), clips.missing, clips.extra) == ({}, [0, 1], [])
