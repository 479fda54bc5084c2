"""Where markers stand in a panel of scorability against total variation, so that none hides another."""

from collections.abc import Sequence

# A cell without a valid rollout has no TV: its marker stands in a strip below the axis, at this height.
STRIP = -0.11
# Two markers overlap when they are closer than this, across and along; about a marker's size in a panel of the grid.
OVERLAP = (0.05, 0.06)
# A marker that would overlap another one is moved sideways in steps of this, within these limits.
STEP = 0.055
LIMITS = (-0.06, 1.06)


def placed(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Where the markers of these (rho, height) points stand.

    In the given order each takes its own place, or else the nearest free one beside it at the same height.
    """
    taken: list[tuple[float, float]] = []
    for rho, height in points:
        steps = sorted(range(-2 * len(points), 2 * len(points) + 1), key=lambda step: (abs(step), step))
        places = [(rho + step * STEP, height) for step in steps]
        free = [p for p in places if LIMITS[0] <= p[0] <= LIMITS[1] and not any(overlap(p, other) for other in taken)]
        taken.append(free[0] if free else (rho, height))
    return taken


def overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    """Whether markers at these two places would cover each other."""
    return abs(a[0] - b[0]) < OVERLAP[0] and abs(a[1] - b[1]) < OVERLAP[1]
