"""The tables that are drawn by hand on the page, as data: leaderboard, cells, pairs of models."""

from collections.abc import Mapping, Sequence
from typing import Any

from report.cells import TESTS, VERDICTS
from report.datatable import DataTable, Field, Value
from report.inputs import Control, Results
from scenes import SCENES


def leaderboard_table(rows: Sequence[Mapping[str, Any]], controls: Sequence[Control]) -> DataTable:
    """One row a model, then one a control: kind tells published, additional and control apart."""
    fields = [
        Field("model", "Model"),
        Field("kind", "kind"),
        Field("mntv", "mnTV", 3),
        *(
            Field(f"{kind}_{end}", f"{kind} {end}", 3)
            for kind in ("corrected", "percentile")
            for end in ("low", "high")
        ),
        Field("probability_best", "P(best)", 3),
        Field("scorable", "scorable", 3),
        Field("unscorable", "unscorable part", 3),
        Field("miscalibrated", "miscalibrated part", 3),
        *(Field(f"cells_{name}", name, 0) for name in VERDICTS),
        *(Field(f"theory_{name}", f"theory {name}", 3) for name in ("expected", "low", "high")),
    ]
    lines: list[list[Value]] = [
        [
            row["model"],
            "published" if row["published"] else "additional",
            row["mntv"],
            *(row[kind][end] for kind in ("corrected", "percentile") for end in ("low", "high")),
            *(row[name] for name in ("probability_best", "scorable", "unscorable", "miscalibrated")),
            *(row["verdicts"][name] for name in VERDICTS),
            *(None, None, None),
        ]
        for row in rows
    ]
    lines += [
        [
            control.name,
            "control",
            control.mntv,
            *[None] * 5,
            control.scorability,
            1 - control.scorability,
            control.mntv - 1 + control.scorability,
            *[None] * len(VERDICTS),
            *(control.expected, control.low, control.high),
        ]
        for control in controls
    ]
    return DataTable("leaderboard", "Leaderboard", fields, lines)


def cells_table(results: Results, records: Mapping[tuple[str, str], Mapping[str, Any]]) -> DataTable:
    """One row a cell: its scores, null band, tests and counts."""
    names = ("n", "n_valid", "rho", "tv", "floor", "excess", "score")
    fields = [
        Field("scene", "Scene"),
        Field("model", "Model"),
        *(Field(name, name, 3) for name in names),
        *(Field(name, name, 3) for name in ("band_low", "band_high", "score_low", "score_high")),
        Field("verdict", "verdict"),
        *(Field(f"{value}_{test}", f"{value}, {label}", "p") for test, label in TESTS.items() for value in ("p", "q")),
        Field("final_log_e", "log e at the end", 3),
        Field("decided_after", "decided after", 0),
        Field("counts", "counts of the outcomes"),
    ]
    lines = []
    for scene in SCENES:
        for model in results.keys:
            record, tested = records[scene, model], results.cell("chi2", scene, model)
            tests = [tested["tests"][t][v] if tested["tested"] else None for t in TESTS for v in ("p", "q")]
            path = results.cell("sequential", scene, model)
            lines.append(
                [
                    scene,
                    model,
                    *(record[name] for name in names),
                    *(record["band"] or (None, None)),
                    *(record["interval"] or (None, None)),
                    record["verdict"],
                    *tests,
                    path["final_log_e"] if tested["tested"] else None,
                    record["decided_after"],
                    " ".join(map(str, record["counts"])),
                ]
            )
    return DataTable("cells", "All cells", fields, lines)


def pairs_table(pairs: Sequence[Mapping[str, Any]]) -> DataTable:
    """One row a pair: the difference in mnTV, first minus second, with both intervals."""
    ends = [(kind, end) for kind in ("corrected", "percentile") for end in ("low", "high")]
    fields = [Field("first", "First"), Field("second", "Second"), Field("difference", "difference", 3)]
    fields += [Field(f"{kind}_{end}", f"{kind} {end}", 3) for kind, end in ends]
    lines = [
        [pair["a"], pair["b"], pair["corrected"]["value"], *(pair[kind][end] for kind, end in ends)] for pair in pairs
    ]
    return DataTable("differences", "Differences in mnTV", fields, lines)


def scene_differences_table(pairs: Sequence[Mapping[str, Any]]) -> DataTable:
    """One row a pair and scene: the difference in score, first minus second, with the corrected interval."""
    fields = [Field("first", "First"), Field("second", "Second"), Field("scene", "Scene")]
    fields += [Field(name, name, 3) for name in ("difference", "low", "high")]
    lines = [
        [pair["a"], pair["b"], scene, row["value"], row["low"], row["high"]]
        for pair in pairs
        for scene, row in pair["scenes"].items()
    ]
    return DataTable("differences_by_scene", "Differences in score by scene", fields, lines)
