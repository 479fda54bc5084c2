"""The judges by name. Add yours: a class with the methods of `judges.base.Judge`, and an entry in `_MAKERS`.

A judge's module is imported when that judge is asked for: the clients of services, and image processing, take a second
each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from errors import UserError
from judges.base import Judge

# Sampling of a video, frames a second: what Gemini's service does by default, as published, and the most it does.
DEFAULT_VIDEO_FPS = 1.0
MAX_VIDEO_FPS = 24.0


@dataclass(frozen=True)
class JudgeOptions:
    """What a judge is made from. work: a folder for what it must remember between runs. scenes: those to read."""

    work: Path
    model: str | None = None
    base_url: str | None = None
    video_fps: float = DEFAULT_VIDEO_FPS
    scenes: Sequence[str] = ()


def _gemini(options: JudgeOptions) -> Judge:
    from judges.gemini import DEFAULT_MODEL, GeminiJudge

    if options.base_url is not None:
        raise UserError("--base-url: not for the gemini judge; expected it with --judge openai only")
    return GeminiJudge(options.work, options.model or DEFAULT_MODEL, options.video_fps)


def _openai(options: JudgeOptions) -> Judge:
    from judges.openai_compatible import OpenAICompatibleJudge

    if options.base_url is None or options.model is None:
        raise UserError("--judge openai: expected --base-url (such as http://127.0.0.1:8000/v1) and --judge-model")
    return OpenAICompatibleJudge(options.base_url, options.model, options.video_fps)


def _pixels(options: JudgeOptions) -> Judge:
    from judges.pixels import READERS, PixelsJudge

    if options.base_url is not None or options.model is not None:
        raise UserError("--judge pixels: runs here and has one version; expected no --base-url and no --judge-model")
    if unread := [scene for scene in options.scenes if scene not in READERS]:
        raise UserError(f"--judge pixels: cannot read {', '.join(unread)}; expected scenes of {', '.join(READERS)}")
    return PixelsJudge()


_MAKERS: dict[str, Callable[[JudgeOptions], Judge]] = {"gemini": _gemini, "openai": _openai, "pixels": _pixels}

JUDGES = tuple(_MAKERS)
# Their queries cost nothing; any other judge is taken to be paid for.
FREE_JUDGES = frozenset({"pixels"})


def get_judge(name: str, options: JudgeOptions) -> Judge:
    """The judge of that name, one of JUDGES. Raises UserError for a missing key or an unusable option."""
    if not 0 < options.video_fps <= MAX_VIDEO_FPS:
        raise UserError(f"--video-fps {options.video_fps:g}: expected more than 0 and at most {MAX_VIDEO_FPS:g}")
    return _MAKERS[name](options)
