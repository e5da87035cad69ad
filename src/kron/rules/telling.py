"""What happened -> the events that tell of it, in causal order. Whoever emits asks first whether anybody listens."""

from collections.abc import Iterator

from kron.errors import cause_text, is_of_database, shown
from kron.instant import Instant, format_instant
from kron.rules.baseline import Clamped
from kron.rules.contract import Contract, Orphan
from kron.rules.event import Event, event
from kron.rules.obligation import Obligation, Why
from kron.rules.override import Kind, Override
from kron.rules.record import TaskRecord, milliseconds


def tell_override(override: Override, contract: Contract, *, run_follows: bool, skipped: bool) -> Iterator[Event]:
    """Yield what initialisation has to say about one task; `skipped`: it was scheduled already and did not change."""
    kind, before, after, changed, clamped = override
    if after is None:
        if before is not None and contract.orphan_means is Orphan.UNREGISTERED:
            yield _orphaned(before)
        return
    if clamped is not None:
        yield tell_clamp(clamped)
    if kind is Kind.NEW:
        yield event("TaskAdded", taskName=after.name, **_configuration(after))
    elif changed and before is not None:
        old, new = _configuration(before), _configuration(after)
        yield event(
            "TaskOverridden",
            taskName=after.name,
            changeType=",".join(field for field in new if old[field] != new[field]),
            oldState=old,
            newState=new,
            runFollows=run_follows,
        )
    if before is not None and kind is Kind.ORPHANED and contract.orphan_means is Orphan.INTERRUPTED:
        yield _orphaned(before)
    elif kind is Kind.PRESERVED or (kind is Kind.ORPHANED and not changed):
        yield event("TaskPreserved", taskName=after.name)
    if skipped:
        yield event("TaskSkipped", taskName=after.name, reason="already scheduled and unchanged")
    else:
        yield event("TaskScheduled", taskName=after.name, **_configuration(after))


def tell_clamp(clamped: Clamped) -> Event:
    """Return what is said of a baseline that was far in the future."""
    after, baseline, to = clamped
    times = {"baseline": format_instant(baseline), "clampedTo": format_instant(to)}
    return event("BaselineClamped", taskName=after.name, **times)


def tell_start(name: str, owed: Obligation, after: TaskRecord, now: Instant) -> Iterator[Event]:
    """Yield what a start has to say."""
    if owed.preempts_retry:
        yield event("TaskRetryPreempted", taskName=name, reason=f"a run is {owed.why.value}")
    if owed.why is Why.RETRY:
        yield event("TaskRetryStarted", taskName=name, retryCount=after.retry_count)
    times = {"scheduledTime": format_instant(owed.scheduled), "actualTime": format_instant(now)}
    yield event("TaskRunStarted", None, now, taskName=name, **times, isRetry=owed.why is Why.RETRY)


def tell_end(
    name: str, ended: Instant | None, seconds: float, error: BaseException | None, retry_at: Instant | None
) -> Event:
    """Return what an end has to say."""
    if error is None:
        return event("TaskRunCompleted", None, ended, taskName=name, duration=seconds, success=True)
    fields = {"nextRetryAt": format_instant(retry_at)} if retry_at is not None else {}
    return event(
        "TaskRunFailed",
        error,
        ended,
        taskName=name,
        duration=seconds,
        success=False,
        error=error_text(error),
        **fields,
    )


def error_text(error: BaseException) -> str:
    """Return an exception in one line, whatever its author put into it."""
    name = shown(type(error).__name__)
    try:
        message = shown(str(error))
    except BaseException:  # an exception whose text cannot be made still ended the run
        message = ""
    return f"{name}: {message}" if message else name


def failure_text(error: BaseException) -> str:
    """Return an error of a ledger in one line, without the words of a database."""
    return cause_text(error) if is_of_database(error) else error_text(error)


def _orphaned(record: TaskRecord) -> Event:
    last = format_instant(record.last_attempt) if record.last_attempt is not None else None  # it has not run yet
    return event("TaskOrphaned", taskName=record.name, lastExecutionTime=last, schedulerIdentifier=record.scheduler)


def _configuration(record: TaskRecord) -> dict[str, object]:
    return {"cronExpression": record.cron, "retryDelayMs": milliseconds(record.retry_delay)}
