"""The errors of lists, cron expressions and the scheduler's lifecycle: name, message and details."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from kron import KronError, Schedule
from kron.cron.schedule import RepeatedPolicy
from kron.errors import (
    CronCalculationError,
    CronExpressionInvalidError,
    FieldParseError,
    InvalidCronExpressionError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
    SchedulerAlreadyActiveError,
    SchedulerStepError,
    ScheduleTaskError,
    StopSchedulerError,
    TaskListMismatchError,
)
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import ALWAYS, MINUTE, ContractHarness, Registered, at, disk_full

SHAPE = "Invalid registration shape: expected [string, string, function, Duration]"


async def refusal(harness: ContractHarness, registrations: Any) -> KronError:
    """Return the error with which a new scheduler refuses the list."""
    with pytest.raises(KronError) as caught:
        await harness.scheduler().initialize(registrations)
    return caught.value


def parts(error: BaseException | None) -> tuple[type[KronError], str, dict[str, object]]:
    """Return the kind, the message and the details."""
    assert isinstance(error, KronError)
    assert (error.name, str(error)) == (type(error).__name__, error.message)
    return type(error), error.message, dict(error.details)


async def failed_stop(harness: ContractHarness, error: Exception) -> KronError:
    """Return the error of a stop whose last run cannot be recorded."""
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:01")
    harness.disk.fail_next(ALWAYS, error=error)
    stopping: asyncio.Task[None] = asyncio.create_task(scheduler.stop())
    await harness.until("11:20")
    failure = stopping.exception()
    assert isinstance(failure, KronError)
    return failure


# --- lists ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("registrations", [None, "report", {}, 7, iter(())], ids=lambda value: type(value).__name__)
@clause("errors.registrations-not-array")
async def test_a_value_that_is_no_list_is_refused_without_details(contract: Contract, registrations: object) -> None:
    error = await refusal(ContractHarness(contract), registrations)

    assert parts(error) == (RegistrationsNotArrayError, "Registrations must be an array", {})


async def _work() -> None:
    """A callback."""


@pytest.mark.parametrize(
    "received",
    [
        (),
        ("report", "0 * * * *", _work),
        ("report", "0 * * * *", _work, MINUTE, "more"),
        (7, "0 * * * *", _work, MINUTE),
        ("report", 7, _work, MINUTE),
        ("report", "0 * * * *", "work", MINUTE),
        ("report", "0 * * * *", print, MINUTE),
        ("report", "0 * * * *", _work, 60),
    ],
    ids=["empty", "three", "five", "name", "cron", "callback", "callback that cannot be awaited", "delay"],
)
@clause("errors.registration-shape")
async def test_a_registration_of_the_wrong_shape_is_refused_with_its_place(
    contract: Contract, received: Registered
) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task("sound"), received])

    assert parts(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 1, "received": received})


@clause("errors.invalid-registration")
async def test_a_name_that_is_empty_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task("")])

    details = {"field": "name", "value": "", "reason": "must not be empty"}
    assert parts(error) == (InvalidRegistrationError, "Invalid registration: name must not be empty", details)


@clause("errors.duplicate-task")
async def test_a_name_that_comes_twice_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task(), harness.task("other"), harness.task(cron="30 * * * *")])

    message = 'Task with name "report" is already scheduled'
    assert parts(error) == (ScheduleDuplicateTaskError, message, {"taskName": "report"})


@clause("errors.cron-expression-invalid")
async def test_an_expression_that_is_invalid_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task(cron="0 24 * * *")])

    message = 'Invalid cron expression "0 24 * * *": hour field value 24 is outside 0-23'
    details = {"expression": "0 24 * * *", "field": "hour", "reason": "value 24 is outside 0-23"}
    assert parts(error) == (CronExpressionInvalidError, message, details)


@clause("errors.negative-retry-delay")
async def test_a_delay_below_zero_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task(retry=timedelta(seconds=-1.5))])

    message = "Retry delay must be non-negative"
    assert parts(error) == (NegativeRetryDelayError, message, {"retryDelayMs": -1500})


@clause("errors.task-list-mismatch")
async def test_no_difference_of_lists_is_a_mismatch(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(), harness.task("gone"))

    await scheduler.initialize([harness.task(cron="30 * * * *"), harness.task("new")])
    await scheduler.stop()
    await harness.start(harness.task("another"))

    assert list(harness.store.records) == ["another"]
    error = TaskListMismatchError(expected=["report"], actual=["gone"])
    assert error.details == {"expected": ["report"], "actual": ["gone"]}


# --- the scheduler's life ---------------------------------------------------------------------------------------------


@clause("errors.already-active")
async def test_a_list_for_a_scheduler_that_runs_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    with pytest.raises(KronError) as caught:
        await scheduler.initialize([harness.task()])

    message = "Cannot initialize scheduler: scheduler is already running"
    assert parts(caught.value) == (SchedulerAlreadyActiveError, message, {"currentState": "running"})


@clause("errors.already-active")
async def test_a_list_for_a_scheduler_that_initialises_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = harness.scheduler()
    calls = [scheduler.initialize([harness.task()]) for _ in range(2)]

    first, second = await asyncio.gather(*calls, return_exceptions=True)

    message = "Cannot initialize scheduler: scheduler is already initializing"
    assert first is None
    assert parts(second) == (SchedulerAlreadyActiveError, message, {"currentState": "initializing"})


@clause("errors.schedule-task")
async def test_a_task_that_cannot_be_recorded_cannot_be_scheduled(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), disk_full()
    harness.disk.fail_next(error=cause)

    error = await refusal(harness, [harness.task(cron="30 * * * *")])

    message = "Failed to schedule tasks: [Errno 28] No space left on device"
    details = {"name": None, "cronExpression": None, "cause": cause}
    assert parts(error) == (ScheduleTaskError, message, details)


@clause("errors.stop-scheduler")
async def test_a_stop_that_cannot_record_the_last_end_fails(contract: Contract) -> None:
    cause = disk_full()

    error = await failed_stop(ContractHarness(contract), cause)

    message = "Failed to stop scheduler: [Errno 28] No space left on device"
    assert parts(error) == (StopSchedulerError, message, {"cause": cause})


@clause("errors.step")
async def test_an_initialisation_that_cannot_be_recorded_names_its_step(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), disk_full()
    harness.disk.fail_next(error=cause)

    error = await refusal(harness, [harness.task()])

    step = "initialize scheduler: recording the registered tasks"
    details = {"step": step, "cause": cause}
    assert parts(error) == (SchedulerStepError, f"Failed to {step}: [Errno 28] No space left on device", details)


@clause("errors.step")
async def test_a_stop_that_cannot_be_recorded_names_its_step(contract: Contract) -> None:
    cause = disk_full()

    error = await failed_stop(ContractHarness(contract), cause)

    step = "stop scheduler: recording how the last runs ended"
    details = {"step": step, "cause": cause}
    assert parts(error) == (SchedulerStepError, f"Failed to {step}: [Errno 28] No space left on device", details)


# --- cron expressions -------------------------------------------------------------------------------------------------


def schedule(contract: Contract, text: str) -> Schedule:
    """Return the schedule as a scheduler of this contract reads it."""
    repeated = contract.repeated_minute or RepeatedPolicy.BOTH
    return Schedule(text, timezone="UTC", dialect="posix", repeated=repeated.value)


@clause("errors.invalid-cron-expression")
async def test_the_error_of_the_parser_is_the_cause_of_the_error_of_a_registration(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task(cron="0 0 * *")])

    reason = "must have exactly 5 fields, found 4"
    message = f'Invalid cron expression "0 0 * *": expression field {reason}'
    details = {"expression": "0 0 * *", "field": "expression", "reason": reason}
    assert parts(error.__cause__) == (InvalidCronExpressionError, message, details)


@clause("errors.field-parse")
async def test_the_error_of_a_field_is_the_cause_of_the_error_of_the_parser(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, [harness.task(cron="0 5-2 * * *")])

    assert error.__cause__ is not None
    message = "hour field has a range that wraps around (5-2)"
    details = {"fieldValue": "5-2", "fieldName": "hour"}
    assert parts(error.__cause__.__cause__) == (FieldParseError, message, details)


@clause("errors.cron-calculation", under=("polling-draft", "polling"))
@pytest.mark.parametrize("text", ["0 0 1 1 *", "0 0 29 2 *"], ids=["new year", "leap day"])
def test_a_date_beyond_the_calendar_cannot_be_calculated(contract: Contract, text: str) -> None:
    with pytest.raises(CronCalculationError) as caught:
        schedule(contract, text).next(at("9999-06-01T00:00:00Z"))

    _, message, details = parts(caught.value)
    cause = details.pop("cause")
    assert isinstance(cause, KronError)
    assert message == f"Failed to calculate next occurrence: {cause}"
    assert details == {"expression": text, "currentTime": "9999-06-01T00:00:00Z"}


@pytest.mark.parametrize("side", ["after", "at or before"])
@clause("errors.no-occurrence")
def test_a_time_without_an_occurrence_after_or_before_it_is_an_error(contract: Contract, side: str) -> None:
    yearly = schedule(contract, "0 0 1 6 *")
    search, time = {
        "after": (yearly.next, "9999-07-01T00:00:00Z"),
        "at or before": (yearly.previous, "0001-02-01T00:00:00Z"),
    }[side]

    with pytest.raises(CronCalculationError) as caught:
        search(at(time))

    _, message, details = parts(caught.value)
    cause = details.pop("cause")
    assert str(cause) == f"the occurrence {side} {time} leaves the years 1 to 9999"
    assert message == f"Failed to calculate next occurrence: {cause}"
    assert details == {"expression": "0 0 1 6 *", "currentTime": time}
