"""Seconds, memory and reach of exact inference.

    python benchmarks/bench_exact.py

Writes benchmarks/bench_exact.json; about six minutes, nearly all for the last column. Times are CPU seconds of one
core, each in a fresh process.
reach: the n, found by bisection, up to which it is computed exactly; beyond it a p-value is Monte Carlo and says so, or
is refused. (For TV some larger n are within reach too, those that have a large factor in common with the denominator.)
ten_seconds_n: the largest n tried that takes at most ten seconds and 4 GB, were there no limit on the work.
"""

import json
import multiprocessing
import os
import platform
import resource
import sys
import time
from bisect import bisect_left
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

# ruff: noqa: E402 - the project's folder must be on the path before its modules are imported.
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import records
from constants import BINOMIAL_10, COIN, DIE, LOTTERY_20, MIN_VALID_FOR_TEST, ROULETTE_COLOUR, SUITS, Reference
from exact_multinomial import NullDistribution, p_value, within_reach
from lattice import Lattice, Statistic
from paths import ANALYSIS
from scenes import SCENES

STATISTICS: tuple[Statistic, ...] = ("chi2", "tv")
REFERENCES = {
    "boards": BINOMIAL_10,
    "coin": COIN,
    "dice": DIE,
    "cards": SUITS,
    "lottery": LOTTERY_20,
    "roulette": ROULETTE_COLOUR,
}
LIMIT_SECONDS = 10
LIMIT_BYTES = 4 * 2**30
# A process is ended after this much CPU time; starting the interpreter is not counted against the limit.
KILL_SECONDS = LIMIT_SECONDS + 2


def board() -> None:
    p_value((0, 0, 0, 1, 0, 27, 4, 0, 0, 0, 0), BINOMIAL_10, "chi2")


def matrix() -> int:
    """Both exact p-values of every tested cell of the published matrix."""
    cells = [c for c in records.read_study(ANALYSIS, "main").values() if c.n_valid >= MIN_VALID_FOR_TEST]
    for cell in cells:
        for statistic in STATISTICS:
            p_value(cell.counts, SCENES[cell.scene].reference, statistic)
    return len(cells)


def collapsed(reference: Reference, n: int, statistic: Statistic) -> None:
    """The p-value of n draws that all fell on the mode, with no limit on the work."""
    counts = [0] * reference.k
    counts[reference.mode - 1] = n
    NullDistribution(Lattice(reference, n, statistic)).p_value(counts)


def child(connection: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (KILL_SECONDS, KILL_SECONDS))
    started = time.process_time()
    try:
        result = function(*arguments)
    except MemoryError:
        return
    seconds = time.process_time() - started
    # Linux counts in KB, macOS in bytes.
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if platform.system() == "Darwin" else 1e3)
    connection.send({"result": result, "seconds": round(seconds, 2), "peak_mb": round(peak_mb)})


def fresh(function: Callable[..., Any], *arguments: Any) -> dict[str, Any] | None:
    """Run in a new process; None if it took too much time or memory."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        measured: dict[str, Any] = receiver.recv()
    except EOFError:  # it was ended, or gave up, without a word
        return None
    finally:
        process.join()
    return measured


def reach(reference: Reference, statistic: Statistic) -> int:
    return bisect_left(range(1, 10**6), True, key=lambda n: not within_reach(reference, n, statistic))


def within_ten_seconds(reference: Reference, statistic: Statistic, start: int) -> int:
    """Doubling from `start`, then one step between the last n that was fast enough and the first that was not."""

    def fast(n: int) -> bool:
        measured = fresh(collapsed, reference, n, statistic)
        return measured is not None and measured["seconds"] <= LIMIT_SECONDS

    n = start
    while fast(2 * n):
        n *= 2
    between = round(1.4 * n)
    return between if fast(between) else n


def main() -> int:
    one, all_cells = fresh(board), fresh(matrix)
    if one is None or all_cells is None:
        raise SystemExit("the published cells took too long")
    print(f"one board, chi-square, n = 32: {one['seconds']:.2f} s")
    cells = f"{all_cells['result']} tested cells, both statistics"
    print(f"{cells}: {all_cells['seconds']:.2f} s, {all_cells['peak_mb']} MB")
    print(f"\n{'reference':<10}{'':<6}{'reach n':>9}{'seconds':>9}{'MB':>6}{'n in 10 s':>11}")
    rows = []
    for name, reference in REFERENCES.items():
        for statistic in STATISTICS:
            n = reach(reference, statistic)
            measured = fresh(collapsed, reference, n, statistic)
            if measured is None:
                raise SystemExit(f"{name} {statistic} n = {n} took too long")
            seconds, peak_mb = measured["seconds"], measured["peak_mb"]
            ten = within_ten_seconds(reference, statistic, n)
            print(f"{name:<10}{statistic:<6}{n:>9}{seconds:>9.2f}{peak_mb:>6}{ten:>11}", flush=True)
            rows.append(
                {
                    "reference": name,
                    "statistic": statistic,
                    "reach": n,
                    "reach_seconds": seconds,
                    "reach_peak_mb": peak_mb,
                    "ten_seconds_n": ten,
                }
            )
    result = {
        "board_chi2_n32_seconds": one["seconds"],
        "tested_cells": all_cells["result"],
        "tested_cells_both_statistics_seconds": all_cells["seconds"],
        "tested_cells_both_statistics_peak_mb": all_cells["peak_mb"],
        "reach": rows,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    (ROOT / "benchmarks" / "bench_exact.json").write_text(json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
