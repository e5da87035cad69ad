"""reconcile(tasks, stored, …) -> how the list stands to what is stored: who is new, kept, changed, cut off, gone."""

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from kron.instant import Instant
from kron.rules.baseline import Clamped, clamp
from kron.rules.contract import Contract, History, Identifier, Interrupted
from kron.rules.record import TaskRecord
from kron.rules.registration import Task


class Kind(Enum):
    """How a task stands to what is stored."""

    NEW = "new"
    PRESERVED = "preserved"
    OVERRIDDEN = "overridden"
    ORPHANED = "orphaned"  # cut off by a crash, and owed again
    UNREGISTERED = "unregistered"  # stored, and in the list no more


class Override(NamedTuple):
    """One task's classification, what was stored of it and what is to be; `after` is None for one that goes."""

    kind: Kind
    before: TaskRecord | None
    after: TaskRecord | None
    changed: bool = False  # the configuration differs, also of an orphaned task
    clamped: Clamped | None = None  # the stored baseline was far in the future


def reconcile(
    tasks: Iterable[Task], stored: Mapping[str, TaskRecord], contract: Contract, now: Instant, me: str
) -> list[Override]:
    """Return one override for each registered and each stored task, registered ones first, in their order."""
    left = dict(stored)
    overrides = [_classify(task, left.pop(task.name, None), contract, now, me) for task in tasks]
    overrides += [Override(Kind.UNREGISTERED, before, None) for before in left.values()]
    return overrides


def _classify(task: Task, before: TaskRecord | None, contract: Contract, now: Instant, me: str) -> Override:
    owner = me if contract.identifier_in_record is Identifier.ALWAYS else ""
    if before is None:
        return Override(Kind.NEW, None, TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner))
    changed = before.cron != task.cron or before.retry_delay != task.retry_delay
    cut_off = before.interrupted(me)
    if changed and contract.changed_task_history is History.RESET:
        # The change counts as the first coming of the task, which forgets every demand, also that of a cut-off run.
        fresh = TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner)
        if before.running_since is not None and not cut_off:
            fresh = fresh._replace(running_since=before.running_since, scheduler=me)
        return Override(Kind.OVERRIDDEN, before, fresh, changed)
    clamped = clamp(before, now)
    after = before if clamped is None else clamped.after
    if changed:
        after = after._replace(cron=task.cron, retry_delay=task.retry_delay)
    if cut_off and contract.interrupted_run is Interrupted.RESTART:
        # The marks of the cut-off run stay until its restart is recorded: a crash in between owes it still.
        return Override(Kind.ORPHANED, before, after, changed, clamped)
    if cut_off:
        after = after._replace(running_since=None, scheduler=owner)
    elif owner and before.scheduler != me:
        after = after._replace(scheduler=me)
    return Override(Kind.OVERRIDDEN if changed else Kind.PRESERVED, before, after, changed, clamped)
