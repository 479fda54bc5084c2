"""The page's drawings that stand still. Natural sizes are in pixels; panels are small, so that text keeps its size on a
narrow screen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from marker_places import STRIP, placed
from models import Model
from report.markers import symbol_id
from report.svg import element, figure, group, line, rect, scale, shortened, strip, text, use
from report.words import interval, number

# Panels with a row for each scene or model.
PANEL_WIDTH = 340
_LABEL_WIDTH = 112
_ROW = 22
_TOP, _BOTTOM = 8, 38
_MARK = 12
# The plot of a row of the leaderboard, and its axis in the header; as wide as their column.
BOARD_HEIGHT = 44
_AXIS_HEIGHT = 20
# A panel of scorability against TV.
_SCATTER = (300, 264)


@dataclass(frozen=True)
class Span:
    """A horizontal bar from low to high; class_ names its look in the style sheet."""

    low: float
    high: float
    class_: str


@dataclass(frozen=True)
class Mark:
    """A symbol (an id of the marker sheet) at a value, with the words that a pointer brings up."""

    value: float
    symbol: str
    words: str


@dataclass(frozen=True)
class Row:
    """A labelled row of a panel. apart: set off from the rows above, as a total."""

    label: str
    spans: Sequence[Span] = field(default_factory=tuple)
    marks: Sequence[Mark] = field(default_factory=tuple)
    apart: bool = False


@dataclass(frozen=True)
class Axis:
    """The horizontal axis: its ends, its ticks with their labels, its name, and a value to mark with a line."""

    low: float
    high: float
    ticks: Mapping[float, str]
    name: str
    reference: float | None = None


UNIT_TICKS = {0.0: "0", 0.25: "0.25", 0.5: "0.5", 0.75: "0.75", 1.0: "1"}
PERCENT_TICKS = {0.0: "0", 0.5: "50 %", 1.0: "100 %"}


def rows_panel(rows: Sequence[Row], axis: Axis, label: str) -> Markup:
    """One panel: rows from top to bottom, bars and symbols along the axis. `label` is read out in its place."""
    x = scale(axis.low, axis.high, _LABEL_WIDTH + 8, PANEL_WIDTH - 12)
    tops, bottom = [], float(_TOP)
    for row in rows:
        bottom += 8 if row.apart else 0
        tops.append(bottom)
        bottom += _ROW
    drawn = [line(x(tick), _TOP, x(tick), bottom + 3, "grid") for tick in axis.ticks]
    if axis.reference is not None:
        drawn.append(line(x(axis.reference), _TOP - 4, x(axis.reference), bottom + 3, "reference"))
    for row, top in zip(rows, tops, strict=True):
        y = top + _ROW / 2
        if row.apart:
            drawn.append(line(0, top - 4, PANEL_WIDTH, top - 4, "rule"))
        name = text(_LABEL_WIDTH, y + 4, shortened(row.label, 18), "label", anchor="end")
        drawn.append(group(element("title", row.label), name))
        drawn += [_bar(x(span.low), x(span.high), y, span.class_) for span in row.spans]
        drawn += [
            group(element("title", mark.words), use(mark.symbol, x(mark.value), y, _MARK, "mark")) for mark in row.marks
        ]
    drawn += [text(x(tick), bottom + 16, words, "tick", anchor="middle") for tick, words in axis.ticks.items()]
    middle = (x(axis.low) + x(axis.high)) / 2
    drawn.append(text(middle, bottom + 32, axis.name, "axis", anchor="middle"))
    return figure(PANEL_WIDTH, bottom + _BOTTOM, label, *drawn)


def _bar(start: float, end: float, y: float, class_: str) -> Markup:
    """Bars are rectangles of a height that their class sets apart: "thin" ones are lines with end caps."""
    if class_.startswith("thin"):
        caps = [line(at, y - 4, at, y + 4, class_) for at in (start, end)]
        return group(line(start, y, end, y, class_), *caps)
    height = 12 if class_.startswith("wide") else 5
    return rect(min(start, end), y - height / 2, abs(end - start), height, class_)


# --- leaderboard --------------------------------------------------------------------------------------------------


def board_scale(low: float) -> Axis:
    """The leaderboard's axis, from a little below the lowest value shown to 1."""
    return Axis(min(-0.05, low - 0.02), 1.03, UNIT_TICKS, "mnTV")


