"""A reply as text: without its thoughts, within the log's limit, and in plain characters."""

import re
import unicodedata

# A reply is cut to this many characters before it is logged and parsed: the question asks for one word.
MAX_REPLY_CHARS = 4_000
# Of a longer one that many of the thoughts and of the answer are kept, half from each end.
_KEPT_THOUGHTS = 1_500
_KEPT_ANSWER = 2_300
# In letters, and within its line: it must not look like an answer, nor leave one standing alone beside it.
_GAP = " [the log leaves out what stood here] "

_TAG = re.compile(r"<(/?)(?:think(?:ing)?|thought|reasoning)>", re.IGNORECASE)

_CODE_FENCE = re.compile(r"```[a-z]*")
# Emphasis, quotes, headings and LaTeX's box. An apostrophe inside a word stays.
_ARROW = re.compile(r"[-=]+>|[⇒⟶➔➜]")
_MARKUP = re.compile(r"\\boxed|\\text|[*_`\"“”„«»$\\#>|]|(?<!\w)'|'(?!\w)")


def without_thoughts(text: str) -> str:
    """What a reasoning model says after its thoughts.

    Some servers swallow the opening tag; a model whose budget runs out never comes to the closing one.
    """
    said: list[str] = []
    start, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag.group(1):
            if not thinking:
                said.clear()  # all of it was thought, under a tag that is not there
            start, thinking = tag.end(), False
        elif not thinking:
            said.append(text[start : tag.start()])
            thinking = True
    return "\n".join([*said, "" if thinking else text[start:]])


def shortened(text: str) -> str:
    """A reply as it is logged: at most MAX_REPLY_CHARS, with both ends of a longer one's thoughts and of its answer.

    Shortening twice is shortening once, so that a logged reply is read as it was when it came.
    """
    if len(text) <= MAX_REPLY_CHARS:
        return text
    answer = without_thoughts(text)
    if answer == text:
        return _ends(text, MAX_REPLY_CHARS)
    thoughts = _TAG.sub(" ", text.removesuffix(answer.lstrip("\n")))
    return f"<think>{_ends(thoughts, _KEPT_THOUGHTS)}</think>{_ends(answer, _KEPT_ANSWER)}"


def plain(text: str) -> str:
    """Lower case, compatibility forms folded, decimal digits of any script as ASCII, no markup, nothing invisible."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("\u2044", "/")
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)
    visible = "".join(c for c in digits if unicodedata.category(c) not in {"Cf", "Mn", "Me"})
    return _MARKUP.sub(" ", _ARROW.sub("→", without_fences(visible)))


def without_fences(text: str) -> str:
    return _CODE_FENCE.sub(" ", text)


def _ends(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = (limit - len(_GAP)) // 2
    return f"{text[:half]}{_GAP}{text[-half:]}"
