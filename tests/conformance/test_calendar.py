"""The ends of the calendar: an expression without a further occurrence is an error that a scheduler survives."""

from collections.abc import Callable

import pytest

from kron import Schedule
from kron.errors import CronCalculationError, OutOfRangeError
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import ContractHarness, at, names_of, times
from tests.conformance.test_errors import parts, schedule

SEARCHES: dict[str, tuple[Callable[[Schedule], Callable[..., object]], str, str]] = {
    "next": (lambda found: found.next, "9999-07-01T00:00:00Z", "after"),
    "previous": (lambda found: found.previous, "0001-02-01T00:00:00Z", "at or before"),
}


async def _error_of(contract: Contract, text: str, side: str) -> None:
    search, moment, where = SEARCHES[side]

    with pytest.raises(CronCalculationError) as caught:
        search(schedule(contract, text))(at(moment))

    kind, message, details = parts(caught.value)
    cause = details.pop("cause")
    assert kind is CronCalculationError
    assert type(cause) is OutOfRangeError
    assert str(cause) == f"the occurrence {where} {moment} leaves the years 1 to 9999"
    assert message == f"Failed to calculate next occurrence: {cause}"
    assert details == {"expression": text, "currentTime": moment}


@pytest.mark.parametrize("text", ["0 0 1 6 *", " 30  2 1 6 * ", "0 0 29 2 *"])
@clause("errors.cron-calculation")
async def test_a_valid_expression_without_a_next_date_in_the_calendar_is_an_error(
    contract: Contract, text: str
) -> None:
    await _error_of(contract, text, "next")


@clause("errors.cron-calculation")
async def test_the_dates_that_the_calendar_has_are_calculated_up_to_its_last_minute(contract: Contract) -> None:
    last = schedule(contract, "59 23 31 12 *")

    assert last.next(at("9999-12-31T23:58:59Z")) == at("9999-12-31T23:59:00Z")
    with pytest.raises(CronCalculationError):
        last.next(at("9999-12-31T23:59:00Z"))


@pytest.mark.parametrize("side", SEARCHES)
@pytest.mark.parametrize("text", ["0 0 1 6 *", "\t30 2 1 6 *"])
@clause("errors.no-occurrence")
async def test_an_expression_without_an_occurrence_on_one_side_is_an_error_on_that_side(
    contract: Contract, text: str, side: str
) -> None:
    await _error_of(contract, text, side)


@clause("errors.cron-calculation")
async def test_a_scheduler_survives_a_task_whose_next_date_cannot_be_calculated(contract: Contract) -> None:
    await _lives_on(contract)


@clause("errors.no-occurrence")
async def test_a_scheduler_survives_a_task_without_a_further_occurrence(contract: Contract) -> None:
    await _lives_on(contract)


async def _lives_on(contract: Contract) -> None:
    harness = ContractHarness(contract, "9999-12-31T22:50:30Z")
    scheduler = await harness.start(
        harness.task("over", "0 0 1 1 *"),
        harness.task("once more", "0 23 * * *"),
        harness.task("minutes", "58-59 * * * *"),
    )

    await harness.until("9999-12-31T23:30:00Z")
    await scheduler.stop()

    assert harness.starts("once more") == times("9999-12-31T23:00:00Z")
    assert names_of(harness.began) == ["minutes", "minutes", "once more"]
