"""Read the outcome of every rollout of a study with a vision-language model. PAID, with --judge gemini.

    python extract_bin.py --study main --scene all --model wan --judge gemini --votes 3 --dry-run   # how many queries?
    python extract_bin.py --study main --scene all --model wan --judge gemini --votes 3
    python extract_bin.py --model wan --judge openai --base-url http://127.0.0.1:11434/v1 --judge-model qwen2.5vl:7b
    python extract_bin.py --model sim_calibrated --judge pixels                          # simulated clips only, free
    python extract_bin.py --model wan --judge openai ... --rejudge --against gemini      # do two judges agree?

Input: rollouts/<study>/<scene>/<model>/seed_<i>.mp4, whoever put them there (a model needs no entry in models.py), and
GEMINI_API_KEY (or OPENAI_API_KEY) in the environment. Nothing is paid for that was not named: a judge other than pixels
needs --model, names or all.
Output: analysis/vlm_logs/<study>/<scene>_<model>.<judge>.jsonl, every reply of the judge, and for each complete cell
its outcomes, analysis/{scene}_{model}_bins.json (an ablation's where studies.py says). With --rejudge no outcomes, but
the agreement with another judge's votes: analysis/results/extract_bin.json, analysis/tables/extract_bin.{md,tex}.

A cell that has its outcomes is left alone unless --force, which writes them anew from the votes on its log and asks for
those alone that are missing there. Run the same command again after any interruption: a vote that is on disk for the
same question, evidence, judge and settings is never asked for again; what was in flight may be. A query that ends
without a vote is made again, three times in all; then only --retry asks again, and the end of a run says for how many
queries. A cell is written only when every rollout has all its votes; a failure of the judge is not a null. A cell of
nulls alone is more often a fault than a finding: it is written with --accept-all-null only. Exit codes: 0 all cells
asked for have their outcomes, 1 some are incomplete or nulls alone, 2 bad input, 130 interrupted.
"""

import argparse
import asyncio
import io
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import cli
import records
from constants import TRUTH_SUFFIX
from errors import UserError
from judges.asking import Settings
from judges.base import Judge, JudgeError, State, file_stem
from judges.engine import ATTEMPTS, DISPLAY, DONE, CellResult, CellWork, Engine
from judges.provenance import cell_protocol
from judges.registry import DEFAULT_VIDEO_FPS, FREE_JUDGES, JUDGES, JudgeOptions, get_judge
from judges.rejudge import Readings, agreement_by_scene, agreement_table, outcomes_on_log
from judges.votelog import VoteLog, log_path, work_folder
from ledger import FolderLock
from outputs import Outputs
from paths import ANALYSIS
from progress import Progress, ranges
from protocol import other_clips
from providers.history import History
from scenes import SCENES
from studies import STUDIES, Study
from video_io import Clips, find_clips, sha256_file

# Queries in flight: a judge that thinks for ten seconds then reads a cell in a minute.
CONCURRENCY = 16
VOTES = 3
# Before a query without an answer is sent again; the pauses double.
FIRST_PAUSE_S = 1.0


def arguments() -> cli.Parser:
    options = cli.Parser(__doc__)
    cli.add_cells(options)
    options.add_argument(
        "--model",
        nargs="+",
        metavar="MODEL",
        help="models, or all: those of the study and those with a folder of videos (default with --judge pixels)",
    )
    options.add_argument("--judge", choices=JUDGES, default=JUDGES[0], help=f"who reads (default {JUDGES[0]})")
    options.add_argument("--judge-model", metavar="ID", help="another model of that service")
    options.add_argument("--base-url", metavar="URL", help="address of the openai judge, such as http://host:8000/v1")
    options.add_argument(
        "--votes", type=cli.whole(1), default=VOTES, metavar="N", help=f"queries a rollout (default {VOTES})"
    )
    options.add_argument(
        "--video-fps",
        type=float,
        default=DEFAULT_VIDEO_FPS,
        metavar="F",
        help=f"frames a second that the judge sees of a video (default {DEFAULT_VIDEO_FPS:g}, as published)",
    )
    options.add_argument(
        "--concurrency", type=cli.whole(1), default=CONCURRENCY, metavar="N", help=f"in flight (default {CONCURRENCY})"
    )
    options.add_argument(
        "--force", action="store_true", help="write outcomes anew: from votes on the log, where they are"
    )
    options.add_argument(
        "--dry-run", action="store_true", help="print how many queries there are to be made and stop; needs no key"
    )
    options.add_argument("--retry", action="store_true", help="new attempts at votes that had three without a result")
    options.add_argument("--accept-all-null", action="store_true", help="write cells in which every rollout is null")
    options.add_argument("--rejudge", action="store_true", help="write no outcomes, compare with --against instead")
    options.add_argument(
        "--against", default=JUDGES[0], metavar="JUDGE", help="with --rejudge: the other judge, as its logs name it"
    )
    options.add_argument("--analysis", type=Path, default=ANALYSIS, metavar="DIR", help="outcomes, logs (analysis/)")
    return options


