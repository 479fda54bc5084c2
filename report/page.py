"""The page: templates filled with data, style and script in the same file, and nothing that it could fetch."""

import base64
import hashlib
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from constants import ALPHA, INTERVAL_LEVEL, N_ROLLOUTS
from models import PUBLISHED
from report import ablations, board, checks, plots, provenance, words
from report.cells import HEAT_BOUNDS, VERDICTS, cell_record
from report.downloads import cells_table, leaderboard_table, pairs_table, scene_differences_table
from report.embedding import embedded
from report.inputs import Results
from report.markers import sheet, symbol_id
from scenes import SCENES

_HERE = Path(__file__).resolve().parent
# In the order in which they stand in the page.
STYLES = ("base.css", "tables.css", "plots.css", "dialog.css", "print.css")
SCRIPTS = ("build.js", "csv.js", "theme.js", "filter.js", "sort.js", "keys.js", "drawings.js", "cell.js", "compare.js")

# The page's size without thumbnails stays below this: people hand it on by mail.
MOST_BYTES = 3_000_000

# Judge -> reading, and seed -> picture, of a cell.
Extras = Mapping[tuple[str, str], Any]


def render(results: Results, analysis: Path, votes: Extras, frames: Extras) -> str:
    """The whole page. votes: what judges' logs say of each cell; frames: its final frames; both as far as there are."""
    rows = board.rows(results)
    records = {key: cell_record(results, cell) for key, cell in results.outcomes.items()}
    pairs = board.pairs(results)
    judges, settings = provenance.judges(results), provenance.settings(results)
    file_sets = provenance.file_sets(analysis, results)
    files = provenance.files_table(file_sets)
    check_sections = [checks.missing_outcomes(results), checks.power(results), *checks.judge_validations(results)]
    ablation_sections = [
        f(results) for f in (ablations.resolution, ablations.duration, ablations.guidance, ablations.faces)
    ]
    tables = [
        leaderboard_table(rows, results.controls),
        cells_table(results, records),
        pairs_table(pairs),
        scene_differences_table(pairs),
        *(section.table for section in (*check_sections, *ablation_sections)),
        judges,
        settings,
        files,
    ]
    data = {
        "scenes": {key: _scene(key) for key in SCENES},
        "models": [_model(results, key) for key in results.keys],
        "verdicts": VERDICTS,
        "cells": {
            scene: {m: records[scene, m] | _extras(votes.get((scene, m)), frames.get((scene, m))) for m in results.keys}
            for scene in SCENES
        },
        "pairs": pairs,
        "tables": {table.key: table.record for table in tables},
        "alpha": ALPHA,
    }
    style, script = _joined(STYLES), f'"use strict";\n(() => {{\n{_joined(SCRIPTS)}}})();\n'
    context = {
        "policy": _policy(style, script),
        "style": _raw(style, "style"),
        "script": _raw(script, "script"),
        "data": embedded(data),
        "markers": sheet(results.models),
        "results": results,
        "scenes": SCENES,
        "families": _families(),
        "records": records,
        "findings": board.findings(results, rows),
        "board": _drawn(results, rows),
        "verdicts": VERDICTS,
        "worst": {row["model"]: row["worst"] for row in rows},
        "heat_bounds": HEAT_BOUNDS,
        "scatter": {scene: _scatter(results, records, scene) for scene in SCENES},
        "checks": check_sections,
        "ablations": ablation_sections,
        "judges": judges,
        "settings": settings,
        "specification": provenance.specification_digest(),
        "file_sets": file_sets,
        "files": files,
        "versions": provenance.versions(),
        "level": INTERVAL_LEVEL,
        "alpha": ALPHA,
        "n_rollouts": N_ROLLOUTS,
    }
    return _environment().get_template("page.html.j2").render(context)


def cell_href(scene: str, model: str) -> str:
    """The link that opens a cell's detail; report/static/cell.js reads it."""
    return f"#cell/{scene}/{quote(model, safe='')}"


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": words.number,
        "percent": words.percent,
        "count_word": words.count,
    }
    environment.globals |= {"cell_href": cell_href, "symbol_id": symbol_id}
    return environment


def _joined(names: Sequence[str]) -> str:
    return "".join((_HERE / "static" / name).read_text(encoding="utf-8") for name in names)


def _raw(text: str, name: str) -> Markup:
    """Our own style or script, as it is. It must not end its element early."""
    if f"</{name}" in text.lower():
        raise ValueError(f"the page's {name} holds its own end tag")
    return Markup(text)


def _policy(style: str, script: str) -> str:
    """The content security policy: our own style and script by their hashes, pictures from the page itself, no more."""

    def hashed(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return "; ".join(
        [
            "default-src 'none'",
            f"style-src {hashed(style)}",
            f"script-src {hashed(script)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _families() -> dict[str, list[str]]:
    """Family -> its scenes, both in display order."""
    families: dict[str, list[str]] = {}
    for scene in SCENES.values():
        families.setdefault(scene.family, []).append(scene.key)
    return families


def _scene(key: str) -> dict[str, Any]:
    scene = SCENES[key]
    return {
        "title": scene.title,
        "outcomes": scene.outcomes,
        "reference": scene.reference.probabilities,
        "evidence": scene.evidence,
        "question": scene.judge_question,
    }


def _model(results: Results, key: str) -> dict[str, Any]:
    index = results.keys.index(key)
    return {
        "key": key,
        # As it stands in a command that people copy.
        "argument": shlex.quote(key),
        "name": results.models[index].name,
        "symbol": symbol_id(index),
        "published": key in PUBLISHED,
    }


def _extras(votes: Any, frames: Any) -> dict[str, Any]:
    return ({"votes": votes} if votes else {}) | ({"frames": frames} if frames else {})


def _drawn(results: Results, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The leaderboard's rows with their drawings, on one axis."""
    zero = results.tv["calibrated_operator"]
    ends = [row[kind]["low"] for row in rows for kind in ("corrected", "percentile")]
    ends += [control.low for control in results.controls]
    axis = plots.board_scale(min(0.0, *(end for end in ends if end is not None)))
    band = (zero["low"], zero["high"])
    return {
        "rows": [dict(row) | {"plot": plots.board_row(row, band, axis, symbol_id(row["index"]))} for row in rows],
        "controls": [
            {"control": c, "plot": plots.control_row(c.mntv, c.expected, (c.low, c.high), axis)}
            for c in results.controls
        ],
        "axis": plots.board_axis(axis),
    }


def _scatter(results: Results, records: Mapping[tuple[str, str], Any], scene: str) -> Markup:
    points = []
    for index, model in enumerate(results.models):
        record = records[scene, model.key]
        band = record["band"]
        place = "no scorable rollout" if record["tv"] is None else f"TV {words.number(record['tv'])}"
        noise = f"; calibrated {words.interval(*band)}" if band else ""
        text = f"{model.name}: {place}, ρ {words.number(record['rho'])}{noise}"
        points.append(plots.Point(index, record["rho"], record["tv"], band, cell_href(scene, model.key), text))
    low, high = results.scatter["bands"][scene]
    return plots.scatter_panel(SCENES[scene].title, points, (low, high), results.models)
