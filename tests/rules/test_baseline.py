"""clamp: a baseline or a retry that lies more than an hour in the future is counted from now; nothing else changes."""

from datetime import timedelta

import pytest

from kron.instant import Instant, parse_instant
from kron.rules.baseline import Clamped, clamp
from kron.rules.task_record import TaskRecord

NOW = parse_instant("2026-03-02T12:00:00Z")
HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)
LAST_YEAR = NOW - 365 * DAY


def record(first: Instant = LAST_YEAR, **times: Instant | None) -> TaskRecord:
    return TaskRecord("report", "0 9 * * *", 5 * MINUTE, first, **times)  # type: ignore[arg-type]


def clamped(before: TaskRecord) -> Clamped:
    found = clamp(before, NOW)
    assert found is not None
    return found


def test_a_last_start_days_ahead_becomes_now() -> None:
    before = record(last_attempt=NOW + 3 * DAY)

    assert clamped(before) == (before._replace(last_attempt=NOW), NOW + 3 * DAY, NOW)


def test_a_first_registration_days_ahead_becomes_now() -> None:
    before = record(NOW + 3 * DAY)

    assert clamped(before) == (before._replace(first_seen=NOW), NOW + 3 * DAY, NOW)


def test_all_that_the_wrong_clock_has_recorded_becomes_now() -> None:
    ahead = NOW + 3 * DAY

    after = clamped(record(ahead, last_attempt=ahead, last_success=ahead, last_failure=ahead)).after

    assert (after.first_seen, after.last_attempt, after.last_success, after.last_failure) == (NOW,) * 4


@pytest.mark.parametrize("lead", [HOUR, MINUTE, -DAY])
def test_a_baseline_up_to_an_hour_ahead_is_left_alone(lead: timedelta) -> None:
    assert clamp(record(last_attempt=NOW + lead), NOW) is None
    assert clamp(record(NOW + lead), NOW) is None


def test_a_baseline_a_microsecond_more_than_an_hour_ahead_is_clamped() -> None:
    assert clamped(record(last_attempt=NOW + HOUR + timedelta(microseconds=1))).clamped_to == NOW


def test_a_retry_after_a_failure_days_ahead_waits_its_delay_from_now() -> None:
    failed = NOW + 3 * DAY
    before = record(last_attempt=NOW - HOUR, last_failure=failed, retry_until=failed + 5 * MINUTE)

    found = clamped(before)

    assert (found.baseline, found.clamped_to) == (failed + 5 * MINUTE, NOW + 5 * MINUTE)
    assert found.after == before._replace(last_failure=NOW, retry_until=NOW + 5 * MINUTE)


def test_a_retry_without_the_time_of_its_failure_is_held_against_the_delay_of_the_task() -> None:
    assert clamped(record(retry_until=NOW + 3 * DAY)).after.retry_until == NOW + 5 * MINUTE
    assert clamp(record(retry_until=NOW + HOUR + 5 * MINUTE), NOW) is None


def test_a_retry_that_waits_by_an_earlier_and_longer_delay_is_left_alone() -> None:
    assert clamp(record(last_failure=NOW - HOUR, retry_until=NOW + 9 * HOUR), NOW) is None


def test_what_was_clamped_is_not_clamped_again() -> None:
    failed = NOW + 3 * DAY
    found = clamped(record(failed, last_attempt=failed, last_failure=failed, retry_until=failed + HOUR))

    assert clamp(found.after, NOW) is None


def test_a_start_half_an_hour_ahead_stays_though_its_failure_is_far_ahead() -> None:
    started, failed = NOW + HOUR / 2, NOW + HOUR + MINUTE
    before = record(NOW + MINUTE, last_attempt=started, last_failure=failed, retry_until=failed + 5 * MINUTE)

    assert clamped(before).after == before._replace(last_failure=NOW, retry_until=NOW + 5 * MINUTE)


def test_a_retry_that_is_not_far_ahead_keeps_its_instant_and_its_delay_beside_a_clamped_start() -> None:
    started, failed = NOW + HOUR + MINUTE, NOW + MINUTE  # the clock was set back while it ran
    before = record(last_attempt=started, last_failure=failed, retry_until=failed + 5 * MINUTE)

    assert clamped(before).after == before._replace(last_attempt=NOW)
