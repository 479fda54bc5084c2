"""Dormand and Prince's adaptive Runge-Kutta pair of orders 5 and 4 (RK45), for one large system of arrays.

The method and its step control are those of scipy's RK45. That one multiplies small matrices through a threaded
library, whose threads get into each other's way in several processes; here nothing but numpy's own loops runs.

Sources: Dormand and Prince, J. Comput. Appl. Math. 6 (1980) 19-26; Hairer, Norsett and Wanner, Solving Ordinary
Differential Equations I, sections II.4 and II.5.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Row i: weights of the slopes 0..i in the state at which slope i + 1 is taken. The last row is the step itself.
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
# Difference of both orders: the error of a step.
_ERROR = (-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40)
# A new step is this much shorter than the estimate, and within these factors of the last one.
_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0
# Far below what any tolerance needs; the control lengthens it at once.
_FIRST_STEP = 1e-4


def integrate(
    derivative: Callable[[Array], Array], start: Array, times: Sequence[float], rtol: float, atol: float
) -> Iterator[Array]:
    """States at the ascending `times`, from `start` at time 0; a state may have any shape, and no state is changed.

    derivative: state -> its time derivative, for an autonomous system. The step is common to all of the state: the root
    mean square of error / (atol + rtol |state|) is kept below one. Steps end at each of `times`. Raises ArithmeticError
    where no step does that.
    """
    slopes = np.empty((len(_STAGES) + 1, *start.shape))
    time, state, step = 0.0, start, _FIRST_STEP
    slopes[0] = derivative(state)
    for end in times:
        while time < end:
            # A step may be cut short to end at an output time; that says nothing against the longer one.
            trial = min(step, end - time)
            for i, weights in enumerate(_STAGES):
                new_state = state + trial * _combined(weights, slopes)
                slopes[i + 1] = derivative(new_state)
            error = _error(trial, slopes, state, new_state, rtol, atol)
            if not math.isfinite(error) or time + trial == time:
                raise ArithmeticError(f"no step from t = {time} meets rtol {rtol}, atol {atol}")
            factor = min(max(_SAFETY * error**-0.2, _SHRINK), _GROW) if error else _GROW
            if error < 1:
                time = end if trial == end - time else time + trial
                state = new_state
                slopes[0] = slopes[-1]
                step = max(step, trial * factor) if trial < step else trial * factor
            else:
                step = trial * min(factor, 1.0)
        yield state


def _error(step: float, slopes: Array, state: Array, new_state: Array, rtol: float, atol: float) -> float:
    """Root mean square of the step's error in units of the tolerance."""
    scale = np.maximum(np.abs(state), np.abs(new_state))
    scale *= rtol
    scale += atol
    error = _combined(_ERROR, slopes)
    error /= scale
    return step * math.sqrt(float(np.mean(np.square(error, out=error))))


def _combined(weights: Sequence[float], slopes: Array) -> Array:
    # einsum and not a matrix product: see the top of this file.
    combined: Array = np.einsum("i,i...->...", np.array(weights), slopes[: len(weights)])
    return combined
