"""Write the files in `kept/`: what krond, `kron run` and `kron simulate` leave on the disk. Takes seven minutes.

    python -m tests.golden.make_state

Run by hand, once for each version of a format: later versions must open what an earlier one wrote. Only commands are
used, in real time, so that the files are what users have; `answers.py` has what is asked of them afterwards.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from tests.golden.answers import KEPT, ask, copy_to, questions_about, write

_BIN = Path(sys.executable).parent
_TODAY = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")[datetime.now(UTC).weekday()]  # noqa: TID251  # run by hand
_JOBS = f"""
[krond]
retention = "36500d"

[jobs.tick]
schedule = "* * * * *"
window = "after,20s"
deadline = "10s"
command = ["sh", "-c", "echo out of $KRON_PERIOD_ID; echo err >&2; printf 'no newline'"]

[jobs.fails]
schedule = "* * * * *"
deadline = "10s"
retries = 1
retry_delay = "1s"
command = ["sh", "-c", "echo failing; exit 3"]

[jobs.slow]
schedule = "* * * * *"
deadline = "1h"
command = ["sleep", "90"]

[jobs.held]
schedule = "* * * * *"
deadline = "10s"
command = ["true"]

[jobs.unschedulable]
schedule = "* * * * *"
avoid = "dow={_TODAY}"
command = ["true"]

[jobs.flood]
schedule = "0 0 29 2 *"
output_limit = 4000
command = ["sh", "-c", "seq 100000"]

[jobs.long]
schedule = "0 0 29 2 *"
command = ["sh", "-c", "echo $$; exec sleep 3600"]
"""
_MODULE = """
import asyncio
from datetime import timedelta

async def succeeds():
    pass

async def fails():
    raise ValueError("on purpose")

async def hangs():
    await asyncio.sleep(3600)

tasks = [
    ("succeeds", "* * * * *", succeeds, timedelta(0)),
    ("fails", "* * * * *", fails, timedelta(minutes=5)),
    ("hangs", "* * * * *", hangs, timedelta(0)),
    ("not due", "0 0 29 2 *", succeeds, timedelta(0)),
]
"""
_SIMULATED = "0 * * * * name=hourly command=true\n*/20 * * * * @win(after,10m) name=windowed command=true\n"


class _Krond:
    """krond as a process of this script, asked by its own commands."""

    def __init__(self, folder: Path) -> None:
        self.file, self.state = folder / "krond.toml", folder / "state"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, jobs: str) -> None:
        self.file.write_text(jobs, "utf-8")
        self.file.chmod(0o644)
        command = [str(_BIN / "krond"), "run", "--config", str(self.file), "--state", str(self.state)]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while subprocess.run([_BIN / "krond", "status", "--state", self.state], capture_output=True).returncode:
            _wait(0.2)

    def ask(self, *words: str) -> str:
        command = [str(_BIN / "krond"), *words, "--state", str(self.state)]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None


def _wait(seconds: float) -> None:
    time.sleep(seconds)


def _make_state(krond: _Krond) -> None:
    """Let three kronds live: killed after three minutes, stopped after a downtime, killed with a run in flight."""
    krond.start(_JOBS)
    krond.ask("suspend", "held")
    krond.ask("trigger", "flood")
    _wait(140)
    changed = _JOBS.replace('window = "after,20s"', 'window = "after,25s"')
    krond.file.write_text(changed, "utf-8")
    krond.ask("reload")
    _wait(30)
    krond.end()
    _wait(130)  # nothing runs: the periods of this time are closed as ranges
    krond.start(changed)
    krond.ask("resume", "held")
    _wait(65)
    krond.end(signal.SIGTERM)
    krond.start(changed)
    krond.ask("trigger", "long")
    _wait(2)
    process = int(krond.ask("logs", "long"))
    krond.end()
    os.kill(process, signal.SIGKILL)
    _wait(2)


def _make_library(folder: Path) -> None:
    """Run tasks for more than two minutes, then kill the process: one task is interrupted by that."""
    (folder / "registered.py").write_text(_MODULE, "utf-8")
    options = ["--ledger", "ledger.db", "--trace", "trace.jsonl", "--timezone", "UTC"]
    process = subprocess.Popen([_BIN / "kron", "run", "registered:tasks", *options], cwd=folder)
    _wait(135)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _simulate(folder: Path, trace: Path) -> None:
    (folder / "jobs.kron").write_text(_SIMULATED, "utf-8")
    options = ["--from", "2026-03-28T00:00:00Z", "--days", "1", "--crashes", "4", "--seed", "7", "--timezone", "UTC"]
    subprocess.run([_BIN / "kron", "simulate", "jobs.kron", *options, "--trace", trace], cwd=folder, check=True)


def _copy_ledger(ledger: Path, copy: Path) -> None:
    """Copy a ledger whose owner was killed; what is still in its log is moved into the file."""
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copyfile(ledger, copy)


def _copy_state(state: Path) -> None:
    (KEPT / "state" / "output").mkdir(parents=True)
    _copy_ledger(state / "ledger.db", KEPT / "state" / "ledger.db")
    for file in (state / "output").iterdir():
        if file.is_file():
            shutil.copyfile(file, KEPT / "state" / "output" / file.name)


def main() -> None:
    """Write the files and the answers to what is asked of them."""
    if KEPT.exists():
        raise SystemExit(f"{KEPT} exists. Later versions must open it: add files of a new format beside it")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        KEPT.mkdir()
        _simulate(folder, KEPT / "simulated.jsonl")
        _make_library(folder)
        _copy_ledger(folder / "ledger.db", KEPT / "library.db")
        shutil.copyfile(folder / "trace.jsonl", KEPT / "library.jsonl")
        krond = _Krond(folder)
        try:
            _make_state(krond)
        finally:
            krond.end()
        _copy_state(krond.state)
        history = ask(copy_to(folder), "krond history --state {kept}/state --json")["out"]
    write(questions_about(history))


if __name__ == "__main__":
    main()
