"""Nine outcome files make somebody else's model a row, a grid, a family of its own and pairwise differences; nothing
published changes."""

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from common import STAGES, copied_outcomes, script, snapshot, write_model
from models import PUBLISHED
from outputs import stem_of
from paths import ANALYSIS
from scenes import SCENES

# A model that is all null in one scene and all the same in another.
MINE = {scene: [seed * 7 % SCENES[scene].k + 1 if seed % 5 else None for seed in range(32)] for scene in SCENES} | {
    "lottery": [None] * 32,
    "ball": [1] * 32,
}
# A model that did what a published one did must get that one's numbers.
ORIGINAL = "seedance"
FURTHER = ["mine", "twin"]
# What the driver hands further models to. The distributions' nine figures take long and are one panel more; the report
# is made from the others' results.
EVALUATING = [
    stage.script
    for stage in STAGES
    if "models" in stage.options and not {"alone", "key"} & stage.options and stage.script != "analyze_rollouts"
]


def evaluate(analysis: Path, *further: str) -> dict[str, Any]:
    """Script -> the results that it writes when it is asked for these further models."""
    options = ["--models", *further] if further else []
    for name in EVALUATING:
        assert script(name).main(["--analysis", str(analysis), *options]) == 0
    return {name: json.loads((analysis / "results" / f"{stem_of(name)}.json").read_text()) for name in EVALUATING}


