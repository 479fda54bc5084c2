"""How a cell was read: the `protocol` entry of new outcome files."""

from collections.abc import Mapping
from typing import Any

from judges.base import Judge
from judges.engine import CellResult
from judges.parse import PARSE_RULES
from judges.votelog import question_sha256
from protocol import CLIPS, digest
from scenes import Scene


def cell_protocol(
    judge: Judge, scene: Scene, votes: int, result: CellResult, made_with: Mapping[str, str]
) -> dict[str, Any]:
    """made_with: SHA-256 of a clip -> digest of the generation protocol that it was made with, where that is known.

    "digest" covers all that defines how outcomes come about: generation (None when the clips came from elsewhere),
    question, evidence, judge and its settings, votes, parse rules. Beside it stand what it covers, the versions of the
    judge that answered, the SHA-256 of each clip by its seed (`protocol.CLIPS`), and the groups of seeds whose
    clips are the same file: one draw each, not several. Cells of different digests do not belong in one table unsaid.
    """
    generations = {made_with.get(clip) for clip in result.clips.values()}
    covered = {
        "generation": generations.pop() if len(generations) == 1 else None,
        "question_sha256": question_sha256(scene),
        "evidence": scene.evidence,
        "judge": judge.name,
        "judge_model": judge.model,
        "judge_settings": judge.settings(scene.evidence),
        "votes": votes,
        "parse_rules": PARSE_RULES,
    }
    versions = {vote.model_version for votes_of_one in result.votes.values() for vote in votes_of_one}
    return {
        **covered,
        "digest": digest(covered),
        "judge_versions": sorted(versions - {""}),
        CLIPS: {str(seed): result.clips[seed] for seed in sorted(result.clips)},
        "identical_seeds": result.identical,
    }
