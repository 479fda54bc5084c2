"""SVG elements as escaped markup. Colours that depend on the theme come from the style sheet, by class."""

from collections.abc import Callable

from markupsafe import Markup, escape

Attribute = str | float | int | None
# In pixels, or "12.5%" of the drawing's width.
Coordinate = float | str


def element(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """<name ...>children</name>. Everything is escaped but Markup.

    Attributes are written with hyphens for underscores (class_ as class); one that is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(escape(child) for child in children)}</{name}>")


def line(x1: Coordinate, y1: float, x2: Coordinate, y2: float, class_: str) -> Markup:
    return element("line", x1=_r(x1), y1=_r(y1), x2=_r(x2), y2=_r(y2), class_=class_)


def rect(x: Coordinate, y: float, width: Coordinate, height: float, class_: str, **attributes: Attribute) -> Markup:
    return element("rect", x=_r(x), y=_r(y), width=_r(width), height=_r(height), class_=class_, **attributes)


def text(x: Coordinate, y: float, content: str, class_: str = "", *, anchor: str | None = None) -> Markup:
    return element("text", content, x=_r(x), y=_r(y), class_=class_ or None, text_anchor=anchor)


def group(*children: Markup, **attributes: Attribute) -> Markup:
    return element("g", *children, **attributes)


def use(symbol: str, x: Coordinate, y: float, size: float, class_: str | None = None) -> Markup:
    """A symbol of the page's marker sheet, centred at (x, y)."""
    half = size / 2
    # A share of the width cannot be moved by pixels but in a transformation.
    left, shift = (x, f"translate({_r(-half)} 0)") if isinstance(x, str) else (x - half, None)
    return element(
        "use",
        href=f"#{symbol}",
        x=_r(left),
        y=_r(y - half),
        width=_r(size),
        height=_r(size),
        class_=class_,
        transform=shift,
    )


def figure(width: float, height: float, label: str, *children: Markup, role: str = "img", class_: str = "") -> Markup:
    """A whole drawing of this natural size in pixels; `label` is read out in its place."""
    return element(
        "svg",
        *children,
        viewBox=f"0 0 {_r(width)} {_r(height)}",
        role=role,
        aria_label=label,
        class_=f"plot {class_}".strip(),
    )


def strip(height: float, label: str, *children: Markup, class_: str) -> Markup:
    """A drawing as wide as its place, at its natural height: text and symbols keep their size. x are shares of the
    width; the style sheet states the height of `class_` too."""
    return element(
        "svg", *children, width="100%", height=_r(height), role="img", aria_label=label, class_=f"plot {class_}"
    )


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """The linear map that takes low to start and high to end."""
    return lambda value: start + (value - low) / (high - low) * (end - start)


def shortened(content: str, most: int) -> str:
    """The text, cut with an ellipsis to this many characters."""
    return content if len(content) <= most else f"{content[: most - 1]}…"


def _r(value: Coordinate) -> Coordinate:
    """Rounded to a hundredth; whole numbers as integers; a share as it is."""
    if isinstance(value, str):
        return value
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded
