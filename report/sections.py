"""What a section of the page consists of: a sentence, a drawing, the data behind it, and the command that makes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from report.datatable import DataTable


@dataclass(frozen=True)
class Panel:
    """small: many of them stand side by side."""

    title: str
    drawing: Markup
    small: bool = False


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a symbol of the marker sheet, or a swatch that the style sheet draws."""

    words: str
    symbol: str | None = None
    swatch: str | None = None


@dataclass(frozen=True)
class Section:
    """id: its anchor. sentence: what the drawing says, made from the data."""

    id: str
    title: str
    sentence: str
    command: str
    panels: Sequence[Panel]
    legend: Sequence[Key]
    table: DataTable
    note: str = ""
