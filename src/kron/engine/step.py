"""Step: what ended and what is due -> the records of one transaction, and how to undo them if it fails."""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from kron.engine.agenda import Agenda, Entry
from kron.engine.declaration import place
from kron.engine.ports import Run
from kron.instant import Instant
from kron.rules.contract import Contract
from kron.rules.due import Moment
from kron.rules.history import RunRecord, RunResult
from kron.rules.obligation import Obligation
from kron.rules.plan import Begin, plan, settle
from kron.rules.record import TaskRecord
from kron.rules.telling import error_text


class End(NamedTuple):
    """A run that has ended, with what it raised, when, and how long it took."""

    run: Run
    error: BaseException | None
    at: Instant
    duration: timedelta


class Step:
    """One step, at one moment. It moves entries on at once; `undo` puts them back.

    Lists side by side instead of lists of tuples: a step makes thousands, and Python's collector would visit each.
    """

    __slots__ = (
        "_agenda", "_befores", "_contract", "_entries", "_me", "_settled",
        "ended", "evaluated", "moment", "owed", "records", "retries", "runs",
    )  # fmt: skip

    def __init__(self, moment: Moment, agenda: Agenda, contract: Contract, me: str) -> None:
        self.moment = moment
        self._agenda, self._contract, self._me = agenda, contract, me
        self._entries: list[Entry] = []  # those that moved on: first those that ended, then those that begin
        self._befores: list[TaskRecord] = []  # their records before
        self._settled = 0
        self.ended: list[End] = []
        self.retries: list[Instant | None] = []  # for each of them, when a retry is owed
        self.owed: list[Obligation] = []  # for each that begins
        self.records: list[TaskRecord] = []
        self.runs: list[RunRecord] = []
        self.evaluated = 0

    def settle(self, end: End, entry: Entry | None) -> None:
        """Record an end; the task then owes what came meanwhile. `entry` is None if it was removed while it ran."""
        run, error = end.run, end.error
        result = RunResult.SUCCESS if error is None else RunResult.FAILURE
        text = None if error is None else error_text(error)
        self.runs.append(RunRecord(run.name, run.scheduled, run.started, end.at, result, text))
        self.ended.append(end)
        if entry is None:
            self.retries.append(None)
            return
        after = settle(entry.record, end.at, succeeded=error is None, contract=self._contract)
        self.retries.append(after.retry_until)
        self._move(entry, after)
        self._settled += 1
        place(self._agenda, entry, self.moment, self._me)

    def plan(self, entries: Iterable[Entry]) -> None:
        """Record the start of each entry that owes a run, and put the others where they are looked at again."""
        for entry in entries:
            self.evaluated += 1
            planned = plan(entry.record, entry.due, self.moment, self._me)
            if isinstance(planned, Begin):
                self.owed.append(planned.owed)
                self._move(entry, planned.after)
            else:
                self._agenda.put(entry, None if entry.record.running_since is not None else planned.at)

    def _move(self, entry: Entry, after: TaskRecord) -> None:
        self._entries.append(entry)
        self._befores.append(entry.record)
        self.records.append(after)
        entry.record = after

    @property
    def begun(self) -> Iterable[tuple[Entry, TaskRecord, Obligation]]:
        """Those that begin, each with its record before and what is owed."""
        return zip(self._entries[self._settled :], self._befores[self._settled :], self.owed, strict=True)

    def undo(self) -> None:
        """Put everything back as it was; what was due is still due."""
        for entry, before in zip(reversed(self._entries), reversed(self._befores), strict=True):
            entry.record = before
            place(self._agenda, entry, self.moment, self._me)

    def withdraw(self) -> list[TaskRecord]:
        """Take back the starts, which are durable and have not happened; return the records that say so."""
        for entry, before, _ in self.begun:
            entry.record = before
        return self._befores[self._settled :]
