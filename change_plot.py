"""One quantity before and after a change of settings: a row a scene, an open marker before, a filled one after."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from figures import GRID, INK


def draw_changes(
    ax: Axes,
    labels: Sequence[str],
    before: Sequence[float | None],
    after: Sequence[float | None],
    *,
    colour: str,
    names: tuple[str, str],
) -> None:
    """Rows from top to bottom, values in [0, 1] or a little below; None has no marker and no line."""
    rows = range(len(labels))
    for y, start, end in zip(rows, before, after, strict=True):
        if start is not None and end is not None:
            ax.plot([start, end], [y, y], color=colour, linewidth=1.6, zorder=2)
    _points(ax, before, face="white", edge=INK, size=30, name=names[0])
    _points(ax, after, face=colour, edge=colour, size=14, name=names[1])
    ax.set_xlim(min(0.0, *(value for value in (*before, *after) if value is not None)) - 0.05, 1.05)
    ax.set_yticks(list(rows), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.grid(axis="y", color=GRID)
    ax.tick_params(axis="y", length=0)


def _points(ax: Axes, values: Sequence[float | None], *, face: str, edge: str, size: float, name: str) -> None:
    shown = [(value, y) for y, value in enumerate(values) if value is not None]
    x, y = zip(*shown, strict=True) if shown else ((), ())
    ax.scatter(x, y, s=size, c=face, edgecolors=edge, linewidths=0.8, zorder=3, label=name)
