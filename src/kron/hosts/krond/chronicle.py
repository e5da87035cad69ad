"""Chronicler: what became of jobs -> events with the rows of their history, to whoever listens."""

import asyncio
from collections.abc import Callable

from kron.decision.decision import Decision
from kron.engine.emitter import Emitter
from kron.engine.jobs.execution import Execution, Witness
from kron.engine.ports import Sink
from kron.hosts.krond.recording import JobRecorder
from kron.rules.decision_range import FIELD, DecisionRange
from kron.rules.history_row import closed_row, run_row
from kron.rules.job_record import End, PeriodRecord, Result
from kron.rules.verdict import Outcome
from kron.rules.work import Work

_REMEMBERED = 10_000  # ends that somebody may still ask for


class Chronicler:
    """Tells a sink, and passes everything on to others."""

    def __init__(self, sink: Sink, recorder: JobRecorder, *others: Witness) -> None:
        self._emitter = Emitter(sink)
        self._recorder = recorder
        self._others = [recorder, *others]
        self.last: dict[str, tuple[str, str | None]] = {}  # by identity: the outcome and, of an execution, the result
        self._results: dict[str, str] = {}  # of executions, by the name of their first run
        self.on_held: list[Callable[[str], object]] = []  # who is told that a job is suspended, or resumed
        self.on_dropped: list[Callable[[str], object]] = []  # who is told that a run is not tried again after all
        self._waiting: dict[str, set[asyncio.Future[str]]] = {}
        self._first: dict[str, str] = {}  # by the name of a further run: that of the first

    def add(self, other: Witness) -> None:
        """Pass everything on to one more."""
        self._others.append(other)

    async def ended(self, run_id: str) -> str:
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

    def on_closed(self, work: Work, record: PeriodRecord, last: Decision) -> None:
        """Tell that a period, or neighbours, are over."""
        self._emitter.tell("DecisionMade", **last.to_dict())
        self.last[record.identity] = record.outcome.value, None
        row = closed_row(work.name, record)
        if record.number > 1 and work.timing is not None:
            row[FIELD] = DecisionRange.of(work.timing, record).to_dict()
        self._emitter.tell(f"Period{record.outcome.value.capitalize()}", **row)
        for other in self._others:
            other.on_closed(work, record, last)

    def on_begun(self, execution: Execution, decision: Decision | None) -> None:
        """Tell that an attempt begins; the first of a period is its outcome."""
        if before := execution.attempt.before:
            self._first[execution.run_id] = self._first.pop(before, before)
        row = run_row(execution.work.name, execution.attempt, None, attempts=execution.attempt.attempt)
        self.last[execution.attempt.identity] = Outcome.EXECUTED.value, None
        if decision is not None:
            self._emitter.tell("DecisionMade", **decision.to_dict())
            self._emitter.tell("PeriodExecuted", **row)
        else:
            self._emitter.tell("RunStarted", **row)
        for other in self._others:
            other.on_begun(execution, decision)

    def on_ended(self, execution: Execution, end: End) -> None:
        """Tell that an attempt has ended."""
        row = run_row(execution.work.name, execution.attempt, end, attempts=execution.attempt.attempt)
        self._emitter.tell("RunEnded", **row)
        self.last[execution.attempt.identity] = "executed", end.result.value
        if end.retry_at is None:
            self._settle(end.run_id, end.result)
        for other in self._others:
            other.on_ended(execution, end)

    def on_suspended(self, identity: str, *, suspended: bool) -> None:
        """Let it be recorded, and told by the job's identity."""
        self._recorder.on_suspended(identity, suspended=suspended)
        for tell in self.on_held:
            tell(identity)

    def on_given_up(self, run_id: str) -> None:
        """Tell whoever waits that nothing more comes: something else took its place, or its job is gone."""
        self._settle(run_id, Result.REPLACED)
        for tell in self.on_dropped:
            tell(run_id)

    def _settle(self, run_id: str, result: Result) -> None:
        first = self._first.pop(run_id, run_id)
        for waiting in self._waiting.pop(first, ()):
            if not waiting.done():
                waiting.set_result(result.value)
        self._results[first] = result.value
        if len(self._results) > _REMEMBERED:
            del self._results[next(iter(self._results))]
