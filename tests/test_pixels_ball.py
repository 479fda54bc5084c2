"""The channel is read from where the ball is in the end."""

import pytest

from constants import SIMULATOR_SIZE
from judges.pixels import READERS, read
from judges.pixels.common import TOLERANCE, still_picture
from simulator.ball_drawing import BALL_RADIUS, ELBOW, EXIT_Y, GROUND_Y
from tests.pixel_clips import SMALL, label, seen, video


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shown", ["left", "right"])
def test_both_channels_are_read(shown: str, seed: int) -> None:
    assert label("ball", seen("ball", shown, seed=seed)) == shown


def test_a_clip_of_the_default_size_is_read() -> None:
    assert label("ball", seen("ball", "right", size=SIMULATOR_SIZE)) == "right"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shown", ["stops_at_fork", "stops_in_channel"])
def test_a_ball_that_never_exits_is_null(shown: str, seed: int) -> None:
    reading = seen("ball", shown, seed=seed)
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "never exits")


def test_the_place_of_the_ball_is_measured() -> None:
    where = seen("ball", "right").reason.split()
    x, y = float(where[-3].rstrip(",")), float(where[-1])
    assert abs(x - ELBOW[0]) < 0.06
    assert y == pytest.approx(GROUND_Y - BALL_RADIUS, abs=0.006)


def test_it_is_the_exit_that_counts_and_not_the_branch() -> None:
    frames = video("ball", "left")
    last = [read("ball", frames[:n]) for n in range(1, len(frames) + 1)]
    exits = [label("ball", reading) for reading in last]
    assert exits == sorted(exits, reverse=True)  # null ... null, left ... left
    assert exits.count("left") > 2
    assert float(last[exits.index("left") - 1].reason.split("y ")[1].split(",")[0]) < EXIT_Y + BALL_RADIUS


def test_a_ball_that_has_left_the_picture_keeps_its_channel() -> None:
    frames, without = video("ball", "right"), video("ball", "left")[0].copy()
    without[: without.shape[0] // 3] = without[0, 0]  # where the ball waits; no part of the comparison is below it
    assert READERS["ball"].read(iter([*frames, without])).outcome == 2
    assert READERS["ball"].read(iter([without])).reason == "no ball is seen"


def test_the_mirror_image_of_a_clip_shows_the_other_channel() -> None:
    assert read("ball", [frame[:, ::-1] for frame in video("ball", "left")]).outcome == 2


def test_nothing_but_the_ball_moves() -> None:
    for shown in ("left", "stops_in_channel"):
        still = still_picture("ball", READERS["ball"], SMALL)
        differences = [still.difference(frame) for frame in video("ball", shown)]
        assert max(differences) < 0.5 * TOLERANCE
