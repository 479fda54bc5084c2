import numpy as np
import pytest
from scipy.integrate import solve_ivp

from runge_kutta import integrate


def test_an_oscillator_is_followed_to_the_tolerance() -> None:
    times = [0.5, 1.0, 7.3]
    states = list(integrate(lambda y: np.array([y[1], -y[0]]), np.array([1.0, 0.0]), times, 1e-9, 1e-12))
    assert np.allclose([state[0] for state in states], np.cos(times), atol=1e-7)


def test_the_order_is_five() -> None:
    """A tolerance that is 1e5 times as fine costs about ten times the steps."""

    def calls(rtol: float) -> int:
        count = 0

        def derivative(y: np.ndarray) -> np.ndarray:
            nonlocal count
            count += 1
            return np.array([y[1], -y[0]])

        list(integrate(derivative, np.array([1.0, 0.0]), [50.0], rtol, rtol))
        return count

    assert 7 < calls(1e-10) / calls(1e-5) < 13


def test_it_agrees_with_scipy() -> None:
    def derivative(_time: float, y: np.ndarray) -> np.ndarray:
        return np.array([y[0] * (1 - y[1]), y[1] * (y[0] - 1)])

    start, times = np.array([0.5, 2.0]), [1.0, 2.5, 6.0]
    expected = solve_ivp(derivative, (0, 6), start, t_eval=times, rtol=1e-9, atol=1e-12).y.T
    found = list(integrate(lambda y: derivative(0, y), start, times, 1e-9, 1e-12))
    assert np.allclose(found, expected, atol=1e-6)


def test_a_state_keeps_its_shape_and_is_never_changed() -> None:
    start = np.ones((2, 3))
    states = list(integrate(lambda y: -y, start, [0.1, 0.2], 1e-8, 1e-10))
    assert np.array_equal(start, np.ones((2, 3)))
    assert np.allclose(states[0], np.exp(-0.1)) and np.allclose(states[1], np.exp(-0.2))


def test_an_equation_without_a_solution_is_an_error() -> None:
    with pytest.raises(ArithmeticError, match="no step from"), np.errstate(all="ignore"):
        list(integrate(lambda y: y**2, np.array([1.0]), [2.0], 1e-8, 1e-10))  # infinite at t = 1
