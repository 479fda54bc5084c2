import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import make_rollout_examples as script
from common import outcome_file
from scenes import SCENES
from video_io import write_video

# In the committed outcomes of this cell seed 0 is scorable and seed 7 is not.
SCENE, MODEL, SCORABLE, UNSCORABLE = "dice", "runway45", 0, 7


def frames(count: int = 12) -> list[NDArray[np.uint8]]:
    """A white square that moves over black, 4 pixels a frame."""
    made = []
    for i in range(count):
        frame = np.zeros((48, 96, 3), np.uint8)
        frame[16:32, 4 * i : 4 * i + 16] = 255
        made.append(frame)
    return made


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    folder = tmp_path / "videos"
    for seed in (SCORABLE, UNSCORABLE):
        write_video(folder / SCENE / MODEL / f"seed_{seed}.mp4", frames(), fps=6)
    return folder


def run(analysis: Path, *options: str) -> int:
    return script.main(["--analysis", str(analysis), *options])


def examples(analysis: Path) -> Any:
    return json.loads((analysis / "results/rollout_examples.json").read_text())["examples"]


def test_without_videos_two_simulated_rollouts_are_shown_as_such(
    analysis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "DEFAULT_VIDEOS", tmp_path / "rollouts")
    assert run(analysis) == 0
    assert "simulated rollouts are shown" in capsys.readouterr().out
    shown = examples(analysis)
    assert {example["model"] for example in shown.values()} == {"sim_calibrated"}
    assert shown["scorable"]["outcome"] in SCENES[shown["scorable"]["scene"]].outcomes
    assert (shown["unscorable"]["outcome"], shown["unscorable"]["artefact"]) == (None, "two_balls")


def test_simulated_rollouts_can_be_shown_of_the_scene_that_is_asked_for(
    analysis: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script, "DEFAULT_VIDEOS", tmp_path / "rollouts")
    assert run(analysis, "--scene", "cards") == 0
    assert {example["scene"] for example in examples(analysis).values()} == {"cards"}


def test_in_a_folder_without_videos_that_was_asked_for_nothing_else_is_shown(
    analysis: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(analysis, "--videos", str(tmp_path)) == 0
    assert "no videos with recorded outcomes" in capsys.readouterr().out
    assert not (analysis / "results").exists() and not (analysis / "figures").exists()


def test_a_scorable_and_an_unscorable_rollout_are_shown(analysis: Path, videos: Path) -> None:
    assert run(analysis, "--videos", str(videos)) == 0
    shown = examples(analysis)
    assert {kind: example["seed"] for kind, example in shown.items()} == {"scorable": 0, "unscorable": 7}
    assert shown["unscorable"]["outcome"] is None and shown["scorable"]["outcome"] is not None
    assert shown["scorable"]["frames"] == [0, 2, 4, 7, 9, 11]
    assert shown["scorable"]["times_s"][-1] == pytest.approx(11 / 6, abs=1e-3)
    assert (analysis / "figures/rollout_examples.pdf").exists()


def test_the_strips_are_frames_of_the_videos(analysis: Path, videos: Path) -> None:
    candidate = next(script.candidates(analysis, videos, SCENE))
    result, strip = script.recorded(candidate)
    figure = script.draw([(result, strip)])
    assert len(strip) == script.FRAMES
    for ax, index in zip(figure.axes, result["frames"], strict=True):
        picture = np.asarray(ax.images[0].get_array())
        centre = np.flatnonzero(picture[picture.shape[0] // 2, :, 0] > 128).mean() / script.FRAME_WIDTH * 96
        assert centre == pytest.approx(4 * index + 8, abs=1)


def test_a_broken_video_is_named_and_passed_over(
    analysis: Path, videos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = videos / SCENE / MODEL / f"seed_{SCORABLE}.mp4"
    broken.write_bytes(broken.read_bytes()[:700])
    write_video(broken.with_name("seed_1.mp4"), frames(), fps=6)
    assert run(analysis, "--videos", str(videos)) == 0
    assert f"passed over: {broken}" in capsys.readouterr().out
    assert examples(analysis)["scorable"]["seed"] == 1


def test_one_kind_alone_is_shown_and_the_other_one_is_said_to_be_missing(
    analysis: Path, videos: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (videos / SCENE / MODEL / f"seed_{UNSCORABLE}.mp4").unlink()
    assert run(analysis, "--videos", str(videos)) == 0
    assert "no unscorable rollout among the videos" in capsys.readouterr().out
    assert set(examples(analysis)) == {"scorable"}


def test_a_model_without_recorded_outcomes_is_not_shown(analysis: Path, videos: Path) -> None:
    (videos / SCENE / MODEL).rename(videos / SCENE / "unread")
    assert run(analysis, "--videos", str(videos)) == 0
    assert not (analysis / "results").exists()


@pytest.mark.parametrize("same", [True, False])
def test_outcomes_that_name_their_clips_are_shown_with_these_only(
    analysis: Path, videos: Path, capsys: pytest.CaptureFixture[str], same: bool
) -> None:
    path = analysis / f"{SCENE}_{MODEL}_bins.json"
    clips = {seed: videos / SCENE / MODEL / f"seed_{seed}.mp4" for seed in (SCORABLE, UNSCORABLE)}
    recorded = {str(seed): hashlib.sha256(clip.read_bytes()).hexdigest() for seed, clip in clips.items()}
    if not same:
        recorded[str(UNSCORABLE)] = "0" * 64
    data = json.loads(path.read_text()) | {"protocol": {"clip_sha256": recorded}}
    path.write_text(json.dumps(data))
    assert run(analysis, "--videos", str(videos)) == 0
    printed = capsys.readouterr().out
    if same:
        assert examples(analysis)["scorable"]["verified"] is True
    else:
        assert "its outcomes are of other clips" in printed
        assert not (analysis / "results").exists()


def test_known_models_come_first_and_a_further_one_is_shown_too(analysis: Path, videos: Path) -> None:
    (analysis / "dice_aaa_bins.json").write_text(json.dumps(outcome_file(SCENE, "aaa", [None] * 32)))
    write_video(videos / SCENE / "aaa" / "seed_3.mp4", frames(), fps=6)
    found = [(c.model, c.seed) for c in script.candidates(analysis, videos, SCENE)]
    assert found == [(MODEL, SCORABLE), (MODEL, UNSCORABLE), ("aaa", 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--videos", "nowhere"], "nowhere: no such folder"), (["--scene", "coin"], "coin")],
)
def test_bad_input_is_one_line(
    analysis: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(analysis, *options) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
