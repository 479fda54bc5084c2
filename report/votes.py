"""The judge's replies about a cell, as far as its logs are on disk."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judges.base import State
from judges.votelog import LoggedReply, VoteLog, log_path
from scenes import SCENES
from studies import STUDIES


def entropy_bits(votes: Sequence[int | None]) -> float:
    """Shannon entropy of the votes' empirical distribution, in bits; null is an outcome like any other.

    0 when all agree; log2 of their number when no two do.
    """
    n = len(votes)
    # Summed so that unanimous votes give 0 and not -0.
    return sum(count / n * math.log2(n / count) for count in Counter(votes).values())


def judge_logs(analysis: Path, scene: str, models: Sequence[str]) -> dict[str, dict[str, Path]]:
    """Model -> judge -> its log of the main study's cell, where there is one.

    A model's key may hold dots, so that a file name can begin with more than one key: the longest one owns it.
    """
    study = STUDIES["main"]
    found: dict[str, dict[str, Path]] = {}
    for path in sorted(log_path(analysis, study.key, study.scene_name(scene), "x", "x").parent.glob("*.jsonl")):
        owners = [m for m in models if path.name.startswith(f"{study.scene_name(scene)}_{m}.")]
        if owners:
            owner = max(owners, key=len)
            judge = path.name.removeprefix(f"{study.scene_name(scene)}_{owner}.").removesuffix(".jsonl")
            found.setdefault(owner, {})[judge] = path
    return found


def reading(path: Path, scene: str, judge: str) -> dict[str, Any]:
    """What one judge said of a cell: by seed the votes, their entropy in bits, and every reply as it came."""
    replies = VoteLog(path, scene).replies
    seeds = sorted({reply.seed for reply in replies})
    rollouts = [_rollout(scene, seed, [reply for reply in replies if reply.seed == seed]) for seed in seeds]
    voted = [rollout["entropy"] for rollout in rollouts if rollout["entropy"] is not None]
    return {
        "judge": judge,
        "versions": sorted({reply.model_version for reply in replies} - {""}),
        "mean_entropy": sum(voted) / len(voted) if voted else None,
        "unanimous": sum(value == 0 for value in voted),
        "voted": len(voted),
        "rollouts": rollouts,
    }


def _rollout(scene: str, seed: int, replies: Sequence[LoggedReply]) -> dict[str, Any]:
    votes = [reply.outcome for reply in replies if reply.state is State.VOTE]
    return {
        "seed": seed,
        "entropy": entropy_bits(votes) if votes else None,
        "replies": [
            {"said": _said(scene, reply), "text": reply.reply, "reason": reply.reason}
            for reply in sorted(replies, key=lambda reply: reply.vote)
        ],
    }


def _said(scene: str, reply: LoggedReply) -> str:
    """The vote as an outcome's label or null; for a reply that is no vote, what it is instead."""
    if reply.state is not State.VOTE:
        return reply.state.value.removeprefix("judge_")
    return "null" if reply.outcome is None else SCENES[scene].outcomes[reply.outcome - 1]
