"""The parser of judge replies and the majority vote."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.parse import Parsed, majority, parse_reply
from judges.reply import MAX_REPLY_CHARS, shortened
from scenes import SCENES, Scene
from simulator.roulette_wheel import NUMBERS, colour

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
    ("galton_board", '{"bin": 6, "confidence": 95}', 6),
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
    ("galton_board", "6.\n7.", NULL),
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
    ("galton_board", "Step 1: one ball\nStep 2: settled\nBin: 6", 6),
    ("galton_board", "Balls: 1\nBin: 6", 6),
    ("galton_board", "Balls visible:\n1\nBin:\n6", 6),
    ("galton_board", "Answer: 6\nConfidence: 9", 6),
    ("galton_board", 'Here it is:\n```json\n{"bin": 6, "balls": 1}\n```', 6),
    ("galton_board", '{"result": {"bin_number": 6}, "balls": 1}', 6),
    ("galton_board", "I am not sure about bin 5.\n\n6", 6),
    ("galton_board", "6\n\nIt is not in bin 5.", 6),
    ("galton_board", "It is not in 5, but in 6.", 6),
    ("galton_board", "The ball is in the 6.", UNPARSEABLE),
    ("galton_board", "The green ball has settled in bin 6.", 6),
    ("galton_board", "The ball has landed in bin number 6 at the bottom", 6),
    ("galton_board", "The ball isn't visible, so the answer is null.", NULL),
    ("galton_board", "I do not see any ball, null", NULL),
    ("galton_board", "null, because there is no ball in bin 6", NULL),
    ("dice", "Top face: 5", 5),
    ("dice", "So the answer is: 5", 5),
    ("dice", "The number on the top face is 5.", 5),
    ("lottery", "Ball number: 17", 17),
    ("ball", "The ball clearly exits left.", 1),
    ("ball", "The ball goes through the right exit.", 2),
    ("ball", "not right but left", 1),
    ("walking", "The person has clearly chosen to walk left.", 1),
    ("pendulum", "The lowest weight is to the left of the central pivot.", 1),
    ("cards", "The suit is hearts.", 1),
    ("roulette", "Step 3: The pocket is red.", 1),
    ("roulette", "The ball is in a red pocket.", 1),
    ("roulette", "pocket color: green", 3),
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

# What keeps its vote beside its kin among CORRECTIONS.
CASES += [
    ("galton_board", "It is lower but in bin 6.", 6),
    ("galton_board", "6\nOn closer look it is bin 6", 6),
    ("galton_board", "6\n\nAt second 5 the ball lands.", 6),
    ("galton_board", "6\n\nNo other ball is there.", 6),
    ("galton_board", '{"valid": true, "bin": 6}', 6),
    ("galton_board", '{"answer": 6}{"answer": 6}', 6),
    ("galton_board", '{"valid": false, "bin": null}', NULL),
    ("galton_board", "Answer -> 6", 6),
    ("galton_board", "=> 6", 6),
    ("galton_board", "bins: 6 and 7", NULL),
    ("lottery", "ball 6", 6),
    ("ball", "The ball exits left.", 1),
    ("ball", "The ball leaves left.", 1),
    ("ball", "Answer: left channel", 1),
    ("cards", "card: hearts\nsuit: hearts", 1),
    ("roulette", "green 0", 3),
    ("roulette", "Red 36", 1),
    ("roulette", "red 19", 1),
    ("roulette", "10 black", 2),
    ("roulette", "black pocket 11", 2),
    ("roulette", "Black, number 29", 2),
]

# What excludes an outcome, replaces it with another, says beside it that it does not hold, or only numbers it.
CORRECTIONS: list[tuple[str, str]] = [
    *(
        ("galton_board", f"{start}{every} but{middle} 6{stop}")
        for start in ("", "The answer is ", "Answer: ")
        for every in ("anything", "everything", "all", "any bin", "every bin", "all of the bins", "anything,")
        for middle in ("", " bin", " in bin")
        for stop in ("", ".")
    ),
    ("galton_board", "It is anything but\n6"),
    ("galton_board", "anything but null"),
    ("ball", "anything but left"),
    ("cards", "anything but hearts"),
    ("roulette", "all but red"),
    ("ball", "left; no, right"),
    ("ball", "left, no right"),
    ("ball", "Left... no, it is right"),
    ("ball", "left (no, right)"),
    ("ball", "left, no it goes right"),
    ("ball", "left, never mind, not right"),
    ("ball", "left\nNo."),
    ("ball", "left. Wait, right"),
    ("ball", "left. Actually, not right"),
    ("ball", "On closer look not left: right, so left"),
    ("walking", "turned left but came back"),
    ("walking", "turned left, then came back"),
    ("galton_board", "6 — no, 7"),
    ("galton_board", "6\nOn closer look it is bin 7"),
    ("galton_board", "6\nOn closer look: 7"),
    ("galton_board", "6\nOn closer look it is not in bin 6"),
    ("galton_board", "Answer: 6\n\nHmm, 7"),
    ("galton_board", "6\nNo other: it is not 6 but 7"),
    ("galton_board", "6 but still moving"),
    ("galton_board", "6, but it moves"),
    ("galton_board", "6, still moving"),
    ("galton_board", "6 (ball still falling)"),
    ("galton_board", "The ball leaves bin 6"),
    ("galton_board", "The ball exits bin 6"),
    ("cards", "spades (face down)"),
    ("ball", "The ball left."),
    ("ball", "The ball then left."),
    ("ball", "It rolled and left"),
    ("walking", "He left"),
    ("walking", "the person left"),
    ("walking", "Answer: the person left"),
    ("roulette", "Ball green"),
    ("galton_board", "1. 6"),
    ("galton_board", "2. 6"),
    ("galton_board", "1) 6"),
    ("galton_board", "(1) 6"),
    ("galton_board", "[1] 6"),
    ("galton_board", "1. bin 6"),
    ("galton_board", "[1] [6]"),
    ("galton_board", "bin: 6 [1]"),
    ("galton_board", "1: 6"),
    ("galton_board", "Bin 1: 6"),
    ("galton_board", "Bin: 5 -> 6"),
    ("galton_board", "5 => 6"),
    ("galton_board", "5 → 6"),
    ("ball", "right answer: left"),
    ("galton_board", '{"answer": 6}{"answer": 7}'),
    ("galton_board", '{"answer": 6, "answer": 7}'),
    ("galton_board", '{"bin": 6, "answer": 7}'),
    ("galton_board", '{"valid": false, "bin": 6}'),
    ("galton_board", '{"result": {"bin": 6, "settled": false}}'),
    ("galton_board", '{"bin": 6, "ambiguous": true}'),
    ("galton_board", '{"bin": 6}\nThe ball is in bin 7'),
    ("roulette", "Red 0"),
    ("roulette", "green 5"),
    ("roulette", "red 37"),
    ("roulette", "black 1"),
    ("roulette", "10 red"),
    ("roulette", "Pocket 17 is red"),
    ("roulette", "It is 5, so green"),
    ("roulette", "red pocket 11"),
    ("roulette", "Red, number 29"),
    ("roulette", "black 19"),
    ("roulette", "red " + "9" * 3000),
    ("roulette", '{"colour": "red", "number": 22}'),
]

# What denies, hedges, counts, or is about something else than the outcome: no vote, however much it sounds like one.
NO_ANSWERS: list[tuple[str, str]] = [
    ("ball", "There is no ball in the left channel."),
    ("ball", "The ball does not roll into the left channel."),
    ("ball", "The ball never reaches the right exit"),
    ("ball", "The ball fails to reach the left exit."),
    ("ball", "The ball cannot be in the left channel"),
    ("ball", "It isn't in the left channel."),
    ("ball", "The ball did not go through the channel on the left"),
    ("ball", "No ball can be seen on the left side."),
    ("ball", "I see no sign that the ball exits left."),
    ("ball", "Left is not where it goes."),
    ("ball", "The left channel is empty."),
    ("ball", "Not left, not right."),
    ("ball", "It goes neither left nor right."),
    ("ball", "It leaves without entering the left channel."),
    ("ball", "The ball stays in the middle instead of the left channel."),
    ("ball", "The ball stops rather than exits left."),
    ("ball", "The ball does not\nroll\nleft"),
    ("ball", "The ball goes nowhere,\nleft"),
    ("ball", "The right answer is unclear."),
    ("ball", "It is hard to give the right answer."),
    ("ball", "The right answer"),
    ("ball", "The right answer is null"),
    ("ball", "Right, the person is not visible."),
    ("ball", "Right.\nThe ball exits left."),
    ("ball", "Unclear whether left"),
    ("ball", "undecided, maybe left"),
    ("ball", "either left"),
    ("ball", "probably left"),
    ("ball", "I think it goes left."),
    ("ball", "It could be left."),
    ("ball", "left?"),
    ("ball", "Left\n\nBut I am not sure."),
    ("ball", "Left\n\nActually, it could be the other one."),
    ("ball", "left\nThe ball exits right."),
    ("ball", "It is left, but not clearly."),
    ("ball", "If it goes on, it exits left."),
    ("ball", "The ball would exit left."),
    ("ball", "The video does not show whether it is left."),
    ("ball", "There is a wall on the left side."),
    ("ball", "The left ball rolls off."),
    ("ball", "The ball comes from the left"),
    ("ball", "The fork is left"),
    ("ball", "Channels: left"),
    ("ball", "The ball has left."),
    ("ball", "The ball is left."),
    ("ball", "The ball starts on the left"),
    ("ball", "It is almost in the left channel."),
    ("pendulum", "The first rod is on the left."),
    ("walking", "The person is undecided between left"),
    ("galton_board", "The ball did not end up in bin 6."),
    ("galton_board", "The ball disappears before it reaches bin 6."),
    ("galton_board", "No ball is visible in bin 6."),
    ("galton_board", "Bin 6 is empty."),
    ("galton_board", "The picture shows no bin 6"),
    ("galton_board", "It is not in bin 5, 6."),
    ("galton_board", "The ball is above bin 6."),
    ("galton_board", "The ball is near bin 6"),
    ("galton_board", "It looks like 6 but it is unclear."),
    ("galton_board", "It is in 6, but not settled."),
    ("galton_board", "6, I guess"),
    ("galton_board", "6?"),
    ("galton_board", "~6"),
    ("galton_board", "<6"),
    ("galton_board", "maybe 6"),
    ("galton_board", "perhaps 6 or 7"),
    ("galton_board", "It is between 5 and 6."),
    ("galton_board", "It is in either 5 or 6."),
    ("galton_board", "The ball straddles 5 and 6."),
    ("galton_board", "The number of balls is 2."),
    ("galton_board", "The number of green ball is 2"),
    ("galton_board", "Number of balls: 2"),
    ("galton_board", "Number of balls:\n2"),
    ("galton_board", "Number of balls\n2"),
    ("galton_board", "Balls: 2"),
    ("galton_board", "balls=2"),
    ("galton_board", "At least one ball is 2"),
    ("galton_board", "2 ball"),
    ("galton_board", "One ball."),
    ("galton_board", "There are several bins, 11."),
    ("galton_board", "Bins: 11"),
    ("galton_board", "Rows: 10"),
    ("galton_board", "It has 10 rows"),
    ("galton_board", "Frame 3: nothing"),
    ("galton_board", "Frame 3: 6"),
    ("galton_board", "Bin 6:\nempty"),
    ("galton_board", "Confidence: 9"),
    ("galton_board", "I am 9 % sure."),
    ("galton_board", "9%"),
    ("galton_board", "Score: 9"),
    ("galton_board", '{"confidence": 9}'),
    ("galton_board", '{"confidence": null}'),
    ("galton_board", '{"number_of_balls": 2}'),
    ("galton_board", "Step 1: 2"),
    ("galton_board", "Step 3"),
    ("galton_board", "1.\nThe ball is at the bottom."),
    ("galton_board", "First,\nI look at the bins."),
    ("galton_board", "third"),
    ("galton_board", "Wrong answer: 6"),
    ("galton_board", "Best guess: 6"),
    ("galton_board", "Null would be wrong."),
    ("galton_board", "null?"),
    ("galton_board", "It is not null."),
    ("galton_board", "Reply with null if the ball straddles two bins."),
    ("galton_board", "null\n\nThe ball is in bin 6."),
    ("dice", "Number of dice: 2"),
    ("dice", "The die is on its edge. Visible faces: 3"),
    ("dice", "Visible faces: 3"),
    ("dice", "Faces visible: 2"),
    ("dice", "The die is cocked, showing 3"),
    ("dice", "Dice count = 2"),
    ("dice", "There is no die showing a 6"),
    ("dice", "The top face cannot be 6"),
    ("dice", "3\n\nWait, no."),
    ("roulette", "The red ball is not visible."),
    ("roulette", "There is a red ball"),
    ("roulette", "The ball is red."),
    ("roulette", "Not red, black"),
    ("roulette", "The ball is between pockets; the pocket is red"),
    ("cards", "The card is not hearts."),
    ("cards", "Two cards are visible, one is hearts."),
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


@pytest.mark.parametrize(("scene", "reply"), NO_ANSWERS)
def test_what_denies_hedges_or_counts_is_no_vote(scene: str, reply: str) -> None:
    assert parse_reply(reply, SCENES[scene].outcomes).state == "judge_unparseable"


@pytest.mark.parametrize(("scene", "reply"), CORRECTIONS)
def test_what_excludes_replaces_or_numbers_an_outcome_is_asked_again(scene: str, reply: str) -> None:
    assert parse_reply(reply, SCENES[scene].outcomes).state == "judge_unparseable"


@pytest.mark.parametrize("reply", ["I cannot see the video.\n6", "I cannot see the video. 6"])
def test_an_outcome_of_a_video_that_was_not_seen_is_no_vote(reply: str) -> None:
    assert parse_reply(reply, SCENES["galton_board"].outcomes).state == "judge_refused"


def test_the_pockets_of_the_roulette_wheel_are_those_of_the_simulator() -> None:
    for pocket in NUMBERS:
        for label in SCENES["roulette"].outcomes:
            read = parse_reply(f"{label} {pocket}", SCENES["roulette"].outcomes).state
            assert read == ("vote" if label == colour(pocket) else UNPARSEABLE)


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


THOUGHTS = "It could be 3. Or 4? The ball is not in bin 5.\n" * 200


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f"<think>{THOUGHTS}</think>\n\n4", 4),
        (f"<thinking>\n{THOUGHTS}</thinking>Answer: 4", 4),
        (f"{THOUGHTS}Answer: 3</think>\n\n4", 4),
        (f"3\n</think>\n<think>\n5\n</think>{THOUGHTS}\n4", 4),
        (f"<think>{THOUGHTS}3", UNPARSEABLE),
        (f"<think>3</think>{THOUGHTS}", UNPARSEABLE),
        (f"{THOUGHTS}\n4", 4),
        ("x" * MAX_REPLY_CHARS + "\n4", 4),
        (f"<think>{THOUGHTS}</think>" + "x" * MAX_REPLY_CHARS + "\n4", 4),
        ("4 " * MAX_REPLY_CHARS, UNPARSEABLE),
    ],
)
def test_the_answer_after_long_thoughts_is_read_and_kept(reply: str, expected: int | str) -> None:
    outcomes = SCENES["dice"].outcomes
    kept = shortened(reply)
    assert len(kept) <= MAX_REPLY_CHARS
    assert meaning(parse_reply(reply, outcomes)) == meaning(parse_reply(kept, outcomes)) == expected


@given(st.lists(st.sampled_from(["<think>", "</think>", "4", "\n", "x" * 999, "not 3. " * 99]), max_size=20))
def test_a_shortened_reply_is_not_shortened_again(pieces: list[str]) -> None:
    kept = shortened("".join(pieces))
    assert len(kept) <= MAX_REPLY_CHARS
    assert shortened(kept) == kept
    parsed = [parse_reply(text, SCENES["dice"].outcomes) for text in ("".join(pieces), kept)]
    assert parsed[0] == parsed[1]


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
