"""The lottery machine: the drawn ball and no other reaches the tube, and balls do not run through each other."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from constants import SIMULATOR_SIZE
from scenes import SCENES
from simulator.base import Take
from simulator.drawing import View
from simulator.lottery import BALLS, FRAMES, SIMULATORS, State, motion
from simulator.lottery_machine import BALL_RADIUS, DRUM_CENTRE, DRUM_RADIUS, TUBE_BALL, TUBE_CAP, TUBE_FLOOR, draw_balls
from video_io import Frame

LOTTERY = SIMULATORS["lottery"]


def take(outcome: int | None, artefact: str | None = None, seed: int = 0) -> Take:
    return Take(outcome, artefact, np.random.default_rng(seed))


def in_tube(state: State) -> list[int]:
    """Numbers of the balls above the drum, from the lowest up."""
    above = [k for k in range(BALLS) if state.position[k, 1] < TUBE_FLOOR]
    return [k + 1 for k in sorted(above, key=lambda k: -state.position[k, 1])]


def distances(state: State) -> NDArray[np.float64]:
    x, y = state.position.T
    return np.asarray(np.hypot(x[:, None] - x, y[:, None] - y)[np.triu_indices(BALLS, 1)])


def tube(frame: Frame) -> Frame:
    """The inside of the tube around a ball that lies in it."""
    x, y = View(SIMULATOR_SIZE).at(TUBE_BALL)
    half = int(0.8 * BALL_RADIUS * SIMULATOR_SIZE[1])
    return frame[int(y) - half : int(y) + half, int(x) - half : int(x) + half]


def test_the_balls_are_the_outcomes_of_the_scene() -> None:
    assert SCENES["lottery"].outcomes == tuple(str(number) for number in range(1, BALLS + 1))


@pytest.mark.parametrize("outcome", range(1, BALLS + 1))
def test_the_tube_ends_with_the_drawn_ball_alone_at_rest_and_upright(outcome: int) -> None:
    *_, before, last = motion(take(outcome, seed=outcome))
    assert in_tube(last) == [outcome]
    np.testing.assert_allclose(last.position[outcome - 1], [0, TUBE_FLOOR - BALL_RADIUS], atol=1e-3)
    np.testing.assert_allclose(last.position[outcome - 1], before.position[outcome - 1], atol=1e-6)
    assert np.cos(last.angle[outcome - 1]) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_an_empty_tube_stays_empty_and_a_double_one_holds_two_balls_that_touch(seed: int) -> None:
    assert all(in_tube(state) == [] for state in motion(take(None, "empty_tube", seed)))
    *_, last = motion(take(None, "double_tube", seed))
    lower, upper = in_tube(last)
    assert last.position[lower - 1, 1] == pytest.approx(TUBE_FLOOR - BALL_RADIUS, abs=1e-3)
    assert last.position[upper - 1, 1] == pytest.approx(TUBE_FLOOR - 3 * BALL_RADIUS, abs=1e-3)
    assert last.position[upper - 1, 1] - BALL_RADIUS >= TUBE_CAP


@pytest.mark.parametrize("seed", range(6))
def test_balls_move_without_jumps_stay_in_the_machine_and_hardly_overlap(seed: int) -> None:
    artefact = [None, None, None, *LOTTERY.artefacts, None][seed]
    states = list(motion(take(None if artefact else 1 + 3 * seed, artefact, seed)))
    assert len(states) == FRAMES
    for before, after in itertools.pairwise(states):
        assert np.hypot(*(after.position - before.position).T).max() < 1.6 * BALL_RADIUS
        assert abs(after.drum - before.drum) < np.pi / 16  # half a rib spacing would look like standing still
    for state in states:
        assert distances(state).min() > 2 * BALL_RADIUS * 0.9
        rising = np.abs(state.position[:, 0]) < 0.02
        assert np.all((np.hypot(*state.position.T) < DRUM_RADIUS - 0.95 * BALL_RADIUS) | rising)


def test_nothing_is_drawn_before_the_balls_are_mixed() -> None:
    for outcome in (1, 10, 20):
        states = list(motion(take(outcome, seed=outcome)))
        assert all(in_tube(state) == [] for state in states[:48])


def test_which_ball_is_drawn_changes_nothing_until_the_air_lifts_it() -> None:
    one = itertools.islice(motion(take(1, seed=7)), 40)
    other = itertools.islice(motion(take(20, seed=7)), 40)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.position, second.position)


def test_every_draw_begins_with_all_balls_at_rest_in_the_drum() -> None:
    starts = [
        next(motion(take(outcome, artefact))) for outcome, artefact in ((1, None), (20, None), (None, "empty_tube"))
    ]
    for start in starts:
        assert in_tube(start) == []
        np.testing.assert_array_equal(start.position, starts[0].position)
    assert distances(starts[0]).min() > 2 * BALL_RADIUS * 0.97


def test_the_number_in_the_tube_is_drawn_dark_on_white_and_differs_between_outcomes() -> None:
    pictures = []
    for outcome in (6, 9):
        *_, last = LOTTERY.frames(take(outcome, seed=3), SIMULATOR_SIZE)
        pictures.append(tube(last).astype(int))
        assert (pictures[-1].max(axis=2) < 60).mean() > 0.05
        assert (pictures[-1].min(axis=2) > 200).mean() > 0.3
    for one, other in itertools.combinations(pictures, 2):
        assert (np.abs(one - other).max(axis=2) > 120).mean() > 0.02


def test_the_tube_of_the_first_frame_is_empty() -> None:
    assert tube(LOTTERY.first_frame(SIMULATOR_SIZE)).max() < 200


def test_no_number_that_stands_on_its_head_looks_like_another_one() -> None:
    def number(ball: int, angle: float) -> NDArray[np.float64]:
        """Ink of a ball's number, mean 0 and length 1."""
        width, height = SIMULATOR_SIZE
        frame = np.zeros((height, width, 3), np.uint8)
        places = np.full((ball, 2), (0.0, 0.30))
        places[-1] = 0.0
        draw_balls(frame, places, np.full(ball, angle), 0.0, SIMULATOR_SIZE)
        x, y = (round(v) for v in View(SIMULATOR_SIZE).at(DRUM_CENTRE))
        half = round(0.7 * BALL_RADIUS * height)
        ink = (frame[y - half : y + half, x - half : x + half, 0] < 128).astype(float)
        return (ink - ink.mean()) / np.linalg.norm(ink - ink.mean())

    upright = np.array([number(ball, 0.0).ravel() for ball in range(1, BALLS + 1)])
    overturned = np.array([number(ball, np.pi).ravel() for ball in range(1, BALLS + 1)])
    alike = upright @ overturned.T
    np.fill_diagonal(alike, 0.0)  # 1 and 8 may look like themselves
    assert alike.max() < 0.8
