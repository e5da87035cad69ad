"""A year of downtime: the time until a real daemon is ready, and its memory."""

import sqlite3
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

from bench.daemons.daemon import end, memory, processor_seconds, wait_for
from bench.daemons.krond import COMMAND, Krond
from bench.disk import disk_folder
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_KROND = "krond"
_JOBS = 100
_ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata")
_YEAR = timedelta(days=365)
_LONGEST = 100.0


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Start on a ledger that is a year old, once with one schedule and once with a hundred."""
    found = Measurement()
    found.facts["version"] = Krond().version()
    same = ['schedule = "* * * * *"'] * _JOBS
    distinct = [
        f'schedule = "* * * * *"\ntimezone = "{_ZONES[each % len(_ZONES)]}"\nwindow = "after,{each}s"'
        for each in range(_JOBS)
    ]
    for name, schedules in (("same", same), ("distinct", distinct)):
        with disk_folder() as folder:
            _recover(found, name, folder, schedules)
    return found


def _recover(found: Measurement, name: str, folder: Path, schedules: list[str]) -> None:
    jobs = [f'[jobs.j{each}]\n{text}\ndeadline = "9000h"\ncommand = ["true"]' for each, text in enumerate(schedules)]
    (folder / "jobs.toml").write_text("\n".join(jobs) + "\n", "utf-8")
    process, _ = _ready(folder)
    end(process)
    _age(folder / "state" / "ledger.db")
    process, seconds = _ready(folder)
    try:
        found.figures[f"{name} ready"] = seconds
        found.figures[f"{name} processor"] = processor_seconds(process.pid)
        if not wait_for(lambda: (folder / "said").read_bytes().count(b'"PeriodExecuted"') >= _JOBS, _LONGEST):
            raise RuntimeError("not every job has run")
        found.figures[f"{name} memory"] = memory(process.pid)
    finally:
        end(process)


def _ready(folder: Path) -> tuple["subprocess.Popen[bytes]", float]:
    said, begun, word = folder / "said", monotonic(), b'"KrondReady"'
    command = [COMMAND, "run", "--config", str(folder / "jobs.toml"), "--state", str(folder / "state")]
    with said.open("wb") as errors:
        process = subprocess.Popen(command, stderr=errors)
    wait_for(lambda: process.poll() is not None or word in said.read_bytes(), _LONGEST)
    if process.poll() is not None or word not in said.read_bytes():
        end(process)
        raise RuntimeError(f"it was not ready in time: {said.read_text('utf-8', 'replace').strip()[-200:]}")
    return process, monotonic() - begun


def _age(ledger: Path) -> None:
    """Make a ledger a year older: nothing was handled since."""
    then = f"{(datetime.now(UTC) - _YEAR).isoformat(timespec='microseconds')[:26]}Z"  # noqa: TID251  # the real one
    connection = sqlite3.connect(ledger)
    with connection:
        connection.execute("DELETE FROM entry")
        connection.execute("UPDATE job SET served = ?, declared_at = ?, newest = ''", (then, then))
    connection.close()


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = {
        "start to ready s": "same ready", "processor s": "same processor", "memory MiB": "same memory",
        "distinct: start to ready s": "distinct ready", "processor s ": "distinct processor",
        "memory MiB ": "distinct memory",
    }  # fmt: skip
    rows = [cell.row(figures.values()) for cell in cells.measured()]
    notes = (
        f'{_JOBS} jobs that run each minute, with deadline = "9000h": of the 525,600 periods of each job one runs, the',
        "others are closed as one range; distinct: each job has a window of its own, and they are in five time zones",
    )
    return [Table(f"{_JOBS} jobs after a year of downtime", ("daemon", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises of a start after a long time."""
    cell = cells[_KROND]
    texts = {"same ready": "one schedule", "distinct ready": "a schedule each"}
    return [
        Promise(
            f"from start to ready after a year of downtime, {_JOBS} jobs a minute, {text}",
            cell.get(name),
            5,
            " s",
            at_most=True,
            spread=cell.spread(name),
        )
        for name, text in texts.items()
    ]


SUITE = Suite("daemon-recovery", (_KROND,), measure, tables, promises, most_repeats={_KROND: 3}, seconds_allowed=300.0)
