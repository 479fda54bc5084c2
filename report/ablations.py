"""What changes with resolution, clip length, guidance and the prompt."""

from collections.abc import Mapping, Sequence
from typing import Any

from constants import ALPHA, MIN_VALID_FOR_TEST
from models import MODELS
from report.datatable import DataTable, Field, Value
from report.inputs import Results
from report.markers import symbol_id
from report.plots import PERCENT_TICKS, UNIT_TICKS, Axis, Mark, Row, Span, confusion_panel, rows_panel
from report.sections import Key, Panel, Section
from report.sources import resolutions
from report.words import change, interval, listed, number, percent
from scenes import SCENES
from studies import FACES, GUIDANCES, STUDIES

SCORE_AXIS = Axis(-0.05, 1, UNIT_TICKS, "score (lower is better)")


def resolution(results: Results) -> Section:
    model, (before, after) = MODELS["seedance"], resolutions()
    data = results.resolution
    symbol = symbol_id(results.keys.index(model.key))
    few = {s for s in SCENES if "dagger" in (data["cells"][s][before]["note"], data["cells"][s][after]["note"])}
    labels = {s: scene.title + " †" * (s in few) for s, scene in SCENES.items()}
    panels = []
    for quantity, title, axis in (
        ("rho", "Scorability ρ", Axis(0, 1, UNIT_TICKS, "scorability ρ (higher is better)")),
        ("tv", "Total variation", Axis(0, 1, UNIT_TICKS, "TV (lower is better)")),
        ("score", "Score", SCORE_AXIS),
    ):
        rows = [
            _changed(label, data["cells"][s][before][quantity], data["cells"][s][after][quantity], symbol)
            for s, label in labels.items()
        ]
        panels.append(Panel(title, rows_panel(rows, axis, f"{title} by scene at {before} and {after}")))
    mntv, significant = data["mntv"], data["significant_after_bh"]
    sentence = (
        f"At {after} instead of {before}, {model.name}'s mnTV is {number(mntv[after], 3)} instead of "
        f"{number(mntv[before], 3)} ({change(mntv[after] - mntv[before], 3)}). After correction {significant[before]} "
        f"scenes differ from their reference at {before} and {significant[after]} at {after}; {data['n_tests']} tests."
    )
    quantities = (("rho", "ρ", 2), ("tv", "TV", 3), ("score", "score", 3), ("p", "p", "p"), ("q", "q", "p"))
    fields = [Field("scene", "Scene")]
    fields += [Field(f"{name}_{arm}", f"{label}, {arm}", d) for name, label, d in quantities for arm in (before, after)]
    lines = [
        [SCENES[s].title, *(data["cells"][s][arm][name] for name, _, _ in quantities for arm in (before, after))]
        for s in SCENES
    ]
    table = DataTable("resolution", f"{model.name} at {before} and {after}", fields, lines)
    legend = [Key(before, symbol="mark-ring"), Key(after, symbol=symbol)]
    note = f"† fewer than {MIN_VALID_FOR_TEST} scorable rollouts: TV says little." if few else ""
    return Section(
        "resolution", "Resolution", sentence, "python make_seedance_ablation.py", panels, legend, table, note
    )


