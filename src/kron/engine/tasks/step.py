"""TaskStep: what ended and what is due -> the records of one transaction, and how to undo them if it fails."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kron.engine.agenda import TaskEntry
from kron.engine.emitter import Observers
from kron.engine.ports import Refusal, TaskBatch
from kron.engine.runs import RunNews, TaskRun
from kron.engine.tasks.declaration import reschedule
from kron.errors.base import describe_exception
from kron.instant import Instant, format_instant
from kron.rules.job_record import ResultCode, RunEnd
from kron.rules.obligation import Obligation, StartTask, plan_task, record_end
from kron.rules.task_record import TaskRecord, TaskRunOutcome, TaskRunRecord

if TYPE_CHECKING:
    from kron.engine.tasks.planner import ObligationPlanner

_make = tuple.__new__  # what calling a named tuple does, in half the time


class TaskStep:
    """One step, at one moment. It moves entries on at once; `rollback` puts them back.

    Lists side by side instead of lists of tuples: a step makes thousands, and Python's collector would visit each.
    """

    __slots__ = (
        "_agenda", "_batch", "_befores", "_contract", "_corrected", "_entries", "_me", "_planner", "_polled",
        "_timeout", "_withdrawn", "aside", "begun", "clamped", "ended", "evaluated", "now", "owed", "retries", "runs",
        "settled", "starts",
    )  # fmt: skip

    def __init__(self, planner: "ObligationPlanner", now: Instant, polled: float | None = None) -> None:
        """`polled`: when it began on the monotonic clock, if that is to be reported."""
        self._planner, self.now, self._polled = planner, now, polled
        self._agenda, self._contract, self._me = planner.agenda, planner.contract, planner.me
        self._timeout = planner.run_timeout
        self._withdrawn, planner.withdrawn = planner.withdrawn, []
        self.clamped, planner.clamped = planner.clamped, []
        entries = planner.entries
        self._corrected = [entries[each.after.name].record for each in self.clamped if each.after.name in entries]
        self._batch: TaskBatch | None = None
        self._entries: list[TaskEntry] = []  # those that moved on: first those that ended, then those that begin
        self._befores: list[TaskRecord] = []  # their records before
        self.settled: list[TaskRecord] = []  # the records of those that ended
        self.begun: list[TaskRecord] = []  # the records of those that begin
        self.starts: list[TaskRun] = []  # their runs
        self.ended: list[TaskRun] = []
        self.retries: list[Instant | None] = []  # for each of them, when a retry is owed
        self.owed: list[Obligation] = []  # for each that begins
        self.runs: list[TaskRunRecord] = []
        self.evaluated = 0
        self.aside: list[tuple[str, Exception]] = []  # tasks that could not be judged

    def settle(self, ended: Iterable[TaskRun]) -> None:
        """Record ends; the tasks then owe what came meanwhile. One that was removed while it ran has no entry."""
        entries = self._planner.entries
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
                self.starts.append(TaskRun(record.name, entry.callback, owed.scheduled, self.now, self._timeout))
            else:
                self._agenda.schedule(entry, None if record.running_since is not None else planned.at)

    @property
    def beginnings(self) -> Iterable[tuple[TaskEntry, TaskRecord, Obligation]]:
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

    # --- the engine's questions ---------------------------------------------------------------------------------------

    stops = ()  # a run ends by itself, or with its time

    @property
    def batch(self) -> TaskBatch:
        """What to remember, once all is planned."""
        if self._batch is None:
            records = self._withdrawn + self._corrected + self.settled
            self._batch = TaskBatch((), records, self.begun, self.runs)
        return self._batch

    @property
    def record_count(self) -> int:
        """How many tasks it speaks of."""
        return len(self.batch.records) + len(self.batch.begun)

    def rollback(self) -> None:
        """Put everything back as it was, but for a clamped baseline, which the next step writes."""
        for entry, before in zip(reversed(self._entries), reversed(self._befores), strict=True):
            entry.record = before
            reschedule(self._agenda, entry, self.now, self._me, first_minute=self._contract.first_minute)
        self._planner.withdrawn = self._withdrawn + self._planner.withdrawn
        self._planner.clamped = self.clamped + self._planner.clamped

    def refuse(self, refused: Sequence[Refusal]) -> RunNews[TaskRun]:  # noqa: ARG002  # it has no other writer
        """Change nothing: a ledger of tasks has one writer, and the last record of a task counts."""
        return RunNews()

    def withdraw(self) -> None:
        """Start nothing, and have the next step take the starts back: else an orphan would be invented."""
        for entry, before, _ in self.beginnings:
            entry.record = before
        self._planner.withdrawn += self._befores[len(self.settled) :]
        self.starts = []

    def commit(self) -> None:
        """Nothing is left to do: the tasks that run are brought back by their ends."""

    def report(self, observers: Observers[TaskRun], *, written: bool | None, monotonic: float) -> None:
        """Emit the events of what is recorded, and tell how the step went."""
        if written is not None:
            self._planner.report(self, observers)
        if self._polled is not None:
            executed = 0 if written is None else len(self.owed)
            counts = {"tasksEvaluated": self.evaluated, "tasksExecuted": executed}
            at, seconds = format_instant(self.now), monotonic - self._polled
            self._planner.emitter.tell("PollCompleted", pollTime=at, **counts, duration=seconds)
