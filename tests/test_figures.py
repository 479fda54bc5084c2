"""Figures look the same whatever the user's own settings are."""

import matplotlib

from figures import COLUMN_WIDTH, axes_grid, new_figure, render


def drawn() -> dict[str, bytes]:
    figure = new_figure(COLUMN_WIDTH, 1.5)
    axes_grid(figure, 1, 1)[0].plot([0, 1], [0, 1])
    return render(figure)


def test_a_matplotlibrc_of_the_users_changes_no_byte() -> None:
    before = drawn()
    with matplotlib.rc_context({"axes.facecolor": "red", "lines.marker": "o"}):
        assert drawn() == before


def test_a_figure_says_nothing_of_the_day_or_the_version() -> None:
    files = drawn()
    assert b"CreationDate" not in files["pdf"] and b"Matplotlib" not in files["pdf"]
    assert b"Software" not in files["png"]
