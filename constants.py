"""Reference distributions and the numbers that the protocol fixes.

References are exact: integer weights over a common denominator (1024, 2, 6, 4, 20, 37), never rounded decimals.
Everything else in the project takes these numbers from here.
"""

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Reference:
    """A distribution over the outcomes 1..k, as integer weights.

    `weights[i] / denominator` is the probability of outcome i + 1.
    """

    weights: tuple[int, ...]

    @property
    def denominator(self) -> int:
        return sum(self.weights)

    @property
    def k(self) -> int:
        """Number of outcomes."""
        return len(self.weights)

    @property
    def fractions(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(w, self.denominator) for w in self.weights)

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Correctly rounded floats, shape (k,)."""
        return tuple(w / self.denominator for w in self.weights)

    @property
    def mode(self) -> int:
        """The most probable outcome, 1-based; the smallest one on a tie."""
        return self.weights.index(max(self.weights)) + 1


# Ten peg rows give eleven bins with probabilities C(10, i) / 1024.
BINOMIAL_10 = Reference(tuple(math.comb(10, i) for i in range(11)))
COIN = Reference((1, 1))
DIE = Reference((1,) * 6)
SUITS = Reference((1,) * 4)
LOTTERY_20 = Reference((1,) * 20)
# European wheel: 18 red, 18 black and one green pocket.
ROULETTE_COLOUR = Reference((18, 18, 1))

# Rollouts of a cell of the main study. The seed of a rollout is its index.
N_ROLLOUTS = 32

# Significance level of every verdict, before and after correction.
ALPHA = 0.05
# Cells with fewer valid rollouts are not tested: the paper's rule, which the published family of tests follows.
MIN_VALID_FOR_TEST = 4

# The published test: Monte Carlo chi-square with the add-one estimator of Hope (1968).
CHI2_REPLICATES = 50_000
CHI2_SEED = 0
# Two statistics closer than this are a tie, and ties count towards p.
CHI2_TIE_TOLERANCE = 1e-9

# Exact distributions are computed up to this bound on their work (see lattice.py): some seconds and about 500 MB.
# It is no clock, so that the method of a p-value does not depend on the machine.
EXACT_MAX_WORK = 200_000_000
# Smaller p-values are reported as this, an upper bound: products of doubles below about 1e-308 lose digits.
SMALLEST_TAIL = 1e-290

# Prior of the sequential test: Dirichlet(k/2 * p0), as heavy as half an observation an outcome. On a uniform reference
# it is Jeffreys' prior, whose mixture loses least against the best alternative in hindsight (Krichevsky and Trofimov
# 1981). Its mean is p0: on a skewed reference equal weights would expect the rare outcomes far too often, and pay for
# it exactly when a model collapses onto the common ones, the failure that the benchmark looks for.
SEQUENTIAL_WEIGHT_PER_OUTCOME = 0.5
# Simulated calibrated cells a scene, whose false alarms are counted.
SEQUENTIAL_NULL_REPLICATES = 20_000
SEQUENTIAL_SEED = 0

# Bootstrap of mnTV (percentile, 95 %).
BOOTSTRAP_REPLICATES = 50_000
BOOTSTRAP_SEED = 0
INTERVAL_LEVEL = 0.95
# Rollouts of a calibrated operator that the variance of the corrected interval adds to a cell. Half of one is the
# weight of an outcome in Jeffreys' prior; a whole one over-covers where little is scorable.
INTERVAL_PSEUDO_ROLLOUTS = 0.5

# Rollouts a scene that a person labels: as many as the published labels hold. The seed gives everybody the same ones.
LABELS_PER_SCENE = 18
LABELS_SEED = 0

# Study of the intervals' coverage: replications a case, each with a bootstrap of its own. It is shorter than above, to
# keep the study to a minute: the noise of its percentiles is some hundredths of an interval's width.
COVERAGE_REPLICATIONS = 4_000
COVERAGE_BOOTSTRAP_REPLICATES = 500
COVERAGE_SEED = 0
# A nominal 95 % interval that covers less or more often than this does not deserve its name.
COVERAGE_ACCEPTED = (0.925, 0.985)
# Beyond the required cases: shares of a calibrated operator's rollouts that are scorable, and of the mass that has
# moved to the most probable outcome of each scene.
COVERAGE_SCORABLE = (0.5, 0.2, 0.15, 0.1, 0.03)
COVERAGE_COLLAPSED = (0.3, 0.4, 0.9, 0.99)

# Simulation of a calibrated operator, which every leaderboard shows as its zero.
CALIBRATED_REPLICATES = 50_000
CALIBRATED_SEED = 0

# Power: smallest contamination that the test sees with this probability, found to this precision.
POWER_TARGET = 0.80
POWER_NULL_REPLICATES = 50_000
POWER_NULL_SEED = 0
POWER_REPLICATES = 5_000
POWER_SEED = 1
POWER_EPSILON_TOLERANCE = 1e-3
POWER_TABLE_N = (32, 16)
POWER_CURVE_N = (8, 16, 24, 32)

# Double pendulum: the release state measured from the conditioning frame, in degrees from the downward vertical.
PENDULUM_ANGLES_DEG = (146.0, 215.0)
PENDULUM_LENGTHS_M = (0.15, 0.82 * 0.15)
# In m/s^2.
GRAVITY = 9.81
# What one frame cannot resolve: independent Gaussian noise on each release angle.
PENDULUM_NOISE_DEG = 0.5
PENDULUM_MEMBERS = 40_000
PENDULUM_SEED = 0
PENDULUM_RTOL = 1e-6
PENDULUM_ATOL = 1e-9
# Members that share one adaptive step. Smaller blocks spend their time on calls, larger ones on waiting for memory.
# Another size moves the third decimal of late probabilities, as another seed would: the motion is chaotic.
PENDULUM_BLOCK = 5_000
# Largest change of a member's energy, as a share of that between hanging and standing upright. The tolerances above
# leave 1e-4; a wrong equation leaves about 1.
PENDULUM_ENERGY_TOLERANCE = 1e-3
# P(left) must stay this close to one half over the range of the models' clip lengths, in seconds.
PENDULUM_BAND = 0.05
PENDULUM_BAND_FROM_S = 3.0
PENDULUM_BAND_TO_S = 5.0

# Step of a scene's score in the exact distribution of mnTV: far below the digits that are shown, and coarse enough for
# the convolution of nine scenes to take less than a second.
SCORE_GRID = 1e-5

# Controls: level of the band that is shown, in which a control's mnTV is expected.
CONTROL_BAND_LEVEL = 0.95
# A control fails outside the band of this level, and a law when its seed sets are this unlikely: a correct simulator
# fails once in ten thousand runs.
CONTROL_GATE_LEVEL = 0.9999
# Seed sets of a law in the study of the laws: with so many, half or twice the spread of theory cannot pass. Their mean,
# and their mean squared deviation, may be this many standard errors from theory.
CONTROL_SEED_SETS = 100
CONTROL_STANDARD_ERRORS = 4.0

# Simulated world models. The version is to be raised with any change that draws other frames: clips of two versions are
# not one cell. Width and height of their clips, and of the conditioning frames, in pixels.
SIMULATOR_VERSION = 1
SIMULATOR_SEED = 0
SIMULATOR_FPS = 24
SIMULATOR_SIZE = (848, 480)
# The truth of seed_<i>.mp4 stands beside it with this ending in place of .mp4 (see paths.truth_path).
TRUTH_SUFFIX = ".truth.json"
CONDITIONING_SIZE = (1280, 720)
