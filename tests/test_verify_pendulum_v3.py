import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify_pendulum_v3 as script
from double_pendulum import circle_derivative
from paths import ANALYSIS


@pytest.fixture
def results() -> Any:
    return json.loads((ANALYSIS / "results/verify_pendulum_v3.json").read_text())


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small ensemble in this process. Its probabilities are within about 0.1 of the true ones."""
    monkeypatch.setattr(script, "PENDULUM_MEMBERS", 300)
    monkeypatch.setattr(script, "PROCESSES", 1)
    monkeypatch.setattr(script, "PENDULUM_BAND", 0.2)


def test_the_committed_check_is_the_protocols_and_holds(results: Any) -> None:
    assert results["members"] == 40_000
    assert results["holds"]
    times = results["times_s"]
    assert (times[0], times[-1], len(times)) == (1.0, 5.0, 41)
    for row in results["weights"].values():
        within = [p for t, p in zip(times, row["p_left"], strict=True) if t >= 3]
        assert max(abs(p - 0.5) for p in within) <= results["band"]["half_width"] == 0.05
        assert all(low < p < high for low, p, high in zip(row["low"], row["p_left"], row["high"], strict=True))


def test_a_fresh_ensemble_agrees_with_the_committed_probabilities(results: Any) -> None:
    members = 1_000
    found = script.check(script.releases(members), processes=1)
    assert found["energy_drift"] <= script.PENDULUM_ENERGY_TOLERANCE
    # Five standard errors at most, over 82 comparisons.
    tolerance = 5 * 0.5 / np.sqrt(members)
    for name, row in found["weights"].items():
        assert np.abs(np.subtract(row["p_left"], results["weights"][name]["p_left"])).max() < tolerance


def test_the_result_does_not_depend_on_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "PENDULUM_BLOCK", 40)
    angles = script.releases(100)
    assert script.check(angles, processes=1) == script.check(angles, processes=2)


def test_left_and_right_change_places_in_a_mirror() -> None:
    angles = script.releases(50)
    block, mirrored = script.integrate_block(angles), script.integrate_block(-angles)
    for name in script.WEIGHTS:
        assert (block.left[name] + mirrored.left[name]).tolist() == [50] * len(script.TIMES_S)


def test_exit_is_zero_within_the_band_and_one_outside(
    quick: None, analysis: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--analysis", str(analysis)]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Holds: P(left) within 0.2 of 0.5")
    monkeypatch.setattr(script, "PENDULUM_BAND", 0.001)
    assert script.main(["--analysis", str(analysis)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("Does not hold: ")
    assert json.loads((analysis / "results/verify_pendulum_v3.json").read_text())["holds"] is False


def test_a_wrong_equation_is_found_by_its_energy(quick: None, analysis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(state: Any) -> Any:
        change = circle_derivative(state)
        change[5] *= 1.01
        return change

    monkeypatch.setattr(script, "circle_derivative", wrong)
    assert script.main(["--analysis", str(analysis)]) == 1


def test_the_figure_shows_the_results(results: Any) -> None:
    ax = script.draw(results).axes[0]
    curves = {line.get_label(): line.get_ydata() for line in ax.lines}
    for name, title in script.WEIGHTS.items():
        assert np.allclose(curves[title], results["weights"][name]["p_left"])
    low, high = ax.get_ylim()
    assert all(low <= p <= high for row in results["weights"].values() for p in row["p_left"])
