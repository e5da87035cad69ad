"""The times kept for a task: its last attempt, success and failure, and its next retry."""

from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, at


@clause("stamps.last-attempt", "stamps.last-success", "stamps.last-failure", "stamps.retry-until")
async def test_a_task_that_never_ran_has_no_times(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task())

    record = harness.record()
    assert (record.last_attempt, record.last_success, record.last_failure, record.retry_until) == (None,) * 4


@clause("stamps.last-attempt")
async def test_the_last_attempt_is_the_start_of_a_run_that_succeeds_and_never_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE))

    await harness.until("11:01")
    during = harness.record().last_attempt
    await harness.until("11:03")

    assert during == at("11:00")
    assert harness.record().last_attempt == at("11:00")


@clause("stamps.last-attempt")
async def test_the_last_attempt_is_the_start_of_a_run_that_fails_and_never_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE, fails=1))

    await harness.until("11:03")

    assert harness.record().last_attempt == at("11:00")


@clause("stamps.last-attempt")
async def test_a_retry_is_an_attempt_too(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(fails=2))

    await harness.until("11:06")

    assert harness.record().last_attempt == at("11:05")


@clause("stamps.last-attempt")
async def test_an_attempt_that_a_crash_cut_off_is_kept(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:03")

    await crash(scheduler)

    assert harness.record().last_attempt == at("11:00")


@clause("stamps.last-success")
async def test_the_last_success_is_the_end_of_the_latest_run_that_returned(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE))

    await harness.until("11:30")
    first = harness.record().last_success
    await harness.until("12:30")

    assert first == at("11:02")
    assert harness.record().last_success == at("12:02")


@clause("stamps.last-success")
async def test_a_later_failure_leaves_the_last_success_as_it_was(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=2 * MINUTE))
    await harness.until("11:30")
    await scheduler.stop()
    await harness.start(harness.task(takes=2 * MINUTE, fails=1))

    await harness.until("12:05")

    record = harness.record()
    assert (record.last_success, record.last_failure) == (at("11:02"), at("12:02"))


@clause("stamps.last-failure")
async def test_the_last_failure_is_the_end_of_the_latest_run_that_raised(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE, fails=2))

    await harness.until("11:05")
    first = harness.record().last_failure
    await harness.until("11:10")

    assert first == at("11:02")
    assert harness.record().last_failure == at("11:09")


@clause("stamps.last-failure")
async def test_a_later_success_leaves_the_last_failure_as_it_was(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE, fails=1))

    await harness.until("11:30")

    record = harness.record()
    assert (record.last_failure, record.last_success) == (at("11:02"), at("11:09"))


@clause("stamps.retry-until")
async def test_while_a_retry_is_awaited_its_time_is_kept_also_without_a_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=2 * MINUTE, fails=1))
    await harness.until("11:03")

    await scheduler.stop()

    assert harness.record().retry_until == at("11:07")


@clause("stamps.retry-until")
async def test_each_failure_has_its_own_time_for_a_retry(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(fails=2))

    await harness.until("11:06")

    assert harness.record().retry_until == at("11:10")


@clause("stamps.retry-until")
async def test_from_the_start_of_the_retry_on_no_time_is_kept_for_one(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=MINUTE, fails=1))

    await harness.until("11:06:30")
    during = harness.record().retry_until
    await harness.until("11:30")

    assert during is None
    assert harness.record().retry_until is None
