"""Reply text -> vote: one total function for every judge, and the majority of the votes of a rollout.

The vocabulary is closed: a scene's outcome labels and `null`, as whole words. The question asks for nothing but one of
them, so the rules are strict. They are tried in this order:

1. An answer that stands alone is the answer, whatever the prose around it says: the whole reply, a line, what follows
   a colon, a value of a JSON object. Case, markup, quotes, a final stop and nouns ("bin 6") do not matter.
2. A reply that begins with `null` is null; an explanation may follow.
3. Outcomes and joining words and nothing else ("6 or 7", "left/right") single no outcome out: null.
4. A reply that declines to look is `judge_refused`.
5. Prose that names one outcome, undenied and in the place of an answer, is that outcome. Neither the verb in "the ball
   left the ramp" nor the count in "2 balls" is in such a place.
6. Everything else is `judge_unparseable`: two outcomes in prose, a number out of range, "not red", no outcome at all.

Rules 1, 2, 3 and 5 cast votes. The states of rules 4 and 6 are failures of the judge and say nothing about the
rollout: the judge is asked again, and they never become a null.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

ParseState = Literal["vote", "judge_refused", "judge_unparseable"]

# Part of the protocol digest of new records: to be raised with any change that gives some reply another vote.
PARSE_RULES = 1
# A reply is cut to this many characters before it is parsed and logged: the question asks for one word.
MAX_REPLY_CHARS = 4_000


@dataclass(frozen=True)
class Parsed:
    """What a reply says. `outcome` is 1..k, or None for null; it counts only when `state` is "vote"."""

    state: ParseState
    outcome: int | None
    reason: str


@dataclass(frozen=True)
class _Mention:
    """A word of the vocabulary at reply[start:end]. outcome: 1..k, None for null, 0 for an integer outside 1..k."""

    outcome: int | None
    start: int
    end: int


_NULL = "null"
_OUT_OF_RANGE = 0
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
# They may stand with an answer and change nothing: "the left channel", "bin 6".
_NOUNS = {
    "answer", "ball", "bin", "card", "channel", "color", "colour", "die", "exit", "face", "number", "path", "pocket",
    "side", "slot", "suit",
}
# fmt: on
_ARTICLES = {"a", "an", "the"}
_JOINERS = {"and", "between", "both", "either", "maybe", "or", "perhaps", "possibly"}
_NEGATIONS = {"cannot", "neither", "never", "no", "non", "nor", "not", "without"}
_TURNS = {"but", "instead", "rather"}
# How many words back a denial may stand: "not in bin 6". A turn between them ends it: "not in 5 but 6".
_NEGATION_REACH = 3
# Words after which a number that ends its clause is an answer: "it is 6." or "bin 6", but not "in 6 rows".
_NUMBER_LEADS = {"a", "an", "in", "into", "is", "reads", "showing", "shows"} | _NOUNS

# A compound such as 6.5, 6/11, 6-7, 6a or non-null is one word, and none of the vocabulary.
_WORD = re.compile(r"-?\d\w*(?:[./–-]\w+)*|[^\W\d]\w*(?:['-]\w+)*")
_INTEGER = re.compile(r"(-?\d+)(?:st|nd|rd|th)?")
_CLAUSE_END = re.compile(r"\s*(?:[.,;:!?()\[\]{}\n—–]|-\s|$)")
_CLAUSE_BREAK = re.compile(r"[.,;:!?()\n—]")
_LIST_MARKER = re.compile(r"[.)]\s+\w")
_NEXT_WORD = re.compile(r"\s+(\w+)")
_AFTER_COLON = re.compile(r"[:=]\s+")
_CODE_FENCE = re.compile(r"```[a-z]*")
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
# Emphasis, quotes, headings and LaTeX's box. An apostrophe inside a word stays.
_MARKUP = re.compile(r"\\boxed|\\text|[*_`\"“”„«»$\\#>|]|(?<!\w)'|'(?!\w)")
_REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:\w+ )?(?:sorry|unable|not able)\b"
    r"|\bi (?:cannot|can't|could not|couldn't|will not|won't|do not|don't|am not able to) (?:\w+ )?"
    r"(?:access|analy[sz]e|answer|assist|comply|determine|have|help|identify|process|provide|see|tell|view|watch)\b"
    r"|\b(?:as|i'm|i am) an? (?:ai|(?:large )?language model|text)\b"
    r"|\bno (?:image|video|picture) (?:was |is |has been )?(?:attached|included|provided|shown)\b"
)


def parse_reply(text: str, outcomes: Sequence[str]) -> Parsed:
    """The vote that `text` casts among `outcomes` (the labels of 1..k), or why it casts none. Never raises."""
    text = _THINKING.sub("\n", text[:MAX_REPLY_CHARS])
    reply = _clean(text)
    words = _WORD.findall(reply)
    if not words:
        return _unparseable("the reply holds no word")
    alone = {outcome for part in _parts(text, reply) for outcome in _stands_alone(part, outcomes)}
    if len(alone) == 1 and _OUT_OF_RANGE not in alone:
        return _vote(alone.pop(), "answered")
    mentions = list(_mentions(reply, outcomes))
    named = {mention.outcome for mention in mentions}
    if len(named) > 1 and not named & {None, _OUT_OF_RANGE} and _only_joined(reply, words, len(mentions)):
        return _vote(None, f"names {_labels(named, outcomes)} and singles none out")
    if len(alone) > 1:
        return _unparseable(f"answers {_labels(alone, outcomes)}")
    if words[0] == _NULL:
        return _vote(None, "answered null and went on")
    if _REFUSAL.search(reply) and None not in named:
        return Parsed("judge_refused", None, "declines to answer")
    return _prose(reply, mentions, outcomes)


def majority(votes: Sequence[int | None]) -> int | None:
    """The outcome with the most votes; None (null) when several lead together. Null is a vote like any other.

    Raises ValueError without a vote: a rollout without votes is missing, and missing is not null.
    """
    if not votes:
        raise ValueError("no votes; a rollout without votes is missing, not null")
    tally = {vote: votes.count(vote) for vote in votes}
    most = max(tally.values())
    leaders = [vote for vote, count in tally.items() if count == most]
    return leaders[0] if len(leaders) == 1 else None


def _prose(reply: str, mentions: Sequence[_Mention], outcomes: Sequence[str]) -> Parsed:
    kept = [mention for mention in mentions if not _is_denied(reply, mention)]
    named = {mention.outcome for mention in kept}
    if not named:
        return _unparseable("only denies an outcome" if mentions else "names no outcome and not null")
    if _OUT_OF_RANGE in named:
        return _unparseable(f"names a number outside 1..{len(outcomes)}")
    if len(named) > 1:
        return _unparseable(f"names {_labels(named, outcomes)} in prose")
    if not any(_is_in_place(reply, mention, outcomes) for mention in kept):
        return _unparseable(f"names {_labels(named, outcomes)}, but not in the place of an answer")
    return _vote(named.pop(), "named in prose")


def _vote(outcome: int | None, reason: str) -> Parsed:
    return Parsed("vote", outcome, reason)


def _unparseable(reason: str) -> Parsed:
    return Parsed("judge_unparseable", None, reason)


def _clean(text: str) -> str:
    """Lower case, compatibility forms folded, decimal digits of any script as ASCII, no markup, nothing invisible."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("\u2044", "/")
    digits = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)
    visible = "".join(c for c in digits if unicodedata.category(c) not in {"Cf", "Mn", "Me"})
    return _MARKUP.sub(" ", _CODE_FENCE.sub(" ", visible))


