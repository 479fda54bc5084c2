"""The parser of judge replies and the majority vote."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.parse import MAX_REPLY_CHARS, Parsed, majority, parse_reply
from scenes import SCENES, Scene

NULL = "null"
REFUSED = "judge_refused"
UNPARSEABLE = "judge_unparseable"

# Scene, reply, and what it says: an outcome (1-based), NULL, or the judge's failure.
CASES: list[tuple[str, str, int | str]] = [
    # An answer that stands alone.
    ("galton_board", "6", 6),
    ("galton_board", " 6\n", 6),
    ("galton_board", "6.", 6),
    ("galton_board", "06", 6),
    ("galton_board", "**6**", 6),
    ("galton_board", "`6`", 6),
    ("galton_board", "'6'", 6),
    ("galton_board", "“6”", 6),
    ("galton_board", "[6]", 6),
    ("galton_board", "(6)", 6),
    ("galton_board", "- 6", 6),
    ("galton_board", "#6", 6),
    ("galton_board", "bin 6", 6),
    ("galton_board", "Bin number: 6", 6),
    ("galton_board", "Answer: 6", 6),
    ("galton_board", "answer=6", 6),
    ("galton_board", "Final answer: **6**.\n", 6),
    ("galton_board", "\\boxed{6}", 6),
    ("galton_board", "$\\boxed{\\text{6}}$", 6),
    ("galton_board", "```\n6\n```", 6),
    ("galton_board", '```json\n{"bin": 6}\n```', 6),
    ("galton_board", '{"bin": "6"}', 6),
    ("galton_board", '{"bin": 6, "confidence": 0.9}', 6),
    ("galton_board", '{"bin": 6, "reason": "not 5, nor 7"}', 6),
    ("galton_board", '{"bin": 6', 6),
    ("galton_board", "six", 6),
    ("galton_board", "one", 1),
    ("galton_board", "6th bin", 6),
    ("galton_board", "the sixth bin", 6),
    ("galton_board", "６", 6),
    ("galton_board", "٦", 6),
    ("galton_board", "⑥", 6),
    ("galton_board", "6\ufe0f\u20e3", 6),
    ("galton_board", "\u200b6\u200b", 6),
    ("galton_board", "The ball could be in 5 or 7, but it is lower.\n\n6", 6),
    ("galton_board", "6\n\nIt passed bins 4 and 5 on its way.", 6),
    ("galton_board", "<think>5 or 7? No.</think>6", 6),
    ("dice", "3", 3),
    ("lottery", "20", 20),
    ("lottery", "ball 17", 17),
    ("ball", "left", 1),
    ("ball", "RIGHT", 2),
    ("ball", "The left channel.", 1),
    ("ball", "Left\n\nIt first touches the right wall.", 1),
    ("cards", "Hearts", 1),
    ("cards", "spade", 4),
    ("cards", "7 hearts", 1),
    ("roulette", "red", 1),
    ("roulette", "Red 32", 1),
    ("roulette", "Step 1: yes\nStep 2: inside\nStep 3: green", 3),
    ("roulette", '{"colour": "black", "number": 22}', 2),
    # Null, alone or with its reason.
    ("galton_board", "null", NULL),
    ("galton_board", "'null'", NULL),
    ("galton_board", "NULL.", NULL),
    ("galton_board", '{"answer": null}', NULL),
    ("galton_board", "null. The ball straddles bins 6 and 7.", NULL),
    ("galton_board", "Null - there are 2 balls", NULL),
    ("galton_board", "I cannot see the ball, so null.", NULL),
    ("cards", "The answer is null because the card is face-down.", NULL),
    ("roulette", "The ball is on the hub, hence 'null'", NULL),
    # Outcomes and joining words, and no single one.
    ("galton_board", "6 or 7", NULL),
    ("galton_board", "6, 7", NULL),
    ("galton_board", "6\n7", NULL),
    ("galton_board", "between bins 6 and 7", NULL),
    ("ball", "left/right", NULL),
    ("cards", "hearts and clubs", NULL),
    # Prose that names one outcome in the place of an answer.
    ("galton_board", "The ball landed in bin 6.", 6),
    ("galton_board", "6, clearly settled", 6),
    ("galton_board", "6 (six)", 6),
    ("galton_board", "It is not in 5 but in 6.", 6),
    ("galton_board", "There is one ball. It is in bin 4.", 4),
    ("dice", "The top face shows a 5.", 5),
    ("lottery", "Exactly one ball is visible, and it reads 13", 13),
    ("ball", "The ball exits through the left channel at the bottom.", 1),
    ("walking", "The person turns right.", 2),
    ("cards", "The card is the Ace of Spades.", 4),
    ("cards", "3 of clubs", 3),
    ("roulette", "Black, not red", 2),
    ("roulette", "The ball rests in the black pocket 22", 2),
    # The judge declines.
    ("galton_board", "I'm sorry, but I can't view images.", REFUSED),
    ("galton_board", "I cannot determine which bin it is in.", REFUSED),
    ("ball", "As an AI language model, I do not watch videos.", REFUSED),
    ("ball", "I am unable to tell left from right here.", REFUSED),
    ("cards", "No image was provided.", REFUSED),
    # Anything else.
    ("galton_board", "", UNPARSEABLE),
    ("galton_board", " \n\t", UNPARSEABLE),
    ("galton_board", "...", UNPARSEABLE),
    ("galton_board", "12", UNPARSEABLE),
    ("galton_board", "0", UNPARSEABLE),
    ("galton_board", "-6", UNPARSEABLE),
    ("galton_board", "6.5", UNPARSEABLE),
    ("galton_board", "6/11", UNPARSEABLE),
    ("galton_board", "6-7", UNPARSEABLE),
    ("galton_board", "6a", UNPARSEABLE),
    ("galton_board", "9" * 5000, UNPARSEABLE),
    ("galton_board", "none", UNPARSEABLE),
    ("galton_board", "not 6", UNPARSEABLE),
    ("galton_board", "It isn't in bin 6.", UNPARSEABLE),
    ("galton_board", "non-null", UNPARSEABLE),
    ("galton_board", "6 or null", UNPARSEABLE),
    ("galton_board", "null\n6", UNPARSEABLE),
    ("galton_board", "There are 2 balls.", UNPARSEABLE),
    ("galton_board", "The bin is 6 of 11.", UNPARSEABLE),
    ("galton_board", "1. The ball is at the bottom.", UNPARSEABLE),
    ("galton_board", "First, I look at the bins.", UNPARSEABLE),
    ("galton_board", "It is in the second bin from the right.", UNPARSEABLE),
    ("galton_board", '{"bin": 6, "confidence": 95}', UNPARSEABLE),
    ("galton_board", "<think>It is 6", UNPARSEABLE),
    ("dice", "7", UNPARSEABLE),
    ("dice", "3 pips", UNPARSEABLE),
    ("lottery", "21", UNPARSEABLE),
    ("ball", "The ball left the ramp", UNPARSEABLE),
    ("ball", "The ball left the fork on the right", UNPARSEABLE),
    ("ball", "neither left nor right", UNPARSEABLE),
    ("ball", "left-right", UNPARSEABLE),
    ("ball", "leftmost", UNPARSEABLE),
    ("ball", "1", UNPARSEABLE),
    ("ball", "It goes right and then exits left.", UNPARSEABLE),
    ("cards", "♥", UNPARSEABLE),
    ("roulette", "not red", UNPARSEABLE),
    ("roulette", "infrared", UNPARSEABLE),
    ("roulette", "The wheel is red and black; the ball lies on green.", UNPARSEABLE),
]

OUTCOMES = [scene.outcomes for scene in SCENES.values()]


def meaning(parsed: Parsed) -> int | str:
    if parsed.state != "vote":
        return parsed.state
    return NULL if parsed.outcome is None else parsed.outcome


@pytest.mark.parametrize(("scene", "reply", "expected"), CASES)
def test_each_kind_of_reply_has_its_defined_result(scene: str, reply: str, expected: int | str) -> None:
    parsed = parse_reply(reply, SCENES[scene].outcomes)
    assert meaning(parsed) == expected
    assert parsed.reason


@pytest.mark.parametrize("scene", SCENES.values(), ids=lambda scene: scene.key)
def test_every_label_of_every_scene_is_read_as_itself(scene: Scene) -> None:
    for outcome, label in enumerate(scene.outcomes, start=1):
        for reply in (label, label.upper(), f"'{label}'", f"**{label}**.", f'{{"answer": "{label}"}}'):
            assert meaning(parse_reply(reply, scene.outcomes)) == outcome
    assert meaning(parse_reply("null", scene.outcomes)) == NULL


@given(st.text() | st.text(alphabet="0123456789 \n.,:-nulleftrightor'\"{}[]*"), st.sampled_from(OUTCOMES))
def test_every_text_has_a_result(text: str, outcomes: tuple[str, ...]) -> None:
    parsed = parse_reply(text, outcomes)
    assert parsed.state in {"vote", "judge_refused", "judge_unparseable"}
    assert parsed.outcome is None or (parsed.state == "vote" and 1 <= parsed.outcome <= len(outcomes))


@given(st.lists(st.sampled_from(["6", "left", "red", "not", "bin", "the", "null", ".", "\n", "I can't see", ":"])))
def test_an_outcome_is_only_read_where_its_label_stands(words: list[str]) -> None:
    parsed = parse_reply(" ".join(words), SCENES["roulette"].outcomes)
    if parsed.state == "vote" and parsed.outcome is not None:
        assert parsed.outcome == 1
        assert "red" in words


@given(st.text(alphabet=st.characters(exclude_categories=["L", "N"])))
def test_no_vote_comes_from_a_reply_without_letters_and_digits(text: str) -> None:
    assert parse_reply(text, SCENES["dice"].outcomes).state == "judge_unparseable"


def test_what_follows_the_limit_of_a_reply_is_not_read() -> None:
    assert parse_reply("x" * MAX_REPLY_CHARS + "\n6", SCENES["dice"].outcomes).state == "judge_unparseable"


@pytest.mark.parametrize(
    ("votes", "outcome"),
    [
        ((6, 6, 6), 6),
        ((6, 6, 7), 6),
        ((7, 6, 6), 6),
        ((6, None, 6), 6),
        ((None, None, 6), None),
        ((None, None, None), None),
        ((5, 6, 7), None),
        ((5, 6, None), None),
        ((5, 5, 6, 6), None),
        ((None, 6), None),
        ((6,), 6),
    ],
)
def test_the_majority_decides_and_ties_are_null(votes: tuple[int | None, ...], outcome: int | None) -> None:
    assert majority(votes) == outcome


def test_a_rollout_without_votes_is_not_null() -> None:
    with pytest.raises(ValueError, match="missing"):
        majority(())


@given(st.lists(st.none() | st.integers(1, 3), min_size=1, max_size=7), st.randoms())
def test_the_order_of_votes_does_not_matter(votes: list[int | None], rng: random.Random) -> None:
    shuffled = list(votes)
    rng.shuffle(shuffled)
    assert majority(votes) == majority(shuffled)
