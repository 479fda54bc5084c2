"""The look of every figure, and saving it so that the same numbers give the same bytes."""

import io
from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

# Inches: a column and a page of a two-column paper. Text sizes below are what is legible there without scaling.
COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0

INK = "#222222"
MUTED = "#6B6B6B"
GRID = "#DDDDDD"
BAND = "#E3E7EE"
# The pair of the distribution plots: what a model did, what physics says. Light enough for dark whiskers on top.
EMPIRICAL = "#6AAED6"
REFERENCE = "#E69F00"

PNG_DPI = 200
# What the writers would add by themselves: dates and versions, which differ although the figure does not.
_METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}

_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "pdf.fonttype": 42,
}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, in the project's style, laid out without overlap."""
    # From the library's own defaults: a matplotlibrc of the user's would change the figures.
    matplotlib.rcdefaults()
    matplotlib.rcParams.update(_STYLE)  # type: ignore[arg-type]
    return Figure(figsize=(width, height), layout="constrained")


def axes_grid(figure: Figure, rows: int, columns: int, **kwargs: Any) -> list[Axes]:
    """rows x columns axes, row by row."""
    return list(figure.subplots(rows, columns, squeeze=False, **kwargs).ravel())


def render(figure: Figure) -> dict[str, bytes]:
    """The figure as {"pdf": ..., "png": ...}, without dates or version numbers in the files.

    The canvases are called directly: savefig would draw everything once more for each file to solve the layout again.
    """
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    pdf, png = io.BytesIO(), io.BytesIO()
    FigureCanvasPdf(figure).print_pdf(pdf, metadata=_METADATA["pdf"])  # type: ignore[no-untyped-call]
    figure.set_dpi(PNG_DPI)
    FigureCanvasAgg(figure).print_png(png, metadata=_METADATA["png"])  # type: ignore[no-untyped-call]
    return {"pdf": pdf.getvalue(), "png": png.getvalue()}


def hide_unused(axes: Sequence[Axes], used: int) -> None:
    """Take the axes from index `used` on out of the figure."""
    for ax in axes[used:]:
        ax.set_axis_off()
