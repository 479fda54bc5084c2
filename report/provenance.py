"""Where the numbers come from: specification, outcome files, judges, settings, versions. No dates and no paths."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from errors import UserError
from models import PUBLISHED
from paths import ROOT
from protocol import digest
from records import ABSENT_CELLS_FILE, HUMAN_LABELS_FILE
from report import votes
from report.datatable import DataTable, Field
from report.inputs import Results
from scenes import SCENES
from studies import FACES, GUIDANCES, STUDIES, face_study, guidance_study

# The published outcome files carry no record of their judge; this is what the paper says.
PUBLISHED_JUDGE = "Gemini 3.1 Pro (gemini-3.1-pro-preview), three votes a rollout, majority (as published)"
# name==version at the head of a line; extras, markers and comments are passed over.
_PINNED = re.compile(r"^[ \t]*([\w.-]+)[ \t]*(?:\[[^\]\n]*\])?[ \t]*==[ \t]*([^\s;#,]+)", re.MULTILINE)
# Title -> the studies whose outcome files are listed under it.
OUTCOME_SETS = {
    "main matrix": ("main",),
    "resolution": ("seedance720",),
    "duration": ("dur5s",),
    "guidance": tuple(guidance_study(g) for g in GUIDANCES),
    "asked for a face": tuple(face_study(f) for f in FACES),
}


def specification_digest() -> str:
    """SHA-256 over what defines the benchmark: prompts, questions, outcomes, exact references, evidence."""
    return digest([asdict(scene) for scene in SCENES.values()])


@dataclass(frozen=True)
class FileSet:
    """title: what the files are. sha256: of the lines that `sha256sum` prints of them, in this order."""

    title: str
    files: Sequence[tuple[str, str]]

    @property
    def sha256(self) -> str:
        lines = "".join(f"{digest}  {name}\n" for name, digest in self.files)
        return hashlib.sha256(lines.encode()).hexdigest()


def file_sets(analysis: Path, results: Results) -> list[FileSet]:
    """Every file that the page is made from: its name below the analysis folder, and the SHA-256 of its bytes.

    An absent cell has no file and is left out. Raises UserError for a file that cannot be read.
    """
    logs = [
        path
        for scene in SCENES
        for of_model in votes.judge_logs(analysis, scene, results.keys).values()
        for path in of_model.values()
    ]
    sets: dict[str, Sequence[Path]] = {}
    sets |= {f"outcomes, {title}": _outcome_files(analysis, of, results.keys) for title, of in OUTCOME_SETS.items()}
    sets["hand labels and absent cells"] = [analysis / HUMAN_LABELS_FILE, analysis / ABSENT_CELLS_FILE]
    sets["judges' replies"] = logs
    sets["results"] = results.files
    found = []
    for title, paths in sets.items():
        there = [path for path in paths if path.exists()]
        if there:
            found.append(FileSet(title, [(path.relative_to(analysis).as_posix(), _sha256(path)) for path in there]))
    return found


def files_table(sets: Sequence[FileSet]) -> DataTable:
    """One row a file."""
    fields = [Field("file", "File, below analysis/"), Field("set", "set"), Field("sha256", "SHA-256")]
    rows = [[name, each.title, digest] for each in sets for name, digest in each.files]
    return DataTable("files", "The files behind this page", fields, rows)


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UserError(f"{path}: cannot read: {error.strerror}; expected a file that the page is made from") from error


def _outcome_files(analysis: Path, studies: Sequence[str], models: Sequence[str]) -> list[Path]:
    return [
        analysis / STUDIES[key].bins_file(scene, model)
        for key in studies
        for scene in STUDIES[key].scenes
        for model in (models if key == "main" else STUDIES[key].models)
    ]


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
