"""The data behind a drawing: shown as a table and downloaded as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report.words import number, p_value

Value = str | float | int | bool | None


@dataclass(frozen=True)
class Field:
    """A column. name: in the CSV. label: on the page. digits: of a number; "p" for a p-value; None for text."""

    name: str
    label: str
    digits: int | str | None = None

    @property
    def is_number(self) -> bool:
        return self.digits is not None

    def shown(self, value: Value) -> str:
        """The value as the page writes it."""
        if value is None:
            return "—"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, str) or self.digits is None:
            return str(value)
        return p_value(value) if isinstance(self.digits, str) else number(value, self.digits)


@dataclass(frozen=True)
class DataTable:
    """rows: one value a field, None where there is none. key: name of the CSV file without its ending."""

    key: str
    title: str
    fields: Sequence[Field]
    rows: Sequence[Sequence[Value]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.fields):
                raise ValueError(f"{self.key}: a row of {len(row)} values under {len(self.fields)} fields: {row}")

    @property
    def record(self) -> dict[str, Any]:
        """For the page's script, which makes the CSV."""
        return {"columns": [field.name for field in self.fields], "rows": [list(row) for row in self.rows]}
