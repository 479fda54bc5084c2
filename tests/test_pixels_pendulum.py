"""The side is read from the lowest weight of the last frame, if every frame shows a rigid pendulum."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from constants import SIMULATOR_SIZE
from judges.pixels import read
from judges.pixels.common import NotSimulatedError, Reading
from simulator import Size
from simulator.drawing import Point, View
from simulator.pendulum import ARTEFACTS, DISK_RADIUS, motion_to, outcome_of, weights
from tests.pixel_clips import SMALL, label, seen, take, video
from video_io import Frame


def motion(shown: str, seed: int = 0) -> NDArray[np.float64]:
    """Both angles at every frame of a rollout, as the simulator has them."""
    rollout = take("pendulum", shown, seed)
    return motion_to(rollout.outcome, rollout.rng)


def lowest(angles: NDArray[np.float64]) -> Point:
    return max(weights(angles), key=lambda point: point[1])


def place(reading: Reading) -> Point:
    """Where the lowest weight is according to the reason."""
    found = re.search(r"x ([-+][.\d]+), y ([.\d]+)", reading.reason)
    assert found, reading.reason
    return float(found[1]), float(found[2])


def erased(frame: Frame, point: Point) -> Frame:
    """A copy with background in the place of a weight."""
    column, row = (round(at) for at in View((frame.shape[1], frame.shape[0])).at(point))
    reach = round(1.3 * DISK_RADIUS * frame.shape[0])
    copy = frame.copy()
    rows = slice(row - reach, row + reach)
    copy[rows, column - reach : column + reach] = frame[rows, 10:11]
    return copy


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shown", ["left", "right"])
def test_both_sides_are_read(shown: str, seed: int) -> None:
    assert label("pendulum", seen("pendulum", shown, seed=seed)) == shown


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ARTEFACTS)
def test_every_artefact_is_null(kind: str, seed: int) -> None:
    reading = seen("pendulum", kind, seed=seed)
    assert (reading.outcome, reading.reason.split()[0]) == (None, "frame")
    if kind.startswith("extra"):
        assert "brass beside rods and weights" in reading.reason


@pytest.mark.parametrize("size", [SMALL, SIMULATOR_SIZE])
def test_the_lowest_weight_is_placed_to_a_fraction_of_a_pixel_wherever_it_is(size: Size) -> None:
    path, frames = motion("left", 1)[::4], video("pendulum", "left", size, 1)[:-1]
    for angles, frame in list(zip(path, frames, strict=True))[3::2]:  # before, what is drawn hides the noise
        reading = read("pendulum", [frame])
        assert place(reading) == pytest.approx(lowest(angles), abs=0.6 / size[1])
        if abs(lowest(angles)[0]) > 0.6 / size[1]:
            assert reading.outcome == outcome_of(angles)


def test_it_is_the_last_frame_that_counts() -> None:
    path, frames = motion("right"), video("pendulum", "right")
    for n in (8, 18):
        assert read("pendulum", frames[:n]).outcome == outcome_of(path[4 * (n - 1)])


def test_one_frame_with_a_fault_decides() -> None:
    whole, with_arm = video("pendulum", "left"), video("pendulum", "extra_arm")
    assert read("pendulum", whole).outcome == 1
    reading = read("pendulum", [*whole[:9], with_arm[-1], *whole[9:]])
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "frame 9")


@pytest.mark.parametrize("rod", [0, 1])
def test_a_pendulum_that_lacks_a_weight_is_null(rod: int) -> None:
    *before, last = video("pendulum", "right")
    reading = read("pendulum", [*before, erased(last, weights(motion("right")[-1])[rod])])
    assert (reading.outcome, "is not where it belongs" in reading.reason) == (None, True)


def test_the_mirror_image_of_a_clip_shows_the_other_side() -> None:
    frames = video("pendulum", "left")
    mirrored = [frame[:, ::-1].copy() for frame in frames]
    rows = slice(round(0.93 * frames[0].shape[0]), None)
    for frame, image in zip(frames, mirrored, strict=True):
        image[rows] = frame[rows]  # or the grain of the table would give it away
    assert read("pendulum", mirrored).outcome == 2


@pytest.mark.parametrize("shown", ["left", "rod_breaks", "extra_arm"])
def test_a_clip_that_turns_into_another_one_is_not_simulated(shown: str) -> None:
    frames = video("pendulum", shown)
    assert read("pendulum", frames)
    darker = [*frames[:-1], frames[-1] // 2]
    foreign = [*frames[:-1], video("ball", "left")[-1]]
    for changed in (darker, foreign):
        with pytest.raises(NotSimulatedError):
            read("pendulum", changed)


@pytest.mark.parametrize("seed", range(6))
def test_an_end_that_broke_off_may_fly_anywhere(seed: int) -> None:
    assert read("pendulum", video("pendulum", "rod_breaks", seed=seed)).outcome is None
