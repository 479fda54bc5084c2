"""Which results the report takes: those of one run, over the outcomes that are there now."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import make_report
import validate_extraction
from common import outcome_file
from files import write_json
from outputs import stem_of
from paths import ANALYSIS
from records import HumanLabel, read_human_labels, read_study, write_human_labels
from report import checks, inputs, page
from report.sources import SOURCES
from report_data import add_model, committed
from studies import STUDIES


def refusal(analysis: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that make_report.py refuses this folder with."""
    assert make_report.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and not (analysis / "report.html").exists()
    return error


@pytest.fixture
def analysis(tmp_path: Path) -> Path:
    return committed(tmp_path)


# --- other outcomes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "scene", "model", "script"),
    [
        ("main", "dice", "veo31", "compute_tv_band.py"),
        ("seedance720", "cards", "seedance", "make_seedance_ablation.py"),
        ("dur5s", "dice", "wan", "recompute_dur5s.py"),
        ("cfg_1_5", "dice", "cosmos3_super", "make_dice_ablation_figures.py"),
        ("face_3", "dice", "runway45", "make_dice_ablation_figures.py"),
    ],
)
def test_results_of_other_outcomes_than_are_there_are_refused(
    analysis: Path, study: str, scene: str, model: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / STUDIES[study].bins_file(scene, model)
    cell = json.loads(path.read_text(encoding="utf-8"))
    rollout = cell["rollouts"][2]
    rollout["bin"] = 2 if rollout["bin"] != 2 else 3
    path.write_text(json.dumps(cell), encoding="utf-8")
    error = refusal(analysis, capsys)
    assert f"{scene}, {model}: [" in error and f"as the outcomes now are: run {script} again" in error


OLD: dict[str, Callable[[Any], None]] = {
    "tv": lambda cell: cell.update(counts=cell["counts"][::-1]),
    "chi2": lambda cell: cell.update(counts=cell["counts"][::-1]),
    "distributions": lambda cell: cell.update(counts=cell["counts"][::-1]),
    "sequential": lambda cell: cell.update(n_valid=cell["n_valid"] - 1),
    "intervals": lambda cell: cell.update(value=cell["value"] + 1e-6),
}


@pytest.mark.parametrize("field", OLD)
def test_the_script_whose_results_are_old_is_named(
    analysis: Path, field: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / "results" / f"{stem_of(SOURCES[field])}.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    OLD[field](found["cells"]["cards"]["wan"])
    path.write_text(json.dumps(found), encoding="utf-8")
    error = refusal(analysis, capsys)
    assert str(path) in error and "of cards, wan: " in error and f"run {SOURCES[field]} again" in error


def test_bounds_of_another_run_are_refused(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = analysis / "results" / "mcar_sensitivity.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    found["mntv"]["wan"]["reported"] += 0.01
    path.write_text(json.dumps(found), encoding="utf-8")
    assert "mnTV of wan: " in refusal(analysis, capsys)


@pytest.mark.parametrize("name", ["mntv", "scorability"])
def test_a_control_is_refused_whose_number_is_not_that_of_its_cells(
    analysis: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / "results" / "controls.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    found["controls"]["sim_calibrated"][name] -= 0.01
    path.write_text(json.dumps(found), encoding="utf-8")
    error = refusal(analysis, capsys)
    assert f"{name} of sim_calibrated: " in error and "run compute_controls.py again" in error


def test_controls_are_held_against_their_outcomes_where_these_are_there(
    analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    control = json.loads((analysis / "results" / "controls.json").read_text(encoding="utf-8"))
    heads, tails = control["controls"]["sim_calibrated"]["cells"]["ball"]["counts"]
    for outcomes, code in (([1] * heads + [2] * tails, 0), ([2] * heads + [1] * tails, 2)):
        cell = outcome_file("ball", "sim_calibrated", outcomes)
        write_json(analysis / STUDIES["controls"].bins_file("ball", "sim_calibrated"), cell)
        assert make_report.main(["--analysis", str(analysis)]) == code
    assert "counts of controls, ball, sim_calibrated: " in capsys.readouterr().err


def test_rates_of_other_labels_are_refused(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = analysis / "human_labels.json"
    labels = read_human_labels(path)
    write_human_labels(path, labels[:40], force=True)
    error = refusal(analysis, capsys)
    assert "validate_extraction.json: " in error and "run validate_extraction.py again" in error
    # As many as before, of which one says something else.
    first = labels[0]
    changed = HumanLabel(first.scene, first.model, first.seed, 1 if first.bin is None else None, first.study)
    write_human_labels(path, [changed, *labels[1:]], force=True)
    assert "run validate_extraction.py again" in refusal(analysis, capsys)


# --- validations --------------------------------------------------------------------------------------------------


def label(analysis: Path, name: str, scenes: tuple[str, ...]) -> None:
    """Four hand labels in each of these scenes, the first against the judge, and the rates that they give."""
    outcomes = read_study(analysis, "main")
    labels = [
        HumanLabel(scene, "wan", seed, outcome if seed else (None if outcome else 1))
        for scene in scenes
        for seed, outcome in enumerate(outcomes[scene, "wan"].bins[:4])
    ]
    path = analysis.parent / f"{name}.json"
    write_human_labels(path, labels)
    assert validate_extraction.main(["--analysis", str(analysis), "--labels", str(path)]) == 0


def test_labels_of_some_scenes_only_make_a_report(analysis: Path) -> None:
    label(analysis, "some", ("dice", "ball"))
    results = analysis / "results"
    (results / "validate_extraction.json").write_bytes((results / "validate_extraction_some.json").read_bytes())
    (analysis / "human_labels.json").write_bytes((analysis.parent / "some.json").read_bytes())
    assert make_report.main(["--analysis", str(analysis)]) == 0
    section, own, *_ = checks.judge_validations(inputs.read(analysis))
    assert [row[0] for row in section.table.rows] == ["Ball fork", "Dice", "All scenes"]
    assert section.sentence == own.sentence and "agree on 6 of 8 rollouts: 75.0 %" in own.sentence


def test_the_scene_of_least_agreement_is_named_with_its_agreements() -> None:
    results = inputs.read(ANALYSIS)
    rates = results.validations[0].scenes
    assert rates["cards"]["agree"] == min(row["agree"] for row in rates.values())
    expected = f"least on cards, {rates['cards']['agree']} of {rates['cards']['n']}."
    assert expected in checks.judge_validations(results)[0].sentence


def test_labels_of_ones_own_stand_on_the_page_with_their_name(analysis: Path) -> None:
    label(analysis, "main_anna", ("cards",))
    assert make_report.main(["--analysis", str(analysis)]) == 0
    text = (analysis / "report.html").read_text(encoding="utf-8")
    assert "The judge on the labels of main_anna" in text and 'id="judge_2"' in text
    assert "<code>python validate_extraction.py --labels analysis/labels/main_anna.json</code>" in text
    assert "Judge and person agree on 3 of 4 rollouts" in text
    assert 'data-csv="judge_validation_2"' in text


def test_the_rates_on_simulated_clips_are_a_section_of_their_own(analysis: Path) -> None:
    rates = analysis / "results" / "validate_judge.json"
    found = json.loads((analysis / "results" / "validate_extraction.json").read_text(encoding="utf-8"))
    rates.write_text(json.dumps(found | {"judge": "pixels", "judge_model": "<b>"}), encoding="utf-8")
    results = inputs.read(analysis)
    text = page.render(results, analysis, {}, {})
    assert "The pixels judge (&lt;b&gt;) on simulated clips" in text and "<code>python validate_judge.py</code>" in text
    assert "Judge and truth agree on" in text
    assert rates in results.files


# --- one run ------------------------------------------------------------------------------------------------------


def test_results_of_different_runs_are_refused_with_the_scripts_named(
    analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / "results" / "chi2.json"
    chi2 = path.read_bytes()
    add_model(analysis, "mine")
    path.write_bytes(chi2)
    assert make_report.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert "model mine is in the results of compute_chi2.py or of compute_tv_band.py, but not in both" in error
    assert error.count("\n") == 1 and not (analysis / "report.html").exists()


def test_missing_results_are_refused_with_the_script_to_run(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (analysis / "results" / "power_chi2.json").unlink()
    assert make_report.main(["--analysis", str(analysis)]) == 2
    assert "expected the results of power_chi2.py: run it first" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("chi2", "families", "wan in none of the families; expected each model in one"),
        ("chi2", "cells", "no cell; expected a value for each scene and model"),
        ("tv_band", "cells", "no cell; expected a value for each scene and model"),
        ("mcar_sensitivity", "mntv", "mntv is empty; expected values"),
        ("power_chi2", "groups", "groups is empty; expected values"),
        ("dice_ablation_figures", "compliance", "compliance is empty; expected values"),
        ("mntv_ci", "pairs", "; expected every two models"),
    ],
)
def test_results_that_hold_nothing_are_refused_with_the_file_named(
    analysis: Path, name: str, key: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / "results" / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(found | {key: type(found[key])()}), encoding="utf-8")
    assert make_report.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert f"{path}: " in error and message in error and error.count("\n") == 1
