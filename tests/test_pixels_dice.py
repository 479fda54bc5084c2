"""The die's top face is read from its pips."""

from dataclasses import replace

import numpy as np
import pytest

from judges.pixels import read
from judges.pixels.common import NotSimulatedError
from scenes import SCENES
from simulator.dice_drawing import Pose, box, draw
from tests.pixel_clips import SMALL, covered, encoded, label, seen
from video_io import Frame


def turned(axis: str, degrees: float, x: float = 0.0) -> Pose:
    """A die at `x`, lying on the floor with face 3 up, and then turned about an axis."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    rotation = np.array(
        [[1, 0, 0], [0, cos, -sin], [0, sin, cos]] if axis == "x" else [[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]
    )
    return Pose(np.array([x, 0.0, 0.5]), rotation)


def picture(*poses: Pose) -> Frame:
    frame = box(SMALL).copy()
    for pose in poses:
        draw(frame, pose, SMALL)
    return encoded(frame)


@pytest.mark.parametrize("shown", SCENES["dice"].outcomes)
def test_every_face_is_read(shown: str) -> None:
    assert label("dice", seen("dice", shown)) == shown


def test_a_die_on_its_edge_is_null() -> None:
    reading = seen("dice", "on_edge")
    assert reading.outcome is None
    assert "no face dominant" in reading.reason


@pytest.mark.parametrize("degrees", range(0, 90, 15))
def test_the_way_a_die_lies_does_not_matter(degrees: int) -> None:
    assert read("dice", [picture(turned("z", degrees))]).outcome == 3


def test_a_slight_tilt_is_accepted_and_a_strong_one_is_not() -> None:
    assert read("dice", [picture(turned("x", 8))]).outcome == 3
    assert read("dice", [picture(turned("x", 40))]).outcome is None


def test_a_die_that_leans_over_a_wall_is_null_and_simulated() -> None:
    over = turned("x", 45)
    for place in ((4.2, 1.0), (-4.2, 0.0), (0.0, 2.0), (0.0, -2.0)):
        reading = read("dice", [picture(replace(over, position=np.array([*place, 0.7])))])
        assert "no face dominant" in reading.reason


def test_a_changed_floor_is_not_simulated() -> None:
    with pytest.raises(NotSimulatedError):
        read("dice", [covered(picture(turned("z", 10)), 0.6, 0.7, -0.6, -0.5)])


def test_two_dice_or_none_are_null() -> None:
    assert read("dice", [picture(turned("z", 10, -1.5), turned("z", 50, 1.5))]).reason == "2 dice in the box"
    assert read("dice", [picture()]).reason == "0 dice in the box"


def test_a_die_without_pips_is_null() -> None:
    frame = picture(turned("z", 0))
    floor = frame[100:140, 196:236]
    floor[floor.max(axis=2) < 150] = 235
    assert read("dice", [frame]).reason == "no face dominant: 0 of 0 pips are seen squarely"
