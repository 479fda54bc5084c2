"""The pocket is read from where the ball is on the rotor, however far that has turned."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from judges.pixels import read
from scenes import SCENES
from simulator import roulette_wheel as wheel
from simulator.drawing import View, sphere
from tests.pixel_clips import SMALL, label, seen
from video_io import Frame


def with_balls(turned: float, *balls: tuple[float, float]) -> Frame:
    """A wheel turned by an angle, with balls at (pockets clockwise from the 0, radius)."""
    frame = wheel.bowl(SMALL).copy()
    wheel.rotor(SMALL).draw(frame, turned)
    for pockets, radius in balls:
        place = wheel.place(radius, turned + pockets * wheel.POCKET_ANGLE)
        sphere(View(SMALL).length(wheel.BALL_RADIUS), (255, 255, 252)).paste(frame, View(SMALL).at(place))
    return frame


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("shown", SCENES["roulette"].outcomes)
def test_every_colour_is_read(shown: str, seed: int) -> None:
    assert label("roulette", seen("roulette", shown, seed=seed)) == shown


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ("on_hub", "inside the pocket ring"),
        ("on_cone", "inside the pocket ring"),
        ("outside_ring", "outside the pocket ring"),
        ("on_fret", "on a fret"),
        ("no_ball", "0 balls"),
    ],
)
def test_every_artefact_is_null(shown: str, reason: str) -> None:
    reading = seen("roulette", shown)
    assert reading.outcome is None
    assert reason in reading.reason


@pytest.mark.parametrize("k", range(len(wheel.NUMBERS)))
def test_every_pocket_is_told_from_its_neighbours(k: int) -> None:
    number = wheel.NUMBERS[k]
    reading = read("roulette", [with_balls(0.61 * k, (k + 0.2 * (-1) ** k, wheel.POCKET_RADIUS))])
    assert reading.reason.split(",")[0] == f"number {number}"
    assert label("roulette", reading) == wheel.colour(number)


def test_most_of_the_ball_decides_unless_it_is_split_equally() -> None:
    assert read("roulette", [with_balls(1.0, (3.35, wheel.POCKET_RADIUS))]).outcome is not None
    assert read("roulette", [with_balls(1.0, (3.48, wheel.POCKET_RADIUS))]).outcome is None


def test_several_balls_are_null() -> None:
    frame = with_balls(2.0, (3, wheel.POCKET_RADIUS), (20, wheel.POCKET_RADIUS))
    assert read("roulette", [frame]).reason == "2 balls in the wheel"


def test_a_blurred_wheel_is_null() -> None:
    spinning = np.mean([wheel_at(angle) for angle in np.linspace(0, 2, 30)], axis=0).astype(np.uint8)
    picture = Image.fromarray(spinning)
    ball = sphere(View(SMALL).length(wheel.BALL_RADIUS), (255, 255, 252))
    frame = np.array(picture.filter(ImageFilter.GaussianBlur(1)))
    frame[:20], frame[-20:] = wheel_at(0)[:20], wheel_at(0)[-20:]
    ball.paste(frame, View(SMALL).at(wheel.place(wheel.POCKET_RADIUS, 1.0)))
    assert read("roulette", [frame]).outcome is None


def wheel_at(turned: float) -> Frame:
    frame = wheel.bowl(SMALL).copy()
    wheel.rotor(SMALL).draw(frame, turned)
    return frame
