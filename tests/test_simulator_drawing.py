"""Drawing: shapes have the size and the place that they are given, to a fraction of a pixel, at any position."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.drawing import WHITE, Painter, View, capsule, soft_disc, sphere, vertical_gradient
from video_io import Frame

SIZE = (96, 60)
inside = st.floats(20, 40)


def black() -> Frame:
    return np.zeros((SIZE[1], SIZE[0], 3), np.uint8)


def area_and_middle(frame: Frame) -> tuple[float, tuple[float, float]]:
    """Covered area in pixels, and its middle (x, y)."""
    share = frame[..., 0] / 255
    rows, columns = np.indices(share.shape) + 0.5
    return float(share.sum()), (float((share * columns).sum() / share.sum()), float((share * rows).sum() / share.sum()))


@given(inside, inside, st.floats(3, 15))
def test_a_capsule_of_no_length_covers_a_disc_around_its_middle(x: float, y: float, radius: float) -> None:
    frame = black()
    capsule(frame, (x, y), (x, y), radius, radius, WHITE)
    area, middle = area_and_middle(frame)
    assert area == pytest.approx(math.pi * radius**2, rel=0.04)
    assert middle == pytest.approx((x, y), abs=0.05)


@given(inside, inside, inside, inside, st.floats(2, 6))
def test_a_capsule_covers_its_area(x0: float, y0: float, x1: float, y1: float, radius: float) -> None:
    frame = black()
    capsule(frame, (x0, y0), (x1, y1), radius, radius, WHITE)
    expected = math.pi * radius**2 + 2 * radius * math.dist((x0, y0), (x1, y1))
    assert area_and_middle(frame)[0] == pytest.approx(expected, rel=0.06)


@given(inside, inside)
def test_a_sprite_is_pasted_to_a_quarter_of_a_pixel(x: float, y: float) -> None:
    frame = black()
    sphere(8, WHITE, gloss=0, rim=0).paste(frame, (x, y))
    area, middle = area_and_middle(frame)
    assert area == pytest.approx(math.pi * 64, rel=0.03)
    assert middle == pytest.approx((x, y), abs=0.13)


@pytest.mark.parametrize("where", [(-3.0, -2.0), (95.0, 59.0), (500.0, 20.0), (48.0, -200.0)])
def test_what_lies_outside_the_frame_is_cut_off(where: tuple[float, float]) -> None:
    whole = np.zeros((400, 1200, 3), np.uint8)
    for frame, (dx, dy) in ((part := black(), (0, 0)), (whole, (300, 300))):
        x, y = where[0] + dx, where[1] + dy
        sphere(8, (200, 80, 40)).paste(frame, (x, y))
        capsule(frame, (x, y), (x + 9, y + 4), 3, 2, (10, 200, 30))
    window = whole[300 : 300 + SIZE[1], 300 : 300 + SIZE[0]]
    assert np.abs(part.astype(int) - window).max() <= 1


def test_a_shadow_is_softest_outside_and_never_stronger_than_its_opacity() -> None:
    frame = np.full((60, 96, 3), 255, np.uint8)
    soft_disc(10, 4, (0, 0, 0), 0.5).paste(frame, (48, 30))
    row = frame[30, :48, 0].astype(int)
    assert (np.diff(row) <= 0).all()
    assert row[-1] == pytest.approx(255 * 0.5, abs=6)
    assert row[20] > 250


def test_scene_coordinates_have_their_origin_in_the_middle_of_the_upper_edge() -> None:
    view = View((1280, 720))
    assert view.at((0.0, 0.0)) == (640, 0)
    assert view.at((0.5, 1.0)) == (1000, 720)
    assert view.length(0.25) == 180


def test_a_painted_shape_lies_where_the_same_moving_shape_would() -> None:
    painter = Painter(SIZE, (0, 0, 0))
    painter.disc((0.1, 0.4), 0.15, WHITE)
    moving = black()
    middle, radius = View(SIZE).at((0.1, 0.4)), View(SIZE).length(0.15)
    capsule(moving, middle, middle, radius, radius, WHITE)
    for found, expected in zip(area_and_middle(painter.frame()), area_and_middle(moving), strict=True):
        assert found == pytest.approx(expected, rel=0.02)


def test_mirroring_makes_both_halves_equal() -> None:
    painter = Painter(SIZE, vertical_gradient(SIZE, [(0, (10, 20, 30)), (1, (200, 210, 220))]))
    painter.line([(-0.5, 0.2), (-0.1, 0.8)], 0.05, WHITE)
    painter.mirror()
    frame = painter.frame()
    assert np.array_equal(frame, frame[:, ::-1])
    assert frame[30].std() > 0


def test_a_line_without_caps_ends_at_its_points() -> None:
    painter = Painter(SIZE, (0, 0, 0))
    painter.line([(-0.3, 0.5), (0.3, 0.5)], 0.2, WHITE, caps=False)
    assert area_and_middle(painter.frame())[0] == pytest.approx(0.6 * 60 * 0.2 * 60, rel=0.04)


def test_text_is_drawn_around_its_middle() -> None:
    painter = Painter(SIZE, (0, 0, 0))
    painter.text((0.0, 0.5), "8", 0.5, WHITE)
    area, middle = area_and_middle(painter.frame())
    assert area > 60
    assert middle == pytest.approx((48, 30), abs=2)
