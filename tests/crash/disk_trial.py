"""A process in which the file system fails at step 1, 2, 3, … of a scenario, until one passes without a fault.

    python -m tests.crash.disk_trial sqlite|libc FAULT UNDERTAKING FOLDER

It prints a report for each step, as JSON. On virtual time; what is called is the library's, down to the system.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Coroutine
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from kron import KronError, Scheduler
from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.rules.contract import DECLARATIVE
from kron.rules.events import Event
from kron.testing import VirtualClock
from tests.crash.disk import Disk, Fault
from tests.crash.judge import Life, judge
from tests.crash.kill_point import KillingLedger, KillPoint
from tests.crash.ledger_contents import LedgerContents, ledger_contents
from tests.crash.libc_disk import LibcDisk
from tests.crash.life import registrations
from tests.crash.lives import BEGINNING
from tests.crash.sqlite_disk import SqliteDisk
from tests.crash.trace import Trace, TraceLine

_SECOND = timedelta(seconds=1)
_WORK = 95 * _SECOND  # of schedules, each task among them
_OUTAGE = 130 * _SECOND  # long enough for the longest back-off
_STOP = timedelta(minutes=10)  # enough for every run that a stop waits for

ErrorText = dict[str, str]


class Trial:
    """One undertaking on one file; each of its lives has a scheduler of its own."""

    def __init__(self, disk: Disk, fault: Fault, step: int, folder: Path) -> None:
        self._disk, self._fault, self._step = disk, fault, step
        self.clock = VirtualClock(BEGINNING)
        self.ledger = folder / "ledger"
        self.lives: list[Life] = []
        self._lines: list[TraceLine] = []
        self._trace = Trace(lambda line: self._lines.append(json.loads(line)), self.clock.now)
        self._before = LedgerContents()
        self.scheduler = self._new_scheduler()

    def _new_scheduler(self) -> Scheduler:
        def record_event(event: Event) -> None:
            self._trace.write("event", name=event.name, fields=dict(event.fields))

        ledger = KillingLedger(SqliteTaskLedger(self.ledger), self._trace, KillPoint(None, 0))
        return Scheduler(ledger=ledger, contract=DECLARATIVE, clock=self.clock, sink=record_event, timezone="UTC")

    def arm(self, *, for_good: bool) -> None:
        """Let the step fail."""
        self._disk.arm(self._step, self._fault, for_good=for_good)

    def repair(self) -> None:
        """Stop injecting faults."""
        self._disk.repair()

    async def initialize(self, *, without: str | None = None) -> ErrorText | None:
        """Declare the tasks; return the error, if any."""
        tasks = registrations(self.clock, self._trace, KillPoint(None, 0))
        try:
            await self.scheduler.initialize([task for task in tasks if task.name != without])
        except Exception as error:
            return _error_text(error)
        self._trace.write("ready")
        return None

    async def stop(self, *, settled: bool) -> ErrorText | None:
        """Stop; return the error, if any. `settled`: everything owed must have been run by now."""
        self._trace.write("stopping", settled=settled)
        stopping = asyncio.ensure_future(self.scheduler.stop())
        await self.clock.advance(_STOP)
        assert stopping.done(), "stop returns"
        error = stopping.exception()
        self._trace.write("stopped", is_clean=error is None)
        return None if error is None else _error_text(error)

    def end_life(self) -> LedgerContents:
        """Note what is left of the file; what follows is another life, of the same scheduler."""
        self.repair()
        after = ledger_contents(self.ledger)
        self.lives.append(Life(self._before, list(self._lines), after, is_prompt=False))
        self._lines.clear()
        self._before = after
        return after

    def report(self, **facts: object) -> dict[str, object]:
        """Return what can be said about the trial."""
        lines = [dict(line) for life in self.lives for line in life.lines]
        complaints = judge(self.lives, DECLARATIVE)
        failed = list(self._disk.failed)
        return {"step": self._step, "failed": failed, "complaints": complaints, "lines": lines, **facts}


async def first_start(trial: Trial) -> dict[str, object]:
    """A ledger is made on a disk that fails; then again on one that does not."""
    return await _start(trial, LedgerContents(), without=None)


async def second_start(trial: Trial) -> dict[str, object]:
    """A list with one task less is declared to a ledger that remembers; then again."""
    await trial.initialize()
    await trial.clock.advance(_WORK)
    await trial.stop(settled=True)
    return await _start(trial, trial.end_life(), without="broken")


async def _start(trial: Trial, before: LedgerContents, *, without: str | None) -> dict[str, object]:
    """Declare to a disk that fails; report whether the file then says what it said before, or all of what is new."""
    trial.arm(for_good=True)
    refused = await trial.initialize(without=without)
    left = trial.end_life() if refused else before
    again = await trial.initialize(without=without) if refused else None
    stopped = await trial.stop(settled=False)
    whole = trial.end_life()
    found = "before" if left == before else "after" if left.records.keys() == whole.records.keys() else "half"
    return trial.report(refused=refused, found=found, again=again, stopped=stopped)


async def one_failure(trial: Trial) -> dict[str, object]:
    """One step of a running scheduler fails, and all others go well."""
    await trial.initialize()
    trial.arm(for_good=False)
    await trial.clock.advance(_WORK)
    stopped = await trial.stop(settled=True)
    trial.end_life()
    return trial.report(stopped=stopped)


async def outage(trial: Trial) -> dict[str, object]:
    """From one step on all of a running scheduler fail, until the disk is repaired."""
    await trial.initialize()
    trial.arm(for_good=True)
    await trial.clock.advance(_OUTAGE)
    trial.repair()
    await trial.clock.advance(_WORK)
    stopped = await trial.stop(settled=True)
    trial.end_life()
    return trial.report(stopped=stopped)


async def stop_during_an_outage(trial: Trial) -> dict[str, object]:
    """The disk is not repaired before the scheduler is stopped; another one then takes over."""
    await trial.initialize()
    trial.arm(for_good=True)
    await trial.clock.advance(_WORK)
    stopped = await trial.stop(settled=False)
    trial.end_life()
    again = await trial.initialize()
    await trial.clock.advance(_WORK)
    stopped_again = await trial.stop(settled=True)
    trial.end_life()
    return trial.report(stopped=stopped, again=again, stopped_again=stopped_again)


Undertaking = Callable[[Trial], Coroutine[Any, Any, dict[str, object]]]
UNDERTAKINGS: dict[str, Undertaking] = {
    function.__name__: function for function in (first_start, second_start, one_failure, outage, stop_during_an_outage)
}


def _error_text(error: BaseException) -> ErrorText:
    return {"name": type(error).__name__, "text": str(error), "is_ours": str(isinstance(error, KronError))}


def _try(layer: str, fault: Fault, undertaking: Undertaking, folder: Path) -> None:
    disk: Disk = SqliteDisk() if layer == "sqlite" else LibcDisk(folder)
    for step in count(1):
        folder.mkdir()
        report = asyncio.run(undertaking(Trial(disk, fault, step, folder)))
        shutil.rmtree(folder)
        print(json.dumps(report), flush=True)
        if not report["failed"]:
            return


if __name__ == "__main__":
    _try(sys.argv[1], Fault(sys.argv[2]), UNDERTAKINGS[sys.argv[3]], Path(sys.argv[4]))
