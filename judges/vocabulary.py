"""The words of judges' replies: what names an outcome, what may stand beside it, and what takes it back."""

import re
from collections.abc import Sequence
from itertools import pairwise

NULL = "null"
OUT_OF_RANGE = 0

# A compound such as 6.5, 6/11, 6-7, 6a, 90% or non-null is one word, and none of the vocabulary.
WORD = re.compile(r"-?\d\w*(?:[./–-]\w+)*(?:\s?%)?|[^\W\d]\w*(?:['-]\w+)*")
_INTEGER = re.compile(r"(-?\d+)(?:st|nd|rd|th)?")

# fmt: off
_NUMBER_WORDS = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
]
_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
]
ARTICLES = {"a", "an", "the"}
# What an answer is called; plurals are none of them, since they count things ("faces: 3").
LABELS = {
    "answer", "bin", "channel", "choice", "color", "colour", "conclusion", "direction", "exit", "face", "number",
    "outcome", "output", "path", "pocket", "prediction", "reply", "response", "result", "side", "slot", "suit",
    "value", "verdict", "vote",
}
# What an outcome is an outcome of.
_THINGS = {
    "ball", "bob", "card", "die", "figure", "he", "it", "man", "mass", "pendulum", "person", "she", "they", "weight",
    "woman",
}
# What a direction, a colour or a suit, or an ordinal may belong to: "the left channel", "the sixth bin".
PLACES = {
    "bin", "branch", "channel", "corridor", "direction", "exit", "hallway", "lane", "path", "pocket", "side", "slot",
    "suit",
}
# Words that ask for a verb after a person or a ball: "it then left".
_ADVERBS = {"clearly", "definitely", "eventually", "finally", "now", "then", "ultimately"}
_COPULAS = {"is", "it's", "was"}
# What leaves a bin is not in it; a direction it does take.
_LEAVING = {"exited", "exiting", "exits", "leaves"}
_VERBS = _COPULAS | _LEAVING | {
    "been", "came", "choose", "chooses", "choosing", "chose", "chosen", "comes", "displayed", "displays", "dropped",
    "drops", "ended", "ending", "ends", "exit", "fallen", "falls", "fell", "goes",
    "going", "gone", "had", "hanging", "hangs", "has", "have", "headed", "heading", "heads", "landed", "landing",
    "lands", "lies", "located", "lying", "positioned", "read", "reads", "rested", "resting", "rests",
    "rolled", "rolling", "rolls", "settled", "settles", "show", "showed", "showing", "shown", "shows", "sits",
    "sitting", "take", "taken", "takes", "taking", "took", "turn", "turned", "turning", "turns", "walk", "walked",
    "walking", "walks", "went",
}
_LINKS = ARTICLES | {"and", "at", "in", "into", "its", "my", "of", "on", "onto", "out", "through", "to", "up", "via"}
_QUALIFIERS = {
    "bottom", "center", "central", "centre", "clear", "clearly", "definitely", "dominant", "drawn", "eventually",
    "exactly", "final", "finally", "green", "last", "lottery", "lowest", "metallic", "now", "outer", "pivot", "playing",
    "single", "then", "top", "ultimately", "upper", "uppermost", "visible", "white",
}
_RANKS = {"ace", "jack", "king", "queen", *_NUMBER_WORDS[1:]}
# All that prose may hold beside the outcome that it gives.
_PROSE = LABELS | _THINGS | PLACES | _VERBS | _LINKS | _QUALIFIERS
# Words after which a number is an answer: "it is 6", "bin 6", but not "the 6" or "to 6".
_NUMBER_LEADS = LABELS | _COPULAS | {
    "a", "ball", "card", "die", "in", "into", "onto", "read", "reads", "show", "showing", "shown", "shows",
}
# "The ball left", "it has left": the verb.
_BEFORE_A_VERB = _THINGS | {"had", "has", "have"}
_NEGATIONS = {
    "absent", "avoided", "avoids", "barely", "cannot", "empty", "excluding", "fail", "failed", "fails", "hardly",
    "lacking", "lacks", "missed", "misses", "missing", "neither", "never", "no", "nobody", "non", "none", "nor",
    "not", "nothing", "nowhere", "scarcely", "without", "wrong",
}
_NEGATING_PAIRS = {("instead", "of"), ("rather", "than"), ("other", "than"), ("opposed", "to"), ("far", "from")}
JOINERS = {"and", "between", "both", "either", "or"}
# fmt: on

