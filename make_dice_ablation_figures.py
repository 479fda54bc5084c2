"""Tables 11 and 12, Figures 14 and 15: the dice under varied guidance, and asked to show a given face.

    python make_dice_ablation_figures.py [--model seedance wan] [--analysis DIR]

Reads   analysis/dice_cfg_{g}_cosmos3_super_bins.json, analysis/dice_face_{n}_{model}_bins.json,
        analysis/dice_cosmos3_super_bins.json
Writes  analysis/results/dice_ablation_figures.json, and below analysis/tables/ and analysis/figures/
        dice_ablation_figures_guidance.* (Table 11, Figure 14) and dice_ablation_figures_faces.* (Table 12, Figure 15)
Free: needs no key and no network.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import cli
import records
from cell_summary import null_band, published_p, summary
from constants import ALPHA, CHI2_REPLICATES, INTERVAL_LEVEL
from models import MODELS, Model, resolve
from outputs import Outputs
from scenes import SCENES
from stats_utils import benjamini_hochberg, clopper_pearson
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study
from tables import DASH, Column, Entry, Table, fixed, p_text, percent, range_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCENE = SCENES["dice"]
# The one model whose guidance can be set.
GUIDED = MODELS["cosmos3_super"]

_SWEEP_STYLE: dict[str, Any] = {"color": GUIDED.colour, "marker": GUIDED.marker}
_MAIN_CELL_STYLE: dict[str, Any] = {"marker": "o", "linestyle": "none", "fillstyle": "none", "markersize": 7}


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parser(__doc__, scenes=False).parse_args(argv)
    models = cli.selected_models(args)
    outputs = Outputs(args.analysis, __file__, print_only=cli.is_selection(args))
    results: dict[str, Any] = {
        "compliance": {model: compliance(args.analysis, model) for model in models},
        "chance": 1 / SCENE.k,
        "level": INTERVAL_LEVEL,
    }
    if GUIDED.key in models:
        results |= guidance_sweep(args.analysis)
        outputs.table(table_11(results), "_guidance")
    outputs.table(table_12(results), "_faces")
    outputs.results(results)
    if not outputs.print_only:
        outputs.figure(draw_guidance(results), "_guidance")
        outputs.figure(draw_faces(results), "_faces")
    outputs.finish()
    return 0


def guidance_sweep(analysis: Path) -> dict[str, Any]:
    """Every guidance scale: scores, test, modal face, frequencies; and how far the sweep repeats the main dice cell."""
    main_cell = records.read_cell(analysis, STUDIES["main"], SCENE.key, GUIDED.key)
    default = float(GUIDED.inputs["guidance_scale"])
    sweep = {}
    for guidance in GUIDANCES:
        cell = records.read_cell(analysis, STUDIES[guidance_study(guidance)], SCENE.key, GUIDED.key)
        rho = clopper_pearson(cell.n_valid, cell.n, INTERVAL_LEVEL)
        sweep[f"{guidance:.1f}"] = summary(cell) | {
            "rho_interval": [rho.low, rho.high],
            "null_band": null_band(SCENE.reference, cell.n_valid),
            "p": published_p(cell),
            "q": None,
            # The smaller face on a tie.
            "modal_face": cell.counts.index(max(cell.counts)) + 1 if cell.n_valid else None,
            "agreeing_seeds": sum(a == b for a, b in zip(cell.bins, main_cell.bins, strict=True)),
        }
    tested = [row for row in sweep.values() if row["p"] is not None]
    for row, q in zip(tested, benjamini_hochberg([row["p"] for row in tested]).tolist(), strict=True):
        row["q"] = q
    return {"guidance": sweep, "default_guidance": f"{default:.1f}", "main_cell": summary(main_cell)}


def compliance(analysis: Path, model: str) -> dict[str, Any]:
    """How often the face that was asked for came up, of the valid rollouts; by face, and with an exact interval.

    confusion[i][j]: rollouts that were asked for face i + 1 and showed j + 1; the last column counts unscorable ones.
    """
    cells = [records.read_cell(analysis, STUDIES[face_study(face)], SCENE.key, model) for face in FACES]
    hits = sum(cell.counts[face - 1] for face, cell in zip(FACES, cells, strict=True))
    valid = sum(cell.n_valid for cell in cells)
    result = {
        "confusion": [[*cell.counts, cell.n - cell.n_valid] for cell in cells],
        "hits": hits,
        "valid": valid,
        "rollouts": sum(cell.n for cell in cells),
    }
    if valid == 0:
        return result | {"compliance_pct": None, "interval_pct": None}
    interval = clopper_pearson(hits, valid, INTERVAL_LEVEL)
    return result | {"compliance_pct": 100 * hits / valid, "interval_pct": [100 * interval.low, 100 * interval.high]}


def table_11(results: Mapping[str, Any]) -> Table:
    """Guidance scales down."""
    sweep, default = results["guidance"], results["default_guidance"]
    rows: list[list[Entry | str]] = []
    for guidance, row in sweep.items():
        rows.append(
            [
                guidance + " (default)" * (guidance == default),
                str(row["n_valid"]),
                fixed(row["rho"], 2),
                DASH if row["tv"] is None else fixed(row["tv"], 2),
                range_text(*row["null_band"]) if row["null_band"] else DASH,
                DASH if row["p"] is None else p_text(row["p"]),
                DASH if row["q"] is None else Entry(p_text(row["q"]), bold=row["q"] <= ALPHA),
                DASH if row["modal_face"] is None else str(row["modal_face"]),
            ]
        )
    tested = sum(row["p"] is not None for row in sweep.values())
    at_default, main_cell = sweep[default], results["main_cell"]
    headers = ("valid", "ρ", "TV", f"{percent(INTERVAL_LEVEL)} null band", "p", "q", "modal face")
    return Table(
        f"{GUIDED.name} on the dice at seven guidance scales.",
        [Column("Guidance", "l"), *(Column(header) for header in headers)],
        rows,
        [
            f"p: Monte Carlo χ², {CHI2_REPLICATES:,} draws, uncorrected as published. q: the same after "
            f"Benjamini-Hochberg over the {tested} tested scales; bold at α = {ALPHA}. Null band: exact, at this "
            "number of valid rollouts. A tie for the modal face goes to the smaller one.",
            f"The run at {default} is one of its own, with shorter clips, and not the main dice cell "
            f"(ρ {fixed(main_cell['rho'], 2)}, TV {fixed(main_cell['tv'], 2)}): they agree on "
            f"{at_default['agreeing_seeds']} of {at_default['n']} seeds.",
        ],
    )


def table_12(results: Mapping[str, Any]) -> Table:
    """Models down, the most compliant first."""
    compliance = results["compliance"]
    order = sorted(compliance, key=lambda key: -(compliance[key]["compliance_pct"] or 0))
    rows: list[list[Entry | str]] = []
    for model in resolve(order):
        row = compliance[model.key]
        line: list[Entry | str] = [model.name, f"{row['hits']}/{row['valid']}"]
        if row["valid"]:
            low, high = row["interval_pct"]
            # An interval that excludes chance is bold.
            apart = not low <= 100 * results["chance"] <= high
            line += [f"{fixed(row['compliance_pct'], 1)} %", Entry(range_text(low, high, 1), bold=apart)]
        else:
            line += [DASH, DASH]
        by_face = [f"{counts[i]}/{sum(counts[:-1])}" for i, counts in enumerate(row["confusion"])]
        rows.append([*line, *by_face])
    return Table(
        "Dice asked to show a face: how often it came up, of the valid rollouts.",
        [
            Column("Model", "l"),
            *(Column(header) for header in ("hits", "compliance", f"{percent(INTERVAL_LEVEL)} interval")),
            *(Column(str(face), group="Face asked for") for face in FACES),
        ],
        rows,
        [
            f"Chance is {100 * results['chance']:.1f} %. Intervals are exact (Clopper-Pearson), in per cent; bold "
            "where they exclude chance."
        ],
    )


def draw_guidance(results: Mapping[str, Any]) -> "Figure":
    """Above, scorability and TV against the guidance scale; below, the distribution over faces at each scale."""
    from figures import PAGE_WIDTH, new_figure

    figure = new_figure(PAGE_WIDTH, 3.9)
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=[1.25, 1]))
    rho, tv = above.subplots(1, 2)
    _scorability(rho, results)
    _total_variation(tv, results)
    for ax in (rho, tv):
        ax.set_xlabel("Guidance scale")
        ax.set_xticks([float(guidance) for guidance in results["guidance"]])
        ax.set_ylim(bottom=0)
        ax.grid(axis="y")
    _distributions(below.subplots(1, 1 + len(results["guidance"]), sharey=True), results["guidance"])
    below.supxlabel("Face, at each guidance scale (valid of all rollouts)", fontsize=8)
    return figure


def _scorability(ax: "Axes", results: Mapping[str, Any]) -> None:
    from figures import INK

    sweep = results["guidance"]
    scales = [float(guidance) for guidance in sweep]
    rho = np.array([row["rho"] for row in sweep.values()])
    low, high = np.array([row["rho_interval"] for row in sweep.values()]).T
    ax.errorbar(scales, rho, yerr=[rho - low, high - rho], ecolor=INK, elinewidth=0.8, **_SWEEP_STYLE)
    ax.plot(float(results["default_guidance"]), results["main_cell"]["rho"], color=INK, **_MAIN_CELL_STYLE)
    ax.set_ylabel(f"Scorability ρ, {percent(INTERVAL_LEVEL)} interval")
    ax.set_ylim(top=1.06)


def _total_variation(ax: "Axes", results: Mapping[str, Any]) -> None:
    from figures import BAND, INK

    valid = {float(guidance): row for guidance, row in results["guidance"].items() if row["n_valid"]}
    low, high = np.array([row["null_band"] for row in valid.values()]).T
    ax.vlines(
        list(valid),
        low,
        high,
        color=BAND,
        linewidth=9,
        label=f"{percent(INTERVAL_LEVEL)} null band at its valid rollouts",
    )
    ax.plot(list(valid), [row["tv"] for row in valid.values()], label="guidance sweep", **_SWEEP_STYLE)
    tv = results["main_cell"]["tv"]
    ax.plot(float(results["default_guidance"]), tv, color=INK, label="main dice cell", **_MAIN_CELL_STYLE)
    ax.set_ylabel("TV on the valid rollouts")
    # The legend stands above the curve, which starts low.
    ax.set_ylim(top=1.25 * max(row["tv"] for row in valid.values()))
    ax.legend(loc="upper left", borderaxespad=0.2, borderpad=0, frameon=True, framealpha=1, edgecolor="none")


def _distributions(axes: Sequence["Axes"], sweep: Mapping[str, Any]) -> None:
    from figures import EMPIRICAL, REFERENCE

    axes[0].bar(FACES, SCENE.reference.probabilities, width=0.8, color=REFERENCE)
    axes[0].set_title("Reference", fontsize=7)
    axes[0].set_ylabel("Share of valid rollouts")
    for ax, (guidance, row) in zip(axes[1:], sweep.items(), strict=True):
        ax.bar(FACES, np.array(row["counts"]) / max(row["n_valid"], 1), width=0.8, color=EMPIRICAL)
        ax.axhline(1 / SCENE.k, color=REFERENCE, linewidth=1)
        ax.set_title(f"{guidance} ({row['n_valid']}/{row['n']})", fontsize=7)
    for ax in axes:
        ax.set_xticks(FACES)
        ax.tick_params(axis="x", length=0, labelsize=6.5)
        ax.grid(axis="y")


def draw_faces(results: Mapping[str, Any]) -> "Figure":
    """A matrix a model: faces asked for down, faces shown across, unscorable last; the diagonal is outlined."""
    from figures import PAGE_WIDTH, axes_grid, hide_unused, new_figure

    compliance = results["compliance"]
    rows = -(-len(compliance) // 3)
    figure = new_figure(PAGE_WIDTH, 0.3 + 2.1 * rows)
    axes = axes_grid(figure, rows, 3, sharex=True, sharey=True)
    for ax, model in zip(axes, resolve(list(compliance)), strict=False):
        _matrix(ax, model, compliance[model.key])
    hide_unused(axes, len(compliance))
    figure.supxlabel("Face shown (– unscorable)", fontsize=8)
    figure.supylabel("Face asked for", fontsize=8)
    return figure


def _matrix(ax: "Axes", model: Model, row: Mapping[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    from figures import INK

    counts = np.array(row["confusion"])
    largest = counts.sum(axis=1).max()
    ax.imshow(counts, cmap="Blues", vmin=0, vmax=1.2 * largest, aspect="auto")
    for (i, j), count in np.ndenumerate(counts):
        if count:
            ax.text(j, i, str(count), ha="center", va="center", color="white" if count > 0.7 * largest else INK)
    for i in range(SCENE.k):
        ax.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=1.1, clip_on=False))
    ax.axvline(SCENE.k - 0.5, color=INK, linewidth=0.6)
    title = f"{model.name}: {row['hits']}/{row['valid']}"
    if row["valid"]:
        low, high = row["interval_pct"]
        title += f" = {row['compliance_pct']:.0f} % [{low:.0f}, {high:.0f}]"
    ax.set_title(title, fontsize=7.5, loc="left")
    ax.set_xticks(range(SCENE.k + 1), [*SCENE.outcomes, "–"])
    ax.set_yticks(range(SCENE.k), SCENE.outcomes)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


if __name__ == "__main__":
    sys.exit(main())
