"""All scene simulators, and the driver that turns (scene, law, seed) into a truth and its frames."""

from collections.abc import Iterator

from constants import SIMULATOR_SIZE
from errors import UserError
from simulator import ball, cards, dice, galton, lottery, pendulum, roulette, walking
from simulator.base import SceneSimulator, Size, Take, Truth, generator
from simulator.laws import canonical_law, draw, law_probabilities
from video_io import Frame

# Scene key -> simulator, in display order.
SIMULATORS: dict[str, SceneSimulator] = {
    **galton.SIMULATORS,
    **ball.SIMULATORS,
    **walking.SIMULATORS,
    **pendulum.SIMULATORS,
    **dice.SIMULATORS,
    **cards.SIMULATORS,
    **lottery.SIMULATORS,
    **roulette.SIMULATORS,
}


def simulate(
    scene: str, law: str, seed: int, size: Size = SIMULATOR_SIZE, artefact_rate: float = 0.0
) -> tuple[Truth, Iterator[Frame]]:
    """What rollout `seed` of a scene under a law shows, and its frames, drawn one by one as they are asked for.

    law: see `laws.law_probabilities`; however the same numbers are written, they are the same law, and the truth names
    it in the canonical way. artefact_rate: the probability that the rollout shows an artefact in place of an
    outcome, every kind of the scene being equally likely. A seed that shows an outcome shows the same one at any rate.
    Under sim_calibrated a scene with a natural outcome lets its physics decide; under any other law the physics is
    given a start that leads to the outcome drawn.
    Raises UserError for a law that does not fit the scene, an odd size or a rate outside [0, 1].
    """
    check_size(size)
    if not 0 <= artefact_rate <= 1:
        raise UserError(f"artefact rate {artefact_rate}: out of range; expected a probability between 0 and 1")
    simulator = SIMULATORS[scene]
    law, probabilities = canonical_law(law, scene), law_probabilities(law, scene)
    rng = generator(scene, law, seed, "outcome")
    is_artefact = rng.random() < artefact_rate
    kind = simulator.artefacts[int(rng.integers(len(simulator.artefacts)))]
    outcome = draw(probabilities, rng)
    if simulator.natural_outcome is not None and law == "sim_calibrated":
        outcome = simulator.natural_outcome(generator(scene, law, seed, "motion"))
    truth = Truth(scene, law, seed, None if is_artefact else outcome, kind if is_artefact else None)
    take = Take(truth.outcome, truth.artefact, generator(scene, law, seed, "motion"))
    return truth, _all_frames(simulator, take, size)


def first_frame(scene: str, size: Size) -> Frame:
    """The scene's conditioning frame: frame 0 of every simulation, whatever its law, seed, outcome or artefact."""
    check_size(size)
    return SIMULATORS[scene].first_frame(size)


def _all_frames(simulator: SceneSimulator, take: Take, size: Size) -> Iterator[Frame]:
    yield simulator.first_frame(size)
    yield from simulator.frames(take, size)


def check_size(size: Size) -> None:
    """Raises UserError for a size that the scenes cannot be drawn at."""
    width, height = size
    if height < 240 or width % 2 or height % 2 or not 1.6 <= width / height <= 1.9:
        raise UserError(f"size {width}x{height}: cannot be drawn; expected even numbers, about 16:9, at least 240 high")
