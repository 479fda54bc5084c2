"""Tables 3 and 6: is each cell told apart from its reference? Published Monte Carlo test, and exact ones beside it.

    python compute_chi2.py [--models MINE] [--scene dice --model wan] [--analysis DIR]

Reads   analysis/{scene}_{model}_bins.json
Writes  analysis/results/chi2.json; analysis/tables/chi2.{md,tex} (Table 3), chi2_adjusted.{md,tex} (Table 6),
        chi2_exact.{md,tex} (exact p-values), chi2_verdicts.{md,tex} (cells whose verdict depends on the statistic)
Free: needs no key and no network.

The six published models are one family of tests. Every further model is a family of its own, so that adding it changes
no published verdict.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import cli
import records
from cell_summary import note, published_p
from constants import ALPHA, CHI2_REPLICATES, MIN_VALID_FOR_TEST
from exact_multinomial import p_value
from grid_table import grid_table
from models import Model, families, resolve
from outputs import Outputs
from scenes import SCENES, Scene
from stats_utils import benjamini_hochberg, bonferroni, chi2_statistic, total_variation
from tables import DASH, Column, Entry, Group, Table, exact_p_text, p_text

# The three tests of each cell: the published one, its exact form, and the exact test of total variation.
TESTS = {
    "chi2_monte_carlo": f"χ², {CHI2_REPLICATES:,} draws (published)",
    "chi2_exact": "χ², exact",
    "tv_exact": "TV, exact",
}


# What stands in place of a p-value.
MARKS = {"dagger": "†", "none_valid": DASH}

# Why the tests may disagree about a cell, by the code that its results bear.
REASONS = {
    "rare_outcome": "χ² alone rejects, led by an outcome that is rare under the reference",
    "one_outcome": "χ² alone rejects, led by one outcome that is not rare",
    "common_outcome": "TV alone rejects, for a common outcome that is over-full",
    "spread": "TV alone rejects, as the mass moved is spread over equally likely outcomes",
    "correction": "the exact p-values are equal, and their corrections differ",
    "simulation": "only the simulated test differs from the exact ones",
}


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__).parse_args(argv)
    scenes, models = cli.selected_scenes(args), cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    # Corrections need the whole family, also when a few of its rows are asked for.
    grid: dict[str, dict[str, Any]] = {scene: {} for scene in SCENES}
    summaries = []
    for members in families(models):
        cells = records.read_study(args.analysis, "main", models=members)
        results = {key: test_cell(cell) for key, cell in cells.items()}
        summaries.append(adjust(members, [r for r in results.values() if r["tested"]]))
        for (scene, model), result in results.items():
            grid[scene][model] = result
    shown = {scene: {model: grid[scene][model] for model in models} for scene in scenes}
    # Before the results: it notes with each of its cells why the tests disagree.
    verdicts = verdict_table(shown)
    outputs.results({"cells": shown, "families": summaries, "alpha": ALPHA, "reasons": REASONS})
    outputs.table(table_3(shown, resolve(models), summaries))
    outputs.table(table_6(shown, summaries), "_adjusted")
    outputs.table(exact_table(shown, resolve(models), summaries), "_exact")
    outputs.table(verdicts, "_verdicts")
    outputs.finish()
    return 0


def test_cell(cell: records.Cell) -> dict[str, Any]:
    """Raw p-values of one cell under each test; {"tested": False} with too few valid rollouts."""
    result: dict[str, Any] = {"counts": cell.counts, "n_valid": cell.n_valid}
    if why := note(cell.n_valid):
        return result | {"tested": False, "note": why}
    reference = SCENES[cell.scene].reference
    p_values = {
        "chi2_monte_carlo": published_p(cell),
        "chi2_exact": p_value(cell.counts, reference, "chi2").value,
        "tv_exact": p_value(cell.counts, reference, "tv").value,
    }
    return result | {
        "tested": True,
        "chi2": float(chi2_statistic(cell.counts, reference)),
        "tv": float(total_variation(cell.counts, reference)),
        "tests": {name: {"p": p} for name, p in p_values.items()},
    }


def adjust(members: list[str], tested: list[dict[str, Any]]) -> dict[str, Any]:
    """Add q (Benjamini-Hochberg) and Bonferroni values of one family to its tested cells; returns its summary."""
    summary: dict[str, Any] = {"models": members, "n_tests": len(tested), "bonferroni_bound": None, "tests": {}}
    if not tested:
        return summary
    summary["bonferroni_bound"] = ALPHA / len(tested)
    for name in TESTS:
        p = np.array([cell["tests"][name]["p"] for cell in tested])
        q, p_bonferroni = benjamini_hochberg(p), bonferroni(p)
        for i, cell in enumerate(tested):
            cell["tests"][name] |= {"q": q[i], "p_bonferroni": p_bonferroni[i], "significant": bool(q[i] <= ALPHA)}
        rejected = p[q <= ALPHA]
        summary["tests"][name] = {
            "significant": int(rejected.size),
            "largest_rejected_p": float(rejected.max()) if rejected.size else None,
        }
    for cell in tested:
        published = cell["tests"]["chi2_monte_carlo"]
        cell["note"] = "not_sig_after_bh" if published["p"] < ALPHA < published["q"] else ""
    return summary


def family_notes(summaries: list[dict[str, Any]], name: str) -> list[str]:
    """One sentence a family: its size, its discoveries and the thresholds that they imply."""
    notes = []
    for family in summaries:
        published = len(family["models"]) > 1
        title = "The six published models" if published else f"{resolve(family['models'])[0].name}, a family of its own"
        if not family["n_tests"]:
            notes.append(f"{title}: no cell has the {MIN_VALID_FOR_TEST} valid rollouts that a test needs.")
            continue
        test = family["tests"][name]
        largest = test["largest_rejected_p"]
        bound = (
            f" (largest rejected p = {p_text(largest, 4) if largest >= 0.0001 else exact_p_text(largest)})"
            if largest is not None
            else ""
        )
        notes.append(
            f"{title}: {test['significant']} of {family['n_tests']} tested cells significant after "
            f"Benjamini-Hochberg at {ALPHA}{bound}; Bonferroni bound p ≤ {family['bonferroni_bound']:.5f}."
        )
    return notes


def raw_p_text(p: float, family: dict[str, Any], name: str) -> str:
    """Four decimals for the family's largest rejected p, which is its threshold (as the paper prints it)."""
    return p_text(p, 4 if p == family["tests"][name]["largest_rejected_p"] else 3)


