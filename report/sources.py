"""Which results the page is made from, and whose they are."""

from pathlib import Path

from errors import UserError
from models import MODELS
from outputs import stem_of
from studies import STUDIES

# Field -> the script whose results it holds.
SOURCES = {
    "tv": "compute_tv_band.py",
    "chi2": "compute_chi2.py",
    "intervals": "compute_mntv_ci.py",
    "sequential": "compute_sequential.py",
    "distributions": "analyze_rollouts.py",
    "missing": "compute_mcar_sensitivity.py",
    "power": "power_chi2.py",
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
VALIDATION = "validate_extraction.py"
TRUTH = "validate_judge.py"


def incomplete(analysis: Path, script: str, found: str, expected: str) -> UserError:
    return UserError(f"{file_of(analysis, script)}: {found}; expected {expected}: run {script} again")


def file_of(analysis: Path, script: str) -> Path:
    return analysis / "results" / f"{stem_of(script)}.json"


def resolutions() -> tuple[str, str]:
    """SeeDance's resolution in the main matrix, and in the study of it."""
    model, study = MODELS["seedance"], STUDIES["seedance720"]
    return str(model.inputs["resolution"]), str(study.overrides[model.key]["resolution"])
