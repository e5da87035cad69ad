"""tell_*(…): emit events about tasks: their declaration, their starts and their ends."""

from collections.abc import Iterator
from datetime import timedelta

from kron.engine.emitter import Emitter
from kron.engine.tasks.declaration import TaskDeclaration
from kron.engine.tasks.step import TaskStep
from kron.errors import cause_text, is_of_database
from kron.errors.base import describe_exception
from kron.instant import Instant, format_instant
from kron.rules.contract import Contract, OrphanMeaning
from kron.rules.events import INFO, WARNING, Event, make_event
from kron.rules.obligation import Obligation, ObligationReason
from kron.rules.override import Override, OverrideKind
from kron.rules.task_record import Clamped, TaskRecord, milliseconds


def override_events(override: Override, contract: Contract, *, run_follows: bool, skipped: bool) -> Iterator[Event]:
    """Yield what initialisation has to say about one task; `skipped`: it was scheduled already and did not change."""
    kind, before, after, changed, clamped = override
    if after is None:
        if before is not None and contract.orphan_means is OrphanMeaning.UNREGISTERED:
            yield _orphaned(before)
        return
    if clamped is not None:
        yield clamp_events(clamped)
    if kind is OverrideKind.NEW:
        yield make_event("TaskAdded", taskName=after.name, **_configuration(after))
    elif changed and before is not None:
        old, new = _configuration(before), _configuration(after)
        yield make_event(
            "TaskOverridden",
            taskName=after.name,
            changeType=",".join(field for field in new if old[field] != new[field]),
            oldState=old,
            newState=new,
            runFollows=run_follows,
        )
    if before is not None and kind is OverrideKind.ORPHANED and contract.orphan_means is OrphanMeaning.INTERRUPTED:
        yield _orphaned(before)
    elif kind is OverrideKind.PRESERVED or (kind is OverrideKind.ORPHANED and not changed):
        yield make_event("TaskPreserved", taskName=after.name)
    if skipped:
        yield make_event("TaskSkipped", taskName=after.name, reason="already scheduled and unchanged")
    else:
        yield make_event("TaskScheduled", taskName=after.name, **_configuration(after))


def clamp_events(clamped: Clamped) -> Event:
    """Return what is said of a baseline that was far in the future."""
    after, baseline, to = clamped
    times = {"baseline": format_instant(baseline), "clampedTo": format_instant(to)}
    return make_event("BaselineClamped", taskName=after.name, **times)


def start_events(name: str, owed: Obligation, after: TaskRecord, now: Instant) -> Iterator[Event]:
    """Yield what a start has to say."""
    if owed.preempts_retry:
        yield make_event("TaskRetryPreempted", taskName=name, reason=f"a run is {owed.reason.value}")
    if owed.reason is ObligationReason.RETRY:
        yield make_event("TaskRetryStarted", taskName=name, retryCount=after.retry_count)
    times = {"scheduledTime": format_instant(owed.scheduled), "actualTime": format_instant(now)}
    yield make_event("TaskRunStarted", None, now, taskName=name, **times, isRetry=owed.reason is ObligationReason.RETRY)


def end_event(
    name: str, ended: Instant | None, seconds: float, error: BaseException | None, retry_at: Instant | None
) -> Event:
    """Return what an end has to say."""
    if error is None:
        return make_event("TaskRunCompleted", None, ended, taskName=name, duration=seconds, success=True)
    fields = {"nextRetryAt": format_instant(retry_at)} if retry_at is not None else {}
    return make_event(
        "TaskRunFailed",
        error,
        ended,
        taskName=name,
        duration=seconds,
        success=False,
        error=describe_exception(error),
        **fields,
    )


def failure_text(error: BaseException) -> str:
    """Return an error of a ledger in one line, without the words of a database."""
    return cause_text(error) if is_of_database(error) else describe_exception(error)


def _orphaned(record: TaskRecord) -> Event:
    last = format_instant(record.last_attempt) if record.last_attempt is not None else None  # it has not run yet
    return make_event(
        "TaskOrphaned", taskName=record.name, lastExecutionTime=last, schedulerIdentifier=record.scheduler
    )


def _configuration(record: TaskRecord) -> dict[str, object]:
    return {"cronExpression": record.cron, "retryDelayMs": milliseconds(record.retry_delay)}


def tell_declaration(emitter: Emitter, made: TaskDeclaration, contract: Contract, owing: set[str]) -> None:
    """Emit how each task of a new list was changed."""
    if not emitter.wants(WARNING):
        return
    quiet = not emitter.wants(INFO)  # then only what has a warning to give is looked at
    for override in made.overrides:
        record = override.after or override.before
        is_noteworthy = (
            override.kind in (OverrideKind.ORPHANED, OverrideKind.UNREGISTERED) or override.clamped is not None
        )
        if record is None or (quiet and not is_noteworthy):
            continue
        events = override_events(
            override, contract, run_follows=record.name in owing, skipped=record.name in made.skipped
        )
        emitter.emit(events)


def tell_ends(emitter: Emitter, step: TaskStep) -> None:
    """Emit an event for each run that ended, now that its end is recorded."""
    completed, failed = emitter.takes("TaskRunCompleted"), emitter.takes("TaskRunFailed")
    if completed or failed:
        for run, retry in zip(step.ended, step.retries, strict=True):
            error = None if run.result is None else run.result.error
            if completed if error is None else failed:
                emitter.emit((end_event(run.run_id, run.ended_at, run.seconds, error, retry),))


def start_delay(before: TaskRecord, owed: Obligation, now: Instant, armed: Instant | None) -> timedelta:
    """Return how late a start comes; time without a scheduler, or while the task ran, does not count."""
    reasons = (owed.scheduled, armed, before.last_success, before.last_failure)
    return now - max(at for at in reasons if at is not None)
