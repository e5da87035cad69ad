"""Engine: the only loop in Kron that waits for time.

A step: settle what ended, plan what is due (pure, `now` read once), append all records of the step to the ledger in one
transaction, and only then start and tell. Remember first, then do.
"""

from asyncio import CancelledError, Lock, Task, create_task
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from kron.engine.agenda import Agenda, Entry
from kron.engine.collector import collector_paused
from kron.engine.declaration import Declared, declare, place
from kron.engine.emitter import Emitter, report_death
from kron.engine.ports import Batch, Clock, Ledger, Run, Runner
from kron.engine.reporting import lateness, tell_declaration, tell_ends
from kron.engine.step import Step
from kron.engine.timeouts import Timeouts
from kron.engine.wake import Wake
from kron.engine.watch import Watch
from kron.errors import RunTimeoutError
from kron.instant import SECOND, ZERO, Instant, format_duration, format_instant
from kron.rules import registration
from kron.rules.contract import Contract
from kron.rules.obligation import Obligation
from kron.rules.record import TaskRecord
from kron.rules.telling import error_text, tell_start

_CHUNK = 1_000  # due tasks taken up by one step: the first of a hundred thousand starts at once, the loop is never held
_LONGEST_BACK_OFF = 60.0  # seconds between two tries to write a ledger that fails; the first comes after one
_LAST_TRIES = 3  # to record the last ends, one after the other: a stop does not wait for a better day
_TASKS_PER_LAG = 10_000  # the promised lag grows with the number of tasks
_MINUTE = timedelta(minutes=1)


class Ports(NamedTuple):
    """The world as the engine sees it."""

    clock: Clock
    ledger: Ledger
    runner: Runner
    emitter: Emitter


class Limits(NamedTuple):
    """What a host may add to the contract; None: no limit."""

    concurrent_runs: int | None = None
    run_timeout: timedelta | None = None