def table_3(grid: dict[str, Any], models: list[Model], summaries: list[dict[str, Any]]) -> Table:
    """Raw published p-values, with verdicts after correction."""
    name = "chi2_monte_carlo"
    family_of = {model: family for family in summaries for model in family["models"]}

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = grid[scene.key][model.key]
        if not cell["tested"]:
            return [MARKS[cell["note"]]]
        text = raw_p_text(cell["tests"][name]["p"], family_of[model.key], name)
        return [text + "‡" * (cell["note"] == "not_sig_after_bh")]

    return grid_table(
        f"Monte Carlo p-values of Pearson's χ² against the reference ({CHI2_REPLICATES:,} draws a cell).",
        list(grid),
        models,
        entries,
        notes=[
            f"† at most {MIN_VALID_FOR_TEST - 1} valid rollouts, not tested; {DASH} none. "
            f"‡ p < {ALPHA}, but not significant after Benjamini-Hochberg.",
            *family_notes(summaries, name),
        ],
    )


def table_6(grid: dict[str, Any], summaries: list[dict[str, Any]]) -> Table:
    """Raw and adjusted published p-values of every tested cell, ascending within each family."""
    name = "chi2_monte_carlo"
    rows: list[Sequence[Entry | str] | Group] = []
    for family in summaries:
        members = [
            (cell["tests"][name], scene, model)
            for scene, row in grid.items()
            for model, cell in row.items()
            if model in family["models"] and cell["tested"]
        ]
        if len(summaries) > 1:
            rows.append(
                Group("Published models" if len(family["models"]) > 1 else f"{family['models'][0]} (own family)")
            )
        for test, scene, model in sorted(members, key=lambda m: (m[0]["p"], list(SCENES).index(m[1]))):
            rows.append(
                [
                    SCENES[scene].title,
                    resolve([model])[0].name,
                    raw_p_text(test["p"], family, name),
                    p_text(test["q"]),
                    p_text(test["p_bonferroni"]),
                ]
            )
    return Table(
        "Raw and adjusted Monte Carlo p-values of all tested cells, ascending.",
        [Column("Scene", "l"), Column("Model", "l"), Column("p"), Column("q (BH)"), Column("p (Bonferroni)")],
        rows,
        family_notes(summaries, name),
    )


