"""The study of the simulated laws: its committed numbers, and what it would find in a simulator that is wrong."""

from pathlib import Path

import numpy as np
import pytest

import study_controls
from constants import CONTROL_SEED_SETS
from outputs import read_results
from simulator import LAWS
from simulator.theory import control_distribution

# Two seed sets of the calibrated law integrate as many pendulums as it takes a second to.
RECOMPUTED = {"sim_calibrated": 2, "sim_collapsed": 2, "sim_half": 20, "sim_flat": 20}
CHANCE = [law for law in LAWS if law != "sim_collapsed"]
# As often as a sample of the study's size is drawn to see whether it agrees.
SAMPLES = 4


def sample(law: str, seed: int) -> np.ndarray:
    """As many mnTV as the study has seed sets, drawn from the exact distribution."""
    expected = control_distribution(law)
    level = np.random.default_rng(seed).random(CONTROL_SEED_SETS)
    return expected.values[np.searchsorted(np.cumsum(expected.masses), level)]


def test_the_committed_study_is_of_full_size_and_every_law_follows_theory(committed: Path) -> None:
    laws = read_results(committed, "study_controls.py")["laws"]
    assert set(laws) == set(LAWS)
    for law, result in laws.items():
        assert len(result["mntv"]) == CONTROL_SEED_SETS
        found = study_controls.compare(law, np.array(result["mntv"]))
        assert found["agrees"] and result["agrees"], law
        assert found["inside"] == result["inside"]
        for name in ("mean", "expected", "sd", "expected_sd", "low", "high", "distance", "largest_distance"):
            assert found[name] == pytest.approx(result[name], rel=1e-8, abs=1e-9), (law, name)


@pytest.mark.parametrize("law", LAWS)
def test_the_committed_values_are_those_of_the_simulator(law: str, committed: Path) -> None:
    values = np.array(read_results(committed, "study_controls.py")["laws"][law]["mntv"])
    for index in range(RECOMPUTED[law]):
        assert np.abs(values - study_controls.seed_set_mntv(law, index)).min() < 1e-9, index


def test_values_of_another_law_do_not_agree(committed: Path) -> None:
    results = read_results(committed, "study_controls.py")["laws"]
    for law in LAWS:
        for other in set(LAWS) - {law}:
            values = np.array(results[other]["mntv"])
            assert not study_controls.agreement(control_distribution(law), values)["agrees"], (law, other)


@pytest.mark.parametrize("law", CHANCE)
def test_samples_of_the_law_agree_and_those_of_another_spread_or_mean_do_not(law: str) -> None:
    expected = control_distribution(law)
    for seed in range(SAMPLES):
        values = sample(law, seed)
        assert study_controls.agreement(expected, values)["agrees"], seed
        for scale in (0.2, 0.5, 2.0):
            scaled = expected.mean + scale * (values - expected.mean)
            assert not study_controls.agreement(expected, scaled)["agrees"], (seed, scale)
        for shift in (-1, 1):
            shifted = values + shift * expected.standard_deviation
            assert not study_controls.agreement(expected, shifted)["agrees"], (seed, shift)


def test_the_shape_alone_can_disagree() -> None:
    expected = control_distribution("sim_half")
    signs = np.tile([-1, 1], CONTROL_SEED_SETS // 2)
    two_points = study_controls.agreement(expected, expected.mean + signs * expected.standard_deviation)
    assert two_points["mean"] == pytest.approx(expected.mean)
    assert two_points["sd"] == pytest.approx(expected.standard_deviation)
    assert two_points["distance"] > two_points["largest_distance"] and not two_points["agrees"]


def test_a_law_without_chance_may_not_vary() -> None:
    expected = control_distribution("sim_collapsed")
    values = np.full(CONTROL_SEED_SETS, expected.mean)
    assert study_controls.agreement(expected, values)["agrees"]
    values[0] += 1e-3
    assert not study_controls.agreement(expected, values)["agrees"]
