"""The double pendulum: point masses on massless rods, no friction, no small-angle approximation.

Equal masses, the lengths of `constants.PENDULUM_LENGTHS_M`, SI units, angles from the downward vertical, positive to
the right. The equations are Lagrange's (Landau and Lifshitz, Mechanics, section 5, problem 1), solved for both
accelerations.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from constants import GRAVITY, PENDULUM_LENGTHS_M

Array = NDArray[np.float64]


def derivative(state: Array) -> Array:
    """Time derivative of one pendulum's (angle 1, angle 2, angular velocity 1, angular velocity 2), shape (4,)."""
    angle1, angle2, speed1, speed2 = state
    accelerations = _accelerations(np.cos(angle1), np.sin(angle1), np.cos(angle2), np.sin(angle2), speed1, speed2)
    return np.array([speed1, speed2, *accelerations])


def circle_derivative(state: Array) -> Array:
    """Time derivative of (cos angle 1, sin angle 1, cos angle 2, sin angle 2, angular velocity 1, 2), shape (6, n).

    The same motion as `derivative` with each angle as a point on the unit circle, so that no sine is evaluated.
    """
    cosine1, sine1, cosine2, sine2, speed1, speed2 = state
    change = np.empty_like(state)
    np.multiply(sine1, -speed1, out=change[0])
    np.multiply(cosine1, speed1, out=change[1])
    np.multiply(sine2, -speed2, out=change[2])
    np.multiply(cosine2, speed2, out=change[3])
    change[4:] = _accelerations(*state)
    return change


def energy(state: Array) -> Any:
    """Total energy per unit mass, J/kg, of one pendulum or of n; it stays constant along a motion.

    state: as for `derivative`, or of shape (4 * n,) with all first angles first.
    """
    angle1, angle2, speed1, speed2 = state.reshape(4, -1)
    length1, length2 = PENDULUM_LENGTHS_M
    kinetic = (length1 * speed1) ** 2 + (length2 * speed2) ** 2 / 2
    kinetic += length1 * length2 * speed1 * speed2 * np.cos(angle1 - angle2)
    return kinetic - GRAVITY * (2 * length1 * np.cos(angle1) + length2 * np.cos(angle2))


def _accelerations(
    cosine1: Array, sine1: Array, cosine2: Array, sine2: Array, speed1: Array, speed2: Array
) -> tuple[Array, Array]:
    length1, length2 = PENDULUM_LENGTHS_M
    # Of the difference of both angles.
    sine = sine1 * cosine2 - cosine1 * sine2
    cosine = cosine1 * cosine2 + sine1 * sine2
    # With both masses 1:  2 l1 a1 + l2 cos a2 = -l2 sin w2^2 - 2 g sin(angle 1)
    #                        l1 cos a1 + l2 a2 =  l1 sin w1^2 -   g sin(angle 2)
    first = -length2 * sine * speed2**2 - 2 * GRAVITY * sine1
    second = length1 * sine * speed1**2 - GRAVITY * sine2
    determinant = 2 - cosine**2
    acceleration1 = (first - cosine * second) / (length1 * determinant)
    acceleration2 = (2 * second - cosine * first) / (length2 * determinant)
    return acceleration1, acceleration2
