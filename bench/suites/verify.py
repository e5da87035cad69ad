"""Positions of a trace that the checker judges in a second, and its memory for them."""

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from time import perf_counter
from typing import Any

from bench.plot import log_log
from bench.probe import resident_bytes
from bench.results import Cells
from bench.rows import peer_of, row_of, size_of
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
_KRON, _READING, _LIMIT = "kron-checker", "kron-reading", "limit-loop"
_ROWS = (
    *(row_of(_KRON, size) for size in _SIZES),
    row_of(_READING, 100_000),
    row_of(_LIMIT, 1_000_000),
)
_TASKS, _BLOCK, _MINUTE = 100, 20, 60_000  # tasks that run every minute; minutes that are made ready at a time
_ADDED = 3  # positions a run: its Due is added by the checker


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Judge, or only read, so many positions."""
    found = Measurement(facts={"version": version("kron-scheduler") if peer.startswith("kron") else ""})
    name, size = peer_of(peer), size_of(peer)
    if name == _KRON:
        found.figures |= _judge(size)
    elif name == _READING:
        found.figures["per s"] = _read(size)
    else:
        found.figures["per s"] = _loop(size)
    return found


def _judge(size: int) -> dict[str, float]:
    trace, checker = import_module("kron.theory.trace_format"), import_module("kron.theory.checker")
    judge = checker.Checker(trace.TraceHeader("declarative", "UTC"))
    seconds, before = 0.0, 0
    for number_of_block, positions in enumerate(_blocks(size, trace.TraceEvent)):
        start = perf_counter()
        for position in positions:
            judge.read(position)
        seconds += perf_counter() - start
        if number_of_block == 1:  # by now a block is made while the last one is still there, as for the rest
            before = resident_bytes()
    report = judge.report()
    if report.verdict.value != "holds" or report.positions < size * 0.9:
        raise AssertionError(f"{report.verdict.value} after {report.positions} positions, not {size}")
    return {"per s": report.positions / seconds, "grown": max(0.0, resident_bytes() - before)}


def _blocks(size: int, position: Any) -> Iterator[list[Any]]:
    """Yield positions of a sound trace, some minutes at a time, until there are so many, added ones included."""
    names = [f"task-{number:03}" for number in range(_TASKS)]
    listed = [{"name": name, "cron": "* * * * *", "retryDelayMs": 300_000} for name in names]
    calls: list[Any] = [
        position(0, "InitStart", {"call": 1, "registrations": listed}),
        position(5, "InitSuccess", {"call": 1}),
    ]
    done = minute = 0
    while done < size:
        block, calls = calls, []
        for at in range(minute * _MINUTE, (minute + _BLOCK) * _MINUTE, _MINUTE):
            block += [position(at + 10, "RunStart", {"task": name}) for name in names]
            block += [position(at + 20, "RunSuccess", {"task": name}) for name in names]
            done += _ADDED * _TASKS
            if done >= size:
                break
        minute += _BLOCK
        yield block


def _read(size: int) -> float:
    """Read the lines of a trace, as `kron verify` does."""
    trace = import_module("kron.theory.trace_format")
    header = trace.write_header(trace.TraceHeader("declarative", "UTC"))
    lines = [
        header,
        *(trace.write_event(each) for block in _blocks(size, trace.TraceEvent) for each in block),
    ]
    start = perf_counter()
    count = sum(1 for _ in trace.read_trace(lines, ("declarative",))[1])
    return count / (perf_counter() - start)


def _loop(size: int) -> float:
    """Parse the least that could be called a position, and look up whom it is about: nothing is judged."""
    lines = [
        json.dumps({"t": each, "event": "RunStart", "task": f"task-{each % _TASKS:03}"}) for each in range(size // 10)
    ]
    positions = [json.loads(line) for line in lines] * 10
    running: dict[str, int] = {}
    start = perf_counter()
    for position in positions:
        running[position["task"]] = running.get(position["task"], 0) + 1
    return len(positions) / (perf_counter() - start)


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    rows = [
        (
            peer_of(cell.peer),
            cell.fact("version") or MISSING,
            f"{size_of(cell.peer):,}",
            number(cell.get("per s")),
            number(cell.get("grown")),
        )
        for cell in cells.measured()
    ]
    notes = (
        "100 tasks that run every minute; all properties of the declarative contract; positions ready in memory",
        "Dues, which the checker adds, are counted; reading is that of JSON lines with every field checked",
        "grown: bytes of memory at the end more than after the first 10,000 positions",
        "limit-loop: a dictionary counts the starts of each task; nothing is judged",
        "no other scheduler has such a checker, so there is no peer",
    )
    header = ("what", "version", "positions", "positions per s", "grown")
    return [Table("Judging a trace", header, rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about judging."""
    largest = [row_of(_KRON, size) for size in _SIZES if cells[row_of(_KRON, size)].get("per s")]
    if not largest:
        return []
    rate = cells[largest[-1]]
    text = f"positions judged in a second, all declarative properties, 100 tasks, {size_of(largest[-1]):,} positions"
    grown = f"memory grown from the 10,000th to the last of {size_of(largest[-1]):,} positions"
    limit = cells[row_of(_LIMIT, 1_000_000)].get("per s")
    return [
        Promise(text, rate.get("per s"), 200_000, "/s", limit=limit),
        Promise(grown, rate.get("grown"), 1_000_000, " bytes", at_most=True),
    ]


def plot(cells: Cells) -> str:
    """Return the time and the memory by the length of the trace."""
    seconds, memory = [], []
    for size in _SIZES:
        cell = cells[row_of(_KRON, size)]
        rate, grown = cell.get("per s"), cell.get("grown")
        if rate is not None and grown is not None:
            seconds.append((float(size), size / rate))
            memory.append((float(size), max(1.0, grown / 1024)))
    series = {"seconds": seconds, "KiB grown": memory}
    return log_log("Judging a trace: time grows with it, memory does not", "positions", "seconds, KiB", series)


SUITE = Suite(
    "verify",
    _ROWS,
    measure,
    tables,
    promises,
    plot=plot,
    seconds_allowed=300.0,
    most_repeats={row_of(_KRON, 10_000_000): 1},
)
