"""The models: names, colours, and the generation settings of each (Table 1).

Add yours: append an entry to `_ALL` at the marked place. A model that is only scored, from outcome files that already
exist, needs no entry; it is then shown under its key, in the next free style.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Model:
    """One image-to-video generator under one fixed setting.

    replicate_id: owner/name at Replicate, or None for a model that is run elsewhere.
    local_id: owner/name of the weights of a model that is run on one's own machine.
    frame_field: name of the input that takes the conditioning frame; "" for a model that is given none.
    inputs: what we set, besides prompt, seed and frame.
    api_defaults: what the service documented as its defaults on 2026-07-10, for the parameters it exposes.
        Table 1 marks a value that equals its default and prints N/A for a parameter that is in neither mapping.
    usd_per_second: what the service asks for a second of video under these inputs, when you want a bill in money.
    colour, marker: of every plot. The colours are Okabe and Ito's, which colour-blind readers tell apart.
    """

    key: str
    name: str
    colour: str
    marker: str
    short_name: str = ""
    replicate_id: str | None = None
    local_id: str | None = None
    frame_field: str = "image"
    inputs: Mapping[str, Any] = field(default_factory=dict)
    api_defaults: Mapping[str, Any] = field(default_factory=dict)
    usd_per_second: float | None = None

    @property
    def label(self) -> str:
        """The name for narrow columns."""
        return self.short_name or self.name

    @property
    def duration_s(self) -> float | None:
        """Length of a clip in seconds; None when the inputs do not say."""
        return clip_seconds(self.inputs)


def clip_seconds(inputs: Mapping[str, Any]) -> float | None:
    """Length in seconds of a clip under these inputs: set directly, or by frames and frame rate; None for neither."""
    match inputs:
        case {"num_frames": int() as frames, "fps": int() | float() as fps} if fps > 0:
            return frames / fps
        case {"duration": int() | float() as duration}:
            return float(duration)
    return None


_ALL = (
    Model(
        key="wan",
        name="WAN-2.7",
        colour="#0072B2",
        marker="o",
        replicate_id="wan-video/wan-2.7-i2v",
        frame_field="first_frame",
        inputs={"duration": 3, "resolution": "720p", "negative_prompt": "", "enable_prompt_expansion": True},
        api_defaults={
            "duration": 5,
            "resolution": "1080p",
            "negative_prompt": "",
            "enable_prompt_expansion": True,
        },
    ),
    Model(
        key="seedance",
        name="SeeDance-2.0",
        short_name="SeeDance",
        colour="#D55E00",
        marker="s",
        replicate_id="bytedance/seedance-2.0",
        inputs={"duration": 4, "resolution": "480p", "generate_audio": False},
        api_defaults={"duration": 5, "resolution": "720p", "generate_audio": True},
    ),
    Model(
        key="happyhorse",
        name="HappyHorse-1.0",
        short_name="HappyHorse",
        colour="#009E73",
        marker="^",
        replicate_id="alibaba/happyhorse-1.0",
        inputs={"duration": 3, "resolution": "720p"},
        api_defaults={"duration": 5, "resolution": "1080p"},
    ),
    Model(
        key="veo31",
        name="Veo 3.1",
        colour="#CC79A7",
        marker="D",
        replicate_id="google/veo-3.1",
        inputs={"duration": 4, "resolution": "720p"},
        api_defaults={"duration": 8, "resolution": "1080p", "negative_prompt": None, "generate_audio": True},
    ),
    Model(
        key="runway45",
        name="Runway Gen-4.5",
        short_name="Runway",
        colour="#E69F00",
        marker="v",
        replicate_id="runwayml/gen-4.5",
        inputs={"duration": 5},
        api_defaults={"duration": 5},
    ),
    Model(
        key="cosmos3_super",
        name="Cosmos3-Super",
        short_name="Cosmos3",
        colour="#56B4E9",
        marker="P",
        local_id="nvidia/Cosmos3-Super",
        # Run on one's own machine; cosmos/ holds the generator. The negative prompt is the pipeline library's own.
        inputs={
            "num_frames": 121,
            "fps": 24,
            "resolution": "1280x704",
            "num_inference_steps": 35,
            "guidance_scale": 6.0,
            "negative_prompt": "library default",
        },
    ),
    # ---- add your model here --------------------------------------------------------------------------------
    # Model(
    #     key="mymodel",                      # file names: analysis/{scene}_mymodel_bins.json
    #     name="My Model 1.0",
    #     colour="#000000", marker="X",
    #     replicate_id="owner/my-model",
    #     frame_field="image",
    #     inputs={"duration": 5, "resolution": "720p"},
    #     api_defaults={"duration": 5, "resolution": "720p"},
    #     usd_per_second=0.05,                # optional: generate_rollouts.py --dry-run then shows dollars
    # ),
)

# Display order is the order of this dict.
MODELS: dict[str, Model] = {model.key: model for model in _ALL}

# The six models of the paper. They are one family of tests; a further model never enters it.
PUBLISHED: tuple[str, ...] = ("wan", "seedance", "happyhorse", "veo31", "runway45", "cosmos3_super")

# Styles for models without an entry, in the order in which they are named.
_FREE_STYLES = (
    ("#000000", "X"),
    ("#7F7F7F", "*"),
    ("#8C510A", "<"),
    ("#542788", ">"),
    ("#B2182B", "p"),
    ("#1B7837", "h"),
)


def families(keys: Sequence[str]) -> list[list[str]]:
    """The families of tests that these models need: the published six together, whichever of them are named, and each
    further model by itself."""
    published = [list(PUBLISHED)] if set(keys) & set(PUBLISHED) else []
    return published + [[key] for key in keys if key not in PUBLISHED]


def resolve(keys: Sequence[str]) -> list[Model]:
    """The models of these keys, in order; a key without an entry gets a name and a free style."""
    unknown = [key for key in keys if key not in MODELS]
    found = []
    for key in keys:
        if key in MODELS:
            found.append(MODELS[key])
        else:
            colour, marker = _FREE_STYLES[unknown.index(key) % len(_FREE_STYLES)]
            found.append(Model(key=key, name=key, colour=colour, marker=marker))
    return found
