"""Labelling by hand: the sample that is drawn, and the session on disk."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import records
from label_client import CLIP, SAMPLE, put_clips
from labelling.sample import draw
from labelling.session import LOG_FILE, OutOfTurn, Session
from records import HumanLabel
from services.clips import blank_clip
from video_io import Clips, find_clips

N = 32


# ---- the sample --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clip_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "clip.mp4"
    path.write_bytes(CLIP)
    return path


def cells_of(path: Path, seeds: Mapping[str, set[int]]) -> dict[str, Clips]:
    return {
        model: Clips(path.parent, dict.fromkeys(there, path), sorted(set(range(N)) - there), [])
        for model, there in seeds.items()
    }


def drawn(path: Path, seeds: Mapping[str, set[int]], size: int) -> list[tuple[str, int]]:
    sample = draw("dice", cells_of(path, seeds), N, size, np.random.default_rng(0))
    assert sample.unusable == ()
    return [(clip.model, clip.seed) for clip in sample.clips]


SEEDS = st.dictionaries(st.sampled_from("abcd"), st.sets(st.integers(0, N - 1), max_size=5), min_size=1)


@settings(max_examples=25)
@given(seeds=SEEDS, size=st.integers(1, 8))
def test_a_sample_is_as_even_over_the_models_as_they_allow(
    clip_file: Path, seeds: dict[str, set[int]], size: int
) -> None:
    sample = drawn(clip_file, seeds, size)
    assert len(sample) == len(set(sample)) == min(size, sum(map(len, seeds.values())))
    assert all(seed in seeds[model] for model, seed in sample)
    counts = Counter(model for model, _ in sample)
    largest = max(counts.values(), default=0)
    # A model has fewer than another, by more than one, only when it has no more clips.
    assert all(counts[model] >= min(largest - 1, len(there)) for model, there in seeds.items())


def test_a_clip_that_one_person_lacks_changes_one_rollout_of_the_sample(clip_file: Path) -> None:
    everything = {model: set(range(N)) for model in "abc"}
    full = drawn(clip_file, everything, 9)
    model, seed = full[0]
    fewer = drawn(clip_file, everything | {model: everything[model] - {seed}}, 9)
    assert len(set(full) - set(fewer)) == len(set(fewer) - set(full)) == 1


def test_every_rollout_is_equally_likely_to_be_drawn(clip_file: Path) -> None:
    rng = np.random.default_rng(1)
    cells = cells_of(clip_file, {"a": set(range(8)), "b": set(range(8))})
    counts: Counter[tuple[str, int]] = Counter()
    same_model_first = 0
    for _ in range(150):
        clips = draw("dice", cells, 8, 4, rng).clips
        counts.update((clip.model, clip.seed) for clip in clips)
        same_model_first += clips[0].model == clips[1].model
    # Of 150 draws each rollout is in a quarter; the bounds are five standard errors wide.
    assert len(counts) == 16 and all(11 <= count <= 64 for count in counts.values())
    # Two of the four clips are of each model, so that a third of the shuffled orders begin with two of one.
    assert 21 <= same_model_first <= 79


def test_a_broken_clip_is_named_and_another_drawn_in_its_place(tmp_path: Path) -> None:
    put_clips(tmp_path, "dice", "wan", range(4))
    folder = tmp_path / "main" / "dice" / "wan"
    (folder / "seed_1.mp4").write_bytes(CLIP[:-40])
    (folder / "seed_3.mp4").write_bytes(blank_clip())
    sample = draw("dice", {"wan": find_clips(folder, N)}, N, 4, np.random.default_rng(0))
    assert sorted(clip.seed for clip in sample.clips) == [0, 2]
    assert len(sample.unusable) == 2
    assert {name for name in ("seed_1.mp4", "seed_3.mp4") if any(name in line for line in sample.unusable)} == {
        "seed_1.mp4",
        "seed_3.mp4",
    }


# ---- the session -------------------------------------------------------------------------------------------------


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = Session(tmp_path / "session")
    session.begin({"study": "main"}, SAMPLE)
    yield session
    session.close()


def test_every_answer_is_on_disk_at_once_and_survives_coming_back(session: Session) -> None:
    session.label(0, "left")
    session.skip(1, "unreadable")
    session.undo(1)
    session.label(1, None)
    again = Session(session.path.parent)
    assert again.state == session.state
    assert again.state.labels("main") == [HumanLabel("ball", "wan", 3, 1), HumanLabel("ball", "veo31", 0, None)]
    # Undo is a record too: nothing is ever taken out of the log.
    assert len(session.path.read_text().splitlines()) == 5


def test_a_line_that_a_crash_cut_short_is_no_answer(session: Session) -> None:
    session.label(0, "left")
    with session.path.open("a") as log:
        log.write('{"clip": 1, "lab')
    again = Session(session.path.parent)
    assert again.state.present == 1
    again.label(1, "right")
    assert Session(session.path.parent).state.present == 2


def test_an_answer_out_of_turn_changes_nothing(session: Session) -> None:
    session.label(0, "left")
    before = (session.state, session.path.read_bytes())
    for attempt in (
        lambda: session.label(0, "right"),
        lambda: session.label(2, "1"),
        lambda: session.skip(2, "no"),
        lambda: session.undo(1),
        session.finish,
    ):
        with pytest.raises(OutOfTurn):
            attempt()
    with pytest.raises(ValueError, match="expected null or one of left, right"):
        session.label(1, "up")
    assert (session.state, session.path.read_bytes()) == before


def test_final_labels_cannot_be_changed(session: Session) -> None:
    for clip, label in enumerate(("left", None, "6")):
        session.label(clip, label)
    session.finish()
    for attempt in (lambda: session.undo(2), session.finish, lambda: session.label(3, None)):
        with pytest.raises(OutOfTurn):
            attempt()


@pytest.mark.parametrize(
    "line", ['{"clip": 1, "label": "left"}', '{"clip": true, "label": "left"}', '{"clip": 0, "label": "7"}', "{}", "[]"]
)
def test_a_log_that_is_not_its_own_is_an_error_with_the_line(
    session: Session, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session.path.write_text(session.path.read_text() + line + "\n")
    with pytest.raises(records.UserError, match=rf"{LOG_FILE}: line 2"):
        Session(session.path.parent)
