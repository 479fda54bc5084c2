"""Nothing gives a rollout's outcome away before it happens.

With the same generator, rollouts of one scene with different outcomes are the same pictures until the outcome is
decided. Where the whole motion follows from how it begins, dice and pendulum, the beginnings are alike instead (see
also `test_the_beginning_of_a_throw_does_not_depend_on_its_outcome`).
"""

from itertools import islice

import numpy as np
import pytest

from scenes import SCENES
from simulator import SIMULATORS, Take
from simulator.base import generator
from simulator.pendulum import motion_to
from video_io import Frame

SMALL = (432, 240)
# The last frame before the earliest moment at which a rollout can differ: the first peg, the tip of the wedge, the turn
# into the crossing corridor, the card on its edge, the air that lifts a ball, the ball that leaves the track.
DECIDED = {
    "galton_board_real": 10,
    "galton_board": 10,
    "ball": 24,
    "walking": 46,
    "cards": 30,
    "lottery": 45,
    "roulette": 33,
}
FOLLOWS_FROM_THE_BEGINNING = {"pendulum", "dice"}


def rollout(scene: str, outcome: int, seed: int) -> list[Frame]:
    return list(SIMULATORS[scene].frames(Take(outcome, None, generator("secrecy", scene, seed)), SMALL))


def test_every_scene_is_looked_at() -> None:
    assert DECIDED.keys() | FOLLOWS_FROM_THE_BEGINNING == SCENES.keys()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scene", DECIDED)
def test_rollouts_are_the_same_pictures_until_the_outcome_is_decided(scene: str, seed: int) -> None:
    outcomes = sorted({1, 2, SCENES[scene].k // 2 + 1, SCENES[scene].k})
    first, *others = (rollout(scene, outcome, seed) for outcome in outcomes)
    for other in others:
        same = [np.array_equal(a, b) for a, b in zip(first, other, strict=True)]
        assert all(same[: DECIDED[scene]])
        assert not all(same)


@pytest.mark.parametrize("seed", range(4))
def test_pendulums_with_different_outcomes_begin_alike(seed: int) -> None:
    left, right = (motion_to(outcome, generator("secrecy", seed)) for outcome in (1, 2))
    # Half a degree of noise for either, which the first pictures hide.
    assert np.degrees(np.abs(left[:5] - right[:5])).max() < 4
    frames = [
        islice(SIMULATORS["pendulum"].frames(Take(outcome, None, generator("secrecy", seed)), SMALL), 3)
        for outcome in (1, 2)
    ]
    for one, other in zip(*frames, strict=True):
        assert np.abs(one.astype(int) - other).mean() < 1.0
