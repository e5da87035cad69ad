"""Tests of obligation and look_again: why a run is owed now, and when one could be."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.instant import MICROSECOND, Instant, parse_instant
from kron.rules.contract import FirstMinute
from kron.rules.due import Occurrences
from kron.rules.obligation import (
    Obligation,
    ObligationReason,
    StartTask,
    next_evaluation,
    obligation,
    owned_after,
    plan_task,
)
from kron.rules.task_record import TaskRecord

ME, ANOTHER = "scheduler-2", "scheduler-1"
SCHEDULE = Schedule("0 * * * *")
HOURLY = Occurrences(SCHEDULE)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOON = parse_instant("2026-03-02T12:00:00Z")
LONG_AGO = NOON - 30 * DAY


def task(
    first_seen: Instant = LONG_AGO,
    last_attempt: Instant | None = None,
    retry_until: Instant | None = None,
    running_since: Instant | None = None,
    scheduler: str = "",
) -> TaskRecord:
    record = TaskRecord("report", "0 * * * *", 5 * MINUTE, first_seen, last_attempt, retry_until=retry_until)
    return record._replace(running_since=running_since, scheduler=scheduler)


def owed(record: TaskRecord, now: Instant) -> Obligation | None:
    return obligation(record, HOURLY, now, ME)


def due(scheduled: Instant, *, preempts_retry: bool = False) -> Obligation:
    return Obligation(ObligationReason.DUE, scheduled, preempts_retry)


# --- due --------------------------------------------------------------------------------------------------------------

SERVED_AT_ELEVEN = task(last_attempt=NOON - HOUR)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOON - MICROSECOND, None),
        (NOON, due(NOON)),
        (NOON + MICROSECOND, due(NOON)),
        (NOON + HOUR - MICROSECOND, due(NOON)),
    ],
    ids=["just before", "at", "just after", "just before the next"],
)
def test_a_run_is_owed_from_its_occurrence_on(now: Instant, expected: Obligation | None) -> None:
    assert owed(SERVED_AT_ELEVEN, now) == expected


@pytest.mark.parametrize(
    ("last_attempt", "expected"),
    [(NOON - MICROSECOND, due(NOON)), (NOON, None), (NOON + MICROSECOND, None)],
    ids=["just before it", "at it", "just after it"],
)
def test_a_start_at_or_after_an_occurrence_serves_it(last_attempt: Instant, expected: Obligation | None) -> None:
    assert owed(task(last_attempt=last_attempt), NOON + MINUTE) == expected


def test_however_many_occurrences_were_missed_one_run_is_owed_for_the_latest() -> None:
    week_later = NOON + 7 * DAY + 20 * MINUTE

    assert owed(SERVED_AT_ELEVEN, week_later) == due(NOON + 7 * DAY)


def test_one_start_makes_up_for_all_that_was_missed() -> None:
    late = NOON + 7 * DAY + 20 * MINUTE

    begun = plan_task(SERVED_AT_ELEVEN, HOURLY, late, ME)

    assert isinstance(begun, StartTask)
    assert owed(begun.after._replace(running_since=None), late) is None


# --- the first minute -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first_seen", "expected"),
    [
        (NOON, due(NOON)),
        (NOON + timedelta(seconds=30), due(NOON)),
        (NOON + MINUTE - MICROSECOND, due(NOON)),
        (NOON + MINUTE, None),
    ],
    ids=["at its start", "within", "at its end", "in the next minute"],
)
def test_a_task_first_seen_in_a_matching_minute_owes_that_minute(
    first_seen: Instant, expected: Obligation | None
) -> None:
    assert owed(task(first_seen=first_seen), first_seen) == expected


def test_a_matching_minute_of_the_first_registration_stays_owed() -> None:
    assert owed(task(first_seen=NOON + timedelta(seconds=30)), NOON + 20 * MINUTE) == due(NOON)


def test_an_occurrence_before_the_first_registration_is_not_owed() -> None:
    assert owed(task(first_seen=NOON + MINUTE), NOON + HOUR - MICROSECOND) is None


def test_a_task_that_never_ran_owes_what_came_after_its_first_registration() -> None:
    assert owed(task(first_seen=NOON + MINUTE), NOON + 5 * HOUR) == due(NOON + 5 * HOUR)


# --- retries ----------------------------------------------------------------------------------------------------------

FAILED = task(last_attempt=NOON, retry_until=NOON + 5 * MINUTE)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOON + 5 * MINUTE - MICROSECOND, None),
        (NOON + 5 * MINUTE, Obligation(ObligationReason.RETRY, NOON + 5 * MINUTE, preempts_retry=False)),
        (NOON + 59 * MINUTE, Obligation(ObligationReason.RETRY, NOON + 5 * MINUTE, preempts_retry=False)),
    ],
    ids=["just before", "at", "after"],
)
def test_a_retry_is_owed_when_its_delay_has_passed(now: Instant, expected: Obligation | None) -> None:
    assert owed(FAILED, now) == expected


def test_an_occurrence_does_not_wait_for_a_retry() -> None:
    failed = task(last_attempt=NOON, retry_until=NOON + 90 * MINUTE)

    assert owed(failed, NOON + HOUR) == due(NOON + HOUR, preempts_retry=True)


def test_where_an_occurrence_and_a_retry_are_both_owed_the_occurrence_names_the_run() -> None:
    assert owed(FAILED, NOON + HOUR) == due(NOON + HOUR, preempts_retry=True)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("now", [NOON, NOON + HOUR, NOON + 30 * DAY], ids=str)
@pytest.mark.parametrize("retry_until", [None, NOON - MINUTE], ids=["no retry", "a retry"])
def test_a_task_that_runs_owes_nothing(now: Instant, retry_until: Instant | None) -> None:
    running = task(last_attempt=NOON, retry_until=retry_until, running_since=NOON, scheduler=ME)

    assert owed(running, now) is None


def test_an_occurrence_during_a_run_is_owed_when_it_has_ended() -> None:
    assert owed(task(last_attempt=NOON), NOON + 2 * HOUR + MINUTE) == due(NOON + 2 * HOUR)


@pytest.mark.parametrize("scheduler", [ANOTHER, ""], ids=["of another scheduler", "of no scheduler"])
def test_a_run_that_was_cut_off_is_owed_at_once(scheduler: str) -> None:
    cut_off = task(last_attempt=NOON, running_since=NOON, scheduler=scheduler)

    assert owed(cut_off, NOON + MINUTE) == Obligation(ObligationReason.ORPHANED, NOON, preempts_retry=False)


def test_an_interrupted_run_serves_an_occurrence_and_a_retry_that_came_meanwhile() -> None:
    cut_off = task(last_attempt=NOON, retry_until=NOON + MINUTE, running_since=NOON, scheduler=ANOTHER)

    assert owed(cut_off, NOON + 2 * HOUR + MINUTE) == Obligation(
        ObligationReason.ORPHANED, NOON + 2 * HOUR, preempts_retry=True
    )


def test_a_cut_off_run_without_any_occurrence_is_owed_for_now() -> None:
    first_moments = parse_instant("0001-01-01T00:01:00Z")
    cut_off = task(first_moments, running_since=first_moments, scheduler=ANOTHER)

    found = obligation(cut_off, Occurrences(Schedule("0 3 * * *")), first_moments, ME)

    assert found == Obligation(ObligationReason.ORPHANED, first_moments, preempts_retry=False)


# --- a clock that is set back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("back", [MICROSECOND, MINUTE, HOUR, 30 * DAY], ids=str)
def test_an_occurrence_that_comes_again_because_the_clock_was_set_back_is_not_owed_again(back: timedelta) -> None:
    assert owed(task(last_attempt=NOON), NOON - back) is None
    assert owed(task(last_attempt=NOON), NOON) is None


def test_a_task_first_seen_in_what_is_now_the_future_owes_nothing_yet() -> None:
    assert owed(task(first_seen=NOON + MINUTE), NOON - HOUR) is None


moments = st.timedeltas(-DAY, DAY).map(lambda away: NOON + away)


@given(st.lists(moments, min_size=1), moments)
def test_however_the_clock_is_set_no_occurrence_is_served_twice(nows: list[Instant], first_seen: Instant) -> None:
    record, served = task(first_seen=first_seen), []
    for now in nows:
        match plan_task(record, HOURLY, now, ME):
            case StartTask(owed_now, after):
                served.append(owed_now.scheduled)
                record = after._replace(running_since=None)

    assert len(served) == len(set(served))
    assert served == sorted(served)


# --- laws -------------------------------------------------------------------------------------------------------------

maybe = st.none() | moments
records = st.builds(task, moments, maybe, maybe, maybe, st.sampled_from([ME, ANOTHER, ""]))


@given(records, moments)
def test_a_run_is_owed_exactly_if_one_of_the_reasons_holds(record: TaskRecord, now: Instant) -> None:
    latest = SCHEDULE.previous(now)
    running_here = record.running_since is not None and record.scheduler == ME
    orphaned = record.running_since is not None and record.scheduler != ME
    retry = record.retry_until is not None and record.retry_until <= now
    baseline = record.first_seen.replace(second=0, microsecond=0)
    unserved = latest >= baseline and (record.last_attempt is None or latest > record.last_attempt)

    found = owed(record, now)

    assert (found is not None) == (not running_here and (orphaned or retry or unserved))


@given(records, moments)
def test_nothing_is_owed_for_an_instant_that_has_not_come(record: TaskRecord, now: Instant) -> None:
    found = owed(record, now)

    assert found is None or found.scheduled <= now


@given(records, moments)
def test_looking_again_at_the_given_instant_misses_no_run(record: TaskRecord, now: Instant) -> None:
    at = next_evaluation(record, HOURLY, now)

    assert at is not None
    if owed(record, now) is None:
        assert at > now
        assert owed(record, at - MICROSECOND) is None


# --- when to look again -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (task(last_attempt=NOON), NOON + HOUR),
        (task(last_attempt=NOON, retry_until=NOON + 5 * MINUTE), NOON + 5 * MINUTE),
        (task(last_attempt=NOON, retry_until=NOON + HOUR), NOON + HOUR),
        (task(last_attempt=NOON, retry_until=NOON + 2 * HOUR), NOON + HOUR),
        (task(last_attempt=NOON, retry_until=NOON + 5 * MINUTE, running_since=NOON, scheduler=ME), NOON + HOUR),
    ],
    ids=["no retry", "retry first", "both at once", "occurrence first", "running"],
)
def test_the_next_look_is_at_the_next_occurrence_or_the_retry(record: TaskRecord, expected: Instant) -> None:
    assert next_evaluation(record, HOURLY, NOON) == expected


def test_where_the_calendar_ends_only_a_retry_is_left() -> None:
    last = parse_instant("9999-12-31T23:30:00Z")

    assert next_evaluation(task(last_attempt=last), HOURLY, last) is None
    assert next_evaluation(task(last_attempt=last, retry_until=last + MINUTE), HOURLY, last) == last + MINUTE


# --- the first minute -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first_minute", "expected"),
    [(FirstMinute.RUN, due(NOON)), (FirstMinute.NOT_OWNED, None)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_contract_says_who_owns_the_minute_in_which_a_task_is_declared(
    first_minute: FirstMinute, expected: Obligation | None
) -> None:
    declared_at = NOON + MINUTE / 3

    found = obligation(task(first_seen=declared_at), HOURLY, declared_at, ME, first_minute=first_minute)

    assert found == expected


def test_a_task_that_is_declared_when_the_calendar_begins_owns_what_comes_after_it() -> None:
    beginning = datetime.min.replace(tzinfo=UTC)

    assert owned_after(beginning, FirstMinute.RUN) == beginning
