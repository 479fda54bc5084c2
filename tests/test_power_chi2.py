import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import power_chi2 as script
from constants import BINOMIAL_10, COIN, DIE, ROULETTE_COLOUR, SUITS
from exact_multinomial import null_distribution
from paths import ANALYSIS, PAPER
from records import read_published
from scenes import SCENES
from tables import fixed


@pytest.fixture
def results() -> Any:
    return json.loads((ANALYSIS / "results/power_chi2.json").read_text())


def test_the_published_table_is_reproduced_up_to_one_last_digit(results: Any) -> None:
    exact = near = 0
    for row in read_published(PAPER / "table5_power.csv"):
        for scene in row["scenes"].split("|"):
            for n in ("32", "16"):
                printed, found = row[f"min_tv_n{n}"], fixed(results["scenes"][scene]["published"][n]["min_tv"], 2)
                exact += found == printed
                near += abs(round(100 * float(found)) - round(100 * float(printed))) == 1
    assert (exact, near) == (17, 1)


def test_the_true_size_of_the_published_rule_for_a_coin_is_that_of_the_binomial(results: Any) -> None:
    # 16 tosses: the quantile is |heads - 8| = 4.
    size = 2 * sum(math.comb(16, heads) for heads in range(12, 17)) / 2**16
    assert results["scenes"]["ball"]["published"]["16"]["size"] == pytest.approx(size, rel=1e-9)
    assert fixed(size, 3) == "0.077"


def test_a_test_of_exact_level_keeps_its_level_and_the_published_rule_does_not(results: Any) -> None:
    for scene in results["scenes"].values():
        for test in ("chi2", "tv"):
            assert all(row["size"] <= 0.05 for row in scene[test].values())
    sizes = [scene["published"][n]["size"] for scene in results["scenes"].values() for n in ("16", "32")]
    assert max(sizes) > 0.075


def test_power_reaches_the_target_at_the_smallest_detectable_contamination(results: Any) -> None:
    for members in results["groups"]:
        curves, row = results["curves"][members[0]], results["scenes"][members[0]]
        for test in script.TESTS:
            power = np.interp(row[test]["32"]["min_tv"], curves["tv_of_epsilon"], curves[test]["32"])
            # Simulated power has a standard error of 0.006, and bisection stops within 0.001 of epsilon.
            assert power == pytest.approx(0.8, abs=0.03), (members, test)


def test_a_smaller_sample_detects_less(results: Any) -> None:
    for scene in results["scenes"].values():
        for test in script.TESTS:
            assert scene[test]["32"]["min_tv"] < scene[test]["16"]["min_tv"]


@pytest.mark.parametrize("reference", [COIN, SUITS, DIE, ROULETTE_COLOUR, BINOMIAL_10])
def test_the_published_critical_value_is_a_statistic_that_can_occur(reference: Any) -> None:
    # The quantile of a large discrete sample falls between two values only by a rare accident.
    critical = script.published_critical(reference, 8)
    cut = null_distribution(reference, 8, "chi2").cut_at(critical)
    assert cut.value == pytest.approx(critical, rel=1e-9)


def test_scenes_that_share_a_reference_and_an_outcome_share_their_numbers(results: Any) -> None:
    assert sorted(scene for members in results["groups"] for scene in members) == sorted(SCENES)
    for members in results["groups"]:
        assert all(results["scenes"][scene] == results["scenes"][members[0]] for scene in members)


def test_the_figures_show_the_results(results: Any) -> None:
    figure, exact = script.draw(results), script.draw_exact(results)
    for ax, beside, members in zip(figure.axes, exact.axes, results["groups"], strict=True):
        curves = results["curves"][members[0]]
        shown = {line.get_label(): line.get_ydata() for line in ax.lines}
        for n in ("8", "16", "24", "32"):
            assert np.allclose(shown[f"N = {n}"], curves["published"][n])
        shown = {line.get_label(): line.get_ydata() for line in beside.lines}
        for test, title in script.TESTS.items():
            assert np.allclose(shown[f"{title}, N = 32"], curves[test]["32"])


def test_a_selection_is_printed_and_not_written(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--analysis", str(analysis), "--scene", "walking"]) == 0
    printed = capsys.readouterr().out
    assert "Walking" in printed and "Dice" not in printed and "Ball fork" not in printed
    assert not (analysis / "results").exists()
