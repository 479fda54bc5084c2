"""Folders that a report can be made from: the committed results, and those of a run with a further model or logs."""

import copy
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from common import copied_outcomes, write_model
from files import write_json
from judges.base import Evidence, Judge, RawReply, State
from judges.engine import DONE, CellResult
from judges.provenance import cell_protocol
from judges.votelog import VoteLog, asked, log_path
from paths import ANALYSIS
from scenes import SCENES

# Results of studies that no further model takes part in.
ABLATIONS = ("dice_ablation_figures", "recompute_dur5s", "seedance_ablation")
# The published model whose outcomes and results a further one has in these tests.
ORIGINAL = "wan"


def committed(folder: Path) -> Path:
    """A copy of the committed outcomes and results, without what the pipeline makes from simulated clips."""
    analysis = folder / "analysis"
    left_out = ("tables", "figures", "*.md", "*.html", "controls", "artefacts")
    shutil.copytree(ANALYSIS, analysis, ignore=shutil.ignore_patterns(*left_out))
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


@dataclass(frozen=True)
class AnyJudge:
    """What a log and an outcome file record of a judge that is never asked."""

    name: str
    model: str = "judge"
    fps: float = 1.0

    def settings(self, kind: str) -> dict[str, Any]:
        return {"video_fps": self.fps}


def log_votes(
    analysis: Path,
    scene: str,
    model: str,
    judge: str | AnyJudge,
    replies: dict[int, list[str]],
    clips: Mapping[int, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """A judge's log of a cell, or more of it: for each seed the text of its replies, in order.

    clips: SHA-256 of what was read. Returns the protocol entry of the outcomes that come from these votes.
    """
    judge = cast("Judge", AnyJudge(judge) if isinstance(judge, str) else judge)
    log = VoteLog(log_path(analysis, "main", scene, model, judge.name), scene)
    read = {seed: clips.get(seed, "0" * 64) for seed in replies}
    result = CellResult(dict.fromkeys(replies, DONE), clips=read)
    for seed, texts in replies.items():
        evidence = Evidence("final_frame", f"{scene}/{model}", Path("clip.mp4"), read[seed], 72, 72)
        about = asked(judge, SCENES[scene], read[seed])
        result.votes[seed] = [
            log.append(seed, vote, about, evidence, RawReply(State.VOTE, text, model_version="judge-1"))
            for vote, text in enumerate(texts)
        ]
    log.close()
    return cell_protocol(judge, SCENES[scene], max(map(len, replies.values())), result, {})


def record_protocol(analysis: Path, scene: str, model: str, protocol: Mapping[str, Any]) -> None:
    """Say in a cell's outcome file how it was read."""
    path = analysis / f"{scene}_{model}_bins.json"
    write_json(path, json.loads(path.read_text(encoding="utf-8")) | {"protocol": protocol})
