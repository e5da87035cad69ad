"""Ledgers in memory, of tasks and of jobs: as strict as those on a disk, and gone with the process."""

import asyncio
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from kron.engine.ledger import (
    JobBatch,
    JobSnapshot,
    PendingRetry,
    append_unless_refused,
    first_of_each,
)
from kron.engine.ports import Refusal, TaskBatch
from kron.errors import LedgerConflictError, LedgerInUseError, LedgerWriteError
from kron.instant import Instant, format_instant
from kron.rules.job_record import JobRecord, PeriodRecord, RunEnd, RunHandle, RunStart, UnfinishedRun
from kron.rules.periods import PeriodRange, nominal_times_between
from kron.rules.task_record import TaskRecord, TaskRunRecord
from kron.rules.verdict import Outcome

_HISTORY = 10_000  # runs kept for people to look at


class MemoryTaskLedger:
    """A dictionary. Passed from one scheduler to the next, it acts like a file between two processes."""

    def __init__(self) -> None:
        self.records: dict[str, TaskRecord] = {}
        self.history: deque[TaskRunRecord] = deque(maxlen=_HISTORY)
        self._is_open = False

    async def open(self) -> None:
        """Take possession."""
        if self._is_open:
            raise LedgerInUseError(path="in memory", owner="another scheduler of this process")
        self._is_open = True

    async def load(self) -> Mapping[str, TaskRecord]:
        """Return what is remembered of each task."""
        return dict(self.records)

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch, and give others a turn."""
        await asyncio.sleep(0)
        return self.append_now(batch)

    def append_now(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch, at once. Nothing contradicts a record of the only scheduler."""
        if not self._is_open:
            raise LedgerWriteError(path="in memory", reason="it is not open")
        for name in batch.forgotten:
            self.records.pop(name, None)
        for records in (batch.records, batch.begun):
            for record in records:
                self.records[record.name] = record
        self.history.extend(batch.runs)
        return ()

    async def close(self) -> None:
        """Give up possession."""
        self._is_open = False


_PLACE = "in memory"
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class _Outcome(NamedTuple):
    """Of one period, or of several that follow each other."""

    last: Instant  # nominal times
    first: Instant
    record: PeriodRecord | RunStart


