"""The page to open first: leaderboard, grid, figures, what exact inference changes, and the comparison with the paper.

    python make_results.py [--models MINE] [--analysis DIR]

Reads   analysis/results/*.json and analysis/tables/*.md (of the other scripts)
Writes  analysis/RESULTS.md, analysis/results/results.json, analysis/tables/results.{md,tex} (the leaderboard)
Prints  the leaderboard.
Free: needs no key and no network.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cli
from constants import ALPHA, CHI2_REPLICATES, INTERVAL_LEVEL, N_ROLLOUTS
from errors import UserError
from models import PUBLISHED, resolve
from outputs import Outputs, read_results, stem_of
from scenes import SCENES
from tables import Column, Entry, Table, fixed, markdown, percent, range_text

# The scripts that evaluate models, whose results or tables the page shows.
EVALUATING = (
    "analyze_rollouts.py",
    "compute_tv_band.py",
    "compute_mntv_ci.py",
    "compute_chi2.py",
    "compute_sequential.py",
    "compute_mcar_sensitivity.py",
    "make_scatter_grid.py",
)

# Script -> its results.
Inputs = Mapping[str, Any]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    options = cli.parser(__doc__, scenes=False, models=False)
    options.add_argument("--models", nargs="+", default=[], metavar="MODEL", help="show these further models too")
    args = options.parse_args(argv)
    further = [model for model in dict.fromkeys(args.models) if cli.check_model_key(model) not in PUBLISHED]
    outputs = Outputs(args.analysis, __file__)
    inputs = read_inputs(args.analysis, further)
    rows = leaderboard(inputs, [*PUBLISHED, *further])
    board = leaderboard_table(rows)
    outputs.results({"leaderboard": rows})
    outputs.table(board)
    outputs.document("RESULTS.md", page(args.analysis, inputs, board))
    outputs.finish()
    return 0


def read_inputs(analysis: Path, further: Sequence[str]) -> Inputs:
    """The results of all evaluating scripts. Raises UserError for those that name other models than these, such as
    what is left of a run with others: their tables would not be of the models shown."""
    inputs = {}
    options = f" --models {' '.join(further)}" if further else ""
    expected = {*PUBLISHED, *further}
    for script in EVALUATING:
        inputs[script] = read_results(analysis, script)
        found = {model for row in inputs[script]["cells"].values() for model in row}
        if found != expected:
            without, beside = sorted(expected - found), sorted(found - expected)
            wrong = [f"without {', '.join(without)}"] * bool(without) + [f"with {', '.join(beside)}"] * bool(beside)
            raise UserError(
                f"{analysis / 'results' / stem_of(script)}.json: results {' and '.join(wrong)}; expected those of "
                f"{', '.join([*PUBLISHED, *further])}: run {script}{options}"
            )
    return inputs


def leaderboard(inputs: Inputs, models: Sequence[str]) -> list[dict[str, Any]]:
    """One row a model, lowest mnTV first: score, both intervals, scorability, verdicts, how likely it is the best."""
    scored, tests = inputs["compute_tv_band.py"]["cells"], inputs["compute_chi2.py"]["cells"]
    rows = []
    for model in models:
        cells = [scored[scene][model] for scene in SCENES]
        tested = [tests[scene][model]["tests"] for scene in SCENES if tests[scene][model]["tested"]]
        rows.append(
            {
                "model": model,
                "published": model in PUBLISHED,
                **inputs["compute_mntv_ci.py"]["models"][model],
                "scorability": sum(cell["n_valid"] for cell in cells) / sum(cell["n"] for cell in cells),
                "tested": len(tested),
                # After correction, by exact test.
                "significant": {
                    name: sum(cell[name]["significant"] for cell in tested) for name in ("chi2_exact", "tv_exact")
                },
            }
        )
    return sorted(rows, key=lambda row: row["mntv"])


def leaderboard_table(rows: list[dict[str, Any]]) -> Table:
    entries: list[list[Entry | str]] = []
    for rank, row in enumerate(rows, start=1):
        name = resolve([row["model"]])[0].name + "★" * (not row["published"])
        best = row["probability_best"]
        entries.append(
            [
                str(rank),
                name,
                Entry(fixed(row["mntv"], 2), bold=rank == 1),
                interval(row["percentile"]),
                interval(row["corrected"]),
                "n.e." if best is None else fixed(best, 2),
                fixed(row["scorability"], 2),
                f"{row['significant']['chi2_exact']} / {row['significant']['tv_exact']} of {row['tested']}",
            ]
        )
    notes = [
        "0 is a calibrated model whose rollouts are all scorable, 1 the worst. Intervals: published percentile "
        "bootstrap, and corrected (its coverage is measured below). P(best): probability of the lowest expected mnTV "
        "among those shown. Significant: tested cells that differ from chance after Benjamini-Hochberg at "
        f"{ALPHA}, by exact χ² / exact TV."
    ]
    if not all(row["published"] for row in rows):
        notes.append("★ not one of the six published models: its tests are a family of their own.")
    return Table(
        f"Leaderboard: mnTV over nine scenes with {N_ROLLOUTS} rollouts each, and {percent(INTERVAL_LEVEL)} intervals.",
        [
            Column("", "r"),
            Column("Model", "l"),
            Column("mnTV ↓"),
            Column("published"),
            Column("corrected"),
            Column("P(best)"),
            Column("scorable"),
            Column("significant"),
        ],
        entries,
        notes,
    )


def interval(estimate: dict[str, Any]) -> str:
    return "n.e." if estimate["low"] is None else range_text(estimate["low"], estimate["high"])


def page(analysis: Path, inputs: Inputs, board: Table) -> str:
    """RESULTS.md. Tables are those that the scripts wrote; sentences with numbers are made from the results here."""

    def there(name: str) -> bool:
        return (analysis / "tables" / f"{name}.md").exists()

    def table(name: str) -> str:
        path = analysis / "tables" / f"{name}.md"
        if not path.exists():
            raise UserError(f"{path}: no such file; expected the tables of the earlier stages: run ./run_pipeline.sh")
        return path.read_text(encoding="utf-8")

    def figure(name: str, caption: str) -> str:
        return f"![{caption}](figures/{name}.png)\n"

    def study(name: str, caption: str) -> list[str]:
        """What a study left, which the pipeline does not run."""
        return [table(name), figure(name, caption)] if there(name) else []

    controls = [table("controls")] if there("controls") else []
    controls += study("study_controls", "Simulated laws: mnTV of many seed sets, and its exact distribution")
    against_truth = [table(name) for name in ("validate_judge", "validate_judge_artefacts") if there(name)]
    parts = [
        "# Results",
        "Made by `make_results.py`. `./run_pipeline.sh` recomputes every number here from the committed outcomes, with "
        "two exceptions: the studies `study_interval_coverage`, `study_controls` and `validate_judge` run only when "
        "named with `--only` and stand here as last computed; the control's outcomes are not committed but read anew "
        "from clips that the pipeline simulates.",
        "## Leaderboard",
        markdown(board),
        inputs["compute_mntv_ci.py"]["not_told_apart"],
        "## The grid",
        table("tv_band"),
        figure("scatter_grid", "Scorability against total variation, all scenes"),
        "## Significance",
        table("chi2"),
        "## What exact inference changes",
        exact_section(inputs["compute_chi2.py"], read_results(analysis, "power_chi2.py")["scenes"]),
        table("chi2_verdicts"),
        table("chi2_exact"),
        "## Verdicts that may be read at any time",
        table("sequential"),
        figure("sequential", "E-values of the tested cells, rollout by rollout"),
        table("sequential_false_alarms"),
        "## Scores and intervals",
        table("tv_band_score"),
        table("mntv_ci_differences"),
        table("mntv_ci_cells"),
        *study("study_interval_coverage", "Simulated coverage of both intervals"),
        *(["## Controls", *controls] if controls else []),
        "## A scorable and an unscorable rollout",
        figure("rollout_examples", "Frames of two rollouts, from the first to the last"),
        "## Distributions",
        *(figure(f"analyze_rollouts_{scene}", f"{SCENES[scene].title}: outcomes of each model") for scene in SCENES),
        "## Power",
        table("power_chi2"),
        figure("power_chi2", "Power of the published test against total variation"),
        figure("power_chi2_exact", "Power of the exact tests against total variation"),
        "## Missing outcomes",
        table("mcar_sensitivity"),
        table("mcar_sensitivity_mntv"),
        "## The judge against hand labels",
        table("validate_extraction"),
        *(["## The pixels judge against the truth of simulated clips", *against_truth] if against_truth else []),
        "## Ablations",
        table("seedance_ablation"),
        figure("seedance_ablation", "SeeDance at 480p and 720p"),
        table("recompute_dur5s"),
        table("recompute_dur5s_cells"),
        figure("recompute_dur5s", "Benchmark length against 5 s"),
        table("dice_ablation_figures_guidance"),
        figure("dice_ablation_figures_guidance", "Dice under guidance"),
        table("dice_ablation_figures_faces"),
        figure("dice_ablation_figures_faces", "Asked for a face"),
        "## The pendulum's reference",
        table("verify_pendulum_v3"),
        figure("verify_pendulum_v3", "P(left) over time"),
        "## Settings",
        table("config_table"),
        "## Comparison with the paper",
        table("compare_with_paper"),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def exact_section(chi2: Mapping[str, Any], power: Mapping[str, Any]) -> str:
    """A few sentences, from the results, on what the published numbers become without Monte Carlo noise."""
    published = next(family for family in chi2["families"] if family["models"] == list(PUBLISHED))
    tests = {name: test["significant"] for name, test in published["tests"].items()}
    tested = [cell for row in chi2["cells"].values() for m, cell in row.items() if m in PUBLISHED and cell["tested"]]
    smallest = min(cell["tests"]["chi2_exact"]["p"] for cell in tested)
    moved = [abs(cell["tests"]["chi2_monte_carlo"]["p"] - cell["tests"]["chi2_exact"]["p"]) for cell in tested]
    coin = power["ball"]["published"]["16"]
    return (
        f"Of {published['n_tests']} tested cells, {tests['chi2_monte_carlo']} are significant by the published Monte "
        f"Carlo χ², {tests['chi2_exact']} by the exact χ² and {tests['tv_exact']} by the exact test of TV. Exact and "
        f"Monte Carlo χ² p-values differ by at most {max(moved):.4f}; the smallest exact one is {smallest:.0e}, where "
        f"simulation stops at {1 / (CHI2_REPLICATES + 1):.0e}. {changed_verdicts(tested, chi2['reasons'])} The "
        "published rule of the power analysis rejects a fair coin at N = 16 with probability "
        f"{coin['size']:.3f}, not {ALPHA}."
    )


def changed_verdicts(tested: Sequence[Mapping[str, Any]], reasons: Mapping[str, str]) -> str:
    """One sentence on how many cells change their verdict with the statistic, and for which reasons."""
    codes = [cell["verdict_code"] for cell in tested if "verdict_code" in cell]
    if not codes:
        return "No cell changes its verdict with the statistic."
    commonest_first = sorted(set(codes), key=lambda code: (-codes.count(code), code))
    counted = [f"in {codes.count(code)} {reasons[code]}" for code in commonest_first]
    return f"{len(codes)} of them change their verdict with the statistic (below): {'; '.join(counted)}."


if __name__ == "__main__":
    sys.exit(main())
