"""Reply text -> vote: one total function for every judge, and the majority of the votes of a rollout.

The vocabulary is closed: a scene's outcome labels and `null`, as whole words (`judges.vocabulary`). The question asks
for nothing but one of them, so the rules are strict: a reply that is none is asked for again, a wrong vote is not. They
are tried in this order, on what a reasoning model says after its thoughts. Before all of them, a reply which says that
there was no image or video to look at (`judges.unseen`) is `judge_refused`, whatever it answers:

1. An answer that stands alone is the answer, whatever the prose before it says: the whole reply, a line, what follows
   a label and a colon ("Answer: 6", but not "Number of balls: 2"), such a value of a JSON object. Case, markup, quotes,
   a final stop and what the outcome is of ("bin 6") do not matter. What follows may neither take it back ("on closer
   look ...") nor give another, nor may the object ("valid": false).
2. A reply that begins with `null` is null; an explanation may follow.
3. Outcomes and joining words and nothing else ("6 or 7", "left/right") single no outcome out: null. Not where one
   leads to the other: "1. 6", "Bin 5: 6", "5 -> 6".
4. A reply that declines to look is `judge_refused`.
5. Prose that names one outcome, in a clause made of known words alone and in the place of an answer, is that outcome:
   not where it is denied ("anything but 6"), hedged ("unclear", "maybe"), one case of several ("if", "before"), put in
   another's place ("5; no, 6"), or where anything else is denied or a "but" follows. Neither the verb in "the ball left
   the ramp" nor the count in "2 balls" is in such a place.
6. Everything else is `judge_unparseable`: two outcomes in prose, a number out of range, "not red", a colour with the
   number of another pocket ("red 0"), no outcome at all.

Rules 1, 2, 3 and 5 cast votes. The states of rules 4 and 6 are failures of the judge and say nothing about the
rollout: the judge is asked again, and they never become a null.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judges.clauses import read_prose
from judges.reply import plain, shortened, without_fences, without_thoughts
from judges.unseen import says_nothing_was_shown
from judges.vocabulary import (
    ALL_BUT,
    ARTICLES,
    CORRECTION,
    COUNT,
    DOUBT,
    HEDGE,
    JOINERS,
    LABELS,
    NULL,
    OPENS_WITH_NO,
    OUT_OF_RANGE,
    PLACES,
    WORD,
    denies,
    is_label,
    meaning,
    names_no_pocket,
    stands_alone,
)

ParseState = Literal["vote", "judge_refused", "judge_unparseable"]

# Part of the protocol digest of new records: to be raised with any change that gives some reply another vote.
PARSE_RULES = 4


@dataclass(frozen=True)
class Parsed:
    """What a reply says. `outcome` is 1..k, or None for null; it counts only when `state` is "vote"."""

    state: ParseState
    outcome: int | None
    reason: str


# A null and its end or its reason: not "null would be wrong", nor "null?".
_OPENS_WITH_NULL = re.compile(rf"\W*{NULL}\s*(?:$|[.,;:!()\]}}\n—–-]|because\b|since\b|as\b|due\b)")
_LABELLED = re.compile(r"(?:^|[.,;(){}\n—])\s*([^.,;(){}\n—:=]*)[:=]\s+([^:=]+)$")
_LIST_NUMBER = re.compile(r"\s*\d+[.)]\s*")
_LIST_ITEM = re.compile(r"^\s*\d+[.)]\s+\w|[(\[]\s*\d+\s*[)\]]")
_UNSURE_MARK = re.compile(r"[?~≈≤≥±<]")
_REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:\w+ )?(?:sorry|unable|not able)\b"
    r"|\bi (?:cannot|can't|could not|couldn't|will not|won't|do not|don't|am not able to) (?:\w+ )?"
    r"(?:access|analy[sz]e|answer|assist|comply|determine|have|help|identify|process|provide|see|tell|view|watch)\b"
    r"|\b(?:as|i'm|i am) an? (?:ai|(?:large )?language model|text)\b"
    r"|\bno (?:image|video|picture) (?:was |is |has been )?(?:attached|included|provided|shown)\b"
)


def parse_reply(text: str, outcomes: Sequence[str]) -> Parsed:
    """The vote that `text` casts among `outcomes` (the labels of 1..k), or why it casts none. Never raises."""
    parsed = _read(text, outcomes)
    if parsed.outcome is not None and names_no_pocket(WORD.findall(plain(without_thoughts(shortened(text)))), outcomes):
        return _unparseable("names a pocket that the wheel does not have")
    return parsed


def _read(text: str, outcomes: Sequence[str]) -> Parsed:
    text = without_thoughts(shortened(text))
    reply = plain(text)
    if not WORD.search(reply):
        return _unparseable("the reply holds no word")
    if says_nothing_was_shown(reply):
        return Parsed("judge_refused", None, "says that it was shown nothing")
    records, behind = _json_objects(text)
    if records:
        answers = [answer for record in records for answer in _answers(record)]
        values = [words for value in answers if (words := stands_alone(WORD.findall(value), outcomes))]
        alone, rest = {outcome for words in values for outcome in words}, plain(behind)
        if not alone:
            return _unparseable("a JSON object without an answer")
        if alone != {None} and any(_takes_back(record) for record in records):
            return _unparseable("a JSON object that takes its answer back")
    else:
        alone, rest = _standing_alone(reply, outcomes)
    if alone:
        return _answered(alone, rest, reply, outcomes)
    prose = read_prose(reply, outcomes)
    if ALL_BUT.search(reply):
        return _unparseable("names what is not the answer")
    if _only_joined(reply, outcomes):
        return _vote(None, f"names {_labels(prose.named, outcomes)} and singles none out")
    if _OPENS_WITH_NULL.match(reply) and not prose.given - {None}:
        return _vote(None, "answered null and went on")
    if _REFUSAL.search(reply) and None not in prose.named:
        return Parsed("judge_refused", None, "declines to answer")
    if not prose.named:
        return _unparseable("only denies an outcome" if prose.mentioned else "names no outcome and not null")
    if OUT_OF_RANGE in prose.named:
        return _unparseable(f"names a number outside 1..{len(outcomes)}")
    if len(prose.named) > 1:
        return _unparseable(f"names {_labels(prose.named, outcomes)} in prose")
    (outcome,) = prose.named
    if outcome not in prose.given:
        return _unparseable(f"names {_labels(prose.named, outcomes)}, but not in the place of an answer")
    if prose.mentioned != {outcome} and (CORRECTION.search(reply) or OPENS_WITH_NO.search(reply)) and outcome:
        return _unparseable(f"names {_labels(prose.mentioned, outcomes)}, one in place of another")
    if outcome is not None and (prose.denies_more or prose.qualified or HEDGE.search(reply) or DOUBT.search(reply)):
        return _unparseable(f"names {_labels(prose.named, outcomes)}, but with a doubt or a denial")
    return _vote(outcome, "named in prose")


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


def _answered(alone: set[int | None], rest: str, reply: str, outcomes: Sequence[str]) -> Parsed:
    """alone: the answers that stand alone. rest: what follows the last of them."""
    if len(alone) > 1:
        if not alone & {None, OUT_OF_RANGE} and _only_joined(reply, outcomes):
            return _vote(None, f"names {_labels(alone, outcomes)} and singles none out")
        return _unparseable(f"answers {_labels(alone, outcomes)}")
    if OUT_OF_RANGE in alone:
        return _unparseable(f"answers a number outside 1..{len(outcomes)}")
    (outcome,) = alone
    if outcome is not None and HEDGE.search(rest):
        return _unparseable(f"answers {_labels(alone, outcomes)} and takes it back")
    prose = read_prose(rest, outcomes)
    if others := prose.given - alone:
        return _unparseable(f"answers {_labels(alone, outcomes)} and then {_labels(others, outcomes)}")
    differs = prose.named != alone if CORRECTION.search(rest) else prose.mentioned - alone
    if differs and (CORRECTION.search(rest) or OPENS_WITH_NO.search(rest)):
        return _unparseable(f"answers {_labels(alone, outcomes)} and looks again")
    return _vote(outcome, "answered")


def _vote(outcome: int | None, reason: str) -> Parsed:
    return Parsed("vote", outcome, reason)


def _unparseable(reason: str) -> Parsed:
    return Parsed("judge_unparseable", None, reason)


def _standing_alone(reply: str, outcomes: Sequence[str]) -> tuple[set[int | None], str]:
    """The answers that stand alone in the lines of a reply, and the text after the last of them."""
    lines = [line.strip() for line in reply.splitlines()]
    last = max(number for number, line in enumerate(lines) if line)
    found: set[int | None] = set()
    rest = ""
    for number, line in enumerate(lines):
        if labelled := _LABELLED.search(line):
            value = labelled.group(2) if is_label(WORD.findall(labelled.group(1)), outcomes) else ""
        elif line.endswith(":") or (_LIST_NUMBER.fullmatch(line) and not _LIST_NUMBER.fullmatch(lines[last])):
            continue  # a heading, or the number of an item
        else:
            value = line
        outcome = [] if _UNSURE_MARK.search(value) else stands_alone(WORD.findall(value), outcomes)
        if outcome and (labelled or _may_stand_below(lines[:number], outcomes)):
            found |= set(outcome)
            rest = "\n".join(lines[number + 1 :])
    return found, rest


def _may_stand_below(lines: Sequence[str], outcomes: Sequence[str]) -> bool:
    """Whether a line below these may be an answer: not below a foreign label, nor where a sentence that hedges, denies
    or counts goes on."""
    above = next((line for line in reversed(lines) if line), "")
    if above.endswith((":", "=")):
        return is_label(WORD.findall(above), outcomes)
    sentence: list[str] = []
    for line in reversed(lines):
        if not line or line.endswith((".", "!", ";")):
            break
        sentence.insert(0, line)
    said = " ".join(sentence)
    return not (denies(WORD.findall(said)) or any(kind.search(said) for kind in (HEDGE, DOUBT, COUNT, ALL_BUT)))


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object: a name may come twice, with two values."""


