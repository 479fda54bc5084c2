"""A judge against the truth of simulated clips: exact rates, confusion, and which artefacts it takes for an outcome.

    python validate_judge.py [--study artefacts] [--scene cards] [--model sim_calibrated] [--rollouts DIR]
                             [--analysis DIR]

Reads   the outcome files of a simulated study, analysis/{study}/{scene}_{law}_bins.json, and the truths beside its
        videos, rollouts/{study}/{scene}/{law}/seed_{i}.truth.json
Writes  analysis/results/validate_judge.json, analysis/tables/validate_judge.{md,tex}, and where a clip shows one,
        validate_judge_artefacts.{md,tex}; a part of the study is printed and not written
Free: needs no key and no network.

Make the clips first, and have the judge read them:

    python generate_rollouts.py --study artefacts --provider simulator
    python extract_bin.py --study artefacts --judge ...
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cli
import records
from constants import INTERVAL_LEVEL
from errors import UserError
from files import read_json
from outputs import Outputs
from paths import ANALYSIS, ROLLOUTS, truth_path
from progress import ranges
from protocol import other_clips
from scenes import SCENES, Scene
from simulator import LAWS, Truth
from studies import STUDIES
from tables import Column, Entry, Group, Table
from validation import METHOD, Pair, compare_by_scene, interval_in_percent, rate, rates_table
from video_io import find_clips

SIMULATED = [key for key, study in STUDIES.items() if not study.published]

# What the judge said of one rollout (1..k or None), and what the rollout shows.
Reading = tuple[int | None, Truth]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    args = arguments().parse_args(argv)
    study, scenes = cli.study_and_scenes(args)
    models = [cli.check_model_key(model) for model in args.model] or list(study.models)
    whole = (scenes, models) == (list(study.scenes), list(study.models))
    outputs = Outputs(args.analysis, __file__, print_only=not whole)
    readings: dict[str, list[Reading]] = {scene: [] for scene in scenes}
    cells = records.read_study(args.analysis, study.key, scenes, models)
    judge, judge_model = judge_of(args.analysis, cells)
    others = []
    for (scene, model), cell in cells.items():
        folder = args.rollouts / study.key / scene / model
        if seeds := other_clips(find_clips(folder, study.n), cell.protocol):
            others.append(f"{scene}/{model} seed {ranges(seeds)}")
        readings[scene] += [(said, read_truth(folder, scene, model, seed)) for seed, said in enumerate(cell.bins)]
    if others:
        found = f"{args.rollouts / study.key}: other clips than those that the outcomes were read from"
        raise UserError(f"{found}: {'; '.join(others)}; expected the same")
    pairs = {scene: [(said, truth.outcome) for said, truth in both] for scene, both in readings.items()}
    rows = compare_by_scene(pairs)
    artefacts = {scene: artefact_readings(both) for scene, both in readings.items()}
    outputs.results(
        {
            "study": study.key,
            "judge": judge,
            "judge_model": judge_model,
            "scenes": rows,
            "confusion": {scene: confusion(SCENES[scene], pairs[scene]) for scene in scenes},
            "artefacts": artefacts,
            "level": INTERVAL_LEVEL,
            "method": METHOD,
        }
    )
    name = f"{judge} judge ({judge_model})"
    outputs.table(rates_table(rows, f"The {name} against the truth of simulated clips", "truth"))
    if any(artefacts.values()):
        outputs.table(artefact_table(artefacts, name), "_artefacts")
    outputs.finish()
    return 0


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    options.add_argument("--analysis", type=Path, default=ANALYSIS, metavar="DIR", help="folder of the outcome files")
    options.add_argument("--study", default="artefacts", choices=SIMULATED, help="which clips (default %(default)s)")
    options.add_argument("--scene", nargs="+", default=[cli.ALL], metavar="SCENE", help="scenes, or all (default)")
    options.add_argument("--model", nargs="+", default=[], metavar="LAW", help="laws (default: all of the study)")
    options.add_argument("--rollouts", type=Path, default=ROLLOUTS, metavar="DIR", help="the videos (rollouts/)")
    return options


def judge_of(analysis: Path, cells: Mapping[tuple[str, str], records.Cell]) -> tuple[str, str]:
    """Name and model of the judge that read all of these cells, in one and the same way.

    Raises UserError without a record of it, and where judge, settings, votes or rules differ. A setting that the
    evidence of a scene has no use for, such as the sampling of a video, is compared where it is one.
    """
    known: dict[str, tuple[Any, Path]] = {}
    for (scene, model), cell in cells.items():
        path, protocol = analysis / STUDIES[cell.study].bins_file(scene, model), cell.protocol
        if not all(isinstance(protocol.get(part), str) for part in ("judge", "judge_model")):
            raise UserError(f"{path}: no record of its judge; expected outcomes that extract_bin.py read")
        facts = {part: protocol.get(part) for part in ("judge", "judge_model", "votes", "parse_rules")}
        for name, value in (facts | dict(protocol.get("judge_settings", {}))).items():
            expected, first = known.setdefault(name, (value, path))
            if value != expected:
                raise UserError(f"{path}: read with {name} {value}; expected {expected}, as {first.name}")
    return known["judge"][0], known["judge_model"][0]


def read_truth(folder: Path, scene: str, model: str, seed: int) -> Truth:
    """The truth beside one simulated video. Raises UserError when it is not there or belongs to another rollout."""
    path = truth_path(folder / f"seed_{seed}.mp4")
    expected = f"the truth of scene {scene}, law {model}, seed {seed}"
    data = read_json(path, expected)
    try:
        truth = Truth.from_dict(data)
    except (TypeError, ValueError) as error:
        raise UserError(f"{path}: {error}; expected {expected}") from error
    # A law that was given as numbers goes by the name that its user chose.
    law = truth.law if truth.law not in LAWS and model not in LAWS else model
    if (truth.scene, truth.law, truth.seed) != (scene, law, seed):
        raise UserError(f"{path}: scene {truth.scene}, law {truth.law}, seed {truth.seed}; expected {expected}")
    if truth.outcome is not None and truth.outcome not in range(1, SCENES[scene].k + 1):
        raise UserError(f"{path}: outcome {truth.outcome!r}; expected an integer 1..{SCENES[scene].k} or null")
    return truth


def confusion(scene: Scene, pairs: Sequence[Pair]) -> dict[str, dict[str, int]]:
    """Counts by what was true (outer) and what the judge read (inner), null a class like any other."""
    names: dict[int | None, str] = {None: "null", **{i + 1: name for i, name in enumerate(scene.outcomes)}}
    return {
        true: {said: sum((names[j], names[t]) == (said, true) for j, t in pairs) for said in names.values()}
        for true in names.values()
    }


def artefact_readings(readings: Sequence[Reading]) -> dict[str, dict[str, Any]]:
    """Of each kind of artefact: how many clips show it, and how many the judge took for an outcome."""
    kinds: dict[str, list[bool]] = {}
    for judge, truth in readings:
        if truth.artefact is not None:
            kinds.setdefault(truth.artefact, []).append(judge is not None)
    return {
        kind: {"n": len(fooled), "fooled": sum(fooled), "rate": rate(sum(fooled), len(fooled))}
        for kind, fooled in sorted(kinds.items())
    }


def artefact_table(artefacts: Mapping[str, dict[str, dict[str, Any]]], judge: str) -> Table:
    lines: list[Sequence[Entry | str] | Group] = []
    for scene, kinds in artefacts.items():
        if kinds:
            lines.append(Group(SCENES[scene].title))
        for kind, row in kinds.items():
            words = kind.replace("_", " ")
            lines.append([words, str(row["n"]), str(row["fooled"]), interval_in_percent(row["rate"])])
    return Table(
        f"Which artefacts the {judge} takes for an outcome, with exact 95 % intervals in per cent.",
        [Column("Artefact", "l"), Column("clips"), Column("read as an outcome"), Column("95 %")],
        lines,
    )


if __name__ == "__main__":
    sys.exit(main())