class Engine:
    """One life of a scheduler: from taking possession of a ledger until nothing runs any more."""

    def __init__(self, ports: Ports, contract: Contract, me: str, limits: Limits) -> None:
        self._clock, self._ledger, self._runner, self._emitter = ports
        self._contract, self._me, self._limits = contract, me, limits
        self._agenda = Agenda()
        self._entries: dict[str, Entry] = {}
        self._stored: Mapping[str, TaskRecord] | None = None
        self._running: dict[str, Run] = {}
        self._ended: list[Run] = []  # ends that the ledger does not know yet
        self._withdrawn: list[TaskRecord] = []  # starts that were recorded and then forbidden by a stop
        self._timeouts = Timeouts(limits.run_timeout)
        self._wake = Wake()
        self._turn = Lock()  # a step and a declaration never interleave
        self._watch = Watch(self._clock)
        self._loop: Task[None] | None = None
        self._hushed = False
        self._armed_at: Instant | None = None
        self._failures, self._last_tries = 0, _LAST_TRIES
        self._failure: Exception | None = None

    # --- declaring ----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession of the ledger and load what it remembers."""
        with self._clock.working():
            await self._ledger.open()
            self._stored = await self._ledger.load()

    async def declare(self, tasks: Sequence[registration.Task]) -> Declared:
        """Replace the declared tasks.

        All or nothing: if the ledger refuses, its error is raised and everything is as before.
        """
        async with self._turn:
            now = self._clock.now()
            found = self._stored or {}
            stored = found or {name: entry.record for name, entry in self._entries.items()}
            with collector_paused():
                made = declare(tasks, stored, self._entries, self._running, (self._contract, now, self._me))
            if made.batch:
                with self._clock.working():
                    await self._ledger.append(made.batch)
            was_polling = bool(self._entries)
            self._entries, self._stored, self._agenda = made.entries, None, Agenda()
            with collector_paused():
                owing = {name for name, entry in made.entries.items() if place(self._agenda, entry, now, self._me)}
            tell_declaration(self._emitter, made, self._contract, owing)
            if was_polling != bool(made.entries):
                self._emitter.tell("PollingStarted" if made.entries else "PollingStopped")
            self._wake.set()
            return Declared(len(tasks) - len(made.skipped), len(made.skipped), now, found)

    # --- the life of the loop -----------------------------------------------------------------------------------------

    def arm(self) -> None:
        """Begin to start runs, from the next turn of the event loop on."""
        self._armed_at = self._clock.now()
        self._watch.expect(self._armed_at)
        self._loop = create_task(self._run(), name="kron engine")
        self._loop.add_done_callback(report_death)

    def look(self) -> None:
        """Tell what has become of the time: whoever is about to ask for something may have stood still, too."""
        self._emitter.emit(self._watch.read(self._clock.now(), is_awake=False))

    def hush(self) -> None:
        """Start nothing any more, from this very moment on."""
        self.look()
        self._hushed = True
        self._wake.set()

    async def drain(self) -> Exception | None:
        """Wait until nothing runs, close the ledger, and return what could not be recorded, if anything."""
        self.hush()
        if self._entries:
            self._emitter.tell("PollingStopRequested")
        if self._loop is not None:
            await self._loop
        if self._ended:
            self._emitter.tell("EndsLost", tasks=[run.name for run in self._ended])
        if self._entries:
            self._emitter.tell("PollingStopped")
        try:
            with self._clock.working():
                await self._ledger.close()
        except Exception as error:
            self._failure = self._failure or error
        return self._failure

    async def abandon(self) -> None:
        """End as a crash does: nothing more is recorded, told or waited for."""
        self.hush()
        self._runner.abandon()
        if self._loop is not None:
            self._loop.cancel()
            with suppress(CancelledError):
                await self._loop
        await self._ledger.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            async with self._turn:
                written = await self._step()
            if self._hushed and not self._running and self._is_done(written=written):
                return
            if written is None:
                await self._back_off()
            else:
                await self._wait(others_had_a_turn=written)

    def _is_done(self, *, written: bool | None) -> bool:
        """Whether a stop that waits for no run may end: all is recorded, or was tried often enough."""
        if written is None:
            self._last_tries -= 1
            return self._last_tries <= 0
        return not (self._ended or self._withdrawn)

    async def _wait(self, *, others_had_a_turn: bool) -> None:
        deadline = self._deadline()
        if others_had_a_turn and deadline is not None and deadline <= self._clock.now():
            return  # there is more to do; what was started runs while the next records are written
        self._watch.expect(deadline)
        await self._clock.wait_until(deadline, self._wake)

    def _deadline(self) -> Instant | None:
        """Return when the next step is due at the latest."""
        poll = self._contract.poll_interval if self._entries else None
        deadline = self._agenda.next_instant() if self._room() else None
        for wait in (self._clock.longest_wait, poll, self._timeouts.left(self._clock.monotonic())):
            if wait is not None:
                latest = self._clock.now() + wait
                deadline = latest if deadline is None or latest < deadline else deadline
        return deadline

    def _room(self) -> int:
        """Return how many runs may begin in one step."""
        if self._hushed:
            return 0
        most = self._limits.concurrent_runs
        return _CHUNK if most is None else min(_CHUNK, most - len(self._running))

    async def _back_off(self) -> None:
        """Wait before the ledger is tried again, longer each time; a stop that waits for nothing else ends it."""
        until = self._clock.monotonic() + _back_off(self._failures)  # to the microsecond: no clock shows less
        while (left := SECOND * (until - self._clock.monotonic())) > ZERO and not (self._hushed and not self._running):
            await self._clock.wait_until(self._clock.now() + left, self._wake)
            self._wake.clear()

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self) -> bool | None:
        """Take one step; return whether anything was written, None if the ledger failed."""
        now = self._clock.now()
        self._emitter.emit(self._watch.read(now))
        step = Step(now, self._agenda, self._contract, self._me)
        if self._hushed or not self._entries or not self._emitter.takes("PollStarted"):
            return await self._act(step)
        time, begun = format_instant(now), self._clock.monotonic()
        self._emitter.tell("PollStarted", pollTime=time, scheduledTaskCount=len(self._entries))
        written = await self._act(step)
        counts = {"tasksEvaluated": step.evaluated, "tasksExecuted": 0 if written is None else len(step.owed)}
        self._emitter.tell("PollCompleted", pollTime=time, **counts, duration=self._clock.monotonic() - begun)
        return written

    async def _act(self, step: Step) -> bool | None:
        self._terminate_overdue()
        ended, self._ended = self._ended, []
        withdrawn, self._withdrawn = self._withdrawn, []
        with collector_paused():
            step.settle(ended, self._entries)
            step.plan(self._agenda.take(step.now, self._room()))
        if is_news := bool(batch := Batch((), withdrawn + step.settled, step.begun, step.runs)):
            try:
                with self._clock.working():
                    await self._ledger.append(batch)
            except Exception as error:
                step.undo()
                self._ended, self._withdrawn = ended + self._ended, withdrawn + self._withdrawn
                self._failures, self._failure = self._failures + 1, error
                seconds = _back_off(self._failures)
                self._emitter.tell("LedgerAppendFailed", error=error_text(error), retryInSeconds=seconds)
                return None
            self._note_success(batch)
        # A crash here: the starts are recorded and have not happened. The contract says whether they are owed again.
        tell_ends(self._emitter, step)
        if not step.begun:
            return is_news
        if not self._hushed:
            with collector_paused():
                self._start(step)
        else:  # a stop came meanwhile: without this an orphan would be invented
            self._withdrawn += step.withdraw()
            self._wake.set()
        return is_news

    def _note_success(self, batch: Batch) -> None:
        if self._failures:
            self._failures, self._failure = 0, None
            self._emitter.tell("LedgerRecovered", records=len(batch.records) + len(batch.begun))

    def _start(self, step: Step) -> None:
        now, monotonic = step.now, self._clock.monotonic()
        telling, lag = self._emitter.takes("TaskRunStarted"), self._lag()
        self._emitter.note_starts([record.name for record in step.begun], now)
        for entry, before, owed in step.starts:
            name = before.name
            run = self._running[name] = Run(name, entry.callback, owed.scheduled, now, monotonic)
            self._timeouts.watch(run)
            if now - owed.scheduled > lag:
                self._report_delay(before, owed, now, lag)
            if telling:
                self._emitter.emit(tell_start(name, owed, entry.record, now))
            self._runner.start(run, self._on_end)

    def _report_delay(self, before: TaskRecord, owed: Obligation, now: Instant, lag: timedelta) -> None:
        if (late := lateness(before, owed, now, self._armed_at)) > lag:
            times = {"scheduledTime": format_instant(owed.scheduled), "lateness": late / SECOND}
            self._emitter.tell("StartDelayed", taskName=before.name, **times)

    def _lag(self) -> timedelta:
        """Return how late a start may be before it is reported."""
        return (self._contract.start_lag or _MINUTE) * max(1, len(self._entries) / _TASKS_PER_LAG)

    def _on_end(self, run: Run, error: BaseException | None) -> None:
        if self._running.get(run.name) is run:
            del self._running[run.name]
        if run.timed_out:
            limit = format_duration(self._limits.run_timeout or ZERO)
            error = RunTimeoutError(limit=limit) if error is None or isinstance(error, CancelledError) else error
        run.error, run.ended = error, self._clock.now()
        run.seconds = self._clock.monotonic() - run.started_monotonic
        self._ended.append(run)
        self._wake.set()

    def _terminate_overdue(self) -> None:
        for run in self._timeouts.overdue(self._clock.monotonic()):
            if self._running.get(run.name) is run:
                run.timed_out = True
                self._runner.terminate(run)


def _back_off(failures: int) -> float:
    """Return how many seconds to wait after so many failures in a row."""
    return min(_LONGEST_BACK_OFF, 2.0 ** min(failures - 1, 10))
