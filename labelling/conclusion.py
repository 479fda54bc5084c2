"""What a labelling comes to: the labels on disk, and how far they agree with the judge or with another person."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from errors import UserError
from judges.rejudge import Readings, agreement_by_scene, agreement_table
from labelling.session import State
from paths import ANALYSIS
from progress import ranges
from protocol import CLIPS
from records import HumanLabel, read_cell, write_human_labels
from studies import STUDIES
from tables import Entry, Table, markdown

# Study, scene, model and seed.
Rollout = tuple[str, str, str, int]


@dataclass(frozen=True)
class Conclusion:
    """What a person is told at the end. table: agreement with the judge, None when it has read none of the rollouts.

    remarks: what became of clips without a label, and of cells without outcomes. command: what makes Table 8 of it;
    empty when there is nothing to make it of.
    """

    summary: str
    table: Table | None
    remarks: Sequence[str]
    command: str

    def record(self) -> dict[str, Any]:
        """For the page: text only."""
        table = self.table
        return {
            "summary": self.summary,
            "caption": table.caption if table else "",
            "columns": [f"{column.group} {column.header}".strip() for column in table.columns] if table else [],
            "rows": [[_text(entry) for entry in row] for row in _rows(table)] if table else [],
            "notes": list(table.notes) if table else [],
            "remarks": list(self.remarks),
            "command": self.command,
        }

    def text(self) -> str:
        """For the terminal."""
        table = ["", markdown(self.table)] if self.table else []
        rates = [f"The judge's error rates on these labels: {self.command}"] if self.command else []
        return "\n".join([self.summary, *self.remarks, *table, *rates])


def conclude(state: State, study: str, labeller: str, analysis: Path, output: Path, *, force: bool) -> Conclusion:
    """Write the final labels, and compare them with the judge's outcomes.

    Raises UserError when there is no label, or `output` holds other labels and `force` is not given.
    """
    labels = state.labels(study)
    if not labels:
        raise UserError(
            f"{output}: every clip was skipped; expected at least one label: put the clips back, move "
            f"{session_folder(output)} away, and begin again"
        )
    write_human_labels(output, labels, force=force)
    shown = {(study, clip.scene, clip.model, clip.seed): clip.sha256 for clip in state.clips}
    readings, unread = against_judge(analysis, labels, shown)
    remarks = [f"no label: {name}: {reason}" for name, reason in state.skipped.items()]
    remarks += [f"not shown, another drawn: {fault}" for fault in (state.sample.unusable if state.sample else ())]
    remarks += unread
    compared = sum(len(pairs) for pairs in readings.values())
    summary = f"{len(labels)} labels written to {output}; the judge has read {compared} of these rollouts"
    table = agreement_table(labeller, "the judge", agreement_by_scene(readings)) if compared else None
    elsewhere = [] if analysis == ANALYSIS else ["--analysis", str(analysis)]
    command = shlex.join(["python", "validate_extraction.py", "--labels", str(output), *elsewhere]) if compared else ""
    return Conclusion(summary, table, remarks, command)


def session_folder(output: Path) -> Path:
    """Where the session behind these labels is kept: a folder of its own, so that two people can label at once."""
    return output.with_name(f"{output.stem}.session")


def against_judge(
    analysis: Path, labels: Sequence[HumanLabel], shown: Mapping[Rollout, str]
) -> tuple[Readings, list[str]]:
    """(person, judge) of each label by scene, and what to say of those without an outcome of the same clip.

    shown: the SHA-256 of the clip that was labelled.
    """
    readings: Readings = {}
    unread, remarks = [], []
    for study, scene, model in sorted({(label.study, label.scene, label.model) for label in labels}):
        if not (analysis / STUDIES[study].bins_file(scene, model)).exists():
            unread.append(f"{scene}/{model}")
            continue
        try:
            cell = read_cell(analysis, STUDIES[study], scene, model)
        except UserError as error:
            remarks.append(f"outcomes that cannot be used: {error}")
            continue
        read = cell.protocol.get(CLIPS, {})
        others = []
        for label in labels:
            if (label.scene, label.model) != (scene, model):
                continue
            if read.get(str(label.seed), shown[_rollout(label)]) == shown[_rollout(label)]:
                readings.setdefault(scene, []).append((label.bin, cell.bins[label.seed]))
            else:
                others.append(label.seed)
        if others:
            seeds = ranges(sorted(others))
            remarks.append(f"not compared, the judge read other clips: {scene}/{model} seed {seeds}")
    if unread:
        remarks.append(f"not read by a judge yet (extract_bin.py does): {', '.join(unread)}")
    return readings, remarks


def two_people(first: Sequence[HumanLabel], second: Sequence[HumanLabel]) -> Readings:
    """(first, second) by scene, of the rollouts that both labelled."""
    theirs = {_rollout(label): label.bin for label in second}
    readings: Readings = {}
    for label in first:
        if _rollout(label) in theirs:
            readings.setdefault(label.scene, []).append((label.bin, theirs[_rollout(label)]))
    return readings


def _rollout(label: HumanLabel) -> Rollout:
    return label.study, label.scene, label.model, label.seed


def _rows(table: Table) -> list[Sequence[Entry | str]]:
    return [row for row in table.rows if isinstance(row, Sequence)]


def _text(entry: Entry | str) -> str:
    return entry if isinstance(entry, str) else entry.text