@pytest.fixture(scope="module")
def folder(committed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published outcomes with those of two further models."""
    folder = tmp_path_factory.mktemp("further") / "analysis"
    shutil.copytree(committed, folder)
    write_model(folder, "mine", MINE)
    write_model(folder, "twin", copied_outcomes(ANALYSIS, ORIGINAL))
    return folder


@pytest.fixture(scope="module")
def published(folder: Path) -> dict[str, Any]:
    return evaluate(folder)


@pytest.fixture(scope="module")
def further_results(folder: Path, published: dict[str, Any]) -> dict[str, Any]:
    # After the published ones, whose files it overwrites: the tables in the folder are those with the further models.
    return evaluate(folder, *FURTHER)


def changes(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Where `after` is not `before` with something added: a key of an object, or an entry at the end of a list."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from changes(value, after.get(key, "nothing"), f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(after) >= len(before):
        for index, value in enumerate(before):
            yield from changes(value, after[index], f"{where}[{index}]")
    elif json.dumps(before) != json.dumps(after):
        yield f"{where}: {before} became {after}"


def test_a_change_is_found_and_an_addition_is_none() -> None:
    before = {"a": [1, {"b": 0.5}]}
    assert list(changes(before, {"a": [1, {"b": 0.5, "c": 1}, 2], "d": 3})) == []
    assert list(changes(before, {"a": [1, {"b": 0.25}]})) == [".a[1].b: 0.5 became 0.25"]
    assert list(changes(before, {"a": [1]})) == [".a: [1, {'b': 0.5}] became [1]"]
    assert list(changes(before, {})) == [".a: [1, {'b': 0.5}] became nothing"]


def test_the_evaluating_scripts_were_found() -> None:
    assert {"compute_tv_band", "compute_chi2", "compute_mntv_ci", "compute_mcar_sensitivity"} <= set(EVALUATING)


@pytest.mark.parametrize("name", EVALUATING)
def test_adding_a_model_changes_no_published_number(
    name: str, published: dict[str, Any], further_results: dict[str, Any]
) -> None:
    assert list(changes(of_each_model(published[name]), of_each_model(further_results[name]))) == []


def of_each_model(results: dict[str, Any]) -> dict[str, Any]:
    """Results without what ranks all the models shown, which a further one does change; pairs under their names."""
    found = {key: value for key, value in results.items() if key != "not_told_apart"}
    if "pairs" in found:
        found["pairs"] = {f"{pair['a']} - {pair['b']}": pair for pair in found["pairs"]}
        for model in found["models"]:
            found["models"][model] = found["models"][model] | {"probability_best": "among all the models shown"}
    return found


def test_the_further_models_have_every_scene_of_the_grid_and_their_mean(further_results: dict[str, Any]) -> None:
    bands = further_results["compute_tv_band"]
    assert set(bands["mntv"]) == {*PUBLISHED, *FURTHER}
    for scene in SCENES:
        assert set(bands["cells"][scene]) == {*PUBLISHED, *FURTHER}
    scores = [bands["cells"][scene]["mine"]["score"] for scene in SCENES]
    assert bands["mntv"]["mine"] == pytest.approx(sum(scores) / 9, rel=1e-9)
    assert bands["cells"]["lottery"]["mine"]["score"] == 1
    assert bands["cells"]["ball"]["mine"]["tv"] == 0.5


def test_a_model_that_did_the_same_gets_the_same_numbers(further_results: dict[str, Any]) -> None:
    bands = further_results["compute_tv_band"]
    assert bands["mntv"]["twin"] == bands["mntv"][ORIGINAL]
    assert all(bands["cells"][scene]["twin"] == bands["cells"][scene][ORIGINAL] for scene in SCENES)
    tests = further_results["compute_chi2"]["cells"]
    for scene in SCENES:
        twin, original = tests[scene]["twin"], tests[scene][ORIGINAL]
        assert twin["tested"] == original["tested"]
        if twin["tested"]:
            assert {n: t["p"] for n, t in twin["tests"].items()} == {n: t["p"] for n, t in original["tests"].items()}


def test_each_further_model_is_a_family_of_its_own(further_results: dict[str, Any]) -> None:
    chi2 = further_results["compute_chi2"]
    assert [family["models"] for family in chi2["families"]] == [list(PUBLISHED), ["mine"], ["twin"]]
    assert [family["n_tests"] for family in chi2["families"]][:2] == [44, 8]
    # The same p-values are corrected for fewer tests than among the 44.
    test = chi2["cells"]["dice"]["twin"]["tests"]["chi2_monte_carlo"]
    assert test["p_bonferroni"] == pytest.approx(chi2["families"][2]["n_tests"] * test["p"], rel=1e-9)
    assert not chi2["cells"]["lottery"]["mine"]["tested"]


def test_every_pair_of_models_has_its_pairwise_difference(further_results: dict[str, Any]) -> None:
    intervals = further_results["compute_mntv_ci"]
    pairs = {(pair["a"], pair["b"]): pair for pair in intervals["pairs"]}
    assert set(pairs) == set(itertools.combinations([*PUBLISHED, *FURTHER], 2))
    for model in PUBLISHED:
        difference = intervals["models"][model]["mntv"] - intervals["models"]["mine"]["mntv"]
        assert pairs[model, "mine"]["corrected"]["value"] == pytest.approx(difference, abs=1e-9)
    twins = pairs[ORIGINAL, "twin"]
    for kind in ("percentile", "corrected"):
        assert twins[kind]["value"] == 0 and twins[kind]["low"] < 0 < twins[kind]["high"], kind


def test_a_scene_without_spread_is_counted_and_not_estimated(further_results: dict[str, Any]) -> None:
    intervals = further_results["compute_mntv_ci"]
    assert intervals["models"]["mine"]["corrected"]["degenerate_cells"] == 2
    for scene in ("lottery", "ball"):
        cell = intervals["cells"][scene]["mine"]
        assert (cell["low"], cell["high"]) == (None, None) and "cannot be estimated" in cell["reason"]


def test_the_tables_show_the_further_models_and_say_that_their_family_is_their_own(
    folder: Path, further_results: dict[str, Any]
) -> None:
    assert further_results
    for name in (
        "tv_band",
        "tv_band_score",
        "mntv_ci",
        "mntv_ci_differences",
        "mcar_sensitivity_mntv",
        "chi2",
        "chi2_exact",
    ):
        for kind in ("md", "tex"):
            text = (folder / "tables" / f"{name}.{kind}").read_text()
            assert "mine" in text and "twin" in text, name
    for name in ("chi2", "chi2_adjusted"):
        assert "mine, a family of its own: " in (folder / "tables" / f"{name}.md").read_text()


def test_a_further_model_alone_is_one_row_of_the_same_numbers(
    folder: Path, further_results: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    before = snapshot(folder)
    assert script("compute_mcar_sensitivity").main(["--analysis", str(folder), "--model", "mine"]) == 0
    printed = capsys.readouterr().out
    row = next(
        line for line in (folder / "tables" / "mcar_sensitivity_mntv.md").read_text().splitlines() if "mine" in line
    )
    assert row in printed and "WAN" not in printed
    assert snapshot(folder) == before


def test_files_of_a_model_that_was_not_asked_for_are_pointed_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script("analyze_rollouts").main(["--analysis", str(folder), "--scene", "dice", "--models", "twin"]) == 0
    printed = capsys.readouterr().out
    assert "twin valid" in printed
    assert "outcome files of further models, not evaluated: mine (add --models mine)" in printed


@pytest.mark.parametrize("name", EVALUATING)
def test_a_model_with_a_missing_scene_gets_an_error_that_names_the_scene(
    name: str, analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_model(analysis, "mine", {scene: bins for scene, bins in MINE.items() if scene != "walking"})
    before = snapshot(analysis)
    assert script(name).main(["--analysis", str(analysis), "--models", "mine"]) == 2
    error = capsys.readouterr().err
    assert "walking_mine_bins.json: no such file; expected the 32 outcomes of scene walking, model mine" in error
    assert error.count("\n") == 1
    assert snapshot(analysis) == before
