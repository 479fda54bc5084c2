"""The number in the tube is read from the ball that lies there."""

import numpy as np
import pytest

from judges.pixels import read
from scenes import SCENES
from simulator.lottery_machine import DRUM_CENTRE, TUBE_BALL, draw_balls, machine
from tests.pixel_clips import SMALL, covered, encoded, final_frame, label, seen
from video_io import Frame

REST = TUBE_BALL[1] - DRUM_CENTRE[1]


def with_ball(number: int, height: float = 0.0, angle: float = 0.0) -> Frame:
    """A ball of that number in the tube, so much above where it rests; the lower numbers in the drum."""
    frame = machine(SMALL).copy()
    places = np.zeros((number, 2))
    places[-1] = 0, REST - height
    draw_balls(frame, places, np.full(number, angle), 0.3, SMALL)
    return encoded(frame)


@pytest.mark.parametrize("number", range(1, 21))
def test_every_number_is_read(number: int) -> None:
    assert read("lottery", [with_ball(number)]).outcome == number


@pytest.mark.parametrize("shown", ["6", "9", "20"])
def test_the_ball_of_a_whole_draw_is_read(shown: str) -> None:
    assert label("lottery", seen("lottery", shown)) == shown


def test_an_empty_and_a_double_tube_are_null() -> None:
    assert seen("lottery", "empty_tube").reason == "no ball in the tube"
    double = seen("lottery", "double_tube")
    assert (double.outcome, double.reason.split(":")[0]) == (None, "not exactly one ball in the tube")


@pytest.mark.parametrize("pixels", [2, 9, 20])
def test_a_ball_that_has_not_come_to_rest_is_read_as_well(pixels: int) -> None:
    assert read("lottery", [with_ball(13, pixels / SMALL[1])]).outcome == 13


def test_a_ball_that_is_half_in_the_tube_is_null() -> None:
    assert read("lottery", [with_ball(7, -0.05)]).outcome is None


def test_a_number_that_is_not_legible_is_null() -> None:
    hidden = covered(final_frame("lottery", "6"), TUBE_BALL[1] - 0.02, TUBE_BALL[1] + 0.02, -0.02, 0.02)
    reading = read("lottery", [hidden])
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "number not legible")


def test_a_number_that_lies_on_its_side_is_never_taken_for_another_one() -> None:
    for number in range(1, len(SCENES["lottery"].outcomes) + 1):
        assert read("lottery", [with_ball(number, angle=np.pi / 2)]).outcome in (None, number)
