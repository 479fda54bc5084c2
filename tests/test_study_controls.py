"""The study of the simulated laws: its committed numbers, and what it would find in a simulator that is wrong."""

import numpy as np
import pytest

import study_controls
from constants import CONTROL_SEED_SETS
from outputs import read_results
from paths import ANALYSIS
from simulator import LAWS
from simulator.theory import control_distribution


def test_the_committed_study_is_of_full_size_and_every_law_follows_theory() -> None:
    laws = read_results(ANALYSIS, "study_controls.py")["laws"]
    assert set(laws) == set(LAWS)
    for law, result in laws.items():
        assert len(result["mntv"]) == CONTROL_SEED_SETS
        assert result["agrees"], law


@pytest.mark.parametrize("law", ["sim_collapsed", "sim_half", "sim_flat"])
def test_the_committed_values_are_those_of_the_simulator(law: str) -> None:
    values = np.array([study_controls.seed_set_mntv(law, i) for i in range(CONTROL_SEED_SETS)])
    committed = read_results(ANALYSIS, "study_controls.py")["laws"][law]
    assert np.sort(values) == pytest.approx(committed["mntv"], rel=1e-8)
    assert study_controls.compare(law, values)["distance"] == pytest.approx(committed["distance"], rel=1e-8)


def test_values_of_another_law_do_not_agree() -> None:
    results = read_results(ANALYSIS, "study_controls.py")["laws"]
    for law in LAWS:
        for other in set(LAWS) - {law}:
            assert not study_controls.compare(law, np.array(results[other]["mntv"]))["agrees"], (law, other)


def test_values_with_the_right_mean_and_the_wrong_spread_do_not_agree() -> None:
    expected = control_distribution("sim_half")
    sample = np.random.default_rng(0).choice(expected.values, size=80, p=expected.masses)
    narrow = expected.mean + 0.2 * (sample - sample.mean())
    assert study_controls.compare("sim_half", sample)["agrees"]
    result = study_controls.compare("sim_half", narrow)
    assert abs(result["mean"] - result["expected"]) < 1e-9
    assert not result["agrees"]
