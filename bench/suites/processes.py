"""1,000 processes at once in, their rate and the last one's start beside a bare loop of os.posix_spawn out."""

import asyncio
import os
import pwd
from importlib.metadata import version
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.disk import disk_folder
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import MISSING, Promise, Table, number

_OWN, _USER, _DISCARD = "kron-processes", "kron-processes-user", "kron-processes-discard"
_PEERS = (_OWN, _USER, _DISCARD)
_NOBODY = "nobody"
_PROCESSES, _ROUNDS = 1000, 6
_PROGRAM = "/bin/true"
_NOTES = {
    _OWN: "output captured in two files each, as is the default",
    _USER: f"the same, as the user {_NOBODY}",
    _DISCARD: "output discarded",
}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Start the processes by the runner and by a bare loop in turn, so that a slow second of the machine hits both."""
    if peer == _USER:
        pwd.getpwnam(_NOBODY)
        if os.geteuid() != 0:
            raise PermissionError("only root may become another user")
    with disk_folder() as folder:
        return asyncio.run(_measure(peer, folder))


async def _measure(peer: str, folder: Path) -> Measurement:
    # Here, so that the runner of all benchmarks needs nothing but the standard library.
    from kron.adapters.process_runner.execution import Exit, Start, Started
    from kron.adapters.process_runner.runner import ProcessRunner
    from kron.rules.command import Command

    moments: dict[str, float] = {}
    left = {"started": 0, "ended": 0}
    over = asyncio.Event()

    def heard(what: str, values: list[Started] | list[Exit]) -> None:
        left[what] -= len(values)
        if not left[what]:
            moments[what] = perf_counter()
            if what == "ended":
                over.set()

    runner = ProcessRunner(
        folder / "output",
        started=lambda values: heard("started", values),
        ended=lambda values: heard("ended", values),
    )
    await runner.open()
    where = "discard" if peer == _DISCARD else "capture"
    command = Command((_PROGRAM,), user=_NOBODY if peer == _USER else "", stdout=where, stderr=where)
    numbers = count()
    rows: list[tuple[float, float, float, float, float]] = []
    for turn in range(1 + _ROUNDS):
        starts = [Start(f"r{next(numbers)}", command) for _ in range(_PROCESSES if turn else 1)]
        left.update(started=len(starts), ended=len(starts))
        over.clear()
        bare = _bare(len(starts)) if turn % 2 else None
        session = _bare(len(starts), setsid=True)
        begun = perf_counter()
        runner.start_many(starts)
        await over.wait()
        started, ended = moments["started"] - begun, moments["ended"] - begun
        bare = bare or _bare(len(starts))
        if turn:  # the first makes the spawner, and warms the program's file
            rows.append((started, ended, *bare, session[0]))
    await runner.close()
    found = Measurement()
    found.facts["version"] = version("kron-scheduler")
    found.figures["per s"] = median(_PROCESSES / started for started, *_ in rows)
    found.figures["bare per s"] = median(_PROCESSES / spawned for _, _, spawned, *_ in rows)
    found.figures["share"] = median(spawned / started for started, _, spawned, *_ in rows) * 100
    found.figures["share of setsid"] = median(session / started for started, *_, session in rows) * 100
    found.figures["last ms"] = median(started for started, *_ in rows) * 1e3
    found.figures["last x bare"] = median(started / spawned for started, _, spawned, *_ in rows)
    found.figures["ended x bare"] = median(ended / reaped for _, ended, _, reaped, _ in rows)
    return found


def _bare(processes: int, *, setsid: bool = False) -> tuple[float, float]:
    """Return the seconds until the last process has started, and until the last has been reaped."""
    begun, alive = perf_counter(), 0
    environment = {"PATH": "/usr/bin:/bin"}
    for _ in range(processes):
        os.posix_spawn(_PROGRAM, (_PROGRAM,), environment, setsid=setsid)
        alive += 1
        while alive and os.waitpid(-1, os.WNOHANG)[0]:
            alive -= 1
    spawned = perf_counter() - begun
    for _ in range(alive):
        os.waitpid(-1, 0)
    return spawned, perf_counter() - begun


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = {
        "starts/s": "per s", "bare starts/s": "bare per s", "% of bare": "share",
        "% of bare with setsid": "share of setsid", "last start ms": "last ms",
        "last x bare": "last x bare", "last end x bare": "ended x bare",
    }  # fmt: skip
    rows = [
        (
            cell.peer,
            cell.fact("version") or MISSING,
            *(number(cell.get(figure)) for figure in figures.values()),
            str(len(cell.counted)),
        )
        for cell in cells.measured()
    ]
    notes = (
        f"{_PROCESSES:,} times {_PROGRAM} at once, {_ROUNDS} times a process, in turn with a loop of os.posix_spawn",
        "that reaps as it goes; a start counts when the host has heard of it; medians of neighbouring rounds",
        *(f"{peer}: {note}" for peer, note in _NOTES.items()),
    )
    return [Table(f"{_PROCESSES:,} processes at once", ("runner", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about starting processes."""
    own, user = cells[_OWN], cells[_USER]
    text = f"last of {_PROCESSES:,} processes at once, beside a bare os.posix_spawn loop"
    spread = own.spread("share")
    return [
        Promise("process starts, share of the bare os.posix_spawn rate", own.get("share"), 85, " %", spread=spread),
        Promise(text, own.get("last x bare"), 1.5, "x", at_most=True, spread=own.spread("last x bare")),
        Promise(
            f"{text}, as another user", user.get("last x bare"), 1.5, "x",
            at_most=True, spread=user.spread("last x bare"),
        ),
    ]  # fmt: skip


SUITE = Suite("processes", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 3))
