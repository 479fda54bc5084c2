"""Prose as clauses: which outcomes it names, which of them it denies, and which it gives as the answer."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judges import vocabulary

# A question mark stays with what it asks.
_SENTENCE_END = re.compile(r"[.!;](?!\w)|(?<=\?)|\n\s*\n")
# Words that end what was denied and lead to what holds: "not in 5 but in 6".
_TURN = r"(?:but|because|since|so|hence|therefore|thus|while|whereas|instead(?!\s+of))"
_CLAUSE_END = re.compile(rf"(,(?!\d)|(?<!\d)[:=]|[:=](?!\d)|[()\[\]{{}}\n—]|(?<!\w)[–-](?=\s)|–(?!\w)|\b{_TURN}\b)")
_LABEL_END = re.compile(r"[:=]")


@dataclass
class Prose:
    """What a text says in its sentences.

    named: every outcome that is mentioned and not denied (None is null, 0 a number that is none). given: those in the
    place of an answer. mentioned: every outcome, denied or not. denies_more: whether something else than an outcome is
    denied, such as that the ball can be seen. qualified: whether a "but" leads to no outcome ("6, but it moves").
    """

    named: set[int | None] = field(default_factory=set)
    given: set[int | None] = field(default_factory=set)
    mentioned: set[int | None] = field(default_factory=set)
    denies_more: bool = False
    qualified: bool = False


def read_prose(text: str, outcomes: Sequence[str]) -> Prose:
    """text: plain (see `judges.reply.plain`)."""
    prose = Prose()
    first, *others = _SENTENCE_END.split(text)
    # "1. The ball is at the bottom" begins a list.
    is_list = first.strip().isdigit() and any(sentence.strip() for sentence in others)
    _read_sentence(prose, first, outcomes, is_first=not is_list)
    for sentence in others:
        _read_sentence(prose, sentence, outcomes, is_first=False)
    return prose


def _read_sentence(prose: Prose, sentence: str, outcomes: Sequence[str], *, is_first: bool) -> None:
    denial, open_denial = False, False
    label: Sequence[str] = ()
    for number, (mark, clause) in enumerate(_clauses(sentence)):
        words = vocabulary.WORD.findall(clause)
        after_label, after_turn = bool(_LABEL_END.fullmatch(mark)), mark.isalpha()
        if after_turn:
            prose.denies_more |= open_denial
            denial, open_denial = False, False
        own = vocabulary.denies(words)
        denial, open_denial = denial or own, open_denial or own
        labelled = after_label and vocabulary.is_label(label, outcomes)
        opens = labelled or after_turn or (is_first and number == 0)
        found = [
            (at, outcome)
            for at, word in enumerate(words)
            for outcome in vocabulary.meaning(word, outcomes)
            if not vocabulary.is_pronoun(word)
        ]
        prose.mentioned |= {outcome for _, outcome in found}
        prose.qualified |= mark == "but" and not found
        for at, outcome in found:
            # A null follows from a denial: "I do not see it, null".
            if denial if outcome is not None else own:
                open_denial = False
                continue
            prose.named.add(outcome)
            if outcome is None:
                given = not (vocabulary.HEDGE.search(clause) or vocabulary.DOUBT.search(clause))
            else:
                alone = len(found) == 1 and (labelled or not after_label)
                given = alone and vocabulary.in_place(words, at, outcomes, opens=opens)
            if given:
                prose.given.add(outcome)
        label = words
    prose.denies_more |= open_denial


def _clauses(sentence: str) -> Iterator[tuple[str, str]]:
    """(what stood before it, clause), without empty ones."""
    first, *rest = _CLAUSE_END.split(sentence)
    for mark, clause in [("", first), *zip(rest[::2], rest[1::2], strict=True)]:
        if clause.strip():
            yield mark, clause
