"""What a changed declaration does: to tasks (`reconcile`) and to periods (`redefine_in_parts`)."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.instant import MICROSECOND, SECOND, Instant
from kron.rules.contract import ChangedTaskHistory, Contract, IdentifierScope, InterruptedRun
from kron.rules.effort import PERIOD, Parts, work_of
from kron.rules.outage import ClosedPeriods, Outage, close_period, merge_adjacent_in_parts, recover_in_parts
from kron.rules.periods import NO_PERIODS, HandledPeriods, effective_time
from kron.rules.policy import Policy
from kron.rules.registration import TaskSpec
from kron.rules.task_record import Clamped, TaskRecord, clamp
from kron.rules.verdict import Outcome, Reason


class OverrideKind(Enum):
    """How a task stands to what is stored."""

    NEW = "new"
    PRESERVED = "preserved"
    OVERRIDDEN = "overridden"
    ORPHANED = "orphaned"  # cut off by a crash, and owed again
    UNREGISTERED = "unregistered"  # stored, and in the list no more


class Override(NamedTuple):
    """One task's classification, what was stored of it and what is to be; `after` is None for one that goes."""

    kind: OverrideKind
    before: TaskRecord | None
    after: TaskRecord | None
    changed: bool = False  # the configuration differs, also of an orphaned task
    clamped: Clamped | None = None  # the stored baseline was far in the future


def reconcile(
    tasks: Iterable[TaskSpec], stored: Mapping[str, TaskRecord], contract: Contract, now: Instant, scheduler_id: str
) -> list[Override]:
    """Return one override for each registered and each stored task, registered ones first, in their order."""
    left = dict(stored)
    overrides = [_classify(task, left.pop(task.name, None), contract, now, scheduler_id) for task in tasks]
    overrides += [Override(OverrideKind.UNREGISTERED, before, None) for before in left.values()]
    return overrides


def _classify(
    task: TaskSpec, before: TaskRecord | None, contract: Contract, now: Instant, scheduler_id: str
) -> Override:
    owner = scheduler_id if contract.identifier_in_record is IdentifierScope.ALWAYS else ""
    recorded = None if before is None else (before.cron, before.retry_delay)
    change = compare_definition(recorded, (task.cron, task.retry_delay))
    if before is None:
        return Override(
            OverrideKind.NEW, None, TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner)
        )
    changed = change is not DefinitionChange.SAME
    cut_off = before.is_interrupted(scheduler_id)
    if changed and contract.changed_task_history is ChangedTaskHistory.RESET:
        # The change counts as the first coming of the task, which forgets every demand, also that of a cut-off run.
        fresh = TaskRecord(task.name, task.cron, task.retry_delay, now, scheduler=owner)
        if before.running_since is not None and not cut_off:
            fresh = fresh._replace(running_since=before.running_since, scheduler=scheduler_id)
        return Override(OverrideKind.OVERRIDDEN, before, fresh, changed)
    clamped = clamp(before, now)
    after = before if clamped is None else clamped.after
    if changed:
        after = after._replace(cron=task.cron, retry_delay=task.retry_delay)
    if cut_off and contract.interrupted_run is InterruptedRun.RESTART:
        # The marks of the cut-off run stay until its restart is recorded: a crash in between owes it still.
        return Override(OverrideKind.ORPHANED, before, after, changed, clamped)
    if cut_off:
        after = after._replace(running_since=None, scheduler=owner)
    elif owner and before.scheduler != scheduler_id:
        after = after._replace(scheduler=scheduler_id)
    return Override(OverrideKind.OVERRIDDEN if changed else OverrideKind.PRESERVED, before, after, changed, clamped)


_CHANGED = Reason.DEFINITION_CHANGED.value


class DefinitionChange(Enum):
    """How a definition differs from the one that was in force before."""

    ADDED = "added"  # there was none
    REMOVED = "removed"  # there is none
    SAME = "same"
    SETTINGS = "settings"  # not in its timing: every period keeps its second, and none is closed
    TIMING = "timing"  # what had begun under the old timing and is not run by the new one is closed


def compare_definition(
    before: Hashable | None, after: Hashable | None, timings: Callable[[], tuple[object, object]] | None = None
) -> DefinitionChange:
    """Return how a definition changed; None: there is none.

    `before` and `after` identify two definitions: keys, hashes, or the fields that count. `timings` returns
    both timings, and is called only if they differ; without it every difference is one of the timing.
    """
    if before is None:
        return DefinitionChange.SAME if after is None else DefinitionChange.ADDED
    if after is None:
        return DefinitionChange.REMOVED
    if before == after:
        return DefinitionChange.SAME
    if timings is not None:
        old, new = timings()
        if old == new:
            return DefinitionChange.SETTINGS
    return DefinitionChange.TIMING


def redefine_in_parts(
    old: Timing, new: Timing | None, policy: Policy, gap: Outage, handled: HandledPeriods = NO_PERIODS
) -> Parts[list[ClosedPeriods]]:
    """Return what is closed by a change at the end of the gap; everything until its beginning was handled before.

    `new` is None for a job that is removed.
    """
    terms = old.terms
    begun = old.schedule.between(gap.since - SECOND * terms.last - MICROSECOND, gap.until - SECOND * terms.first)
    if next(begun, None) is None:
        return []  # nothing had begun: the usual case when files are reloaded
    owned = yield from _owned(old, new, gap.until)
    kept = HandledPeriods((*handled.under(old.schedule).spans, *((nominal, nominal) for nominal in owned)))
    past = yield from recover_in_parts(old, policy, gap, gap.until, kept)
    closings = [
        closing._replace(reason=_CHANGED) if closing.outcome is Outcome.SKIPPED else closing
        for closing in past.closed_before + past.closed_after
    ]
    open_ones = [past.runs] if past.runs is not None else []
    first, last = gap.until - SECOND * terms.last - MICROSECOND, gap.until - SECOND * terms.first
    for nominal in old.schedule.between(first, last):
        if kept.has(nominal):
            yield PERIOD
            continue
        decision = decide(old, nominal)
        yield work_of(decision)
        open_ones += [decision] if effective_time(decision) > gap.until else []
    closings += [close_period(each, Outcome.SKIPPED, _CHANGED) for each in open_ones]
    return (yield from merge_adjacent_in_parts(old.schedule, closings))


def is_closed(nominal: Instant, new: Timing | None, changed_at: Instant) -> bool:
    """Whether a change closes one period of the old definition: it had begun, and the new one does not run it.

    It is `redefine_in_parts` for a host that knows of the old definition no more than the next nominal time.
    """
    if new is None or nominal > changed_at:
        return nominal <= changed_at
    is_period = nominal in new.schedule.between(nominal - MICROSECOND, nominal)
    return not is_period or effective_time(decide(new, nominal)) <= changed_at


def _owned(old: Timing, new: Timing | None, at: Instant) -> Parts[set[Instant]]:
    """Return the nominal times of periods that had begun under the old definition, and that the new one may run."""
    if new is None:
        return set()
    owned = set[Instant]()
    first, last = at - SECOND * new.terms.last - MICROSECOND, at - SECOND * min(old.terms.first, new.terms.first)
    for nominal in new.schedule.between(first, last):
        decision = decide(new, nominal)
        yield work_of(decision)
        if effective_time(decision) > at:
            owned.add(nominal)
    return owned
