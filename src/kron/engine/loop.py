"""Engine: the only loop in Kron that waits for time.

A step: settle what ended, plan what is due (pure, `now` read once), append all records of the step to the ledger in one
transaction, and only then start runs and emit events. Remember first, then do. A planner plans the step: one for the
tasks of the library, one for jobs with periods.
"""

from asyncio import Lock, Task, create_task, wait
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import Generic, TypeVar

from kron.engine.active_runs import ActiveRuns
from kron.engine.clock_watch import ClockDeviation, ClockReading, ClockWatch, Delay
from kron.engine.emitter import Emitter, Observers, log_crash
from kron.engine.planner import Change, Planner, Step, Stored
from kron.engine.ports import Clock, FailedLedger, Ledger, Refusal, RunObserver
from kron.engine.runs import AnyRun, RunNews
from kron.engine.tasks.events import failure_text
from kron.errors import LedgerWriteError
from kron.instant import SECOND, ZERO, Instant

_LONGEST_BACK_OFF = 60.0  # seconds between two tries to write a ledger that fails; the first comes after one
_SOON = 1.0  # seconds, where the ledger's place is not as it was: it may be put back any moment, and looking is cheap
_SELDOM = 60  # tries for each time that the same failure is reported again, where they are made soon
_LAST_TRIES = 3  # to record the last ends, one after the other: a stop does not wait for a better day

_Batch = TypeVar("_Batch")
_Result = TypeVar("_Result")
_Answer = TypeVar("_Answer")


