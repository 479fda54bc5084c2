"""Outcome records: the only code that opens, validates and writes outcome JSON.

A cell's file is {"scene", "model", "num_bins", "rollouts": [{"seed", "bin"}, ...]}: bin is 1..num_bins, or null when
the rollout was watched and no outcome was legible. A rollout that was never watched is missing, and a file with a
missing rollout is an error: missing is not null. New records carry a further key, "protocol", which says how they
were made; the published ones have none.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from errors import UserError
from files import json_text, read_json, write_json, write_text
from models import MODELS
from scenes import SCENES
from studies import STUDIES, Study

ABSENT_CELLS_FILE = "absent_cells.json"
HUMAN_LABELS_FILE = "human_labels.json"

_CELL_KEYS = {"scene", "model", "num_bins", "rollouts"}
_OPTIONAL_CELL_KEYS = {"protocol"}


@dataclass(frozen=True)
class Cell:
    """The outcomes of one (study, scene, model), in seed order.

    bins[seed] is 1..k, or None for an unscorable rollout.
    absent_reason: why the cell has no file although the study lists it; its rollouts then count as unscorable.
    protocol: how a new record was made; empty for the published ones.
    """

    study: str
    scene: str
    model: str
    bins: tuple[int | None, ...]
    absent_reason: str | None = None
    protocol: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.bins)

    @property
    def n_valid(self) -> int:
        return sum(b is not None for b in self.bins)

    @property
    def counts(self) -> tuple[int, ...]:
        """Valid outcomes by bin, length k."""
        return tuple(self.bins.count(b) for b in range(1, SCENES[self.scene].k + 1))


@dataclass(frozen=True)
class HumanLabel:
    """What a person saw in one rollout; bin is 1..k, or None for an unscorable one."""

    scene: str
    model: str
    seed: int
    bin: int | None
    study: str = "main"


def read_cell(analysis: Path, study: Study, scene: str, model: str) -> Cell:
    """Read and check one cell. Raises UserError naming the file, what was found and what was expected."""
    return _read_cell(analysis, study, scene, model, _absent_reasons(analysis))


def read_study(
    analysis: Path, study: str, scenes: Sequence[str] | None = None, models: Sequence[str] | None = None
) -> dict[tuple[str, str], Cell]:
    """All cells of a study (or of the given scenes and models), keyed by (scene, model), in the order given.

    A cell that is neither there nor recorded as absent is an error, so that nothing is averaged over fewer scenes.
    Raises ValueError for no scenes or no models: None stands for all of them, an empty selection for a mistake.
    """
    spec = STUDIES[study]
    scenes = spec.scenes if scenes is None else tuple(scenes)
    models = spec.models if models is None else tuple(models)
    if not scenes or not models:
        raise ValueError(f"scenes {scenes}, models {models}; expected at least one of each")
    _check_folder(analysis / spec.folder)
    reasons = _absent_reasons(analysis)
    return {(scene, model): _read_cell(analysis, spec, scene, model, reasons) for scene in scenes for model in models}


def _read_cell(
    analysis: Path, study: Study, scene: str, model: str, absent_reasons: Mapping[tuple[str, str, str], str]
) -> Cell:
    path = analysis / study.bins_file(scene, model)
    reason = absent_reasons.get((study.key, scene, model))
    if reason is not None:
        if path.exists():
            raise UserError(
                f"{path}: found, but {ABSENT_CELLS_FILE} lists this cell as absent; expected only one of them"
            )
        return Cell(study.key, scene, model, (None,) * study.n, absent_reason=reason)
    k = SCENES[scene].k
    data = read_json(path, f"the {study.n} outcomes of scene {study.scene_name(scene)}, model {model}")
    _check_keys(path, data, _CELL_KEYS, _OPTIONAL_CELL_KEYS, "the file")
    _check_equal(path, "scene", data["scene"], study.scene_name(scene))
    _check_equal(path, "model", data["model"], model)
    _check_equal(path, "num_bins", data["num_bins"], k)
    protocol = data.get("protocol", {})
    if not isinstance(protocol, dict):
        raise UserError(f"{path}: protocol is {_short(protocol)}; expected an object")
    clips = protocol.get("clip_sha256", {})
    if not isinstance(clips, dict) or not all(isinstance(clip, str) for clip in clips.values()):
        raise UserError(f"{path}: protocol: clip_sha256 is {_short(clips)}; expected an object of hashes by seed")
    return Cell(study.key, scene, model, _check_rollouts(path, data["rollouts"], k, study.n), protocol=protocol)


def write_cell(analysis: Path, cell: Cell, *, force: bool = False) -> Path:
    """Write one cell in the published format. An existing file is an error unless `force`."""
    study = STUDIES[cell.study]
    path = analysis / study.bins_file(cell.scene, cell.model)
    if path.exists() and not force:
        raise UserError(f"{path}: exists already; expected no file, or --force to replace it")
    data: dict[str, Any] = {
        "scene": study.scene_name(cell.scene),
        "model": cell.model,
        "num_bins": SCENES[cell.scene].k,
        "rollouts": [{"seed": seed, "bin": outcome} for seed, outcome in enumerate(cell.bins)],
    }
    if cell.protocol:
        data["protocol"] = dict(cell.protocol)
    _check_rollouts(path, data["rollouts"], SCENES[cell.scene].k, study.n)
    write_json(path, data)
    return path


def check_strays(analysis: Path, expected_models: Sequence[str]) -> list[str]:
    """Every outcome file of the main folder must belong to a known scene or study.

    Returns the keys of further models that have files there, sorted. Raises UserError for a file that no study, scene
    and model can own, such as a misspelt scene.
    """
    owned = {
        study.bins_file(scene, model)
        for study in STUDIES.values()
        if not study.folder
        for scene in study.scenes
        for model in (*study.models, *expected_models)
    }
    further = set()
    for path in sorted(analysis.glob("*_bins.json")):
        if path.name in owned:
            continue
        name = path.name.removesuffix("_bins.json")
        # A longer key comes first: galton_board_real_x is not a model "real_x" of galton_board.
        scene = next((s for s in sorted(SCENES, key=len, reverse=True) if name.startswith(f"{s}_")), None)
        if scene is None or name in SCENES:
            known = ", ".join(SCENES)
            raise UserError(
                f"{path}: belongs to no scene; expected {{scene}}_{{model}}_bins.json with scene one of {known}"
            )
        further.add(name.removeprefix(f"{scene}_"))
    return sorted(further)


def read_human_labels(path: Path) -> list[HumanLabel]:
    """The hand labels: {"labels": [{"scene", "model", "seed", "label"}, ...]}, label an outcome's name or null.

    A further key, "study", names an ablation; the published labels have none and are of the main study.
    Raises UserError on any bad entry.
    """
    data = read_json(path, "hand labels of rollouts")
    _check_keys(path, data, {"labels"}, {"study"}, "the file")
    key = data.get("study", "main")
    if not isinstance(key, str) or key not in STUDIES:
        raise UserError(f"{path}: study {_short(key)}; expected one of {', '.join(STUDIES)}")
    study = STUDIES[key]
    if not isinstance(data["labels"], list) or not data["labels"]:
        raise UserError(f"{path}: labels is {_short(data['labels'])}; expected a non-empty list")
    labels: list[HumanLabel] = []
    seen = set()
    for index, entry in enumerate(data["labels"]):
        where = f"label {index}"
        _check_keys(path, entry, {"scene", "model", "seed", "label"}, set(), where)
        scene, model, seed = entry["scene"], entry["model"], entry["seed"]
        if not isinstance(scene, str) or scene not in study.scenes:
            raise UserError(f"{path}: {where}: scene {_short(scene)}; expected one of {', '.join(study.scenes)}")
        if not isinstance(model, str) or not model:
            raise UserError(
                f"{path}: {where}: model {_short(model)}; expected a model key such as {next(iter(MODELS))}"
            )
        if not _is_int(seed) or not 0 <= seed < study.n:
            raise UserError(f"{path}: {where}: seed {_short(seed)}; expected an integer 0..{study.n - 1}")
        outcomes = SCENES[scene].outcomes
        if entry["label"] is not None and entry["label"] not in outcomes:
            raise UserError(
                f"{path}: {where}: label {_short(entry['label'])}; expected null or one of {', '.join(outcomes)}"
            )
        if (scene, model, seed) in seen:
            raise UserError(
                f"{path}: {where}: scene {scene}, model {model}, seed {seed} is labelled twice; expected once"
            )
        seen.add((scene, model, seed))
        outcome = None if entry["label"] is None else outcomes.index(entry["label"]) + 1
        labels.append(HumanLabel(scene, model, seed, outcome, study.key))
    return labels


def write_human_labels(path: Path, labels: Sequence[HumanLabel], *, force: bool = False) -> None:
    """Write the hand labels of one study as `read_human_labels` reads them, in display order.

    An existing file that holds anything else is an error unless `force`. Raises ValueError without a label, or with
    labels of several studies.
    """
    (study,) = {label.study for label in labels}
    scenes = list(SCENES)
    entries = [
        {
            "scene": label.scene,
            "model": label.model,
            "seed": label.seed,
            "label": None if label.bin is None else SCENES[label.scene].outcomes[label.bin - 1],
        }
        for label in sorted(labels, key=lambda label: (scenes.index(label.scene), label.model, label.seed))
    ]
    text = json_text({"labels": entries} if study == "main" else {"labels": entries, "study": study})
    if path.exists() and not force and path.read_bytes() != text.encode():
        raise UserError(f"{path}: exists already; expected no file, or --force to replace it")
    write_text(path, text)


def read_published(path: Path) -> list[dict[str, str]]:
    """Rows of a table as printed in the paper. Raises UserError when the file is missing or empty."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise UserError(f"{path}: cannot read: {error.strerror}; expected a published table") from error
    if not rows:
        raise UserError(f"{path}: no rows; expected a published table")
    return rows


