"""The distributions that simulated world models draw their outcomes from, as exact fractions."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from constants import Reference
from errors import UserError
from scenes import SCENES

Probabilities = tuple[Fraction, ...]

# The finest step of a draw; a law whose denominator divides it is drawn exactly, any other to within 1e-18.
_STEPS = 2**62


def _collapsed(reference: Reference) -> Probabilities:
    return tuple(Fraction(int(i == reference.mode)) for i in range(1, reference.k + 1))


def _half(reference: Reference) -> Probabilities:
    pairs = zip(reference.fractions, _collapsed(reference), strict=True)
    return tuple((p + mode) / 2 for p, mode in pairs)


def _flat(reference: Reference) -> Probabilities:
    return (Fraction(1, reference.k),) * reference.k


# The controls: a generator that is calibrated, one that always shows the mode, one that moves half of the mass there,
# and one that knows the outcomes but not the odds.
LAWS: dict[str, Callable[[Reference], Probabilities]] = {
    "sim_calibrated": lambda reference: reference.fractions,
    "sim_collapsed": _collapsed,
    "sim_half": _half,
    "sim_flat": _flat,
}


def law_probabilities(law: str, scene: str) -> Probabilities:
    """Probabilities of the scene's outcomes 1..k under a law: one of `LAWS`, or k numbers such as "1/4,1/4,0.5,0".

    Raises UserError when the numbers are not a distribution over the scene's outcomes.
    """
    reference = SCENES[scene].reference
    if law in LAWS:
        return LAWS[law](reference)
    expected = f"one of {', '.join(LAWS)}, or {reference.k} comma-separated probabilities for {scene}"
    try:
        given = tuple(Fraction(part.strip()) for part in law.split(","))
    except (ValueError, ZeroDivisionError) as error:
        raise UserError(f"law {law!r}: not a law; expected {expected}") from error
    if len(given) != reference.k or min(given) < 0 or sum(given) != 1:
        raise UserError(
            f"law {law!r}: {len(given)} numbers with sum {sum(given)}; expected {expected}, sum 1, none negative"
        )
    return given


def canonical_law(law: str, scene: str) -> str:
    """The one way of writing a law, which its rollouts are seeded with: a name, or fractions in lowest terms.

    Raises UserError as `law_probabilities` does.
    """
    probabilities = law_probabilities(law, scene)
    return law if law in LAWS else ",".join(map(str, probabilities))


def draw(probabilities: Sequence[Fraction], rng: np.random.Generator) -> int:
    """One outcome, 1-based; takes one draw from the generator whatever the probabilities are."""
    level = Fraction(int(rng.integers(_STEPS)), _STEPS)
    return 1 + sum(bound <= level for bound in itertools.accumulate(probabilities))
