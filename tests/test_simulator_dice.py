"""The die: every throw ends as it is told to, and nothing before it says how."""

import itertools

import numpy as np
import pytest
from scipy.ndimage import find_objects, label

from constants import SIMULATOR_SIZE
from simulator.base import Take
from simulator.dice import FRAMES, SIMULATORS, START, start_pose, throw, up_components
from simulator.dice_drawing import BOX_HALF_HEIGHT, BOX_HALF_WIDTH, DIE_SIDE, FACES

DICE = SIMULATORS["dice"]


def take(outcome: int | None, artefact: str | None = None, seed: int = 0) -> Take:
    return Take(outcome, artefact, np.random.default_rng(seed))


@pytest.mark.parametrize("outcome", FACES)
@pytest.mark.parametrize("seed", range(3))
def test_the_die_rests_flat_with_the_outcome_up(outcome: int, seed: int) -> None:
    poses = throw(take(outcome, seed=seed))
    assert len(poses) == FRAMES
    assert up_components(poses[-1])[outcome] == pytest.approx(1.0, abs=1e-9)
    assert poses[-1] is poses[-8]


@pytest.mark.parametrize("seed", range(5))
def test_on_its_edge_two_faces_are_equally_up_and_no_other_is(seed: int) -> None:
    up = sorted(up_components(throw(take(None, "on_edge", seed))[-1]).values(), reverse=True)
    assert up[0] == pytest.approx(np.sqrt(0.5), abs=1e-6)
    assert up[1] == pytest.approx(np.sqrt(0.5), abs=1e-6)
    assert up[2] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_die_moves_without_jumps_inside_the_box(seed: int) -> None:
    poses = throw(take(1 + seed, seed=seed))
    half = np.array([BOX_HALF_WIDTH, BOX_HALF_HEIGHT]) / DIE_SIDE
    for before, after in itertools.pairwise(poses):
        assert np.linalg.norm(after.position - before.position) < 0.6
        assert np.trace(before.rotation.T @ after.rotation) > 1 + 2 * np.cos(np.radians(60))
        assert np.all(np.abs(after.position[:2]) < half - 0.45)
        assert after.position[2] > 0.4


@pytest.mark.parametrize("outcome", FACES)
def test_rotations_stay_rotations(outcome: int) -> None:
    for pose in throw(take(outcome)):
        np.testing.assert_allclose(pose.rotation @ pose.rotation.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(pose.rotation) == pytest.approx(1.0)


def test_opposite_faces_sum_to_seven() -> None:
    axes = {axis: face for face, axis in FACES.items()}
    assert all(axes[-x, -y, -z] == 7 - face for (x, y, z), face in axes.items())


def test_the_first_frame_shows_one_and_five_and_no_other_face() -> None:
    seen = {face for face, up in up_components(start_pose()).items() if up > 1e-9}
    assert seen == {1, 5}
    assert START[0] < 0


def test_every_throw_begins_with_the_conditioning_pose() -> None:
    for outcome, artefact, seed in [(1, None, 0), (6, None, 1), (None, "on_edge", 2)]:
        first = throw(take(outcome, artefact, seed))[0]
        np.testing.assert_allclose(first.position, start_pose().position)
        np.testing.assert_allclose(first.rotation, start_pose().rotation, atol=1e-12)


@pytest.mark.parametrize("outcome", FACES)
def test_the_final_frame_shows_as_many_pips_as_the_outcome(outcome: int) -> None:
    *_, last = DICE.frames(take(outcome, seed=outcome), SIMULATOR_SIZE)
    spots, _ = label(last.max(axis=2) < 70)
    on_white = 0
    for rows, columns in find_objects(spots):
        around = last[rows.start - 4, (columns.start + columns.stop) // 2]
        on_white += 8 <= rows.stop - rows.start <= 24 and int(around.min()) > 180
    assert on_white == outcome