def _absent_reasons(analysis: Path) -> dict[tuple[str, str, str], str]:
    path = analysis / ABSENT_CELLS_FILE
    if not path.exists():
        return {}
    entries = read_json(path, "a list of absent cells")
    if not isinstance(entries, list):
        raise UserError(f"{path}: {_short(entries)}; expected a list of absent cells")
    reasons = {}
    for index, entry in enumerate(entries):
        _check_keys(path, entry, {"study", "scene", "model", "reason"}, set(), f"entry {index}")
        named = all(isinstance(value, str) and value for value in entry.values())
        if not named or entry["study"] not in STUDIES or entry["scene"] not in STUDIES[entry["study"]].scenes:
            raise UserError(
                f"{path}: entry {index} is {_short(entry)}; expected a study, one of its scenes, a model and a reason"
            )
        reasons[entry["study"], entry["scene"], entry["model"]] = entry["reason"]
    return reasons


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; expected the outcome files of a study")
    if not any(folder.glob("*_bins.json")):
        raise UserError(f"{folder}: no outcome files; expected {{scene}}_{{model}}_bins.json")


def _check_keys(path: Path, data: Any, required: set[str], optional: set[str], where: str) -> None:
    expected = f"expected an object with {', '.join(sorted(required))}"
    if not isinstance(data, dict):
        raise UserError(f"{path}: {where} is {_short(data)}; {expected}")
    missing = required - data.keys()
    if missing:
        raise UserError(f"{path}: {where} has no {', '.join(sorted(missing))}; {expected}")
    unknown = data.keys() - required - optional
    if unknown:
        raise UserError(f"{path}: {where} has an unknown key {', '.join(sorted(unknown))}; {expected}")


