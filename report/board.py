"""The leaderboard, the sentences at the head of the page, and the comparison of two models."""

from collections.abc import Mapping, Sequence
from typing import Any

from constants import ALPHA
from models import PUBLISHED
from report.cells import TESTED, VERDICTS, verdict
from report.inputs import Results
from report.words import interval, listed, number, percent
from scenes import SCENES

# Scenes named in a model's row, and marked in the grid, as those that cost it most.
_WORST = 3
# Pairs named in the head of the page; more of them nobody reads.
_MOST_PAIRS = 6


def rows(results: Results) -> list[dict[str, Any]]:
    """One row a model, lowest mnTV first. mnTV = unscorable + miscalibrated, both means over the scenes."""
    return sorted((_row(results, key) for key in results.keys), key=lambda row: row["mntv"])


def _row(results: Results, model: str) -> dict[str, Any]:
    cells = {scene: results.cell("tv", scene, model) for scene in SCENES}
    estimate = results.intervals["models"][model]
    unscorable = sum(1 - cell["rho"] for cell in cells.values()) / len(cells)
    verdicts = [verdict(results, scene, model) for scene in SCENES]
    return {
        "model": model,
        "index": results.keys.index(model),
        "name": results.name(model),
        "published": model in PUBLISHED,
        "mntv": estimate["mntv"],
        "corrected": estimate["corrected"],
        "percentile": estimate["percentile"],
        "probability_best": estimate["probability_best"],
        "unscorable": unscorable,
        "scorable": 1 - unscorable,
        "miscalibrated": estimate["mntv"] - unscorable,
        "verdicts": {name: verdicts.count(name) for name in VERDICTS},
        "tested": sum(name in TESTED for name in verdicts),
        "worst": worst(results, model),
    }


def worst(results: Results, model: str) -> list[str]:
    """The scenes with the model's highest scores, highest first."""
    return sorted(SCENES, key=lambda scene: -results.cell("tv", scene, model)["score"])[:_WORST]


def pairs(results: Results) -> list[dict[str, Any]]:
    """Every pair of models, a - b: the difference in mnTV with both intervals, and scene by scene the corrected one."""
    return [
        {
            "a": pair["a"],
            "b": pair["b"],
            **{kind: _difference(pair[kind]) for kind in ("corrected", "percentile")},
            "scenes": {scene: _difference(pair["scenes"][scene]) for scene in SCENES},
        }
        for pair in results.intervals["pairs"]
    ]


def _difference(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in ("value", "low", "high", "reason")}


def findings(results: Results, board: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Question and answer: what most readers come for, made from the data."""
    return [
        ("Which model is best, and how sure is that?", _best(results, board)),
        ("How calibrated is it?", _calibration(results, board)),
        ("Who is not told apart?", _together(results)),
    ]


def _best(results: Results, board: Sequence[dict[str, Any]]) -> str:
    best = board[0]
    text = f"{best['name']} has the lowest mnTV, {number(best['mntv'])}"
    corrected = best["corrected"]
    if corrected["low"] is not None:
        text += f" (95 % interval {number(corrected['low'])} to {number(corrected['high'])})"
    if best["probability_best"] is not None:
        compared = sum(row["probability_best"] is not None for row in board)
        whom = f"all {compared} models" if compared == len(board) else f"the {compared} models that have an interval"
        text += f", and is the best of {whom} with probability {percent(best['probability_best'])}"
    if len(board) == 1:
        return f"{text}."
    second = board[1]
    pair = next(p for p in results.intervals["pairs"] if {p["a"], p["b"]} == {best["model"], second["model"]})
    sign = 1 if pair["a"] == second["model"] else -1
    lead = {name: pair["corrected"][name] for name in ("value", "low", "high")}
    if lead["low"] is None:
        return f"{text}. {second['name']} follows; the interval of their difference is not estimable."
    low, high = sorted((sign * lead["low"], sign * lead["high"]))
    apart = "they are told apart" if low > 0 else "they are not told apart"
    return f"{text}. {second['name']} follows {number(sign * lead['value'])} behind {interval(low, high)}: {apart}."


def _calibration(results: Results, board: Sequence[dict[str, Any]]) -> str:
    """How far from calibrated the best one is, and how many cells of all models differ from their reference."""
    zero, best = results.tv["calibrated_operator"], board[0]
    low = best["corrected"]["low"]
    if low is None:
        place = "how far the best one is from that cannot be estimated"
    else:
        place = f"the best one is {'far from' if low > zero['high'] else 'near'} it"
    families = results.chi2["families"]
    published = [f for f in families if len(f["models"]) > 1]
    further = [f for f in families if len(f["models"]) == 1]
    parts = [_differing(group, who) for group, who in ((published, "published"), (further, "additional")) if group]
    return (
        f"A calibrated model scores 0 (95 % of such runs lie in {interval(zero['low'], zero['high'])}); "
        f"{place}. Outcomes differ from their reference, after correction at {ALPHA}, in {listed(parts)}. "
        f"{percent(1 - sum(row['scorable'] for row in board) / len(board))} of all rollouts show no legible outcome."
    )


def _differing(families: Sequence[dict[str, Any]], who: str) -> str:
    """How many cells of these families differ, by each exact test."""
    tested = sum(f["n_tests"] for f in families)
    chi2, tv = (
        sum(f["tests"][name]["significant"] for f in families if f["tests"]) for name in ("chi2_exact", "tv_exact")
    )
    return f"{chi2} (exact χ²) or {tv} (exact TV) of {tested} tested cells of the {who} models"


def _together(results: Results) -> str:
    """Which pairs of models are not told apart; of many pairs only how many."""
    pairs = results.intervals["pairs"]
    estimable = [p["corrected"] for p in pairs if p["corrected"]["low"] is not None]
    unsure = sum(p["low"] <= 0 <= p["high"] for p in estimable)
    unknown = len(pairs) - len(estimable)
    if unsure + unknown <= _MOST_PAIRS:
        return str(results.intervals["not_told_apart"])
    without = f" {unknown} have no interval, since one of the two shows no spread." if unknown else ""
    return (
        f"{unsure} of {len(pairs)} pairs of models are not told apart, as the interval of their difference "
        f"contains 0.{without} The comparison below shows any two of them."
    )
