"""How far the numbers carry: missing outcomes, power, and the judge against a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from constants import N_ROLLOUTS
from report.datatable import DataTable, Field
from report.inputs import Results, Validation
from report.markers import symbol_id
from report.plots import PERCENT_TICKS, UNIT_TICKS, Axis, Mark, Row, Span, rows_panel
from report.sections import Key, Panel, Section
from report.words import interval, listed, number, percent
from scenes import SCENES
from validation import RATES, TOTAL

# The tests whose power is compared: name in the results -> title, symbol.
POWER_TESTS = {
    "published": ("χ², published rule", "mark-ring"),
    "chi2": ("χ², exact level", "mark-dot"),
    "tv": ("TV, exact level", "mark-diamond"),
}
# Right end of the axis: no scene's smallest detected TV is larger.
POWER_END = 0.75
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
        ticks = {tick: words for tick, words in UNIT_TICKS.items() if tick <= POWER_END}
        axis = Axis(0, POWER_END, ticks, "smallest TV detected")
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
        f"The marks show how large a departure must be to be noticed in {percent(target)} of repetitions, when it "
        f"moves mass onto one outcome. With {n} scorable rollouts the exact χ² test needs a TV of {number(low)} on "
        f"{low_title}, its least, and of {number(high)} on {high_title}, its most; the exact TV test needs "
        f"{number(ends['tv'][0][0])} to {number(ends['tv'][-1][0])}. Smaller departures often stay unnoticed."
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


def judge_validations(results: Results) -> list[Section]:
    """The published labels first; then one's own, and the truth of simulated clips."""
    return [_validation(found, place) for place, found in enumerate(results.validations)]


def _validation(validation: Validation, place: int) -> Section:
    rates, other = validation.scenes, validation.reference
    # A scene of which nothing was labelled has no rate.
    read = [scene for scene in SCENES if scene in rates and rates[scene]["rates"]["agreement"] is not None]
    names = {**{scene: SCENES[scene].title for scene in read}, TOTAL: "All scenes"}
    axis = Axis(0, 1, PERCENT_TICKS, "share, with exact 95 % interval")
    titles = {rate: rate.replace("_", " ").capitalize() for rate in RATES}
    panels = []
    for rate, (part, whole) in RATES.items():
        rows = []
        for key, name in names.items():
            found = rates[key]["rates"][rate]
            spans, marks = [], []
            if found is not None:
                words = f"{name}: {rates[key][part]} of {rates[key][whole]}, {interval(found['low'], found['high'])}"
                spans, marks = [Span(found["low"], found["high"], "thin")], [Mark(found["estimate"], "mark-dot", words)]
            rows.append(Row(name, spans, marks, apart=key == TOTAL))
        panels.append(Panel(titles[rate], rows_panel(rows, axis, f"{titles[rate]} of judge and {other} by scene")))
    fields = [Field("scene", "Scene"), Field("n", "labelled" if other == "person" else "clips", 0)]
    for rate, (part, whole) in RATES.items():
        fields += [Field(part, titles[rate].lower(), 0)]
        fields += [Field(whole, "out of", 0)] if whole != "n" else []
        fields += [Field(f"{rate}_low", "95 % low", 2), Field(f"{rate}_high", "95 % high", 2)]
    lines = [[name, rates[key]["n"], *_rate_values(rates[key])] for key, name in names.items()]
    suffix = f"_{place + 1}" if place else ""
    against = "hand labels" if other == "person" else "the truth of simulated clips"
    table = DataTable(f"judge_validation{suffix}", f"Judge against {against}", fields, lines)
    note = (
        f"False null: the judge saw no outcome where the {other} did. Missed null: the reverse. Wrong label: both saw "
        "an outcome, and not the same one."
    )
    legend = [Key("rate and exact interval", symbol="mark-dot")]
    return Section(
        f"judge{suffix}",
        validation.title,
        _agreement(rates, read, other),
        validation.command,
        panels,
        legend,
        table,
        note,
    )


def _agreement(rates: Mapping[str, Any], read: Sequence[str], other: str) -> str:
    """How often judge and person (or the truth) agree, and where least."""
    total = rates[TOTAL]
    overall = total["rates"]["agreement"]
    if overall is None:
        return f"0 rollouts have both a judge's outcome and that of the {other}."
    text = (
        f"Judge and {other} agree on {total['agree']} of {total['n']} rollouts: {100 * overall['estimate']:.1f} % "
        f"(95 % interval {100 * overall['low']:.0f} to {100 * overall['high']:.0f} %)"
    )
    if len(read) > 1:
        weakest = min(read, key=lambda scene: rates[scene]["rates"]["agreement"]["estimate"])
        text += f", least on {SCENES[weakest].title.lower()}, {rates[weakest]['agree']} of {rates[weakest]['n']}"
    part, whole = RATES["wrong_label"]
    return f"{text}. Of the {total[whole]} outcomes that both read, {total[part]} are not the same one."


def _rate_values(row: Mapping[str, Any]) -> list[float | int | None]:
    values: list[float | int | None] = []
    for rate, (part, whole) in RATES.items():
        found = row["rates"][rate] or {"low": None, "high": None}
        values += [row[part], *([row[whole]] if whole != "n" else []), found["low"], found["high"]]
    return values
