import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recompute_dur5s
from paths import ANALYSIS, PAPER
from records import read_published
from studies import STUDIES
from tables import fixed


@pytest.fixture
def results() -> Any:
    return json.loads((ANALYSIS / "results/recompute_dur5s.json").read_text())


def test_every_published_figure_is_reproduced_to_its_last_digit(results: Any) -> None:
    for row in read_published(PAPER / "table10_duration.csv"):
        model = results["models"][row["model"]]
        assert fixed(model["mntv_benchmark"], 2) == row["mntv_benchmark"]
        assert ("" if model["mntv_5s"] is None else fixed(model["mntv_5s"], 2)) == row["mntv_5s"]


def test_an_absent_cell_counts_as_unscorable_and_leaves_the_comparison_of_like_with_like(results: Any) -> None:
    happyhorse = results["models"]["happyhorse"]
    assert (fixed(happyhorse["mntv_benchmark"], 3), fixed(happyhorse["mntv_5s"], 3)) == ("0.540", "0.587")
    both = happyhorse["both"]
    assert both["scenes"] == 8
    assert (fixed(both["mntv_benchmark"], 3), fixed(both["mntv_5s"], 3)) == ("0.483", "0.535")
    assert [(cell["scene"], cell["model"]) for cell in results["absent"]] == [("pendulum", "happyhorse")]
    assert results["cells"]["pendulum"]["happyhorse"]["5s"]["score"] == 1


def test_a_model_with_every_cell_has_the_same_means_both_ways(results: Any) -> None:
    for model in ("wan", "seedance"):
        row = results["models"][model]
        assert row["both"] == {"scenes": 9, **{name: row[name] for name in ("mntv_benchmark", "mntv_5s")}}


def test_every_published_model_is_run_again_or_has_a_reason_why_not(results: Any) -> None:
    study = STUDIES["dur5s"]
    assert {*study.models, *study.reuses_main, *study.unavailable} == set(results["models"])
    kinds = {model: row["kind"] for model, row in results["models"].items()}
    assert all(kinds[model] == "rerun" for model in study.models)
    assert all(results["models"][m]["reason"] for m, kind in kinds.items() if kind != "rerun")


def test_the_figure_shows_every_score_and_marks_the_absent_cell(results: Any) -> None:
    figure = recompute_dur5s.draw(results)
    for ax, model in zip(figure.axes, STUDIES["dur5s"].models, strict=True):
        shown = {points.get_label(): np.asarray(points.get_offsets())[:, 0] for points in ax.collections}
        pairs = [row[model] for row in results["cells"].values()]
        assert np.allclose(shown["benchmarked length"], [pair["benchmark"]["score"] for pair in pairs])
        assert np.allclose(shown["5 s"], [pair["5s"]["score"] for pair in pairs if pair["5s"]["note"] != "absent"])
        assert len(shown) == 2 + (model == "happyhorse")


def test_a_missing_file_that_is_not_recorded_as_absent_is_an_error(
    analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (analysis / "dur5s/dice_wan_bins.json").unlink()
    assert recompute_dur5s.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert "dur5s/dice_wan_bins.json: no such file" in error and error.count("\n") == 1


def test_a_selection_prints_its_cells_and_no_mean(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert recompute_dur5s.main(["--analysis", str(analysis), "--scene", "cards"]) == 0
    printed = capsys.readouterr().out
    assert "Cards" in printed and "Dice" not in printed and "mnTV" not in printed
    assert not (analysis / "results").exists()
