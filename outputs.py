"""Where a script's results, tables and figures go: analysis/results, analysis/tables, analysis/figures.

The stem of what a script writes is the script's own, without a leading compute_ or make_.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import UserError
from files import json_text, read_json, write_files
from tables import Table, latex, markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def stem_of(script: str) -> str:
    """compute_chi2.py -> chi2."""
    return Path(script).stem.removeprefix("compute_").removeprefix("make_")


class Outputs:
    """Collects what one run makes and writes it at the end, so that a failing run leaves nothing behind.

    script: the script's __file__. With `print_only` (a selection was asked for) tables are printed and nothing written.
    """

    def __init__(self, analysis: Path, script: str, *, print_only: bool = False) -> None:
        if not analysis.is_dir():
            raise UserError(f"{analysis}: no such folder; expected the folder of the outcome files")
        self.analysis = analysis
        self.stem = stem_of(script)
        self.print_only = print_only
        self._files: dict[Path, bytes] = {}
        self._printed: list[str] = []

    def results(self, value: Mapping[str, Any], suffix: str = "") -> None:
        """The machine-readable results, at results/{stem}{suffix}.json."""
        self._files[self.analysis / "results" / f"{self.stem}{suffix}.json"] = json_text(value).encode()

    def table(self, table: Table, suffix: str = "") -> None:
        """One table, printed, and written at tables/{stem}{suffix}.md and .tex."""
        text = markdown(table)
        self._printed.append(text)
        name = f"{self.stem}{suffix}"
        self._files[self.analysis / "tables" / f"{name}.md"] = text.encode()
        self._files[self.analysis / "tables" / f"{name}.tex"] = latex(table, name).encode()

    def document(self, name: str, text: str) -> None:
        """A page for people, at {name} in the analysis folder itself."""
        self._files[self.analysis / name] = text.encode()

    def figure(self, figure: "Figure", suffix: str = "") -> None:
        """One figure at figures/{stem}{suffix}.pdf and .png."""
        if self.print_only:
            return
        # Imported here: scripts without a figure need not load the plotting library.
        from figures import render

        for kind, data in render(figure).items():
            self._files[self.analysis / "figures" / f"{self.stem}{suffix}.{kind}"] = data

    def finish(self) -> None:
        """Write every file, then print the tables (for a selection only the latter, and say so)."""
        if not self.print_only:
            write_files(self._files)
        print("\n".join(self._printed))
        if self.print_only:
            print("(a selection: nothing written)")
        else:
            folders = sorted({f"{path.parent.name}/" for path in self._files})
            print(f"wrote {len(self._files)} files {self.stem}* to {', '.join(folders)} of {self.analysis.name}/")


def read_results(analysis: Path, script: str) -> Any:
    """The results that another stage wrote. Raises UserError naming the script to run when they are not there."""
    path = analysis / "results" / f"{stem_of(script)}.json"
    if not path.exists():
        raise UserError(f"{path}: no such file; expected the results of {script}: run it first")
    expected = f"the results of {script}"
    found = read_json(path, expected)
    if not isinstance(found, dict):
        raise UserError(f"{path}: no object at the top; expected {expected}: run it again")
    return _strict(found, f"expected {expected} of this version: run it again", path)


class _Results(dict[str, Any]):
    """Results whose missing key is the fault of the file: it may be of another version."""

    def __init__(self, items: Mapping[str, Any], path: Path, expected: str) -> None:
        super().__init__(items)
        self._path, self._expected = path, expected

    def __missing__(self, key: str) -> Any:
        raise UserError(f"{self._path}: no {key!r}; {self._expected}")


def _strict(value: Any, expected: str, path: Path) -> Any:
    if isinstance(value, dict):
        return _Results({key: _strict(item, expected, path) for key, item in value.items()}, path, expected)
    if isinstance(value, list):
        return [_strict(item, expected, path) for item in value]
    return value
