"""The committed conditioning frames are our renderings, and nobody else's frame is replaced unasked."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import make_conditioning_frames
from common import snapshot
from constants import CONDITIONING_SIZE
from errors import UserError
from paths import CONDITIONING_FRAMES
from protocol import conditioning_frame
from scenes import SCENES
from simulator import first_frame
from video_io import encode_png

STEMS = {scene.frame_stem for scene in SCENES.values()}


@pytest.fixture
def frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for frames, which are drawn from the committed ones: rendering anew is for the test of these."""
    monkeypatch.setattr(make_conditioning_frames, "first_frame", lambda key, size: pixels(committed_frame(key)))
    return tmp_path / "frames"


def committed_frame(key: str) -> Path:
    return CONDITIONING_FRAMES / f"{SCENES[key].frame_stem}.png"


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def run(frames: Path, *options: str) -> int:
    return make_conditioning_frames.main(["--frames", str(frames), *options])


@pytest.mark.parametrize("key", SCENES)
def test_a_committed_frame_is_the_first_of_every_simulation(key: str) -> None:
    assert np.array_equal(pixels(committed_frame(key)), first_frame(key, CONDITIONING_SIZE))


def test_nothing_else_lies_among_the_committed_frames() -> None:
    assert {path.name for path in CONDITIONING_FRAMES.iterdir()} == {f"{stem}.png" for stem in STEMS}


def test_the_frames_are_written_under_the_published_stems_and_left_alone_by_a_second_run(
    frames: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(frames) == 0
    assert {path.name for path in frames.iterdir()} == {f"{stem}.png" for stem in STEMS}
    assert all(np.array_equal(pixels(frames / path.name), pixels(path)) for path in CONDITIONING_FRAMES.iterdir())
    # The same pixels, as another version of the compressor writes them.
    Image.fromarray(pixels(committed_frame("ball"))).save(frames / "ball.png", compress_level=1)
    assert (frames / "ball.png").read_bytes() != encode_png(pixels(committed_frame("ball")))
    before = snapshot(frames)
    for options in ([], ["--force"]):
        capsys.readouterr()
        assert run(frames, *options) == 0
        assert "wrote 0 frames" in capsys.readouterr().out and snapshot(frames) == before


@pytest.mark.parametrize("name", ["ball.png", "ball.jpg", "ball.webp"])
def test_another_frame_is_replaced_only_with_force(frames: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    frames.mkdir()
    Image.new("RGB", CONDITIONING_SIZE, (200, 0, 0)).save(frames / name)
    before = snapshot(frames)
    assert run(frames) == 2
    assert f"{frames / name}: another frame is there" in capsys.readouterr().err
    assert snapshot(frames) == before, "none of the nine is written"
    assert run(frames, "--force") == 0
    assert conditioning_frame(SCENES["ball"], frames) == frames / "ball.png"
    assert np.array_equal(pixels(frames / "ball.png"), pixels(committed_frame("ball")))


def test_a_published_frame_beside_ours_is_told_by_name(frames: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(frames) == 0
    Image.new("RGB", (64, 36)).save(frames / "ball.jpg")
    with pytest.raises(UserError, match=r"ball\.png and ball\.jpg; expected one ball"):
        conditioning_frame(SCENES["ball"], frames)
    assert run(frames) == 2
    assert f"{frames / 'ball.jpg'}: another frame is there" in capsys.readouterr().err
    assert run(frames, "--force") == 0
    assert conditioning_frame(SCENES["ball"], frames) == frames / "ball.png"


@pytest.mark.parametrize("content", [b"", b"no picture", encode_png(np.zeros((8, 8, 3), np.uint8))[:-20]])
def test_what_cannot_be_opened_is_another_frame(
    frames: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    frames.mkdir()
    (frames / "cards.png").write_bytes(content)
    assert run(frames) == 2
    assert f"{frames / 'cards.png'}: another frame is there" in capsys.readouterr().err
    assert (frames / "cards.png").read_bytes() == content
