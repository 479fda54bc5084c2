"""One table, two renderings: Markdown for a browser, LaTeX for a stock article (no package needed)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

# Every character beyond ASCII that a table may hold, and the LaTeX of it. Another one is an error, not a broken file.
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "“": "``",
    "”": "''",
    '"': "''",
    "—": "---",
    "–": "--",
    "−": "$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "→": r"$\rightarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
    "★": r"$^\ast$",
    "²": "$^2$",
    "₀": "$_0$",
    "α": r"$\alpha$",
    "ε": r"$\varepsilon$",
    "κ": r"$\kappa$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
}

DASH = "—"

# Width of the text of a stock article, and the average width of a character at each of its sizes, in points.
_ARTICLE_TEXT_PT = 345.0
_LATEX_SIZES = {"small": 4.7, "footnotesize": 4.4, "scriptsize": 4.1, "tiny": 3.3}
# The least width of a column of sentences.
_SENTENCES_PT = 110.0


@dataclass(frozen=True)
class Entry:
    """The text of one table cell and how it is set."""

    text: str
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True)
class Column:
    """align: left, right, centre, or "p" for sentences, which LaTeX breaks into lines.

    `group` stands above the headers of neighbouring columns that share it.
    """

    header: str
    align: Literal["l", "r", "c", "p"] = "r"
    group: str = ""


@dataclass(frozen=True)
class Group:
    """A row that heads those below it."""

    title: str


@dataclass(frozen=True)
class Table:
    """A caption, columns, rows of entries (or groups), and notes below. Plain text is escaped in each rendering."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry | str] | Group]
    notes: Sequence[str] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        for row in self.rows:
            if not isinstance(row, Group) and len(row) != len(self.columns):
                raise ValueError(f"a row of {len(row)} entries in a table of {len(self.columns)} columns: {row}")


def markdown(table: Table) -> str:
    """GitHub-flavoured Markdown, ending in a newline."""
    marks = {"l": ":---", "r": "---:", "c": ":---:", "p": ":---"}
    lines = [
        f"**{_md(table.caption)}**",
        "",
        _md_row(_md(f"{column.group} {column.header}".strip()) for column in table.columns),
        _md_row(marks[column.align] for column in table.columns),
    ]
    for row in table.rows:
        if isinstance(row, Group):
            lines.append(_md_row([f"*{_md(row.title)}*"] + [""] * (len(table.columns) - 1)))
        else:
            lines.append(_md_row(_md_entry(entry) for entry in row))
    for note in table.notes:
        lines += ["", _md(note)]
    return "\n".join(lines) + "\n"


def latex(table: Table, label: str) -> str:
    """A table environment that compiles in a stock article, ending in a newline."""
    width = len(table.columns)
    size, separation, paragraph = _latex_size(table)
    alignment = "".join(column.align.replace("p", f"p{{{paragraph}pt}}") for column in table.columns)
    lines = [
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{latex_text(table.caption)}}}",
        rf"\label{{tab:{label}}}",
        rf"\{size}",
        rf"\setlength{{\tabcolsep}}{{{separation:g}pt}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\hline",
        *_latex_groups(table.columns),
        " & ".join(latex_text(column.header) for column in table.columns) + r" \\",
        r"\hline",
    ]
    for row in table.rows:
        if isinstance(row, Group):
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{latex_text(row.title)}}}}} \\")
        else:
            lines.append(" & ".join(_latex_entry(entry) for entry in row) + r" \\")
    lines += [r"\hline", r"\end{tabular}"]
    for note in table.notes:
        lines += ["", rf"\par\smallskip\footnotesize {latex_text(note)}"]
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    """Plain text with every special character set in LaTeX. Raises ValueError for one without a known setting."""
    unknown = sorted({c for c in text if ord(c) > 126 and c not in _LATEX})
    if unknown:
        raise ValueError(f"no LaTeX for {unknown} in {text!r}; add it to tables._LATEX")
    return "".join(_LATEX.get(c, c) for c in text)


def fixed(value: float, digits: int) -> str:
    """`value` with `digits` decimals; a value that rounds to zero has no sign."""
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def signed(value: float, digits: int) -> str:
    """A difference: `fixed` with its sign, + or -; one that rounds to zero has none."""
    text = fixed(value, digits)
    return f"+{text}" if float(text) > 0 else text


def p_text(p: float, digits: int = 3) -> str:
    """A simulated p-value as the paper prints it: three decimals (four where it is a threshold), or <0.001."""
    return "<0.001" if p < 0.001 else f"{p:.{digits}f}"


def exact_p_text(p: float) -> str:
    """An exact p-value: three decimals, or the order of magnitude of one that has none there."""
    return f"{p:.3f}" if p >= 0.0005 else f"{p:.0e}".replace("e-0", "e-")


def percent(share: float) -> str:
    """A share in per cent, with as many digits as it has: 0.95 is "95 %", 0.925 is "92.5 %"."""
    return f"{100 * share:.6g} %"


def range_text(low: float, high: float, digits: int = 2) -> str:
    return f"[{fixed(low, digits)}, {fixed(high, digits)}]"


def _md(text: str) -> str:
    return text.replace("|", r"\|")


def _md_row(entries: Iterable[str]) -> str:
    return "| " + " | ".join(entries) + " |"


def _md_entry(entry: Entry | str) -> str:
    if isinstance(entry, str):
        return _md(entry)
    mark = "**" * entry.bold + "*" * entry.italic
    return f"{mark}{_md(entry.text)}{mark[::-1]}"


def _latex_size(table: Table) -> tuple[str, float, int]:
    """The largest font size at which the table fits the text of a stock article, the space beside a column, and the
    width of a column of sentences, in points."""
    bodies = [row for row in table.rows if not isinstance(row, Group)]
    texts = [[entry.text if isinstance(entry, Entry) else entry for entry in row] for row in bodies]
    characters = 0.0
    for i, column in enumerate(table.columns):
        shared = sum(other.group == column.group for other in table.columns)
        if column.align != "p":
            widest = max((len(row[i]) for row in texts), default=0)
            characters += max(widest, len(column.header), len(column.group) / shared)
    separation = 4.0 if len(table.columns) <= 8 else 1.5
    has_sentences = any(column.align == "p" for column in table.columns)
    needed = _SENTENCES_PT if has_sentences else 0.0
    left_over = {
        size: _ARTICLE_TEXT_PT - 2 * separation * len(table.columns) - characters * per_character
        for size, per_character in _LATEX_SIZES.items()
    }
    size = next((size for size, rest in left_over.items() if rest >= needed), "tiny")
    return size, separation, int(max(left_over[size], _SENTENCES_PT))


def _latex_groups(columns: Sequence[Column]) -> list[str]:
    if not any(column.group for column in columns):
        return []
    spans = [(group, len(list(members))) for group, members in groupby(columns, key=lambda column: column.group)]
    return [" & ".join(rf"\multicolumn{{{n}}}{{c}}{{{latex_text(group)}}}" for group, n in spans) + r" \\"]


def _latex_entry(entry: Entry | str) -> str:
    if isinstance(entry, str):
        return latex_text(entry)
    text = latex_text(entry.text)
    if entry.italic:
        text = rf"\textit{{{text}}}"
    return rf"\textbf{{{text}}}" if entry.bold else text
