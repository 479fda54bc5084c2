"""Keys of services: taken from the environment, checked, and kept out of whatever is written."""

import os

from errors import UserError

REPLICATE_KEY = "REPLICATE_API_TOKEN"
GEMINI_KEY = "GEMINI_API_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
# Every variable that a service's client takes a key from; Gemini's would also take the last one.
VARIABLES = (REPLICATE_KEY, GEMINI_KEY, OPENAI_KEY, "GOOGLE_API_KEY")
# Shorter ones are stand-ins for local servers, such as "none" or "5": words that replies may hold by themselves.
_SECRET_CHARACTERS = 8


def credential(variable: str) -> str:
    """The key in this variable, empty when it is not set. Raises UserError for one that no HTTP header can carry."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and (key == "" or key.isprintable())) or " " in key:
        raise UserError(f"{variable}: holds a space or a character beyond ASCII; expected a key")
    return key


def redacted(text: str) -> str:
    """`text` without the keys in the environment: services are known to quote them."""
    for variable in VARIABLES:
        key = os.environ.get(variable, "").strip()
        if len(key) >= _SECRET_CHARACTERS:
            text = text.replace(key, f"[{variable}]")
    return text


def one_line(value: object, limit: int = 300) -> str:
    """What a service said, for a log or a message: one line of at most `limit` characters, without keys and without
    control characters, which a terminal would obey. Empty for None."""
    text = "" if value is None else redacted(str(value))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."
