"""What several test files need and no fixture gives: the project's scripts and stages, snapshots, outcome files."""

import ast
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from outputs import stem_of
from paths import ROOT
from records import read_study
from scenes import SCENES

MODULES = sorted(path.stem for path in ROOT.glob("*.py"))


@cache
def syntax(name: str) -> ast.Module:
    """The syntax tree of a root-level module."""
    return ast.parse((ROOT / f"{name}.py").read_text(encoding="utf-8"))


def is_script(name: str) -> bool:
    """Whether the module runs when it is called by its name: `if __name__ == "__main__"` at its top level."""
    return any(isinstance(node, ast.If) and "__name__" in ast.unparse(node.test) for node in syntax(name).body)


def selections(name: str) -> set[str]:
    """Which of --scene, --model and --models a script takes, from its call of cli.parser; empty when it makes none."""
    for node in ast.walk(syntax(name)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "cli.parser":
            off = {argument.arg for argument in node.keywords if ast.unparse(argument.value) == "False"}
            options = {"--scene": "scenes", "--model": "models", "--models": "models"}
            return {option for option, switch in options.items() if switch not in off}
    return set()


SCRIPTS = [name for name in MODULES if is_script(name)]
# The scripts of the keyless pipeline, which take --analysis.
ANALYSES = [name for name in SCRIPTS if "cli.parser(" in (ROOT / f"{name}.py").read_text(encoding="utf-8")]


class Stage(NamedTuple):
    """One stage of the driver: its name, its commands, what it makes, and how it is run."""

    name: str
    commands: tuple[str, ...]
    makes: str
    options: frozenset[str]

    @property
    def script(self) -> str:
        """The stem of the last script, which gives the stage its name."""
        return self.commands[-1].split()[0].removesuffix(".py")


def _stages(driver: str) -> list[Stage]:
    """The stages that the driver's own text lists."""
    variables: dict[str, str] = {}
    for name, value in re.findall(r'^([A-Z]+)="(.+)"$', driver, re.MULTILINE):
        variables[name] = value.replace(f"${name}", variables.get(name, ""))
    listed = re.findall(r'^    "(\w+)\|([^|"]*)\|([^|"]*)\|([^|"]*)"$', driver, re.MULTILINE)
    return [
        Stage(name, tuple(variables.get(command[1:], command).split(";")), makes, frozenset(options.split()))
        for name, command, makes, options in listed
    ]


STAGES = _stages((ROOT / "run_pipeline.sh").read_text(encoding="utf-8"))
# Studies run only when they are named.
STUDIES = [stage for stage in STAGES if "study" in stage.options]
# Takes minutes, which the other stages together do not: left out where the whole driver runs.
CONTROLS = "controls"
# What these wrote begins with one of these stems.
COMMITTED = tuple(stem_of(stage.script) for stage in STAGES if stage in STUDIES or stage.name == CONTROLS)


def script(name: str) -> ModuleType:
    return importlib.import_module(name)


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def outcome_file(scene: str, model: str, bins: Sequence[int | None]) -> dict[str, Any]:
    """The content of an outcome file of the main study."""
    rollouts = [{"seed": seed, "bin": outcome} for seed, outcome in enumerate(bins)]
    return {"scene": scene, "model": model, "num_bins": SCENES[scene].k, "rollouts": rollouts}


def write_model(analysis: Path, model: str, outcomes: Mapping[str, Sequence[int | None]]) -> None:
    """One outcome file a scene, as somebody else would put them there."""
    for scene, bins in outcomes.items():
        path = analysis / f"{scene}_{model}_bins.json"
        path.write_text(json.dumps(outcome_file(scene, model, bins)), encoding="utf-8")


def copied_outcomes(analysis: Path, model: str) -> dict[str, tuple[int | None, ...]]:
    """The outcomes of a published model in every scene."""
    return {scene: cell.bins for (scene, _), cell in read_study(analysis, "main", models=[model]).items()}
