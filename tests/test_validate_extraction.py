import json
from pathlib import Path
from typing import Any

import pytest

import validate_extraction
from common import snapshot
from paths import PAPER
from records import read_published


@pytest.fixture
def labels(analysis: Path) -> Path:
    return analysis / "human_labels.json"


def run(analysis: Path, *options: str) -> dict[str, Any]:
    assert validate_extraction.main(["--analysis", str(analysis), *options]) == 0
    rows: dict[str, Any] = json.loads((analysis / "results/validate_extraction.json").read_text())["scenes"]
    return rows


def test_every_published_count_is_reproduced(analysis: Path) -> None:
    rows = run(analysis)
    for published in read_published(PAPER / "table8_validation.csv"):
        scene = published.pop("scene")
        recomputed = {name: str(rows[scene][name.replace("human_", "reference_")]) for name in published}
        assert recomputed == published, scene


def test_the_counts_of_the_scenes_add_up_to_the_total(analysis: Path) -> None:
    rows = run(analysis)
    total = rows.pop("total")
    for name in ("n", "agree", "false_null", "missed_null", "wrong_label", "both_valid"):
        assert sum(row[name] for row in rows.values()) == total[name]
    assert total["n"] == total["agree"] + total["false_null"] + total["missed_null"] + total["wrong_label"]


def test_an_interval_holds_its_rate_and_is_never_of_zero_width(analysis: Path) -> None:
    rates = [rate for row in run(analysis).values() for rate in row["rates"].values() if rate is not None]
    assert len(rates) == 38
    assert all(rate["low"] <= rate["estimate"] <= rate["high"] and rate["low"] < rate["high"] for rate in rates)


def test_a_labelled_cell_without_outcomes_is_an_error_that_names_its_file(
    analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (analysis / "cards_veo31_bins.json").unlink()
    assert validate_extraction.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert "cards_veo31_bins.json: no such file" in error and error.count("\n") == 1
    assert not (analysis / "results").exists()


def test_labels_of_another_file_get_a_table_of_their_own(
    analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(analysis)
    published = snapshot(analysis)
    other = tmp_path / "anna.json"
    other.write_text(json.dumps({"labels": [{"scene": "dice", "model": "wan", "seed": 0, "label": None}]}))
    assert validate_extraction.main(["--analysis", str(analysis), "--labels", str(other)]) == 0
    rows = json.loads((analysis / "results/validate_extraction_anna.json").read_text())["scenes"]
    assert rows["total"]["n"] == 1
    assert rows["dice"]["missed_null"] == 1
    assert rows["cards"]["rates"]["agreement"] is None
    found = snapshot(analysis)
    assert {name: found[name] for name in published} == published
    assert set(found) - set(published) == {
        "results/validate_extraction_anna.json",
        "tables/validate_extraction_anna.md",
        "tables/validate_extraction_anna.tex",
    }
    capsys.readouterr()
    other.rename(tmp_path / "of anna.json")
    assert validate_extraction.main(["--analysis", str(analysis), "--labels", str(tmp_path / "of anna.json")]) == 2
    assert "--labels: file name 'of anna': not a usable key; expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "7"}, "label 0: label '7'; expected null or one of 1, 2, 3, 4, 5, 6"),
        ({"seed": 32}, "label 0: seed 32; expected an integer 0..31"),
        ({"scene": "coin"}, "label 0: scene 'coin'; expected one of galton_board_real"),
    ],
)
def test_a_bad_label_is_one_line_that_says_what_was_expected(
    analysis: Path, labels: Path, capsys: pytest.CaptureFixture[str], change: dict[str, object], message: str
) -> None:
    entry = {"scene": "dice", "model": "wan", "seed": 0, "label": "1"} | change
    labels.write_text(json.dumps({"labels": [entry]}))
    assert validate_extraction.main(["--analysis", str(analysis)]) == 2
    error = capsys.readouterr().err
    assert str(labels) in error and message in error and error.count("\n") == 1


def test_a_selection_is_printed_and_not_written(analysis: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validate_extraction.main(["--analysis", str(analysis), "--scene", "cards", "--model", "wan"]) == 0
    printed = capsys.readouterr().out
    assert "Cards" in printed and "Dice" not in printed
    assert not (analysis / "results").exists()


def test_a_model_without_a_label_is_an_error_that_names_those_with_one(
    analysis: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert validate_extraction.main(["--analysis", str(analysis), "--model", "mine"]) == 2
    error = capsys.readouterr().err
    assert "--model mine: no label in" in error and "expected one of cosmos3_super, " in error
    assert error.count("\n") == 1