@dataclass(frozen=True)
class Run:
    """How a run ended. results: cell name -> how it stands. remarks: what a person should know.

    replies, unanswered: queries with and without a reply, in this run.
    """

    results: Mapping[str, CellResult]
    replies: int
    unanswered: int
    remarks: Sequence[str]


@cli.command
def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    args = arguments().parse_args(argv)
    is_named, args.model = args.model is not None, args.model or [cli.ALL]
    clips = {cell: _clips(args, *cell) for cell in _cells(args)}
    if not clips:
        return 0
    _check_clips(args, clips)
    scenes = list(dict.fromkeys(scene for scene, _ in clips))
    work = work_folder(args.analysis, args.study)
    judge = get_judge(args.judge, JudgeOptions(work, args.judge_model, args.base_url, args.video_fps, scenes))
    if args.rejudge and (args.against == judge.name or args.against != file_stem(args.against)):
        raise UserError(f"--against {args.against}: expected another judge than {judge.name}, as its logs name it")
    if not (is_named or args.dry_run or args.judge in FREE_JUDGES):
        rollouts = sum(len(there.found) for there in clips.values())
        expected = f"expected the models to pay for, or all, for {rollouts} rollouts (see --dry-run)"
        raise UserError(f"--model: not given; {expected}")
    with ExitStack() as stack:
        if not args.dry_run:
            stack.enter_context(FolderLock(work / judge.name))
        logs = {cell: stack.enter_context(closing(_log(args, *cell, judge.name))) for cell in clips}
        jobs = [CellWork(_name(*cell), *cell, clips[cell], logs[cell]) for cell in clips]
        if args.dry_run:
            print(_bill(asyncio.run(_queries(args, judge, jobs))))
            return 0
        try:
            run = asyncio.run(_read(args, judge, jobs))
        except JudgeError as error:
            raise UserError(f"judge {judge.name}: {error}; expected a judge that answers") from error
        except KeyboardInterrupt:
            print(f"interrupted; every reply so far is logged. Continue with:\n{_command(argv)}", file=sys.stderr)
            return 130
    code = _conclude(args, run, jobs, argv)
    if args.rejudge:
        _compare(args, judge.name, run, jobs)
    return code


def _cells(args: argparse.Namespace) -> list[tuple[str, str]]:
    """(scene, model) of the cells to read; those that have their outcomes are left out.

    UserError when outcomes are of other clips than those that are there.
    """
    study, scenes = cli.study_and_scenes(args)
    cells, at_rest, others = [], 0, []
    for scene in scenes:
        folder = args.rollouts / study.key / scene
        there = sorted(p.name for p in folder.glob("*") if p.is_dir() and not p.name.startswith("."))
        every = [key for name in args.model for key in ((*study.models, *there) if name == cli.ALL else [name])]
        for model in dict.fromkeys(every):
            cli.check_model_key(model)
            recorded = None if args.force or args.rejudge else _recorded(args, study, scene, model)
            if recorded is None:
                cells.append((scene, model))
            elif seeds := other_clips(_clips(args, scene, model), recorded.protocol):
                others.append(f"{_name(scene, model)} seed {ranges(seeds)}")
            else:
                at_rest += 1
    if others:
        found = f"{args.rollouts / study.key}: other clips than those that the outcomes were read from"
        raise UserError(f"{found}: {'; '.join(others)}; expected the same; --force reads these")
    if at_rest:
        print(f"{at_rest} cells have their outcomes and are left alone; --force writes them anew from their votes")
    return cells


def _recorded(args: argparse.Namespace, study: Study, scene: str, model: str) -> records.Cell | None:
    """The cell as it has its outcomes, or is recorded as absent; None when it is to be read."""
    try:
        return records.read_cell(args.analysis, study, scene, model)
    except UserError:
        if (args.analysis / study.bins_file(scene, model)).exists():
            raise
        return None


def _name(scene: str, model: str) -> str:
    """A cell as a person reads it."""
    return f"{scene} / {model}"


