"""Errors are raised before any effect, with their cause, in a stable form and without secrets."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from kron import KronError, Scheduler, errors
from kron.rules.contract import Contract
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.conformance.citing import clause
from tests.conformance.clause import DECLARATIVE, DRAFT, POLLING
from tests.conformance.contract_harness import ALWAYS, MINUTE, ContractHarness, disk_full

COMMON = {
    "RegistrationsNotArrayError", "RegistrationShapeError", "InvalidRegistrationError", "ScheduleDuplicateTaskError",
    "CronExpressionInvalidError", "NegativeRetryDelayError", "InvalidCronExpressionError", "FieldParseError",
    "CronCalculationError", "TaskTryDeserializeError", "TaskMissingFieldError", "TaskInvalidTypeError",
    "TaskInvalidValueError", "TaskInvalidStructureError",
}  # fmt: skip
OF_POLLING = {"ScheduleTaskError", "StopSchedulerError", "TaskListMismatchError"}
NAMES = {
    DRAFT: COMMON | OF_POLLING,
    POLLING: COMMON | OF_POLLING,
    DECLARATIVE: COMMON | {"SchedulerAlreadyActiveError"},
}
SECRET = "hunter2"


class FailingLedger(MemoryTaskLedger):
    """A user's store that raises its own error when it is opened, or when it is closed."""

    def __init__(self, failing: str, error: Exception) -> None:
        super().__init__()
        self.failing, self.error = failing, error

    async def open(self) -> None:
        if self.failing == "open":
            raise self.error
        await super().open()

    async def close(self) -> None:
        await super().close()
        if self.failing == "close":
            raise self.error


async def work() -> None:
    """A callback."""


async def refusal(scheduler: Scheduler, registrations: Any) -> KronError:
    """Return the error with which the list is refused."""
    with pytest.raises(KronError) as caught:
        await scheduler.initialize(registrations)
    return caught.value


async def failed_initialize(harness: ContractHarness, cause: Exception) -> KronError:
    """Return the error of a list that cannot be recorded."""
    harness.disk.fail_next(error=cause)
    return await refusal(harness.scheduler(), [harness.task()])


async def failed_stop(harness: ContractHarness, cause: Exception) -> KronError:
    """Return the error of a stop whose last run cannot be recorded."""
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:01")
    harness.disk.fail_next(ALWAYS, error=cause)
    stopping: asyncio.Task[None] = asyncio.create_task(scheduler.stop())
    await harness.until("11:20")
    failure = stopping.exception()
    assert isinstance(failure, KronError)
    return failure


# --- before anything has happened -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "last",
    [
        ("other", "0 * * * *", work),
        ("", "0 * * * *", work, MINUTE),
        ("report", "0 * * * *", work, MINUTE),
        ("other", "*/5 * * * *", work, MINUTE),
        ("other", "0 * * * *", work, -MINUTE),
    ],
    ids=["shape", "name", "duplicate", "cron", "delay"],
)
@clause("errors.before-scheduling")
async def test_one_mistake_at_the_end_of_a_list_and_nothing_of_it_happens(
    contract: Contract, last: tuple[Any, ...]
) -> None:
    harness = ContractHarness(contract, "11:00:30")

    await refusal(harness.scheduler(), [harness.task(), last])
    await harness.until("13:00")

    assert (harness.disk.appends, harness.store.records, harness.began) == (0, {}, [])
    assert harness.event_names("TaskAdded", "TaskScheduled", "PollingStarted", "TaskRunStarted") == []


# --- wrapped ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cause", [disk_full(), RuntimeError("out of order")], ids=["OSError", "RuntimeError"])
@clause("errors.wrapped", "errors.cause-kept")
async def test_an_error_while_a_list_is_recorded_is_raised_inside_one_that_says_so(
    contract: Contract, cause: Exception
) -> None:
    error = await failed_initialize(ContractHarness(contract), cause)

    where = "Failed to initialize scheduler: " if contract.name == DECLARATIVE else "Failed to schedule tasks: "
    assert error.message.startswith(where)
    assert error.message.endswith(str(cause))
    assert error.details["cause"] is cause


@pytest.mark.parametrize("cause", [disk_full(), RuntimeError("out of order")], ids=["OSError", "RuntimeError"])
@clause("errors.wrapped", "errors.cause-kept")
async def test_an_error_while_the_last_end_is_recorded_is_raised_inside_one_that_says_so(
    contract: Contract, cause: Exception
) -> None:
    error = await failed_stop(ContractHarness(contract), cause)

    assert error.message.startswith("Failed to stop scheduler: ")
    assert error.message.endswith(str(cause))
    assert error.details["cause"] is cause


