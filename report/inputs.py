"""What the page is made from: the results of the other stages, checked against each other, and the outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from errors import UserError
from models import PUBLISHED, Model, resolve
from outputs import read_results, stem_of
from records import Cell, read_study
from scenes import SCENES

# Field -> the script whose results it holds.
SOURCES = {
    "tv": "compute_tv_band.py",
    "chi2": "compute_chi2.py",
    "intervals": "compute_mntv_ci.py",
    "sequential": "compute_sequential.py",
    "distributions": "analyze_rollouts.py",
    "missing": "compute_mcar_sensitivity.py",
    "power": "power_chi2.py",
    "validation": "validate_extraction.py",
    "resolution": "make_seedance_ablation.py",
    "duration": "recompute_dur5s.py",
    "dice": "make_dice_ablation_figures.py",
    "scatter": "make_scatter_grid.py",
    "settings": "make_config_table.py",
}
# Parts of the results that sentences of the page are made of: without one of them there is nothing to say.
FILLED = (("missing", "mntv"), ("power", "groups"), ("dice", "compliance"))
# Those with a value for each scene and model.
BY_CELL = ("tv", "chi2", "intervals", "sequential", "distributions")
CONTROLS = "compute_controls.py"


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
class Results:
    """The parsed results of each stage, the models that they cover, in display order, and the outcomes behind them.

    outcomes: of the main study, by (scene, model). controls: empty where they have not been run.
    """

    models: tuple[Model, ...]
    outcomes: Mapping[tuple[str, str], Cell]
    controls: tuple[Control, ...]
    tv: Mapping[str, Any]
    chi2: Mapping[str, Any]
    intervals: Mapping[str, Any]
    sequential: Mapping[str, Any]
    distributions: Mapping[str, Any]
    missing: Mapping[str, Any]
    power: Mapping[str, Any]
    validation: Mapping[str, Any]
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
    the results come from runs over different models."""
    found = {field: read_results(analysis, script) for field, script in SOURCES.items()}
    for field, part in FILLED:
        if not found[field][part]:
            raise _incomplete(analysis, SOURCES[field], f"{part} is empty", "values")
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
            raise _incomplete(analysis, SOURCES["chi2"], f"{model} in none of the families", "each model in one")
        if lacking := [other for other in models if other != model and frozenset((model, other)) not in pairs]:
            what = f"no pair of {model} and {lacking[0]}"
            raise _incomplete(analysis, SOURCES["intervals"], what, "every two models")
    outcomes = read_study(analysis, "main", models=models)
    return Results(models=tuple(resolve(models)), outcomes=outcomes, controls=_controls(analysis), **found)


def _models(analysis: Path, script: str, cells: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The models of a result's cells. Raises UserError when there are none, or not the same in every scene."""
    models = next(iter(cells.values()), {})
    if not models:
        raise _incomplete(analysis, script, "no cell", "a value for each scene and model")
    for scene, row in cells.items():
        if other := sorted(set(row) ^ set(models)):
            raise _incomplete(
                analysis, script, f"{other[0]} in {scene} or elsewhere only", "the same models everywhere"
            )
    return list(models)


def _incomplete(analysis: Path, script: str, found: str, expected: str) -> UserError:
    path = analysis / "results" / f"{stem_of(script)}.json"
    return UserError(f"{path}: {found}; expected {expected}: run {script} again")


def _controls(analysis: Path) -> tuple[Control, ...]:
    """The controls, where they have been run: the pipeline can do without them."""
    if not (analysis / "results" / f"{stem_of(CONTROLS)}.json").exists():
        return ()
    names = ("mntv", "scorability", "expected", "low", "high")
    controls = read_results(analysis, CONTROLS)["controls"]
    return tuple(Control(resolve([key])[0].name, *(row[name] for name in names)) for key, row in controls.items())
