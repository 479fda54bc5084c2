"""The roulette wheel: its numbers are those of a European wheel, and the ball ends where it is told to."""

import itertools

import numpy as np
import pytest
from scipy.stats import f_oneway

from constants import ROULETTE_COLOUR, SIMULATOR_SIZE
from scenes import SCENES
from simulator.base import Take
from simulator.drawing import View
from simulator.roulette import EXPOSURE, FRAMES, SIMULATORS, motion
from simulator.roulette_wheel import (
    ARM_RADIUS,
    BALL_RADIUS,
    HUB_RADIUS,
    NUMBERS,
    POCKET_ANGLE,
    POCKET_RADIUS,
    POCKETS_INNER,
    ROTOR_RADIUS,
    TRACK_RADIUS,
    bowl,
    colour,
    place,
    pocket_at,
    rotor,
)

ROULETTE = SIMULATORS["roulette"]
COLOURS = SCENES["roulette"].outcomes


def take(outcome: int | None, artefact: str | None = None, seed: int = 0) -> Take:
    return Take(outcome, artefact, np.random.default_rng(seed))


def test_the_wheel_has_each_number_once_and_the_references_colours() -> None:
    assert sorted(NUMBERS) == list(range(37))
    counts = [sum(colour(number) == name for number in NUMBERS) for name in COLOURS]
    assert tuple(counts) == ROULETTE_COLOUR.weights


def test_the_numbers_run_around_the_wheel_as_on_a_european_one() -> None:
    clockwise = "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26"
    assert list(NUMBERS) == [int(number) for number in clockwise.split()]


def test_odd_numbers_are_red_up_to_10_and_from_19_to_28_and_even_ones_elsewhere() -> None:
    assert colour(0) == "green"
    for number in range(1, 37):
        red = number % 2 == (1 if number <= 10 or 19 <= number <= 28 else 0)
        assert colour(number) == ("red" if red else "black")


@pytest.mark.parametrize("outcome", [1, 2, 3])
@pytest.mark.parametrize("seed", range(30))
def test_the_ball_rests_in_the_middle_of_a_pocket_of_the_outcomes_colour(outcome: int, seed: int) -> None:
    *_, before, last = motion(take(outcome, seed=seed))
    assert last.radius == pytest.approx(POCKET_RADIUS)
    assert colour(NUMBERS[pocket_at(last.angle_on_rotor)]) == COLOURS[outcome - 1]
    off_middle = (last.angle_on_rotor / POCKET_ANGLE + 0.5) % 1 - 0.5
    assert abs(off_middle) < 0.05
    assert abs(last.angle - before.angle) < 0.01


def test_every_number_of_a_colour_comes_up() -> None:
    reds = {NUMBERS[pocket_at(motion(take(1, seed=seed))[-1].angle_on_rotor)] for seed in range(150)}
    assert reds == {number for number in NUMBERS if colour(number) == "red"}


@pytest.mark.parametrize("seed", range(10))
def test_on_a_fret_the_ball_lies_equally_on_two_pockets(seed: int) -> None:
    last = motion(take(None, "on_fret", seed))[-1]
    assert last.radius == pytest.approx(POCKET_RADIUS)
    assert last.angle_on_rotor / POCKET_ANGLE % 1 == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_a_ball_astray_ends_where_its_kind_says(seed: int) -> None:
    radius = {kind: motion(take(None, kind, seed))[-1].radius for kind in ROULETTE.artefacts}
    assert radius["on_hub"] < HUB_RADIUS - BALL_RADIUS
    assert ARM_RADIUS + BALL_RADIUS < radius["on_cone"] < POCKETS_INNER - BALL_RADIUS
    assert radius["outside_ring"] > ROTOR_RADIUS + BALL_RADIUS
    width, height = SIMULATOR_SIZE
    assert radius["no_ball"] > np.hypot(width / height, 1) / 2 + BALL_RADIUS


@pytest.mark.parametrize("kind", [None, *ROULETTE.artefacts])
@pytest.mark.parametrize("seed", range(4))
def test_ball_and_rotor_move_without_jumps(kind: str | None, seed: int) -> None:
    states = motion(take(None if kind else 1 + seed % 3, kind, seed))
    assert len(states) == FRAMES
    for before, after in itertools.pairwise(states):
        assert 0 <= after.rotor - before.rotor < POCKET_ANGLE  # or the wheel would seem to turn backwards
        step = np.subtract(place(after.radius, after.angle), place(before.radius, before.angle))
        # What the exposure leaves out of a step is hardly longer than the ball: its streaks follow on each other.
        assert (1 - EXPOSURE) * np.hypot(*step) < 1.1 * (2 * BALL_RADIUS)
    speeds = [b.rotor - a.rotor for a, b in itertools.pairwise(states)]
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(speeds))
    assert speeds[-1] == 0


def test_a_fast_ball_is_drawn_as_a_streak_and_one_at_rest_as_a_disc() -> None:
    frames = list(ROULETTE.frames(take(1, seed=3), SIMULATOR_SIZE))
    states = motion(take(1, seed=3))[1:]
    diameter = View(SIMULATOR_SIZE).length(2 * BALL_RADIUS)
    lengths = []
    for i in (2, len(frames) - 1):
        bare = bowl(SIMULATOR_SIZE).copy()
        rotor(SIMULATOR_SIZE).draw(bare, states[i].rotor)
        rows, columns = np.nonzero(frames[i].astype(int).min(axis=2) - bare.min(axis=2) > 25)
        lengths.append(np.hypot(np.ptp(rows) + 1, np.ptp(columns) + 1) / diameter)
    fast, resting = lengths
    assert 1.8 < fast < 4
    assert resting < 1.6


def test_the_start_of_a_spin_does_not_depend_on_its_outcome() -> None:
    # Rotor and ball, whose speeds decide these angles, are compared over 200 spins of each colour.
    early = [[motion(take(outcome, seed=1000 * outcome + seed))[20] for seed in range(200)] for outcome in (1, 2, 3)]
    for angle in ("rotor", "angle"):
        samples = [[getattr(state, angle) for state in states] for states in early]
        assert f_oneway(*samples).pvalue > 1e-3


def test_every_motion_begins_with_the_conditioning_frame() -> None:
    for outcome, kind, seed in [(1, None, 0), (3, None, 1), (None, "on_hub", 2), (None, "no_ball", 3)]:
        first = motion(take(outcome, kind, seed))[0]
        assert (first.rotor, first.angle, first.radius) == (0, 0, TRACK_RADIUS)


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5, 40.0])
def test_the_drawn_rotor_has_each_pocket_at_its_angle(angle: float) -> None:
    frame = bowl(SIMULATOR_SIZE).copy()
    rotor(SIMULATOR_SIZE).draw(frame, angle)
    for k, number in enumerate(NUMBERS):
        x, y = View(SIMULATOR_SIZE).at(place(POCKET_RADIUS, angle + k * POCKET_ANGLE))
        red, green, blue = (int(c) for c in frame[int(y), int(x)])
        seen = "red" if red > 90 and green < 60 else "green" if green > 60 and red < 60 else "black"
        assert (seen, max(red, green, blue) > 60) == (colour(number), colour(number) != "black")


def test_the_ball_is_drawn_white_where_it_rests() -> None:
    state = motion(take(2, seed=5))[-1]
    *_, last = ROULETTE.frames(take(2, seed=5), SIMULATOR_SIZE)
    x, y = View(SIMULATOR_SIZE).at(place(state.radius, state.angle))
    assert last[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3].min() > 180