def _share(axis: Axis) -> Callable[[float], str]:
    """Value -> its place, as a share of the drawing's width."""
    x = scale(axis.low, axis.high, 1.2, 98.8)
    return lambda value: f"{x(value):.2f}%"


def _bar_of(low: float, high: float, axis: Axis, y: float, height: float, class_: str) -> Markup:
    """A horizontal bar between two values in either order."""
    x = scale(axis.low, axis.high, 1.2, 98.8)
    start, end = sorted((x(low), x(high)))
    return rect(f"{start:.2f}%", y, f"{end - start:.2f}%", height, class_)


def board_axis(axis: Axis) -> Markup:
    x = _share(axis)
    ticks = [
        part
        for tick, words in axis.ticks.items()
        for part in (
            text(x(tick), 12, words, "tick", anchor="middle"),
            line(x(tick), _AXIS_HEIGHT - 4, x(tick), _AXIS_HEIGHT, "grid"),
        )
    ]
    return strip(_AXIS_HEIGHT, "Axis from 0, calibrated, to 1, the worst", *ticks, class_="ruler")


def board_row(row: Mapping[str, Any], band: tuple[float, float], axis: Axis, symbol: str) -> Markup:
    """The two parts of mnTV as a bar, and below it both intervals: corrected (thick) and published (thin)."""
    x = _share(axis)
    drawn = [_bar_of(*band, axis, 0, BOARD_HEIGHT, "band")]
    drawn += [line(x(tick), 0, x(tick), BOARD_HEIGHT, "grid") for tick in axis.ticks]
    unscorable, mntv = row["unscorable"], row["mntv"]
    drawn.append(_bar_of(0, unscorable, axis, 6, 8, "part-unscorable"))
    drawn.append(_bar_of(unscorable, mntv, axis, 6, 8, "part-miscalibrated"))
    corrected, published = row["corrected"], row["percentile"]
    if published["low"] is not None:
        drawn += [line(x(published["low"]), 36, x(published["high"]), 36, "published")]
        drawn += [line(x(published[side]), 33, x(published[side]), 39, "published") for side in ("low", "high")]
    if corrected["low"] is not None:
        drawn.append(_bar_of(corrected["low"], corrected["high"], axis, 22.5, 5, "corrected"))
    drawn.append(use(symbol, x(mntv), 25, 12))
    words = (
        f"mnTV {number(mntv)}: {number(unscorable)} unscorable and {number(row['miscalibrated'])} miscalibrated. "
        f"Corrected interval {interval(corrected['low'], corrected['high'])}, published "
        f"{interval(published['low'], published['high'])}"
    )
    return strip(BOARD_HEIGHT, words, *drawn, class_="lane")


def control_row(mntv: float, expected: float, band: tuple[float, float], axis: Axis) -> Markup:
    """A control's mnTV against what theory expects of it and the central band of that."""
    x = _share(axis)
    drawn = [line(x(tick), 0, x(tick), BOARD_HEIGHT, "grid") for tick in axis.ticks]
    drawn.append(_bar_of(*band, axis, 16, 12, "band strong"))
    drawn.append(line(x(expected), 12, x(expected), 32, "reference"))
    drawn.append(use("mark-dot", x(mntv), 22, 12))
    words = f"mnTV {number(mntv)}; theory expects {number(expected)}, 95 % band {interval(*band)}"
    return strip(BOARD_HEIGHT, words, *drawn, class_="lane")