def duration(results: Results) -> Section:
    study, data = STUDIES["dur5s"], results.duration
    absent = {(cell["scene"], cell["model"]) for cell in data["absent"]}
    panels, changes = [], []
    for key in study.models:
        model, symbol = MODELS[key], symbol_id(results.keys.index(key))
        rows = []
        for scene in SCENES:
            pair = data["cells"][scene][key]
            after = None if (scene, key) in absent else pair["5s"]["score"]
            rows.append(_changed(SCENES[scene].title, pair["benchmark"]["score"], after, symbol))
        title = f"{model.name}, {model.duration_s:.3g} s → 5 s"
        panels.append(Panel(title, rows_panel(rows, SCORE_AXIS, f"Score by scene, {title}")))
        both = data["models"][key]["both"]
        over = "" if both["scenes"] == len(SCENES) else f" (over the {both['scenes']} scenes that exist at both)"
        changes.append(f"{change(both['mntv_5s'] - both['mntv_benchmark'], 3)} for {model.name}{over}")
    kept = listed([MODELS[key].name for key in (*study.reuses_main, *study.unavailable)])
    sentence = f"Run again at a uniform 5 s, mnTV changes by {listed(changes)}. {kept} were not run again."
    fields = [Field("scene", "Scene")]
    fields += [
        Field(f"{key}_{length}", f"{MODELS[key].label}, {words}", 3)
        for key in study.models
        for length, words in (("benchmark", "benchmark"), ("5s", "5 s"))
    ]
    lines: list[list[Value]] = []
    for scene in SCENES:
        line: list[Value] = [SCENES[scene].title]
        for key in study.models:
            pair = data["cells"][scene][key]
            line += [pair["benchmark"]["score"], None if (scene, key) in absent else pair["5s"]["score"]]
        lines.append(line)
    table = DataTable("duration", "Score at the benchmarked clip length and at 5 s", fields, lines)
    legend = [Key("benchmarked length", symbol="mark-ring"), Key("5 s (the model's marker)", symbol="mark-dot")]
    note = " ".join(f"{SCENES[c['scene']].title}, {MODELS[c['model']].name}: {c['reason']}" for c in data["absent"])
    return Section("duration", "Duration", sentence, "python recompute_dur5s.py", panels, legend, table, note)


def _changed(label: str, before: float | None, after: float | None, symbol: str) -> Row:
    """A row of one quantity before and after a change; a missing value has no mark."""
    spans = [] if before is None or after is None else [Span(before, after, "join")]
    marks = [] if before is None else [Mark(before, "mark-ring", f"{label}: {number(before, 3)} before")]
    marks += [] if after is None else [Mark(after, symbol, f"{label}: {number(after, 3)} after")]
    return Row(label, spans, marks)


def guidance(results: Results) -> Section:
    sweep: Mapping[str, Any] = results.dice["guidance"]
    scales = [f"{value:.1f}" for value in GUIDANCES]
    model = MODELS["cosmos3_super"]
    symbol = symbol_id(results.keys.index(model.key))
    rho, tv = [], []
    for at in scales:
        cell, label = sweep[at], f"guidance {at}"
        low, high = cell["rho_interval"]
        words = f"{label}: ρ {number(cell['rho'])} {interval(low, high)}"
        rho.append(Row(label, [Span(low, high, "thin")], [Mark(cell["rho"], symbol, words)]))
        low, high = cell["null_band"]
        words = f"{label}: TV {number(cell['tv'])}, null band {interval(low, high)}"
        tv.append(Row(label, [Span(low, high, "wide band")], [Mark(cell["tv"], symbol, words)]))
    panels = [
        Panel("Scorability ρ", rows_panel(rho, Axis(0, 1, UNIT_TICKS, "ρ, exact 95 % interval"), "ρ by guidance")),
        Panel("Total variation", rows_panel(tv, Axis(0, 1, UNIT_TICKS, "TV on the scorable"), "TV by guidance")),
    ]
    first, last = sweep[scales[0]], sweep[scales[-1]]
    differ = [at for at in scales if sweep[at]["q"] is not None and sweep[at]["q"] <= ALPHA]
    sentence = (
        f"From guidance {scales[0]} to {scales[-1]}, {model.name}'s die goes from {percent(first['rho'])} to "
        f"{percent(last['rho'])} scorable and from TV {number(first['tv'])} to {number(last['tv'])}. After "
        f"correction {len(differ)} of {len(scales)} scales differ from a fair die"
        f"{f' ({listed(differ)})' if differ else ''}."
    )
    fields = [
        Field("guidance", "Guidance"),
        Field("n_valid", "scorable", 0),
        Field("rho", "ρ", 2),
        Field("tv", "TV", 3),
        Field("band_low", "null band low", 3),
        Field("band_high", "high", 3),
        Field("p", "p", "p"),
        Field("q", "q (BH)", "p"),
        Field("modal_face", "modal face", 0),
        *(Field(f"face_{face}", f"face {face}", 0) for face in FACES),
    ]
    lines = [
        [
            at,
            *(sweep[at][name] for name in ("n_valid", "rho", "tv")),
            *sweep[at]["null_band"],
            *(sweep[at][name] for name in ("p", "q", "modal_face")),
            *sweep[at]["counts"],
        ]
        for at in scales
    ]
    table = DataTable("guidance", f"{model.name} on the dice at {len(scales)} guidance scales", fields, lines)
    legend = [Key(model.name, symbol=symbol), Key("95 % band of a fair die", swatch="band")]
    command = "python make_dice_ablation_figures.py"
    return Section("guidance", "Guidance", sentence, command, panels, legend, table)


