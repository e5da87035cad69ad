"""1,000 processes at once: their rate and the last one's start, beside a bare loop of os.posix_spawn."""

import asyncio
import os
import pwd
from importlib.metadata import version
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.disk import disk_folder
from bench.probe import pause
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_OWN, _USER, _DISCARD = "kron-processes", "kron-processes-user", "kron-processes-discard"
_PEERS = (_OWN, _USER, _DISCARD)
_UNPRIVILEGED = "nobody"
_PROCESSES, _ROUNDS = 1000, 6
_PROGRAM = "/bin/true"
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
_LOOK = 0.05  # seconds
_NOTES = {
    _OWN: "output captured in two files each, as is the default",
    _USER: f"the same, as the user {_UNPRIVILEGED}",
    _DISCARD: "output discarded",
}


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Start the processes by the runner and by a bare loop in turn, so that a slow second of the machine hits both."""
    if peer == _USER:
        pwd.getpwnam(_UNPRIVILEGED)
        if os.geteuid() != 0:
            raise PermissionError("only root may become another user")
    with disk_folder() as folder:
        return asyncio.run(_measure(peer, folder))


async def _measure(peer: str, folder: Path) -> Measurement:
    # Here, so that the runner of all benchmarks needs nothing but the standard library.
    from kron.adapters.process.runner import ProcessRunner
    from kron.adapters.process.spawner_client import ProcessExit, SpawnRequest
    from kron.jobfile.host_job import Command
    from kron.rules.job_record import RunHandle

    moments: dict[str, float] = {}
    left = {"started": 0, "ended": 0}
    over = asyncio.Event()

    def heard(what: str, values: list[RunHandle] | list[ProcessExit]) -> None:
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
    user = _UNPRIVILEGED if peer == _USER else ""
    command = Command((_PROGRAM,), user=user, stdout=where, stderr=where)
    runner.prepare(user, "", 2 * _PROCESSES)  # as the daemon does

    async def rested() -> None:
        """Wait until the files of the last round are gone, and those of the next one are made: some two seconds."""
        while runner.collector.is_busy or runner.spools.lacks(0 if peer == _DISCARD else 2 * _PROCESSES):
            await pause(_LOOK)

    await rested()
    numbers = count()
    rows: list[tuple[float, float, float, float, float]] = []
    for turn in range(1 + _ROUNDS):
        starts = [SpawnRequest(f"r{next(numbers)}", command) for _ in range(_PROCESSES if turn else 1)]
        left.update(started=len(starts), ended=len(starts))
        over.clear()
        bare = _bare(len(starts)) if turn % 2 else None
        alike = _bare(len(starts), folder)
        begun = perf_counter()
        runner.start_many(starts)
        await over.wait()
        started, ended = moments["started"] - begun, moments["ended"] - begun
        bare = bare or _bare(len(starts))
        await rested()
        if turn:  # the first makes the spawner, and warms the program's file
            rows.append((started, ended, *bare, alike[0]))
    await runner.close()
    found = Measurement()
    found.facts["version"] = version("kron-scheduler")
    found.figures["per s"] = median(_PROCESSES / started for started, *_ in rows)
    found.figures["bare per s"] = median(_PROCESSES / spawned for _, _, spawned, *_ in rows)
    found.figures["share"] = median(spawned / started for started, _, spawned, *_ in rows) * 100
    found.figures["share alike"] = median(alike / started for started, *_, alike in rows) * 100
    found.figures["alike share"] = median(spawned / alike for _, _, spawned, _, alike in rows) * 100
    found.figures["last ms"] = median(started for started, *_ in rows) * 1e3
    found.figures["last x bare"] = median(started / spawned for started, _, spawned, *_ in rows)
    found.figures["ended x bare"] = median(ended / reaped for _, ended, _, reaped, _ in rows)
    return found


def _bare(processes: int, folder: Path | None = None) -> tuple[float, float]:
    """Return the seconds until the last process has started, and until the last has been reaped.

    With a folder each has a session of its own, and writes to two files in it, as a job does.
    """
    begun, alive = perf_counter(), 0
    environment = {"PATH": "/usr/bin:/bin"}
    actions = []
    if folder is not None:
        files = [(os.POSIX_SPAWN_OPEN, 1 + n, str(folder / f"bare{n}"), _APPEND, 0o600) for n in range(2)]
        actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0), *files]
    for _ in range(processes):
        os.posix_spawn(_PROGRAM, (_PROGRAM,), environment, setsid=folder is not None, file_actions=actions)
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
        "% of bare with session and files": "share alike", "last start ms": "last ms",
        "last x bare": "last x bare", "last end x bare": "ended x bare",
    }  # fmt: skip
    rows = [cell.row(figures.values()) for cell in cells.measured()]
    notes = (
        f"{_PROCESSES:,} times {_PROGRAM} at once, {_ROUNDS} times a process, in turn with a loop of os.posix_spawn",
        "that reaps as it goes; a start counts when the host has heard of it; medians of neighbouring rounds",
        *(f"{peer}: {note}" for peer, note in _NOTES.items()),
    )
    return [Table(f"{_PROCESSES:,} processes at once", ("runner", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises about starting processes; the limit is a bare loop with sessions and files."""
    made = []
    for peer, as_whom in ((_OWN, ""), (_USER, ", as another user")):
        cell = cells[peer]
        share = f"process starts, share of the bare os.posix_spawn rate{as_whom}"
        last = f"last of {_PROCESSES:,} processes at once, beside a bare os.posix_spawn loop{as_whom}"
        made += [
            Promise(share, cell.get("share"), 85, " %", spread=cell.spread("share"), limit=cell.get("alike share")),
            Promise(last, cell.get("last x bare"), 1.5, "x", at_most=True, spread=cell.spread("last x bare")),
        ]
    return made


SUITE = Suite("processes", _PEERS, measure, tables, promises, most_repeats=dict.fromkeys(_PEERS, 3))
