"""Numbers and lists in words, as the page writes them."""

from collections.abc import Sequence

from tables import fixed

# A hyphen is too short before a number; this is the sign.
MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"


def number(value: float, digits: int = 2) -> str:
    """`value` with `digits` decimals and a real minus sign."""
    return fixed(value, digits).replace("-", MINUS)


def change(value: float, digits: int = 2) -> str:
    """A difference with its sign; one that rounds to zero has none."""
    text = number(value, digits)
    return f"+{text}" if float(fixed(value, digits)) > 0 else text


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    if low is None or high is None:
        return "not estimable"
    return f"[{number(low, digits)}, {number(high, digits)}]"


def percent(share: float) -> str:
    """A share in whole per cent, but never 0 or 100 for one that is neither."""
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return f"under 1{NO_BREAK}%"
    if rounded == 100 and share < 1:
        return f"over 99{NO_BREAK}%"
    return f"{rounded}{NO_BREAK}%"


def p_value(p: float) -> str:
    """Three decimals, or the order of magnitude of a p-value that has none there."""
    if p >= 0.0005:
        return f"{p:.3f}"
    mantissa, exponent = f"{p:.0e}".split("e")
    return f"{mantissa} × 10{_superscript(int(exponent))}"


def listed(items: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def count(value: int) -> str:
    """A small number as a word."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    return words[value] if value < len(words) else str(value)


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