def _check_equal(path: Path, name: str, found: Any, expected: object) -> None:
    if type(found) is not type(expected) or found != expected:
        raise UserError(f"{path}: {name} is {_short(found)}; expected {expected!r}")


def _check_rollouts(path: Path, rollouts: Any, k: int, n: int) -> tuple[int | None, ...]:
    if not isinstance(rollouts, list):
        raise UserError(f"{path}: rollouts is {_short(rollouts)}; expected a list of {n} objects with seed and bin")
    bins: dict[int, int | None] = {}
    for index, entry in enumerate(rollouts):
        _check_keys(path, entry, {"seed", "bin"}, set(), f"rollout {index}")
        seed = entry["seed"]
        if not _is_int(seed) or not 0 <= seed < n:
            raise UserError(f"{path}: rollout {index}: seed {_short(seed)}; expected an integer 0..{n - 1}")
        if seed in bins:
            raise UserError(f"{path}: seed {seed} stands twice; expected each of 0..{n - 1} once")
        _check_bin(path, f"seed {seed}", entry["bin"], k)
        bins[seed] = entry["bin"]
    missing = [seed for seed in range(n) if seed not in bins]
    if missing:
        listed = ", ".join(map(str, missing))
        raise UserError(f"{path}: {len(bins)} rollouts, seed {listed} missing; expected {n}, each of 0..{n - 1} once")
    return tuple(bins[seed] for seed in range(n))


def _check_bin(path: Path, where: str, outcome: Any, k: int) -> None:
    if outcome is not None and (not _is_int(outcome) or not 1 <= outcome <= k):
        raise UserError(f"{path}: {where}: bin {_short(outcome)}; expected an integer 1..{k} or null")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}..."
