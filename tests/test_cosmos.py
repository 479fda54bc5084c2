"""The generator of the one local model: its plan without torch, its calls of the pipeline, and resume like any other.

The pipeline is stood in for by one with the call signature of diffusers 0.42.1: no GPU is needed here.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cosmos import cosmos_config, generate_cosmos3_minimal
from errors import UserError
from paths import ROOT
from protocol import digest
from scenes import SCENES
from studies import STUDIES
from video_io import inspect_clip

CALLS: list[dict[str, Any]] = []


class Pipeline:
    """Draws clips whose content follows from the seed."""

    @classmethod
    def from_pretrained(cls, weights: str, *, dtype: str, device_map: str) -> "Pipeline":
        CALLS.append({"weights": weights, "dtype": dtype, "device_map": device_map})
        return cls()

    def __call__(
        self,
        prompt: str,
        negative_prompt: str | None = None,
        image: Image.Image | None = None,
        num_frames: int | None = None,
        height: int | None = None,
        width: int | None = None,
        fps: float = 24.0,
        num_inference_steps: int = 35,
        guidance_scale: float = 6.0,
        generator: int = 0,
    ) -> SimpleNamespace:
        assert image is not None and width and height and num_frames
        CALLS.append(
            {
                "prompt": prompt,
                "negative": negative_prompt,
                "image": image.size,
                "frames": num_frames,
                "seed": generator,
            }
            | {"size": (width, height), "fps": fps, "steps": num_inference_steps, "guidance": guidance_scale}
        )
        if generator == 2:
            raise ValueError("Cosmos Guardrail detected unsafe content in the generated video.")
        return SimpleNamespace(video=list(_moving(generator)))


def _moving(seed: int) -> Iterator[Image.Image]:
    for step in range(6):
        frame = np.zeros((64, 96, 3), np.uint8)
        frame[10 + seed : 40, 10 * step : 10 * step + 20] = 255
        yield Image.fromarray(frame)


class Generator:
    def __init__(self, device: str) -> None:
        assert device == "cpu"

    def manual_seed(self, seed: int) -> int:
        return seed


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with torch, diffusers and a GPU."""
    CALLS.clear()
    cuda = SimpleNamespace(is_available=lambda: True)
    modules = {
        "torch": SimpleNamespace(cuda=cuda, bfloat16="bfloat16", Generator=Generator),
        "diffusers": SimpleNamespace(Cosmos3OmniPipeline=Pipeline, __version__="0.42.1"),
        cosmos_config.NEGATIVE_PROMPT_MODULE: SimpleNamespace(DEFAULT_NEGATIVE_PROMPT="poor quality"),
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__dict__.update(vars(content))
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    frames = tmp_path / "frames"
    frames.mkdir()
    for scene in SCENES.values():
        Image.new("RGBA", (32, 18)).save(frames / f"{scene.frame_stem}.png")
    return ["--frames", str(frames), "--rollouts", str(tmp_path / "rollouts")]


def test_the_plan_needs_no_torch_and_writes_nothing(tmp_path: Path, arguments: list[str]) -> None:
    script = ROOT / "cosmos" / "generate_cosmos3_minimal.py"
    command = [sys.executable, str(script), "--plan", "--study", "cfg_1_5", *arguments]
    planned = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "dice: 32 videos to make, 0 there" in planned.stdout
    assert "num_frames 61, fps 24, width 1280, height 704, num_inference_steps 35, guidance_scale 1.5" in planned.stdout
    assert SCENES["dice"].generation_prompt in planned.stdout
    assert not (tmp_path / "rollouts").exists()


@pytest.mark.usefixtures("gpu")
def test_rollouts_are_made_with_the_protocols_settings_and_resumed(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main = generate_cosmos3_minimal.main
    assert main(["--scene", "dice", "--count", "2", *arguments]) == 0
    loaded, *made = CALLS
    assert loaded == {"weights": "nvidia/Cosmos3-Super", "dtype": "bfloat16", "device_map": "cuda"}
    assert sorted(made, key=lambda call: call["seed"]) == [
        {
            "prompt": SCENES["dice"].generation_prompt,
            "negative": "poor quality",
            "image": (32, 18),
            "frames": 121,
            "seed": seed,
            "size": (1280, 704),
            "fps": 24,
            "steps": 35,
            "guidance": 6.0,
        }
        for seed in range(2)
    ]
    video = tmp_path / "rollouts" / "main" / "dice" / "cosmos3_super" / "seed_1.mp4"
    assert inspect_clip(video).frames == 6
    CALLS.clear()
    assert main(["--scene", "dice", "--count", "2", *arguments]) == 0
    assert not CALLS, "a complete set does not even load the model"
    assert main(["--scene", "dice", "--count", "3", "--sharded", *arguments]) == 1
    assert [call.get("device_map", call.get("seed")) for call in CALLS] == ["balanced", 2, 2, 2]
    out = capsys.readouterr().out
    assert "seed 2: refused (Cosmos Guardrail detected" in out and "paid" not in out
    command = f"python {Path('cosmos/generate_cosmos3_minimal.py')} --scene dice"
    assert out.splitlines()[-1].startswith(command) and out.splitlines()[-1].endswith(" --retry")
    CALLS.clear()
    assert main(["--scene", "dice", "--count", "3", *arguments]) == 1
    assert not CALLS, "a rerun alone attempts nothing"
    assert main(["--scene", "dice", "--count", "3", "--retry", *arguments]) == 1
    assert len(CALLS) == 4


@pytest.mark.usefixtures("gpu")
def test_the_ledger_keeps_what_the_library_decides(tmp_path: Path, arguments: list[str]) -> None:
    assert generate_cosmos3_minimal.main(["--scene", "dice", "--count", "1", *arguments]) == 0
    events = map(json.loads, (tmp_path / "rollouts" / "main" / "ledger.jsonl").read_text().splitlines())
    (version,) = [event["version"] for event in events if event["event"] == "submitted"]
    assert version == f"diffusers 0.42.1, negative prompt {digest('poor quality')[:12]}"


def test_without_torch_it_says_what_is_missing(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert generate_cosmos3_minimal.main(["--scene", "dice", "--count", "1", *arguments]) == 2
    assert "expected the packages of cosmos/requirements.txt" in capsys.readouterr().err


def test_studies_and_settings_it_cannot_use_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert generate_cosmos3_minimal.main(["--study", "dur5s"]) == 2
    assert "--study dur5s: has no cell of cosmos3_super" in capsys.readouterr().err
    assert generate_cosmos3_minimal.main(["--count", "99"]) == 2
    assert "--count 99: too many; expected at most 32" in capsys.readouterr().err
    inputs = dict(cosmos_config.MODEL.inputs)
    with pytest.raises(UserError, match="expected fps, guidance_scale"):
        cosmos_config.settings({**inputs, "shift": 5})
    with pytest.raises(UserError, match="resolution such as 1280x704"):
        cosmos_config.settings({**inputs, "resolution": "720p"})


def test_every_study_of_the_model_has_usable_settings() -> None:
    for study in STUDIES.values():
        if cosmos_config.MODEL.key in study.models:
            changed = study.overrides.get(cosmos_config.MODEL.key, {})
            assert cosmos_config.settings({**cosmos_config.MODEL.inputs, **changed}).num_frames in {61, 121}