@clause("errors.wrapped", "errors.cause-kept")
async def test_an_error_while_the_store_is_opened_is_raised_inside_one_that_says_so(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), RuntimeError("out of order")
    harness.disk = FaultyLedger(FailingLedger("open", cause))

    error = await refusal(harness.scheduler(), [harness.task()])

    assert error.message.startswith("Failed to ")
    assert error.details["cause"] is cause


@clause("errors.wrapped", "errors.cause-kept")
async def test_an_error_while_the_store_is_closed_is_raised_inside_one_that_says_so(contract: Contract) -> None:
    harness, cause = ContractHarness(contract), RuntimeError("out of order")
    harness.disk = FaultyLedger(FailingLedger("close", cause))
    scheduler = await harness.start(harness.task())

    with pytest.raises(KronError) as caught:
        await scheduler.stop()

    assert caught.value.message.startswith("Failed to stop scheduler: ")
    assert caught.value.details["cause"] is cause


@clause("errors.cause-kept")
async def test_the_cause_of_a_wrapped_error_keeps_what_it_carried(contract: Contract) -> None:
    error = await failed_initialize(ContractHarness(contract), disk_full())

    cause = error.details["cause"]
    assert isinstance(cause, OSError)
    assert (cause.errno, cause.strerror) == (28, "No space left on device")


# --- stable -----------------------------------------------------------------------------------------------------------


@clause("errors.stable-names")
def test_every_error_of_the_contract_has_its_name(contract: Contract) -> None:
    kinds = {name: getattr(errors, name, None) for name in NAMES[contract.name]}

    assert all(isinstance(kind, type) and issubclass(kind, KronError) for kind in kinds.values()), kinds
    assert {name: getattr(kind, "__name__", None) for name, kind in kinds.items()} == {name: name for name in kinds}


@pytest.mark.parametrize(
    ("registrations", "name", "message"),
    [
        (None, "RegistrationsNotArrayError", "Registrations must be an array"),
        (
            [("a", "0 * * * *")],
            "RegistrationShapeError",
            "Invalid registration shape: expected [string, string, function, Duration]",
        ),
        (
            [("a", "0 * * * *", work, MINUTE)] * 2,
            "ScheduleDuplicateTaskError",
            'Task with name "a" is already scheduled',
        ),
        (
            [("a", "60 * * * *", work, MINUTE)],
            "CronExpressionInvalidError",
            'Invalid cron expression "60 * * * *": minute field value 60 is outside 0-59',
        ),
        ([("a", "0 * * * *", work, -MINUTE)], "NegativeRetryDelayError", "Retry delay must be non-negative"),
    ],
    ids=["no list", "shape", "duplicate", "cron", "delay"],
)
@clause("errors.stable-names")
async def test_an_error_in_a_list_has_a_stable_name_and_message(
    contract: Contract, registrations: object, name: str, message: str
) -> None:
    error = await refusal(ContractHarness(contract).scheduler(), registrations)

    assert (error.name, error.message, str(error)) == (name, message, message)


# --- enough, and no more ----------------------------------------------------------------------------------------------


@clause("errors.enough-and-no-more")
async def test_the_error_of_an_expression_says_which_field_of_which_text_is_wrong_and_why(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness.scheduler(), [harness.task(), harness.task("other", "0 0 32 * *")])

    assert error.message == 'Invalid cron expression "0 0 32 * *": day field value 32 is outside 1-31'


@clause("errors.enough-and-no-more")
async def test_the_error_of_a_shape_says_where_and_repeats_nothing_of_it(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness.scheduler(), [harness.task(), ("other", "0 * * * *", work, SECRET)])

    assert error.details["registrationIndex"] == 1
    assert SECRET not in error.message
    assert all(SECRET not in str(event.fields) for event in harness.events)


@clause("errors.enough-and-no-more")
async def test_the_error_of_a_list_contains_nothing_of_the_other_tasks(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness.scheduler(), [harness.task(SECRET), harness.task(retry=timedelta(seconds=-1))])

    assert SECRET not in error.message
    assert all(SECRET not in str(event.fields) for event in harness.events)


@clause("errors.enough-and-no-more")
async def test_a_name_of_any_length_is_repeated_as_far_as_it_is_needed_to_know_it(contract: Contract) -> None:
    harness, name = ContractHarness(contract), "report\n" * 1000

    error = await refusal(harness.scheduler(), [harness.task(name), harness.task(name)])

    assert error.message.startswith('Task with name "report\\nreport')
    assert len(error.message) < 500
    assert "\n" not in error.message
