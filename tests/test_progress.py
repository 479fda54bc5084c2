"""The progress table: counts that add up, in place on a terminal, plain lines elsewhere."""

import io
import re
import threading
import time
from unittest import mock

import pytest

from progress import Progress

STATES = ("waiting", "running", "done", "refused")


@pytest.fixture(autouse=True)
def _no_ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("progress._TERMINAL_INTERVAL_S", 1000.0)


class Terminal(io.StringIO):
    """A terminal that keeps what a person would see: cursor up, clear to the end of the line and of the screen."""

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        lines: list[str] = []
        row = 0
        for up, text in re.findall(r"\x1b\[(\d+)F|([^\n\x1b]*(?:\x1b\[K)?\n|\x1b\[J)", self.getvalue()):
            if up:
                row -= int(up)
            elif text == "\x1b[J":
                del lines[row:]
            else:
                lines[row : row + 1] = [text.removesuffix("\n").removesuffix("\x1b[K")]
                row += 1
        return lines


def test_a_terminal_shows_one_table_that_adds_up() -> None:
    terminal = Terminal()
    with Progress("main", {"dice / wan": range(3), "ball / wan": range(2)}, STATES, stream=terminal) as progress:
        progress.refresh()
        progress.note("a remark")
        progress.move("dice / wan", 0, "running")
        progress.move("dice / wan", 0, "done")
        progress.move("ball / wan", 1, "refused")
        progress.refresh()
    assert [re.sub(r" +", " ", line).rstrip() for line in terminal.screen()] == [
        "a remark",
        "main",
        " waiting done refused",
        "dice / wan 2 1 ·",
        "ball / wan 1 · 1",
        "total 3 1 1",
    ]


def test_a_low_terminal_folds_the_cells_at_rest_first() -> None:
    terminal = Terminal()
    cells = {f"cell {number}": range(2) for number in range(30)}
    with (
        mock.patch("shutil.get_terminal_size", return_value=mock.Mock(lines=12, columns=60)),
        Progress("main", cells, ("done", *STATES), calm=("done",), stream=terminal) as progress,
    ):
        progress.move("cell 25", 1, "refused")
        progress.refresh()
    shown = terminal.screen()
    assert len(shown) <= 10
    assert any(line.startswith("cell 25") for line in shown)
    folded = next(line for line in shown if "more cells" in line)
    count = next(int(word) for word in folded.split() if word.isdigit())
    assert count == 30 - sum(line.startswith("cell ") for line in shown)
    assert max(len(line) for line in shown) < 60


def test_elsewhere_plain_lines_appear_only_when_something_changed() -> None:
    stream = io.StringIO()
    with Progress("main", {"dice / wan": range(2)}, STATES, stream=stream) as progress:
        progress.refresh()
        progress.refresh()
        progress.move("dice / wan", 1, "done")
        progress.note("a remark")
    assert stream.getvalue() == "main: 2 waiting\na remark\nmain: 1 waiting, 1 done\n"


def test_it_shows_by_itself_that_something_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("progress._TERMINAL_INTERVAL_S", 0.005)
    stream = io.StringIO()
    with Progress("main", {"cell": range(1)}, STATES, stream=stream):
        while not stream.getvalue():
            time.sleep(0.001)
    assert stream.getvalue() == "main: 1 waiting\n"


def test_a_pause_says_why_and_until_when_and_passes() -> None:
    stream = io.StringIO()
    with Progress("main", {"dice / wan": range(1)}, STATES, stream=stream) as progress:
        progress.wait("rate limit", 60)
        progress.refresh()
        progress.wait("rate limit", 0)
    first, last = stream.getvalue().splitlines()
    assert re.fullmatch(r"main: 1 waiting; waiting until \d\d:\d\d:\d\d \(rate limit\)", first)
    assert last == "main: 1 waiting"


def test_counts_add_up_when_many_threads_move_items() -> None:
    stream = io.StringIO()
    with Progress("main", {"cell": range(400)}, STATES, stream=stream) as progress:

        def work(start: int) -> None:
            for item in range(start, 400, 8):
                progress.move("cell", item, "running")
                progress.move("cell", item, "done")

        threads = [threading.Thread(target=work, args=(start,)) for start in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert stream.getvalue().splitlines()[-1] == "main: 400 done"


def test_an_item_that_is_not_there_cannot_move() -> None:
    with Progress("main", {"cell": range(1)}, STATES, stream=io.StringIO()) as progress, pytest.raises(KeyError):
        progress.move("cell", 7, "done")
