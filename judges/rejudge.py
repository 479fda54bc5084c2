"""Two judges of the same rollouts: how far they agree, scene by scene."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from agreement import agreement
from judges.base import State
from judges.parse import majority
from judges.votelog import LoggedReply, VoteLog, question_sha256
from scenes import SCENES, Scene
from tables import DASH, Column, Entry, Table

TOTAL = "total"

# Scene -> the outcomes that both judges gave to each rollout; None is null.
Readings = dict[str, list[tuple[int | None, int | None]]]


def outcomes_on_log(log: VoteLog, scene: Scene, clips: Mapping[int, str], votes: int) -> dict[int, int | None]:
    """Seed -> the majority of its first `votes` votes on this log, for the clips (seed -> SHA-256) that have so many.

    Only votes about the same clip and the present question count; where a judge was asked under several settings, those
    of its latest vote.
    """
    question = question_sha256(scene)
    latest: dict[int, dict[int, LoggedReply]] = {}
    for reply in log.replies:
        same = (
            reply.asked.get("clip_sha256") == clips.get(reply.seed) and reply.asked.get("question_sha256") == question
        )
        if reply.state is State.VOTE and same:
            numbered = latest.setdefault(reply.seed, {})
            if any(other.asked != reply.asked for other in numbered.values()):
                numbered.clear()
            numbered.setdefault(reply.vote, reply)
    return {
        seed: majority([numbered[number].outcome for number in range(votes)])
        for seed, numbered in latest.items()
        if numbered.keys() >= set(range(votes))
    }


def agreement_by_scene(readings: Readings) -> dict[str, dict[str, Any]]:
    """Agreement over the rollouts that both judges read, in display order, and over all of them under TOTAL.

    Outcomes of different scenes are different outcomes in the total.
    """
    rows = {scene: _row(readings[scene]) for scene in SCENES if readings.get(scene)}
    return {**rows, TOTAL: _row([((s, a), (s, b)) for s, pairs in readings.items() for a, b in pairs])}


def _row(pairs: Sequence[tuple[Hashable, Hashable]]) -> dict[str, Any]:
    return asdict(agreement([first for first, _ in pairs], [second for _, second in pairs]))


def agreement_table(first: str, second: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    """Scenes down; observed agreement and kappa, each with its interval."""
    columns = [
        Column("Scene", "l"),
        Column("n"),
        Column("", "r", "Agreement"),
        Column("95 %", "r", "Agreement"),
        Column("", "r", "κ"),
        Column("95 %", "r", "κ"),
    ]
    lines: list[list[Entry | str]] = []
    for key, row in rows.items():
        rate, kappa = row["rate_interval"], row["kappa_interval"]
        lines.append(
            [
                "Total" if key == TOTAL else SCENES[key].title,
                str(row["n"]),
                f"{row['agree']}/{row['n']}",
                f"[{100 * rate['low']:.0f}, {100 * rate['high']:.0f}]",
                DASH if kappa is None else f"{row['kappa']:.2f}",
                "" if kappa is None else f"[{kappa['low']:.2f}, {kappa['high']:.2f}]",
            ]
        )
    return Table(
        f"Two readers of the same rollouts, {first} and {second}: agreement (interval in per cent) and Cohen's κ.",
        columns,
        lines,
        [
            "Null is an outcome like any other. Intervals: Clopper-Pearson; that of κ holds chance agreement at its "
            f"estimate. {DASH} both gave every rollout the same outcome, so that κ cannot be estimated."
        ],
    )
