"""Where things lie, relative to this repository, so that a script runs from any directory."""

from pathlib import Path

from constants import TRUTH_SUFFIX

ROOT = Path(__file__).resolve().parent
ANALYSIS = ROOT / "analysis"
PAPER = ROOT / "paper"
ROLLOUTS = ROOT / "rollouts"
CONDITIONING_FRAMES = ROOT / "conditioning_frames"


def truth_path(video: Path) -> Path:
    """Where the truth of a simulated video lies: a side file that no judge opens."""
    return video.with_suffix(TRUTH_SUFFIX)