class Engine(Generic[_Batch, Stored, AnyRun]):
    """One life of a scheduler: from taking the ledger until no run is active."""

    def __init__(
        self,
        clock: Clock,
        ledger: Ledger[_Batch, Stored],
        planner: Planner[_Batch, Stored, AnyRun],
        runs: ActiveRuns[AnyRun],
        emitter: Emitter,
        observers: Observers[AnyRun],
    ) -> None:
        """`runs` are its own from now on; the planner may read what is running."""
        self._clock, self._ledger, self._planner, self._runs = clock, ledger, planner, runs
        self._emitter, self._observers = emitter, observers
        self._wake = runs.wake
        self._turn = Lock()  # a step and a change never interleave
        self._watch = ClockWatch(clock)
        self._delay = Delay(clock)
        self._loop: Task[None] | None = None
        self._hushed = False
        self._failures = 0
        self._pause = 0.0  # seconds until the ledger is tried again
        self._told = ""  # of its last failure
        self._failure: Exception | None = None
        self.failed_ledger: FailedLedger | None = None  # since its last step could not be recorded; it tries again
        self._last_tries = _LAST_TRIES

    async def open(self) -> None:
        """Take possession of the ledger and load what it remembers."""
        with self._clock.busy():
            await self._ledger.open()
            self._planner.load(await self._ledger.load())

    async def apply(self, make: Callable[[Instant], Change[_Batch, _Result, AnyRun]]) -> _Result:
        """Change what is declared; `make` says how, given the present.

        If the ledger cannot be written, its error is raised and everything is as before. The change itself knows what
        follows where the ledger refuses a job.
        """
        async with self._turn:
            return await self._commit(make(self._clock.now()))

    async def apply_after(
        self,
        ask: Callable[[Instant], Awaitable[_Answer]],
        make: Callable[[_Answer, Instant], Change[_Batch, _Result, AnyRun]],
    ) -> _Result:
        """Change what is declared, given something that has to be asked for first; meanwhile nothing else changes."""
        async with self._turn:
            now = self._clock.now()
            with self._waiting():
                answer = await ask(now)
            return await self._commit(make(answer, now))

    async def _commit(self, change: Change[_Batch, _Result, AnyRun]) -> _Result:
        refused: Sequence[Refusal] = ()
        if change.batch:
            refused = await self.append(change.batch)
        result = change.commit(refused)
        # A crash here: what starts is recorded and has not started, as after a step.
        for run, why in change.stops:
            self._runs.stop(run, why)
        self._runs.start(change.starts)
        self._report_refusals(refused)
        change.report(self._observers)
        self._delay.hasten(self._clock.now())
        self._wake.set()
        return result

    async def append(self, batch: _Batch) -> Sequence[Refusal]:
        """Append a batch; outside a step and a change, one that changes nothing by itself."""
        began = self._clock.monotonic()
        try:
            with self._waiting():
                return await self._ledger.append(batch)
        finally:
            self._observers.report(RunObserver.on_append, self._clock.monotonic() - began)

    def _report_refusals(self, refused: Sequence[Refusal]) -> None:
        for refusal in refused:
            self._observers.report(RunObserver.on_refused, refusal)

    def _report_clock(self, deviation: ClockDeviation) -> None:
        """Report a clock that was set, or a loop that stood still."""
        if not deviation:
            return
        self._observers.report(RunObserver.on_clock, deviation)
        if deviation.jump:
            self._emitter.tell("ClockJumped", deviation.at, seconds=round(deviation.jump, 3))
        if deviation.stall:
            self._emitter.tell("LoopFrozen", seconds=round(deviation.stall, 3))

    def _waiting(self) -> AbstractContextManager[object]:
        """Surround a wait for the ledger; where lateness matters, it is measured."""
        return self._clock.busy() if self._planner.slack is None else self._delay.waiting()

    # --- the life of the loop -----------------------------------------------------------------------------------------

    def arm(self, since: Instant | None = None, *, on_death: Callable[[Exception], object] = log_crash) -> None:
        """Begin to start runs, from the next turn of the event loop on.

        `since` is when it could have, if another replica ran the jobs until now. `on_death` is called at once with an
        error that ends the loop, which is a bug of Kron; a stop raises it.
        """
        now = self._clock.now()
        self._planner.arm(since or now)
        self._watch.expect(now)
        self._delay.take(now)
        self._delay.plan(now)
        self._loop = create_task(self._run(), name="kron engine")
        self._loop.add_done_callback(partial(_on_done, on_death))

    @property
    def is_running(self) -> bool:
        """Whether runs are started when they are due, or at least waited for."""
        return self._loop is not None and not self._loop.done()

    @property
    def is_draining(self) -> bool:
        """Whether it was asked to start no more runs."""
        return self._hushed

    def wake_up(self) -> None:
        """Take a step soon: something was changed that decides what may start."""
        self._wake.set()

    def look(self) -> None:
        """Report freezes and leaps before a call is handled: its caller may have stood still, too.

        The next step reports a clock that was set back, because it clamps baselines by the same reading.
        """
        now = self._clock.now()
        if not self._watch.is_set_back(now):
            self._report_clock(self._watch.read(now, is_awake=False))

    def pause_starts(self) -> None:
        """Start no more runs, from this moment on."""
        self.look()
        self._hushed = True
        self._wake.set()

    async def drain(self) -> Exception | None:
        """Wait until nothing runs, close the ledger, and return what could not be recorded, if anything."""
        self.pause_starts()
        self._planner.on_draining(self._clock.now())
        self._wake.set()
        if self._loop is not None:
            await self._loop
        if lost := self._runs.take_news().ended:
            self._observers.report(RunObserver.on_lost, lost)
        self._planner.on_drained(lost)
        try:
            with self._clock.busy():
                await self._ledger.close()
        except Exception as error:
            self._failure = self._failure or error
        return self._failure

    async def crash(self) -> None:
        """End as a crash does: record nothing more, report nothing more, wait for nothing."""
        self.pause_starts()
        self._runs.detach()
        if self._loop is not None:
            self._loop.cancel()
            await wait([self._loop])  # it may have died long ago
        await self._ledger.close()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            await self._turn.acquire()  # `async with` costs twice as much, and comes with every run
            if self._planner.slack is not None:
                await self._catch_up(self._planner.slack)
            try:
                written = await self._step()
            finally:
                self._turn.release()
            if self._hushed and not self._runs.running and self._is_done(written=written):
                return
            if written is None:
                await self._back_off()
            else:
                await self._wait(others_had_a_turn=written)

    async def _catch_up(self, slack: timedelta) -> None:
        """After a delay, let the planner hear of the runs that have ended, and let changes go before the next step.

        It is called, and returns, with the turn.
        """
        caught_up = ZERO
        while not self._hushed:
            now = self._clock.now()
            self._report_clock(self._watch.read(now, is_awake=False))
            late, leap = self._delay.measure(now), SECOND * self._watch.leapt
            if late < SECOND and leap <= caught_up:
                return
            if late > slack and not self._watch.is_told:  # it came in the middle of a step
                self._report_clock(ClockDeviation(now, stall=late / SECOND, late=late / SECOND))
            caught_up = leap
            self._turn.release()
            await self._runs.catch_up(stood_still=max(late, leap) > slack)
            self._delay.catch_up(now)
            await self._turn.acquire()

    def _is_done(self, *, written: bool | None) -> bool:
        """Whether a stop that waits for no run may end: all is recorded, or was tried often enough."""
        if written is None:
            self._last_tries -= 1
            return self._last_tries <= 0
        return not (self._runs.has_news() or self._planner.has_unrecorded())

    async def _wait(self, *, others_had_a_turn: bool) -> None:
        deadline = self._deadline()
        self._delay.plan(deadline)
        if others_had_a_turn and deadline is not None and deadline <= self._clock.now():
            return  # there is more to do; what was started runs while the next records are written
        self._watch.expect(deadline)
        await self._clock.wait_until(deadline, self._wake)

    def _deadline(self) -> Instant | None:
        """Return when the next step is due at the latest."""
        now, longest = self._clock.now(), self._clock.max_sleep
        times = (
            self._planner.next_wake(now, self._runs.free_slots(), is_draining=self._hushed),
            self._runs.next_timeout(now),
            None if longest is None else now + longest,
        )
        return min((at for at in times if at is not None), default=None)

    async def _back_off(self) -> None:
        """Wait before the ledger is tried again, longer each time; a stop that waits for nothing else ends it."""
        until = self._clock.monotonic() + self._pause
        while not (self._hushed and not self._runs.running):
            left = SECOND * (until - self._clock.monotonic())
            if left <= ZERO:  # to the microsecond: of less no clock would see the end
                return
            deadline = self._clock.now() + left
            self._delay.plan(deadline)  # until then the ledger is waited for
            await self._clock.wait_until(deadline, self._wake)
            self._wake.clear()

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self) -> bool | None:
        """Take one step; return whether anything was written, None if the ledger failed."""
        now = self._clock.now()
        self._report_clock(self._watch.read(now))
        freeze = None if self._planner.slack is None else self._delay.end(now, self._planner.slack)
        reading = ClockReading(now, self._clock.monotonic(), self._watch.leapt, freeze)
        self._runs.stop_overdue()
        news = self._runs.take_news()
        step = self._planner.step(reading, news, self._runs.free_slots(), is_draining=self._hushed)
        written = await self._write(step, news)
        if written is not None:
            if self._hushed and step.starts:
                step.withdraw()
                self._wake.set()
            # A crash here: what starts is recorded and has not started. The contract says whether it is owed again.
            for run, why in step.stops:
                self._runs.stop(run, why)
            self._runs.start(step.starts)
            step.commit()
        step.report(self._observers, written=written, monotonic=self._clock.monotonic())
        return written

    async def _write(self, step: Step[_Batch, AnyRun], news: RunNews[AnyRun]) -> bool | None:
        if not step.batch:
            self.failed_ledger = None  # what could not be recorded is no longer due: its job is gone
            return False
        try:
            refused = await self.append(step.batch)
        except Exception as error:
            step.rollback()
            self._runs.put_back(news)
            self._failures, self._failure = self._failures + 1, error
            is_soon = isinstance(error, LedgerWriteError) and error.retry_soon
            self._pause = _SOON if is_soon else _back_off(self._failures)
            said = failure_text(error)
            since = self._clock.now() if self.failed_ledger is None else self.failed_ledger.since
            self.failed_ledger = FailedLedger(since, said)
            self._observers.report(RunObserver.on_ledger, self.failed_ledger)
            if not is_soon or said != self._told or self._failures % _SELDOM == 0:
                self._emitter.tell("LedgerAppendFailed", error=said, retryInSeconds=self._pause)
            self._told = said
            return None
        if self._failures:
            self._failures, self._failure, self._told, self.failed_ledger = 0, None, "", None
            self._observers.report(RunObserver.on_ledger, None)
            self._emitter.tell("LedgerRecovered", records=step.record_count)
        if refused:
            self._report_refusals(refused)
            self._runs.put_back(step.refuse(refused))
            self._wake.set()
        return True


def _on_done(on_death: Callable[[Exception], object], loop: Task[None]) -> None:
    if not loop.cancelled() and isinstance(error := loop.exception(), Exception):
        on_death(error)


def _back_off(failures: int) -> float:
    """Return how many seconds to wait after so many failures in a row."""
    return min(_LONGEST_BACK_OFF, 2.0 ** min(failures - 1, 10))