def exact_table(grid: dict[str, Any], models: list[Model], summaries: list[dict[str, Any]]) -> Table:
    """Exact p-values of both statistics; bold where significant after correction within the statistic."""

    def entries(scene: Scene, model: Model) -> list[Entry | str]:
        cell = grid[scene.key][model.key]
        if not cell["tested"]:
            return [MARKS[cell["note"]]] * 2
        tests = [cell["tests"][name] for name in ("chi2_exact", "tv_exact")]
        return [Entry(exact_p_text(test["p"]), bold=test["significant"]) for test in tests]

    return grid_table(
        "Exact p-values of Pearson's χ² and of total variation against the reference.",
        list(grid),
        models,
        entries,
        quantities=("χ²", "TV"),
        notes=[
            f"Bold: significant after Benjamini-Hochberg at {ALPHA} within the statistic. "
            f"† not tested; {DASH} none valid.",
            *(f"χ²: {note}" for note in family_notes(summaries, "chi2_exact")),
            *(f"TV: {note}" for note in family_notes(summaries, "tv_exact")),
        ],
    )


def verdict_table(grid: dict[str, Any]) -> Table:
    """The cells whose verdict after correction is not the same under all three tests, each with its reason."""
    rows: list[Sequence[Entry | str]] = []
    for scene, row in grid.items():
        for model, cell in row.items():
            if cell["tested"] and len({test["significant"] for test in cell["tests"].values()}) > 1:
                cell["verdict_code"], cell["verdict_reason"] = reason(SCENES[scene], cell)
                verdicts = [
                    Entry(exact_p_text(cell["tests"][name]["q"]), bold=cell["tests"][name]["significant"])
                    for name in TESTS
                ]
                rows.append([SCENES[scene].title, resolve([model])[0].label, *verdicts, cell["verdict_reason"]])
    return Table(
        f"Cells whose verdict depends on the statistic: q-values after Benjamini-Hochberg, bold where at most {ALPHA}.",
        [
            Column("Scene", "l"),
            Column("Model", "l"),
            Column("χ² Monte Carlo"),
            Column("χ² exact"),
            Column("TV exact"),
            Column("Why", "p"),
        ],
        rows,
    )


def reason(scene: Scene, cell: dict[str, Any]) -> tuple[str, str]:
    """Why the tests disagree about a cell: a code, one of REASONS, and one line from the counts."""
    tests, n, weights = cell["tests"], cell["n_valid"], scene.reference.weights
    chi2, tv = tests["chi2_exact"], tests["tv_exact"]
    if chi2["significant"] == tv["significant"]:
        simulated = tests["chi2_monte_carlo"]["p"]
        return "simulation", f"Monte Carlo noise at the threshold: p = {simulated:.4f}, exact {chi2['p']:.4f}"
    if np.isclose(chi2["p"], tv["p"], rtol=1e-9):
        return "correction", (
            f"both exact tests give p = {chi2['p']:.4f}; its correction depends on the other cells, whose p-values "
            "differ"
        )
    observed, expected = np.array(cell["counts"]), n * np.array(scene.reference.probabilities)
    share = (observed - expected) ** 2 / expected
    share /= share.sum()
    if chi2["significant"]:
        i = int(share.argmax())
        leads = f"{share[i]:.0%} of χ² comes from outcome {scene.outcomes[i]}"
        counts = f"({observed[i]} seen, {expected[i]:.2g} expected)"
        moved = f"the mass moved is TV = {cell['tv']:.2f}, which sampling noise reaches with p = {tv['p']:.3f}"
        # Rarer than the average outcome. Under a uniform reference none is.
        if weights[i] * scene.k < scene.reference.denominator:
            return "rare_outcome", f"{leads}, a rare one {counts}; {moved}"
        return "one_outcome", f"{leads} {counts}, as χ² squares deviations and TV does not; {moved}"
    if min(weights) < max(weights):
        i, rare = int((observed - expected).argmax()), int(expected.argmin())
        return "common_outcome", (
            f"outcome {scene.outcomes[i]} is over-full ({observed[i]} seen, {expected[i]:.2g} expected), which TV = "
            f"{cell['tv']:.2f} shows; the upper tail of χ² belongs to rare outcomes ({scene.outcomes[rare]}: "
            f"{expected[rare]:.2g} expected)"
        )
    return "spread", (
        f"the mass moved, TV = {cell['tv']:.2f}, is spread over outcomes that are all equally likely: none gives more "
        f"than {share.max():.0%} of χ², which squares deviations and so sees many small ones less than TV does"
    )


if __name__ == "__main__":
    sys.exit(main())
