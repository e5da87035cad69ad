"""declare(…) -> TaskDeclaration: how a new list of tasks changes what is remembered, and the entries it leads to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kron.engine.agenda import Agenda, TaskEntry
from kron.engine.ports import TaskBatch
from kron.engine.runs import TaskRun
from kron.instant import Instant
from kron.rules.contract import Contract, FirstMinute
from kron.rules.obligation import next_evaluation, obligation
from kron.rules.override import Override, OverrideKind, reconcile
from kron.rules.registration import TaskSpec
from kron.rules.task_record import TaskRecord, TaskRunOutcome, TaskRunRecord


class TaskDeclaration(NamedTuple):
    """What to write, atomically, and what is then declared."""

    batch: TaskBatch
    entries: dict[str, TaskEntry]
    overrides: list[Override]
    skipped: frozenset[str]  # scheduled already, and unchanged


class TasksApplied(NamedTuple):
    """The result: how many tasks were scheduled, how many did not change, when, and what was stored before."""

    scheduled: int
    skipped: int
    at: Instant
    found: Mapping[str, TaskRecord]  # empty unless the ledger was just opened


def declare(
    tasks: Sequence[TaskSpec],
    stored: Mapping[str, TaskRecord],
    declared: Mapping[str, TaskEntry],
    running: Mapping[str, TaskRun],
    terms: tuple[Contract, Instant, str],
) -> TaskDeclaration:
    """Return the declaration; nothing is changed by it yet. `terms` are contract, now and the scheduler's name."""
    contract, now, me = terms
    overrides = reconcile(tasks, stored, contract, now, me)
    records: list[TaskRecord] = []
    entries: dict[str, TaskEntry] = {}
    for index, task in enumerate(tasks):
        override = overrides[index]
        record = override.after
        assert record is not None, "a registered task is remembered"
        if override.kind is OverrideKind.NEW and task.name in running:
            # It was removed while it ran, and comes back: that run is still its only one.
            record = record._replace(running_since=running[task.name].started, scheduler=me)
            overrides[index] = override._replace(after=record)
        if record is not override.before:
            records.append(record)
        entries[record.name] = TaskEntry(task.callback, task.due, record)
    forgotten = [gone.before.name for gone in overrides[len(tasks) :] if gone.before is not None]
    skipped = (
        o.before.name for o in overrides if o.kind is OverrideKind.PRESERVED and o.before and o.before.name in declared
    )
    batch = TaskBatch(forgotten, records, runs=list(_interruptions(overrides, me)))
    return TaskDeclaration(batch, entries, overrides, frozenset(skipped))


def reschedule(
    agenda: Agenda[TaskEntry], entry: TaskEntry, now: Instant, me: str, *, first_minute: FirstMinute = FirstMinute.RUN
) -> bool:
    """Put an entry where it belongs in the agenda, and return whether it owes a run now."""
    record, due = entry.record, entry.due
    if obligation(record, due, now, me, first_minute=first_minute) is not None:
        agenda.schedule(entry, now)
        return True
    # While it runs, its end brings it back.
    agenda.schedule(entry, None if record.running_since is not None else next_evaluation(record, due, now))
    return False


def _interruptions(overrides: Iterable[Override], me: str) -> Iterable[TaskRunRecord]:
    """Yield, for the history, the runs that a crash cut off."""
    for override in overrides:
        before = override.before
        if before is not None and before.running_since is not None and before.is_interrupted(me):
            yield TaskRunRecord(before.name, None, before.running_since, None, TaskRunOutcome.INTERRUPTED)
