"""How far the numbers carry: missing outcomes, power, and the judge against a person."""

from typing import Any

from constants import N_ROLLOUTS
from report.datatable import DataTable, Field
from report.inputs import Results
from report.markers import symbol_id
from report.plots import UNIT_TICKS, Axis, Mark, Row, Span, rows_panel
from report.sections import Key, Panel, Section
from report.words import interval, listed, number, percent
from scenes import SCENES

# The rates of the validation: name in the results -> title, counted, out of.
RATES = {
    "agreement": ("Agreement", "agree", "n"),
    "false_null": ("False null", "false_null", "human_valid"),
    "missed_null": ("Missed null", "missed_null", "human_null"),
    "wrong_label": ("Wrong label", "wrong_label", "both_valid"),
}
# The tests whose power is compared: name in the results -> title, symbol.
POWER_TESTS = {
    "published": ("χ², published rule", "mark-ring"),
    "chi2": ("χ², exact level", "mark-dot"),
    "tv": ("TV, exact level", "mark-diamond"),
}
POWER_N = (str(N_ROLLOUTS), str(N_ROLLOUTS // 2))


def missing_outcomes(results: Results) -> Section:
    bounds = results.missing["mntv"]
    keys = [model.key for model in results.models if model.key in bounds]
    rows, widest = [], max(keys, key=lambda m: bounds[m]["worst"] - bounds[m]["best"])
    for key in keys:
        bound, name = bounds[key], results.name(key)
        words = f"{name}: imputed {interval(bound['best'], bound['worst'])}, reported {number(bound['reported'])}"
        marker = Mark(bound["reported"], symbol_id(results.keys.index(key)), words)
        rows.append(Row(name, [Span(bound["best"], bound["worst"], "wide imputed")], [marker]))
    scenes = [SCENES[scene].title.lower() for scene in SCENES if scene in results.missing["cells"]]
    above = sum(bounds[key]["reported"] > bounds[key]["worst"] for key in keys)
    best, worst = bounds[widest]["best"], bounds[widest]["worst"]
    sentence = (
        f"Had the unscorable rollouts of {listed(scenes)} shown outcomes, mnTV could lie anywhere in the bars; most is "
        f"open for {results.name(widest)}, {number(best)} to {number(worst)}. The reported value lies above the whole "
        f"bar for {above} of {len(keys)} models: an unscorable rollout counts as mass on an impossible outcome."
    )
    table = DataTable(
        "missing_outcomes",
        "mnTV with unscorable rollouts imputed",
        [
            Field("model", "Model"),
            Field("best", "best", 3),
            Field("worst", "worst", 3),
            Field("reported", "reported", 3),
        ],
        [[results.name(key), *(bounds[key][name] for name in ("best", "worst", "reported"))] for key in keys],
    )
    axis = Axis(0, 1, UNIT_TICKS, "mnTV (lower is better)")
    legend = [
        Key("best to worst imputation", swatch="imputed"),
        Key("reported (the model's marker)", symbol="mark-dot"),
    ]
    panels = [Panel("", rows_panel(rows, axis, sentence))]
    command = "python compute_mcar_sensitivity.py"
    return Section("missing", "Missing outcomes", sentence, command, panels, legend, table)


def power(results: Results) -> Section:
    groups, scenes, target = results.power["groups"], results.power["scenes"], results.power["target"]
    ordered = [[scene for scene in SCENES if scene in members] for members in groups]
    titles = [listed([SCENES[scene].title for scene in members]) for members in ordered]
    first = [members[0] for members in ordered]
    panels = []
    for n in POWER_N:
        rows = []
        for scene, spec in SCENES.items():
            marks = [
                Mark(found, symbol, f"{spec.title}, {name}: {number(found)}")
                for test, (name, symbol) in POWER_TESTS.items()
                if (found := scenes[scene][test][n]["min_tv"]) is not None
            ]
            reach = [mark.value for mark in marks]
            rows.append(Row(spec.title, [Span(min(reach), max(reach), "join")] if reach else [], marks))
        axis = Axis(0, 0.75, {0.0: "0", 0.25: "0.25", 0.5: "0.5", 0.75: "0.75"}, "smallest TV detected")
        panels.append(
            Panel(f"{n} scorable rollouts", rows_panel(rows, axis, f"Smallest detected TV with {n} rollouts"))
        )
    n = POWER_N[0]
    ends = {
        test: sorted((scenes[scene][test][n]["min_tv"], title) for scene, title in zip(first, titles, strict=True))
        for test in ("chi2", "tv")
    }
    (low, low_title), (high, high_title) = ends["chi2"][0], ends["chi2"][-1]
    sentence = (
        f"With {n} scorable rollouts the exact χ² test sees, with probability {percent(target)}, a shift onto one "
        f"outcome from TV {number(low)} ({low_title}) to {number(high)} ({high_title}) on; the exact TV test from "
        f"{number(ends['tv'][0][0])} to {number(ends['tv'][-1][0])}. Smaller departures are seen less often than that."
    )
    fields = [Field("scenes", "Scenes"), Field("mass_moves_to", "mass moves to")]
    fields += [Field(f"{test}_n{n}", f"{name}, N = {n}", 3) for n in POWER_N for test, (name, _) in POWER_TESTS.items()]
    fields += [Field(f"published_size_n{n}", f"true size of the published rule, N = {n}", 3) for n in POWER_N]
    lines = [
        [
            title,
            scenes[scene]["contaminated"],
            *(scenes[scene][test][n]["min_tv"] for n in POWER_N for test in POWER_TESTS),
            *(scenes[scene]["published"][n]["size"] for n in POWER_N),
        ]
        for title, scene in zip(titles, first, strict=True)
    ]
    table = DataTable("power", f"Smallest TV detected with probability {percent(target)}", fields, lines)
    legend = [Key(name, symbol=symbol) for name, symbol in POWER_TESTS.values()]
    return Section("power", "Power", sentence, "python power_chi2.py", panels, legend, table)


def judge_validation(results: Results) -> Section:
    rates = results.validation["scenes"]
    names = {**{scene: SCENES[scene].title for scene in SCENES if scene in rates}, "total": "All scenes"}
    axis = Axis(0, 1, {0.0: "0", 0.5: "50 %", 1.0: "100 %"}, "share, with exact 95 % interval")
    panels = []
    for rate, (title, part, whole) in RATES.items():
        rows = []
        for key, name in names.items():
            found = rates[key]["rates"][rate]
            spans, marks = [], []
            if found is not None:
                words = f"{name}: {rates[key][part]} of {rates[key][whole]}, {interval(found['low'], found['high'])}"
                spans, marks = [Span(found["low"], found["high"], "thin")], [Mark(found["estimate"], "mark-dot", words)]
            rows.append(Row(name, spans, marks, apart=key == "total"))
        panels.append(Panel(title, rows_panel(rows, axis, f"{title} of judge and person by scene")))
    total = rates["total"]
    overall = total["rates"]["agreement"]
    weakest = min((s for s in names if s != "total"), key=lambda s: rates[s]["rates"]["agreement"]["estimate"])
    sentence = (
        f"Judge and person agree on {total['agree']} of {total['n']} rollouts: {100 * overall['estimate']:.1f} % "
        f"(95 % interval {100 * overall['low']:.0f} to {100 * overall['high']:.0f} %). They differ most on "
        f"{names[weakest].lower()} ({rates[weakest]['agree']} of {rates[weakest]['n']}); of the outcomes that both "
        f"read, {total['wrong_label']} of {total['both_valid']} are not the same one."
    )
    fields = [Field("scene", "Scene"), Field("n", "labelled", 0)]
    for rate, (title, part, whole) in RATES.items():
        fields += [Field(part, title.lower(), 0)]
        fields += [Field(whole, "out of", 0)] if whole != "n" else []
        fields += [Field(f"{rate}_low", "95 % low", 2), Field(f"{rate}_high", "95 % high", 2)]
    lines = [[name, rates[key]["n"], *_validation_values(rates[key])] for key, name in names.items()]
    table = DataTable("judge_validation", "Judge against hand labels", fields, lines)
    note = (
        "False null: the judge saw no outcome where the person did. Missed null: the reverse. Wrong label: both saw an "
        "outcome, and not the same one."
    )
    legend = [Key("rate and exact interval", symbol="mark-dot")]
    return Section("judge", "The judge", sentence, "python validate_extraction.py", panels, legend, table, note)


def _validation_values(row: dict[str, Any]) -> list[float | int | None]:
    values: list[float | int | None] = []
    for rate, (_, part, whole) in RATES.items():
        found = row["rates"][rate] or {"low": None, "high": None}
        values += [row[part], *([row[whole]] if whole != "n" else []), found["low"], found["high"]]
    return values
