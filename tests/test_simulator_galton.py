"""Both boards: the ball falls as balls do, past the pegs, into the bin that its turns lead to."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from constants import SIMULATOR_FPS
from simulator import SIMULATORS, Take, first_frame
from simulator.base import generator
from simulator.drawing import View
from simulator.galton import DURATION_S, STEP_S, Track, tracks
from simulator.galton_drawing import (
    BALL_RADIUS,
    BIN_CENTRES,
    BIN_PITCH,
    BINS,
    DIVIDER_TOP_Y,
    DIVIDER_WIDTH,
    FLOOR_Y,
    FUNNEL_BALL_Y,
    LABEL_Y,
    PEG_RADIUS,
    pegs,
)
from video_io import Frame

BOARDS = ("galton_board", "galton_board_real")
OUTCOMES = range(1, BINS + 1)
SIZE = (848, 480)


def take(outcome: int | None = None, artefact: str | None = None, seed: int = 0) -> Take:
    return Take(outcome, artefact, generator("test", outcome, artefact, seed))


def at_frames(track: Track) -> np.ndarray:
    """Positions at every frame of a clip, shape (frames, 2)."""
    steps = [round(i / SIMULATOR_FPS / STEP_S) for i in range(round(DURATION_S * SIMULATOR_FPS))]
    return np.array([track[min(step, len(track) - 1)] for step in steps])


def last_frame_of(scene: str, what: Take) -> Frame:
    *_, last = SIMULATORS[scene].frames(what, SIZE)
    return last


def balls_in(scene: str, frame: Frame) -> NDArray[np.bool_]:
    """Where a frame differs from the same board without a ball."""
    empty = last_frame_of(scene, take(1))
    other = last_frame_of(scene, take(11))
    middle = SIZE[0] // 2
    empty[:, :middle] = other[:, :middle]
    return np.asarray(np.abs(frame.astype(int) - empty).sum(axis=2) > 60)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("seed", range(5))
def test_the_ball_starts_in_the_funnel_and_rests_on_the_floor_of_its_bin(outcome: int, seed: int) -> None:
    (track,) = tracks(take(outcome, seed=seed))
    path = at_frames(track)
    assert tuple(path[0]) == (0.0, FUNNEL_BALL_Y)
    x, y = path[-1]
    assert abs(x - BIN_CENTRES[outcome - 1]) <= (BIN_PITCH - DIVIDER_WIDTH) / 2 - BALL_RADIUS + 1e-9
    assert y == pytest.approx(FLOOR_Y - BALL_RADIUS)
    assert np.abs(path[-6:] - path[-1]).max() < 1e-3, "at rest for the last quarter of a second"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_ball_takes_exactly_ten_turns_of_which_the_right_ones_make_the_outcome(outcome: int) -> None:
    (track,) = tracks(take(outcome))
    rows = sorted({y for _, y in pegs()})
    assert len(rows) == BINS - 1
    at_row = [next(x for x, y in track if y > row) for row in rows]
    assert sum(b > a for a, b in zip([0.0, *at_row[:-1]], at_row, strict=True)) == outcome - 1


def test_different_seeds_reach_a_bin_on_different_ways() -> None:
    ways = {tuple(np.sign(np.diff(at_frames(tracks(take(6, seed=seed))[0])[:60, 0]))) for seed in range(8)}
    assert len(ways) > 4


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_ball_never_passes_through_a_peg_or_a_divider(outcome: int) -> None:
    (track,) = tracks(take(outcome))
    path = np.array(track)
    for x, y in pegs():
        assert np.hypot(path[:, 0] - x, path[:, 1] - y).min() > BALL_RADIUS + PEG_RADIUS - 0.0025
    low = path[path[:, 1] > DIVIDER_TOP_Y]
    for i in range(BINS + 1):
        assert np.abs(low[:, 0] - (i - BINS / 2) * BIN_PITCH).min() >= BALL_RADIUS + DIVIDER_WIDTH / 2 - 1e-9


@pytest.mark.parametrize(
    ("outcome", "artefact"),
    [(1, None), (6, None), (11, None), *((None, kind) for kind in SIMULATORS["galton_board"].artefacts)],
)
def test_no_ball_jumps(outcome: int | None, artefact: str | None) -> None:
    for seed in range(10):
        for track in tracks(take(outcome, artefact, seed)):
            steps = np.linalg.norm(np.diff(at_frames(track), axis=0), axis=1)
            assert steps.max() < 0.075, "less than two diameters between frames, at the end of the longest fall"


def test_two_balls_end_in_two_bins() -> None:
    for seed in range(20):
        ends = [track[-1] for track in tracks(take(None, "two_balls", seed))]
        bins = [round(x / BIN_PITCH) for x, _ in ends]
        assert len(set(bins)) == 2
        assert all(y > DIVIDER_TOP_Y for _, y in ends)


def test_a_straddling_ball_ends_on_an_inner_divider() -> None:
    for seed in range(20):
        (track,) = tracks(take(None, "straddles_bins", seed))
        x, y = at_frames(track)[-1]
        assert abs((x / BIN_PITCH - 0.5) - round(x / BIN_PITCH - 0.5)) < 1e-9
        assert abs(x) < (BINS / 2 - 0.75) * BIN_PITCH
        assert y >= DIVIDER_TOP_Y - BALL_RADIUS - 1e-9


def test_a_ball_that_never_settles_ends_above_the_bins() -> None:
    heights = {round(at_frames(tracks(take(None, "never_settles", seed))[0])[-1][1], 3) for seed in range(40)}
    assert max(heights) < DIVIDER_TOP_Y - 2 * BALL_RADIUS
    assert FUNNEL_BALL_Y in heights
    assert len(heights) > 5, "in the funnel or at any row"


@pytest.mark.parametrize("scene", BOARDS)
def test_the_first_frame_is_mirror_symmetric_but_for_the_labels(scene: str) -> None:
    for size in (SIZE, (1280, 720)):
        frame = first_frame(scene, size)
        _, top = View(size).at((0, LABEL_Y - 0.04))
        _, bottom = View(size).at((0, LABEL_Y + 0.025))
        mirrored = frame[:, ::-1]
        assert np.array_equal(frame[: math.floor(top)], mirrored[: math.floor(top)])
        assert np.array_equal(frame[math.ceil(bottom) :], mirrored[math.ceil(bottom) :])


@pytest.mark.parametrize("scene", BOARDS)
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_last_frame_shows_the_ball_in_its_bin(scene: str, outcome: int) -> None:
    changed = balls_in(scene, last_frame_of(scene, take(outcome, seed=1)))
    _, columns = np.nonzero(changed)
    x, _ = View(SIZE).at((BIN_CENTRES[outcome - 1], 0))
    assert columns.size > 150
    assert abs(columns.mean() - x) < View(SIZE).length(BIN_PITCH) / 2 - View(SIZE).length(BALL_RADIUS)


def test_the_ball_of_the_flat_board_is_the_only_green_thing() -> None:
    for what in (take(3), take(9)):
        frame = last_frame_of("galton_board", what).astype(int)
        green = (frame[..., 1] > frame[..., 0] + 40) & (frame[..., 1] > frame[..., 2] + 40)
        rows, columns = np.nonzero(green)
        assert green.sum() > 250
        assert np.ptp(rows) <= 2 * View(SIZE).length(BALL_RADIUS) + 2
        assert np.ptp(columns) <= 2 * View(SIZE).length(BALL_RADIUS) + 2
