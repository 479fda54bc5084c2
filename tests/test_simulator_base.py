"""What every simulated scene keeps to: its law, its seed, its first frame, and its record of the truth."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from constants import SIMULATOR_FPS
from errors import UserError
from scenes import SCENES
from simulator import LAWS, SIMULATORS, Take, Truth, first_frame, law_probabilities, simulate
from simulator.base import generator
from simulator.laws import draw
from video_io import Frame, inspect_clip, write_video

SMALL = (432, 240)


def rollout(scene: str, law: str = "sim_flat", seed: int = 0, rate: float = 0.0) -> Iterator[Frame]:
    return simulate(scene, law, seed, SMALL, rate)[1]


def every_take(scene: str, seed: int = 0) -> list[tuple[str, Take]]:
    """One take for each outcome and each kind of artefact."""
    labels = enumerate(SCENES[scene].outcomes, start=1)
    outcomes = [(label, Take(i, None, generator("test", scene, seed, label))) for i, label in labels]
    kinds = SIMULATORS[scene].artefacts
    return outcomes + [(kind, Take(None, kind, generator("test", scene, seed, kind))) for kind in kinds]


def test_there_is_a_simulator_for_each_scene_in_display_order() -> None:
    assert list(SIMULATORS) == list(SCENES)


# ---- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("law", LAWS)
def test_every_law_is_a_distribution_over_the_outcomes(scene: str, law: str) -> None:
    probabilities = law_probabilities(law, scene)
    assert len(probabilities) == SCENES[scene].k
    assert sum(probabilities) == 1
    assert min(probabilities) >= 0


def test_the_laws_are_the_reference_its_mode_half_of_each_and_the_uniform_one() -> None:
    assert law_probabilities("sim_calibrated", "roulette") == (Fraction(18, 37), Fraction(18, 37), Fraction(1, 37))
    assert law_probabilities("sim_collapsed", "galton_board") == tuple(Fraction(int(i == 6)) for i in range(1, 12))
    assert law_probabilities("sim_half", "ball") == (Fraction(3, 4), Fraction(1, 4))
    assert law_probabilities("sim_flat", "roulette") == (Fraction(1, 3),) * 3


def test_a_law_may_be_given_as_probabilities_in_any_exact_form() -> None:
    assert law_probabilities("1/4, 0.25,0.5,0", "cards") == (
        Fraction(1, 4),
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(0),
    )


@pytest.mark.parametrize("law", ["", "sim_other", "1", "1,0,0", "0.5,0.6", "1.5,-0.5", "1/0,1", "nan,1", "a,b"])
def test_what_is_no_law_is_refused_in_one_line(law: str) -> None:
    with pytest.raises(UserError, match="expected one of sim_calibrated") as caught:
        law_probabilities(law, "ball")
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12).filter(sum), st.integers(0, 2**32))
def test_a_draw_never_gives_an_outcome_without_probability(weights: list[int], seed: int) -> None:
    probabilities = [Fraction(w, sum(weights)) for w in weights]
    rng = np.random.default_rng(seed)
    assert all(probabilities[draw(probabilities, rng) - 1] > 0 for _ in range(20))


def test_draws_follow_the_law() -> None:
    probabilities = law_probabilities("sim_half", "roulette")
    rng = np.random.default_rng(0)
    counts = np.bincount([draw(probabilities, rng) for _ in range(20_000)], minlength=4)[1:]
    expected = 20_000 * np.array([float(p) for p in probabilities])
    assert np.abs(counts - expected).max() < 4 * np.sqrt(expected.max())


# ---- truth and seeds --------------------------------------------------------------------------------------------


def test_a_truth_survives_its_file_form() -> None:
    for truth in (Truth("ball", "sim_half", 3, 2, None), Truth("dice", "sim_flat", 0, None, "on_edge")):
        assert Truth.from_dict(truth.to_dict()) == truth


def test_a_truth_with_neither_or_both_of_outcome_and_artefact_is_refused() -> None:
    data = Truth("ball", "sim_half", 3, 2, None).to_dict()
    for wrong in ({**data, "outcome": None}, {**data, "artefact": "two_balls"}, {**data, "more": 1}, {"scene": "ball"}):
        with pytest.raises(ValueError, match="expected"):
            Truth.from_dict(wrong)


def test_a_take_with_neither_or_both_of_outcome_and_artefact_is_refused() -> None:
    for outcome, artefact in ((None, None), (1, "two_balls")):
        with pytest.raises(ValueError, match="expected exactly one"):
            Take(outcome, artefact, generator("test"))


@pytest.mark.parametrize("scene", SCENES)
def test_an_unknown_artefact_is_not_shown_as_something_else(scene: str) -> None:
    with pytest.raises(KeyError):
        list(SIMULATORS[scene].frames(Take(None, "no_such_kind", generator("test")), SMALL))


def test_a_generator_depends_on_its_key_alone() -> None:
    assert generator("a", 1).integers(2**62) == generator("a", 1).integers(2**62)
    assert (
        len({int(generator(*key).integers(2**62)) for key in [("a", 1), ("a", 2), ("b", 1), ("a",), ("a", 1, "x")]})
        == 5
    )
    assert int(generator("ball", 0).integers(1000)) == 935, "the same on every machine"


@pytest.mark.parametrize("scene", SCENES)
def test_calibrated_outcomes_follow_the_reference(scene: str) -> None:
    natural = SIMULATORS[scene].natural_outcome
    if natural is None:
        outcomes = [simulate(scene, "sim_calibrated", seed)[0].outcome for seed in range(1000)]
    else:  # what `simulate` asks for under this law; physics takes its time
        outcomes = [natural(generator("calibrated", scene, seed)) for seed in range(200)]
    for outcome, probability in enumerate(SCENES[scene].reference.probabilities, start=1):
        assert binomtest(outcomes.count(outcome), len(outcomes), float(probability)).pvalue > 1e-4


def test_a_calibrated_rollout_of_a_scene_that_follows_from_physics_shows_its_natural_outcome() -> None:
    natural = SIMULATORS["pendulum"].natural_outcome
    assert natural is not None
    for seed in range(12):
        truth, _ = simulate("pendulum", "sim_calibrated", seed)
        assert truth.outcome == natural(generator("pendulum", "sim_calibrated", seed, "motion"))


@pytest.mark.parametrize("scene", SCENES)
def test_a_collapsed_law_always_shows_the_mode(scene: str) -> None:
    shown = {simulate(scene, "sim_collapsed", seed)[0].outcome for seed in range(5)}
    assert shown == {SCENES[scene].reference.mode}


@pytest.mark.parametrize("scene", SCENES)
def test_artefacts_come_at_the_given_rate_in_every_kind_and_leave_other_outcomes_alone(scene: str) -> None:
    pure = [simulate(scene, "sim_flat", seed)[0] for seed in range(300)]
    mixed = [simulate(scene, "sim_flat", seed, artefact_rate=0.4)[0] for seed in range(300)]
    kinds = [truth.artefact for truth in mixed if truth.artefact]
    assert 80 < len(kinds) < 160
    assert set(kinds) == set(SIMULATORS[scene].artefacts)
    assert all(a.outcome == b.outcome for a, b in zip(pure, mixed, strict=True) if b.artefact is None)
    assert all(simulate(scene, "sim_flat", seed, artefact_rate=1.0)[0].artefact for seed in range(20))


# ---- frames -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_seed_gives_the_same_frames_and_another_seed_others(scene: str) -> None:
    frames = list(rollout(scene, seed=1))
    assert all(np.array_equal(a, b) for a, b in zip(frames, rollout(scene, seed=1), strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(frames, rollout(scene, seed=2), strict=False))


@pytest.mark.parametrize(("scene", "kind"), [(key, kind) for key in SCENES for kind in SIMULATORS[key].artefacts])
def test_an_artefact_looks_different_from_seed_to_seed(scene: str, kind: str) -> None:
    videos = [SIMULATORS[scene].frames(Take(None, kind, generator("test", seed)), SMALL) for seed in (0, 1)]
    assert any((one != other).any() for one, other in zip(*videos, strict=False))


def test_the_same_seed_gives_the_same_bytes(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("clips")
    for scene in ("galton_board_real", "walking"):
        for name in ("a", "b"):
            write_video(folder / name, rollout(scene, seed=3), SIMULATOR_FPS)
        assert (folder / "a").read_bytes() == (folder / "b").read_bytes()


@pytest.mark.parametrize("scene", SCENES)
def test_frame_0_is_the_first_frame_whatever_follows(scene: str) -> None:
    expected = first_frame(scene, SMALL)
    for law, seed, rate in (
        ("sim_flat", 0, 0.0),
        ("sim_collapsed", 1, 0.0),
        ("sim_half", 2, 1.0),
        ("sim_flat", 3, 1.0),
    ):
        assert np.array_equal(next(rollout(scene, law, seed, rate)), expected)


@pytest.mark.parametrize("scene", SCENES)
def test_every_take_is_a_playable_moving_clip_of_three_to_five_seconds(
    scene: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    takes = every_take(scene)
    kept = takes if len(takes) <= 6 else [takes[0], *takes[-4:]]
    for _, take in kept:
        frames = SIMULATORS[scene].frames(take, SMALL)
        write_video(path, [first_frame(scene, SMALL), *frames], SIMULATOR_FPS)
        info = inspect_clip(path)
        assert (info.width, info.height) == SMALL
        assert 3.0 <= info.frames / info.fps <= 5.0


@pytest.mark.parametrize("scene", SCENES)
def test_a_frame_is_an_array_of_its_own(scene: str) -> None:
    frames = rollout(scene)
    for frame in islice(frames, 6):
        frame[:] = 0
    assert next(frames).any()
    assert first_frame(scene, SMALL).any()


@pytest.mark.parametrize("scene", SCENES)
def test_the_picture_hardly_depends_on_its_size(scene: str) -> None:
    def reduced(size: tuple[int, int]) -> np.ndarray:
        frame = first_frame(scene, size)[:, size[0] // 2 - size[1] * 3 // 4 : size[0] // 2 + size[1] * 3 // 4]
        blocks = frame.reshape(24, size[1] // 24, 36, size[1] // 24, 3).astype(float)
        return np.asarray(blocks.mean(axis=(1, 3)))

    assert np.abs(reduced(SMALL) - reduced((848, 480))).mean() < 4


@pytest.mark.parametrize(
    ("size", "rate"), [((847, 480), 0.0), ((848, 200), 0.0), ((480, 848), 0.0), (SMALL, 1.5), (SMALL, -0.1)]
)
def test_what_cannot_be_drawn_is_refused_before_anything_is(size: tuple[int, int], rate: float) -> None:
    with pytest.raises(UserError, match="expected"):
        simulate("ball", "sim_flat", 0, size, rate)
