"""The card's suit is read from both of its halves."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from judges.pixels import cards, read
from scenes import SCENES
from simulator.card_faces import RANKS, SUITS, face
from simulator.cards import PLACE
from tests.pixel_clips import SMALL, covered, encoded, final_frame, label, seen
from video_io import Frame


def with_face(rank: str, suit: str, lower_suit: str | None = None) -> Frame:
    """The table with such a card where a card is laid, painted straight on it."""
    frame = Image.fromarray(cards.table(SMALL))
    card = face((110, 154), rank, suit, lower_suit)
    x, y = SMALL[0] / 2 + PLACE[0] * SMALL[1], PLACE[1] * SMALL[1]
    frame.paste(card, (round(x - 55), round(y - 77)), card)
    return np.array(frame)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shown", SCENES["cards"].outcomes)
def test_every_suit_is_read(shown: str, seed: int) -> None:
    assert label("cards", seen("cards", shown, seed=seed)) == shown


@pytest.mark.parametrize(
    ("shown", "reason"), [("face_down", "face down"), ("blurred", "blurred or deformed"), ("two_suited", "two suits")]
)
def test_every_artefact_is_null(shown: str, reason: str) -> None:
    reading = seen("cards", shown)
    assert reading.outcome is None
    assert reason in reading.reason


@pytest.mark.parametrize("suit", SUITS)
@pytest.mark.parametrize("rank", RANKS)
def test_all_cards_of_the_deck_are_known(rank: str, suit: str) -> None:
    reading = read("cards", [with_face(rank, suit)])
    assert (label("cards", reading), reading.reason.split(",")[0]) == (suit, f"{rank} of {suit}")


@pytest.mark.parametrize(("upper", "lower"), [("hearts", "diamonds"), ("clubs", "spades"), ("spades", "hearts")])
@pytest.mark.parametrize("rank", ["4", "9", "10"])
def test_two_suits_on_one_card_are_null(rank: str, upper: str, lower: str) -> None:
    assert read("cards", [with_face(rank, upper, lower)]).reason == f"two suits: {upper} and {lower}"


def test_a_blurred_card_is_null() -> None:
    frame = Image.fromarray(final_frame("cards", "hearts"))
    box = (round(SMALL[0] / 2 + 0.1 * SMALL[1]), 30, SMALL[0] - 30, 210)
    frame.paste(frame.crop(box).filter(ImageFilter.GaussianBlur(8)), box)
    assert read("cards", [np.array(frame)]).outcome is None


def test_a_card_that_is_partially_obscured_or_absent_is_null() -> None:
    obscured = read("cards", [covered(final_frame("cards", "clubs"), 0.5, 0.86, 0.1, 0.62)])
    assert (obscured.outcome, obscured.reason.split(":")[0]) == (None, "partially obscured")
    assert read("cards", [encoded(cards.table(SMALL))]).reason == "0 cards on the table"
