"""The card: what is drawn is what was asked for, and its face is hidden until it turns."""

import itertools

import numpy as np
import pytest
from scipy.ndimage import label

from constants import SIMULATOR_SIZE
from scenes import SCENES
from simulator.base import Take
from simulator.card_faces import BLACK, LAYOUTS, RED, SUITS, blurred_face, face
from simulator.cards import CARD_WIDTH, FRAMES, PLACE, SIMULATORS, motion, start_card
from video_io import Frame

CARDS = SIMULATORS["cards"]
FACE_SIZE = (219, 307)


def take(outcome: int | None, artefact: str | None = None, seed: int = 0) -> Take:
    return Take(outcome, artefact, np.random.default_rng(seed))


def final_card(outcome: int | None, artefact: str | None = None, seed: int = 0) -> Frame:
    """The part of the final frame where the card lies."""
    *_, last = CARDS.frames(take(outcome, artefact, seed), SIMULATOR_SIZE)
    width, height = SIMULATOR_SIZE
    x, half = width / 2 + PLACE[0] * height, 0.45 * CARD_WIDTH * height
    return last[height // 5 : -height // 5, int(x - half) : int(x + half)]


def share_near(picture: Frame, colour: tuple[int, int, int]) -> float:
    return float((np.abs(picture.astype(int) - colour).max(axis=2) < 40).mean())


def test_suits_are_the_outcomes_of_the_scene() -> None:
    assert SCENES["cards"].outcomes == SUITS


@pytest.mark.parametrize("outcome", range(1, 5))
def test_the_final_frame_shows_symbols_of_the_suits_colour_only(outcome: int) -> None:
    card = final_card(outcome, seed=outcome)
    wanted, other = (RED, BLACK) if SUITS[outcome - 1] in ("hearts", "diamonds") else (BLACK, RED)
    assert share_near(card, wanted) > 0.005
    assert share_near(card, other) < 0.0005


@pytest.mark.parametrize("rank", LAYOUTS)
def test_a_number_card_has_its_pips_and_two_corner_symbols(rank: str) -> None:
    red = np.asarray(face(FACE_SIZE, rank, "diamonds").convert("RGB")).astype(int)
    spots, count = label((red[..., 0] - red[..., 1]) > 90)
    assert count - len(rank) * 2 == (1 if rank == "A" else int(rank)) + 2
    assert spots.max() == count


@pytest.mark.parametrize("rank", ["2", "4", "10", "J", "Q", "K"])
@pytest.mark.parametrize("suit", SUITS)
def test_a_face_without_pips_on_the_middle_line_looks_the_same_upside_down(rank: str, suit: str) -> None:
    picture = np.asarray(face((220, 308), rank, suit).convert("L")).astype(int)
    assert (np.abs(picture - picture[::-1, ::-1]) > 100).mean() < 0.01


def test_the_seven_has_its_odd_pip_in_the_upper_half_only() -> None:
    picture = np.asarray(face((220, 308), "7", "spades").convert("L"))
    middle = slice(90, 130)
    assert picture[60:130, middle].min() < 60
    assert picture[180:250, middle].min() > 200


def test_a_two_suited_card_shows_both_its_suits() -> None:
    picture = np.asarray(face(FACE_SIZE, "8", "clubs", "hearts").convert("RGB"))
    assert share_near(picture[:140], BLACK) > 0.05
    assert share_near(picture[170:], RED) > 0.05


def test_a_blurred_face_has_no_outline_left() -> None:
    for rank in ("2", "10"):
        sharp = np.asarray(face(FACE_SIZE, rank, "hearts").convert("L")).astype(int)
        smeared = np.asarray(blurred_face(FACE_SIZE, rank, "hearts").convert("L")).astype(int)
        inner = np.s_[20:-20, 20:-20]
        assert np.abs(np.diff(sharp[inner], axis=1)).max() > 100
        assert np.abs(np.diff(smeared[inner], axis=1)).max() < 12


def test_a_card_that_stays_face_down_shows_no_symbol() -> None:
    card = final_card(None, "face_down")
    assert share_near(card, RED) == 0
    assert share_near(card, BLACK) == 0


@pytest.mark.parametrize("artefact", [None, *CARDS.artefacts])
def test_the_card_moves_smoothly_from_the_deck_to_its_place_and_rests(artefact: str | None) -> None:
    cards = motion(take(None if artefact else 1, artefact))
    assert len(cards) == FRAMES
    assert cards[0] == start_card()
    assert cards[-1] == cards[-8]
    assert cards[-1].z == pytest.approx(0)
    assert cards[-1].shows_face == (artefact != "face_down")
    for before, after in itertools.pairwise(cards):
        assert np.hypot(after.x - before.x, after.y - before.y) < 0.05
        assert abs(after.z - before.z) < 0.03
        assert abs(after.flip - before.flip) < np.radians(12)


@pytest.mark.parametrize("outcome", range(1, 5))
def test_the_turning_card_stays_above_the_table(outcome: int) -> None:
    for card in motion(take(outcome, seed=outcome)):
        assert card.z >= CARD_WIDTH / 2 * abs(np.sin(card.flip)) - 1e-9


@pytest.mark.parametrize("artefact", ["blurred", "two_suited"])
def test_nothing_of_the_face_can_be_seen_before_the_card_turns(artefact: str) -> None:
    cards = motion(take(1, seed=4))
    hidden = next(i for i, card in enumerate(cards) if card.shows_face) - 1
    outcome = itertools.islice(CARDS.frames(take(1, seed=4), SIMULATOR_SIZE), hidden)
    other = itertools.islice(CARDS.frames(take(None, artefact, seed=4), SIMULATOR_SIZE), hidden)
    for one, two in zip(outcome, other, strict=True):
        np.testing.assert_array_equal(one, two)
