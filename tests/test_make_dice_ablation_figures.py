import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import BarContainer

import make_dice_ablation_figures as script
from models import PUBLISHED
from paths import ANALYSIS, PAPER
from records import read_published
from tables import fixed, p_text


@pytest.fixture
def results() -> Any:
    return json.loads((ANALYSIS / "results/dice_ablation_figures.json").read_text())


def test_the_published_guidance_sweep_is_reproduced_to_its_last_digit(results: Any) -> None:
    published = read_published(PAPER / "table11_cfg.csv")
    assert len(published) == len(results["guidance"])
    for row in published:
        found = results["guidance"][row["guidance"]]
        shown = (fixed(found["rho"], 2), fixed(found["tv"], 2), p_text(found["p"]), str(found["modal_face"]))
        assert shown == (row["rho"], row["tv"], row["p"], row["modal_face"])


def test_the_published_compliance_is_reproduced_to_its_last_digit(results: Any) -> None:
    for row in read_published(PAPER / "table12_compliance.csv"):
        assert fixed(results["compliance"][row["model"]]["compliance_pct"], 1) == row["compliance_pct"]


def test_the_run_at_the_default_guidance_is_not_the_main_cell(results: Any) -> None:
    at_default = results["guidance"][results["default_guidance"]]
    assert (at_default["agreeing_seeds"], at_default["n"]) == (7, 32)
    assert "agree on 7 of 32 seeds" in (ANALYSIS / "tables/dice_ablation_figures_guidance.md").read_text()


def test_a_tie_for_the_modal_face_goes_to_the_smaller_one(results: Any) -> None:
    tied = results["guidance"]["1.0"]
    assert tied["counts"][0] == tied["counts"][1] == max(tied["counts"])
    assert tied["modal_face"] == 1


def test_correction_never_makes_a_p_value_smaller(results: Any) -> None:
    assert all(row["p"] <= row["q"] <= 1 for row in results["guidance"].values())


def test_compliance_is_the_diagonal_of_the_confusion_over_the_valid_rollouts(results: Any) -> None:
    for row in results["compliance"].values():
        confusion = np.array(row["confusion"])
        assert confusion.shape == (6, 7)
        assert confusion.sum() == row["rollouts"] == 30
        assert np.trace(confusion) == row["hits"]
        assert confusion[:, :6].sum() == row["valid"]
        low, high = row["interval_pct"]
        assert low < row["compliance_pct"] < high


def test_a_model_without_a_valid_rollout_has_no_compliance(analysis: Path) -> None:
    for face in range(1, 7):
        path = analysis / f"dice_face_{face}_wan_bins.json"
        data = json.loads(path.read_text())
        data["rollouts"] = [{"seed": seed, "bin": None} for seed in range(5)]
        path.write_text(json.dumps(data))
    row = script.compliance(analysis, "wan")
    assert (row["compliance_pct"], row["interval_pct"], row["valid"]) == (None, None, 0)
    assert script.main(["--analysis", str(analysis)]) == 0
    assert "| WAN-2.7 | 0/0 | — | — |" in (analysis / "tables/dice_ablation_figures_faces.md").read_text()


def test_the_guidance_figure_shows_the_results(results: Any) -> None:
    figure = script.draw_guidance(results)
    rho, tv, reference, *panels = figure.axes
    sweep = list(results["guidance"].values())
    assert np.allclose(rho.lines[0].get_ydata(), [row["rho"] for row in sweep])
    assert np.allclose(tv.lines[0].get_ydata(), [row["tv"] for row in sweep])
    assert tv.lines[1].get_ydata() == [results["main_cell"]["tv"]]
    for ax, shares in zip(
        (reference, *panels), [1 / 6, *(np.array(r["counts"]) / r["n_valid"] for r in sweep)], strict=True
    ):
        bars = next(c for c in ax.containers if isinstance(c, BarContainer))
        assert np.allclose([bar.get_height() for bar in bars], shares)


def test_the_matrices_show_the_results(results: Any) -> None:
    figure = script.draw_faces(results)
    assert len(figure.axes) == len(PUBLISHED)
    for ax, row in zip(figure.axes, results["compliance"].values(), strict=True):
        assert np.asarray(ax.images[0].get_array()).tolist() == row["confusion"]
        assert sum(int(text.get_text()) for text in ax.texts) == row["rollouts"]


def test_a_selection_is_printed_and_not_written(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["--analysis", str(analysis), "--model", "wan"]) == 0
    printed = capsys.readouterr().out
    assert "WAN-2.7" in printed and "Veo" not in printed and "Guidance" not in printed
    assert not (analysis / "results").exists()


def test_a_missing_cell_is_an_error_that_names_its_file(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (analysis / "dice_cfg_7_5_cosmos3_super_bins.json").unlink()
    assert script.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert "dice_cfg_7_5_cosmos3_super_bins.json: no such file" in error and error.count("\n") == 1
