"""Whether results are those of the outcomes that are there now, or were made before the outcomes changed."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from records import Cell, read_cell
from report.sources import BY_CELL, SOURCES, incomplete, resolutions
from scenes import SCENES
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study

# Results are rounded to ten digits; other outcomes move a score by far more.
_SAME = 1e-8


def check(analysis: Path, found: Mapping[str, Mapping[str, Any]], outcomes: Mapping[tuple[str, str], Cell]) -> None:
    """found: the results by their field (sources.SOURCES). outcomes: those of the main study, by (scene, model).

    Raises UserError, naming the script to run, when results were computed from other outcomes than are there.
    """
    _check_main(analysis, found, outcomes)
    _check_ablations(analysis, found)


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
        score = f"the score of {scene}, {model}"
        _check_same(analysis, SOURCES["intervals"], score, rows["intervals"]["value"], rows["tv"]["score"])
    for model, mntv in found["tv"]["mntv"].items():
        if model in found["missing"]["mntv"]:
            reported = found["missing"]["mntv"][model]["reported"]
            _check_same(analysis, SOURCES["missing"], f"mnTV of {model}", reported, mntv)


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
