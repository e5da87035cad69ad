"""Time and memory for a forecast of the load of job files."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from multiprocessing import get_context
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

from bench.disk import disk_folder
from bench.results import Cells
from bench.rows import peer_of, row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_WEEK, _YEAR, _LIMIT, _PEER = "kron-week", "kron-year", "limit-week", "cronsim-week"
_ROWS = (row_of(_WEEK, 10_000), row_of(_YEAR, 1000), row_of(_LIMIT, 10_000), row_of(_PEER, 10_000))
_START = datetime(2026, 3, 1, tzinfo=UTC)
_HOURS = 7 * 24
_TEXTS = {
    row_of(_WEEK, 10_000): "forecast of 10,000 jobs that run once an hour, over 7 days",
    row_of(_YEAR, 1000): "forecast of 1,000 daily jobs in Europe/Paris, over a year",
}
_BOUNDS = {row_of(_WEEK, 10_000): 60.0, row_of(_YEAR, 1000): 30.0}
_MEMORY = 500.0  # MiB


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Forecast, or do the least that could be called one."""
    name, size = peer_of(peer), size_of(peer)
    if name in (_WEEK, _YEAR):
        return _forecast(name, size)
    if name == _PEER:
        return Measurement(_timed(lambda: _walk(size)), {"version": version("cronsim")})
    return Measurement(_timed(lambda: _bare(size)))


def _forecast(name: str, size: int) -> Measurement:
    """Run the command as people do, with a page and JSON."""
    hourly = "{minute} * * * * @win(after,50m) name=job-{number} command=true"
    daily = "{minute} {hour} * * * @tz(Europe/Paris) @win(after,3h) name=job-{number} command=true"
    line, length = (hourly, "7d") if name == _WEEK else (daily, "365d")
    with disk_folder() as folder:
        jobs = folder / "jobs.kron"
        lines = (line.format(minute=each % 60, hour=each % 24, number=each) for each in range(size))
        jobs.write_text("\n".join(lines), "utf-8")
        span = ("--from", "2026-03-01T00:00:00Z", "--to", length)
        command = [sys.executable, "-m", "kron", "forecast", str(jobs), *span, "--json", "--html", f"{jobs}.html"]
        start = perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = perf_counter() - start
    # The largest process, as often as there are any: more than all together have, because they share most of it.
    processes = len(os.sched_getaffinity(0)) + 1
    memory = getrusage(RUSAGE_CHILDREN).ru_maxrss / 1024 * processes
    runs = float(json.loads(done.stdout)["runs"])
    return Measurement({"seconds": seconds, "runs": runs, "MiB": memory}, {"version": version("kron-scheduler")})


def _timed(count: Callable[[], int]) -> dict[str, float]:
    start = perf_counter()
    runs = count()
    return {"seconds": perf_counter() - start, "runs": float(runs)}


def _walk(size: int) -> int:
    """Find the nominal times of all jobs with cronsim, and count them by second; nothing is spread."""
    make, end = import_module("cronsim").CronSim, _START + timedelta(hours=_HOURS)
    counts: Counter[datetime] = Counter()
    for each in range(size):
        for nominal in make(f"{each % 60} * * * *", _START):
            if nominal > end:
                break
            counts[nominal] += 1
    return counts.total()


def _bare(size: int) -> int:
    """Draw a second for each hour of each job on all cores, and count them: no schedule, no zone, no who."""
    workers = len(os.sched_getaffinity(0))
    with get_context("fork").Pool(workers) as pool:
        return sum(pool.map(_bare_part, [range(first, size, workers) for first in range(workers)]))


def _bare_part(jobs: range) -> int:
    counts: Counter[int] = Counter()
    for each in jobs:
        for hour in range(_HOURS):
            seed = sha256(f"job-{each}\n2026-03-01T{hour:02}:00:00Z\n".encode()).digest()
            state = int.from_bytes(seed[:8], "big") + 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
            counts[hour * 3600 + (state >> 11) * 3001 // 2**53] += 1
    return counts.total()


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = ("runs", "seconds", "MiB")
    rows = [cell.row(figures) for cell in cells.measured()]
    notes = (
        "kron: the command with --json and --html, from the start of the process to its end",
        "MiB: the largest of its processes, times how many there are",
        "cronsim-week: nominal times alone, found and counted by second on one core; nothing is spread",
        "limit-week: a hash and a second for each run, on all cores; no schedules, no zones, no names",
    )
    return [Table("Forecast", ("what", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about forecasts."""
    limit = cells[row_of(_LIMIT, 10_000)].get("seconds")
    found = []
    for row, text in _TEXTS.items():
        least = limit if peer_of(row) == _WEEK else None
        found.append(Promise(text, cells[row].get("seconds"), _BOUNDS[row], " s", at_most=True, limit=least))
        found.append(Promise(f"{text}: memory", cells[row].get("MiB"), _MEMORY, " MiB", at_most=True))
    return found


SUITE = Suite("forecast", _ROWS, measure, tables, promises, seconds_allowed=300.0)
