"""A table says the same in Markdown and in LaTeX, and neither rendering breaks on any text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import ANALYSES
from paths import ANALYSIS
from tables import (
    _LATEX,
    Column,
    Entry,
    Group,
    Table,
    exact_p_text,
    fixed,
    latex,
    latex_text,
    markdown,
    p_text,
    range_text,
)

TABLE = Table(
    "A & B",
    [Column("Scene", "l"), Column("ρ", group="One_model"), Column("TV", group="One_model"), Column("n", "c")],
    [
        Group("50 % of #1"),
        ["a|b", Entry("0.5", bold=True), Entry("<1", italic=True), Entry("†", bold=True, italic=True)],
    ],
    ["α ≤ 5 %"],
)
# What must be escaped or replaced: ASCII, and the characters beyond it that the project uses.
ascii_text = st.text(st.characters(min_codepoint=32, max_codepoint=126))
any_text = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from(sorted(_LATEX)))


def test_markdown_by_hand() -> None:
    assert markdown(TABLE) == (
        "**A & B**\n"
        "\n"
        "| Scene | One_model ρ | One_model TV | n |\n"
        "| :--- | ---: | ---: | :---: |\n"
        "| *50 % of #1* |  |  |  |\n"
        "| a\\|b | **0.5** | *<1* | ***†*** |\n"
        "\n"
        "α ≤ 5 %\n"
    )


def test_latex_by_hand() -> None:
    assert latex(TABLE, "stem").splitlines() == [
        r"\begin{table}[t]",
        r"\centering",
        r"\caption{A \& B}",
        r"\label{tab:stem}",
        r"\small",
        r"\setlength{\tabcolsep}{4pt}",
        r"\begin{tabular}{lrrc}",
        r"\hline",
        r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{One\_model} & \multicolumn{1}{c}{} \\",
        r"Scene & $\rho$ & TV & n \\",
        r"\hline",
        r"\multicolumn{4}{l}{\textit{50 \% of \#1}} \\",
        r"a$|$b & \textbf{0.5} & \textit{$<$1} & \textbf{\textit{$^\dagger$}} \\",
        r"\hline",
        r"\end{tabular}",
        "",
        r"\par\smallskip\footnotesize $\alpha$ $\leq$ 5 \%",
        r"\end{table}",
    ]


def unescaped(text: str, special: str) -> list[str]:
    """The special characters that LaTeX would act upon."""
    return re.findall(rf"(?<!\\)[{re.escape(special)}]", text)


@given(ascii_text)
def test_no_character_of_a_text_is_a_command(text: str) -> None:
    assert unescaped(latex_text(text), "&%#_^~") == []


@given(any_text)
def test_what_is_set_is_ascii_with_its_brackets_in_pairs(text: str) -> None:
    set_in_latex = latex_text(text)
    assert set_in_latex.isascii()
    assert len(unescaped(set_in_latex, "$")) % 2 == 0
    assert len(unescaped(set_in_latex, "{")) == len(unescaped(set_in_latex, "}"))


@given(st.lists(st.tuples(any_text, st.booleans(), st.booleans()), min_size=2, max_size=2), any_text)
def test_every_row_has_a_field_for_every_column_whatever_stands_in_it(
    entries: list[tuple[str, bool, bool]], note: str
) -> None:
    table = Table("x", [Column("a"), Column("b", "l")], [[Entry(*entry) for entry in entries]], [note])
    row = latex(table, "x").splitlines()[10]
    assert row.endswith(r" \\") and len(unescaped(row.removesuffix(r" \\"), "&")) == 1
    assert len(unescaped(markdown(table).splitlines()[4], "|")) == 3


def test_a_character_without_a_setting_is_an_error_and_not_a_broken_file() -> None:
    with pytest.raises(ValueError, match=r"no LaTeX for \['ж'\]"):
        latex_text("ж")


def test_a_row_of_the_wrong_length_is_an_error() -> None:
    with pytest.raises(ValueError, match="a row of 1 entries in a table of 2 columns"):
        Table("", [Column("a"), Column("b")], [["x"]])


def test_every_committed_table_has_both_renderings_of_the_same_rows() -> None:
    tables = {path.stem for path in (ANALYSIS / "tables").glob("*.md")}
    assert tables == {path.stem for path in (ANALYSIS / "tables").glob("*.tex")}
    assert len(ANALYSES) > 0 and len(tables) >= 4
    for stem in tables:
        rows = [line for line in (ANALYSIS / "tables" / f"{stem}.md").read_text().splitlines() if line.startswith("|")]
        source = (ANALYSIS / "tables" / f"{stem}.tex").read_text()
        body = source[source.index(r"\begin{tabular}") : source.index(r"\end{tabular}")].splitlines()
        set_rows = [line for line in body if line.endswith(r"\\")]
        groups = any(line.count(r"\multicolumn") > 1 for line in set_rows)
        # Markdown has a line of alignments; LaTeX may have a line of column groups.
        assert len(rows) - 1 == len(set_rows) - groups, stem


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (-0.004, 2, "0.00"),
        (-0.006, 2, "-0.01"),
        (1, 0, "1"),
        (-0.0, 3, "0.000"),
    ],
)
def test_fixed_rounds_half_to_even_and_zero_has_no_sign(value: float, digits: int, text: str) -> None:
    assert fixed(value, digits) == text


def test_p_values_are_printed_as_in_the_paper() -> None:
    assert [p_text(p) for p in (1 / 50_001, 0.00099, 0.001, 0.0297, 1)] == [
        "<0.001",
        "<0.001",
        "0.001",
        "0.030",
        "1.000",
    ]
    assert [p_text(p, 4) for p in (0.0009, 0.0297)] == ["<0.001", "0.0297"]


def test_an_exact_p_value_shows_its_order_of_magnitude_where_it_has_no_decimals() -> None:
    assert [exact_p_text(p) for p in (1, 0.0297, 0.0005, 0.00049, 3.4e-12)] == [
        "1.000",
        "0.030",
        "0.001",
        "5e-4",
        "3e-12",
    ]


def test_a_range_is_printed_in_brackets() -> None:
    assert range_text(-0.004, 0.036) == "[0.00, 0.04]"
    assert range_text(0.1, 0.25, 3) == "[0.100, 0.250]"
