"""Records and overrides: when two configurations are the same, and the identifier of a scheduler."""

from datetime import timedelta

import pytest

from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING, DECLARATIVE
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, times

CLASSES = ("TaskAdded", "TaskPreserved", "TaskOverridden")


# --- the same or another


@clause("override.identical")
async def test_the_same_name_text_and_delay_are_the_same_configuration_whatever_is_called(contract: Contract) -> None:
    world = ContractHarness(contract)
    await (await world.start(("report", "0 * * * *", world.task()[2], 5 * MINUTE))).stop()
    world.events.clear()

    await world.start(["report", "0 * * * *", world.task(takes=HOUR)[2], timedelta(seconds=300)])

    assert world.story(*CLASSES) == ["TaskPreserved"]


@clause("override.identical")
async def test_another_case_of_the_name_is_another_task(contract: Contract) -> None:
    world = ContractHarness(contract)
    await (await world.start(world.task("report"))).stop()
    world.events.clear()

    await world.start(world.task("Report"))

    assert world.story(*CLASSES) == ["TaskAdded"]
    assert set(world.store.records) == {"Report"}


@pytest.mark.parametrize(
    ("cron", "retry", "change"),
    [
        pytest.param("30 * * * *", 5 * MINUTE, "cronExpression", id="another time"),
        pytest.param("00 * * * *", 5 * MINUTE, "cronExpression", id="another text of the same time"),
        pytest.param("0  * * * *", 5 * MINUTE, "cronExpression", id="another blank"),
        pytest.param("0 * * * *", 5 * MINUTE + timedelta(milliseconds=1), "retryDelayMs", id="a millisecond more"),
        pytest.param("0 * * * *", 5 * MINUTE - timedelta(microseconds=1), "retryDelayMs", id="a microsecond less"),
        pytest.param("0 * * * *", timedelta(), "retryDelayMs", id="no delay"),
        pytest.param("0 0-23 * * *", MINUTE, "cronExpression,retryDelayMs", id="both"),
    ],
)
@clause("override.identical", "override.any-difference")
async def test_any_difference_of_text_or_delay_is_an_override(
    contract: Contract, cron: str, retry: timedelta, change: str
) -> None:
    world = ContractHarness(contract)
    await (await world.start(world.task(cron="0 * * * *", retry=5 * MINUTE))).stop()
    world.events.clear()

    await world.start(world.task(cron=cron, retry=retry))

    (overridden,) = world.events_named("TaskOverridden")
    assert world.story(*CLASSES) == ["TaskOverridden"]
    assert overridden.fields["changeType"] == change
    assert (world.record().cron, world.record().retry_delay) == (cron, retry)


# --- the identifier


@clause("identifier.unique")
async def test_no_two_schedulers_have_the_same_identifier(contract: Contract) -> None:
    worlds = [ContractHarness(contract, "11:00:30") for _ in range(20)]

    for world in worlds:
        await world.start(world.task(takes=HOUR))

    identifiers = {world.record().scheduler for world in worlds}
    assert "" not in identifiers
    assert len(identifiers) == 20


@clause("identifier.unique")
async def test_a_scheduler_does_not_take_its_identifier_from_the_store(contract: Contract) -> None:
    world = ContractHarness(contract, "11:00:30")
    report = world.task(cron="* * * * *", takes=HOUR)
    first = await world.start(report)
    left = world.record().scheduler
    await crash(first)

    await world.start(report)
    await world.until("11:01:30")

    assert world.record().running_since is not None
    assert world.record().scheduler not in ("", left)


@clause("identifier.tells-instances-apart", under=BOTH_POLLING)
async def test_a_scheduler_knows_its_own_run_when_it_is_given_a_list_again(contract: Contract) -> None:
    world = ContractHarness(contract)
    report = world.task(takes=30 * MINUTE)
    scheduler = await world.start(report)
    await world.until("11:10")
    before = world.record()

    await scheduler.initialize([report])
    await world.until("11:45")

    assert before.running_since is not None
    assert world.starts() == times("11:00")
    assert [ended for _, ended in world.ended] == times("11:30")


@clause("identifier.tells-instances-apart")
async def test_a_run_that_another_instance_left_behind_is_not_taken_for_a_run_in_flight(contract: Contract) -> None:
    world = ContractHarness(contract)
    report = world.task(takes=10 * MINUTE)
    first = await world.start(report)
    await world.until("11:05")
    await crash(first)

    await world.start(report)
    await world.until("12:05")

    assert world.starts()[-1:] == times("12:00")


@clause("identifier.tells-instances-apart", under=(DECLARATIVE,))
async def test_a_cut_off_run_is_told_with_the_identifier_of_the_instance_that_began_it(contract: Contract) -> None:
    world = ContractHarness(contract)
    report = world.task(takes=HOUR)
    first = await world.start(report)
    await world.until("11:05")
    left = world.record().scheduler
    await crash(first)

    await world.start(report)

    (orphaned,) = world.events_named("TaskOrphaned")
    assert orphaned.fields["schedulerIdentifier"] == left
    assert world.record().scheduler != left


@clause("identifier.in-every-record")
async def test_every_record_has_the_identifier_of_its_scheduler_before_during_and_after_a_run(
    contract: Contract,
) -> None:
    world = ContractHarness(contract)
    await world.start(world.task("idle", "0 0 * * *"), world.task("busy", takes=30 * MINUTE), world.task("done"))

    found = {record.scheduler for record in world.store.records.values()}
    for moment in ("11:10", "11:40"):
        await world.until(moment)
        found |= {record.scheduler for record in world.store.records.values()}

    assert len(found) == 1
    assert found != {""}


@clause("identifier.in-every-record")
async def test_a_new_scheduler_puts_its_identifier_into_the_records_that_it_preserves(contract: Contract) -> None:
    world = ContractHarness(contract)
    tasks = [world.task("one"), world.task("two")]
    await (await world.start(*tasks)).stop()
    left = world.record("one").scheduler

    await world.start(*tasks)

    now = {record.scheduler for record in world.store.records.values()}
    assert len(now) == 1
    assert not now & {"", left}


@clause("identifier.while-running")
async def test_the_records_of_tasks_that_run_have_the_identifier_of_their_scheduler(contract: Contract) -> None:
    world = ContractHarness(contract)
    await world.start(world.task("one", takes=HOUR), world.task("two", takes=HOUR), world.task("idle", "0 0 * * *"))

    await world.until("11:10")

    assert world.record("one").scheduler == world.record("two").scheduler != ""
    assert world.record("idle").scheduler == ""
