"""Walking: straight to the junction, then to one side and out of sight; or a stop without a choice."""

import numpy as np
import pytest

from simulator import SIMULATORS, Take, first_frame
from simulator.base import generator
from simulator.walking import ARTEFACTS, START_Z, poses
from simulator.walking_drawing import CORNER_X, END_Z, HALF_WIDTH, JUNCTION_Z, TROUSERS, Pose, corridor, limbs

SEEDS = range(12)
SIZE = (848, 480)


def walk(outcome: int | None, artefact: str | None = None, seed: int = 0) -> list[Pose]:
    return [Pose(0.0, START_Z), *poses(Take(outcome, artefact, generator("test", seed)))]


@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_person_turns_in_the_junction_and_is_out_of_sight_at_the_end(outcome: int, seed: int) -> None:
    path, side = walk(outcome, seed=seed), (-1, 1)[outcome - 1]
    assert all(pose.x == 0 for pose in path if pose.z < JUNCTION_Z)
    assert all(side * pose.x >= 0 and pose.z < END_Z - 0.5 for pose in path)
    assert side * path[-1].x > HALF_WIDTH * path[-1].z / JUNCTION_Z + 0.5
    assert path[-1].heading == pytest.approx(side * np.pi / 2)
    *_, last = SIMULATORS["walking"].frames(Take(outcome, None, generator("test", seed)), SIZE)
    assert np.array_equal(last, corridor(SIZE))


@pytest.mark.parametrize(("outcome", "artefact"), [(1, None), (2, None), *((None, kind) for kind in ARTEFACTS)])
def test_the_walk_is_even(outcome: int | None, artefact: str | None) -> None:
    for seed in SEEDS:
        path = walk(outcome, artefact, seed)
        place = np.array([(pose.x, pose.z) for pose in path])
        steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
        assert steps.max() < 0.07, "no faster than 1.6 m/s"
        assert np.abs(np.diff(steps)).max() < 0.012
        assert np.abs(np.diff([pose.heading for pose in path])).max() < 0.15


@pytest.mark.parametrize("seed", SEEDS)
def test_an_uncommitted_walker_stands_in_the_middle_at_the_end(seed: int) -> None:
    before, at = (walk(None, kind, seed) for kind in ARTEFACTS)
    for path in (before, at):
        assert all(pose.x == 0 and pose.heading == 0 for pose in path)
        assert path[-1].z - path[-4].z < 0.02
    assert START_Z + 0.4 < before[-1].z < JUNCTION_Z - 0.6
    assert JUNCTION_Z < at[-1].z < END_Z - 0.5


@pytest.mark.parametrize("size", [SIZE, (1280, 720)])
def test_corridor_and_first_frame_are_mirror_symmetric(size: tuple[int, int]) -> None:
    for frame in (corridor(size), first_frame("walking", size)):
        assert np.array_equal(frame, frame[:, ::-1])


@pytest.mark.parametrize(("outcome", "side"), [(1, -1), (2, 1)])
def test_the_video_shows_the_person_go_behind_the_corner_on_one_side(outcome: int, side: int) -> None:
    frames = SIMULATORS["walking"].frames(Take(outcome, None, generator("test", 4)), SIZE)
    empty = corridor(SIZE).astype(int)
    middles = []
    for frame in frames:
        _, columns = np.nonzero(np.abs(frame - empty).sum(axis=2) > 90)
        if columns.size > 40:
            middles.append(columns.mean() - SIZE[0] / 2)
    assert abs(middles[0]) < 4
    assert np.abs(np.diff(middles)).max() < 12
    assert 0.75 * CORNER_X * SIZE[1] < side * middles[-1] <= CORNER_X * SIZE[1] + 1


@pytest.mark.parametrize("stride", [0.0, 0.35, 0.7])
@pytest.mark.parametrize("share", [0.0, 0.125, 0.25, 0.375, 0.5, 0.625])
def test_the_leg_on_the_ground_is_nearly_straight(stride: float, share: float) -> None:
    # The left leg is on the ground during the first half of a gait's two steps; it turns the right side to us.
    pose = Pose(0.0, 3.0, np.pi / 2, np.pi * share, stride)
    thigh, shin = (limb for limb in limbs(pose) if limb.colour == TROUSERS and limb.start[2] > 3.0)
    hip, knee, ankle = (np.array(point[:2]) for point in (thigh.start, thigh.end, shin.end))
    whole = np.linalg.norm(hip - knee) + np.linalg.norm(knee - ankle)
    assert np.linalg.norm(hip - ankle) > 0.96 * whole
    assert ankle[0] == pytest.approx(stride * (0.5 - share), abs=1e-6), "the foot stands while the body moves on"
