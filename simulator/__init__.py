"""Simulated world models: short videos of the nine scenes whose outcome is known.

    truth, frames = simulate("dice", "sim_half", seed=7)         # frames: iterator of uint8 RGB, shape (480, 848, 3)
    write_video(path, frames, SIMULATOR_FPS)
    first_frame("dice", CONDITIONING_SIZE)                       # the conditioning frame: frame 0 of every simulation

A scene is one module that defines `SIMULATORS`, scene key -> `base.SceneSimulator`: the kinds of artefact that it can
show, its first frame at a size, and the frames after that for a `base.Take` (an outcome or an artefact, and a generator
for all that these leave open). Coordinates, antialiased shapes and sprites are in `drawing`, distributions in `laws`.
"""

from simulator.base import SceneSimulator, Size, Take, Truth
from simulator.laws import LAWS, canonical_law, law_probabilities
from simulator.registry import SIMULATORS, check_size, first_frame, simulate

__all__ = [
    "LAWS",
    "SIMULATORS",
    "SceneSimulator",
    "Size",
    "Take",
    "Truth",
    "canonical_law",
    "check_size",
    "first_frame",
    "law_probabilities",
    "simulate",
]