# --- scorability against TV ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """A cell in a scatter panel. band: of a calibrated model with as many valid rollouts, None without any."""

    model: int
    rho: float
    tv: float | None
    band: tuple[float, float] | None
    href: str
    words: str


def scatter_panel(title: str, points: Sequence[Point], band: tuple[float, float], models: Sequence[Model]) -> Markup:
    """One scene. Every point is a link to its cell that shows the cell's own band while it has the pointer or focus."""
    width, height = _SCATTER
    x, y = scale(-0.09, 1.09, 34, width - 4), scale(-0.17, 1.05, height - 38, 4)
    left, right = x(-0.09), x(1.09)
    drawn = [rect(left, y(band[1]), right - left, y(band[0]) - y(band[1]), "band")]
    drawn += [line(left, y(tick), right, y(tick), "grid") for tick in UNIT_TICKS]
    drawn += [line(x(tick), y(1.05), x(tick), y(-0.17), "grid") for tick in UNIT_TICKS]
    drawn += [text(left - 5, y(tick) + 4, words, "tick", anchor="end") for tick, words in UNIT_TICKS.items()]
    drawn += [text(x(tick), height - 22, words, "tick", anchor="middle") for tick, words in UNIT_TICKS.items()]
    drawn.append(text((left + right) / 2, height - 5, "scorability ρ", "axis", anchor="middle"))
    drawn.append(text(left + 4, y(1.0) - 5, "TV", "axis"))
    heights = [STRIP if point.tv is None else point.tv for point in points]
    places = placed([(point.rho, h) for point, h in zip(points, heights, strict=True)])
    for point, h, (rho, _) in zip(points, heights, places, strict=True):
        drawn.append(_point(point, x(point.rho), y(h), x(rho), (left, right), y, models[point.model].key))
    return figure(width, height, f"{title}: scorability and TV of each model", *drawn, role="group", class_="scatter")


def _point(
    point: Point, true_x: float, at_y: float, at_x: float, ends: tuple[float, float], y: Any, model: str
) -> Markup:
    parts = []
    if point.band is not None:
        low, high = y(point.band[0]), y(point.band[1])
        parts.append(rect(ends[0], high, ends[1] - ends[0], low - high, "own"))
    if at_x != true_x:
        parts += [
            line(true_x, at_y, at_x, at_y, "leader"),
            element("circle", cx=round(true_x, 2), cy=round(at_y, 2), r=1.6),
        ]
    parts.append(element("circle", cx=round(at_x, 2), cy=round(at_y, 2), r=10, class_="halo"))
    parts.append(use(symbol_id(point.model), at_x, at_y, 13, "hollow" if point.tv is None else None))
    return element(
        "a", *parts, href=point.href, class_="point", data_model=model, data_words=point.words, aria_label=point.words
    )


# --- what came up when a face was asked for -----------------------------------------------------------------------


def confusion_panel(matrix: Sequence[Sequence[int]], labels: Sequence[str], label: str) -> Markup:
    """Rows: the face asked for; columns: the face shown, and last the unscorable ones. The diagonal is outlined."""
    size, left, top = 23, 22, 18
    most = max(sum(row) for row in matrix)
    drawn = [
        text(left + (i + 0.5) * size, 12, words, "tick", anchor="middle") for i, words in enumerate([*labels, "null"])
    ]
    for r, row in enumerate(matrix):
        drawn.append(text(left - 8, top + (r + 0.5) * size + 4, labels[r], "tick", anchor="end"))
        for c, count in enumerate(row):
            step = round(5 * count / most)
            at = left + c * size, top + r * size
            drawn.append(rect(*at, size - 2, size - 2, f"tile h{step}{' asked' if r == c else ''}", rx=2))
            if count:
                middle = at[0] + size / 2 - 1, at[1] + size / 2 + 3
                drawn.append(text(*middle, str(count), f"count h{step}", anchor="middle"))
    return figure(left + (len(labels) + 1) * size, top + len(matrix) * size, label, *drawn, class_="confusion")
