"""What theory expects of a control: the exact distribution of its mnTV under its law."""

from functools import lru_cache

from constants import N_ROLLOUTS
from scenes import SCENES
from score_distribution import Law, ScoreDistribution, mntv_distribution
from simulator.laws import law_probabilities


@lru_cache(maxsize=8)
def control_distribution(law: str) -> ScoreDistribution:
    """mnTV of a generator that follows one of `laws.LAWS` in every scene, all of it read without a mistake.

    Raises UserError for an unknown law.
    """
    laws = [Law([float(p) for p in law_probabilities(law, key)], scene.reference) for key, scene in SCENES.items()]
    return mntv_distribution(laws, N_ROLLOUTS)
