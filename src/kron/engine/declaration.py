"""declare(…) -> Declaration: how a new list of tasks changes what is remembered, and the entries it leads to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kron.engine.agenda import Agenda, Entry
from kron.engine.ports import Batch, Run
from kron.instant import Instant
from kron.rules.contract import Contract
from kron.rules.history import RunRecord, RunResult
from kron.rules.obligation import look_again, obligation
from kron.rules.override import Kind, Override, reconcile
from kron.rules.record import TaskRecord
from kron.rules.registration import Task


class Declaration(NamedTuple):
    """What to write, atomically, and what is then declared."""

    batch: Batch
    entries: dict[str, Entry]
    overrides: list[Override]
    skipped: frozenset[str]  # scheduled already, and unchanged


class Declared(NamedTuple):
    """What came of it: how many are scheduled anew, how many did not change, when, and what was stored before."""

    scheduled: int
    skipped: int
    at: Instant
    found: Mapping[str, TaskRecord]  # empty unless the ledger was just opened


def declare(
    tasks: Sequence[Task],
    stored: Mapping[str, TaskRecord],
    declared: Mapping[str, Entry],
    running: Mapping[str, Run],
    terms: tuple[Contract, Instant, str],
) -> Declaration:
    """Return the declaration; nothing is changed by it yet. `terms` are contract, now and the scheduler's name."""
    contract, now, me = terms
    overrides = reconcile(tasks, stored, contract, now, me)
    records: list[TaskRecord] = []
    entries: dict[str, Entry] = {}
    for index, task in enumerate(tasks):
        override = overrides[index]
        record = override.after
        assert record is not None, "a registered task is remembered"
        if override.kind is Kind.NEW and task.name in running:
            # It was removed while it ran, and comes back: that run is still its only one.
            record = record._replace(running_since=running[task.name].started, scheduler=me)
            overrides[index] = override._replace(after=record)
        if record is not override.before:
            records.append(record)
        entries[record.name] = Entry(task.callback, task.due, record)
    forgotten = [gone.before.name for gone in overrides[len(tasks) :] if gone.before is not None]
    skipped = (o.before.name for o in overrides if o.kind is Kind.PRESERVED and o.before and o.before.name in declared)
    batch = Batch(forgotten, records, runs=list(_interruptions(overrides, me)))
    return Declaration(batch, entries, overrides, frozenset(skipped))


def place(agenda: Agenda[Entry], entry: Entry, now: Instant, me: str) -> bool:
    """Put an entry where it belongs in the agenda, and return whether it owes a run now."""
    record, due = entry.record, entry.due
    if obligation(record, due, now, me) is not None:
        agenda.put(entry, now)
        return True
    # While it runs, its end brings it back.
    agenda.put(entry, None if record.running_since is not None else look_again(record, due, now))
    return False


def _interruptions(overrides: Iterable[Override], me: str) -> Iterable[RunRecord]:
    """Yield, for the history, the runs that a crash cut off."""
    for override in overrides:
        before = override.before
        if before is not None and before.running_since is not None and before.interrupted(me):
            yield RunRecord(before.name, None, before.running_since, None, RunResult.INTERRUPTED)
