"""One table, cells by states, that shows how a long run stands; for runs that wait on services or on many workers.

On a terminal the table updates in place; elsewhere a line is printed now and then, when something has changed.
"""

import shutil
import sys
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Self, TextIO

# Fast enough to look alive, slow enough to cost nothing.
_TERMINAL_INTERVAL_S = 0.25
# Log files of runs that last hours stay readable.
_LINE_INTERVAL_S = 15.0
_CLEAR_LINE = "\x1b[K"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers for a person: 0-3, 7."""
    starts = [n for n in numbers if n - 1 not in numbers]
    ends = [n for n in numbers if n + 1 not in numbers]
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


class Progress:
    """Counts items by cell and state, and shows the counts while the `with` block runs. Safe to call from threads.

    cells: cell name -> its items. states: all states in display order; every item begins in the first one.
    calm: states in which nothing happens and nothing is wrong; cells wholly in these are folded when space is short.
    """

    def __init__(
        self,
        title: str,
        cells: Mapping[str, Iterable[Hashable]],
        states: Sequence[str],
        *,
        calm: Sequence[str] = (),
        stream: TextIO | None = None,
    ) -> None:
        self._title = title
        self._states = tuple(states)
        self._calm = frozenset(calm)
        self._stream = stream or sys.stderr
        self._in_place = self._stream.isatty()
        self._items = {(cell, item): self._states[0] for cell, items in cells.items() for item in items}
        self._counts = {cell: Counter[str]() for cell in cells}
        for (cell, _), state in self._items.items():
            self._counts[cell][state] += 1
        self._wait: tuple[str, datetime] | None = None
        self._notes: list[str] = []
        self._lines_on_screen = 0
        self._last_line = ""
        self._mutex = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def move(self, cell: str, item: Hashable, state: str) -> None:
        """The item is now in this state."""
        with self._mutex:
            self._counts[cell][self._items[cell, item]] -= 1
            self._items[cell, item] = state
            self._counts[cell][state] += 1

    def wait(self, reason: str, seconds: float) -> None:
        """The run as a whole pauses for so long."""
        with self._mutex:
            self._wait = (reason, datetime.now() + timedelta(seconds=seconds))

    def note(self, text: str) -> None:
        """A remark that stays on the screen, above the table."""
        with self._mutex:
            self._notes.append(text)

    def refresh(self) -> None:
        """Show how things stand now; a ticker does so from time to time."""
        with self._mutex:
            notes, self._notes = self._notes, []
            if self._in_place:
                size = shutil.get_terminal_size()
                table = self._table(size.lines - 2)
                text = "".join(f"{line[: size.columns - 1]}{_CLEAR_LINE}\n" for line in (*notes, *table))
                up = f"\x1b[{self._lines_on_screen}F" if self._lines_on_screen else ""
                self._stream.write(f"{up}{text}\x1b[J")
                self._lines_on_screen = len(table)
            else:
                line = self._summary()
                changed = [line] if line != self._last_line else []
                self._last_line = line
                self._stream.write("".join(f"{text}\n" for text in (*notes, *changed)))
            self._stream.flush()

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._ticker.join()
        self.refresh()

    def _tick(self) -> None:
        interval = _TERMINAL_INTERVAL_S if self._in_place else _LINE_INTERVAL_S
        # The first look comes soon in both forms: a person wants to see that something runs.
        pause = _TERMINAL_INTERVAL_S
        while not self._over.wait(pause):
            self.refresh()
            pause = interval

    def _totals(self) -> dict[str, int]:
        """State -> items in it, over all cells, in display order, without empty states."""
        total = sum(self._counts.values(), Counter[str]())
        return {state: total[state] for state in self._states if total[state]}

    def _summary(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in self._totals().items())
        return f"{self._title}: {counts or 'nothing to do'}{self._waiting()}"

    def _waiting(self) -> str:
        if self._wait is None or datetime.now() >= self._wait[1]:
            return ""
        return f"; waiting until {self._wait[1]:%H:%M:%S} ({self._wait[0]})"

    def _table(self, height: int) -> list[str]:
        """Title, header, cells and total, in at most `height` lines: cells at rest are folded first, then the last."""
        totals = self._totals()
        states = list(totals)
        restless = [cell for cell, counts in self._counts.items() if set(+counts) - self._calm]
        shown = list(self._counts)
        room = max(height - 4, 1)
        if len(shown) > room:
            shown = (restless + [cell for cell in shown if cell not in restless])[:room]
            shown = [cell for cell in self._counts if cell in shown]
        folded = len(self._counts) - len(shown)
        name_width = max([len(cell) for cell in shown] + [len(f"{folded} more cells")])
        widths = [max(len(state), 5) for state in states]

        def row(name: str, values: Iterable[str]) -> str:
            return "  ".join([name.ljust(name_width), *(v.rjust(w) for v, w in zip(values, widths, strict=True))])

        lines = [f"{self._title}{self._waiting()}", row("", states)]
        lines += [row(cell, [str(self._counts[cell][state] or "·") for state in states]) for cell in shown]
        if folded:
            rest = sum((self._counts[cell] for cell in self._counts if cell not in shown), Counter[str]())
            lines.append(row(f"{folded} more cells", [str(rest[state] or "·") for state in states]))
        if len(self._counts) > 1:
            lines.append(row("total", [str(totals[state]) for state in states]))
        return lines