def faces(results: Results) -> Section:
    rows, chance = results.dice["compliance"], results.dice["chance"]
    shown = [m for m in results.models if m.key in rows and rows[m.key]["interval_pct"] is not None]
    order = sorted(shown, key=lambda m: -rows[m.key]["compliance_pct"])
    labels = [str(face) for face in FACES]
    lines, panels = [], []
    for model in order:
        row = rows[model.key]
        low, high = (end / 100 for end in row["interval_pct"])
        words = f"{model.name}: {row['hits']} of {row['valid']}, {interval(low, high)}"
        mark = Mark(row["compliance_pct"] / 100, symbol_id(results.keys.index(model.key)), words)
        lines.append(Row(model.name, [Span(low, high, "thin")], [mark]))
    axis = Axis(0, 1, PERCENT_TICKS, "face asked for came up; line: chance", chance)
    panels.append(Panel("How often the face asked for came up", rows_panel(lines, axis, "Compliance by model")))
    for model in order:
        read_out = f"{model.name}: faces asked for against faces shown"
        panels.append(Panel(model.name, confusion_panel(rows[model.key]["confusion"], labels, read_out), small=True))
    best, worst = order[0], order[-1]
    beyond = [m for m in order if not _inside(chance, rows[m.key]["interval_pct"])]
    sentence = (
        f"Asked to show a face, {best.name} does so most often ({_percent_of(rows[best.key])}) and {worst.name} least "
        f"({_percent_of(rows[worst.key])}); chance is {percent(chance)}. For {len(beyond)} of {len(order)} models the "
        "interval excludes chance."
    )
    fields = [
        Field("model", "Model"),
        Field("hits", "hits", 0),
        Field("valid", "scorable", 0),
        Field("rollouts", "rollouts", 0),
        Field("compliance_pct", "%", 1),
        Field("low_pct", "95 % low", 1),
        Field("high_pct", "high", 1),
    ]
    names = ("hits", "valid", "rollouts", "compliance_pct")
    data = [[m.name, *(rows[m.key][name] for name in names), *rows[m.key]["interval_pct"]] for m in order]
    table = DataTable("faces", "Dice asked to show a face", fields, data)
    legend = [Key("share and exact interval", symbol="mark-dot"), Key("the face asked for", swatch="asked")]
    note = "Tables: down the face asked for, across the face shown; numbers count rollouts."
    command = "python make_dice_ablation_figures.py"
    return Section("faces", "Asked for a face", sentence, command, panels, legend, table, note)


def _inside(chance: float, interval_pct: Sequence[float]) -> bool:
    return interval_pct[0] <= 100 * chance <= interval_pct[1]


def _percent_of(row: Mapping[str, Any]) -> str:
    return f"{row['hits']} of {row['valid']}, {row['compliance_pct']:.0f} %"
