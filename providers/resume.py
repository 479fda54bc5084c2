"""What is left to do for one rollout, given its ledger and its file."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from pathlib import Path

from errors import UserError
from ledger import sync_folder
from paths import truth_path
from providers.base import ATTEMPTED_AGAIN, LOOKED_AT_AGAIN, Request, RolloutKey
from providers.history import History
from video_io import VideoError, inspect_clip, sha256_file

# Moderation and failures are in part random: that many attempts are made before the user is asked.
MAX_ATTEMPTS = 3
# Hashing waits for the disk and does without the interpreter's lock.
_HASHERS = 4
# What `tempfile` adds to the name of a file that is being encoded or written.
_RANDOM = r"[a-z0-9_]{8}"


class Step(Enum):
    """The next thing to do for a rollout."""

    NOTHING = auto()
    """The video is there and is the one that the ledger knows."""
    FOREIGN = auto()
    """A video is there that the ledger does not know: it came from elsewhere, and is left alone."""
    IN_THE_WAY = auto()
    """Something that is no video has the name of one: it came from elsewhere, and is left alone (see `fault`)."""
    LOOK_UP = auto()
    """There is an intent without an id: the provider's list knows whether it was created."""
    ASK = auto()
    """There is an id whose end is not known, or whose video is no more there."""
    LOOK_AGAIN = auto()
    """It ended without a video, but the provider may have one by now, or still: it is asked, and nothing is made anew
    unless the user asks for that."""
    CREATE = auto()
    """No prediction is under way."""
    GIVEN_UP = auto()
    """It ended without a video; only the user can ask for another attempt."""


def video_path(folder: Path, request: Request) -> Path:
    """Where the video of a rollout belongs, in a study's folder."""
    scene, model, seed = request.key
    return folder / scene / model / f"seed_{seed}.mp4"


def side_path(path: Path) -> Path:
    """Where a video is written before it is verified. No reader of a folder takes it for a video."""
    return path.with_name(f".{path.name}.part")


def recover(history: History, folder: Path, requests: Sequence[Request]) -> None:
    """Move those videos into place that a crash left beside it after their verification; remove what else it left.

    Needs the folder's lock: without it, a file that looks left behind may be one that is being written.
    """
    for request in requests:
        path, last = video_path(folder, request), history.rollout(request.key).last
        side = side_path(path)
        verified = last is not None and last.sha256 and not path.exists() and side.is_file()
        try:
            if verified and last is not None and sha256_file(side) == last.sha256:
                side.replace(path)
            for left in _left_behind(path):
                left.unlink()
        except OSError as error:
            message = f"{path.parent}: cannot tidy up: {error.strerror}; expected a writable folder"
            raise UserError(message) from error


def _left_behind(video: Path) -> Iterator[Path]:
    """The side files of one video that a crash left: no other file of the folder, whatever its name begins with."""
    side = side_path(video).name
    truth = truth_path(video).name
    ours = re.compile(rf"{re.escape(side)}|\.({re.escape(side)}|{re.escape(truth)})\.{_RANDOM}")
    for path in video.parent.glob(f".*{video.stem}.*"):
        if ours.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            yield path


def check_writable(folder: Path, requests: Sequence[Request]) -> None:
    """Make the folder of every cell and try it, before anything is paid. Raises UserError naming the first unusable."""
    for cell in dict.fromkeys(video_path(folder, request).parent for request in requests):
        try:
            cell.mkdir(parents=True, exist_ok=True)
            for above in (cell.parent, cell.parent.parent):
                sync_folder(above)
            with tempfile.TemporaryFile(dir=cell):
                pass
        except OSError as error:
            raise UserError(f"{cell}: cannot write: {error.strerror}; expected a writable folder") from error


def fault(path: Path) -> str:
    """Why what is at `path` is no video, in one line; empty when it is one. A scene may stand still in it."""
    if not path.is_file():
        return f"{path}: not a file; expected a video, or nothing"
    try:
        inspect_clip(path, allow_blank=True)
    except VideoError as error:
        return str(error)
    return ""


def plan(history: History, folder: Path, requests: Sequence[Request]) -> dict[RolloutKey, Step]:
    """The next step of each rollout, see `next_step`; reads the videos that are there, and changes nothing."""
    with ThreadPoolExecutor(_HASHERS) as pool:
        return dict(
            zip(
                (request.key for request in requests),
                pool.map(lambda request: next_step(history, folder, request), requests),
                strict=True,
            )
        )


def next_step(history: History, folder: Path, request: Request) -> Step:
    """Raises UserError for a file that is not the recorded one, and for a rollout of another protocol."""
    path, last = video_path(folder, request), history.rollout(request.key).last
    if last is not None and (last.sha256 or (last.state is None and not last.absent)):
        _check_protocol(history, request, last.digest)
    if path.exists():
        if last is None or last.sha256 is None:
            return Step.IN_THE_WAY if fault(path) else Step.FOREIGN
        found = sha256_file(path)
        if found != last.sha256:
            expected = f"expected {last.sha256[:12]}, as {history.path.name} records; move the file away to go on"
            raise UserError(f"{path}: SHA-256 is {found[:12]}...; {expected}")
        return Step.NOTHING
    if last is None or last.absent:
        return Step.CREATE
    if last.id is None and last.state is None:
        return Step.LOOK_UP
    if last.number < history.rollout(request.key).allowance_from:
        return Step.CREATE
    if last.state is None or last.sha256:
        return Step.ASK
    if last.state in LOOKED_AT_AGAIN:
        return Step.LOOK_AGAIN
    if last.state in ATTEMPTED_AGAIN and history.rollout(request.key).failures < MAX_ATTEMPTS:
        return Step.CREATE
    return Step.GIVEN_UP


def _check_protocol(history: History, request: Request, digest: str) -> None:
    if digest != request.generation.digest:
        scene, model, seed = request.key
        raise UserError(
            f"{history.path}: {scene} / {model} seed {seed} was made under protocol {digest[:12]}; expected "
            f"{request.generation.digest[:12]}, that of the present prompt, frame and inputs: "
            "put these back, or move the study's folder away"
        )
