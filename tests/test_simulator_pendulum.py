"""Double pendulum: the published release state, measured back from the pixels, and the true equations of motion."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from constants import CONDITIONING_SIZE, PENDULUM_ANGLES_DEG, PENDULUM_LENGTHS_M, SIMULATOR_FPS
from simulator import SIMULATORS, Take, first_frame, simulate
from simulator.base import generator
from simulator.drawing import View
from simulator.pendulum import ARTEFACTS, DISK_RADIUS, PIVOT, ROD_RADIUS, motion_to, outcome_of, weights
from video_io import Frame

SIZE = (848, 480)


def brass_in(frame: Frame) -> NDArray[np.bool_]:
    colour = frame.astype(int)
    brass = ndimage.binary_fill_holes(colour[..., 0] - colour[..., 2] > 75)
    brass[round(0.92 * frame.shape[0]) :] = False  # the table
    return np.asarray(brass)


def discs(frame: Frame) -> np.ndarray:
    """Middles (x, y) of the brass disks in a picture: of the largest circles inside brass that is wider than a rod."""
    depth = ndimage.distance_transform_edt(brass_in(frame))
    labels, count = ndimage.label(depth > 1.5 * ROD_RADIUS * frame.shape[0])
    middles = []
    for label in range(1, count + 1):
        inside = np.where(labels == label, depth, 0)
        row, column = ndimage.center_of_mass(np.clip(inside - inside.max() + 2.5, 0, None))
        middles.append((column + 0.5, row + 0.5))
    return np.array(middles)


@pytest.mark.parametrize("size", [SIZE, CONDITIONING_SIZE])
def test_release_angles_and_length_ratio_are_measured_back_from_the_pixels(size: tuple[int, int]) -> None:
    found = discs(first_frame("pendulum", size))
    assert len(found) == 3
    tip, joint, pivot = found[np.argsort(found[:, 1])]
    assert pivot == pytest.approx(View(size).at(PIVOT), abs=1.0)
    rods = joint - pivot, tip - joint
    angles = [np.degrees(np.arctan2(rod[0], rod[1])) % 360 for rod in rods]
    assert angles == pytest.approx(PENDULUM_ANGLES_DEG, abs=0.5)
    ratio = np.linalg.norm(rods[1]) / np.linalg.norm(rods[0])
    assert ratio == pytest.approx(PENDULUM_LENGTHS_M[1] / PENDULUM_LENGTHS_M[0], rel=0.01)


@pytest.mark.parametrize("outcome", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_physics_leads_to_the_outcome_that_is_asked_for(outcome: int, seed: int) -> None:
    motion = motion_to(outcome, generator("test", seed))
    assert outcome_of(motion[-1]) == outcome
    lowest = max(weights(motion[-1]), key=lambda point: point[1])
    assert (lowest[0] < PIVOT[0]) == (outcome == 1)
    assert np.abs(np.degrees(motion[0]) - PENDULUM_ANGLES_DEG).max() < 3


@pytest.mark.parametrize("seed", range(6))
def test_under_the_calibrated_law_the_first_release_decides(seed: int) -> None:
    truth, _ = simulate("pendulum", "sim_calibrated", seed, SIZE)
    motion = motion_to(None, generator("pendulum", "sim_calibrated", seed, "motion"))
    assert truth.outcome == outcome_of(motion[-1])


@pytest.mark.parametrize("outcome", [1, 2])
def test_the_last_frame_shows_the_lower_weight_on_its_side(outcome: int) -> None:
    take = Take(outcome, None, generator("test", 5))
    *_, last = SIMULATORS["pendulum"].frames(take, SIZE)
    found = discs(last)
    assert len(found) == 3
    pivot = np.linalg.norm(found - View(SIZE).at(PIVOT), axis=1).argmin()
    x, _ = max(np.delete(found, pivot, axis=0), key=lambda point: point[1])
    assert (x < SIZE[0] / 2) == (outcome == 1)


def test_the_pendulum_leaves_frame_0_without_a_jump() -> None:
    frames = SIMULATORS["pendulum"].frames(Take(1, None, generator("test", 0)), CONDITIONING_SIZE)
    start, following = discs(first_frame("pendulum", CONDITIONING_SIZE)), discs(next(frames))
    order = [found[np.argsort(found[:, 1])] for found in (start, following)]
    # A release from rest moves by g t^2 / 2 at the most, 10 pixels in the first frame.
    assert np.abs(order[0] - order[1]).max() < 16


def brass_beside(frame: Frame, intact: Frame) -> float:
    """The brass of a picture where an intact pendulum has none nearby, in areas of a weight."""
    whole = ndimage.binary_dilation(brass_in(intact), iterations=3)
    area = np.pi * View(SIZE).length(DISK_RADIUS) ** 2
    return float(np.count_nonzero(brass_in(frame) & ~whole) / area)


@pytest.mark.parametrize("kind", ARTEFACTS)
@pytest.mark.parametrize("seed", range(3))
def test_an_artefact_changes_the_structure_and_keeps_it_changed(kind: str, seed: int) -> None:
    # The same release with the outcome to which it leads anyway: the same motion, of an intact pendulum.
    motion = motion_to(None, generator("test", kind, seed))
    natural = Take(outcome_of(motion[-1]), None, generator("test", kind, seed))
    frames = list(SIMULATORS["pendulum"].frames(Take(None, kind, generator("test", kind, seed)), SIZE))
    intact = list(SIMULATORS["pendulum"].frames(natural, SIZE))
    changed = [i for i, (frame, whole) in enumerate(zip(frames, intact, strict=True)) if (frame != whole).any()]
    assert 0.7 * SIMULATOR_FPS < changed[0] < 2.3 * SIMULATOR_FPS, "nothing shows at first"
    assert changed == list(range(changed[0], len(frames)))
    grown = changed[0] + SIMULATOR_FPS
    assert brass_beside(intact[-1], intact[-1]) == 0
    if kind == "rod_breaks":
        # The outer weight and half of its rod have left the picture.
        assert len(discs(frames[-1])) == 2
        assert brass_beside(intact[-1], frames[-1]) > 0.9
    else:
        least = {"rod_bends": 0.2, "extra_arm": 0.5, "extra_ball": 0.2}[kind]
        seen = [brass_beside(frames[i], intact[i]) > least for i in range(grown, len(frames))]
        # What is added may pass behind a rod.
        assert np.mean(seen) > 0.9
        assert len(discs(frames[-1])) == (3 if kind == "rod_bends" else 4)
