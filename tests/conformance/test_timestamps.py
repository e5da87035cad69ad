"""The times kept for a task: its last attempt, success and failure, and its next retry."""

from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import MINUTE, ContractHarness, at


@clause("stamps.last-attempt", "stamps.last-success", "stamps.last-failure", "stamps.retry-until")
async def test_a_task_that_never_ran_has_no_times(contract: Contract) -> None:
    world = ContractHarness(contract)

    await world.start(world.task())

    record = world.record()
    assert (record.last_attempt, record.last_success, record.last_failure, record.retry_until) == (None,) * 4


@clause("stamps.last-attempt")
async def test_the_last_attempt_is_the_start_of_a_run_that_succeeds_and_never_its_end(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=2 * MINUTE))

    await world.until("11:01")
    during = world.record().last_attempt
    await world.until("11:03")

    assert during == at("11:00")
    assert world.record().last_attempt == at("11:00")


@clause("stamps.last-attempt")
async def test_the_last_attempt_is_the_start_of_a_run_that_fails_and_never_its_end(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=2 * MINUTE, fails=1))

    await world.until("11:03")

    assert world.record().last_attempt == at("11:00")


@clause("stamps.last-attempt")
async def test_a_retry_is_an_attempt_too(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(fails=2))

    await world.until("11:06")

    assert world.record().last_attempt == at("11:05")


@clause("stamps.last-attempt")
async def test_an_attempt_that_a_crash_cut_off_is_kept(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task(takes=10 * MINUTE))
    await world.until("11:03")

    await crash(scheduler)

    assert world.record().last_attempt == at("11:00")


@clause("stamps.last-success")
async def test_the_last_success_is_the_end_of_the_latest_run_that_returned(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=2 * MINUTE))

    await world.until("11:30")
    first = world.record().last_success
    await world.until("12:30")

    assert first == at("11:02")
    assert world.record().last_success == at("12:02")


@clause("stamps.last-success")
async def test_a_later_failure_leaves_the_last_success_as_it_was(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task(takes=2 * MINUTE))
    await world.until("11:30")
    await scheduler.stop()
    await world.start(world.task(takes=2 * MINUTE, fails=1))

    await world.until("12:05")

    record = world.record()
    assert (record.last_success, record.last_failure) == (at("11:02"), at("12:02"))


@clause("stamps.last-failure")
async def test_the_last_failure_is_the_end_of_the_latest_run_that_raised(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=2 * MINUTE, fails=2))

    await world.until("11:05")
    first = world.record().last_failure
    await world.until("11:10")

    assert first == at("11:02")
    assert world.record().last_failure == at("11:09")


@clause("stamps.last-failure")
async def test_a_later_success_leaves_the_last_failure_as_it_was(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=2 * MINUTE, fails=1))

    await world.until("11:30")

    record = world.record()
    assert (record.last_failure, record.last_success) == (at("11:02"), at("11:09"))


@clause("stamps.retry-until")
async def test_while_a_retry_is_awaited_its_time_is_kept_also_without_a_scheduler(contract: Contract) -> None:
    world = ContractHarness(contract)
    scheduler = await world.start(world.task(takes=2 * MINUTE, fails=1))
    await world.until("11:03")

    await scheduler.stop()

    assert world.record().retry_until == at("11:07")


@clause("stamps.retry-until")
async def test_each_failure_has_its_own_time_for_a_retry(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(fails=2))

    await world.until("11:06")

    assert world.record().retry_until == at("11:10")


@clause("stamps.retry-until")
async def test_from_the_start_of_the_retry_on_no_time_is_kept_for_one(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task(takes=MINUTE, fails=1))

    await world.until("11:06:30")
    during = world.record().retry_until
    await world.until("11:30")

    assert during is None
    assert world.record().retry_until is None
