"""The study of the intervals' coverage."""

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
    """A study of a few replications."""
    monkeypatch.setattr(study, "COVERAGE_REPLICATIONS", 30)
    monkeypatch.setattr(study, "COVERAGE_BOOTSTRAP_REPLICATES", 40)
    monkeypatch.setattr(study, "BLOCK", 16)


def test_the_committed_study_is_of_full_size_and_the_corrected_interval_covers_in_every_case() -> None:
    results = read_results(ANALYSIS, "study_interval_coverage.py")
    assert results["replications"] >= 2000
    assert set(results["cases"]) == {"calibrated", "half_collapsed", *PUBLISHED}
    low, high = COVERAGE_ACCEPTED
    for case, result in results["cases"].items():
        assert low <= result["corrected"]["coverage"] <= high, case
    assert results["outside"] == []


def test_the_published_interval_almost_never_contains_the_zero_of_a_calibrated_operator() -> None:
    calibrated = read_results(ANALYSIS, "study_interval_coverage.py")["cases"]["calibrated"]
    assert calibrated["expected_mntv"] == 0
    assert calibrated["percentile"]["coverage"] < 0.1


def test_true_models_are_distributions_over_outcomes_and_null() -> None:
    for truth in (study.calibrated(), study.half_collapsed(), *study.fitted(ANALYSIS).values()):
        assert list(truth) == list(SCENES)
        for scene, distribution in truth.items():
            assert distribution.shape == (SCENES[scene].k + 1,)
            assert distribution.sum() == pytest.approx(1)
    assert study.half_collapsed()["cards"] == pytest.approx([0.625, 0.125, 0.125, 0.125, 0])
    assert study.half_collapsed()["galton_board"][5] == pytest.approx(0.5 + 252 / 2048)


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
