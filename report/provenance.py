"""Where the numbers come from: specification, outcome files, judges, settings, versions. No dates and no paths."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from errors import UserError
from models import PUBLISHED
from paths import ROOT
from protocol import digest
from report.datatable import DataTable, Field
from report.inputs import Results
from scenes import SCENES
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study

# The published outcome files carry no record of their judge; this is what the paper says.
PUBLISHED_JUDGE = "Gemini 3.1 Pro (gemini-3.1-pro-preview), three votes a rollout, majority (as published)"
# name==version at the head of a line; extras, markers and comments are passed over.
_PINNED = re.compile(r"^[ \t]*([\w.-]+)[ \t]*(?:\[[^\]\n]*\])?[ \t]*==[ \t]*([^\s;#,]+)", re.MULTILINE)
# Title -> the studies whose outcome files are hashed together.
FILE_SETS = {
    "main matrix": ("main",),
    "resolution": ("seedance720",),
    "duration": ("dur5s",),
    "guidance": tuple(guidance_study(g) for g in GUIDANCES),
    "asked for a face": tuple(face_study(f) for f in FACES),
}


def specification_digest() -> str:
    """SHA-256 over what defines the benchmark: prompts, questions, outcomes, exact references, evidence."""
    return digest([asdict(scene) for scene in SCENES.values()])


def data_hashes(analysis: Path, models: Sequence[str]) -> list[dict[str, Any]]:
    """For each set of outcome files: how many there are, and the SHA-256 of their bytes one after another, in display
    order. An absent cell has no file and is left out. Raises UserError for a file that cannot be read."""
    found = []
    for title, studies in FILE_SETS.items():
        sha256, count = hashlib.sha256(), 0
        for path in _files(analysis, studies, models):
            try:
                sha256.update(path.read_bytes())
            except OSError as error:
                raise UserError(f"{path}: cannot read: {error.strerror}; expected an outcome file") from error
            count += 1
        found.append({"title": title, "files": count, "sha256": sha256.hexdigest()})
    return found


def _files(analysis: Path, studies: Sequence[str], models: Sequence[str]) -> Iterable[Path]:
    for key in studies:
        study = STUDIES[key]
        for scene in study.scenes:
            for model in models if key == "main" else study.models:
                path = analysis / study.bins_file(scene, model)
                if path.exists():
                    yield path


def judges(results: Results) -> DataTable:
    """Who read each model's outcomes, and the protocol digests that its files carry."""
    rows = []
    for model in results.models:
        found = [results.outcomes[scene, model.key].protocol for scene in SCENES]
        records = [record for record in found if record]
        if not records:
            who = PUBLISHED_JUDGE if model.key in PUBLISHED else "not recorded in the outcome files"
            rows.append([model.name, who, "—", "none recorded"])
            continue
        who = "; ".join(sorted({f"{r.get('judge_model', '?')}, {r.get('votes', '?')} votes" for r in records}))
        answered = [r.get("judge_versions") for r in records]
        versions = "; ".join(sorted({str(v) for names in answered if isinstance(names, list) for v in names}))
        digests = sorted({str(r.get("digest", "?"))[:12] for r in records})
        rows.append([model.name, who, versions or "—", ", ".join(digests)])
    fields = [
        Field("model", "Model"),
        Field("judge", "Judge"),
        Field("versions", "answered by"),
        Field("digests", "protocol digests"),
    ]
    return DataTable("judges", "Who read the outcomes", fields, rows)


def settings(results: Results) -> DataTable:
    """Table 1: what each model was asked for."""
    found = results.settings["settings"]
    names = {
        "model_id": "Model ID",
        "duration": "duration",
        "resolution": "resolution",
        "prompt_expansion": "prompt expansion",
        "negative_prompt": "negative prompt",
        "audio": "audio",
    }
    rows = [
        [model.name, *(found.get(model.key, {}).get(name) for name in names)]
        for model in results.models
        if model.key in found
    ]
    fields = [Field("model", "Model"), *(Field(name, label) for name, label in names.items())]
    return DataTable("settings", "Generation settings", fields, rows)


def versions() -> list[tuple[str, str]]:
    """The libraries that requirements.txt pins, by name: not those installed, which would tie the page to a machine."""
    return sorted(_PINNED.findall((ROOT / "requirements.txt").read_text(encoding="utf-8")))
