"""Input and failures: input is validated before use, and failures are reported and survived."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from kron import Scheduler
from kron.errors import (
    CronExpressionInvalidError,
    InvalidRegistrationError,
    KronError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
)
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, at, disk_full, names_of, times

FORGERY = "report\nWARNING TaskRunFailed taskName=payroll\r\x1b[2J\x00\u2028\u202e"
INTERNALS = ("Traceback", " object at 0x", "<function", "<class", ".py", "kron.", "site-packages", "self.", "__")


async def nothing() -> None:
    """Do nothing."""


class SecretObject:
    """A thing that must not turn up in a message."""

    def __repr__(self) -> str:
        return "<Unspeakable object at 0x7f00>"


MISTAKES = [
    pytest.param(("report", "0 * * * *", nothing), RegistrationShapeError, id="a part is missing"),
    pytest.param((SecretObject(), "0 * * * *", nothing, MINUTE), RegistrationShapeError, id="a name that is no text"),
    pytest.param(("", "0 * * * *", nothing, MINUTE), InvalidRegistrationError, id="no name"),
    pytest.param(("\ud800", "0 * * * *", nothing, MINUTE), InvalidRegistrationError, id="a name that cannot be stored"),
    pytest.param(("report", "0 * * * *", SecretObject(), MINUTE), RegistrationShapeError, id="nothing to call"),
    pytest.param(("valid", "0 * * * *", nothing, MINUTE), ScheduleDuplicateTaskError, id="a name that was there"),
    pytest.param(("report", SecretObject(), nothing, MINUTE), RegistrationShapeError, id="a cron that is no text"),
    pytest.param(("report", "60 * * * *", nothing, MINUTE), CronExpressionInvalidError, id="a minute that is none"),
    pytest.param(("report", "0 * * * *", nothing, 60), RegistrationShapeError, id="a delay that is no duration"),
    pytest.param(("report", "0 * * * *", nothing, -MINUTE), NegativeRetryDelayError, id="a negative delay"),
    pytest.param(SecretObject(), RegistrationShapeError, id="no registration at all"),
]


def log_of(harness: ContractHarness) -> Scheduler:
    """Return a scheduler that logs as it does when its user says nothing."""
    return Scheduler(ledger=harness.disk, contract=harness.contract.name, clock=harness.clock, timezone="UTC")


# --- input


@pytest.mark.parametrize(("mistake", "error"), MISTAKES)
@clause("input.checked-first")
async def test_a_mistake_at_the_end_of_a_list_is_found_before_anything_is_used(
    contract: Contract, mistake: Any, error: type[KronError]
) -> None:
    harness = ContractHarness(contract, "11:00:30")

    with pytest.raises(error):
        await harness.start(harness.task("valid"), mistake)
    await harness.until("12:30")

    assert harness.began == []
    assert harness.store.records == {}
    assert harness.disk.appends == 0


@clause("input.checked-first")
async def test_something_other_than_a_list_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    with pytest.raises(RegistrationsNotArrayError) as caught:
        await harness.scheduler().initialize({"report": harness.task()})  # type: ignore[arg-type] # that is the mistake

    assert caught.value.message == "Registrations must be an array"
    assert harness.disk.appends == 0


@pytest.mark.parametrize(
    ("cron", "field", "reason"),
    [
        pytest.param(
            "0," * 100_000 + "0 * * * *", "expression", "must have at most 4096 characters, found 200009", id="a novel"
        ),
        pytest.param(
            "9" * 4000 + " * * * *",
            "minute",
            "value 99999999999999999999 is outside 0-59",
            id="a number of four thousand digits",
        ),
        pytest.param("0-999999999999 * * * *", "minute", "value 999999999999 is outside 0-59", id="an endless range"),
        pytest.param("*/0 * * * *", "minute", "uses a step (*/0), which is not POSIX", id="a step of nothing"),
        pytest.param("0 0 30 2 *", "expression", "can never match: no day 30 in Feb", id="an endless search for a day"),
        pytest.param(
            "* * * * *; rm -rf /", "expression", "must have exactly 5 fields, found 8", id="a command of a shell"
        ),
        pytest.param(
            "$(reboot) * * * *", "minute", "has '$' where a decimal number is expected", id="a command in a field"
        ),
        pytest.param(
            "0\x00 * * * *", "minute", "has '\\x00' where a decimal number is expected", id="a character of no width"
        ),
        pytest.param("٠ * * * *", "minute", "has '٠' where a decimal number is expected", id="a digit in disguise"),
        pytest.param("@reboot", "expression", "names no time (@reboot)", id="a macro"),
    ],
)
@clause("input.dangerous-cron")
async def test_an_expression_that_could_do_harm_is_refused(
    contract: Contract, cron: str, field: str, reason: str
) -> None:
    harness = ContractHarness(contract)

    with pytest.raises(CronExpressionInvalidError) as caught:
        await harness.start(harness.task(cron=cron))

    assert (caught.value.details["field"], caught.value.details["reason"]) == (field, reason)
    assert len(caught.value.message) < 1000
    assert harness.disk.appends == 0


@clause("input.names-in-logs")
async def test_with_any_task_name_each_event_is_one_line_of_the_log(
    contract: Contract, caplog: pytest.LogCaptureFixture
) -> None:
    harness = ContractHarness(contract)
    scheduler = log_of(harness)

    with caplog.at_level(logging.DEBUG, "kron"):
        await scheduler.initialize([harness.task(FORGERY, fails=1, retry=MINUTE)])
        await harness.until("11:30")
        await scheduler.stop()

    lines = [record.getMessage() for record in caplog.records]
    about = [line for line in lines if "taskName=" in line]
    assert {line.split()[0] for line in about} >= {"TaskAdded", "TaskRunStarted", "TaskRunFailed", "TaskRunCompleted"}
    assert all(line.isprintable() for line in lines)
    assert all('taskName="report\\nWARNING' in line for line in about)


@clause("input.names-in-logs")
async def test_with_any_task_name_its_refusal_is_one_line(contract: Contract, caplog: pytest.LogCaptureFixture) -> None:
    harness = ContractHarness(contract)

    with caplog.at_level(logging.DEBUG, "kron"), pytest.raises(ScheduleDuplicateTaskError) as caught:
        await log_of(harness).initialize([harness.task(FORGERY), harness.task(FORGERY)])

    assert caught.value.message.isprintable()
    assert [record.getMessage().isprintable() for record in caplog.records] == [True] * len(caplog.records) != []


# --- failures


@pytest.mark.parametrize(("mistake", "error"), MISTAKES)
@clause("failures.no-internals")
async def test_the_message_of_a_refusal_contains_no_internals(
    contract: Contract, mistake: Any, error: type[KronError]
) -> None:
    harness = ContractHarness(contract)

    with pytest.raises(error) as caught:
        await harness.start(harness.task("valid"), mistake)

    message = caught.value.message
    assert message
    assert [word for word in INTERNALS if word in message] == []


@clause("failures.no-internals")
async def test_the_message_of_a_failed_step_is_that_of_its_cause_and_no_more(contract: Contract) -> None:
    harness = ContractHarness(contract)
    harness.disk.fail_next(error=disk_full())

    with pytest.raises(KronError) as caught:
        await harness.start(harness.task())

    assert str(caught.value) == "Failed to schedule tasks: [Errno 28] No space left on device"


@pytest.mark.parametrize(("mistake", "error"), MISTAKES)
@clause("failures.refusals-logged")
async def test_a_refused_list_is_logged_with_the_mistake(
    contract: Contract, caplog: pytest.LogCaptureFixture, mistake: Any, error: type[KronError]
) -> None:
    harness = ContractHarness(contract)

    with caplog.at_level(logging.WARNING, "kron"), pytest.raises(error) as caught:
        await log_of(harness).initialize([harness.task("valid"), mistake])

    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    message = caught.value.message.replace('"', '\\"')
    assert record.getMessage() == f'SchedulerInitializationFailed error="{error.__name__}: {message}"'


# --- exhaustion


@clause("failures.exhaustion")
async def test_with_a_full_disk_nothing_starts_and_with_space_again_nothing_was_lost(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task("one"), harness.task("two", takes=MINUTE))
    harness.disk.fail_next(4, error=disk_full())

    await harness.until("11:10")

    assert harness.starts("one") == harness.starts("two") == times("11:00:15")
    assert harness.record("two").last_success == at("11:01:15")
    failures = harness.events_named("LedgerAppendFailed")
    assert [event.fields["retryInSeconds"] for event in failures] == [1.0, 2.0, 4.0, 8.0]
    assert failures[0].fields["error"] == "OSError: [Errno 28] No space left on device"
    assert len(harness.events_named("LedgerRecovered")) == 1


@clause("failures.exhaustion")
async def test_an_end_that_a_full_disk_did_not_take_is_kept_until_it_does(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=MINUTE))
    await harness.until("11:00:30")
    harness.disk.fail_next(4, error=disk_full())

    await harness.until("11:10")

    assert harness.record().last_success == at("11:01")
    assert [event.fields["duration"] for event in harness.events_named("TaskRunCompleted")] == [60.0]


@pytest.mark.parametrize(
    "error", [MemoryError(), RecursionError(), disk_full()], ids=lambda error: type(error).__name__
)
@clause("failures.exhaustion")
async def test_a_run_that_runs_out_of_something_fails_alone_and_is_tried_again(
    contract: Contract, error: Exception
) -> None:
    harness = ContractHarness(contract)
    tries = []

    async def exhaust() -> None:
        tries.append(harness.clock.now())
        raise error

    await harness.start(("greedy", "0 * * * *", exhaust, timedelta(minutes=20)), harness.task("modest", "* * * * *"))

    await harness.until("11:50")

    assert tries == times("11:00", "11:20", "11:40")
    assert len(harness.starts("modest")) == len(harness.events_named("TaskRunCompleted")) == 104


@clause("failures.exhaustion")
async def test_thousands_of_tasks_at_one_instant_all_run(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(*(harness.task(f"task {number:04}") for number in range(3000)))

    await harness.until("11:00")

    assert names_of(harness.began) == [f"task {number:04}" for number in range(3000)]