def _parts(text: str, reply: str) -> Iterator[str]:
    """The parts of a reply that may hold an answer that stands alone."""
    values = _json_values(text)
    yield from values
    if not values:
        for line in reply.splitlines():
            yield line
            yield _AFTER_COLON.split(line)[-1]


def _json_values(text: str) -> list[str]:
    """The plain values of a JSON object, fenced or not, as clean text; empty when the reply is no such object."""
    try:
        value = json.loads(_CODE_FENCE.sub("", text))
    except (ValueError, RecursionError):
        return []
    plain = [v for v in value.values() if v is None or isinstance(v, int | str)] if isinstance(value, dict) else []
    return [_NULL if v is None else _clean(str(v)) for v in plain]


def _stands_alone(part: str, outcomes: Sequence[str]) -> list[int | None]:
    """The one answer of a part that holds nothing else, as a list of length one; else empty."""
    words = [word for word in _WORD.findall(part) if word not in _NOUNS | _ARTICLES]
    if not outcomes[0].isdigit():
        words = [word for word in words if not word.isdigit()]  # "red 32"
    return _meaning(words[0], outcomes) if len(words) == 1 else []


def _mentions(reply: str, outcomes: Sequence[str]) -> Iterator[_Mention]:
    for match in _WORD.finditer(reply):
        # In prose "one" is a pronoun or a count.
        if match.group() != _NUMBER_WORDS[0]:
            yield from (_Mention(outcome, *match.span()) for outcome in _meaning(match.group(), outcomes))


