"""One (scene, model): its verdict, what the grid shows of it, and everything that opens with it."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from constants import ALPHA, MIN_VALID_FOR_TEST
from models import PUBLISHED
from records import Cell
from report.inputs import Results
from report.words import count, interval, listed, number, p_value, percent, times
from scenes import SCENES, Scene

# Verdict -> what it says in the legend. Exact tests, after Benjamini-Hochberg within each.
VERDICTS = {
    "differs": "differs from the reference by both exact tests (χ² and TV)",
    "split": "differs by one of the two tests",
    "alike": "not told apart from the reference",
    "few": f"fewer than {MIN_VALID_FOR_TEST} scorable rollouts, not tested",
    "none": "no scorable rollout",
}
# Those of cells with enough scorable rollouts to be tested.
TESTED = ("differs", "split", "alike")
# The tests of a cell, in the order in which they are shown.
TESTS = {
    "chi2_monte_carlo": "χ², Monte Carlo",
    "chi2_exact": "χ², exact",
    "tv_exact": "TV, exact",
}
# The grid's colour steps: excess over the floor up to each of these, and above the last.
HEAT_BOUNDS = (0.1, 0.25, 0.4, 0.6, 0.8)
# Decimals of the e-value's path: it is only drawn.
_PATH_DECIMALS = 3


def verdict(results: Results, scene: str, model: str) -> str:
    """A key of VERDICTS."""
    cell = results.cell("chi2", scene, model)
    if not cell["tested"]:
        return "few" if cell["n_valid"] else "none"
    found = {cell["tests"][name]["significant"] for name in ("chi2_exact", "tv_exact")}
    return "split" if len(found) == 2 else "differs" if found == {True} else "alike"


def heat(excess: float | None) -> int | None:
    """The colour step of an excess, 0 for none to len(HEAT_BOUNDS); None where there is no excess."""
    return None if excess is None else bisect_left(HEAT_BOUNDS, excess)


def cell_record(results: Results, cell: Cell) -> dict[str, Any]:
    """What the page knows of a cell, for the grid and for its detail. `cell` is the cell's outcomes."""
    scene, model = SCENES[cell.scene], cell.model
    scored = results.cell("tv", scene.key, model)
    tested = results.cell("chi2", scene.key, model)
    estimate = results.cell("intervals", scene.key, model)
    sequential = results.cell("sequential", scene.key, model)
    tests = [{"name": label, **tested["tests"][key]} for key, label in TESTS.items()] if tested["tested"] else []
    found = verdict(results, scene.key, model)
    return {
        **{name: scored[name] for name in ("n", "n_valid", "rho", "tv", "floor", "excess", "score")},
        "band": scored["null_band"],
        "interval": None if estimate["low"] is None else [estimate["low"], estimate["high"]],
        "interval_reason": estimate["reason"],
        "heat": heat(scored["excess"]) if tested["tested"] else None,
        "verdict": found,
        "sentence": sentence(results, scene, model, found),
        "counts": list(scored["counts"]),
        "expected": results.cell("distributions", scene.key, model)["expected_range"],
        "tests": tests,
        "family": family(results, model),
        "log_e": [round(value, _PATH_DECIMALS) for value in sequential["log_e"]] if tested["tested"] else [],
        "decided_after": sequential["decided_after"],
        "e_q": sequential.get("q"),
        "e_significant": sequential.get("significant"),
        "bins": list(cell.bins),
        # An outcome file that says how it was made is nobody's but the reader's own.
        "as_published": model in PUBLISHED and not cell.protocol,
    }


def family(results: Results, model: str) -> str:
    """In which family of tests the model's cells are corrected."""
    members = next(f for f in results.chi2["families"] if model in f["models"])
    who = f"the {count(len(members['models']))} published models" if len(members["models"]) > 1 else "this model alone"
    return f"corrected over the {members['n_tests']} tested cells of {who}; Monte Carlo as published"


def sentence(results: Results, scene: Scene, model: str, found: str) -> str:
    """In one or two sentences: does the cell differ from its reference, and how."""
    scored, tested = results.cell("tv", scene.key, model), results.cell("chi2", scene.key, model)
    n, n_valid = scored["n"], scored["n_valid"]
    if found == "none":
        return f"None of {n} rollouts shows a legible outcome. There is nothing to test; the score is 1, the worst."
    if found == "few":
        show = "shows" if n_valid == 1 else "show"
        return (
            f"Only {n_valid} of {n} rollouts {show} a legible outcome ({_seen(scene, scored['counts'])}): too few to "
            f"test, and the {percent(1 - scored['rho'])} without one count in full."
        )
    exact = {name: tested["tests"][name] for name in ("chi2_exact", "tv_exact")}
    p = f"p = {p_value(exact['tv_exact']['p'])} by TV, {p_value(exact['chi2_exact']['p'])} by χ²"
    if found == "differs":
        return (
            f"Differs from the reference by both exact tests, at a false discovery rate of {ALPHA}: TV is "
            f"{number(scored['tv'])} where sampling noise alone gives {number(scored['floor'])} ({p}). "
            f"{_departure(scene, scored['counts'])} Bonferroni and e-values ask for more, and may not agree."
        )
    if found == "split":
        which = "χ²" if exact["chi2_exact"]["significant"] else "TV"
        q = f"q = {p_value(exact['tv_exact']['q'])} by TV, {p_value(exact['chi2_exact']['q'])} by χ² after correction"
        return f"Differs from the reference by exact {which} only ({q}): {tested['verdict_reason']}."
    low, high = scored["null_band"]
    place = "within" if low <= scored["tv"] <= high else "below" if scored["tv"] < low else "above"
    return (
        f"Not told apart from the reference at {ALPHA} after correction: TV is {number(scored['tv'])}, {place} the "
        f"95 % band {interval(low, high)} of a calibrated model ({p})."
    )


def _departure(scene: Scene, counts: Sequence[int]) -> str:
    """Which outcome came up too often, and which never although at least one was expected."""
    n = sum(counts)
    expected = [n * p for p in scene.reference.probabilities]
    most = max(range(scene.k), key=lambda i: counts[i] - expected[i])
    if counts[most] == n:
        return f"Every one of the {n} scorable rollouts shows {scene.outcomes[most]}."
    never = [scene.outcomes[i] for i in range(scene.k) if counts[i] == 0 and expected[i] >= 1]
    absent = f"; {listed(never)} never" if never else ""
    digits = 1 if expected[most] >= 0.1 else 2
    return f"{_named(scene, most)} came up {times(counts[most])} ({number(expected[most], digits)} expected){absent}."


def _seen(scene: Scene, counts: Sequence[int]) -> str:
    return listed([f"{scene.outcomes[i]} {times(c)}" for i, c in enumerate(counts) if c])


def _named(scene: Scene, index: int) -> str:
    label = scene.outcomes[index]
    return f"Outcome {label}" if label.isdecimal() else label.capitalize()
