"""A host of jobs on virtual time that dies at one append to its ledger, restarts and is judged."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from enum import Enum
from pathlib import Path

from kron.adapters.sqlite.job_check import check_ledger
from kron.adapters.sqlite.job_history import SqliteJobHistory
from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.decision.seed import period_id
from kron.engine.ledger import HistoryQuery, JobBatch
from kron.engine.ports import Refusal, RunListener
from kron.engine.runs import JobRun, RunResult
from kron.instant import Instant
from kron.rules.job_record import RunHandle
from kron.rules.job_spec import JobSpec
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceHeader
from kron.trace.job_recorder import JobRecorder
from tests.engine.jobs.restartable_host import MINUTE, NOON, SECOND, RestartableHost, Runner, work
from tests.faults.judge import judge
from tests.faults.recording_jobs import RecordingJob, Word

LASTS = {"slow": 100 * SECOND, "long": 200 * SECOND, "many": 150 * SECOND, "fails": 5 * SECOND}  # others: no time
WORKS = (
    work("* * * * *", "slow", deadline="3m"),
    work("* * * * * @win(after,4m)", "wide", deadline="1m"),
    work("* * * * * @win(after,59s)", "long", concurrency="replace", deadline="10m"),
    work("* * * * *", "many", concurrency="allow"),
    work("* * * * * @win(after,59s)", "fails", retries=2, retry_delay=7 * SECOND, deadline="5m"),
)
HELD, GONE = work("* * * * * @win(after,59s)", "held"), work("*/2 * * * *", "gone")
EDITED = work("* * * * * @win(after,2m) @seed(stable,salt=x)", "edited")
BEFORE = (*WORKS, HELD, GONE, work("* * * * *", "edited"))
AFTER = (*WORKS, HELD, EDITED, work("* * * * *", "new"))
RECORDING_JOBS = (
    RecordingJob("slow"), RecordingJob("fails"), RecordingJob("held"), RecordingJob("wide", minutes=4),
    RecordingJob("long", policy="concurrency = 'replace'"), RecordingJob("many", policy="concurrency = 'allow'"),
)  # fmt: skip
_OF_A_FAILING_DISK = ("LedgerAppendFailed", "LedgerRecovered")


class When(Enum):
    """On which side of durability a host dies."""

    BEFORE = "before it is durable"
    AFTER = "after it is durable"


class CrashingLedger:
    """A ledger in a file; the append at which its host dies does not return."""

    def __init__(self, path: Path, death: int, when: When) -> None:
        self._inner, self._left, self._when = SqliteJobLedger(path), death, when
        self.open, self.load, self.close, self.handled = (
            self._inner.open, self._inner.load, self._inner.close, self._inner.handled,
        )  # fmt: skip
        self.died = asyncio.Event()

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember, or die."""
        self._left -= 1
        refused: Sequence[Refusal] = ()
        if self._left or self._when is When.AFTER:
            refused = await self._inner.append(batch)
        if not self._left:
            self.died.set()
            await asyncio.get_running_loop().create_future()
        return refused


