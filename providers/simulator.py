"""The simulated world models as a provider: free, without a key, and with a truth that is known."""

import multiprocessing
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from constants import SIMULATOR_FPS, SIMULATOR_SIZE, SIMULATOR_VERSION
from errors import UserError
from files import write_json
from models import MODELS, Model, resolve
from paths import truth_path
from providers.base import Request
from providers.local import LocalProvider
from simulator import LAWS, Size, check_size, simulate
from video_io import write_video


def simulated_model(key: str, law: str | None = None, size: Size = SIMULATOR_SIZE, artefact_rate: float = 0.0) -> Model:
    """A law as a model, under the law's own name or, with probabilities for `law`, under any other.

    Raises UserError when there is no such law, when the name is that of another model, and for an unusable size.
    """
    if law is None and key not in LAWS:
        raise UserError(f"--model {key}: not a simulated model; expected one of {', '.join(LAWS)}")
    if law is not None and key in {**LAWS, **MODELS}:
        raise UserError(f"--law {key}: a model of this name exists; expected another name")
    check_size(size)
    (model,) = resolve([key])
    width, height = size
    inputs: dict[str, object] = {
        "simulator_version": SIMULATOR_VERSION,
        "artefact_rate": artefact_rate,
        "width": width,
        "height": height,
        "fps": SIMULATOR_FPS,
    }
    if law is not None:
        inputs["law"] = law
    # It draws its first frame itself, and costs nothing.
    return replace(model, frame_field="", inputs=inputs, usd_per_second=0.0)


def simulator_provider() -> LocalProvider:
    """Renders in one process a processor."""
    # Fresh processes: a forked one would share the lock of the folder and outlive a killed run with it.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(os.cpu_count(), mp_context=context, initializer=_end_with_parent)
    return LocalProvider("simulator", render, pool)


def render(request: Request, path: Path) -> None:
    """Write a simulated video to `path`, and before that its truth beside the place where the video belongs."""
    scene, key, seed = request.key
    inputs: Mapping[str, Any] = request.generation.inputs
    size = inputs["width"], inputs["height"]
    truth, frames = simulate(scene, inputs.get("law", key), seed, size, inputs["artefact_rate"])
    write_json(truth_path(path.with_name(f"seed_{seed}.mp4")), truth.to_dict())
    write_video(path, frames, inputs["fps"])


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