def _meaning(word: str, outcomes: Sequence[str]) -> list[int | None]:
    """What a word of the vocabulary stands for, as a list of length one; empty for any other word."""
    if word == _NULL:
        return [None]
    if not outcomes[0].isdigit():
        return [i for i, label in enumerate(outcomes, start=1) if word in (label, label.removesuffix("s"))]
    for numerals in (_NUMBER_WORDS, _ORDINALS):
        if word in numerals:
            word = str(numerals.index(word) + 1)
    integer = _INTEGER.fullmatch(word)
    if integer is None:
        return []
    # A longer numeral is out of every range, and int() refuses the longest ones.
    number = int(integer.group(1)) if len(word) < 10 else _OUT_OF_RANGE
    return [number if 1 <= number <= len(outcomes) else _OUT_OF_RANGE]


def _only_joined(reply: str, words: Sequence[str], mentions: int) -> bool:
    """Whether a reply is made of mentions, joining words and nouns alone."""
    filler = [w for w in words if w in _JOINERS | _ARTICLES | _NOUNS or w.removesuffix("s") in _NOUNS]
    return len(filler) + mentions == len(words)


def _is_denied(reply: str, mention: _Mention) -> bool:
    clause = _CLAUSE_BREAK.split(reply[: mention.start])[-1]
    for word in reversed(_WORD.findall(clause)[-_NEGATION_REACH:]):
        if word in _TURNS:
            return False
        if word in _NEGATIONS or word.endswith("n't"):
            return True
    return False


def _is_in_place(reply: str, mention: _Mention, outcomes: Sequence[str]) -> bool:
    """Whether a mention stands where prose puts an answer; a null does anywhere, for it has no other use."""
    if mention.outcome is None:
        return True
    ends_clause = _CLAUSE_END.match(reply, mention.end) is not None
    if not outcomes[0].isdigit():
        following = _NEXT_WORD.match(reply, mention.end)
        return ends_clause or (following is not None and following.group(1) in _NOUNS)
    word = reply[mention.start : mention.end]
    if word in _ORDINALS or (word not in _NUMBER_WORDS and not word[-1].isdigit()):
        return False  # "the second bin from the right" is not bin 2
    before = _WORD.findall(reply[: mention.start])
    if not before:
        return ends_clause and not _LIST_MARKER.match(reply, mention.end)
    return ends_clause and before[-1] in _NUMBER_LEADS


def _labels(named: set[int | None], outcomes: Sequence[str]) -> str:
    ordered = sorted(named, key=lambda outcome: len(outcomes) + 1 if outcome is None else outcome)
    texts = {None: _NULL, _OUT_OF_RANGE: "a number out of range"}
    return " and ".join(texts[o] if o in texts else outcomes[(o or 0) - 1] for o in ordered)
