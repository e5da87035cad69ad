"""Durable runs per second: the start is on the disk before the callback begins."""

import asyncio
import logging
import sqlite3
from importlib import import_module
from importlib.metadata import version
from math import ceil
from pathlib import Path
from time import perf_counter, time
from typing import Any

from bench.disk import disk_folder
from bench.results import Cells
from bench.schedulers import load_scheduler
from bench.schedulers.scheduler import Due
from bench.starts import STARTS, started_plainly
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number
from bench.tasks import due_again, due_together

_KRON, _PEER, _LIMIT = "kron-sqlite", "apscheduler3-sqlite", "limit-sqlite-batch"
_MONITORED = "kron-monitored"
_TASKS, _ROUNDS = 20_000, 5
_BURSTS = {_PEER: 1000, "apscheduler4-sqlite": 200, "limit-ledger": 100_000}  # how many are due at once
_QUEUED = 2000
_SECONDS = 2.0
_NOTES = {
    _KRON: f"{_TASKS:,} tasks, {_ROUNDS} times each; from the first boundary until `stop` has returned",
    _MONITORED: "the same, judged by the theory while it runs",
    _PEER: "1,000 due at once, till the last start; its ends leave no record",
    "apscheduler4-sqlite": "200 due at once, till the last start",
    "huey-sqlite": f"{_QUEUED:,} dequeued and executed; enqueuing is not counted",
    "limit-sqlite": "two rows a run, a commit each; no scheduler",
    _LIMIT: "two rows a run, 100 runs share each commit; no scheduler",
    "limit-ledger": "100,000 due at once: heap, asyncio, 1,000 starts a commit in a thread; till the last start",
}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Measure the runs of one peer."""
    found = Measurement()
    with disk_folder() as folder:
        if peer in (_KRON, _MONITORED):
            rate = asyncio.run(_rounds(peer, folder))
        elif peer in _BURSTS:
            rate = asyncio.run(_burst(peer, folder))
        else:
            rate = _huey(folder) if peer == "huey-sqlite" else _sqlite(folder, 100 if peer == _LIMIT else 1)
    found.figures["per s"] = rate
    found.facts["version"] = _version(peer)
    return found


def _version(peer: str) -> str:
    if peer == "huey-sqlite":
        return version("huey")
    return f"SQLite {sqlite3.sqlite_version}" if peer.startswith("limit-sqlite") else load_scheduler(peer).version()


async def _rounds(peer: str, folder: Path) -> float:
    """Run all of Kron's tasks hour after hour, the wait between the hours cut out; the first does not count.

    An hour begins as soon as the last run of the one before has ended, and time counts until all is written.
    """
    scheduler = load_scheduler(peer)
    await scheduler.open(folder)
    due = Due(ceil(time()) + 60.0)
    scheduler.wall(due)
    await scheduler.register(due_again(_TASKS, scheduler.every), due)
    await scheduler.begin()
    start = 0.0
    for number_of_round in range(1 + _ROUNDS):
        STARTS.expect(_TASKS)
        start = perf_counter() if number_of_round == 1 else start
        await scheduler.boundary(due, ahead=0.0)
        await STARTS.all_begun()
    await scheduler.close()
    if len(STARTS.times) != _TASKS:
        raise AssertionError(f"{len(STARTS.times)} starts in the last round, not {_TASKS}")
    return _ROUNDS * _TASKS / (perf_counter() - start)


async def _burst(peer: str, folder: Path) -> float:
    """Run tasks that are due once, from that instant to the last start: what comes after costs the peer nothing."""
    scheduler, size = load_scheduler(peer), _BURSTS[peer]
    await scheduler.open(folder)
    due = Due(ceil(time() + 2 + size * scheduler.seconds_per_task))
    STARTS.expect(size)
    await scheduler.register(due_together(size, scheduler.wall(due)), due)
    if time() > due.at:
        raise AssertionError(f"registered {time() - due.at:.1f} s after the due instant")
    await scheduler.begin()
    await STARTS.all_begun()
    await scheduler.close()
    return size / (max(STARTS.times) - due.at)


def _huey(folder: Path) -> float:
    """Dequeue and execute what was enqueued before, in one thread, as a worker does; results are not kept."""
    logging.getLogger("huey").setLevel(logging.CRITICAL)
    queue: Any = import_module("huey").SqliteHuey("bench", filename=str(folder / "huey.db"), results=False)
    task = queue.task()(started_plainly)
    STARTS.times = STARTS.times[:0]
    for _ in range(_QUEUED):
        task()
    count, start = 0, perf_counter()
    while (message := queue.dequeue()) is not None:
        queue.execute(message)
        count += 1
    return count / (perf_counter() - start)


def _sqlite(folder: Path, batch: int) -> float:
    """Write start and end of each run, in two commits that a batch shares (WAL, FULL)."""
    database = sqlite3.connect(folder / "limit.db", isolation_level=None)
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=FULL")
    database.execute("CREATE TABLE run(id INTEGER PRIMARY KEY, state TEXT, next REAL)")
    upsert = (
        "INSERT INTO run VALUES (?, ?, ?) ON CONFLICT(id) DO UPDATE SET state = excluded.state, next = excluded.next"
    )
    count, start = 0, perf_counter()
    while perf_counter() - start < _SECONDS:
        for state in ("started", "ended"):
            database.execute("BEGIN IMMEDIATE")
            database.executemany(upsert, [((count + each) % _TASKS, state, 1.0) for each in range(batch)])
            database.execute("COMMIT")
        count += batch
    rate = count / (perf_counter() - start)
    database.close()
    return rate


def tables(cells: Cells) -> list[Table]:
    """Return one table, the fastest first."""
    rows = [
        (
            cell.peer,
            cell.fact("version") or MISSING,
            number(cell.get("per s")),
            number(cells.ratio((_KRON, "per s"), (cell.peer, "per s"))),
            _NOTES[cell.peer],
        )
        for cell in sorted(cells.measured(), key=lambda cell: -(cell.get("per s") or 0.0))
    ]
    notes = (
        "kron: its clock is the real one plus a constant that grows between two rounds, which cuts out the waiting",
        (
            "settings of SQLite are those that each comes with: kron, huey and the limits WAL and FULL, APScheduler 3 "
            "a rollback journal and FULL"
        ),
    )
    return [Table("Durable runs, SQLite", ("scheduler", "version", "runs per s", "x", "what a run is"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about durable runs."""
    kron, peer, limit = (_KRON, "per s"), (_PEER, "per s"), (_LIMIT, "per s")
    text = "durable runs, beside APScheduler 3 with its SQLAlchemy store"
    spread = cells.ratio_range(kron, peer)
    monitored = (_MONITORED, "per s")
    cost = "durable runs with the monitor on, beside those without: the cost of a run"
    return [
        Promise(text, cells.ratio(kron, peer), 50, "x", spread=spread, limit=cells.ratio(limit, peer)),
        Promise(cost, cells.ratio(kron, monitored), 1.15, "x", at_most=True, spread=cells.ratio_range(kron, monitored)),
    ]


SUITE = Suite(
    "durable",
    tuple(_NOTES),
    measure,
    tables,
    promises,
    most_repeats=dict.fromkeys(_NOTES, 3) | {_KRON: 5, _MONITORED: 5},
)
