"""The direction is read from where the walker is last seen."""

import pytest

from judges.pixels import READERS, read
from judges.pixels.common import TOLERANCE, still_picture
from simulator.walking_drawing import corridor
from tests.pixel_clips import SMALL, label, seen, video


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shown", ["left", "right"])
def test_both_directions_are_read(shown: str, seed: int) -> None:
    reading = seen("walking", shown, seed=seed)
    assert label("walking", reading) == shown
    assert reading.reason.endswith("then gone")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shown", ["stops_before_junction", "stops_at_junction"])
def test_a_walker_who_does_not_commit_is_null(shown: str, seed: int) -> None:
    reading = seen("walking", shown, seed=seed)
    assert (reading.outcome, reading.reason.split(":")[0]) == (None, "not committed")


def test_a_walker_commits_by_walking_to_one_side() -> None:
    frames = video("walking", "left")
    read_so_far = [label("walking", read("walking", frames[:n])) for n in range(1, len(frames) + 1)]
    assert read_so_far == sorted(read_so_far, reverse=True)  # null ... null, left ... left
    assert read_so_far[:12] == ["null"] * 12  # two seconds, in which nobody reaches the junction
    assert read_so_far.count("left") > 4


def test_the_mirror_image_of_a_clip_shows_the_other_direction() -> None:
    assert read("walking", [frame[:, ::-1] for frame in video("walking", "left")]).outcome == 2


def test_an_empty_corridor_is_null() -> None:
    assert read("walking", [corridor(SMALL)]).reason == "no walker is seen"


def test_nothing_but_the_walker_moves() -> None:
    for shown in ("right", "stops_at_junction"):
        still = still_picture("walking", READERS["walking"], SMALL)
        differences = [still.difference(frame) for frame in video("walking", shown)]
        assert max(differences) < 0.5 * TOLERANCE
