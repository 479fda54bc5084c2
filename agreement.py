"""How far two readers of the same rollouts agree: observed agreement and Cohen's kappa, each with an interval."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from constants import INTERVAL_LEVEL
from stats_utils import Interval, clopper_pearson

KAPPA_METHOD = "Clopper-Pearson on the observed agreement, chance agreement held at its estimate"


@dataclass(frozen=True)
class Agreement:
    """Two readers' outcomes of `n` rollouts, of which `agree` are the same; null (None) is one like any other here.

    rate, rate_interval: observed agreement agree / n; None without a rollout.
    chance: agreement expected of two readers with these margins who look at nothing; None without a rollout.
    kappa, kappa_interval: None when they cannot be estimated, and `not_estimable` says why ("" otherwise).
    """

    n: int
    agree: int
    rate: float | None
    rate_interval: Interval | None
    chance: float | None
    kappa: float | None
    kappa_interval: Interval | None
    not_estimable: str = ""


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """Agreement of two readings of the same rollouts, in the same order.

    kappa = (rate - chance) / (1 - chance), chance = sum over outcomes of the product of both readers' shares (Cohen
    1960). As in Cohen's own standard error, chance agreement is held fixed in the interval; the observed agreement gets
    its exact interval instead of the normal one. Judges agree on nearly all rollouts, where the usual large-sample
    interval (Fleiss, Cohen and Everitt 1969) has zero width or covers far too seldom; this one is conservative.

    Raises ValueError when the readings differ in length.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} readings; expected the same rollouts")
    n = len(first)
    if n == 0:
        return Agreement(0, 0, None, None, None, None, None, "no rollout was read by both")
    agree = sum(a == b for a, b in zip(first, second, strict=True))
    rate, interval = agree / n, clopper_pearson(agree, n, INTERVAL_LEVEL)
    # In integers, so that certainty is told from near certainty.
    chance_of_n2 = sum(first.count(outcome) * second.count(outcome) for outcome in set(first))
    chance = chance_of_n2 / n**2
    if chance_of_n2 == n**2:
        reason = "both gave every rollout the same outcome, as would two who look at nothing"
        return Agreement(n, agree, rate, interval, chance, None, None, reason)

    def kappa(observed: float) -> float:
        return (observed - chance) / (1 - chance)

    low, high = kappa(interval.low), kappa(interval.high)
    return Agreement(n, agree, rate, interval, chance, kappa(rate), Interval(low, high, INTERVAL_LEVEL, KAPPA_METHOD))