def _json_objects(text: str) -> tuple[list[_Pairs], str]:
    """The JSON objects that a reply consists of or holds, fenced or not, and what stands behind the last of them."""
    text = without_fences(text)
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    found: list[_Pairs] = []
    end = 0
    while (start := text.find("{", end)) >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found, text[end:]


def _answers(record: _Pairs) -> Iterator[str]:
    """The values that a JSON object gives under an answer's name, as plain text."""
    for key, value in record:
        if not is_label(_key_words(key), ["1"]):
            continue
        if isinstance(value, _Pairs):
            yield from _answers(value)
        elif value is None:
            yield NULL
        elif isinstance(value, int | str):
            yield plain(str(value))


def _takes_back(record: _Pairs) -> bool:
    """Whether an object says beside its answer that it is none: "valid": false, "ambiguous": true."""
    for key, value in record:
        words = " ".join(_key_words(key))
        if value is False or (value is True and (NULL in words or HEDGE.search(words) or DOUBT.search(words))):
            return True
        if isinstance(value, _Pairs) and _takes_back(value):
            return True
    return False


def _key_words(key: str) -> list[str]:
    return WORD.findall(plain(key.replace("_", " ").replace("-", " ")))


def _only_joined(reply: str, outcomes: Sequence[str]) -> bool:
    """Whether a reply is made of several outcomes, joining words and what outcomes are of, and of nothing else."""
    words = WORD.findall(reply)
    named = [outcome for word in words for outcome in meaning(word, outcomes)]
    filler = [w for w in words if w in JOINERS | ARTICLES | LABELS | PLACES or w.removesuffix("s") in LABELS | PLACES]
    several = len(set(named)) > 1 and not set(named) & {None, OUT_OF_RANGE}
    # "5 → 6", "Bin 1: 6", "1. 6": one of them leads to the other, labels it, or is its place in a list.
    ordered = "→" in reply or any(_leads(line, outcomes) for line in reply.splitlines())
    return several and not ordered and not _UNSURE_MARK.search(reply) and len(filler) + len(named) == len(words)


def _leads(line: str, outcomes: Sequence[str]) -> bool:
    """Whether a line holds the number of an item or of a note, or an outcome before a colon."""
    *labels, _ = re.split("[:=]", line)
    return bool(_LIST_ITEM.search(line)) or any(meaning(w, outcomes) for part in labels for w in WORD.findall(part))


def _labels(named: set[int | None], outcomes: Sequence[str]) -> str:
    ordered = sorted(named, key=lambda outcome: len(outcomes) + 1 if outcome is None else outcome)
    texts = {None: NULL, OUT_OF_RANGE: "a number out of range"}
    return " and ".join(texts[o] if o in texts else outcomes[(o or 0) - 1] for o in ordered)
