"""Ball fork: down the ramp, over the wedge, through one channel and out; symmetric until it leans to a side."""

import numpy as np
import pytest

from constants import SIMULATOR_FPS
from simulator import SIMULATORS, Take, first_frame
from simulator.ball import (
    ARTEFACTS,
    BALL_RADIUS,
    CHANNEL_HALF_WIDTH,
    DURATION_S,
    ELBOW,
    EXIT_Y,
    GROUND_Y,
    START_Y,
    STEP_S,
    TIP,
    track_of,
)
from simulator.base import generator
from simulator.drawing import View

TAKES = [(1, None), (2, None), *((None, kind) for kind in ARTEFACTS)]
SEEDS = range(12)


def path_of(outcome: int | None, artefact: str | None, seed: int) -> np.ndarray:
    """Positions at every frame, shape (frames, 2)."""
    track = track_of(Take(outcome, artefact, generator("test", seed)))
    steps = [round(i / SIMULATOR_FPS / STEP_S) for i in range(round(DURATION_S * SIMULATOR_FPS))]
    return np.array([track[min(step, len(track) - 1)] for step in steps])


@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_ball_leaves_by_its_channel_and_rests_on_the_ground_on_that_side(outcome: int, seed: int) -> None:
    path = path_of(outcome, None, seed)
    side = (-1, 1)[outcome - 1]
    leaving = path[np.argmax(path[:, 1] > EXIT_Y)]
    assert abs(leaving[0] - side * ELBOW[0]) < CHANNEL_HALF_WIDTH
    assert path[-1][1] == pytest.approx(GROUND_Y - BALL_RADIUS)
    assert np.linalg.norm(path[-1] - path[-3]) < 0.002


@pytest.mark.parametrize(("outcome", "artefact"), TAKES)
def test_the_ball_neither_jumps_nor_moves_sideways_before_the_wedge(outcome: int | None, artefact: str | None) -> None:
    for seed in SEEDS:
        path = path_of(outcome, artefact, seed)
        assert path[0] == pytest.approx([0.0, START_Y], abs=1e-3)
        assert np.linalg.norm(np.diff(path, axis=0), axis=1).max() < 2 * BALL_RADIUS
        before = path[: np.argmax(path[:, 1] >= TIP[1] - BALL_RADIUS - 1e-9)]
        assert len(before) > 10
        assert not before[:, 0].any()


@pytest.mark.parametrize("outcome", [1, 2])
def test_the_ball_speeds_up_on_the_ramp_and_in_the_channel(outcome: int) -> None:
    path = path_of(outcome, None, 0)
    speed = np.linalg.norm(np.diff(path, axis=0), axis=1)
    on_ramp = speed[: np.argmax(path[:, 1] > TIP[1] - 2 * BALL_RADIUS)]
    assert (np.diff(on_ramp) > 0).all()
    sideways = np.abs(path[:-1, 0])
    in_arm = speed[(sideways > 0.1) & (sideways < 0.3)]
    assert (np.diff(in_arm) > 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_artefact_ends_at_rest_inside_the_fork(seed: int) -> None:
    at_fork, in_channel = (path_of(None, kind, seed) for kind in ARTEFACTS)
    assert at_fork[-1] == pytest.approx([0.0, TIP[1] - BALL_RADIUS])
    assert 0.1 < abs(in_channel[-1][0]) < ELBOW[0] - CHANNEL_HALF_WIDTH
    assert in_channel[-1][1] < EXIT_Y - 2 * BALL_RADIUS
    for path in (at_fork, in_channel):
        assert np.linalg.norm(path[-1] - path[-4]) < 0.002


def test_stopping_in_a_channel_happens_on_both_sides() -> None:
    assert {float(np.sign(path_of(None, "stops_in_channel", seed)[-1][0])) for seed in SEEDS} == {-1.0, 1.0}


@pytest.mark.parametrize("size", [(848, 480), (1280, 720)])
def test_the_first_frame_is_mirror_symmetric(size: tuple[int, int]) -> None:
    frame = first_frame("ball", size)
    assert np.array_equal(frame, frame[:, ::-1])


@pytest.mark.parametrize(("outcome", "side"), [(1, -1), (2, 1)])
def test_the_last_frame_shows_the_ball_below_the_exit_on_its_side(outcome: int, side: int) -> None:
    size = (848, 480)
    *_, last = SIMULATORS["ball"].frames(Take(outcome, None, generator("test", 0)), size)
    orange = (last[..., 0].astype(int) - last[..., 2]) > 80
    rows, columns = np.nonzero(orange)
    x, y = View(size).at((side * ELBOW[0], GROUND_Y - BALL_RADIUS))
    assert orange.sum() > 500
    assert abs(rows.mean() - y) < 2
    assert abs(columns.mean() - x) < View(size).length(0.12)
