"""Power against contamination: one conditional table serves every epsilon, and the first crossing is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constants import ALPHA, COIN, DIE, POWER_TARGET, ROULETTE_COLOUR, SUITS, Reference
from exact_multinomial import null_distribution
from exact_power import Contamination, contamination
from lattice import Statistic
from scenes import SCENES, Scene

REFERENCES = [COIN, DIE, ROULETTE_COLOUR, SUITS, Reference((3, 1, 7))]
STATISTICS: tuple[Statistic, ...] = ("chi2", "tv")
statistics = st.sampled_from(STATISTICS)


def contaminated(reference: Reference, outcome: int, epsilon: float) -> list[float]:
    return [(1 - epsilon) * p + epsilon * (i == outcome) for i, p in enumerate(reference.probabilities, start=1)]


@given(st.sampled_from(REFERENCES), st.integers(2, 16), statistics, st.floats(0, 1), st.data())
def test_power_equals_that_against_the_contaminated_distribution(
    reference: Reference, n: int, statistic: Statistic, epsilon: float, data: st.DataObject
) -> None:
    outcome = data.draw(st.integers(1, reference.k))
    null = null_distribution(reference, n, statistic)
    cut = null.cut_at(null.quantile(0.8).value)
    test = contamination(null, cut, outcome)
    expected = null.power(cut, contaminated(reference, outcome, epsilon))
    assert float(test.power(epsilon)) == pytest.approx(expected, rel=1e-10, abs=1e-14)
    assert float(test.power(0)) == pytest.approx(cut.size, rel=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("scene", SCENES.values(), ids=lambda scene: scene.key)
def test_smallest_detectable_contamination_is_the_first_to_reach_the_target(scene: Scene, statistic: Statistic) -> None:
    null = null_distribution(scene.reference, 32, statistic)
    test = contamination(null, null.critical(ALPHA), scene.contaminated)
    epsilon = test.smallest_detectable(POWER_TARGET)
    assert epsilon is not None
    assert float(test.power(epsilon)) == pytest.approx(POWER_TARGET, abs=1e-7)
    assert test.power(np.linspace(0, epsilon - 1e-6, 1000)).max() < POWER_TARGET


def test_power_that_rises_and_falls_is_crossed_where_it_rises() -> None:
    hump = Contamination(0.1, (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    epsilon = hump.smallest_detectable(0.6)
    assert epsilon is not None
    assert epsilon < 0.4
    assert float(hump.power(epsilon)) == pytest.approx(0.6, abs=1e-8)
    assert hump.power(1.0) == 0


def test_power_that_falls_first_is_not_taken_for_a_crossing() -> None:
    # The absence of the outcome is what this test mostly rejects for: contamination lowers its power at first.
    valley = Contamination(0.1, (0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0))
    assert float(valley.power(0.1)) < float(valley.power(0.0))
    epsilon = valley.smallest_detectable(0.8)
    assert epsilon is not None
    assert float(valley.power(epsilon)) == pytest.approx(0.8, abs=1e-8)


def test_a_target_that_is_never_reached_has_no_contamination() -> None:
    assert Contamination(0.5, (0.0, 0.1, 0.2, 0.1)).smallest_detectable(0.8) is None
    # The coefficients exceed the target, the polynomial does not.
    assert Contamination(0.1, (0.0, 0.0, 1.0, 0.0, 0.0)).smallest_detectable(0.8) is None


def test_a_target_that_holds_already_needs_no_contamination() -> None:
    assert Contamination(0.5, (1.0, 0.0, 1.0)).smallest_detectable(0.4) == 0.0
