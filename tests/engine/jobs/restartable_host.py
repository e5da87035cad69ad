"""RestartableHost: a host of jobs on a virtual clock, with a ledger, a scripted runner and a log of what happened."""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from kron.adapters.virtual_clock import VirtualClock
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.engine.clock_watch import ClockReading
from kron.engine.emitter import Emitter, Observers
from kron.engine.jobs.control import Recover, unfinished_runs
from kron.engine.jobs.declaration import JobDeclaration, JobsApplied, jobs_needing_history
from kron.engine.jobs.job_engine import JobEngine
from kron.engine.jobs.preparation import Basis, PreparedJob, prepare_in_parts, still_valid
from kron.engine.jobs.step import JobStep
from kron.engine.ledger import JobBatch, JobLedger, JobSnapshot, PendingRetry
from kron.engine.ports import Refusal, RunListener, RunObserver
from kron.engine.runs import JobRun, RunResult
from kron.errors import LedgerWriteError
from kron.instant import Instant
from kron.rules.effort import finish
from kron.rules.events import Event
from kron.rules.job_record import JobRecord, PeriodRecord, RunEnd, RunHandle, RunStart, UnfinishedRun
from kron.rules.job_spec import JobSpec
from kron.rules.periods import HandledPeriods
from kron.rules.policy import Policy

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def work(line: str = "0 * * * *", name: str = "a", **more: Any) -> JobSpec:
    """Return a job that is written like a schedule line."""
    policy: dict[str, object] = {key: more.pop(key) for key in ("concurrency", "deadline", "suspend") if key in more}
    timing = None if line == "@reboot" else Timing.parse(line, identity=name)
    made = Policy.from_dict(policy)
    fields = {
        "timing": None if timing is None else timing.to_dict(),
        "policy": made.to_dict(),
        "command": more.pop("command", ""),
    }
    return JobSpec(name, name, timing, made, json.dumps(fields), **more)


