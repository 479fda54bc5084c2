"""The simulated world models as a provider: free, without a key, and with a truth that is known."""

import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from constants import SIMULATOR_FPS, SIMULATOR_SIZE, SIMULATOR_VERSION, TRUTH_SUFFIX
from errors import UserError
from files import write_json
from models import Model, resolve
from providers.base import Request
from providers.local import LocalProvider
from simulator import LAWS, simulate
from video_io import write_video


def simulated_model(key: str, artefact_rate: float) -> Model:
    """A law as a model. Raises UserError when there is no such law."""
    if key not in LAWS:
        raise UserError(f"--model {key}: not a simulated model; expected one of {', '.join(LAWS)}")
    (model,) = resolve([key])
    width, height = SIMULATOR_SIZE
    inputs = {
        "simulator_version": SIMULATOR_VERSION,
        "artefact_rate": artefact_rate,
        "width": width,
        "height": height,
        "fps": SIMULATOR_FPS,
    }
    return Model(key=key, name=model.name, colour=model.colour, marker=model.marker, inputs=inputs)


def simulator_provider() -> LocalProvider:
    """Renders in one process a processor."""
    # Fresh processes: a forked one would share the lock of the folder and outlive a killed run with it.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(os.cpu_count(), mp_context=context, initializer=_end_with_parent)
    return LocalProvider("simulator", render, pool)


def truth_path(video: Path) -> Path:
    """Where the truth of a simulated video lies: a side file that no judge opens."""
    return video.with_name(f"{video.name.partition('.')[0]}{TRUTH_SUFFIX}")


def render(request: Request, path: Path) -> None:
    """Write a simulated video to `path`, and before that its truth beside the place where the video belongs."""
    scene, law, seed = request.key
    inputs = request.generation.inputs
    truth, frames = simulate(scene, law, seed, artefact_rate=float(str(inputs["artefact_rate"])))
    write_json(truth_path(path.with_name(f"seed_{seed}.mp4")), truth.to_dict())
    write_video(path, frames, SIMULATOR_FPS)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
