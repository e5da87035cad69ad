"""StepRecords: what ended and what is due -> the records of one transaction, and how to undo them if it fails."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from kron.engine.agenda import Agenda, TaskEntry
from kron.engine.runs import TaskRun
from kron.engine.tasks.declaration import reschedule
from kron.errors.base import describe_exception
from kron.instant import Instant
from kron.rules.contract import Contract
from kron.rules.job_record import ResultCode, RunEnd
from kron.rules.obligation import Obligation, StartTask, plan_task, record_end
from kron.rules.task_record import TaskRecord, TaskRunOutcome, TaskRunRecord

_make = tuple.__new__  # what calling a named tuple does, in half the time


class StepRecords:
    """One step, at one moment. It moves entries on at once; `undo` puts them back.

    Lists side by side instead of lists of tuples: a step makes thousands, and Python's collector would visit each.
    """

    __slots__ = (
        "_agenda", "_befores", "_contract", "_entries", "_me", "_timeout",
        "aside", "begun", "ended", "evaluated", "now", "owed", "retries", "runs", "settled", "starting",
    )  # fmt: skip

    def __init__(
        self, now: Instant, agenda: Agenda[TaskEntry], contract: Contract, me: str, *, timeout: timedelta | None = None
    ) -> None:
        """`timeout` is that of each run."""
        self.now = now
        self._agenda, self._contract, self._me, self._timeout = agenda, contract, me, timeout
        self._entries: list[TaskEntry] = []  # those that moved on: first those that ended, then those that begin
        self._befores: list[TaskRecord] = []  # their records before
        self.settled: list[TaskRecord] = []  # the records of those that ended
        self.begun: list[TaskRecord] = []  # the records of those that begin
        self.starting: list[TaskRun] = []  # their runs
        self.ended: list[TaskRun] = []
        self.retries: list[Instant | None] = []  # for each of them, when a retry is owed
        self.owed: list[Obligation] = []  # for each that begins
        self.runs: list[TaskRunRecord] = []
        self.evaluated = 0
        self.aside: list[tuple[str, Exception]] = []  # tasks that could not be judged

    def settle(self, ended: Iterable[TaskRun], entries: Mapping[str, TaskEntry]) -> None:
        """Record ends; the tasks then owe what came meanwhile. One that was removed while it ran has no entry."""
        for run in ended:
            name, result_seen, at = run.run_id, run.result, run.ended_at
            assert at is not None, "it has ended"
            assert result_seen is not None, "it has ended"
            entry, error = entries.get(name), result_seen.error
            result, text = (
                (TaskRunOutcome.SUCCESS, None) if error is None else (TaskRunOutcome.FAILURE, describe_exception(error))
            )
            self.runs.append(_make(TaskRunRecord, (name, run.scheduled, run.started, at, result, text)))
            self.ended.append(run)
            if entry is None:
                self.retries.append(None)
                continue
            before = entry.record
            try:
                entry.record = after = record_end(before, at, succeeded=error is None, contract=self._contract)
                reschedule(self._agenda, entry, self.now, self._me)
            except Exception as fault:  # of this task alone: to its record it goes on, until tasks are declared
                entry.record = before
                self.retries.append(None)
                self.aside.append((name, fault))
                continue
            self.retries.append(after.retry_until)
            self.settled.append(after)
            self._entries.append(entry)
            self._befores.append(before)

    def plan(self, entries: Iterable[TaskEntry]) -> None:
        """Record the start of each entry that owes a run, and put the others where they are looked at again."""
        first_minute = self._contract.first_minute
        for entry in entries:
            self.evaluated += 1
            record = entry.record
            try:
                planned = plan_task(record, entry.due, self.now, self._me, first_minute=first_minute)
            except Exception as error:  # of this task alone; it is looked at again when tasks are declared
                self.aside.append((record.name, error))
                continue
            if isinstance(planned, StartTask):
                self.owed.append(planned.owed)
                self.begun.append(planned.after)
                self._entries.append(entry)
                self._befores.append(record)
                entry.record = planned.after
                owed = planned.owed
                self.starting.append(TaskRun(record.name, entry.callback, owed.scheduled, self.now, self._timeout))
            else:
                self._agenda.schedule(entry, None if record.running_since is not None else planned.at)

    @property
    def starts(self) -> Iterable[tuple[TaskEntry, TaskRecord, Obligation]]:
        """Those that begin, each with its record before and what is owed."""
        first = len(self.settled)
        entries, befores = (self._entries[first:], self._befores[first:]) if first else (self._entries, self._befores)
        return zip(entries, befores, self.owed, strict=True)

    def ends(self) -> list[tuple[TaskRun, RunEnd]]:
        """Return each run that ended, with its end."""
        found = []
        for run, record, retry in zip(self.ended, self.runs, self.retries, strict=True):
            code = ResultCode.SUCCEEDED if record.error is None else run.code
            end = _make(RunEnd, (run.run_id, record.ended, code, None, None, record.error or "", retry))
            found.append((run, end))
        return found

    def undo(self) -> None:
        """Put everything back as it was; what was due is still due."""
        for entry, before in zip(reversed(self._entries), reversed(self._befores), strict=True):
            entry.record = before
            reschedule(self._agenda, entry, self.now, self._me, first_minute=self._contract.first_minute)

    def withdraw(self) -> list[TaskRecord]:
        """Take back the starts, which are durable and have not happened; return the records that say so."""
        for entry, before, _ in self.starts:
            entry.record = before
        return self._befores[len(self.settled) :]
