"""EventQueue: events in order, with their time, after starts. JobEvents: those of runs. LoopErrors: of the loop."""

import asyncio
import traceback
from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from kron.decision.decision import Decision
from kron.engine.emitter import Emitter
from kron.engine.ports import Refusal, RunObserver, Sink
from kron.engine.runs import JobRun
from kron.errors.base import describe_exception
from kron.instant import SECOND, Instant, format_instant
from kron.rules.events import FIELD, DecisionRange
from kron.rules.history import RunRow
from kron.rules.job_record import LastResult, PeriodRecord, ResultCode, RunEnd
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome

_TOGETHER = 20  # calls made in one turn of the event loop: together a few milliseconds
_PAUSE = 0.02  # seconds between two looks whether a burst of starts is over
_LONGEST = SECOND  # that the oldest waits, however many starts there are
_MOST = 20_000  # calls that may wait; the caller that exceeds it makes them


class EventQueue:
    """Takes calls at next to no cost. All of it is in the ledger already: events may wait, starts may not."""

    def __init__(self, now: Callable[[], Instant]) -> None:
        self._now = now
        self._is_starting: Callable[[], bool] = lambda: False
        self._waiting: deque[tuple[Instant, Callable[..., object], tuple[Any, ...]]] = deque()
        self._at: Instant | None = None  # of the call that is being made
        self._is_asked_for = False

    def hold_while(self, is_starting: Callable[[], bool]) -> None:
        """Make no calls as long as this is so."""
        self._is_starting = is_starting

    def now(self) -> Instant:
        """Return when the event that is being emitted happened, or the present if none is."""
        return self._now() if self._at is None else self._at

    def __call__(self, call: Callable[..., object], *arguments: object) -> None:
        """Take a call."""
        self._waiting.append((self._now(), call, arguments))
        if len(self._waiting) > _MOST:
            self.flush()
        elif not self._is_asked_for:
            with suppress(RuntimeError):  # without an event loop they wait for `flush`
                asyncio.get_running_loop().call_soon(self._go_on)
                self._is_asked_for = True

    def flush(self) -> None:
        """Make all calls that wait."""
        self._make(len(self._waiting))

    def sink(self, sink: Sink) -> Sink:
        """Return a sink that passes events on in their turn."""
        emitter = Emitter(sink)
        return lambda event: self(emitter.emit, (event,))

    def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        if self._waiting and self._is_starting() and self._now() - self._waiting[0][0] < _LONGEST:
            loop.call_later(_PAUSE, self._go_on)
            return
        try:
            self._make(_TOGETHER)
        finally:  # the event loop reports an unexpected error, which must not silence other events
            self._is_asked_for = bool(self._waiting)
            if self._is_asked_for:
                loop.call_soon(self._go_on)

    def _make(self, most: int) -> None:
        for _ in range(min(most, len(self._waiting))):
            self._at, call, arguments = self._waiting.popleft()
            try:
                call(*arguments)
            finally:
                self._at = None


_REMEMBERED = 10_000  # ends that a command may still ask for


