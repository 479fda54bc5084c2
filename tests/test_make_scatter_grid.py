import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import make_scatter_grid
import marker_places
from common import copied_outcomes, write_model
from models import PUBLISHED, resolve
from paths import PAPER
from records import read_published
from scenes import SCENES
from tables import fixed


@pytest.fixture
def results(committed: Path) -> Any:
    return json.loads((committed / "results/scatter_grid.json").read_text())


def markers(ax: Any) -> dict[str, tuple[float, float]]:
    """Model -> where its marker stands in a panel."""
    places = {points.get_label(): np.asarray(points.get_offsets()) for points in ax.collections}
    return {model: (float(xy[0, 0]), float(xy[0, 1])) for model, xy in places.items() if model in PUBLISHED}


def test_every_published_scorability_and_tv_is_plotted(results: Any) -> None:
    for row in read_published(PAPER / "table2_rho_tv.csv"):
        cell = results["cells"][row["scene"]][row["model"]]
        assert fixed(cell["rho"], 2) == row["rho"]
        assert ("" if cell["tv"] is None else fixed(cell["tv"], 2)) == row["tv"]


def test_no_marker_hides_another_and_each_stands_at_its_own_tv(results: Any) -> None:
    figure = make_scatter_grid.draw(results, resolve(PUBLISHED))
    for ax, row in zip(figure.axes, results["cells"].values(), strict=True):
        places = markers(ax)
        assert set(places) == set(PUBLISHED)
        for model, (x, y) in places.items():
            assert y == pytest.approx(marker_places.STRIP if row[model]["tv"] is None else row[model]["tv"])
            assert abs(x - row[model]["rho"]) < 0.12
        pairs = [(a, b) for a in places for b in places if a < b]
        assert not any(marker_places.overlap(places[a], places[b]) for a, b in pairs)


def test_a_cell_without_a_valid_rollout_is_a_hollow_marker(results: Any) -> None:
    figure = make_scatter_grid.draw(results, resolve(PUBLISHED))
    hollow = [
        (scene, points.get_label())
        for scene, ax in zip(results["cells"], figure.axes, strict=True)
        for points in ax.collections
        if points.get_label() in PUBLISHED and len(points.get_facecolor()) == 0
    ]
    assert hollow == [("pendulum", "wan"), ("pendulum", "happyhorse"), ("pendulum", "runway45")]


def test_a_band_at_fewer_valid_rollouts_is_drawn_at_the_cell(results: Any) -> None:
    figure = make_scatter_grid.draw(results, resolve(PUBLISHED))
    for ax, row in zip(figure.axes, results["cells"].values(), strict=True):
        lines = [np.asarray(line.get_data()) for line in ax.lines if line.get_marker() == "_"]
        expected = {cell["rho"]: cell["null_band"] for cell in row.values() if cell["null_band"]}
        assert {float(x[0]): y.tolist() for x, y in lines} == expected


def test_the_shaded_band_is_that_of_a_fully_scorable_cell(results: Any) -> None:
    assert list(results["bands"]) and set(results["bands"]) == set(SCENES)
    for scene, band in results["bands"].items():
        for cell in results["cells"][scene].values():
            if cell["n_valid"] == 32:
                assert cell["null_band"] == band


@given(st.lists(st.tuples(st.integers(0, 32), st.integers(0, 32)), min_size=1, max_size=8))
def test_markers_are_moved_sideways_only_and_never_overlap(cells: list[tuple[int, int]]) -> None:
    points = [(n_valid / 32, tv / 32) for n_valid, tv in cells]
    places = marker_places.placed(points)
    assert places[0] == points[0]
    assert [y for _, y in places] == [y for _, y in points]
    low, high = marker_places.LIMITS
    assert all(low <= x <= high for x, _ in places)
    assert not any(marker_places.overlap(a, b) for i, a in enumerate(places) for b in places[:i])


def test_a_further_model_gets_a_marker_of_its_own(analysis: Path) -> None:
    write_model(analysis, "mine", copied_outcomes(analysis, "seedance"))
    assert make_scatter_grid.main(["--analysis", str(analysis), "--models", "mine"]) == 0
    found = json.loads((analysis / "results/scatter_grid.json").read_text())
    figure = make_scatter_grid.draw(found, resolve([*PUBLISHED, "mine"]))
    assert {"mine", *PUBLISHED} <= {points.get_label() for points in figure.axes[0].collections}
    assert "mine" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_missing_scene_is_an_error_that_names_its_file(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = copied_outcomes(analysis, "wan")
    del outcomes["lottery"]
    write_model(analysis, "mine", outcomes)
    assert make_scatter_grid.main(["--analysis", str(analysis), "--models", "mine"]) == 2
    error = capsys.readouterr().err
    assert "lottery_mine_bins.json: no such file" in error and error.count("\n") == 1
    assert not (analysis / "figures").exists()
