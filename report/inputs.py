"""What the page is made from: the results of the other stages and the outcomes, checked against each other."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from errors import UserError
from models import PUBLISHED, Model, resolve
from outputs import read_results, stem_of
from paths import ANALYSIS
from records import Cell, read_study
from report import freshness
from report.sources import BY_CELL, CONTROLS, FILLED, SOURCES, TRUTH, VALIDATION, file_of, incomplete
from scenes import SCENES


@dataclass(frozen=True)
class Control:
    """A simulated model with known odds: its mnTV, what theory expects of it, and the central band of that."""

    name: str
    mntv: float
    scorability: float
    expected: float
    low: float
    high: float

    @property
    def inside(self) -> bool:
        """Whether it lies in the band, up to the rounding of a band of one point."""
        return self.low - 1e-4 <= self.mntv <= self.high + 1e-4


@dataclass(frozen=True)
class Validation:
    """A judge's readings against what is held to be right (validation.compare_by_scene).

    title: what it is compared with. reference: who or what says what is right. command: what makes it again.
    """

    title: str
    reference: str
    command: str
    scenes: Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """The parsed results of each stage, the models that they cover, in display order, and the outcomes behind them.

    outcomes: of the main study, by (scene, model). controls: empty where they have not been run. validations: the
    published labels first, then one's own, then the truth of simulated clips, as far as there are any.
    files: the files of analysis/results that all this was read from.
    """

    models: tuple[Model, ...]
    outcomes: Mapping[tuple[str, str], Cell]
    controls: tuple[Control, ...]
    validations: tuple[Validation, ...]
    files: tuple[Path, ...]
    tv: Mapping[str, Any]
    chi2: Mapping[str, Any]
    intervals: Mapping[str, Any]
    sequential: Mapping[str, Any]
    distributions: Mapping[str, Any]
    missing: Mapping[str, Any]
    power: Mapping[str, Any]
    resolution: Mapping[str, Any]
    duration: Mapping[str, Any]
    dice: Mapping[str, Any]
    scatter: Mapping[str, Any]
    settings: Mapping[str, Any]

    @property
    def keys(self) -> list[str]:
        return [model.key for model in self.models]

    def name(self, model: str) -> str:
        return next(m.name for m in self.models if m.key == model)

    def cell(self, source: str, scene: str, model: str) -> Mapping[str, Any]:
        """One cell of the results in field `source`, one of BY_CELL."""
        cell: Mapping[str, Any] = getattr(self, source)["cells"][scene][model]
        return cell


def read(analysis: Path) -> Results:
    """All results in analysis/results, and the outcomes in analysis/. Raises UserError when some are missing, or when
    the results come from runs over different models or over other outcomes."""
    found = {field: read_results(analysis, script) for field, script in SOURCES.items()}
    for field, part in FILLED:
        if not found[field][part]:
            raise incomplete(analysis, SOURCES[field], f"{part} is empty", "values")
    covered = {field: _models(analysis, SOURCES[field], found[field]["cells"]) for field in BY_CELL}
    # In display order; JSON sorts its keys.
    scored = covered["tv"]
    models = [m for m in PUBLISHED if m in scored] + sorted(m for m in scored if m not in PUBLISHED)
    for field in BY_CELL:
        other = sorted(set(covered[field]) ^ set(models))
        if other or set(found[field]["cells"]) != set(SCENES):
            what = f"model {other[0]}" if other else "a scene"
            raise UserError(
                f"{analysis / 'results'}: {what} is in the results of {SOURCES[field]} or of {SOURCES['tv']}, but not "
                "in both; expected results of one run over all scenes and the same models"
            )
    tested = {model for family in found["chi2"]["families"] for model in family["models"]}
    pairs = {frozenset((pair["a"], pair["b"])) for pair in found["intervals"]["pairs"]}
    for model in models:
        if model not in tested:
            raise incomplete(analysis, SOURCES["chi2"], f"{model} in none of the families", "each model in one")
        if lacking := [other for other in models if other != model and frozenset((model, other)) not in pairs]:
            what = f"no pair of {model} and {lacking[0]}"
            raise incomplete(analysis, SOURCES["intervals"], what, "every two models")
    outcomes = read_study(analysis, "main", models=models)
    freshness.check(analysis, found, outcomes)
    controls, validations = _controls(analysis), _validations(analysis)
    scripts = [*SOURCES.values(), VALIDATION, *([CONTROLS] if controls else [])]
    files = [file_of(analysis, script) for script in scripts] + _own_validations(analysis)
    return Results(
        models=tuple(resolve(models)),
        outcomes=outcomes,
        controls=controls,
        validations=validations,
        files=tuple(files),
        **found,
    )


def _models(analysis: Path, script: str, cells: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The models of a result's cells. Raises UserError when there are none, or not the same in every scene."""
    models = next(iter(cells.values()), {})
    if not models:
        raise incomplete(analysis, script, "no cell", "a value for each scene and model")
    for scene, row in cells.items():
        if other := sorted(set(row) ^ set(models)):
            raise incomplete(analysis, script, f"{other[0]} in {scene} or elsewhere only", "the same models everywhere")
    return list(models)


def _controls(analysis: Path) -> tuple[Control, ...]:
    """The controls, where they have been run: the pipeline can do without them."""
    if not file_of(analysis, CONTROLS).exists():
        return ()
    names = ("mntv", "scorability", "expected", "low", "high")
    controls = read_results(analysis, CONTROLS)["controls"]
    freshness.check_controls(analysis, controls)
    return tuple(Control(resolve([key])[0].name, *(row[name] for name in names)) for key, row in controls.items())


def _own_validations(analysis: Path) -> list[Path]:
    """Results of validations that the pipeline can do without: of one's own labels, and of simulated clips."""
    own = sorted((analysis / "results").glob(f"{stem_of(VALIDATION)}_*.json"))
    truth = file_of(analysis, TRUTH)
    return own + ([truth] if truth.exists() else [])


def _validations(analysis: Path) -> tuple[Validation, ...]:
    published = read_results(analysis, VALIDATION)["scenes"]
    freshness.check_validation(analysis, published)
    found = [Validation("The judge", "person", f"python {VALIDATION}", published)]
    for path in _own_validations(analysis):
        if path == file_of(analysis, TRUTH):
            rates = read_results(analysis, TRUTH)
            title = f"The {rates['judge']} judge ({rates['judge_model']}) on simulated clips"
            found.append(Validation(title, "truth", f"python {TRUTH}", rates["scenes"]))
            continue
        labels = path.stem.removeprefix(f"{stem_of(VALIDATION)}_")
        rows = read_results(analysis, path.name)["scenes"]
        command = f"python {VALIDATION} --labels {shlex.quote(f'{ANALYSIS.name}/labels/{labels}.json')}"
        found.append(Validation(f"The judge on the labels of {labels}", "person", command, rows))
    return tuple(found)
