"""Bad input to the real scripts: one line that names the file, what was found and what was expected; exit 2; nothing
written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from common import ANALYSES, script, selections, snapshot
from paths import ROOT

Rollouts = list[dict[str, Any]]
Break = Callable[[dict[str, Any]], Any]

# A file that a script reads, where it is not the usual one.
READ_INSTEAD = {"make_dice_ablation_figures": "dice_cfg_6_0_cosmos3_super_bins.json"}
# Scripts that read outcomes, each with a file that it reads.
READERS = {
    name: READ_INSTEAD.get(name, "dice_seedance_bins.json")
    for name in ANALYSES
    if name != "compute_controls"  # reads no published outcomes: see test_compute_controls.py
    and "read_study(" in (ROOT / f"{name}.py").read_text(encoding="utf-8")
}
EXHAUSTIVE = ["analyze_rollouts", "compute_tv_band"]
HOSTILE_KEYS = ["../../etc/passwd", "/tmp/x", "a b", "a\nb", "", ".", "ключ", "x" * 65, "$(reboot)"]


def fails(name: str, argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which the script refuses these arguments."""
    before = snapshot(tmp_path)
    code = script(name).main(argv)
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.count("\n") == 1 and captured.err.endswith("\n")
    assert captured.err.startswith(f"{name}.py: ")
    assert "expected" in captured.err
    assert snapshot(tmp_path) == before
    return captured.err


def rollouts(change: Callable[[Rollouts], Rollouts]) -> Break:
    return lambda data: data | {"rollouts": change(data["rollouts"])}


def first_bin(outcome: object) -> Break:
    return rollouts(lambda rows: [rows[0] | {"bin": outcome}, *rows[1:]])


# How the content of dice_seedance_bins.json is broken, what is found there, and what was expected.
BROKEN: dict[str, tuple[Break, str, str]] = {
    "empty": (lambda _: "", "not JSON at line 1 column 1", "the 32 outcomes of scene dice, model seedance"),
    "truncated": (lambda data: json.dumps(data)[:-20], "not JSON at line 1", "the 32 outcomes of scene dice"),
    "not json": (lambda _: "<html>404</html>", "not JSON at line 1 column 1", "the 32 outcomes of scene dice"),
    "a list": (lambda data: [data], "the file is [{", "an object with model, num_bins, rollouts, scene"),
    "null": (lambda _: None, "the file is None", "an object with model, num_bins, rollouts, scene"),
    "no scene": (lambda d: {k: v for k, v in d.items() if k != "scene"}, "the file has no scene", "an object with"),
    "wrong scene": (lambda d: d | {"scene": "cards"}, "scene is 'cards'", "'dice'"),
    "wrong model": (lambda d: d | {"model": "wan"}, "model is 'wan'", "'seedance'"),
    "model not text": (lambda d: d | {"model": ["seedance"]}, "model is ['seedance']", "'seedance'"),
    "wrong num_bins": (lambda d: d | {"num_bins": 20}, "num_bins is 20", "6"),
    "num_bins as text": (lambda d: d | {"num_bins": "6"}, "num_bins is '6'", "6"),
    "num_bins as float": (lambda d: d | {"num_bins": 6.0}, "num_bins is 6.0", "6"),
    "bin 0": (first_bin(0), "seed 0: bin 0", "an integer 1..6 or null"),
    "bin k + 1": (first_bin(7), "seed 0: bin 7", "an integer 1..6 or null"),
    "bin below 0": (first_bin(-1), "seed 0: bin -1", "an integer 1..6 or null"),
    "bin as text": (first_bin("6"), "seed 0: bin '6'", "an integer 1..6 or null"),
    "bin between": (first_bin(6.5), "seed 0: bin 6.5", "an integer 1..6 or null"),
    "bin as float": (first_bin(6.0), "seed 0: bin 6.0", "an integer 1..6 or null"),
    "bin true": (first_bin(True), "seed 0: bin True", "an integer 1..6 or null"),
    "bin as list": (first_bin([6]), "seed 0: bin [6]", "an integer 1..6 or null"),
    "duplicate seed": (rollouts(lambda r: [*r[:-1], r[3]]), "seed 3 stands twice", "each of 0..31 once"),
    "missing seed": (rollouts(lambda r: r[:5] + r[6:]), "31 rollouts, seed 5 missing", "32, each of 0..31 once"),
    "fewer rollouts": (rollouts(lambda r: r[:30]), "30 rollouts, seed 30, 31 missing", "32, each of 0..31 once"),
    "more rollouts": (rollouts(lambda r: [*r, {"seed": 32, "bin": 1}]), "rollout 32: seed 32", "an integer 0..31"),
    "no rollouts": (rollouts(lambda _: []), "0 rollouts, seed 0, 1,", "32, each of 0..31 once"),
    "rollouts not a list": (lambda d: d | {"rollouts": {"0": 1}}, "rollouts is {'0': 1}", "a list of 32 objects"),
    "seed as text": (rollouts(lambda r: [{"seed": "0", "bin": 1}, *r[1:]]), "seed '0'", "an integer 0..31"),
    "seed true": (rollouts(lambda r: [r[0], {"seed": True, "bin": 1}, *r[2:]]), "seed True", "an integer 0..31"),
    "seed below 0": (rollouts(lambda r: [{"seed": -1, "bin": 1}, *r[1:]]), "seed -1", "an integer 0..31"),
    "rollout not an object": (rollouts(lambda r: [1, *r[1:]]), "rollout 0 is 1", "an object with bin, seed"),
    "rollout without bin": (
        rollouts(lambda r: [{"seed": 0}, *r[1:]]),
        "rollout 0 has no bin",
        "an object with bin, seed",
    ),
    "unknown key": (lambda d: d | {"Bins": []}, "unknown key Bins", "an object with model, num_bins, rollouts, scene"),
}


