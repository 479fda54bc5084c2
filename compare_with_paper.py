"""Every published figure against the recomputed one, at the precision at which it was printed.

    python compare_with_paper.py [--analysis DIR]

Reads   paper/*.csv (the published values), analysis/results/*.json (of the other scripts)
Writes  analysis/results/compare_with_paper.json, analysis/tables/compare_with_paper.{md,tex}
Prints  a line a table, each miss with both values, and the total last. Exit 1 on any miss.
Free: needs no key and no network.

A figure is a printed number or setting, counted once also where its row stands for several scenes, all of which must
then agree. The marks beside numbers or in place of them († too few to test, — none, ‡ not significant after correction)
are compared as well, also where none is printed, and those that are printed are counted apart.
Table 5 was a Monte Carlo result with an unknown stream of random numbers: there a difference of one in the last digit
is shown, and is no miss.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import cli
from outputs import Outputs, read_results
from paths import PAPER
from records import read_published
from tables import Column, Table, fixed

# From the best to the worst.
VERDICTS = ("match", "last digit", "miss")
# What is shown for a value that is not there.
NONE = "none"


@dataclass(frozen=True)
class Comparison:
    """One published figure: where it stands, what is printed, what was recomputed at that precision, the verdict.

    mark: it is no figure, but a mark beside one or in its place.
    """

    what: str
    printed: str
    recomputed: str
    verdict: str  # one of VERDICTS
    mark: bool = False


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False, models=False).parse_args(argv)
    outputs = Outputs(args.analysis, __file__)
    compared = {title: list(compare(args.analysis)) for title, compare in TABLES.items()}
    every = [c for comparisons in compared.values() for c in comparisons]
    figures, marks = count(c for c in every if not c.mark), count(c for c in every if c.mark)
    n_figures, n_marks = sum(figures.values()), sum(marks.values())
    outputs.results(
        {
            "tables": {title: [asdict(c) for c in comparisons] for title, comparisons in compared.items()},
            "figures": n_figures,
            "last_digit": figures["last digit"],
            "misses": figures["miss"],
            "marks": n_marks,
            "mark_misses": marks["miss"],
        }
    )
    outputs.table(summary_table(compared))
    outputs.finish()
    for title, comparisons in compared.items():
        for c in comparisons:
            if c.verdict != "match":
                print(f"{title}, {c.what}: printed {c.printed}, recomputed {c.recomputed} ({c.verdict})")
    print(f"{marks['match']} of {n_marks} marks beside them match")
    print(f"{figures['match']} of {n_figures} published figures match", end="")
    print(f", {figures['last digit']} off by one last digit, {figures['miss']} missed")
    return 1 if figures["miss"] or marks["miss"] else 0


def count(comparisons: Iterable[Comparison]) -> dict[str, int]:
    """Verdict -> how many comparisons came to it."""
    verdicts = [c.verdict for c in comparisons]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def summary_table(compared: dict[str, list[Comparison]]) -> Table:
    rows = []
    for title, comparisons in compared.items():
        figures = [c for c in comparisons if not c.mark]
        verdicts = [str(n) for n in count(comparisons).values()]
        rows.append([title, str(len(figures)), str(len(comparisons) - len(figures)), *verdicts])
    return Table(
        "Published figures against recomputed ones, at printed precision.",
        [Column("Published", "l"), Column("figures"), Column("marks"), *(Column(verdict) for verdict in VERDICTS)],
        rows,
        [
            "Marks: †, ‡ and —, beside a figure or in its place. "
            "Last digit: a Monte Carlo figure of Table 5 that differs by one in its last digit."
        ],
    )


def number(what: str, printed: str, value: float | None, *, monte_carlo: bool = False) -> Comparison:
    """Compare one number at the decimals with which it is printed; "<0.001" is compared as a bound.

    `printed` is empty where the paper has no number: there must be none then.
    """
    if value is None:
        return Comparison(what, printed or NONE, NONE, "miss" if printed else "match")
    if not printed:
        return Comparison(what, NONE, f"{value:.4g}", "miss")
    if printed.startswith("<"):
        return Comparison(what, printed, f"{value:.3g}", "match" if value < float(printed[1:]) else "miss")
    digits = len(printed.partition(".")[2])
    recomputed = fixed(value, digits)
    if recomputed == printed:
        return Comparison(what, printed, recomputed, "match")
    one_digit = abs(round(float(recomputed) * 10**digits) - round(float(printed) * 10**digits)) == 1
    return Comparison(what, printed, recomputed, "last digit" if monte_carlo and one_digit else "miss")


def text(what: str, printed: str, recomputed: str, *, mark: bool = False) -> Comparison:
    verdict = "match" if printed == recomputed else "miss"
    return Comparison(what, printed or NONE, recomputed or NONE, verdict, mark)


def something(comparison: Comparison) -> bool:
    """Whether there is anything to count: nothing printed where nothing was to be printed is no figure."""
    return (comparison.printed, comparison.recomputed) != (NONE, NONE)


def numbers(path: Path, keys: Sequence[str], value: Callable[[dict[str, str], str], Any]) -> Iterator[Comparison]:
    """Compare every column of a published CSV; `keys` name the row, value(row, column) is the recomputed number."""
    for row in read_published(path):
        where = " ".join(row[key] for key in keys)
        for column, printed in row.items():
            if column == "note":
                comparison = text(f"{where} note", printed, value(row, column), mark=True)
            elif column not in keys:
                comparison = number(f"{where} {column}", printed, value(row, column))
            else:
                continue
            if something(comparison):
                yield comparison


def table_1(analysis: Path) -> Iterator[Comparison]:
    settings = read_results(analysis, "make_config_table.py")["settings"]
    for row in read_published(PAPER / "table1_settings.csv"):
        for column, printed in row.items():
            if column != "model":
                yield text(f"{row['model']} {column}", printed, settings[row["model"]][column])


def table_2(analysis: Path) -> Iterator[Comparison]:
    scored = read_results(analysis, "compute_tv_band.py")
    intervals = read_results(analysis, "compute_mntv_ci.py")
    yield from numbers(
        PAPER / "table2_rho_tv.csv",
        ("scene", "model"),
        lambda row, column: scored["cells"][row["scene"]][row["model"]][column],
    )
    for row in read_published(PAPER / "table2_mntv.csv"):
        model = row["model"]
        percentile = intervals["models"][model]["percentile"]
        yield number(f"{model} mntv", row["mntv"], scored["mntv"][model])
        yield number(f"{model} ci_low", row["ci_low"], percentile["low"])
        yield number(f"{model} ci_high", row["ci_high"], percentile["high"])


def table_3(analysis: Path) -> Iterator[Comparison]:
    cells = read_results(analysis, "compute_chi2.py")["cells"]

    def value(row: dict[str, str], column: str) -> Any:
        cell = cells[row["scene"]][row["model"]]
        if column == "note":
            return cell["note"]
        return cell["tests"]["chi2_monte_carlo"]["p"] if cell["tested"] else None

    yield from numbers(PAPER / "table3_p_mc.csv", ("scene", "model"), value)


def table_4(analysis: Path) -> Iterator[Comparison]:
    cells = read_results(analysis, "compute_tv_band.py")["cells"]
    yield from numbers(
        PAPER / "table4_score.csv", ("scene", "model"), lambda row, _: cells[row["scene"]][row["model"]]["score"]
    )


def table_5(analysis: Path) -> Iterator[Comparison]:
    recomputed = read_results(analysis, "power_chi2.py")["scenes"]
    for row in read_published(PAPER / "table5_power.csv"):
        scenes = row["scenes"].split("|")
        for column, n in (("min_tv_n32", "32"), ("min_tv_n16", "16")):
            comparisons = [
                number(f"{scene} N={n}", row[column], recomputed[scene]["published"][n]["min_tv"], monte_carlo=True)
                for scene in scenes
            ]
            worst = max(comparisons, key=lambda c: VERDICTS.index(c.verdict))
            yield replace(worst, what=f"{', '.join(scenes)} N={n}") if worst.verdict == "match" else worst


def table_6(analysis: Path) -> Iterator[Comparison]:
    cells = read_results(analysis, "compute_chi2.py")["cells"]
    names = {"p": "p", "q_bh": "q", "p_bonferroni": "p_bonferroni"}

    def value(row: dict[str, str], column: str) -> Any:
        cell = cells[row["scene"]][row["model"]]
        return cell["note"] if column == "note" else cell["tests"]["chi2_monte_carlo"][names[column]]

    yield from numbers(PAPER / "table6_adjusted_p.csv", ("scene", "model"), value)


def table_7(analysis: Path) -> Iterator[Comparison]:
    results = read_results(analysis, "compute_mcar_sensitivity.py")
    yield from numbers(
        PAPER / "table7_mcar_cells.csv",
        ("scene", "model"),
        lambda row, column: results["cells"][row["scene"]][row["model"]][column],
    )
    yield from numbers(
        PAPER / "table7_mcar_mntv.csv",
        ("model",),
        lambda row, column: results["mntv"][row["model"]][column.removeprefix("mntv_")],
    )


def table_8(analysis: Path) -> Iterator[Comparison]:
    scenes = read_results(analysis, "validate_extraction.py")["scenes"]
    yield from numbers(
        PAPER / "table8_validation.csv",
        ("scene",),
        lambda row, column: scenes[row["scene"]][column.replace("human_", "reference_")],
    )


def table_9(analysis: Path) -> Iterator[Comparison]:
    cells = read_results(analysis, "make_seedance_ablation.py")["cells"]

    def value(row: dict[str, str], column: str) -> Any:
        quantity, lines = column.split("_")
        return cells[row["scene"]][f"{lines}p"][quantity]

    yield from numbers(PAPER / "table9_resolution.csv", ("scene",), value)


def table_10(analysis: Path) -> Iterator[Comparison]:
    models = read_results(analysis, "recompute_dur5s.py")["models"]
    yield from numbers(PAPER / "table10_duration.csv", ("model",), lambda row, column: models[row["model"]][column])


def table_11(analysis: Path) -> Iterator[Comparison]:
    guidance = read_results(analysis, "make_dice_ablation_figures.py")["guidance"]
    yield from numbers(PAPER / "table11_cfg.csv", ("guidance",), lambda row, column: guidance[row["guidance"]][column])


def table_12(analysis: Path) -> Iterator[Comparison]:
    compliance = read_results(analysis, "make_dice_ablation_figures.py")["compliance"]
    yield from numbers(
        PAPER / "table12_compliance.csv", ("model",), lambda row, column: compliance[row["model"]][column]
    )


def in_the_text(analysis: Path) -> Iterator[Comparison]:
    """Figures that stand in the paper's text and captions only."""
    operator = read_results(analysis, "compute_tv_band.py")["calibrated_operator"]
    family = read_results(analysis, "compute_chi2.py")["families"][0]
    total = read_results(analysis, "validate_extraction.py")["scenes"]["total"]
    published = family["tests"]["chi2_monte_carlo"]
    recomputed = {
        "calibrated operator, low": operator["low"],
        "calibrated operator, high": operator["high"],
        "tested cells": family["n_tests"],
        "significant after BH": published["significant"],
        "largest rejected p": published["largest_rejected_p"],
        "Bonferroni bound": family["bonferroni_bound"],
        "judge agreement, %": 100 * total["agree"] / total["n"],
        "false nulls, %": 100 * total["false_null"] / total["reference_valid"],
        "missed nulls, %": 100 * total["missed_null"] / total["reference_null"],
    }
    for row in read_published(PAPER / "text_values.csv"):
        yield number(row["what"], row["value"], recomputed[row["what"]])


TABLES: dict[str, Callable[[Path], Iterator[Comparison]]] = {
    "Table 1 (settings)": table_1,
    "Table 2 (ρ, TV, mnTV)": table_2,
    "Table 3 (p-values)": table_3,
    "Table 4 (scores)": table_4,
    "Table 5 (power)": table_5,
    "Table 6 (adjusted p)": table_6,
    "Table 7 (missing outcomes)": table_7,
    "Table 8 (judge validation)": table_8,
    "Table 9 (resolution)": table_9,
    "Table 10 (duration)": table_10,
    "Table 11 (guidance)": table_11,
    "Table 12 (compliance)": table_12,
    "Text and captions": in_the_text,
}


if __name__ == "__main__":
    sys.exit(main())
