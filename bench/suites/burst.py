"""Time from the instant at which all tasks are due to the first and the last start."""

import asyncio
import gc
from math import ceil
from pathlib import Path
from time import perf_counter, time

from bench.disk import disk_folder
from bench.plot import log_log
from bench.probe import LoopProbe, pause
from bench.results import Cells
from bench.rows import peer_of, row_of, size_of
from bench.schedulers import load_scheduler
from bench.schedulers.scheduler import Due
from bench.starts import STARTS
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number
from bench.tasks import due_together

_K, _M = 1000, 1_000_000
_KRON, _LIMIT = "kron-sqlite", "limit-ledger"
_SIZES = {
    _KRON: (_K, 10 * _K, 100 * _K, _M),
    "kron-memory": (_K, 10 * _K, 100 * _K, _M),
    "apscheduler3": (_K, 10 * _K, 100 * _K),
    "apscheduler3-sqlite": (_K,),
    "apscheduler4": (_K, 10 * _K, 100 * _K),
    "apscheduler4-sqlite": (_K,),
    "aiocron": (_K, 10 * _K, 100 * _K),
    "schedule": (_K, 10 * _K, 100 * _K),
    "limit-heap": (_K, 10 * _K, 100 * _K, _M),
    "limit-timers": (_K, 10 * _K, 100 * _K),
    _LIMIT: (_K, 10 * _K, 100 * _K, _M),
}
_SLOW = ("apscheduler3", "apscheduler4", "aiocron")  # at 100,000, a minute each
_ALL_SIZES = _SIZES[_KRON]
_ROWS = tuple(row_of(peer, size) for size in _ALL_SIZES for peer, sizes in _SIZES.items() if size in sizes)
_PATIENCE = (1, 4)  # times the usual time before the due instant; the second if registration was slower than ever seen
_SETTLED = 0.25  # seconds after the last start in which none may follow


class TooLateError(Exception):
    """The due instant came before registration was over."""


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Register the tasks of a row in good time before they are due, and watch them start."""
    for patience in _PATIENCE:
        try:
            with disk_folder() as folder:
                return asyncio.run(_burst(peer_of(peer), size_of(peer), patience, folder))
        except TooLateError as error:
            late = error
    raise late


async def _burst(peer: str, size: int, patience: int, folder: Path) -> Measurement:
    scheduler, found = load_scheduler(peer), Measurement()
    found.facts["version"] = scheduler.version()
    await scheduler.open(folder)
    due = Due(ceil(time() + 2 + patience * size * scheduler.seconds_per_task))
    tasks = due_together(size, scheduler.wall(due))
    STARTS.expect(size)
    gc.collect()
    start = perf_counter()
    await scheduler.register(tasks, due)
    found.figures["register"] = perf_counter() - start
    if time() > due.at - 0.5:
        raise TooLateError(f"registered {time() - due.at:.1f} s after the due instant")
    probe = LoopProbe()
    await scheduler.begin()
    await STARTS.all_begun()
    await pause(_SETTLED)
    held, times = probe.end(), STARTS.times
    if len(times) != size or min(times) < due.at - 0.001:
        raise AssertionError(
            f"{len(times)} of {size} starts, the first {min(times) - due.at:.4f} s after the due instant"
        )
    if not scheduler.blocks:
        found.figures["held"] = held * 1e3
    first, last = min(times) - due.at, max(times) - due.at
    found.figures |= {"first": first, "last": last, "per s": size / last, "us each": last / size * 1e6}
    start = perf_counter()
    await scheduler.close()
    found.figures["close"] = perf_counter() - start
    return found


def tables(cells: Cells) -> list[Table]:
    """Return a table for each number of tasks, the fastest first, and one of growth."""
    found = []
    for size in _ALL_SIZES:
        measured = [cell for cell in cells.measured() if size_of(cell.peer) == size]
        rows = [
            (
                peer_of(cell.peer),
                cell.fact("version") or MISSING,
                number(cell.get("register")),
                number(cell.get("first")),
                number(cell.get("last")),
                number(cell.get("per s")),
                number(cells.ratio((cell.peer, "last"), (row_of(_KRON, size), "last"))),
                number(cell.get("held")),
                str(len(cell.counted)),
            )
            for cell in sorted(measured, key=lambda cell: cell.get("last") or 0.0)
        ]
        header = (
            "scheduler",
            "version",
            "register s",
            "first start s",
            "last start s",
            "starts per s",
            f"last x {_KRON}",
            "loop held ms",
            "processes",
        )
        found.append(Table(f"{size:,} tasks due in the same minute", header, rows))
    return [*found, _growth(cells)]


def _growth(cells: Cells) -> Table:
    """Return what each task adds to the last start: the same at each size if growth is linear."""
    rows = []
    for peer, sizes in _SIZES.items():
        figures = [cells[row_of(peer, size)].get("us each") for size in _ALL_SIZES]
        if len(sizes) > 1 and any(figures):
            rows.append((peer, *(number(figure) for figure in figures)))
    header = ("microseconds a task, till the last start", *(f"{size:,}" for size in _ALL_SIZES))
    notes = (
        "seconds are those from the due instant, by the real clock, to the first line of a callback; every task recurs",
        "kron-sqlite, limit-ledger and the rows named sqlite have their files on the disk; all others forget",
        (
            "kron: its clock is the real one plus a constant, chosen in advance so that a minute begins soon after "
            "registration; there is no leap in it. The others have seconds in their expressions, and the real clock"
        ),
        (
            "loop held: the longest time by which a call that is asked for every 5 ms came late, from the end of "
            "registration to a quarter of a second after the last start; schedule has no event loop"
        ),
        (
            "limit-heap: a heap, a task of asyncio each, and nothing else; limit-timers: a timer of the loop each; "
            "limit-ledger: the heap, and 1,000 starts a durable commit before they start, in a thread"
        ),
    )
    return Table("Growth", header, rows, notes)


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about bursts on its SQLite ledger."""

    def promise(text: str, size: int, figure: str, bound: float, unit: str) -> Promise:
        cell = cells[row_of(_KRON, size)]
        limit = cells[row_of(_LIMIT, size)].get(figure)
        text = f"burst of {size:,} tasks, SQLite: {text}"
        return Promise(text, cell.get(figure), bound, unit, at_most=True, spread=cell.spread(figure), limit=limit)

    return [
        promise("first start after the boundary", 100 * _K, "first", 0.2, " s"),
        promise("last start after the boundary", 100 * _K, "last", 4, " s"),
        promise("event loop held", 100 * _K, "held", 100, " ms"),
        promise("last start after the boundary", _M, "last", 45, " s"),
    ]


def plot(cells: Cells) -> str:
    """Return the image of growth."""
    series = {}
    for peer, sizes in _SIZES.items():
        lasts = [(float(size), cells[row_of(peer, size)].get("last")) for size in sizes]
        points = [(size, last) for size, last in lasts if last is not None]
        if len(points) > 1:
            series[peer] = points
    title = "All tasks due in the same minute: when the last one starts (dotted: linear growth)"
    return log_log(title, "tasks", "seconds after the boundary", series)


def _most_repeats(row: str) -> int:
    peer, size = peer_of(row), size_of(row)
    if size == _M or (size == 100 * _K and peer in _SLOW) or peer == "apscheduler4-sqlite":
        return 1
    return 3 if size < 100 * _K or peer.startswith("kron") else 2


SUITE = Suite(
    "burst",
    _ROWS,
    measure,
    tables,
    promises,
    most_repeats={row: _most_repeats(row) for row in _ROWS},
    seconds_allowed=400,
    plot=plot,
)