# The speaker is not sure, or takes back what was said.
HEDGE = re.compile(
    r"\b(?:un(?:clear|sure|certain|decided|known)|ambiguous|maybe|perhaps|possibl[ey]|probabl[ey]|likely|unlikely"
    r"|presumabl[ey]|might|may|could|guess\w*|think|believe|assum\w+|wait|actually|correction|not (?:sure|certain))\b"
    r"|[?~≈≤≥±]|<(?=\s*\d)"
)
# The reply is about a case, a choice or an approach, or reports what the questions make a null of.
DOUBT = re.compile(
    r"\b(?:if|unless|until|before|whether|would|should|otherwise|either|or|however|although|though|except|unlike"
    r"|opposite|hard|difficult|impossible|unable|almost|nearly|about|approximately|roughly|blur\w*|obscured|hidden"
    r"|straddl\w+|between|edge|cocked|multiple|several|both|deform\w+|distort\w+|broken|disappear\w*|vanish\w*"
    r"|invisible|illegible|unreadable|indeterminate|undetermined|confidence|percent|estimat\w+|partial\w*|partly"
    r"|still|yet|back|return\w*|moving|falling|bouncing|in motion|mid-?air|(?:face|upside)[ -]down)\b"
)
# "Anything but 6", "every bin but 6".
ALL_BUT = re.compile(r"\b(?:all|any|each|every|any\w+|every\w+)(?:\s+\w+){0,3}?[\s,]+but\b")
# The speaker looks again and may say something else now. "No" only where it stands by itself or opens a clause.
CORRECTION = re.compile(
    r"\b(?:on|upon|at) (?:a )?(?:clos|further|second (?:look|thought|view)|reflection|reconsider)\w*"
    r"|\blook\w* (?:again|clos\w+)"
    r"|\b(?:hmm+|sorry|oops|scratch that|never mind|nevermind|make that|i mean|or rather|my mistake|let me)\b"
    r"|\bno\b(?=\s*(?:[^\w\s]|$))"
)
OPENS_WITH_NO = re.compile(r"(?:^|[^\w\s])\s*no\b")
# What a number below it may be, other than an outcome.
COUNT = re.compile(
    r"\b(?:number of|how many|count|total|score|confidence|steps?|frames?|rows?|balls|faces|dice|bins)\b"
)


def is_numeric(outcomes: Sequence[str]) -> bool:
    """Whether the outcomes of a scene are numbers."""
    return outcomes[0].isdigit()


def meaning(word: str, outcomes: Sequence[str]) -> list[int | None]:
    """What a word of the vocabulary stands for, as a list of length one; empty for any other word.

    1..k, None for null, OUT_OF_RANGE for an integer that is no outcome.
    """
    if word == NULL:
        return [None]
    if not is_numeric(outcomes):
        return [i for i, label in enumerate(outcomes, start=1) if word in (label, label.removesuffix("s"))]
    for numerals in (_NUMBER_WORDS, _ORDINALS):
        if word in numerals:
            word = str(numerals.index(word) + 1)
    integer = _INTEGER.fullmatch(word)
    if integer is None:
        return []
    # A longer numeral is out of every range, and int() refuses the longest ones.
    number = int(integer.group(1)) if len(word) < 10 else OUT_OF_RANGE
    return [number if 1 <= number <= len(outcomes) else OUT_OF_RANGE]


def is_pronoun(word: str) -> bool:
    """In prose "one" is a pronoun or a count."""
    return word == _NUMBER_WORDS[0]


def denies(words: Sequence[str]) -> bool:
    """Whether a clause of these words denies something."""
    pairs = set(pairwise(words))
    return any(word in _NEGATIONS or word.endswith("n't") for word in words) or bool(pairs & _NEGATING_PAIRS)


