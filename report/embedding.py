"""JSON that stands in the page."""

import json
from typing import Any

from markupsafe import Markup

from files import rounded


def embedded(value: Any) -> Markup:
    """JSON that can stand in a script element: nothing in it is markup, whatever its strings hold."""
    text = json.dumps(rounded(value), separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
