"""The double pendulum: point masses on massless rods, no friction, no small-angle approximation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constants import GRAVITY, PENDULUM_LENGTHS_M

Array = NDArray[np.float64]


def derivative(_time: float, state: Array) -> Array:
    """Equations of motion for equal masses and the lengths of `constants.PENDULUM_LENGTHS_M`, in SI units.

    state: (angle 1, angle 2, angular velocity 1, angular velocity 2), shape (4,) for one pendulum or (4 * n,) for n of
    them, all first angles first; angles from the downward vertical, positive to the right. Returns the time derivative
    in the same order. Lagrange's equations, solved for both accelerations.
    """
    angle1, angle2, speed1, speed2 = state.reshape(4, -1)
    length1, length2 = PENDULUM_LENGTHS_M
    sine, cosine = np.sin(angle1 - angle2), np.cos(angle1 - angle2)
    # With both masses 1:  2 l1 a1 + l2 cos a2 = -l2 sin w2^2 - 2 g sin(angle1)
    #                        l1 cos a1 + l2 a2 =  l1 sin w1^2 -   g sin(angle2)
    first = -length2 * sine * speed2**2 - 2 * GRAVITY * np.sin(angle1)
    second = length1 * sine * speed1**2 - GRAVITY * np.sin(angle2)
    determinant = 2 - cosine**2
    acceleration1 = (first - cosine * second) / (length1 * determinant)
    acceleration2 = (2 * second - cosine * first) / (length2 * determinant)
    return np.concatenate([speed1, speed2, acceleration1, acceleration2])


def energy(state: Array) -> Any:
    """Total energy per unit mass, J/kg, of one pendulum or of n; it stays constant along a motion."""
    angle1, angle2, speed1, speed2 = state.reshape(4, -1)
    length1, length2 = PENDULUM_LENGTHS_M
    kinetic = (length1 * speed1) ** 2 + (length2 * speed2) ** 2 / 2
    kinetic += length1 * length2 * speed1 * speed2 * np.cos(angle1 - angle2)
    return kinetic - GRAVITY * (2 * length1 * np.cos(angle1) + length2 * np.cos(angle2))