def stands_alone(words: Sequence[str], outcomes: Sequence[str]) -> list[int | None]:
    """The one answer among words that hold nothing else, as a list of length one; else empty.

    A label or a thing may precede it ("bin 6"). Only directions and the like, and ordinals, may be followed by what
    they belong to: "left channel", but not "2 balls".
    """
    said = [word for word in words if word not in ARTICLES]
    if not is_numeric(outcomes):
        said = [word for word in said if not word.isdigit()]  # "red 32", "7 hearts"
    at = [index for index, word in enumerate(said) if meaning(word, outcomes)]
    if len(at) != 1:
        return []
    before, word, after = said[: at[0]], said[at[0]], said[at[0] + 1 :]
    ordinal = _is_ordinal(word)
    if not is_numeric(outcomes) and before and before[-1] in _THINGS - {"card"}:
        return []  # "the ball left", "the ball is red": no direction, no pocket
    places_follow = set(after) <= PLACES and (not after or ordinal or not is_numeric(outcomes))
    if not places_follow or not set(before) <= LABELS | _THINGS or (ordinal and not after):
        return []
    return meaning(word, outcomes)


def names_no_pocket(words: Sequence[str], outcomes: Sequence[str]) -> bool:
    """Whether a colour stands beside a number that has another one on the European wheel, or that is not on it."""
    if not {"red", "black", "green"} <= set(outcomes):
        return False
    said = [word for word in words if word not in LABELS | PLACES | _COPULAS | _LINKS | {"so", "which"}]
    for first, second in pairwise(said):
        for colour, number in ((first, second), (second, first)):
            is_step = number == first and ("step", number) in set(pairwise(said))
            if colour in outcomes and number.isdigit() and not is_step and colour != _pocket_colour(number):
                return True
    return False


def _pocket_colour(number: str) -> str | None:
    """The colour of a pocket of the European wheel; None for a number that is not on it."""
    pocket = int(number) if len(number) < 10 else 37
    if pocket == 0 or pocket > 36:
        return None if pocket else "green"
    odd_is_red = pocket <= 10 or 19 <= pocket <= 28
    return "red" if (pocket % 2 == 1) == odd_is_red else "black"


def is_label(words: Sequence[str], outcomes: Sequence[str]) -> bool:
    """Whether what follows a colon after these words is the answer: "final answer", but not "number of balls".

    Where outcomes are no numbers, the conclusion of a numbered step is one as well.
    """
    if not is_numeric(outcomes) and len(words) == 2 and words[0] == "step" and words[1].isdigit():
        return True
    return bool(LABELS & set(words)) and _known(words, outcomes)


def in_place(words: Sequence[str], at: int, outcomes: Sequence[str], *, opens: bool) -> bool:
    """Whether the outcome words[at] stands where a clause of prose puts an answer, with nothing unknown around it.

    opens: the clause begins a reply, follows its label, or follows a turn such as "but".
    """
    before, after = words[:at], words[at + 1 :]
    if not _known([*before, *after], outcomes):
        return False
    if not before and not opens:
        return False
    if is_numeric(outcomes):
        # "The second bin from the right" is not bin 2, "2 ball" no ball 2.
        named = before[-1] in _NUMBER_LEADS if before else not after
        return named and not _is_ordinal(words[at]) and not set(after) & (LABELS | _THINGS)
    follows = not after or after[0] in PLACES | _LINKS - ARTICLES | {"now"} or after[0].isdigit()
    if not before:
        return follows
    stem = list(before)
    while stem and stem[-1] in _ADVERBS:
        stem.pop()
    is_verb = bool(stem) and (stem[-1] in _BEFORE_A_VERB or before[-1] == "and")
    is_thing_itself = before[-1] in _COPULAS and "ball" in before  # "the ball is red"
    return follows and not is_verb and not is_thing_itself


def _known(words: Sequence[str], outcomes: Sequence[str]) -> bool:
    """Whether prose may hold these words beside an outcome."""
    if is_numeric(outcomes):
        return set(words) <= _PROSE - {"of", *_LEAVING}  # "the number of ..." counts something
    return all(word in _PROSE or word in _RANKS or word.isdigit() for word in words)


def _is_ordinal(word: str) -> bool:
    return word in _ORDINALS or (word[-1:].isalpha() and word[:1].isdigit())
