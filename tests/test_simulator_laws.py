"""A law that is given as numbers, as the simulator draws from it."""

import pytest

from simulator import simulate


def test_a_given_law_is_drawn_from_and_is_the_same_however_it_is_written() -> None:
    drawn = [simulate("ball", "1/4,3/4", seed)[0] for seed in range(400)]
    assert sum(truth.outcome == 2 for truth in drawn) == pytest.approx(300, abs=35)
    assert drawn == [simulate("ball", "0.25, 6/8", seed)[0] for seed in range(400)]
    assert {truth.law for truth in drawn} == {"1/4,3/4"}
    # A name is left as it is: it seeds its rollouts, not the numbers that it stands for.
    assert simulate("ball", "sim_half", 0)[0].law == "sim_half"
