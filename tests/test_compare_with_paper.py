"""A wrong figure is found, whatever table it stands in, and nothing is counted that is not printed."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import compare_with_paper as script
from compare_with_paper import Comparison, number, numbers, text
from paths import PAPER
from records import read_published


@pytest.fixture
def results(committed: Path, tmp_path: Path) -> Path:
    """A copy of the committed results, to be broken."""
    return shutil.copytree(committed / "results", tmp_path / "analysis" / "results").parent


def change(analysis: Path, stem: str, path: str, value: Any) -> None:
    """Put a value into one of the results; `path` is its keys, with slashes between them."""
    file = analysis / "results" / f"{stem}.json"
    data = json.loads(file.read_text())
    *parents, last = path.split("/")
    place = data
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    assert last in place and place[last] != value
    place[last] = value
    file.write_text(json.dumps(data))


def run(analysis: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = script.main(["--analysis", str(analysis)])
    return code, capsys.readouterr().out.splitlines()


# What is wrong, in which results, and the line that says so.
WRONG = [
    ("config_table", "settings/wan/duration", "4 s", "Table 1 (settings), wan duration: printed 3 s, recomputed 4 s"),
    ("tv_band", "cells/dice/wan/rho", 0.9, "Table 2 (ρ, TV, mnTV), dice wan rho: printed 1.00, recomputed 0.90"),
    ("tv_band", "cells/dice/wan/tv", None, "Table 2 (ρ, TV, mnTV), dice wan tv: printed 0.68, recomputed none"),
    ("tv_band", "cells/pendulum/wan/tv", 0.5, "Table 2 (ρ, TV, mnTV), pendulum wan tv: printed none, recomputed 0.5"),
    ("tv_band", "mntv/wan", 0.586, "Table 2 (ρ, TV, mnTV), wan mntv: printed 0.58, recomputed 0.59"),
    (
        "mntv_ci",
        "models/wan/percentile/high",
        0.62,
        "Table 2 (ρ, TV, mnTV), wan ci_high: printed 0.63, recomputed 0.62",
    ),
    (
        "chi2",
        "cells/walking/wan/tests/chi2_monte_carlo/p",
        0.0298,
        "Table 3 (p-values), walking wan p: printed 0.0297, recomputed 0.0298",
    ),
    (
        "chi2",
        "cells/dice/wan/tests/chi2_monte_carlo/p",
        0.001,
        "Table 3 (p-values), dice wan p: printed <0.001, recomputed 0.001",
    ),
    ("tv_band", "cells/dice/wan/score", 0.7, "Table 4 (scores), dice wan score: printed 0.62, recomputed 0.70"),
    (
        "power_chi2",
        "scenes/walking/published/32/min_tv",
        0.262,
        "Table 5 (power), walking N=32: printed 0.24, recomputed 0.26",
    ),
    (
        "chi2",
        "cells/walking/wan/tests/chi2_monte_carlo/q",
        0.049,
        "Table 6 (adjusted p), walking wan q_bh: printed 0.047, recomputed 0.049",
    ),
    (
        "mcar_sensitivity",
        "cells/cards/wan/tv_best",
        0.2184,
        "Table 7 (missing outcomes), cards wan tv_best: printed 0.219, recomputed 0.218",
    ),
    ("mcar_sensitivity", "mntv/wan/best", 0.3, "Table 7 (missing outcomes), wan mntv_best: printed 0.318, recomputed"),
    (
        "validate_extraction",
        "scenes/ball/agree",
        18,
        "Table 8 (judge validation), ball agree: printed 17, recomputed 18",
    ),
    ("seedance_ablation", "cells/ball/720p/tv", 0.05, "Table 9 (resolution), ball tv_720: printed 0.048, recomputed"),
    (
        "recompute_dur5s",
        "models/veo31/mntv_5s",
        0.6,
        "Table 10 (duration), veo31 mntv_5s: printed none, recomputed 0.6",
    ),
    (
        "dice_ablation_figures",
        "guidance/1.5/modal_face",
        4,
        "Table 11 (guidance), 1.5 modal_face: printed 5, recomputed",
    ),
    (
        "dice_ablation_figures",
        "compliance/wan/compliance_pct",
        46.46,
        "Table 12 (compliance), wan compliance_pct: printed 46.4, recomputed 46.5",
    ),
    ("chi2", "families/0/n_tests", 45, "Text and captions, tested cells: printed 44, recomputed 45"),
]


@pytest.mark.parametrize(("stem", "path", "value", "said"), WRONG, ids=[said.partition(":")[0] for *_, said in WRONG])
def test_a_wrong_figure_is_a_miss_that_shows_both_values(
    results: Path, capsys: pytest.CaptureFixture[str], stem: str, path: str, value: Any, said: str
) -> None:
    change(results, stem, path, value)
    code, lines = run(results, capsys)
    assert code == 1
    assert any(line.startswith(said) and line.endswith("(miss)") for line in lines), lines
    assert not lines[-1].endswith(", 0 missed")


def test_every_table_has_a_wrong_figure_to_find() -> None:
    assert {title for title in script.TABLES if any(said.startswith(f"{title}, ") for *_, said in WRONG)} == {
        *script.TABLES
    }


@pytest.mark.parametrize(
    ("path", "note", "said"),
    [
        ("cells/cards/wan/note", "dagger", "cards wan note: printed none, recomputed dagger (miss)"),
        ("cells/pendulum/wan/note", "", "pendulum wan note: printed none_valid, recomputed none (miss)"),
    ],
)
def test_a_mark_too_many_or_missing_is_a_miss_though_no_figure(
    results: Path, capsys: pytest.CaptureFixture[str], path: str, note: str, said: str
) -> None:
    change(results, "tv_band", path, note)
    code, lines = run(results, capsys)
    assert code == 1
    assert f"Table 2 (ρ, TV, mnTV), {said}" in lines
    assert lines[-1].endswith("690 of 691 published figures match, 1 off by one last digit, 0 missed")


def test_nothing_is_counted_but_what_is_printed(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = run(results, capsys)
    assert code == 0
    found = json.loads((results / "results" / "compare_with_paper.json").read_text())
    cells = [
        (path.name, column, cell)
        for path in PAPER.glob("*.csv")
        for row in read_published(path)
        for column, cell in row.items()
        if column not in ("scene", "scenes", "model", "guidance", "what") and cell
    ]
    assert found["figures"] == sum(column != "note" for _, column, _ in cells)
    assert found["marks"] == sum(column == "note" for _, column, _ in cells)
    matching = found["figures"] - found["last_digit"] - found["misses"]
    assert lines[-1] == (
        f"{matching} of {found['figures']} published figures match, "
        f"{found['last_digit']} off by one last digit, {found['misses']} missed"
    )


def test_a_row_of_several_scenes_is_one_figure_in_which_all_must_agree(results: Path) -> None:
    agreeing = list(script.table_5(results))
    assert len(agreeing) == 12
    assert agreeing[0] == Comparison("ball, walking, pendulum N=32", "0.24", "0.24", "match")
    change(results, "power_chi2", "scenes/pendulum/published/32/min_tv", 0.3)
    assert list(script.table_5(results)) == [Comparison("pendulum N=32", "0.24", "0.30", "miss"), *agreeing[1:]]


@pytest.mark.parametrize(
    ("printed", "value", "recomputed", "verdict"),
    [
        ("0.58", 0.5849, "0.58", "match"),
        ("0.58", 0.5851, "0.59", "miss"),
        ("44", 44, "44", "match"),
        ("-0.04", -0.0376, "-0.04", "match"),
        ("0.00", -0.004, "0.00", "match"),
        ("0.04", -0.04, "-0.04", "miss"),
        ("<0.001", 0.00099, "0.00099", "match"),
        ("<0.001", 0.001, "0.001", "miss"),
        ("0.58", None, "none", "miss"),
        ("", 0.58, "0.58", "miss"),
        ("", None, "none", "match"),
    ],
)
def test_a_number_is_compared_at_the_decimals_with_which_it_is_printed(
    printed: str, value: float | None, recomputed: str, verdict: str
) -> None:
    assert number("x", printed, value) == Comparison("x", printed or "none", recomputed, verdict)


@pytest.mark.parametrize(
    ("value", "verdict"), [(0.36, "match"), (0.37, "last digit"), (0.35, "last digit"), (0.38, "miss")]
)
def test_one_last_digit_is_forgiven_a_monte_carlo_figure_and_no_other(value: float, verdict: str) -> None:
    assert number("x", "0.36", value, monte_carlo=True).verdict == verdict
    assert number("x", "0.36", value).verdict == ("match" if verdict == "match" else "miss")


def test_a_text_is_compared_letter_by_letter() -> None:
    assert text("x", "3 s", "3 s") == Comparison("x", "3 s", "3 s", "match")
    assert text("x", "3 s", "3.0 s").verdict == "miss"
    assert text("x", "", "dagger", mark=True) == Comparison("x", "none", "dagger", "miss", mark=True)


def test_a_published_table_is_compared_column_by_column(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("scene,tv,p,note\ndice,0.5,,dagger\ncards,0.25,0.5,\n")
    found: dict[tuple[str, str], Any] = {
        ("dice", "tv"): 0.5,
        ("dice", "p"): None,
        ("dice", "note"): "dagger",
        ("cards", "tv"): 0.25,
        ("cards", "p"): 0.6,
        ("cards", "note"): "",
    }
    assert list(numbers(path, ["scene"], lambda row, column: found[row["scene"], column])) == [
        Comparison("dice tv", "0.5", "0.5", "match"),
        Comparison("dice note", "dagger", "dagger", "match", mark=True),
        Comparison("cards tv", "0.25", "0.25", "match"),
        Comparison("cards p", "0.5", "0.6", "miss"),
    ]
