"""The judge's replies about a cell, as far as its logs are on disk."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judges.base import State
from judges.votelog import LoggedReply, VoteLog, log_path
from protocol import CLIPS
from report.embedding import embedded
from scenes import SCENES
from studies import STUDIES

# Of each reply, at most that many characters go into the page: the question asks for one word.
MAX_SHOWN_CHARS = 1000

Cell = tuple[str, str]
Reading = dict[str, Any]

# What tells one reading from another: its name in an outcome file's protocol -> in what a reply was asked.
_SHARED = {
    "judge": "judge",
    "judge_model": "model",
    "judge_settings": "settings",
    "question_sha256": "question_sha256",
    "evidence": "evidence",
}


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


def reading(path: Path, scene: str, judge: str, protocol: Mapping[str, Any]) -> Reading:
    """What one judge said of a cell: by seed the votes, their entropy in bits, and every reply as it came.

    Of each rollout the replies of one reading: of the one that the counts come from or, where this log has none of it,
    of the latest. protocol: that of the cell's outcomes. The remark says when the replies are not those behind the
    counts, and how many lines of the log are of other readings.
    """
    replies = VoteLog(path, scene).replies
    of_seed = {seed: [r for r in replies if r.seed == seed] for seed in sorted({reply.seed for reply in replies})}
    shown = {seed: _of_one_reading(of_one, protocol) for seed, of_one in of_seed.items()}
    rollouts = [_rollout(scene, seed, of_one) for seed, of_one in shown.items()]
    voted = [rollout["entropy"] for rollout in rollouts if rollout["entropy"] is not None]
    return {
        "judge": judge,
        "log": path.name,
        "remark": _remark(shown, protocol, len(replies)),
        "versions": sorted({reply.model_version for of_one in shown.values() for reply in of_one} - {""}),
        "mean_entropy": sum(voted) / len(voted) if voted else None,
        "unanimous": sum(value == 0 for value in voted),
        "voted": len(voted),
        "rollouts": rollouts,
    }


def fitted(readings: Mapping[Cell, Sequence[Reading]], budget: int) -> tuple[dict[Cell, list[Reading]], int]:
    """The readings of all cells in at most `budget` bytes of the page, and to how many characters replies are cut.

    All replies are cut alike: to MAX_SHOWN_CHARS, or to half of it, and so on. A reply that was cut holds its whole
    length. What stands beside the replies is kept, however large it is.
    """
    most = MAX_SHOWN_CHARS
    while True:
        cut = {cell: [_cut(each, most) for each in of_cell] for cell, of_cell in readings.items()}
        if most == 0 or len(embedded(list(cut.values()))) <= budget:
            return cut, most
        most //= 2


def _cut(of_judge: Reading, most: int) -> Reading:
    """A reading whose replies, and the reasons beside them, have at most so many characters."""

    def brief(reply: Mapping[str, Any]) -> dict[str, Any]:
        length = len(reply["text"])
        short = dict(reply) | {"text": reply["text"][:most], "reason": reply["reason"][:most]}
        return short | ({"whole": length} if length > most else {})

    rollouts = [rollout | {"replies": [brief(r) for r in rollout["replies"]]} for rollout in of_judge["rollouts"]]
    return of_judge | {"rollouts": rollouts}


def _of_one_reading(replies: Sequence[LoggedReply], protocol: Mapping[str, Any]) -> list[LoggedReply]:
    """Of a rollout's replies those behind its outcome; without any, those that were asked for like the latest.

    Of two votes with one number the first counts, as in VoteLog.votes.
    """
    behind = [reply for reply in replies if _is_behind(reply, protocol)]
    of_one = behind or [reply for reply in replies if reply.asked == replies[-1].asked]
    first = {reply.vote: reply for reply in reversed(of_one) if reply.state is State.VOTE}
    return [reply for reply in of_one if reply.state is not State.VOTE or reply is first[reply.vote]]


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


def _is_behind(reply: LoggedReply, protocol: Mapping[str, Any]) -> bool:
    """Whether the reply was asked for as the outcome file says of its outcomes: of this clip, so, and so many times."""
    wanted = {asked: protocol.get(name) for name, asked in _SHARED.items()}
    wanted["clip_sha256"] = protocol.get(CLIPS, {}).get(str(reply.seed))
    votes = protocol.get("votes")
    return reply.asked == wanted and isinstance(votes, int) and reply.vote < votes


def _remark(shown: Mapping[int, Sequence[LoggedReply]], protocol: Mapping[str, Any], logged: int) -> str:
    """shown: by seed. logged: lines of the whole log. Empty when the counts come from every reply on the log."""
    others = sum(not _is_behind(of_one[0], protocol) for of_one in shown.values())
    left_out = logged - sum(len(of_one) for of_one in shown.values())
    parts = []
    if others and others < len(shown):
        parts.append(f"Not of the reading behind the counts: the replies about {others} of {len(shown)} rollouts.")
    elif others:
        why = (
            "its judge, clips, question, settings or votes differ from those of the outcome file."
            if protocol
            else "the outcome file does not record who read it."
        )
        parts.append(f"Not the reading behind the counts: {why}")
    if left_out:
        parts.append(f"Further lines of the log, of other clips or otherwise asked for, are left out: {left_out}.")
    return " ".join(parts)


def _said(scene: str, reply: LoggedReply) -> str:
    """The vote as an outcome's label or null; for a reply that is no vote, what it is instead."""
    if reply.state is not State.VOTE:
        return reply.state.value.removeprefix("judge_")
    return "null" if reply.outcome is None else SCENES[scene].outcomes[reply.outcome - 1]
