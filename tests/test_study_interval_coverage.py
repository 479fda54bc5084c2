"""The study of the intervals' coverage."""

import math
from pathlib import Path

import numpy as np
import pytest
from tqdm import tqdm

import study_interval_coverage as study
from constants import COVERAGE_ACCEPTED, INTERVAL_LEVEL, N_ROLLOUTS
from intervals import Outcomes, corrected_estimate
from models import PUBLISHED
from outputs import read_results
from paths import ANALYSIS
from scenes import SCENES


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study of a few replications, and of few cases."""
    monkeypatch.setattr(study, "COVERAGE_REPLICATIONS", 30)
    monkeypatch.setattr(study, "COVERAGE_BOOTSTRAP_REPLICATES", 40)
    monkeypatch.setattr(study, "BLOCK", 16)
    monkeypatch.setattr(study, "COVERAGE_SCORABLE", (0.5,))
    monkeypatch.setattr(study, "COVERAGE_COLLAPSED", ())


def test_the_committed_study_is_of_full_size_and_the_corrected_interval_covers_in_every_case() -> None:
    results = read_results(ANALYSIS, "study_interval_coverage.py")
    assert results["replications"] >= 2000
    assert set(results["cases"]) == {"calibrated", "half_collapsed", *PUBLISHED}
    low, high = COVERAGE_ACCEPTED
    for case, result in results["cases"].items():
        assert low <= result["corrected"]["coverage"] <= high, case
    assert results["outside"] == []


def test_beyond_the_required_cases_the_interval_covers_as_its_module_says() -> None:
    beyond = read_results(ANALYSIS, "study_interval_coverage.py")["beyond"]
    assert set(beyond) == set(study.further_cases(ANALYSIS))
    for case, result in beyond.items():
        covers = result["corrected"]["coverage"]
        assert covers > 0.98 if case == "collapsed_0.99" else 0.92 <= covers <= 0.98, case


@pytest.mark.parametrize("case", ["calibrated", "runway45", "scorable_0.2", "collapsed_0.3"])
def test_fewer_replications_give_the_committed_coverage_up_to_monte_carlo_error(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "COVERAGE_REPLICATIONS", 500)
    # Another stream than that of the committed study: agreement is not a repetition.
    monkeypatch.setattr(study, "COVERAGE_SEED", 1)
    results = read_results(ANALYSIS, "study_interval_coverage.py")
    truth = (study.required_cases(ANALYSIS) | study.further_cases(ANALYSIS))[case]
    with_bootstrap = case == "runway45"
    found = study.study(case, truth, tqdm(disable=True), percentile=with_bootstrap)
    committed = (results["cases"] | results["beyond"])[case]
    assert found["expected_mntv"] == pytest.approx(committed["expected_mntv"], abs=1e-9)
    for scheme in ("corrected", "percentile") if with_bootstrap else ("corrected",):
        error = math.hypot(found[scheme]["standard_error"], committed[scheme]["standard_error"])
        assert found[scheme]["coverage"] == pytest.approx(committed[scheme]["coverage"], abs=4 * error), scheme
        assert found[scheme]["mean_width"] == pytest.approx(committed[scheme]["mean_width"], rel=0.02), scheme


def test_the_published_interval_almost_never_contains_the_zero_of_a_calibrated_operator() -> None:
    calibrated = read_results(ANALYSIS, "study_interval_coverage.py")["cases"]["calibrated"]
    assert calibrated["expected_mntv"] == 0
    assert calibrated["percentile"]["coverage"] < 0.1


def test_true_models_are_distributions_over_outcomes_and_null() -> None:
    for truth in (study.required_cases(ANALYSIS) | study.further_cases(ANALYSIS)).values():
        assert list(truth) == list(SCENES)
        for scene, distribution in truth.items():
            assert distribution.shape == (SCENES[scene].k + 1,)
            assert distribution.sum() == pytest.approx(1)
    assert study.collapsed(0.5)["cards"] == pytest.approx([0.625, 0.125, 0.125, 0.125, 0])
    assert study.collapsed(0.5)["galton_board"][5] == pytest.approx(0.5 + 252 / 2048)
    assert study.partly_scorable(0.2)["cards"] == pytest.approx([0.05, 0.05, 0.05, 0.05, 0.8])


def test_a_smoothed_model_is_certain_of_nothing_and_keeps_the_weight_of_its_rollouts() -> None:
    never = {"ball": np.array([1.0, 0.0, 0.0])}
    assert study.smoothed(never)["ball"] == pytest.approx(np.array([32 + 1 / 3, 1 / 3, 1 / 3]) / 33)


def test_intervals_are_counted_as_containing_above_or_below() -> None:
    found = study.coverage(np.array([0.0, 0.2, 0.4, 0.5]), np.array([0.4, 0.6, 0.8, 0.6]), 0.3)
    assert (found["coverage"], found["above"], found["below"]) == (0.5, 0.5, 0)
    assert found["standard_error"] == pytest.approx(0.25)
    assert found["mean_width"] == pytest.approx(0.325)


@pytest.mark.usefixtures("short")
def test_the_study_judges_the_interval_that_the_leaderboard_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = study.calibrated()
    rng = np.random.default_rng(0)
    drawn = {scene: rng.multinomial(N_ROLLOUTS, q) for scene, q in truth.items()}
    # Every replication of the study sees the same rollouts: what it then calls the width is that of one interval.
    monkeypatch.setattr("study_interval_coverage.np.random.default_rng", lambda seed: OneSample([*drawn.values()]))
    result = study.study("calibrated", truth, tqdm(disable=True))
    cells = [
        Outcomes(tuple(counts[:-1].tolist()), N_ROLLOUTS, SCENES[scene].reference) for scene, counts in drawn.items()
    ]
    value = sum(cell.score for cell in cells) / len(cells)
    shown = corrected_estimate(value, cells, INTERVAL_LEVEL).interval
    assert shown is not None
    assert result["corrected"]["mean_width"] == pytest.approx(shown.high - shown.low)
    assert result["corrected"]["coverage"] == float(shown.low <= 0 <= shown.high)


class OneSample:
    """A generator whose draws of a cell are always the same ones, and whose bootstraps are honest."""

    def __init__(self, samples: list[np.ndarray]) -> None:
        self.samples = samples
        self.bootstrap = np.random.Generator(np.random.PCG64(1))

    def multinomial(self, n: int, p: np.ndarray, size: int | tuple[int, int]) -> np.ndarray:
        if isinstance(size, tuple):
            return self.bootstrap.multinomial(n, p, size=size)
        return np.tile(self.samples.pop(0), (size, 1))


@pytest.mark.usefixtures("short")
def test_a_case_gives_the_same_numbers_again_and_different_ones_from_another() -> None:
    first, second = (study.study("wan", study.calibrated(), tqdm(disable=True)) for _ in range(2))
    assert first == second
    assert first != study.study("veo31", study.calibrated(), tqdm(disable=True))


@pytest.mark.usefixtures("short")
def test_the_script_writes_its_outputs_and_fails_outside_the_accepted_range(
    analysis: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study, "COVERAGE_ACCEPTED", (0.0, 1.0))
    assert study.main(["--analysis", str(analysis)]) == 0
    for name in ("results/{}.json", "tables/{}.md", "tables/{}.tex", "figures/{}.pdf", "figures/{}.png"):
        assert (analysis / name.format("study_interval_coverage")).stat().st_size > 0
    assert "Calibrated operator" in capsys.readouterr().out
    monkeypatch.setattr(study, "COVERAGE_ACCEPTED", (2.0, 3.0))
    assert study.main(["--analysis", str(analysis)]) == 1
    assert "corrected interval outside" in capsys.readouterr().err