class SurvivingRunner(Runner):
    """A runner whose processes survive the host, and record when they begin and end."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock)
        self._listener: RunListener[JobRun] | None = None
        self._own: set[str] = set()  # runs that the present host has started
        self.alive: dict[str, JobRun] = {}
        self.said: list[Word] = []

    async def reattach(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> Collection[str]:
        """Report to another host the ends of those that are there."""
        self._listener = listener
        self.alive |= {run.run_id: run for run in runs if run.run_id in self.alive}
        return list(self.alive)

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        """Begin them."""
        self._listener = listener
        for run in runs:
            self.alive[run.run_id] = run
            self._own.add(run.run_id)
            self._say("begin", run)
            listener.on_started(run, RunHandle(run.run_id, 1000 + len(self.said), 7))
            self._tasks.add(asyncio.ensure_future(self._live(run)))

    async def _live(self, run: JobRun) -> None:
        name = run.work.name
        await self._clock.sleep(LASTS.get(name, timedelta()))
        self._finish(run, RunResult(exit_code=int(name == "fails")))

    def _finish(self, run: JobRun, result: RunResult) -> None:
        if (known := self.alive.pop(run.run_id, None)) is not None:  # another host may know it as another object
            self._say("end", run)
            if self._listener is not None:
                self._listener.on_ended(known, result if run.run_id in self._own else RunResult())

    def _say(self, what: str, run: JobRun) -> None:
        attempt = run.attempt
        period = "-" if attempt.nominal is None else period_id(attempt.nominal)
        self.said.append(Word(what, attempt.run_id, run.work.name, str(attempt.attempt), period))

    def stop(self, run: JobRun) -> None:
        """End one."""
        self._finish(run, RunResult(signal="SIGTERM"))

    def detach(self) -> None:
        """Their host is gone."""
        self._listener = None
        self._own.clear()


class HostLives:
    """Consecutive hosts of the same jobs on the same file."""

    def __init__(self, folder: Path, death: int = 0, when: When = When.BEFORE, pause: timedelta = timedelta()) -> None:
        """`death`: the number of the append, 0 for none; `pause`: until it is back."""
        self._path, self._pause = folder / "ledger.db", pause
        self._ledger = CrashingLedger(self._path, death, when)
        self._host = RestartableHost(NOON - MINUTE, self._ledger)
        self._machine = self._host.runner = SurvivingRunner(self._host.clock)
        self._works: Sequence[JobSpec] = BEFORE
        self._checkers: list[Checker] = []
        self.has_died = False
        self.disturb: Callable[[], object] = lambda: None  # for a minute of it
        self.mend: Callable[[], object] = lambda: None

    async def run(self) -> list[str]:
        """Run all lives, and return what is wrong."""
        host, advance = self._host, self._host.clock.advance
        await self._live_again(timedelta())
        await self._do(lambda: advance(150 * SECOND))
        await self._do(lambda: host.suspend("held"))
        self.disturb()
        await self._do(lambda: advance(60 * SECOND))
        self.mend()
        await self._do(lambda: host.trigger("many"))
        await self._do(lambda: advance(45 * SECOND))
        self._works = AFTER
        await self._do(lambda: host.declare(*self._works))
        await self._do(lambda: advance(100 * SECOND))
        await self._do(lambda: host.resume("held"))
        await self._do(lambda: advance(130 * SECOND))
        await self._live_again(7 * MINUTE)
        await self._do(lambda: host.resume("held"))  # if the host died of it before
        await self._do(lambda: advance(200 * SECOND))
        ended = host.clock.now()
        while await self._do(lambda: asyncio.gather(host.stop(), advance(5 * MINUTE))):
            pass  # it died of stopping, and is back
        return self._judge(ended)

    async def _do(self, act: Callable[[], Awaitable[object]]) -> bool:
        """Let something happen; return whether the host died of it, and is back."""
        acting, dying = asyncio.ensure_future(act()), asyncio.ensure_future(self._ledger.died.wait())
        await asyncio.wait({acting, dying}, return_when=asyncio.FIRST_COMPLETED)
        died = self._ledger.died.is_set()
        for task in (acting, dying):
            if died or task is dying:
                task.cancel()
        await asyncio.gather(dying, return_exceptions=True)
        if not died:
            await acting
            return False
        await asyncio.gather(acting, return_exceptions=True)
        self.has_died = True
        self._ledger.died.clear()
        await self._live_again(self._pause)
        return True

    async def _live_again(self, pause: timedelta) -> None:
        """Come back after a while, and find what is there."""
        host = self._host
        await host.crash(pause)
        slack = host.planner.slack
        self._checkers.append(Checker(TraceHeader("kron", slack=slack // timedelta(milliseconds=1))))
        recorder = JobRecorder(host.clock.now, self._checkers[-1].read, slack)
        host.observers[:] = [recorder, host]
        recorder.on_declared()
        await self._do(lambda: host.begin(*self._works))

    def _judge(self, ended: Instant) -> list[str]:
        rows = [row.to_dict() for row in SqliteJobHistory(self._path).rows(HistoryQuery(limit=None))]
        complaints = [str(finding) for finding in check_ledger(self._path)]
        complaints += [f"{run_id} was left behind" for run_id in self._machine.alive]
        complaints += [f"it said {each}" for each in self._host.events if each.name not in _OF_A_FAILING_DISK]
        complaints += [f"the ledger refused {each.error}" for each in self._host.refused]
        complaints += judge(rows, self._machine.said, RECORDING_JOBS, (NOON - MINUTE, ended))
        for checker in self._checkers:
            report = checker.report()
            if report.verdict is TruthValue.VIOLATED:
                complaints.append(str(report))
        return complaints
