"""The cost of tasks that are not due: time, memory, processor."""

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time, time

from bench.disk import disk_folder
from bench.probe import pause, resident_bytes
from bench.results import Cells
from bench.rows import peer_of, row_of, size_of
from bench.schedulers import load_scheduler
from bench.schedulers.scheduler import DAY, Due
from bench.starts import STARTS
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table
from bench.tasks import SAME_EXPRESSION, not_due

_SMALL, _LARGE = 100_000, 1_000_000
_KRON, _LIMIT = "kron-sqlite", "limit-ledger"
_ROWS = (
    *(row_of(peer, _LARGE) for peer in (_KRON, _LIMIT)),
    *(row_of(peer, _SMALL) for peer in (_KRON, "kron-memory", "apscheduler3", "apscheduler4", "aiocron", _LIMIT)),
)
_SECONDS_WATCHED = {row_of(_KRON, _LARGE): 65.0, row_of(_LIMIT, _LARGE): 5.0}  # with a minute's beginning in it
_SETTLED = 1.0


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Register in one process, and again on the same file in a second, if there is such a file."""
    found = Measurement()
    name, size, watched = peer_of(peer), size_of(peer), _SECONDS_WATCHED.get(peer, 0.0)
    with disk_folder() as folder:
        first = _in_own_process(_register, name, size, watched, folder)
        found.figures |= first
        if load_scheduler(name).restarts:
            again = _in_own_process(_register, name, size, 0.0, folder)
            found.figures |= {f"restart {figure}": value for figure, value in again.items()}
            found.figures["disk bytes"] = sum(file.stat().st_size for file in folder.iterdir()) / size
    found.facts["version"] = load_scheduler(name).version()
    return found


def _in_own_process(function: Callable[..., dict[str, float]], *arguments: object) -> dict[str, float]:
    """Return what a function returns in a fresh interpreter with unused memory."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _register(name: str, size: int, watched: float, folder: Path) -> dict[str, float]:
    return asyncio.run(_registered(name, size, watched, folder))


async def _registered(name: str, size: int, watched: float, folder: Path) -> dict[str, float]:
    """Register all, look at the memory, watch the processor for a while, close."""
    scheduler = load_scheduler(name)
    await scheduler.open(folder)
    due = Due(float(int(time()) + DAY))
    tasks = not_due(size, datetime.fromtimestamp(time(), UTC))
    STARTS.expect(1)
    before = resident_bytes()
    start = perf_counter()
    await scheduler.register(tasks, due)
    found = {"register": perf_counter() - start}
    await pause(_SETTLED)
    found["bytes"] = (resident_bytes() - before) / size
    if watched:
        await scheduler.begin()
        await pause(_SETTLED)
        busy, start = process_time(), perf_counter()
        await pause(watched)
        found["processor"] = (process_time() - busy) / (perf_counter() - start) * 100
    if STARTS.times:
        raise AssertionError(f"{len(STARTS.times)} tasks were started that were not due")
    start = perf_counter()
    await scheduler.close()
    return found | {"close": perf_counter() - start}


def tables(cells: Cells) -> list[Table]:
    """Return a table for each number of tasks."""
    return [_table(cells, size) for size in (_LARGE, _SMALL)]


def _table(cells: Cells, size: int) -> Table:
    figures = {
        "register s": "register",
        "bytes a task": "bytes",
        "% of a core": "processor",
        "restart s": "restart register",
        "bytes a task after restart": "restart bytes",
        "stop s": "close",
        "disk bytes a task": "disk bytes",
    }
    measured = [cell for cell in cells.measured() if size_of(cell.peer) == size]
    rows = [(peer_of(cell.peer), *cell.row(figures.values())[1:]) for cell in measured]
    header = ("scheduler", "version", *figures, "processes")
    notes = (
        f"{size // SAME_EXPRESSION:,} expressions; bytes are those of the process beyond the user's own list",
        "restart: a second process gives the same list to the file that the first one left",
        "% of a core: processor time of the whole process over a time with the beginning of a minute in it",
        "limit-ledger: one row of SQLite and one place in a heap each, nothing parsed, nothing compared",
    )
    return Table(f"{size:,} tasks of which none is due", header, rows, notes)


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about tasks that are not due."""
    kron, limit = cells[row_of(_KRON, _LARGE)], cells[row_of(_LIMIT, _LARGE)]

    def promise(text: str, figure: str, bound: float, unit: str) -> Promise:
        text = f"with {_LARGE:,} tasks, none due: {text}"
        spread = kron.spread(figure)
        return Promise(text, kron.get(figure), bound, unit, at_most=True, spread=spread, limit=limit.get(figure))

    return [
        promise("processor", "processor", 0.5, " % of a core"),
        promise("memory a task, above the user's list", "bytes", 1024, " bytes"),
        promise("memory a task after a restart", "restart bytes", 1024, " bytes"),
        promise("registered on an empty SQLite ledger", "register", 20, " s"),
        promise("restarted on the full ledger", "restart register", 20, " s"),
    ]


SUITE = Suite(
    "idle",
    _ROWS,
    measure,
    tables,
    promises,
    most_repeats={row: 3 if peer_of(row) in (_KRON, _LIMIT) and size_of(row) == _SMALL else 1 for row in _ROWS},
    seconds_allowed=400,
)
