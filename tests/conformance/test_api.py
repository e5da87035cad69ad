"""The public interface: the two methods, and the fields of a registration."""

from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any

import pytest

from kron.errors import (
    CronExpressionInvalidError,
    InvalidRegistrationError,
    KronError,
    NegativeRetryDelayError,
    RegistrationShapeError,
    ScheduleDuplicateTaskError,
)
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, NOTHING, SECOND, ContractHarness, names_of, times

SHAPE = "Invalid registration shape: expected [string, string, function, Duration]"


async def refusal(harness: ContractHarness, *registrations: Any) -> KronError:
    """Return the error with which the scheduler answers the list."""
    with pytest.raises(KronError) as caught:
        await harness.scheduler().initialize(registrations)
    return caught.value


def answer(error: KronError) -> tuple[type[KronError], str, dict[str, object]]:
    """Return the kind of an error, its message and its details."""
    return type(error), error.message, dict(error.details)


# --- the two methods --------------------------------------------------------------------------------------------------


@clause("api.two-methods")
def test_initialize_and_stop_are_all_that_is_public(contract: Contract) -> None:
    scheduler = ContractHarness(contract).scheduler()

    public = [name for name in dir(scheduler) if not name.startswith("_")]

    assert public == ["initialize", "stop"]


@clause("api.two-methods")
def test_both_methods_are_awaited(contract: Contract) -> None:
    scheduler = ContractHarness(contract).scheduler()

    assert iscoroutinefunction(scheduler.initialize)
    assert iscoroutinefunction(scheduler.stop)


@clause("api.two-methods")
async def test_the_two_methods_are_enough_to_run_a_task_and_to_end_it(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = harness.scheduler()

    await scheduler.initialize([harness.task()])
    await harness.until("11:30")
    await scheduler.stop()
    await harness.until("13:30")

    assert harness.starts() == times("11:00")


# --- a registration ---------------------------------------------------------------------------------------------------


@clause("api.registration-is-four")
@pytest.mark.parametrize("sequence", [tuple, list])
async def test_a_registration_is_a_tuple_or_a_list_of_four(contract: Contract, sequence: type) -> None:
    harness = ContractHarness(contract)

    await harness.start(sequence(harness.task()))
    await harness.until("11:00")

    assert harness.starts() == times("11:00")


@clause("api.registration-is-four")
@pytest.mark.parametrize("length", [0, 1, 2, 3, 5])
async def test_a_registration_of_another_length_is_refused(contract: Contract, length: int) -> None:
    harness = ContractHarness(contract)
    wrong = (*harness.task("second"), "more")[:length]

    error = await refusal(harness, harness.task("first"), wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 1, "received": wrong})


@clause("api.registration-is-four")
@pytest.mark.parametrize(
    "wrong",
    [None, 4, "four", {"name", "cron", "callback", "delay"}],
    ids=["none", "a number", "a text", "a set of four"],
)
async def test_a_value_that_is_no_sequence_is_refused_as_a_registration(contract: Contract, wrong: object) -> None:
    error = await refusal(ContractHarness(contract), wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 0, "received": wrong})


@clause("api.name-not-empty")
async def test_an_empty_name_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, harness.task(""))

    details = {"field": "name", "value": "", "reason": "must not be empty"}
    assert answer(error) == (InvalidRegistrationError, "Invalid registration: name must not be empty", details)


@clause("api.name-not-empty")
@pytest.mark.parametrize("name", [None, 7, b"report", ["report"]], ids=repr)
async def test_a_name_that_is_no_text_is_refused(contract: Contract, name: object) -> None:
    harness = ContractHarness(contract)
    wrong = (name, *harness.task()[1:])

    error = await refusal(harness, wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 0, "received": wrong})


@clause("api.name-not-empty")
@pytest.mark.parametrize("name", ["x", " ", "é", "a\nb"], ids=ascii)
async def test_one_character_is_name_enough_whatever_it_is(contract: Contract, name: str) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(name, "* * * * *"))

    assert harness.starts(name) == times("10:07:30")


@clause("api.name-unique")
async def test_a_name_that_comes_twice_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, harness.task("a"), harness.task("b"), harness.task("a", "5 * * * *"))

    assert answer(error) == (
        ScheduleDuplicateTaskError,
        'Task with name "a" is already scheduled',
        {"taskName": "a"},
    )


@clause("api.name-unique")
async def test_names_that_differ_in_case_or_blanks_are_different(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(*(harness.task(name, "* * * * *") for name in ("a", "A", "a ")))

    assert names_of(harness.began) == ["A", "a", "a "]


@clause("api.cron-valid")
async def test_an_expression_that_does_not_parse_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, harness.task(cron="61 * * * *"))

    assert answer(error) == (
        CronExpressionInvalidError,
        'Invalid cron expression "61 * * * *": minute field value 61 is outside 0-59',
        {"expression": "61 * * * *", "field": "minute", "reason": "value 61 is outside 0-59"},
    )


@clause("api.cron-valid")
async def test_an_expression_that_is_no_text_is_a_wrong_shape(contract: Contract) -> None:
    harness = ContractHarness(contract)
    name, _, callback, delay = harness.task()
    wrong = (name, 5, callback, delay)

    error = await refusal(harness, wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 0, "received": wrong})


@clause("api.callback-async")
@pytest.mark.parametrize("callback", [lambda: None, print, None, "callback"], ids=["lambda", "print", "None", "text"])
async def test_a_callback_that_is_not_asynchronous_is_refused(contract: Contract, callback: object) -> None:
    harness = ContractHarness(contract)
    wrong = ("report", "0 * * * *", callback, MINUTE)

    error = await refusal(harness, wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 0, "received": wrong})


@clause("api.callback-async")
async def test_a_callback_is_called_without_arguments(contract: Contract) -> None:
    harness = ContractHarness(contract)
    calls: list[tuple[object, ...]] = []

    async def callback(*arguments: object, **keywords: object) -> None:
        calls.append((*arguments, *keywords.items()))

    await harness.start(("report", "* * * * *", callback, MINUTE))

    assert calls == [()]


@clause("api.callback-async")
async def test_a_callback_is_awaited_to_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(cron="7 * * * *", takes=10 * MINUTE))
    await harness.until("10:30")

    assert [moment for _, moment in harness.ended] == times("10:17:30")
    assert [event.fields["duration"] for event in harness.events_named("TaskRunCompleted")] == [600]


@clause("api.delay-not-negative")
async def test_a_delay_below_zero_is_refused(contract: Contract) -> None:
    harness = ContractHarness(contract)

    error = await refusal(harness, harness.task(retry=-SECOND))

    assert answer(error) == (
        NegativeRetryDelayError,
        "Retry delay must be non-negative",
        {"retryDelayMs": -1000},
    )


@clause("api.delay-not-negative")
@pytest.mark.parametrize("delay", [None, 300, 5.0, "5m"], ids=repr)
async def test_a_delay_that_is_no_duration_is_refused(contract: Contract, delay: object) -> None:
    harness = ContractHarness(contract)
    wrong = (*harness.task()[:3], delay)

    error = await refusal(harness, wrong)

    assert answer(error) == (RegistrationShapeError, SHAPE, {"registrationIndex": 0, "received": wrong})


@clause("api.delay-not-negative")
@pytest.mark.parametrize("delay", [NOTHING, timedelta(microseconds=1), 90 * SECOND], ids=str)
async def test_a_delay_of_zero_or_more_is_what_a_retry_waits(contract: Contract, delay: timedelta) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(cron="7 * * * *", retry=delay, fails=1))
    await harness.until("10:30")

    first, retry = harness.starts()
    assert retry - first == delay