class MemoryJobLedger:
    """Dictionaries. Passed from one host to the next, it acts like a file between two processes."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}
        self.jobs: dict[str, JobRecord] = {}
        self.attempts: dict[str, RunStart] = {}  # by run id, as the following two
        self.processes: dict[str, RunHandle] = {}
        self.ends: dict[str, RunEnd] = {}
        self.outcomes: dict[str, list[_Outcome]] = {}  # by identity, in the order of nominal times
        self._tries: dict[tuple[str, Instant, int], str] = {}  # run ids of attempts of periods
        self._undo: list[Callable[[], object]] = []
        self._is_open = False

    # --- the port -----------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Take possession."""
        if self._is_open:
            raise LedgerInUseError(path=_PLACE, owner="another host of this process")
        self._is_open = True

    async def load(self) -> JobSnapshot:
        """Return what is remembered."""
        attempts, jobs = self.attempts.values(), self.jobs.values()
        return JobSnapshot(
            jobs=dict(self.jobs),
            definitions={job.definition_key: self.definitions[job.definition_key] for job in jobs},
            unfinished=[self._unfinished(each) for each in attempts if each.run_id not in self.ends],
            retries=[retry for each in attempts if (retry := self._retry(each)) is not None],
        )

    async def handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant]]:
        """Return by identity the nominal times, from an instant on, of periods that have an outcome."""
        return self._handled(since)

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch without the jobs of which a record is refused, and give others a turn."""
        await asyncio.sleep(0)
        return self.append_now(batch)

    def append_now(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch without the jobs of which a record is refused, at once."""
        if not self._is_open:
            raise LedgerWriteError(path=_PLACE, reason="it is not open")
        return append_unless_refused(batch, self._put_or_undo, self._runs_of, self._handled)

    async def close(self) -> None:
        """Give up possession."""
        self._is_open = False

    # --- what is there ------------------------------------------------------------------------------------------------

    def _handled(self, since: Mapping[str, Instant]) -> Mapping[str, frozenset[Instant]]:
        found = ((name, each) for name, start in since.items() for each in self._outcomes(name) if each.last >= start)
        return self._nominals(found, since)

    def _runs_of(self, run_ids: Sequence[str], identities: Collection[str]) -> Collection[str]:
        return [each for each in run_ids if each in self.attempts and self.attempts[each].identity in identities]

    def _outcomes(self, identity: str) -> list[_Outcome]:
        return self.outcomes.get(identity, [])

    def _unfinished(self, attempt: RunStart) -> UnfinishedRun:
        return UnfinishedRun(attempt, self.processes.get(attempt.run_id))

    def _retry(self, attempt: RunStart) -> PendingRetry | None:
        end = self.ends.get(attempt.run_id)
        if end is None or end.retry_at is None:
            return None
        if attempt.nominal is not None and (attempt.identity, attempt.nominal, attempt.attempt + 1) in self._tries:
            return None
        return PendingRetry(attempt, end.retry_at)

    def _nominals(
        self, found: Iterable[tuple[str, _Outcome]], since: Mapping[str, Instant]
    ) -> dict[str, frozenset[Instant]]:
        nominals: dict[str, set[Instant]] = {}
        for identity, (last, first, record) in found:
            inside: Iterable[Instant] = [last]
            if first < last:
                begin = max(first, since.get(identity, first))
                inside = nominal_times_between(identity, self.definitions[record.definition_key], begin, last)
            nominals.setdefault(identity, set()).update(inside)
        return {identity: frozenset(each) for identity, each in nominals.items() if each}

    def _occupant(self, identity: str, first: Instant, last: Instant, key: str) -> PeriodRecord | RunStart | None:
        """Return what has one of the periods already."""
        outcomes, span = self._outcomes(identity), PeriodRange(first, last, self.definitions[key])
        for each in outcomes[bisect_left(outcomes, first, key=lambda each: each.last) :]:
            if span.overlaps(
                identity, PeriodRange(each.first, each.last, self.definitions[each.record.definition_key])
            ):
                return each.record
        return None

    # --- what is new --------------------------------------------------------------------------------------------------

    def _put_or_undo(self, batch: JobBatch) -> Sequence[Refusal]:
        """Remember the batch, or nothing of it and return what is refused."""
        self._undo.clear()
        refused: Sequence[Refusal] | None = None
        try:
            refused = self._put(batch)
        finally:
            if refused is None or refused:
                for undo in reversed(self._undo):
                    undo()
        return refused

    def _put(self, batch: JobBatch) -> Sequence[Refusal]:
        for key, text in batch.definitions.items():
            self._set(self.definitions, key, self.definitions.get(key, text))
        for job in batch.jobs:
            self._need(self.definitions, job.definition_key, "definition")
            self._set(self.jobs, job.identity, job)
        if refused := first_of_each((*map(self._close, batch.closed), *map(self._begin, batch.begun))):
            return refused  # what else is said of their runs cannot be judged
        for process in batch.processes:
            self._need(self.attempts, process.run_id, "run")
            self._set(self.processes, process.run_id, process)
        if refused := first_of_each(map(self._end, batch.ended)):
            return refused
        for run_id in batch.given_up:
            self._give_up(run_id)
        return ()

    def _close(self, record: PeriodRecord) -> Refusal | None:
        self._need(self.jobs, record.identity, "job")
        self._need(self.definitions, record.definition_key, "definition")
        occupant = self._occupant(record.identity, record.first, record.last, record.definition_key)
        if occupant is None:
            self._add(record.identity, _Outcome(record.last, record.first, record))
        elif occupant != record:
            return _refusal(record.identity, record.last, _taken_by(occupant))
        return None

    def _begin(self, attempt: RunStart) -> Refusal | None:
        run_id, identity, _, nominal, _, number, *_ = attempt
        self._need(self.jobs, identity, "job")
        self._need(self.definitions, attempt.definition_key, "definition")
        if run_id in self.attempts:
            if self.attempts[run_id] != attempt:
                return _refusal(identity, nominal, f"run {run_id} is another one already", run_id)
            return None
        if nominal is None and attempt.retry_of:
            self._give_up(attempt.retry_of)
        if nominal is not None:
            if reason := self._why_not(attempt, nominal):
                return _refusal(identity, nominal, reason, run_id)
            self._set(self._tries, (identity, nominal, number), run_id)
            if number == 1:
                self._add(identity, _Outcome(nominal, nominal, attempt))
        self._set(self.attempts, run_id, attempt)
        return None

    def _why_not(self, attempt: RunStart, nominal: Instant) -> str:
        """Return why an attempt of a period cannot begin, "" if it can."""
        if attempt.attempt == 1:
            occupant = self._occupant(attempt.identity, nominal, nominal, attempt.definition_key)
            return "" if occupant is None else _taken_by(occupant)
        if (attempt.identity, nominal, 1) not in self._tries:
            return "it is tried again without a first attempt"
        key = (attempt.identity, nominal, attempt.attempt)
        return f"attempt {attempt.attempt} has begun already" if key in self._tries else ""

    def _give_up(self, run_id: str) -> None:
        if run_id in self.ends:
            self._set(self.ends, run_id, self.ends[run_id]._replace(retry_at=None))

    def _end(self, end: RunEnd) -> Refusal | None:
        self._need(self.attempts, end.run_id, "run")
        before = self.ends.get(end.run_id)
        if before is not None and before._replace(retry_at=None) != end._replace(retry_at=None):
            attempt = self.attempts[end.run_id]
            reason = f"run {end.run_id} has ended already: {before.result.value}"
            return _refusal(attempt.identity, attempt.nominal, reason, end.run_id)
        self._set(self.ends, end.run_id, end)
        return None

    def _add(self, identity: str, outcome: _Outcome) -> None:
        outcomes = self.outcomes.setdefault(identity, [])
        insort(outcomes, outcome, key=lambda each: each.last)
        self._undo.append(lambda: outcomes.remove(outcome))

    def _set(self, mapping: dict[_Key, _Value], key: _Key, value: _Value) -> None:
        if key in mapping:
            before = mapping[key]
            self._undo.append(lambda: mapping.__setitem__(key, before))
        else:
            self._undo.append(lambda: mapping.pop(key))
        mapping[key] = value

    def _need(self, mapping: Mapping[str, object], key: str, what: str) -> None:
        if key not in mapping:
            raise LedgerWriteError(path=_PLACE, reason=f"there is no {what} {key!r}")


def _taken_by(occupant: PeriodRecord | RunStart) -> str:
    outcome = occupant.outcome if isinstance(occupant, PeriodRecord) else Outcome.EXECUTED
    return f"it has an outcome already: {outcome.value}"


def _refusal(identity: str, nominal: Instant | None, reason: str, run_id: str = "") -> Refusal:
    period = "none" if nominal is None else format_instant(nominal)
    error = LedgerConflictError(path=_PLACE, identity=identity, period=period, reason=reason)
    return Refusal(identity, nominal, error, run_id)
