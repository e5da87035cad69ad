"""10,000 jobs in the files of a real daemon: check, start, reload, memory, idle load, and lateness meanwhile."""

import json
import os
import signal
import subprocess
from pathlib import Path
from time import monotonic, sleep, time

from bench.daemons.daemon import end, memory, processor_seconds, wait_for
from bench.daemons.krond import COMMAND, Krond
from bench.daemons.stamps import Stamps, stamps
from bench.disk import disk_folder
from bench.results import Cells
from bench.suite import Measurement, Suite
from bench.tables import Promise, Table

_KROND = "krond"
_JOBS = 10_000
_TICKS = 1200  # jobs that run each minute while files are reloaded: twenty in a second
_SETTLING, _IDLE = 5.0, 60.0  # seconds
_EDITED = 100  # jobs that a usual edit changes
_LONGEST = 60.0
_CALM = 10.0  # seconds of starts before a reload, to compare with


def measure(peer: str, repeat: int) -> Measurement:  # noqa: ARG001  # every repeat is the same
    """Live through a day of an operator: check, start, rest, edit, reload."""
    found = Measurement()
    found.facts["version"] = Krond().version()
    with stamps() as written, disk_folder() as folder:
        _write_idle(folder, "after")
        config = ["--config", str(folder / "jobs")]
        found.figures["check"] = _seconds([COMMAND, "check", *config])
        said, begun = folder / "said", monotonic()
        with said.open("wb") as errors:
            process = subprocess.Popen([COMMAND, "run", *config, "--state", str(folder / "state")], stderr=errors)
        try:
            if not wait_for(lambda: process.poll() is not None or b'"KrondReady"' in said.read_bytes(), _LONGEST):
                raise RuntimeError("it was not ready in time")
            found.figures["start"] = monotonic() - begun
            _rest(found, process.pid)
            _reload(found, folder, written, process.pid)
            sleep(_SETTLING)
            found.figures["memory after"] = memory(process.pid)
        finally:
            end(process)
    return found


def _write_idle(folder: Path, mode: str, *, changed: int = 0) -> None:
    """Write jobs that are not due while this runs: they come once a month, not today. Some may have changed."""
    (folder / "jobs").mkdir(exist_ok=True)
    today = int(time() // 86_400)
    lines = ["[krond]", 'timezone = "UTC"']
    for each in range(_JOBS):
        day = 1 + (today % 28 + 10 + each % 9) % 28
        lines += [f"[jobs.j{each}]", f'schedule = "{each % 60} {each // 60 % 24} {day} * *"']
        lines += [f'window = "{mode},{1 + each % 5}h{int(each < changed)}m"', f'command = ["/bin/echo", "{each}"]']
        lines += [f'description = "job {each}"']
    (folder / "jobs" / "idle.toml").write_text("\n".join(lines) + "\n", "utf-8")


def _rest(found: Measurement, pid: int) -> None:
    sleep(_SETTLING)
    found.figures["memory"] = memory(pid)
    used = processor_seconds(pid)
    sleep(_IDLE)
    found.figures["idle"] = (processor_seconds(pid) - used) / _IDLE * 100


def _reload(found: Measurement, folder: Path, written: Stamps, pid: int) -> None:
    """Add a file with jobs that run, then change some of those that do not, and then all: who runs must not notice."""
    command, ticks = " ".join(written.argv), folder / "jobs" / "ticks.toml"
    lines = [
        f'[jobs.t{each}]\nschedule = "* * * * *"\nwindow = "after,59s"\ncommand = "{command}"' for each in range(_TICKS)
    ]
    sleeper = '[jobs.sleeper]\nschedule = "0 0 1 1 *"\ncommand = ["/bin/sleep", "600"]'
    ticks.write_text("\n".join([*lines, sleeper]) + "\n", "utf-8")
    state = ["--state", str(folder / "state")]
    found.figures["reload more"] = _seconds([COMMAND, "reload", *state])
    _seconds([COMMAND, "trigger", "sleeper", *state])
    asked = subprocess.run([COMMAND, "status", "--json", *state], capture_output=True, check=True)
    active = [each["pid"] for each in json.loads(asked.stdout)["active"] if each["identity"].endswith("sleeper")]
    sleep(_CALM)
    found.figures["late before"] = _latest(written)
    _write_idle(folder, "after", changed=_EDITED)
    found.figures["reload"] = _seconds([COMMAND, "reload", *state])
    sleep(1.0)
    found.figures["late meanwhile"] = _latest(written)
    found.figures["memory meanwhile"] = memory(pid)
    _write_idle(folder, "around")
    found.figures["reload all"] = _seconds([COMMAND, "reload", *state])
    sleep(1.0)
    found.figures["late of all"] = _latest(written)
    os.kill(active[0], 0)  # or an error: it went on
    os.kill(active[0], signal.SIGKILL)


def _latest(written: Stamps) -> float:
    """Return how many milliseconds the latest start was late."""
    return max(row.begun - row.due for row in written.take() if row.due is not None) * 1e3


def _seconds(command: list[str]) -> float:
    begun = monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:3])}: {done.stderr.strip()[-200:]}")
    return monotonic() - begun


def tables(cells: Cells) -> list[Table]:
    """Return one table."""
    figures = {
        "check s": "check", "start to ready s": "start", "idle % of a core": "idle", "memory MiB": "memory",
        "more jobs: reload s": "reload more", "latest start ms": "late before", "some change: reload s": "reload",
        "latest start ms ": "late meanwhile", "memory MiB ": "memory meanwhile",
        "all change: reload s": "reload all", "latest start ms  ": "late of all",
        "memory MiB  ": "memory after",
    }  # fmt: skip
    rows = [cell.row(figures.values()) for cell in cells.measured()]
    notes = (
        f"{_JOBS:,} jobs with windows in one TOML file; all processes of krond, what they share counted once (PSS)",
        f"more jobs: a second file, with {_TICKS:,} jobs that run each minute; some change: {_EDITED} of {_JOBS:,}",
        "latest start: of the jobs that run, in ten seconds without a reload, and in those of a reload and one more",
    )
    return [Table(f"{_JOBS:,} jobs in the files", ("daemon", "version", *figures, "processes"), rows, notes)]


def promises(cells: Cells) -> list[Promise]:
    """Return what Kron promises of a host with many jobs."""
    cell = cells[_KROND]
    bounds = (
        ("check", "krond check", 3, " s"), ("start", "from start to ready", 5, " s"), ("reload", "reload", 3, " s"),
        ("idle", "processor at rest", 0.5, " %"),
        ("memory", "memory", 100, " MiB"), ("memory meanwhile", "memory after two reloads", 100, " MiB"),
        ("late meanwhile", "latest start during a reload", 100, " ms"),
    )  # fmt: skip
    return [
        Promise(f"{text}, {_JOBS:,} jobs", cell.get(name), bound, unit, at_most=True, spread=cell.spread(name))
        for name, text, bound, unit in bounds
    ]


SUITE = Suite("daemon-files", (_KROND,), measure, tables, promises, most_repeats={_KROND: 1}, seconds_allowed=300.0)
