"""Settings of Cosmos3-Super: the inputs of models.py, with what a study changes, as the pipeline library names them."""

from collections.abc import Mapping
from dataclasses import dataclass

from errors import UserError
from models import MODELS
from studies import Study

MODEL = MODELS["cosmos3_super"]
WEIGHTS = str(MODEL.local_id)
PIPELINE = "diffusers.Cosmos3OmniPipeline"
# The library's default negative prompt for Cosmos. Its Cosmos3 pipeline has none of its own (without one it takes the
# empty string), so the one that it ships with the preceding Cosmos pipelines is passed.
NEGATIVE_PROMPT_MODULE = "diffusers.pipelines.cosmos.pipeline_cosmos2_5_predict"
NEGATIVE_PROMPT_NAME = "DEFAULT_NEGATIVE_PROMPT"


@dataclass(frozen=True)
class CosmosSettings:
    """Arguments of one call of the pipeline, apart from prompt, image and generator. width, height: pixels."""

    num_frames: int
    fps: int
    width: int
    height: int
    num_inference_steps: int
    guidance_scale: float


def settings(inputs: Mapping[str, object]) -> CosmosSettings:
    """From the inputs of a rollout, as in models.py. Raises UserError for a name or value that it cannot use."""
    expected = {"num_frames", "fps", "resolution", "num_inference_steps", "guidance_scale", "negative_prompt"}
    if set(inputs) != expected:
        raise UserError(f"inputs of {MODEL.key}: {', '.join(sorted(inputs))}; expected {', '.join(sorted(expected))}")
    try:
        width, height = (int(side) for side in str(inputs["resolution"]).split("x"))
        return CosmosSettings(
            num_frames=int(str(inputs["num_frames"])),
            fps=int(str(inputs["fps"])),
            width=width,
            height=height,
            num_inference_steps=int(str(inputs["num_inference_steps"])),
            guidance_scale=float(str(inputs["guidance_scale"])),
        )
    except ValueError as error:
        raise UserError(
            f"inputs of {MODEL.key}: {error}; expected numbers, and a resolution such as 1280x704"
        ) from error


def check_study(study: Study) -> None:
    """Raises UserError for a study that has no cell of this model."""
    if MODEL.key not in study.models:
        raise UserError(f"--study {study.key}: has no cell of {MODEL.key}; expected main, or one of cfg_* and face_*")