def test_the_readers_were_found() -> None:
    assert set(EXHAUSTIVE) < set(READERS)


@pytest.mark.parametrize("name", EXHAUSTIVE)
@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_outcome_file_is_named_with_what_was_found_and_expected(
    name: str, how: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, found, expected = BROKEN[how]
    path = analysis / "dice_seedance_bins.json"
    broken = change(json.loads(path.read_text()))
    path.write_text(broken if isinstance(broken, str) else json.dumps(broken))
    error = fails(name, ["--analysis", str(analysis)], tmp_path, capsys)
    assert error.startswith(f"{name}.py: {path}: ")
    assert found in error
    assert expected in error[error.index("; expected ") :]


@pytest.mark.parametrize("name", READERS)
def test_every_script_that_reads_outcomes_refuses_a_truncated_file(
    name: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = analysis / READERS[name]
    path.write_bytes(path.read_bytes()[:-3])
    error = fails(name, ["--analysis", str(analysis)], tmp_path, capsys)
    assert f"{path}: not JSON at line" in error


@pytest.mark.parametrize("name", READERS)
def test_every_script_that_reads_outcomes_refuses_a_missing_file(
    name: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (analysis / READERS[name]).unlink()
    error = fails(name, ["--analysis", str(analysis)], tmp_path, capsys)
    assert f"{analysis / READERS[name]}: no such file; expected the 32 outcomes of scene dice" in error


@pytest.mark.parametrize("name", READERS)
def test_every_script_that_reads_outcomes_refuses_an_empty_folder(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    error = fails(name, ["--analysis", str(tmp_path / "empty")], tmp_path, capsys)
    assert str(tmp_path / "empty") in error


@pytest.mark.parametrize("name", ANALYSES)
def test_every_script_refuses_a_folder_that_is_not_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = fails(name, ["--analysis", str(tmp_path / "nowhere")], tmp_path, capsys)
    assert f"{tmp_path / 'nowhere'}: no such folder; expected the folder of the outcome files" in error


@pytest.mark.parametrize("name", [name for name in ANALYSES if "--scene" in selections(name)])
def test_an_unknown_scene_is_named_with_the_known_ones(
    name: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = fails(name, ["--analysis", str(analysis), "--scene", "coin"], tmp_path, capsys)
    assert "--scene coin: unknown scene; expected one of galton_board_real, galton_board, ball" in error


@pytest.mark.parametrize("name", [name for name in ANALYSES if "--models" in selections(name)])
@pytest.mark.parametrize("option", ["--models", "--model"])
def test_a_hostile_model_key_is_refused(
    name: str, option: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for key in HOSTILE_KEYS:
        error = fails(name, ["--analysis", str(analysis), option, key], tmp_path, capsys)
        assert f"model {' '.join(repr(key).split())}: not a usable key; expected letters, digits" in error


def test_an_option_in_place_of_a_model_is_refused(
    analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = fails("compute_tv_band", ["--analysis", str(analysis), "--models=--force"], tmp_path, capsys)
    assert "model '--force': not a usable key" in error


@pytest.mark.parametrize("model", ["real_wan", "cfg_6_0_cosmos3_super"])
def test_a_model_key_that_spells_the_file_of_another_cell_is_refused(
    model: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # galton_board + real_wan is galton_board_real + wan; dice + cfg_6_0_cosmos3_super is a cell of another study.
    scene = "galton_board" if model == "real_wan" else "dice"
    argv = ["--analysis", str(analysis), "--scene", scene, "--model", model]
    error = fails("compute_tv_band", argv, tmp_path, capsys)
    assert f"{scene}_{model}_bins.json: scene is '" in error


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("compute_mcar_sensitivity", "results"),
        ("compute_mcar_sensitivity", "tables"),
        ("make_config_table", "results"),
        ("validate_extraction", "tables"),
    ],
)
def test_an_output_that_cannot_be_written_leaves_the_others_unwritten(
    name: str, folder: str, analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (analysis / folder).write_text("a file where a folder must be")
    error = fails(name, ["--analysis", str(analysis)], tmp_path, capsys)
    assert f"{analysis / folder}/" in error and "cannot write: " in error and "expected a writable folder" in error


def test_a_misnamed_outcome_file_is_not_passed_over(
    analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (analysis / "dise_mine_bins.json").write_text("{}")
    error = fails("analyze_rollouts", ["--analysis", str(analysis)], tmp_path, capsys)
    assert "dise_mine_bins.json: belongs to no scene; expected {scene}_{model}_bins.json with scene one of" in error


def test_results_that_are_not_there_name_the_script_to_run(
    analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = fails("compare_with_paper", ["--analysis", str(analysis)], tmp_path, capsys)
    assert (
        "results/config_table.json: no such file; expected the results of make_config_table.py: run it first" in error
    )


def test_published_values_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script("compare_with_paper"), "PAPER", tmp_path)
    error = fails("compare_with_paper", [], tmp_path, capsys)
    assert f"{tmp_path / 'table1_settings.csv'}: cannot read: No such file" in error
