"""Tests of TaskRecord: a task's state as persisted fields and back."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from kron.errors import (
    InvalidInstantError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from kron.instant import Instant, format_instant, parse_instant
from kron.rules.task_record import FIELDS, Clamped, TaskRecord, clamp, milliseconds

THREE = parse_instant("2026-03-02T03:00:00Z")
BACKUP = TaskRecord("backup", "0 3 * * *", timedelta(minutes=5), THREE)
BUSY = TaskRecord(
    "backup",
    "0 3 * * *",
    timedelta(minutes=5),
    THREE,
    THREE + timedelta(days=3),
    THREE + timedelta(days=1),
    THREE + timedelta(days=2),
    THREE + timedelta(days=2, minutes=5),
    2,
    THREE + timedelta(days=3, microseconds=1),
    "scheduler-1",
)
# Up to here a float of milliseconds tells one microsecond from the next.
LONGEST_EXACT = timedelta(days=365 * 200)

instants = st.datetimes(timezones=st.just(UTC))
delays = st.timedeltas(timedelta(), LONGEST_EXACT)
whole_delays = st.integers(0, timedelta.max // timedelta(milliseconds=1)).map(lambda ms: timedelta(milliseconds=ms))
texts = st.text(min_size=1)
records = st.builds(
    TaskRecord,
    texts,
    texts,
    delays | whole_delays,
    instants,
    st.none() | instants,
    st.none() | instants,
    st.none() | instants,
    st.none() | instants,
    st.integers(0, 2**53),
    st.none() | instants,
    st.text(),
)


def damaged(**fields: object) -> dict[str, object]:
    return {**BUSY.to_fields(), **fields}


def refusal(fields: object) -> TaskTryDeserializeError:
    """Return the error that the fields are refused with."""
    with pytest.raises(TaskTryDeserializeError) as caught:
        TaskRecord.from_fields(fields)
    return caught.value


# --- there and back ---------------------------------------------------------------------------------------------------


def test_a_record_is_persisted_in_camel_case_texts_and_milliseconds() -> None:
    assert BUSY.to_fields() == {
        "name": "backup",
        "cronExpression": "0 3 * * *",
        "retryDelayMs": 300_000,
        "firstSeenAt": "2026-03-02T03:00:00Z",
        "lastAttemptAt": "2026-03-05T03:00:00Z",
        "lastSuccessAt": "2026-03-03T03:00:00Z",
        "lastFailureAt": "2026-03-04T03:00:00Z",
        "pendingRetryUntil": "2026-03-04T03:05:00Z",
        "retryCount": 2,
        "runningSince": "2026-03-05T03:00:00.000001Z",
        "schedulerIdentifier": "scheduler-1",
    }


def test_times_of_events_that_have_not_happened_are_none() -> None:
    absent = {name for name, value in BACKUP.to_fields().items() if value is None}

    assert absent == {"lastAttemptAt", "lastSuccessAt", "lastFailureAt", "pendingRetryUntil", "runningSince"}


@given(records)
def test_a_record_is_read_back_as_it_was(record: TaskRecord) -> None:
    assert TaskRecord.from_fields(record.to_fields()) == record


@given(records)
def test_a_row_is_the_fields_in_their_order(record: TaskRecord) -> None:
    row = record.to_row()

    assert dict(zip(FIELDS, row, strict=True)) == record.to_fields()
    assert TaskRecord.from_row(row) == record


@given(records)
def test_only_texts_numbers_and_none_are_persisted(record: TaskRecord) -> None:
    assert {type(value) for value in record.to_row()} <= {str, int, float, type(None)}


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(), st.none() | st.integers() | st.floats() | st.text()))
def test_damage_of_any_kind_is_reported_as_a_task_that_cannot_be_read(damage: dict[str, object]) -> None:
    record = BUSY

    with suppress(TaskTryDeserializeError):
        record = TaskRecord.from_fields(damaged(**damage))

    assert record.first_seen.tzinfo is UTC
    assert record.retry_delay >= timedelta()
    assert record.retry_count >= 0


def test_fields_of_a_later_version_are_ignored() -> None:
    assert TaskRecord.from_fields(damaged(colour="red")) == BUSY


def test_an_instant_of_any_offset_is_the_moment_it_names() -> None:
    record = TaskRecord.from_fields(damaged(firstSeenAt="2026-03-02T04:00:00.5+01:00"))

    assert record.first_seen == THREE + timedelta(seconds=0.5)
    assert record.first_seen.tzinfo is UTC


# --- delays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delay", "number"),
    [
        (timedelta(), 0),
        (timedelta(microseconds=1), 0.001),
        (timedelta(microseconds=1500), 1.5),
        (timedelta(seconds=1, microseconds=1), 1000.001),
        (timedelta(days=999_999_999), 86_399_999_913_600_000),
    ],
    ids=str,
)
def test_a_delay_is_persisted_as_milliseconds_whole_where_it_is(delay: timedelta, number: float) -> None:
    assert milliseconds(delay) == number
    assert type(milliseconds(delay)) is type(number)
    assert TaskRecord.from_fields(BACKUP._replace(retry_delay=delay).to_fields()).retry_delay == delay


@pytest.mark.parametrize("delay", [timedelta.max - timedelta(microseconds=999), timedelta(days=36500)], ids=str)
def test_the_longest_delays_are_read_back_as_they_were(delay: timedelta) -> None:
    record = BACKUP._replace(retry_delay=delay)

    assert TaskRecord.from_fields(record.to_fields()) == record


# --- whose run --------------------------------------------------------------------------------------------------------


def test_a_run_is_interrupted_if_another_scheduler_began_it() -> None:
    assert BUSY.is_interrupted("scheduler-2")
    assert not BUSY.is_interrupted("scheduler-1")


def test_a_task_that_does_not_run_is_not_interrupted() -> None:
    assert not BUSY._replace(running_since=None).is_interrupted("scheduler-2")


def test_a_run_without_an_owner_is_interrupted() -> None:
    assert BUSY._replace(scheduler="").is_interrupted("scheduler-2")


# --- structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, [], "backup", 7, [("name", "backup")], BUSY], ids=lambda value: type(value))
def test_a_value_that_is_no_mapping_is_no_task(value: object) -> None:
    error = refusal(value)

    assert type(error) is TaskInvalidStructureError
    assert error.message == "Persisted task is not a mapping of fields to values"
    assert dict(error.details) == {"value": value}


# --- missing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_must_be_there(field: str) -> None:
    fields = BUSY.to_fields()
    del fields[field]

    error = refusal(fields)

    assert type(error) is TaskMissingFieldError
    assert error.message == f"Missing required field: {field}"
    assert dict(error.details) == {"field": field}


def test_a_missing_field_is_reported_before_a_wrong_one() -> None:
    assert type(refusal({"name": 7})) is TaskMissingFieldError


# --- types ------------------------------------------------------------------------------------------------------------

STRINGS = ["name", "cronExpression", "firstSeenAt", "schedulerIdentifier"]
STRINGS_OR_NONE = ["lastAttemptAt", "lastSuccessAt", "lastFailureAt", "pendingRetryUntil", "runningSince"]
NUMBERS = ["retryDelayMs", "retryCount"]


@pytest.mark.parametrize(
    ("field", "value", "expected", "actual"),
    [(field, 7, "string", "int") for field in STRINGS + STRINGS_OR_NONE]
    + [(field, None, "string", "NoneType") for field in STRINGS]
    + [(field, b"", "string", "bytes") for field in STRINGS]
    + [(field, False, "string", "bool") for field in STRINGS_OR_NONE]
    + [(field, "1", "number", "str") for field in NUMBERS]
    + [(field, None, "number", "NoneType") for field in NUMBERS]
    + [(field, True, "number", "bool") for field in NUMBERS],
)
def test_a_field_of_the_wrong_type_is_reported_with_both_types(
    field: str, value: object, expected: str, actual: str
) -> None:
    error = refusal(damaged(**{field: value}))

    assert type(error) is TaskInvalidTypeError
    assert error.message == f"Invalid type for field '{field}': expected {expected}, got {actual}"
    assert dict(error.details) == {"field": field, "value": value, "expectedType": expected, "actualType": actual}


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "", "must not be empty"),
        ("cronExpression", "", "must not be empty"),
        ("retryDelayMs", -1, "must not be negative"),
        ("retryDelayMs", -0.001, "must not be negative"),
        ("retryDelayMs", float("nan"), "must not be negative"),
        ("retryDelayMs", float("inf"), "is longer than any duration"),
        ("retryDelayMs", 10**400, "is longer than any duration"),
        ("retryDelayMs", 86_400_000_000_000_000, "is longer than any duration"),
        ("retryCount", -1, "must not be negative"),
        ("retryCount", 1.5, "must be a whole number"),
        ("retryCount", 1.0, "must be a whole number"),
    ],
    ids=lambda part: str(part)[:30],
)
def test_a_value_that_cannot_be_is_reported_with_its_reason(field: str, value: object, reason: str) -> None:
    error = refusal(damaged(**{field: value}))

    assert type(error) is TaskInvalidValueError
    assert error.message == f"Invalid value for field '{field}': {reason}"
    assert dict(error.details) == {"field": field, "value": value, "reason": reason}


@pytest.mark.parametrize("field", ["firstSeenAt", *STRINGS_OR_NONE])
@pytest.mark.parametrize("text", ["", "yesterday", "2026-03-02", "2026-03-02T03:00:00", "2026-02-30T03:00:00Z"])
def test_an_instant_that_is_none_is_reported_with_its_reason(field: str, text: str) -> None:
    error = refusal(damaged(**{field: text}))

    assert type(error) is TaskInvalidValueError
    assert dict(error.details) == {"field": field, "value": text, "reason": "must be an RFC 3339 instant"}
    assert isinstance(error.__cause__, InvalidInstantError)


@given(instants, st.text(min_size=1))
def test_a_text_is_an_instant_only_if_it_is_written_as_one(moment: datetime, tail: str) -> None:
    assert type(refusal(damaged(firstSeenAt=format_instant(moment) + tail))) is TaskInvalidValueError


# --- a clock that was far ahead ---------------------------------------------------------------------------------------

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


def test_a_clamped_record_is_not_clamped_again() -> None:
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