class Ledger:
    """A ledger in memory that outlives the host, and refuses a second outcome of a period."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobRecord] = {}
        self.definitions: dict[str, str] = {}
        self.closed: list[PeriodRecord] = []
        self.runs: dict[str, RunStart] = {}
        self.processes: dict[str, RunHandle] = {}
        self.ends: dict[str, RunEnd] = {}
        self.failures = 0
        self.together: list[int] = []  # how many runs each batch began that began any

    async def open(self) -> None: ...

    async def load(self) -> JobSnapshot:
        unfinished = [
            UnfinishedRun(run, self.processes.get(name)) for name, run in self.runs.items() if name not in self.ends
        ]
        tried = {(run.identity, run.nominal, run.attempt) for run in self.runs.values()}
        retries = [
            PendingRetry(run, end.retry_at)
            for name, run in self.runs.items()
            if (end := self.ends.get(name)) is not None
            and end.retry_at is not None
            and (run.identity, run.nominal, run.attempt + 1) not in tried
        ]
        return JobSnapshot(dict(self.jobs), dict(self.definitions), unfinished=unfinished, retries=retries)

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
        if self.failures:
            self.failures -= 1
            raise LedgerWriteError(path="test", reason="no space")
        for record in batch.closed:
            assert not any(self._is_handled(record.identity, at) for at in (record.first, record.last)), record
        for attempt in batch.begun:
            if attempt.nominal is not None and attempt.attempt == 1:
                assert not self._is_handled(attempt.identity, attempt.nominal), attempt
        self.together += [len(batch.begun)] if batch.begun else []
        self.definitions |= batch.definitions
        self.jobs |= {record.identity: record for record in batch.jobs}
        self.closed += batch.closed
        self.runs |= {attempt.run_id: attempt for attempt in batch.begun}
        self.processes |= {process.run_id: process for process in batch.processes}
        self.ends |= {end.run_id: end for end in batch.ended}
        for run_id in batch.given_up:
            if run_id in self.ends:
                self.ends[run_id] = self.ends[run_id]._replace(retry_at=None)
        return ()

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant]]:
        return {
            identity: frozenset(last for _, last in self._spans(identity) if last > at)
            for identity, at in since.items()
        }

    def _spans(self, identity: str) -> list[tuple[Instant, Instant]]:
        closed = [(each.first, each.last) for each in self.closed if each.identity == identity]
        runs = [each.nominal for each in self.runs.values() if each.identity == identity and each.nominal is not None]
        return closed + [(nominal, nominal) for nominal in runs]

    def _is_handled(self, identity: str, nominal: Instant) -> bool:
        return HandledPeriods(tuple(self._spans(identity))).has(nominal)

    async def close(self) -> None: ...


class Runner:
    """A runner whose runs end when the test ends them, or after `lasts`."""

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.running: dict[str, tuple[JobRun, RunListener[JobRun]]] = {}
        self.terminated: list[str] = []
        self.lasts: timedelta | None = timedelta()
        self.is_hasty = False  # whether runs end before anything else happens
        self.obeys_sigterm = True  # SIGTERM
        self.catching_up = timedelta()  # what that takes
        self.codes: list[int] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._until: dict[str, Instant] = {}  # when runs end that last for a while

    def start(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> None:
        for run in runs:
            self.running[run.run_id] = (run, listener)
            listener.on_started(run, RunHandle(run.run_id, 1000 + len(self.running), 7))
            if self.is_hasty:
                self.end(run.run_id)
            elif self.lasts is not None:
                self._until[run.run_id] = self._clock.now() + self.lasts
                task = asyncio.ensure_future(self._run(run.run_id, self.lasts))
                self._tasks.add(task)

    async def _run(self, run_id: str, lasts: timedelta) -> None:
        await self._clock.sleep(lasts)
        self._end(run_id)

    def _end(self, run_id: str) -> None:
        if run_id in self.running:
            self.end(run_id, RunResult(exit_code=self.codes.pop(0) if self.codes else 0))

    def end(self, run_id: str, result: RunResult = RunResult(exit_code=0)) -> None:  # noqa: B008  # a value
        if run_id in self.running:
            run, listener = self.running.pop(run_id)
            listener.on_ended(run, result)

    def stop(self, run: JobRun) -> None:
        self.terminated.append(run.run_id)
        if self.obeys_sigterm:
            self.end(run.run_id, RunResult(signal="SIGTERM"))

    async def reattach(self, runs: Sequence[JobRun], listener: RunListener[JobRun]) -> Collection[str]:
        self.running |= {run.run_id: (run, listener) for run in runs if run.run_id in self.running}
        return list(self.running)

    async def catch_up(self, *, stood_still: bool) -> None:  # noqa: ARG002  # its ends are there or are not
        self._clock.delay(self.catching_up)
        for run_id in [each for each in self.running if each in self._until]:
            if self._until[run_id] <= self._clock.now():
                self._end(run_id)

    def detach(self) -> None:
        self.running.clear()


class RestartableHost(RunObserver[JobRun]):
    """A host that crashes and starts again on its ledger; `log` lists what happened, in order."""

    def __init__(self, start: Instant = NOON - MINUTE, store: JobLedger | None = None, **host: Any) -> None:
        self.clock = VirtualClock(start)
        self.ledger = Ledger()
        self.store: JobLedger = self.ledger if store is None else store
        self.runner = Runner(self.clock)
        self.log: list[str] = []
        self.observers: list[RunObserver[JobRun]] = [self]
        self.on_held: Callable[[str, bool], object] = lambda _identity, _suspended: None
        self.given_up: list[str] = []
        self.events: list[Event] = []
        self.refused: list[Refusal] = []
        self.options, self._lives = host, 0
        self._start_engine()

    def _start_engine(self) -> None:
        self._lives += 1
        emitter, observers = Emitter(self.events.append), Observers(self.observers, failed=self._on_failed)
        given = {"slack": 30 * SECOND, "boot_id": "boot", **self.options}
        self.jobs = JobEngine(self.clock, self.store, self.runner, emitter, observers, f"life{self._lives}", **given)
        self.planner, self.runs, self.engine = self.jobs.planner, self.jobs._runs, self.jobs._engine

    def use_runner(self, runner: Runner) -> None:
        """Use another runner; call it before the first start."""
        self.runner = runner
        self._start_engine()

    def use_ledger(self, ledger: Ledger) -> None:
        """Use another ledger; call it before the first start."""
        self.store = self.ledger = ledger
        self._start_engine()

    async def begin(self, *works: JobSpec, alive: Sequence[str] = (), spares_absent: bool = False) -> JobsApplied:
        await self.engine.open()
        declared = await self.declare(*works, spares_absent=spares_absent)
        await self.recover(alive)
        self.engine.arm()
        await self.clock.advance(timedelta())
        return declared

    async def recover(self, alive: Sequence[str] = ()) -> None:
        unfinished = unfinished_runs(self.planner)
        found = await self.runner.reattach(unfinished, self.runs)
        left = await self.engine.apply(partial(Recover, self.planner, unfinished, {*alive, *found}))
        self.runs.adopt(left, self.clock.now())

    async def declare(
        self,
        *works: JobSpec,
        prepared: Mapping[str, PreparedJob] = MappingProxyType({}),
        spares_absent: bool = False,
    ) -> JobsApplied:
        valid = dict(still_valid(self.planner, prepared, self.clock.now()))
        return await self.engine.apply_after(
            lambda now: self.store.handled(jobs_needing_history(self.planner, works, now, valid)),
            lambda handled, now: JobDeclaration(self.planner, works, now, handled, valid, spares_absent=spares_absent),
        )

    async def prepare(self, *works: JobSpec) -> Mapping[str, PreparedJob]:
        now = self.clock.now()
        asked = jobs_needing_history(self.planner, works, now)
        bases = {identity: Basis.of(self.planner, identity) for identity in asked}
        return finish(prepare_in_parts(self.planner, works, now, await self.store.handled(asked), bases=bases))

    async def crash(self, down: timedelta = timedelta()) -> None:
        await self.engine.crash()
        await self.clock.advance(down)
        self._start_engine()

    async def stop(self) -> None:
        await self.engine.drain()
        self._start_engine()

    def next_wake(self) -> Instant | None:
        """Return when the engine takes the next step, None: when there is news."""
        now = self.clock.now()
        times = self.planner.next_wake(now, self.runs.free_slots(), is_draining=False), self.runs.next_timeout(now)
        return min((at for at in times if at is not None), default=None)

    def plan(self, *, jump: float = 0.0) -> JobStep:
        """Plan a step by hand; the engine does nothing."""
        reading = ClockReading(self.clock.now(), jump=jump)
        return self.planner.step(reading, self.runs.take_news(), self.runs.free_slots(), is_draining=False)

    def carry_out(self, step: JobStep) -> None:
        """Carry out a step, as if it were recorded."""
        for run, why in step.stops:
            self.runs.stop(run, why)
        self.runs.start(step.starts)
        step.commit()
        step.report(Observers(self.observers), written=True, monotonic=0.0)

    async def suspend(self, *names: str, until: Instant | None = None) -> None:
        await self.jobs.suspend(names, until)

    async def resume(self, *names: str) -> None:
        await self.jobs.resume(names)

    async def trigger(self, name: str) -> str:
        return await self.jobs.trigger(name)

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        many = "" if record.period_count == 1 else f" x{record.period_count}"
        assert last.nominal_time == record.last
        self._add(work.name, record.last, f"{record.outcome.value}: {record.reason}{many}")

    def on_started(self, runs: Sequence[JobRun]) -> None:
        for run in runs:
            attempt = run.attempt
            what = (
                "executed"
                if run.decision is not None
                else attempt.kind.value
                if attempt.nominal is None
                else f"attempt {attempt.attempt}"
            )
            self._add(attempt.identity, attempt.nominal, what)

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        for run, end in ended:
            if end.result.value != "succeeded":
                self._add(run.attempt.identity, run.attempt.nominal, end.result.value)

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        self.on_held(identity, suspended)

    def on_retry_dropped(self, run_id: str) -> None:
        self.given_up.append(run_id)

    def on_refused(self, refusal: Refusal) -> None:
        self.refused.append(refusal)

    def _on_failed(self, error: BaseException) -> None:
        raise error

    def _add(self, name: str, nominal: Instant | None, what: str) -> None:
        period = f" {nominal:%d %H:%M}" if nominal is not None else ""
        self.log.append(f"{self.clock.now():%H:%M:%S} {name}{period} {what}")


def lived(story: Callable[[RestartableHost], Coroutine[Any, Any, None]], **keywords: Any) -> RestartableHost:
    """Run a function on a new host, crash the host, and return it."""

    async def live() -> RestartableHost:
        host = RestartableHost(**keywords)
        await story(host)
        await host.engine.crash()
        return host

    return asyncio.run(live())


async def drained(host: RestartableHost) -> None:
    """Stop the host, and wait until all runs have ended."""
    stopping = asyncio.ensure_future(host.stop())
    await host.clock.advance(HOUR)
    await stopping
