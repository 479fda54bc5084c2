"""The bin is read from where the one ball lies on the board."""

import numpy as np
import pytest

from constants import SIMULATOR_SIZE
from judges.pixels import READERS, read
from judges.pixels.common import NotSimulatedError
from scenes import SCENES
from simulator.drawing import Point
from simulator.galton_drawing import BALL_RADIUS, BIN_CENTRES, BIN_PITCH, DIVIDER_TOP_Y, DIVIDER_WIDTH, FLOOR_Y, draw
from tests.pixel_clips import SMALL, encoded, final_frame, label, seen
from video_io import Frame

BOARDS = ["galton_board", "galton_board_real"]
REST_Y = FLOOR_Y - BALL_RADIUS
# How far from the middle of its bin a ball can be.
SLACK = (BIN_PITCH - DIVIDER_WIDTH) / 2 - BALL_RADIUS


def board(scene: str, *balls: Point) -> Frame:
    """A board with balls at such places, painted straight on it."""
    return encoded(draw(scene, SMALL, list(balls), 1.0))


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("shown", SCENES["galton_board"].outcomes)
def test_every_bin_is_read(scene: str, shown: str) -> None:
    assert label(scene, seen(scene, shown)) == shown


@pytest.mark.parametrize("scene", BOARDS)
def test_a_clip_of_the_default_size_is_read(scene: str) -> None:
    assert label(scene, seen(scene, "3", size=SIMULATOR_SIZE)) == "3"


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("shown", "reasons"),
    [
        ("two_balls", {"2 balls on the board"}),
        ("straddles_bins", {"straddles two bins", "not settled"}),
        ("never_settles", {"not settled"}),
    ],
)
def test_every_artefact_is_null(scene: str, shown: str, reasons: set[str], seed: int) -> None:
    reading = seen(scene, shown, seed=seed)
    assert reading.outcome is None
    assert reading.reason.split(":")[0] in reasons


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("number", [1, 6, 11])
def test_a_ball_that_leans_on_a_divider_is_in_its_bin(scene: str, side: int, number: int) -> None:
    assert read(scene, [board(scene, (BIN_CENTRES[number - 1] + side * SLACK, REST_Y))]).outcome == number


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("share", [0.4, 0.5, 0.6])
def test_a_ball_in_the_place_of_a_divider_is_in_no_bin(scene: str, share: float) -> None:
    reading = read(scene, [board(scene, (BIN_CENTRES[3] + share * BIN_PITCH, REST_Y))])
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "straddles two bins")


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("y", [0.3, DIVIDER_TOP_Y - BALL_RADIUS, DIVIDER_TOP_Y + 0.05, REST_Y - 0.02])
def test_a_ball_above_the_floor_has_not_settled(scene: str, y: float) -> None:
    reading = read(scene, [board(scene, (BIN_CENTRES[5], y))])
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "not settled")


@pytest.mark.parametrize("scene", BOARDS)
def test_no_ball_is_null_and_so_are_two_in_one_bin(scene: str) -> None:
    assert read(scene, [board(scene)]).reason == "0 balls on the board"
    together = [(BIN_CENTRES[7] + side * SLACK, REST_Y) for side in (-1, 1)]
    assert read(scene, [board(scene, *together)]).reason == "2 balls on the board"
    merged = read(scene, [board(scene, (BIN_CENTRES[7], REST_Y), (BIN_CENTRES[7], REST_Y - 0.03))])
    assert (merged.outcome, merged.reason.split(":")[0]) == (None, "not one whole ball")


@pytest.mark.parametrize("scene", BOARDS)
def test_the_mirror_image_of_a_board_shows_the_mirrored_bin(scene: str) -> None:
    mirrored = np.ascontiguousarray(final_frame(scene, "4")[:, ::-1])
    assert READERS[scene].read(iter([mirrored])).outcome == 8


@pytest.mark.parametrize("scene", BOARDS)
def test_a_board_whose_pegs_have_moved_is_not_simulated(scene: str) -> None:
    frame = final_frame(scene, "4").copy()
    pegs = frame[90:150, 180:252]
    pegs[...] = np.roll(pegs, 4, axis=1)
    with pytest.raises(NotSimulatedError, match="differs by"):
        read(scene, [frame])