def _clips(args: argparse.Namespace, scene: str, model: str) -> Clips:
    study = STUDIES[args.study]
    return find_clips(args.rollouts / study.key / scene / model, study.n)


def _log(args: argparse.Namespace, scene: str, model: str, judge: str) -> VoteLog:
    study = STUDIES[args.study]
    return VoteLog(log_path(args.analysis, study.key, study.scene_name(scene), model, judge), scene)


def _check_clips(args: argparse.Namespace, clips: Mapping[tuple[str, str], Clips]) -> None:
    """Name the files that are no clips. Without any clip: UserError."""
    if not any(there.found for there in clips.values()):
        names = ", ".join(_name(*cell) for cell in list(clips)[:3]) + (", ..." if len(clips) > 3 else "")
        folder = args.rollouts / args.study
        raise UserError(f"{folder}: no videos of {names}; expected <scene>/<model>/seed_<i>.mp4, i from 0")
    for cell, there in clips.items():
        # The truth of a simulated clip belongs beside it.
        extra = [name for name in there.extra if not name.endswith(TRUTH_SUFFIX)]
        if extra:
            print(f"{_name(*cell)}: not read, since no seed of this study is named so: {', '.join(extra)}")


async def _queries(args: argparse.Namespace, judge: Judge, jobs: Sequence[CellWork]) -> Mapping[str, int]:
    """How many votes each cell lacks on its log."""
    try:
        with Progress(f"{args.study} by {judge.name}", _items(jobs), DISPLAY, stream=io.StringIO()) as progress:
            return await Engine(judge, _settings(args), progress, lambda *_: None).queries(jobs)
    finally:
        await judge.close()


def _bill(queries: Mapping[str, int]) -> str:
    lines = [f"{name}: {count} queries" for name, count in queries.items()]
    return "\n".join([*lines, f"{sum(queries.values())} queries, and more for replies that are no vote"])


def _settings(args: argparse.Namespace) -> Settings:
    return Settings(args.votes, args.concurrency, FIRST_PAUSE_S, args.retry)


async def _read(args: argparse.Namespace, judge: Judge, jobs: Sequence[CellWork]) -> Run:
    before = _logged(jobs)
    study = STUDIES[args.study]
    made_with = _made_with(args.rollouts / study.key, jobs)
    try:
        with Progress(f"{study.key} by {judge.name}", _items(jobs), DISPLAY, calm=(DONE,)) as progress:

            def finished(job: CellWork, result: CellResult) -> None:
                if args.rejudge or _not_accepted(args, result):
                    return
                protocol = cell_protocol(judge, SCENES[job.scene], args.votes, result, made_with)
                cell = records.Cell(study.key, job.scene, job.model, result.bins, protocol=protocol)
                records.write_cell(args.analysis, cell, force=args.force)

            engine = Engine(judge, _settings(args), progress, finished)
            results = await engine.run(jobs)
    finally:
        await judge.close()
    remarks = [f"{name}: stopped: {reason}" for name, reason in engine.stopped.items()]
    if engine.halted:
        remarks.append(f"nothing more was asked: {engine.halted}")
    new = _logged(jobs) - before
    unanswered = new.pop(State.UNANSWERED, 0)
    # A query that ended without a reply was counted with its tries, or was turned down.
    return Run(results, new.total() - new[State.FAILED], unanswered, remarks)


def _logged(jobs: Sequence[CellWork]) -> Counter[State]:
    """How many lines of each state are on the logs."""
    return Counter(reply.state for job in jobs for reply in job.log.replies)


def _not_accepted(args: argparse.Namespace, result: CellResult) -> bool:
    """Whether a complete cell is not to be written because nothing but nulls was read."""
    return not args.accept_all_null and set(result.bins) == {None}


def _items(jobs: Sequence[CellWork]) -> dict[str, list[int]]:
    return {job.name: [*job.clips.found, *job.clips.missing] for job in jobs}


def _made_with(folder: Path, jobs: Sequence[CellWork]) -> dict[str, str]:
    """SHA-256 of a generated clip -> digest of the protocol it was made under.

    UserError for several protocols in one cell, and for clips that are others than those generated for their seeds.
    """
    made_with: dict[str, str] = {}
    others: list[str] = []
    with closing(History(folder)) as history:
        for job in jobs:
            last = {seed: history.rollout((job.scene, job.model, seed)).last for seed in job.clips.found}
            made = {seed: attempt for seed, attempt in last.items() if attempt and attempt.sha256}
            seeds = [seed for seed, attempt in made.items() if sha256_file(job.clips.found[seed]) != attempt.sha256]
            if seeds:
                others.append(f"{job.name} seed {ranges(sorted(seeds))}")
            known = {attempt.sha256: attempt.digest for attempt in made.values() if attempt.sha256}
            if len(set(known.values())) > 1:
                found = ", ".join(sorted(digest[:12] for digest in set(known.values())))
                raise UserError(f"{history.path}: {job.name} was made under several protocols ({found}); expected one")
            made_with |= known
        if others:
            found = f"other clips than those that {history.path.name} records: {'; '.join(others)}"
            raise UserError(f"{folder}: {found}; expected the generated ones, or a model of their own name for others")
    return made_with


