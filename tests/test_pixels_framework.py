"""The pixels judge is a judge like any other, reads pixels and nothing else, and knows what it cannot read."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import extract_bin
from errors import UserError
from judges.base import Evidence, RawReply, State
from judges.parse import parse_reply
from judges.pixels import READERS, PixelsJudge, read
from judges.pixels.common import (
    TOLERANCE,
    NotSimulatedError,
    box_of,
    coordinates,
    parts,
    recognised,
    still_picture,
)
from judges.registry import JudgeOptions, get_judge
from scenes import SCENES
from simulator import SIMULATORS
from studies import STUDIES
from tests.pixel_clips import SMALL, covered, encoded, final_frame, seen
from tests.services.clips import moving_clip
from video_io import Frame, VideoError, encode_png, write_video

SHOWN = {"dice": "5", "cards": "spades", "lottery": "6", "roulette": "red"}
NULL = {"dice": "on_edge", "cards": "face_down", "lottery": "empty_tube", "roulette": "no_ball"}
STUDY, CELL = "face_3", Path("face_3") / "dice" / "mine"


def evidence_of(frame: Frame, rollout: str = "any/name/will-do") -> Evidence:
    """Final-frame evidence: there is no clip that could be opened, and none beside which a truth could lie."""
    return Evidence(
        kind="final_frame",
        rollout=rollout,
        clip=Path("absent.mp4"),
        clip_sha256="0" * 64,
        frames=100,
        promised_frames=100,
        final_frame=encode_png(frame),
    )


def asked(evidence: Evidence, scene: str) -> RawReply:
    async def ask() -> RawReply:
        judge = PixelsJudge()
        await judge.open()
        await judge.prepare(evidence)
        first = await judge.ask(evidence, SCENES[scene].judge_question, scene)
        assert await judge.ask(evidence, SCENES[scene].judge_question, scene) is first
        await judge.release(evidence)
        await judge.close()
        return first

    return asyncio.run(ask())


def test_every_scene_has_a_reader() -> None:
    assert set(READERS) == set(SCENES)


# ---- a judge like any other -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", SHOWN)
def test_a_reply_is_the_bare_outcome_and_its_detail_says_why(scene: str) -> None:
    reply = asked(evidence_of(final_frame(scene, SHOWN[scene])), scene)
    assert (reply.state, reply.text) == (State.VOTE, SHOWN[scene])
    assert reply.detail == seen(scene, SHOWN[scene]).reason != ""
    assert reply.model_version == PixelsJudge.model


@pytest.mark.parametrize("scene", NULL)
def test_an_artefact_is_a_null_with_its_reason(scene: str) -> None:
    reply = asked(evidence_of(final_frame(scene, NULL[scene])), scene)
    assert (reply.state, reply.text) == (State.VOTE, "null")
    assert reply.detail == seen(scene, NULL[scene]).reason != ""
    parsed = parse_reply(reply.text, SCENES[scene].outcomes)
    assert (parsed.state, parsed.outcome) == ("vote", None)


def test_a_clip_that_does_not_decode_is_no_vote(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(b"no video")
    video = replace(evidence_of(final_frame("dice", "5")), kind="video", clip=tmp_path / "clip.mp4", final_frame=None)
    with pytest.raises(VideoError, match="expected a video file"):
        asked(video, "dice")


def test_it_is_a_judge_by_name_that_takes_neither_an_address_nor_a_model(tmp_path: Path) -> None:
    assert get_judge("pixels", JudgeOptions(tmp_path)).name == "pixels"
    for options in (JudgeOptions(tmp_path, model="other"), JudgeOptions(tmp_path, base_url="http://127.0.0.1/v1")):
        with pytest.raises(UserError, match=r"--judge pixels: .*expected no --base-url"):
            get_judge("pixels", options)


def test_the_command_reads_a_cell_and_logs_its_votes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = ["1", "2", "6", "on_edge", "5"]
    assert len(labels) == STUDIES[STUDY].n
    for seed, shown in enumerate(labels):
        put_clip(tmp_path, seed, final_frame("dice", shown))
    # A false truth beside a clip changes nothing: no reader opens it.
    (tmp_path / "rollouts" / CELL / "seed_0.truth.json").write_text('{"outcome": 6}')
    assert run(tmp_path) == 0
    (cell,) = (tmp_path / "analysis").rglob("*_bins.json")
    assert [r["bin"] for r in json.loads(cell.read_text())["rollouts"]] == [1, 2, 6, None, 5]
    lines = log(tmp_path)
    assert len(lines) == 3 * len(labels)
    (why,) = {str(line["detail"]) for line in lines if line["seed"] == 3}
    assert "no face dominant" in why
    capsys.readouterr()


def test_clips_that_are_not_simulated_leave_a_cell_incomplete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_clip(tmp_path, 0, final_frame("dice", "2"))
    (tmp_path / "rollouts" / CELL / "seed_1.mp4").write_bytes(moving_clip(*SMALL))
    put_clip(tmp_path, 2, final_frame("cards", "spades"))
    assert run(tmp_path) == 1
    assert not list((tmp_path / "analysis").rglob("*_bins.json"))
    assert {line["seed"]: (line["state"], line["bin"]) for line in log(tmp_path)} == {
        0: ("vote", 2),
        1: ("not_simulated", None),
        2: ("not_simulated", None),
    }
    said = capsys.readouterr().out
    assert "5 rollouts: 1 done, 2 not_simulated, 2 no_video" in said
    assert "take another judge" in said and "--retry" not in said and "continue with" not in said


@pytest.mark.parametrize("options", [(), ("--retry",)])
def test_a_clip_that_is_not_simulated_is_asked_about_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: Sequence[str]
) -> None:
    n = STUDIES["main"].n
    folder = tmp_path / "rollouts" / "main" / "dice" / "mine"
    write_video(folder / "seed_0.mp4", [final_frame("cards", "spades")] * 3, 24)
    for seed in range(1, n):
        (folder / f"seed_{seed}.mp4").write_bytes((folder / "seed_0.mp4").read_bytes())
    assert run(tmp_path, study="main") == 1
    lines = log(tmp_path)
    asked = {(line["seed"], line["vote"]) for line in lines}
    assert len(asked) == len(lines) < 3 * n, "the cell is given up, and no vote is asked for twice"
    for _ in range(2):
        assert run(tmp_path, *options, study="main") == 1
        assert log(tmp_path) == lines
    assert "take another judge" in capsys.readouterr().out


def put_clip(folder: Path, seed: int, frame: Frame) -> None:
    write_video(folder / "rollouts" / CELL / f"seed_{seed}.mp4", [frame] * 3, 24)


def run(folder: Path, *options: str, study: str = STUDY) -> int:
    where = ["--rollouts", str(folder / "rollouts"), "--analysis", str(folder / "analysis")]
    cell = ["--study", study, "--scene", "dice", "--model", "mine"]
    return extract_bin.main([*cell, "--judge", "pixels", *where, *options])


def log(folder: Path) -> list[dict[str, object]]:
    (path,) = (folder / "analysis").rglob("*.pixels.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


# ---- recognition ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", READERS)
def test_simulated_clips_are_recognised_with_room_to_spare(scene: str) -> None:
    final = final_frame(scene, SIMULATORS[scene].artefacts[0])
    assert still_picture(scene, READERS[scene], SMALL).difference(final) < 0.7 * TOLERANCE


@pytest.mark.parametrize("scene", READERS)
def test_another_scene_is_not_simulated(scene: str) -> None:
    other = "cards" if scene != "cards" else "dice"
    with pytest.raises(NotSimulatedError, match="differs by"):
        read(scene, [final_frame(other, SHOWN[other])])


@pytest.mark.parametrize("scene", SHOWN)
def test_a_picture_that_moved_by_two_pixels_is_not_simulated(scene: str) -> None:
    with pytest.raises(NotSimulatedError, match="differs by"):
        read(scene, [np.roll(final_frame(scene, SHOWN[scene]), 2, axis=1)])


def test_something_in_the_background_is_not_simulated() -> None:
    with pytest.raises(NotSimulatedError, match="differs by"):
        read("roulette", [covered(final_frame("roulette", "red"), 0.4, 0.6, -0.8, -0.6)])


@pytest.mark.parametrize("size", [(256, 256), (320, 180), (641, 360)])
def test_a_size_that_the_simulator_does_not_draw_is_not_simulated(size: tuple[int, int]) -> None:
    with pytest.raises(NotSimulatedError, match=f"size {size[0]}x{size[1]}"):
        read("dice", [np.zeros((size[1], size[0], 3), np.uint8)])


def test_every_frame_of_a_video_is_compared() -> None:
    good = final_frame("dice", "5")
    frames = iter([good, good, np.roll(good, 5, axis=0), good])
    with pytest.raises(NotSimulatedError, match="differs by"):
        list(recognised("dice", READERS["dice"], frames))
    assert len(list(frames)) == 1


def test_frames_of_two_sizes_are_not_simulated() -> None:
    frames = [final_frame("dice", "5"), encoded(np.zeros((360, 640, 3), np.uint8))]
    with pytest.raises(NotSimulatedError, match="a frame of 640x360 after one of 432x240"):
        list(recognised("dice", READERS["dice"], frames))


# ---- what readers share -----------------------------------------------------------------------------------------


def test_scene_coordinates_are_those_of_the_simulator() -> None:
    x, y = coordinates((432, 240))
    assert (x.shape, y.shape) == ((1, 432), (240, 1))
    assert x[0, 215] == -x[0, 216] == pytest.approx(-0.5 / 240)
    assert (y[0, 0], y[-1, 0]) == (pytest.approx(0.5 / 240), pytest.approx(1 - 0.5 / 240))
    box = box_of((432, 240), (-0.25, 0.5), (0.25, 2.0))
    assert box == (slice(120, 240), slice(156, 276))


def test_the_parts_of_a_mask_come_by_size_with_their_place_in_the_frame() -> None:
    mask = np.zeros((20, 30), bool)
    mask[2:4, 3:7] = mask[10:16, 10:22] = mask[0, 29] = True
    mask[12:14, 12:20] = False
    large, small = parts(mask, 2, (slice(100, 120), slice(200, 230)))
    assert (large.area, small.area) == (6 * 12 - 2 * 8, 8)
    assert (large.filled().area, large.centre) == (6 * 12, (216.0, 113.0))
    assert small.box == (slice(102, 104), slice(203, 207))


@pytest.mark.parametrize(("width", "height", "ratio"), [(30, 30, 1.0), (40, 20, 0.5), (24, 18, 0.75)])
def test_roundness_is_the_ratio_of_the_axes(width: int, height: int, ratio: float) -> None:
    y, x = np.mgrid[0:50, 0:50] - 24.5
    turned = 0.8 * x + 0.6 * y, 0.8 * y - 0.6 * x
    mask = np.hypot(turned[0] / width, turned[1] / height) < 0.5
    (part,) = parts(mask, 1, (slice(0, 50), slice(0, 50)))
    assert part.roundness == pytest.approx(ratio, abs=0.02)
