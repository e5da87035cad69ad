"""Tests of plan and settle: which tasks start now, what is recorded, and the state after an end."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.instant import Instant, parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract, IdentifierScope
from kron.rules.due import Occurrences
from kron.rules.obligation import Later, Obligation, ObligationReason, StartTask, plan_task, record_end
from kron.rules.task_record import TaskRecord

ME, ANOTHER = "scheduler-2", "scheduler-1"
HOURLY = Occurrences(Schedule("0 * * * *"))
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOON = parse_instant("2026-03-02T12:00:00Z")
REPORT = TaskRecord("report", "0 * * * *", 5 * MINUTE, NOON - 30 * DAY, NOON - HOUR, NOON - 50 * MINUTE)
CONTRACTS = [POLLING_DRAFT, POLLING, DECLARATIVE]

every_contract = pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)
however_it_ended = pytest.mark.parametrize("succeeded", [True, False], ids=["success", "failure"])


def begin(record: TaskRecord, now: Instant) -> StartTask:
    """Return what begins, given that something does."""
    found = plan_task(record, HOURLY, now, ME)
    assert isinstance(found, StartTask)
    return found


def fail(record: TaskRecord, ended: Instant) -> TaskRecord:
    return record_end(record, ended, succeeded=False, contract=DECLARATIVE)


def succeed(record: TaskRecord, ended: Instant) -> TaskRecord:
    return record_end(record, ended, succeeded=True, contract=DECLARATIVE)


# --- plan -------------------------------------------------------------------------------------------------------------


def test_nothing_begins_where_nothing_is_owed() -> None:
    assert plan_task(REPORT, HOURLY, NOON - MINUTE, ME) == Later(NOON)


def test_a_task_that_runs_is_looked_at_again_with_its_next_occurrence() -> None:
    running = REPORT._replace(running_since=NOON, scheduler=ME)

    assert plan_task(running, HOURLY, NOON, ME) == Later(NOON + HOUR)


def test_without_further_occurrences_there_is_no_next_look() -> None:
    last = parse_instant("9999-12-31T23:30:00Z")

    assert plan_task(REPORT._replace(last_attempt=last), HOURLY, last, ME) == Later(None)


def test_a_start_is_remembered_as_attempt_and_as_running_here() -> None:
    now = NOON + timedelta(seconds=3)

    begun = begin(REPORT, now)

    assert begun.owed == Obligation(ObligationReason.DUE, NOON, preempts_retry=False)
    assert begun.after == REPORT._replace(last_attempt=now, running_since=now, scheduler=ME)


def test_a_start_clears_a_retry_that_waits_and_its_count() -> None:
    failed = REPORT._replace(last_failure=NOON - MINUTE, retry_until=NOON + 4 * MINUTE, retry_count=3)

    begun = begin(failed, NOON)

    assert begun.owed.preempts_retry
    assert (begun.after.retry_until, begun.after.retry_count) == (None, 0)
    assert begun.after.last_failure == NOON - MINUTE


@pytest.mark.parametrize("count", [0, 1, 41])
def test_a_retry_is_counted(count: int) -> None:
    failed = REPORT._replace(last_attempt=NOON, retry_until=NOON + 5 * MINUTE, retry_count=count)

    begun = begin(failed, NOON + 5 * MINUTE)

    assert begun.owed.reason is ObligationReason.RETRY
    assert (begun.after.retry_until, begun.after.retry_count) == (None, count + 1)


def test_a_restart_clears_the_marks_of_the_run_that_was_cut_off() -> None:
    cut_off = REPORT._replace(running_since=NOON - HOUR, scheduler=ANOTHER, retry_count=2)

    begun = begin(cut_off, NOON - MINUTE)

    assert begun.owed.reason is ObligationReason.ORPHANED
    assert begun.after == REPORT._replace(last_attempt=NOON - MINUTE, running_since=NOON - MINUTE, scheduler=ME)


# --- settle -----------------------------------------------------------------------------------------------------------

RUNNING = REPORT._replace(last_attempt=NOON, last_failure=NOON - DAY, running_since=NOON, scheduler=ME)


def owner(contract: Contract) -> str:
    """Return whose name a record carries after a run has ended."""
    return ME if contract.identifier_in_record is IdentifierScope.ALWAYS else ""


@every_contract
def test_a_success_is_remembered_by_its_end(contract: Contract) -> None:
    after = record_end(RUNNING, NOON + MINUTE, succeeded=True, contract=contract)

    assert after == RUNNING._replace(last_success=NOON + MINUTE, running_since=None, scheduler=owner(contract))


@every_contract
def test_a_failure_is_remembered_by_its_end_and_by_its_retry(contract: Contract) -> None:
    after = record_end(RUNNING, NOON + MINUTE, succeeded=False, contract=contract)

    failed = RUNNING._replace(last_failure=NOON + MINUTE, retry_until=NOON + 6 * MINUTE)
    assert after == failed._replace(running_since=None, scheduler=owner(contract))


@however_it_ended
def test_an_end_is_never_written_as_an_attempt(*, succeeded: bool) -> None:
    after = record_end(RUNNING, NOON + 3 * HOUR, succeeded=succeeded, contract=DECLARATIVE)

    assert after.last_attempt == NOON


def test_a_failure_does_not_erase_the_last_success_nor_a_success_the_last_failure() -> None:
    assert fail(RUNNING, NOON + MINUTE).last_success == REPORT.last_success
    assert succeed(RUNNING, NOON + MINUTE).last_failure == NOON - DAY


def test_a_success_ends_the_count_of_retries_and_a_failure_keeps_it() -> None:
    retrying = RUNNING._replace(retry_count=3)

    assert succeed(retrying, NOON + MINUTE).retry_count == 0
    assert fail(retrying, NOON + MINUTE).retry_count == 3


def test_a_retry_without_a_delay_is_owed_at_once() -> None:
    failed = fail(RUNNING._replace(retry_delay=timedelta()), NOON + MINUTE)

    assert begin(failed, NOON + MINUTE).owed == Obligation(ObligationReason.RETRY, NOON + MINUTE, preempts_retry=False)


@pytest.mark.parametrize("delay", [timedelta.max, timedelta(days=365 * 9000)], ids=str)
def test_a_delay_that_leaves_the_calendar_waits_until_its_last_moment(delay: timedelta) -> None:
    failed = fail(RUNNING._replace(retry_delay=delay), NOON + MINUTE)

    assert failed.retry_until == datetime.max.replace(tzinfo=UTC)
    assert plan_task(failed, HOURLY, NOON + MINUTE, ME) == Later(NOON + HOUR)


def test_the_last_moment_of_the_calendar_can_be_persisted() -> None:
    failed = fail(RUNNING._replace(retry_delay=timedelta(days=365 * 9000)), NOON + MINUTE)

    assert TaskRecord.from_fields(failed.to_fields()) == failed


# --- one after the other ----------------------------------------------------------------------------------------------


def test_each_retry_of_a_task_that_keeps_failing_is_counted_until_its_next_occurrence() -> None:
    record, starts = REPORT, []
    for minutes in (0, 15, 30, 45, 60):
        now = NOON + minutes * MINUTE
        begun = begin(record, now)
        starts.append((minutes, begun.owed.reason, begun.after.retry_count))
        record = fail(begun.after, now + 10 * MINUTE)

    assert starts == [
        (0, ObligationReason.DUE, 0),
        (15, ObligationReason.RETRY, 1),
        (30, ObligationReason.RETRY, 2),
        (45, ObligationReason.RETRY, 3),
        (60, ObligationReason.DUE, 0),
    ]


@however_it_ended
def test_an_occurrence_that_came_during_a_run_is_owed_after_it(*, succeeded: bool) -> None:
    begun = begin(REPORT, NOON)

    after = record_end(begun.after, NOON + HOUR + MINUTE, succeeded=succeeded, contract=DECLARATIVE)

    assert begin(after, NOON + HOUR + MINUTE).owed == Obligation(
        ObligationReason.DUE, NOON + HOUR, preempts_retry=not succeeded
    )


moments = st.timedeltas(-DAY, DAY).map(lambda away: NOON + away)
maybe = st.none() | moments
records = st.builds(
    TaskRecord,
    st.just("report"),
    st.just("0 * * * *"),
    st.timedeltas(timedelta(), 2 * DAY),
    moments,
    maybe,
    maybe,
    maybe,
    maybe,
    st.integers(0, 3),
    maybe,
    st.sampled_from(["", ME, ANOTHER]),
)


@given(records, moments)
def test_after_a_start_and_a_success_nothing_is_owed_at_that_instant(record: TaskRecord, now: Instant) -> None:
    planned = plan_task(record, HOURLY, now, ME)

    if isinstance(planned, StartTask):
        assert isinstance(plan_task(planned.after, HOURLY, now, ME), Later)
        assert isinstance(plan_task(succeed(planned.after, now), HOURLY, now, ME), Later)


def test_a_start_by_a_clock_that_was_set_back_does_not_make_what_was_served_owed_again() -> None:
    served = REPORT._replace(last_attempt=NOON, retry_until=NOON - HOUR / 2)
    retried = begin(served, NOON - HOUR / 2).after
    ended = succeed(retried, NOON - HOUR / 3)

    assert plan_task(ended, HOURLY, NOON, ME) == Later(NOON + HOUR)


@given(records, moments)
def test_a_plan_is_later_than_now_or_begins_now(record: TaskRecord, now: Instant) -> None:
    match plan_task(record, HOURLY, now, ME):
        case StartTask(_, after):
            assert (after.running_since, after.scheduler) == (now, ME)
            assert after.last_attempt == max(now, record.last_attempt or now)
        case Later(at):
            assert at is not None
            assert at > now


@given(record=records, ended=moments, contract=st.sampled_from(CONTRACTS), succeeded=st.booleans())
def test_after_an_end_nothing_runs_and_only_a_failure_owes_a_retry(
    record: TaskRecord, ended: Instant, contract: Contract, *, succeeded: bool
) -> None:
    after = record_end(record, ended, succeeded=succeeded, contract=contract)

    assert after.running_since is None
    assert after.retry_until == (None if succeeded else ended + record.retry_delay)
    assert after[:5] == record[:5]
