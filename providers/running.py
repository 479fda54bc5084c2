"""One run over one study's folder, from its lock to what it says at the end."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from errors import UserError
from ledger import FolderLock
from progress import Progress, ranges
from providers.base import ATTEMPTED_AGAIN, Provider, ProviderError, Request, RolloutKey, State
from providers.engine import Engine
from providers.history import History, identical_videos
from providers.resume import Step, check_writable, fault, next_step, plan, recover, video_path
from providers.run_state import DISPLAY, DONE, IN_THE_WAY, WAITING, Report, Settings, cell_name

_Key = TypeVar("_Key", bound=Hashable)


def run(
    requests: Sequence[Request], folder: Path, open_provider: Callable[[], Provider], settings: Settings, command: str
) -> int:
    """Make what is missing of these rollouts, and say how it went; the exit code, as the scripts document it.

    open_provider: called when something is to be asked of it, so that a complete set needs neither key nor network.
    command: what a person enters to do the same again, without the option that asks for new attempts.
    """
    with FolderLock(folder):
        history = History(folder)
        try:
            report = asyncio.run(_generate(requests, folder, history, open_provider, settings))
        except KeyboardInterrupt:
            print(f"interrupted; nothing is lost. Continue with:\n{command}", file=sys.stderr)
            return 130
        except ProviderError as error:
            raise UserError(f"{error}; expected a service that answers; run the same command again") from error
        finally:
            history.close()
        print("\n".join([*_conclusion(report, history), *_how_to_go_on(requests, report, history, folder, command)]))
    return int(any(state != DONE for state in report.states.values()))


async def _generate(
    requests: Sequence[Request],
    folder: Path,
    history: History,
    open_provider: Callable[[], Provider],
    settings: Settings,
) -> Report:
    recover(history, folder, requests)
    steps = plan(history, folder, requests)
    at_rest = {key: state for key, step in steps.items() if (state := _at_rest(history, key, step, settings.retry))}
    report = Report(dict(at_rest))
    foreign = sum(step is Step.FOREIGN for step in steps.values())
    if foreign:
        report.remarks.append(f"{foreign} videos are not in the ledger: they came from elsewhere and are left alone")
    in_the_way = [video_path(folder, request) for request in requests if steps[request.key] is Step.IN_THE_WAY]
    report.remarks += [f"{fault(path)}; move it away to have the rollout made" for path in in_the_way]
    under_way = [request for request in requests if request.key not in at_rest]
    if not under_way:
        return report
    check_writable(folder, under_way)
    provider = open_provider()
    try:
        for remark in await provider.prepare(list(dict.fromkeys(request.generation for request in under_way))):
            # At once, not at the end: a person may not want to pay then.
            print(remark, flush=True)
        cells = {name: [r.seed for r in group] for name, group in _grouped(requests, cell_name).items()}
        with Progress(folder.name, cells, DISPLAY, calm=(DONE,)) as progress:
            for request in requests:
                progress.move(cell_name(request), request.seed, at_rest.get(request.key, WAITING))
            made = await Engine(provider, folder, history, settings, progress).run(under_way, steps)
    finally:
        await provider.close()
    return Report(report.states | made.states, made.created, report.remarks + made.remarks)


def _at_rest(history: History, key: RolloutKey, step: Step, retry: bool) -> str | None:
    """How a rollout is shown for which nothing is to be done; None for the others."""
    if step in {Step.NOTHING, Step.FOREIGN}:
        return DONE
    if step is Step.IN_THE_WAY:
        return IN_THE_WAY
    last = history.rollout(key).last
    return last.state.value if step is Step.GIVEN_UP and not retry and last is not None and last.state else None


def _conclusion(report: Report, history: History) -> list[str]:
    """What there is, what is missing, and why; one line each."""
    counts = Counter(report.states.values())
    listed = ", ".join(f"{counts[state]} {state}" for state in DISPLAY if counts[state])
    lines = [f"{len(report.states)} rollouts: {listed}; {report.created} created by this run"]
    lines += report.remarks
    for (scene, model), keys in _grouped(report.states, lambda key: key[:2]).items():
        created = sum(history.rollout(key).created for key in keys)
        if created > len(keys):
            lines.append(f"{scene} / {model}: {created} predictions for {len(keys)} rollouts")
    for group in identical_videos(history, report.states):
        names = ", ".join(f"{scene} / {model} seed {seed}" for scene, model, seed in group)
        lines.append(f"identical videos, which are one draw and not {len(group)}: {names}")
    missing = {key: state for key, state in report.states.items() if state != DONE}

    def kind(key: RolloutKey) -> tuple[str, str, str, str]:
        last, state = history.rollout(key).last, missing[key]
        return (*key[:2], state, f" ({last.detail})" if last is not None and last.detail and state != WAITING else "")

    for (scene, model, state, why), keys in _grouped(missing, kind).items():
        lines.append(f"missing: {scene} / {model} seed {ranges([key[2] for key in keys])}: {state}{why}")
    return lines


def _how_to_go_on(
    requests: Sequence[Request], report: Report, history: History, folder: Path, command: str
) -> list[str]:
    """The commands that continue, and what the one that pays again would pay for; nothing when all videos are there."""
    missing = [request for request in requests if report.states[request.key] != DONE]
    steps = {request: next_step(history, folder, request) for request in missing}
    lines = ["continue with:", command] if set(steps.values()) - {Step.GIVEN_UP} else []
    anew = [request for request, step in steps.items() if step in {Step.GIVEN_UP, Step.LOOK_AGAIN}]
    if Step.GIVEN_UP in steps.values():
        lines += [
            "A cell is scored with all of its seeds only. Where one stays without a video, put one there that the same",
            "model made elsewhere of the same prompt, frame and seed; or name the cell, with the reason, in",
            "analysis/absent_cells.json: all of its rollouts then count as unscorable.",
        ]
    if anew:
        lasts = [history.rollout(request.key).last for request in anew if request.generation.model.replicate_id]
        unpaid = {*ATTEMPTED_AGAIN, State.REJECTED}
        paid = sum(last is not None and last.state not in unpaid for last in lasts)
        again = (
            f", {paid} of them for rollouts that may have been paid for, if they still have no video" if paid else ""
        )
        lines += [
            f"New attempts, up to {len(anew)} predictions{again}, are made with:",
            f"{command} --retry",
        ]
    return lines


_Item = TypeVar("_Item")


def _grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> Mapping[_Key, list[_Item]]:
    groups: dict[_Key, list[_Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
