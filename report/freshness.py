"""Whether results are those of the outcomes that are there now, or were made before the outcomes changed.

Not checked, since what they were made from is not in the analysis folder: rates of labels of one's own and of simulated
clips against the truth. Nor is what follows from the specification alone: powers, the settings, a control's band.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from records import HUMAN_LABELS_FILE, Cell, read_cell, read_human_labels
from report.sources import BY_CELL, CONTROLS, SOURCES, VALIDATION, incomplete, resolutions
from scenes import SCENES
from stats_utils import mntv
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study
from validation import compare_by_scene, joined

# Results are rounded to ten digits; other outcomes move a score by far more.
_SAME = 1e-8


def check(analysis: Path, found: Mapping[str, Mapping[str, Any]], outcomes: Mapping[tuple[str, str], Cell]) -> None:
    """found: the results by their field (sources.SOURCES). outcomes: those of the main study, by (scene, model).

    Raises UserError, naming the script to run, when results were computed from other outcomes than are there.
    """
    _check_main(analysis, found, outcomes)
    _check_ablations(analysis, found)


def check_controls(analysis: Path, controls: Mapping[str, Mapping[str, Any]]) -> None:
    """controls: model -> its result. Outcomes of controls are not committed: checked are those that are there, and that
    the mnTV is that of the scores beside it. Raises UserError like `check`."""
    for model, row in controls.items():
        cells = row["cells"]
        for scene in SCENES:
            if (analysis / STUDIES["controls"].bins_file(scene, model)).exists():
                _check_counts(analysis, CONTROLS, "controls", scene, model, cells[scene]["counts"])
        score = mntv({scene: cells[scene]["score"] for scene in SCENES}, SCENES)
        valid = sum(cells[scene]["n_valid"] for scene in SCENES) / sum(cells[scene]["n"] for scene in SCENES)
        for name, value in (("mntv", score), ("scorability", valid)):
            _check_same(analysis, CONTROLS, f"{name} of {model}", row[name], value)


def check_validation(analysis: Path, scenes: Mapping[str, Mapping[str, Any]]) -> None:
    """scenes: the rates of the published labels, by scene. Raises UserError like `check` when the labels, or the
    outcomes of what was labelled, are others now."""
    labels = read_human_labels(analysis / HUMAN_LABELS_FILE)
    for scene, row in compare_by_scene(joined(analysis, list(SCENES), labels)).items():
        for name in sorted(row.keys() - {"rates"}):
            _check_same(analysis, VALIDATION, f"{name} of {scene}", scenes.get(scene, {}).get(name), row[name])


def _check_main(
    analysis: Path, found: Mapping[str, Mapping[str, Any]], outcomes: Mapping[tuple[str, str], Cell]
) -> None:
    for (scene, model), cell in outcomes.items():
        rows = {field: found[field]["cells"][scene][model] for field in BY_CELL}
        for field, name, value in (
            ("tv", "counts", list(cell.counts)),
            ("tv", "n", cell.n),
            ("chi2", "counts", list(cell.counts)),
            ("distributions", "counts", list(cell.counts)),
            ("sequential", "n", cell.n),
            ("sequential", "n_valid", cell.n_valid),
        ):
            _check_same(analysis, SOURCES[field], f"{name} of {scene}, {model}", rows[field][name], value)
        # This one's results hold no counts, but the score that they give.
        what = f"the score of {scene}, {model}"
        _check_same(analysis, SOURCES["intervals"], what, rows["intervals"]["value"], rows["tv"]["score"])
    for model, score in found["tv"]["mntv"].items():
        if model in found["missing"]["mntv"]:
            reported = found["missing"]["mntv"][model]["reported"]
            _check_same(analysis, SOURCES["missing"], f"mnTV of {model}", reported, score)


def _check_ablations(analysis: Path, found: Mapping[str, Mapping[str, Any]]) -> None:
    (seedance,) = STUDIES["seedance720"].models
    before, after = resolutions()
    for scene, row in found["resolution"]["cells"].items():
        for study, arm in (("main", before), ("seedance720", after)):
            _check_counts(analysis, SOURCES["resolution"], study, scene, seedance, row[arm]["counts"])
    for scene, models in found["duration"]["cells"].items():
        for model, row in models.items():
            for study, arm in (("main", "benchmark"), ("dur5s", "5s")):
                _check_counts(analysis, SOURCES["duration"], study, scene, model, row[arm]["counts"])
    for guidance in GUIDANCES:
        key = guidance_study(guidance)
        counts = found["dice"]["guidance"][f"{guidance:.1f}"]["counts"]
        _check_counts(analysis, SOURCES["dice"], key, "dice", STUDIES[key].models[0], counts)
    for model, row in found["dice"]["compliance"].items():
        for face in FACES:
            counts = row["confusion"][face - 1][: SCENES["dice"].k]
            _check_counts(analysis, SOURCES["dice"], face_study(face), "dice", model, counts)


def _check_counts(analysis: Path, script: str, study: str, scene: str, model: str, counts: Any) -> None:
    cell = read_cell(analysis, STUDIES[study], scene, model)
    _check_same(analysis, script, f"counts of {study}, {scene}, {model}", counts, list(cell.counts))


def _check_same(analysis: Path, script: str, what: str, found: Any, expected: Any) -> None:
    close = isinstance(found, float) and isinstance(expected, float) and math.isclose(found, expected, abs_tol=_SAME)
    if not close and found != expected:
        raise incomplete(analysis, script, f"{what}: {found}", f"{expected}, as the outcomes now are")
