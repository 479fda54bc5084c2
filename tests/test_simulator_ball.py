"""Ball fork: down the ramp, over the wedge, through one channel and out; symmetric until it leans to a side."""

import numpy as np
import pytest

from constants import SIMULATOR_FPS
from simulator import SIMULATORS, Take, first_frame
from simulator.ball import ACCELERATION, ARTEFACTS, DURATION_S, START_Y, STEP_S, TIP, axes_along, track_of
from simulator.ball_drawing import BALL_RADIUS, CHANNEL_HALF_WIDTH, ELBOW, EXIT_Y, FORK, GROUND_Y
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


@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_one_acceleration_moves_the_ball_on_the_ramp_in_the_channel_and_below_it(outcome: int, seed: int) -> None:
    track = np.array(track_of(Take(outcome, None, generator("test", seed))))[::4]
    sideways, down = np.abs(track[:, 0]), track[:, 1]
    length = np.hypot(*np.subtract(ELBOW, FORK))
    drop = (ELBOW[1] - FORK[1]) / length
    for part, expected in (
        ((sideways == 0) & (down < TIP[1] - 1.2 * BALL_RADIUS), ACCELERATION),
        ((sideways > 0.06) & (sideways < 0.28), ACCELERATION * drop),
        ((down > EXIT_Y - 0.02) & (np.cumsum(down > GROUND_Y - 1.1 * BALL_RADIUS) == 0), ACCELERATION),
    ):
        steps = np.linalg.norm(np.diff(track[part], axis=0), axis=1)
        assert len(steps) > 8
        found = np.diff(steps).mean() / (4 * STEP_S) ** 2
        assert found == pytest.approx(expected, rel=0.06)


def test_the_ball_turns_once_as_it_rolls_its_circumference() -> None:
    way = np.linspace(0, 2 * np.pi * BALL_RADIUS, 2000)
    for x, y in ((0 * way, way), (way, 0 * way), (0.6 * way, 0.8 * way)):
        axes = np.array(list(axes_along(list(zip(x, y, strict=True)))))
        assert axes[-1] == pytest.approx(axes[0], abs=0.01)
        assert axes[1000, 1] == pytest.approx([0, 0, -1], abs=0.01), "the side towards the viewer is at the back"
    *_, a_bit_down = axes_along([(0.0, 0.0), (0.0, 0.2 * BALL_RADIUS)])
    assert a_bit_down[1, 1] > 0, "and goes ahead of the ball"


@pytest.mark.parametrize("seed", SEEDS)
def test_an_artefact_ends_at_rest_inside_the_fork(seed: int) -> None:
    at_fork, in_channel = (path_of(None, kind, seed) for kind in ARTEFACTS)
    assert at_fork[-1] == pytest.approx([0.0, TIP[1] - BALL_RADIUS], abs=1e-4)
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