def _conclude(args: argparse.Namespace, run: Run, jobs: Sequence[CellWork], argv: Sequence[str]) -> int:
    """Say what there is, what is missing and why, and how to go on."""
    counts = Counter(state for result in run.results.values() for state in result.states.values())
    listed = ", ".join(f"{counts[state]} {state}" for state in DISPLAY if counts[state])
    unanswered = f", {run.unanswered} tries without one" if run.unanswered else ""
    print(f"{sum(counts.values())} rollouts: {listed}; {run.replies} replies in this run{unanswered}")
    for remark in run.remarks:
        print(remark)
    incomplete = suspect = may_go_on = False
    foreign: list[str] = []
    for job in jobs:
        result = run.results[job.name]
        failed = Counter(reply.state for reply in job.log.replies if reply.state is not State.VOTE)
        if failed:
            kinds = ", ".join(f"{count} {state}" for state, count in failed.items())
            print(f"{job.name}: of {len(job.log.replies)} lines on its log no votes: {kinds}")
        for seeds in result.identical:
            print(f"{job.name}: seeds {', '.join(map(str, seeds))} are the same video: one draw, not {len(seeds)}")
        if not args.rejudge and result.complete and _not_accepted(args, result):
            suspect = True
            print(f"{job.name}: not written, every rollout is null; look at the clips, then add --accept-all-null")
        if State.NOT_SIMULATED in result.states.values():
            foreign.append(job.name)
        else:
            may_go_on |= not result.complete
        missing: dict[tuple[str, str], list[int]] = {}
        for seed, state in result.states.items():
            if state != DONE:
                missing.setdefault((state, result.details.get(seed, "")), []).append(seed)
        for (state, detail), seeds in sorted(missing.items(), key=lambda item: DISPLAY.index(item[0][0])):
            incomplete = True
            print(f"missing: {job.name} seed {ranges(seeds)}: {state}{f' ({detail})' if detail else ''}")
    if foreign:
        print(f"{'; '.join(foreign)}: clips that --judge {args.judge} does not read, now or later; take another judge")
    # Whoever continues is not to pay again unasked.
    command = _command([word for word in argv if word != "--retry"])
    given_up = sum(sum(result.given_up.values()) for result in run.results.values())
    if given_up:
        print(f"{given_up} votes had {ATTEMPTS} attempts; up to {ATTEMPTS * given_up} queries with:\n{command} --retry")
    elif may_go_on:
        print(f"continue with:\n{command}")
    return int(incomplete or suspect)


def _compare(args: argparse.Namespace, judge: str, run: Run, jobs: Sequence[CellWork]) -> None:
    """The agreement of the votes just read with those on the other judge's logs, about the same clips."""
    study = STUDIES[args.study]
    readings: Readings = {}
    left_out = 0
    for job in jobs:
        result = run.results[job.name]
        with closing(_log(args, job.scene, job.model, args.against)) as other:
            theirs = outcomes_on_log(other, SCENES[job.scene], result.clips, args.votes)
        ours = {seed: result.outcome(seed) for seed, state in result.states.items() if state == DONE}
        both = readings.setdefault(job.scene, [])
        both += [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]
        left_out += len(result.clips) - len(ours.keys() & theirs.keys())
    if not any(readings.values()):
        found = f"no votes of it about these clips, {args.votes} for each"
        raise UserError(f"--against {args.against}: {found}; expected its logs of {study.key}")
    if left_out:
        print(f"{left_out} rollouts are left out: without {args.votes} votes of both judges")
    outputs = Outputs(args.analysis, __file__)
    rows = agreement_by_scene(readings)
    outputs.results({"study": study.key, "judges": [judge, args.against], "left_out": left_out, "rows": rows})
    outputs.table(agreement_table(judge, args.against, rows))
    outputs.finish()


def _command(argv: Sequence[str]) -> str:
    return shlex.join(["python", Path(__file__).name, *argv])


if __name__ == "__main__":
    sys.exit(main())
