"""Lateness of starts of a scheduler with 1,000 tasks, after each of several boundaries."""

import asyncio
from math import ceil
from pathlib import Path
from time import time

from bench.disk import disk_folder
from bench.probe import pause
from bench.results import Cells
from bench.schedulers import load_scheduler
from bench.schedulers.scheduler import Due
from bench.starts import STARTS
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number
from bench.tasks import due_again

_KRON, _LIMIT = "kron-sqlite", "limit-ledger"
_PEERS = (_KRON, "kron-memory", "apscheduler3", "apscheduler4", "aiocron", "limit-heap", _LIMIT)
_TASKS, _BOUNDARIES = 1000, 5
_PERIOD = 2.0  # seconds between two boundaries: all are over long before the next
_BEFORE = 0.4


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Let the tasks come due again and again; the first time is no part of it."""
    with disk_folder() as folder:
        return asyncio.run(_measure(peer, folder))


async def _measure(peer: str, folder: Path) -> Measurement:
    scheduler, found = load_scheduler(peer), Measurement()
    found.facts["version"] = scheduler.version()
    await scheduler.open(folder)
    due = Due(ceil(time() / _PERIOD) * _PERIOD, _PERIOD)
    scheduler.wall(due)
    await scheduler.register(due_again(_TASKS, scheduler.every), due)
    await scheduler.begin()
    await pause(_PERIOD)  # a scheduler that believes it missed a run catches up
    late: list[float] = []
    for number_of_boundary in range(1 + _BOUNDARIES):
        boundary = await scheduler.boundary(due, ahead=_BEFORE)
        STARTS.expect(_TASKS)
        await STARTS.all_begun()
        await pause(_BEFORE)
        if len(STARTS.times) != _TASKS or min(STARTS.times) < boundary - 0.001:
            raise AssertionError(f"{len(STARTS.times)} starts, from {min(STARTS.times) - boundary:.4f} s on")
        late += [at - boundary for at in STARTS.times] if number_of_boundary else []
    await scheduler.close()
    late.sort()
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        found.figures[name] = late[int(len(late) * share)] * 1e3
    found.figures |= {"first": late[0] * 1e3, "last": late[-1] * 1e3}
    return found


def tables(cells: Cells) -> list[Table]:
    """Return one table, the most punctual first."""
    figures = {"first ms": "first", "p50 ms": "p50", "p99 ms": "p99", "last ms": "last"}
    rows = [
        (
            cell.peer,
            cell.fact("version") or MISSING,
            *(number(cell.get(figure)) for figure in figures.values()),
            number(cells.ratio((cell.peer, "p99"), (_KRON, "p99"))),
            str(len(cell.counted)),
        )
        for cell in sorted(cells.measured(), key=lambda cell: cell.get("p99") or 0.0)
    ]
    notes = (
        f"{_TASKS:,} tasks at each of {_BOUNDARIES} boundaries a process; milliseconds after the boundary, real clock",
        (
            f"kron: hours begin by a clock that leaps over the wait between them, to {_BEFORE} s before the "
            f"next, and is the real one plus a constant from there on; others: every {_PERIOD:.0f} s of the real clock"
        ),
    )
    header = ("scheduler", "version", *figures, f"p99 x {_KRON}", "processes")
    return [Table(f"Start latency with {_TASKS:,} tasks a minute", header, rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about its punctuality."""
    kron, limit = cells[_KRON], cells[_LIMIT].get("p99")
    text = f"start after the boundary with {_TASKS:,} tasks a minute, SQLite, 99th percentile"
    return [Promise(text, kron.get("p99"), 50, " ms", at_most=True, spread=kron.spread("p99"), limit=limit)]


SUITE = Suite("latency", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 3))
