"""What a script writes: under its own stem, all of it or nothing, and nothing at all for a selection."""

from pathlib import Path

import pytest

from common import snapshot
from errors import UserError
from figures import new_figure
from outputs import Outputs, read_results, stem_of
from tables import Column, Table

TABLE = Table("Caption", [Column("a")], [["1"]])


def filled(analysis: Path, *, print_only: bool = False) -> Outputs:
    outputs = Outputs(analysis, "somewhere/compute_thing.py", print_only=print_only)
    outputs.results({"x": 0.5})
    outputs.table(TABLE)
    outputs.table(TABLE, "_more.v1")
    figure = new_figure(1, 1)
    figure.subplots().plot([0, 1])
    outputs.figure(figure, "_dice")
    return outputs


def test_the_stem_is_the_scripts_without_its_verb() -> None:
    assert stem_of("/x/compute_chi2.py") == "chi2"
    assert stem_of("make_scatter_grid.py") == "scatter_grid"
    assert stem_of("analyze_rollouts.py") == "analyze_rollouts"


def test_everything_goes_to_its_folder_under_its_stem(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path).finish()
    assert set(snapshot(tmp_path)) == {
        "results/thing.json",
        "tables/thing.md",
        "tables/thing.tex",
        "tables/thing_more.v1.md",
        "tables/thing_more.v1.tex",
        "figures/thing_dice.pdf",
        "figures/thing_dice.png",
    }
    printed = capsys.readouterr().out
    assert printed.count("**Caption**") == 2
    assert printed.endswith(f"wrote 7 files thing* to figures/, results/, tables/ of {tmp_path.name}/\n")


def test_nothing_is_written_before_the_end(tmp_path: Path) -> None:
    filled(tmp_path)
    assert snapshot(tmp_path) == {}


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    filled(tmp_path).finish()
    first = snapshot(tmp_path)
    filled(tmp_path).finish()
    assert snapshot(tmp_path) == first


def test_figures_hold_no_date_and_no_version(tmp_path: Path) -> None:
    filled(tmp_path).finish()
    pdf, png = (tmp_path / f"figures/thing_dice.{kind}" for kind in ("pdf", "png"))
    for mark in (b"CreationDate", b"Producer", b"Creator", b"atplotlib"):
        assert mark not in pdf.read_bytes()
    assert b"Software" not in png.read_bytes() and b"tIME" not in png.read_bytes()


def test_a_selection_is_printed_and_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(tmp_path, print_only=True).finish()
    assert snapshot(tmp_path) == {}
    printed = capsys.readouterr().out
    assert "**Caption**" in printed and printed.endswith("(a selection: nothing written)\n")


@pytest.mark.parametrize("folder", ["results", "tables", "figures"])
def test_one_folder_that_cannot_be_written_leaves_the_others_as_they_were(tmp_path: Path, folder: str) -> None:
    filled(tmp_path).finish()
    for path in (tmp_path / folder).iterdir():
        path.unlink()
    (tmp_path / folder).rmdir()
    (tmp_path / folder).write_text("a file where a folder must be")
    before = snapshot(tmp_path)
    outputs = filled(tmp_path)
    outputs.results({"x": 0.25})
    with pytest.raises(UserError, match=rf"{folder}/thing.*: cannot write: .*; expected a writable folder"):
        outputs.finish()
    assert snapshot(tmp_path) == before


def test_the_folder_of_outcomes_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none: no such folder; expected the folder of the outcome files"):
        Outputs(tmp_path / "none", "x.py")


def test_results_of_another_stage_are_read_back(tmp_path: Path) -> None:
    filled(tmp_path).finish()
    assert read_results(tmp_path, "compute_thing.py") == {"x": 0.5}


def test_missing_results_name_the_script_to_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"thing\.json: no such file; expected the results of make_thing\.py"):
        read_results(tmp_path, "make_thing.py")


@pytest.mark.parametrize(
    ("text", "found"), [("{}", "no 'cells'"), ("[]", "no object at the top"), ("null", "no object")]
)
def test_results_of_another_shape_are_refused_by_name(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "results" / "chi2.json"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(UserError, match=f"chi2.json: {found}.*run it again"):
        read_results(tmp_path, "compute_chi2.py")["cells"]
