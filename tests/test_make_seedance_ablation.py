import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import make_seedance_ablation
from paths import ANALYSIS, PAPER
from records import read_published
from tables import fixed, p_text


@pytest.fixture
def results() -> Any:
    return json.loads((ANALYSIS / "results/seedance_ablation.json").read_text())


def test_every_published_figure_is_reproduced_to_its_last_digit(results: Any) -> None:
    for row in read_published(PAPER / "table9_resolution.csv"):
        for arm in ("480", "720"):
            cell = results["cells"][row["scene"]][f"{arm}p"]
            assert fixed(cell["rho"], 2) == row[f"rho_{arm}"]
            assert fixed(cell["tv"], 3) == row[f"tv_{arm}"]
            assert ("" if cell["p"] is None else p_text(cell["p"])) == row[f"p_{arm}"]


def test_correction_never_makes_a_p_value_smaller(results: Any) -> None:
    cells = [cell for row in results["cells"].values() for cell in row.values()]
    tested = [cell for cell in cells if cell["p"] is not None]
    assert len(tested) == results["n_tests"] == 16
    assert all(cell["p"] <= cell["q"] <= 1 for cell in tested)
    assert all(cell["q"] is None and cell["n_valid"] <= 3 for cell in cells if cell["p"] is None)


def test_the_figure_shows_every_value_of_the_results(results: Any) -> None:
    figure = make_seedance_ablation.draw(results)
    for ax, quantity in zip(figure.axes, ("rho", "tv", "score"), strict=True):
        for points, arm in zip(ax.collections, ("480p", "720p"), strict=True):
            shown = np.asarray(points.get_offsets())[:, 0].tolist()
            expected = [row[arm][quantity] for row in results["cells"].values()]
            assert all(math.isclose(a, b) for a, b in zip(shown, expected, strict=True))


def test_the_correction_of_a_selection_is_that_of_the_whole_table(
    analysis: Path, results: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_seedance_ablation.main(["--analysis", str(analysis), "--scene", "roulette"]) == 0
    printed = capsys.readouterr().out
    assert "Dice" not in printed
    assert p_text(results["cells"]["roulette"]["480p"]["q"]) in printed
    assert not (analysis / "figures").exists()


def test_a_missing_cell_is_an_error_that_names_its_file(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (analysis / "seedance720/dice_seedance_bins.json").unlink()
    assert make_seedance_ablation.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert "seedance720/dice_seedance_bins.json: no such file" in error and error.count("\n") == 1
    assert not (analysis / "results").exists()
