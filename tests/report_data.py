"""Folders that a report can be made from: the committed results, and those of a run with a further model or logs."""

import copy
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from common import copied_outcomes, write_model
from judges.base import Evidence, RawReply, State
from judges.votelog import VoteLog, log_path
from paths import ANALYSIS
from scenes import SCENES

# Results of studies that no further model takes part in.
ABLATIONS = ("dice_ablation_figures", "recompute_dur5s", "seedance_ablation")
# The published model whose outcomes and results a further one has in these tests.
ORIGINAL = "wan"


def committed(folder: Path) -> Path:
    """A copy of the committed outcomes and results."""
    analysis = folder / "analysis"
    shutil.copytree(ANALYSIS, analysis, ignore=shutil.ignore_patterns("tables", "figures", "*.md", "*.html"))
    return analysis


def add_model(analysis: Path, key: str) -> None:
    """Outcomes and results of a further model, those of ORIGINAL under another key, whatever characters it holds."""
    write_model(analysis, key, copied_outcomes(ANALYSIS, ORIGINAL))
    for path in (analysis / "results").glob("*.json"):
        if path.stem in ABLATIONS:
            continue
        results = json.loads(path.read_text(encoding="utf-8"))
        _add(results, key)
        path.write_text(json.dumps(results), encoding="utf-8")


def _add(value: Any, key: str) -> None:
    if isinstance(value, list):
        for item in value:
            _add(item, key)
    if not isinstance(value, dict):
        return
    for item in value.values():
        _add(item, key)
    if ORIGINAL in value:
        value[key] = copy.deepcopy(value[ORIGINAL])
    if "families" in value:
        value["families"].append({**copy.deepcopy(value["families"][0]), "models": [key], "n_tests": 8})
    if "pairs" in value:
        mine = [copy.deepcopy(pair) for pair in value["pairs"] if ORIGINAL in (pair["a"], pair["b"])]
        for pair in mine:
            pair.update({side: key for side in ("a", "b") if pair[side] == ORIGINAL})
        twin = {"value": 0.0, "low": -0.1, "high": 0.1, "reason": None}
        scenes = dict.fromkeys(SCENES, twin)
        value["pairs"] += [*mine, {"a": ORIGINAL, "b": key, "corrected": twin, "percentile": twin, "scenes": scenes}]


def log_votes(
    analysis: Path,
    scene: str,
    model: str,
    judge: str,
    replies: dict[int, list[str]],
    clips: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """A judge's log of a cell: for each seed the text of its replies, in order. clips: SHA-256 of what was read."""
    log = VoteLog(log_path(analysis, "main", scene, model, judge), scene)
    evidence = Evidence(
        kind="final_frame",
        rollout=f"{scene}/{model}",
        clip=Path("clip.mp4"),
        clip_sha256="0" * 64,
        frames=72,
        promised_frames=72,
    )
    for seed, texts in replies.items():
        for vote, text in enumerate(texts, start=1):
            asked = {"judge": judge, "clip_sha256": clips.get(seed, "0" * 64)}
            log.append(seed, vote, asked, evidence, RawReply(State.VOTE, text, model_version="judge-1"))
    log.close()
