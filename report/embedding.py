"""JSON that stands in the page."""

import json
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from files import SIGNIFICANT_DIGITS


def embedded(value: Any) -> Markup:
    """JSON that can stand in a script element: nothing in it is markup, whatever its strings hold."""
    text = json.dumps(_rounded(value), separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _rounded(value: Any) -> Any:
    """Floats as the results have them: more digits would record the rounding of one processor's arithmetic."""
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value
