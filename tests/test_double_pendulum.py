import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from constants import GRAVITY, PENDULUM_LENGTHS_M
from double_pendulum import circle_derivative, derivative, energy

ANGLE = st.floats(-7, 7)
SPEED = st.floats(-30, 30)
STATE = st.tuples(ANGLE, ANGLE, SPEED, SPEED).map(np.array)


@given(STATE)
def test_energy_does_not_change_along_the_motion(state: np.ndarray) -> None:
    step = 1e-6 * derivative(state)
    slope = (energy(state + step) - energy(state - step))[0] / 2e-6
    assert abs(slope) < 1e-4 * (1 + np.abs(derivative(state)).max() ** 2)


@given(STATE)
def test_both_descriptions_of_an_angle_move_alike(state: np.ndarray) -> None:
    angle1, angle2, speed1, speed2 = state
    circle = np.array([np.cos(angle1), np.sin(angle1), np.cos(angle2), np.sin(angle2), speed1, speed2])
    change = circle_derivative(circle[:, np.newaxis])[:, 0]
    expected = derivative(state)
    assert np.allclose(change[4:], expected[2:])
    assert np.allclose(change[:2], [-np.sin(angle1) * speed1, np.cos(angle1) * speed1])
    assert np.allclose(change[2:4], [-np.sin(angle2) * speed2, np.cos(angle2) * speed2])


@given(STATE)
def test_the_motion_is_the_same_in_a_mirror(state: np.ndarray) -> None:
    assert np.allclose(derivative(-state), -derivative(state))


def test_small_swings_have_the_two_frequencies_of_the_linear_equations() -> None:
    length1, length2 = PENDULUM_LENGTHS_M
    # M a + K x = 0 with M, K of the Lagrangian to second order.
    mass = np.array([[2 * length1**2, length1 * length2], [length1 * length2, length2**2]])
    stiffness = GRAVITY * np.diag([2 * length1, length2])
    tiny = 1e-6
    columns = [derivative(np.array([tiny * (i == 0), tiny * (i == 1), 0, 0]))[2:] / tiny for i in range(2)]
    assert np.allclose(np.column_stack(columns), -np.linalg.solve(mass, stiffness))


def test_a_pendulum_at_rest_stays_when_it_hangs_or_stands() -> None:
    for angles in ([0, 0], [np.pi, np.pi], [0, np.pi]):
        assert np.allclose(derivative(np.array([*angles, 0.0, 0.0])), 0, atol=1e-12)


def test_energy_is_lowest_when_it_hangs_and_spans_the_height_of_both_weights() -> None:
    length1, length2 = PENDULUM_LENGTHS_M
    low, high = energy(np.array([0.0, np.pi, 0.0, np.pi, 0, 0, 0, 0]))
    assert np.isclose(high - low, 2 * GRAVITY * (2 * length1 + length2))
