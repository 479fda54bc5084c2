"""The page shows the models that were asked for and no others, lowest mnTV first, in sentences from the results."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import make_results as script
from common import STAGES, STUDIES, snapshot
from models import PUBLISHED
from outputs import stem_of
from scenes import SCENES
from tables import Entry

INTERVAL = {"low": 0.1, "high": 0.2}
UNKNOWN = {"low": None, "high": None}


@pytest.fixture
def made(committed: Path, tmp_path: Path) -> Path:
    """What the other scripts wrote, without outcomes and without the page."""
    for name in ("results", "tables"):
        shutil.copytree(committed / name, tmp_path / "analysis" / name)
    return tmp_path / "analysis"


def edit(analysis: Path, name: str, change: Any) -> None:
    path = analysis / "results" / f"{stem_of(name)}.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def refused(analysis: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    before = snapshot(analysis)
    assert script.main(["--analysis", str(analysis), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert snapshot(analysis) == before
    return captured.err


def inputs(scores: dict[str, float]) -> dict[str, Any]:
    """Results of models with these mnTVs: nothing scorable but the dice, half of them, with a verdict by χ² alone."""
    untested: dict[str, Any] = {"tested": False}
    tested = {"tested": True, "tests": {"chi2_exact": {"significant": True}, "tv_exact": {"significant": False}}}
    return {
        "compute_tv_band.py": {
            "cells": {s: {m: {"n": 32, "n_valid": 16 * (s == "dice")} for m in scores} for s in SCENES}
        },
        "compute_chi2.py": {"cells": {s: dict.fromkeys(scores, tested if s == "dice" else untested) for s in SCENES}},
        "compute_mntv_ci.py": {
            "models": {
                m: {
                    "mntv": value,
                    "percentile": INTERVAL,
                    "corrected": UNKNOWN if m == "mine" else INTERVAL,
                    "probability_best": None if m == "mine" else 0.25,
                }
                for m, value in scores.items()
            }
        },
    }


def test_every_evaluating_stage_is_an_input_or_made_from_one() -> None:
    stages = {f"{s.script}.py" for s in STAGES if "models" in s.options and not {"alone", "key"} & s.options}
    assert stages == set(script.EVALUATING)


def test_the_lowest_mntv_comes_first() -> None:
    rows = script.leaderboard(inputs({"wan": 0.5, "mine": 0.25, "veo31": 0.75}), ["wan", "mine", "veo31"])
    assert [row["model"] for row in rows] == ["mine", "wan", "veo31"]
    assert rows[0]["scorability"] == 16 / (9 * 32)
    assert (rows[0]["tested"], rows[0]["significant"]) == (1, {"chi2_exact": 1, "tv_exact": 0})
    table = script.leaderboard_table(rows)
    assert table.rows[0] == [
        "1",
        "mine★",
        Entry("0.25", bold=True),
        "[0.10, 0.20]",
        "n.e.",
        "n.e.",
        "0.06",
        "1 / 0 of 1",
    ]
    assert table.rows[1] == [
        "2",
        "WAN-2.7",
        Entry("0.50"),
        "[0.10, 0.20]",
        "[0.10, 0.20]",
        "0.25",
        "0.06",
        "1 / 0 of 1",
    ]
    assert table.notes[-1].startswith("★ not one of the six published models")


def test_the_star_is_explained_only_where_there_is_one() -> None:
    table = script.leaderboard_table(script.leaderboard(inputs({"wan": 0.5}), ["wan"]))
    assert "★" not in "".join(table.notes)


@pytest.mark.parametrize("name", script.EVALUATING)
def test_results_without_a_model_that_is_shown_name_the_script_to_run(
    name: str, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for other in script.EVALUATING:
        if other != name:
            edit(made, other, lambda data: next(iter(data["cells"].values())).update(mine={}))
    error = refused(made, capsys, "--models", "mine")
    assert f"results/{stem_of(name)}.json: results without mine; expected those of wan, " in error
    assert f"run {name} --models mine\n" in error


@pytest.mark.parametrize("name", script.EVALUATING)
def test_results_of_another_run_with_further_models_are_not_shown(
    name: str, made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(made, name, lambda data: next(iter(data["cells"].values())).update(other={}))
    error = refused(made, capsys)
    assert f"{stem_of(name)}.json: results with other; expected those of {', '.join(PUBLISHED)}: run {name}\n" in error


def test_results_that_are_not_there_name_their_script(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made / "results" / "chi2.json").unlink()
    assert "chi2.json: no such file; expected the results of compute_chi2.py: run it first" in refused(made, capsys)


def test_a_table_that_is_not_there_is_an_error(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (made / "tables" / "chi2_exact.md").unlink()
    assert "chi2_exact.md: no such file; expected the tables of the earlier stages" in refused(made, capsys)


def test_what_is_not_always_made_is_shown_where_it_is_there(made: Path) -> None:
    for path in [*(made / "tables").glob("controls.*"), *(made / "tables").glob("study_*")]:
        path.unlink()
    for path in (made / "tables").glob("validate_judge*"):
        path.unlink()
    assert script.main(["--analysis", str(made)]) == 0
    page = (made / "RESULTS.md").read_text()
    assert "## Controls" not in page and "truth of simulated clips" not in page and "(figures/study_" not in page
    (made / "tables" / "controls.md").write_text("the controls\n")
    (made / "tables" / "study_controls.md").write_text("the laws\n")
    (made / "tables" / "validate_judge.md").write_text("the truth\n")
    assert script.main(["--analysis", str(made)]) == 0
    page = (made / "RESULTS.md").read_text()
    assert "## The pixels judge against the truth of simulated clips\n\nthe truth\n" in page
    assert "## Controls\n\nthe controls\n\nthe laws\n\n![" in page and "(figures/study_controls.png)\n" in page


def test_every_figure_that_the_page_shows_exists(made: Path, committed: Path) -> None:
    assert script.main(["--analysis", str(made)]) == 0
    page = (made / "RESULTS.md").read_text()
    shown = [line.partition("](")[2].removesuffix(")") for line in page.splitlines() if line.startswith("![")]
    assert len(shown) > 15 and len(set(shown)) == len(shown)
    assert all((committed / name).is_file() for name in shown)


def test_the_reasons_of_changed_verdicts_are_counted() -> None:
    reasons = {"a": "first", "b": "second", "c": "third"}
    cells: list[dict[str, Any]] = [{}, {"verdict_code": "b"}, {"verdict_code": "a"}, {"verdict_code": "b"}]
    assert script.changed_verdicts(cells, reasons) == (
        "3 of them change their verdict with the statistic (below): in 2 second; in 1 first."
    )
    assert script.changed_verdicts([{}], reasons) == "No cell changes its verdict with the statistic."


def test_the_page_names_what_the_pipeline_does_not_recompute(made: Path) -> None:
    assert script.main(["--analysis", str(made)]) == 0
    line = next(x for x in (made / "RESULTS.md").read_text(encoding="utf-8").splitlines() if x.startswith("Made by"))
    assert STUDIES and all(f"`{stage.name}`" in line for stage in STUDIES)
    assert "simulates" in line
