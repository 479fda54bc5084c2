"""How a judge's readings compare with what is held to be right: counts and exact rates, and the table of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from constants import INTERVAL_LEVEL
from records import HumanLabel, read_cell
from scenes import SCENES
from stats_utils import clopper_pearson
from studies import STUDIES
from tables import DASH, Column, Entry, Table

# Rate -> what is counted, and out of what.
RATES = {
    "agreement": ("agree", "n"),
    "false_null": ("false_null", "reference_valid"),
    "missed_null": ("missed_null", "reference_null"),
    "wrong_label": ("wrong_label", "both_valid"),
}
METHOD = "Clopper-Pearson"
TOTAL = "total"

# What the judge said of one rollout, and what the reference says, a person or the truth: 1..k, or None for unscorable.
Pair = tuple[int | None, int | None]


def joined(analysis: Path, scenes: Sequence[str], labels: Sequence[HumanLabel]) -> dict[str, list[Pair]]:
    """Scene -> (judge, person) of each labelled rollout. A labelled cell without an outcome file is a UserError."""
    labels = [label for label in labels if label.scene in scenes]
    cells = {
        (scene, model): read_cell(analysis, STUDIES[study], scene, model)
        for study, scene, model in sorted({(label.study, label.scene, label.model) for label in labels})
    }
    pairs: dict[str, list[Pair]] = {scene: [] for scene in scenes}
    for label in labels:
        pairs[label.scene].append((cells[label.scene, label.model].bins[label.seed], label.bin))
    return pairs


def compare_by_scene(pairs: Mapping[str, Sequence[Pair]]) -> dict[str, dict[str, Any]]:
    """Scene -> `compare` of its pairs, and that of all of them under TOTAL."""
    return {
        **{scene: compare(of_scene) for scene, of_scene in pairs.items()},
        TOTAL: compare([pair for of_scene in pairs.values() for pair in of_scene]),
    }


def compare(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Counts of Table 8, and each rate with its interval (None without a rollout to judge it by).

    false null: the judge saw no outcome where the reference has one. missed null: the reverse. wrong label: both have
    one, and not the same one.
    """
    counts = {
        "n": len(pairs),
        "agree": sum(judge == reference for judge, reference in pairs),
        "false_null": sum(judge is None and reference is not None for judge, reference in pairs),
        "reference_valid": sum(reference is not None for _, reference in pairs),
        "missed_null": sum(judge is not None and reference is None for judge, reference in pairs),
        "reference_null": sum(reference is None for _, reference in pairs),
        "wrong_label": sum(None not in (judge, reference) and judge != reference for judge, reference in pairs),
        "both_valid": sum(None not in (judge, reference) for judge, reference in pairs),
    }
    return {**counts, "rates": {name: rate(counts[part], counts[whole]) for name, (part, whole) in RATES.items()}}


def rate(part: int, whole: int) -> dict[str, float] | None:
    """A share and its exact interval; None out of nothing."""
    if whole == 0:
        return None
    interval = clopper_pearson(part, whole, INTERVAL_LEVEL)
    return {"estimate": part / whole, "low": interval.low, "high": interval.high}


def interval_in_percent(estimate: Mapping[str, float]) -> str:
    return f"[{100 * estimate['low']:.0f}, {100 * estimate['high']:.0f}]"


def rates_table(rows: Mapping[str, dict[str, Any]], title: str, reference: str) -> Table:
    """Scenes down; of each rate the count, the rate where the paper prints it, and the interval in per cent.

    title: who is compared with what. reference: who or what says what is right, in a word.
    """
    columns = [Column("Scene", "l"), Column("n")]
    for group in ("Agreement", "False null", "Missed null", "Wrong label"):
        columns += [Column("", "r", group), Column("95 %", "r", group)]
    lines = []
    for key, row in rows.items():
        line: list[Entry | str] = ["Total" if key == TOTAL else SCENES[key].title, str(row["n"])]
        for name, (part, whole) in RATES.items():
            found = row["rates"][name]
            if found is None:
                line += [DASH, ""]
                continue
            text = f"{row[part]}/{row[whole]}"
            if key == TOTAL:
                text += f" ({found['estimate']:.1%})"
            elif name == "agreement":
                text += f" ({found['estimate']:.0%})"
            line += [text, interval_in_percent(found)]
        lines.append(line)
    return Table(
        f"{title}, with exact 95 % intervals ({METHOD}) in per cent.",
        columns,
        lines,
        [
            f"False null: the judge saw no outcome where the {reference} did; of the rollouts with one. Missed null: "
            "the reverse; of those without. Wrong label: both saw an outcome and differ; of the rollouts where both "
            f"did. {DASH} no such rollout."
        ],
    )
