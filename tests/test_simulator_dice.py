"""The die: what is drawn obeys the equations of motion, ends as it is told to, and does not say so beforehand."""

import itertools

import numpy as np
import pytest
from scipy.ndimage import binary_fill_holes, find_objects, label
from scipy.stats import f

from constants import SIMULATOR_FPS, SIMULATOR_SIZE
from simulator.base import Take
from simulator.dice import FRAMES, MAX_TURN_DEG, SIMULATORS, START, WALLS, start_pose, throw, top_face, up_components
from simulator.dice_drawing import FACES
from simulator.dice_motion import GRAVITY, Pose, rotation_by, simulate

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


def turned_deg(before: Pose, after: Pose) -> float:
    cosine = (np.trace(before.rotation.T @ after.rotation) - 1) / 2
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


@pytest.mark.parametrize(("outcome", "artefact"), [*((face, None) for face in FACES), (None, "on_edge")])
@pytest.mark.parametrize("seed", range(4))
def test_the_die_moves_without_jumps_and_never_reaches_into_floor_or_walls(
    outcome: int | None, artefact: str | None, seed: int
) -> None:
    poses = throw(take(outcome, artefact, seed))
    for before, after in itertools.pairwise(poses):
        assert np.linalg.norm(after.position - before.position) < 0.6
        assert turned_deg(before, after) < MAX_TURN_DEG < 45
    for pose in poses:
        assert pose.position[2] - pose.reach(2) > -1e-3
        assert all(wall - abs(pose.position[axis]) - pose.reach(axis) > -1e-3 for axis, wall in enumerate(WALLS))


@pytest.mark.parametrize("outcome", FACES)
@pytest.mark.parametrize("seed", range(3))
def test_until_it_first_touches_something_the_die_flies_freely(outcome: int, seed: int) -> None:
    poses = throw(take(outcome, seed=seed))
    gaps = [
        min(pose.position[2] - pose.reach(2), *(w - abs(pose.position[a]) - pose.reach(a) for a, w in enumerate(WALLS)))
        for pose in poses
    ]
    touches = next(i for i, gap in enumerate(gaps) if gap < 0.25)
    assert touches > 4
    place = np.array([pose.position for pose in poses[:touches]])
    np.testing.assert_allclose(
        np.diff(place, 2, axis=0) * SIMULATOR_FPS**2, np.tile([0, 0, -GRAVITY], (touches - 2, 1)), atol=1e-6
    )
    turns = [turned_deg(a, b) for a, b in itertools.pairwise(poses[:touches])]
    assert np.diff(turns).max() < 1e-6, "no torque: air slows the spin a little"
    assert turns[-1] > 0.8 * turns[0]


def test_an_impact_neither_gains_energy_nor_passes_the_wall() -> None:
    start = Pose(np.array([0.0, 0.0, 2.0]), rotation_by(np.array([0.5, -0.7, 0.3])))
    poses = simulate(start, np.array([6.0, 2.0, 0.0]), np.array([1.0, 5.0, -2.0]), WALLS, 200)
    place = np.array([pose.position for pose in poses])
    speed = np.diff(place, axis=0) * SIMULATOR_FPS
    turn = np.radians([turned_deg(a, b) for a, b in itertools.pairwise(poses)]) * SIMULATOR_FPS
    energy = (speed**2).sum(axis=1) / 2 + turn**2 / 12 + GRAVITY * (place[1:, 2] + place[:-1, 2]) / 2
    # Mean speeds over a frame in which the die bounces are too low, never too high.
    assert energy.max() < 1.02 * energy[0]
    assert energy[-1] == pytest.approx(GRAVITY / 2, abs=0.01)
    assert len(poses) < 150


def test_the_beginning_of_a_throw_does_not_depend_on_its_outcome() -> None:
    # One-way analyses of variance of velocity and spin in the first flight, six numbers: all seeds are fixed.
    each = 40
    groups = []
    for outcome in FACES:
        first = [throw(take(outcome, seed=100 * seed + outcome))[:3] for seed in range(each)]
        moved = [poses[2].position - poses[0].position for poses in first]
        turned = [(poses[0].rotation.T @ poses[2].rotation).ravel()[[1, 2, 5]] for poses in first]
        groups.append(np.hstack([moved, turned]))
    data = np.array(groups)
    between = each * data.mean(axis=1).var(axis=0, ddof=1)
    within = data.var(axis=1, ddof=1).mean(axis=0)
    assert (f.sf(between / within, 5, 6 * (each - 1)) > 1e-3).all()


def test_the_top_face_is_the_one_that_looks_up_most() -> None:
    for outcome in FACES:
        last = throw(take(outcome))[-1]
        assert top_face(last) == max(FACES, key=up_components(last).__getitem__) == outcome


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
    white = last.min(axis=2) > 150
    parts, _ = label(binary_fill_holes(white))
    die = parts == 1 + np.argmax(np.bincount(parts.ravel())[1:])
    spots, _ = label(die & (last.max(axis=2) < 70))
    heights = [rows.stop - rows.start for rows, _ in find_objects(spots)]
    assert sum(8 <= height <= 24 for height in heights) == outcome
