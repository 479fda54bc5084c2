"""What a scene simulator is, what one rollout is told to show, and the record of what it showed."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from constants import SIMULATOR_SEED
from video_io import Frame

Size = tuple[int, int]
"""(width, height) in pixels, both even."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Take:
    """What one rollout shows: the outcome (1..k) or the kind of artefact.

    rng: draws everything else, such as the path that leads there.
    Raises ValueError unless exactly one of the two is given.
    """

    outcome: int | None
    artefact: str | None
    rng: np.random.Generator

    def __post_init__(self) -> None:
        _check_exactly_one(self.outcome, self.artefact)


@dataclass(frozen=True)
class SceneSimulator:
    """One scene.

    artefacts: kinds of artefact it can show, each of which the judge's question answers with null.
    first_frame: frame 0 of every rollout at a size; nothing in it depends on what follows.
    frames: frames 1, 2, ... of a take, 24 a second; with frame 0 they make 3 to 5 seconds. Each is a new array.
    natural_outcome: set when the outcome follows from the physics: given a generator in the state in which `frames`
        gets it, the outcome that comes about if nothing is asked for.
    """

    artefacts: tuple[str, ...]
    first_frame: Callable[[Size], Frame]
    frames: Callable[[Take, Size], Iterator[Frame]]
    natural_outcome: Callable[[np.random.Generator], int] | None = None


@dataclass(frozen=True)
class Truth:
    """What a simulated rollout shows: outcome is 1..k, or None when `artefact` names why it is unscorable.

    Raises ValueError unless exactly one of the two is set.
    """

    scene: str
    law: str
    seed: int
    outcome: int | None
    artefact: str | None

    def __post_init__(self) -> None:
        _check_exactly_one(self.outcome, self.artefact)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Truth":
        """The inverse of `to_dict`. Raises ValueError for other keys."""
        expected = {field.name for field in fields(cls)}
        if set(data) != expected:
            raise ValueError(f"keys {sorted(data)}; expected {sorted(expected)}")
        return cls(**data)


def _check_exactly_one(outcome: int | None, artefact: str | None) -> None:
    if (outcome is None) == (artefact is None):
        raise ValueError(f"outcome {outcome!r} and artefact {artefact!r}; expected exactly one of them")


def smoothstep(t: float) -> float:
    """From 0 at t = 0 to 1 at t = 1, with no speed at either end; constant outside."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3 - 2 * t)


def generator(*key: object) -> np.random.Generator:
    """A generator seeded by the values of `key` and by nothing else: the same on every machine and in every process."""
    text = "/".join(str(part) for part in (SIMULATOR_SEED, *key))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))
