"""Where things lie, relative to this repository, so that a script runs from any directory."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent
ANALYSIS = ROOT / "analysis"
PAPER = ROOT / "paper"
ROLLOUTS = ROOT / "rollouts"
CONDITIONING_FRAMES = ROOT / "conditioning_frames"