class JobEvents(RunObserver[JobRun]):
    """An observer that turns what happens to runs into events, and knows how each ended."""

    def __init__(
        self, sink: Sink, name_of: Callable[[str], str] = lambda identity: identity.rpartition(":")[2]
    ) -> None:
        """`name_of` returns the name of the job of an identity."""
        self._emitter, self._name_of = Emitter(sink), name_of
        self.last_results: dict[str, LastResult] = {}  # by identity
        self._results: dict[str, str] = {}  # of executions, by the name of their first run
        self._waiting: dict[str, set[asyncio.Future[str]]] = {}
        self._first: dict[str, str] = {}  # by the name of a further run: that of the first

    async def wait_for_end(self, run_id: str) -> str:
        """Return how a run ended, when it has and is not tried again."""
        if run_id in self._results:
            return self._results[run_id]
        waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run_id, set()).add(waiting)
        try:
            return await waiting
        finally:  # a client that leaves leaves nothing behind
            others = self._waiting.get(run_id, set())
            others.discard(waiting)
            if not others:
                self._waiting.pop(run_id, None)

    def on_closed(self, work: JobSpec, record: PeriodRecord, last: Decision) -> None:
        """Tell that a period, or neighbours, are over."""
        self._emitter.tell("DecisionMade", **last.to_dict())
        self.last_results[record.identity] = LastResult(record.outcome)
        row = RunRow.of_closed(work.name, record).to_dict()
        if record.period_count > 1 and work.timing is not None:
            row[FIELD] = DecisionRange.of(work.timing, record).to_dict()
        self._emitter.tell(f"Period{record.outcome.value.capitalize()}", **row)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        """Tell that attempts begin; the first of a period is its outcome."""
        for run in runs:
            self._on_started(run)

    def _on_started(self, run: JobRun) -> None:
        if before := run.attempt.retry_of:
            self._first[run.run_id] = self._first.pop(before, before)
        row = RunRow.of_run(run.work.name, run.attempt, None, attempts=run.attempt.attempt)
        self.last_results[run.attempt.identity] = LastResult(Outcome.EXECUTED)
        if run.decision is not None:
            self._emitter.tell("DecisionMade", **run.decision.to_dict())
            self._emitter.tell("PeriodExecuted", **row.to_dict())
        else:
            self._emitter.tell("RunStarted", **row.to_dict())

    def on_ended(self, ended: Sequence[tuple[JobRun, RunEnd]]) -> None:
        """Tell that attempts have ended."""
        for run, end in ended:
            row = RunRow.of_run(run.work.name, run.attempt, end, attempts=run.attempt.attempt)
            self._emitter.tell("RunEnded", **row.to_dict())
            self.last_results[run.attempt.identity] = LastResult(Outcome.EXECUTED, end.result)
            if end.retry_at is None:
                self._settle(end.run_id, end.result)

    def on_retry_dropped(self, run_id: str) -> None:
        """Answer calls that wait for the run: it is not retried, because it was replaced or its job was removed."""
        self._settle(run_id, ResultCode.REPLACED)

    def on_refused(self, refusal: Refusal) -> None:
        """Report a job of which the ledger took nothing."""
        nominal, identity = refusal.nominal, refusal.identity
        period_id = None if nominal is None else format_instant(nominal)
        fields = {"identity": identity, "name": self._name_of(identity), "period_id": period_id}
        self._emitter.tell("ClaimRefused", **fields, reason=refusal.error.details["reason"])

    def _settle(self, run_id: str, result: ResultCode) -> None:
        first = self._first.pop(run_id, run_id)
        for waiting in self._waiting.pop(first, ()):
            if not waiting.done():
                waiting.set_result(result.value)
        self._results[first] = result.value
        if len(self._results) > _REMEMBERED:
            del self._results[next(iter(self._results))]


_QUIET = 1.0  # seconds between two events; without descriptors the event loop has dozens of errors in one turn


class LoopErrors:
    """The exception handler of an event loop. Of many errors in a row, only the last is reported."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter = emitter
        self._last: dict[str, Any] = {}
        self._times = 0
        self._quiet: TimerHandle | None = None

    def __call__(self, loop: AbstractEventLoop, context: dict[str, Any]) -> None:
        """Take an error."""
        self._last = context
        self._times += 1
        if self._quiet is None:
            self._tell(loop)

    def _tell(self, loop: AbstractEventLoop) -> None:
        self._quiet = None
        if self._times:
            error, times, self._times = self._last.get("exception"), self._times, 0
            said = "" if error is None else f": {describe_exception(error)}"
            trace = "" if error is None else "".join(traceback.format_exception(error))
            self._emitter.tell("ErrorCaught", error=f"{self._last['message']}{said}", times=times, trace=trace)
            self._last = {}
            self._quiet = loop.call_later(_QUIET, self._tell, loop)
