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
    harness = ContractHarness(contract)
    await (await harness.start(("report", "0 * * * *", harness.task()[2], 5 * MINUTE))).stop()
    harness.events.clear()

    await harness.start(["report", "0 * * * *", harness.task(takes=HOUR)[2], timedelta(seconds=300)])

    assert harness.event_names(*CLASSES) == ["TaskPreserved"]


@clause("override.identical")
async def test_another_case_of_the_name_is_another_task(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await (await harness.start(harness.task("report"))).stop()
    harness.events.clear()

    await harness.start(harness.task("Report"))

    assert harness.event_names(*CLASSES) == ["TaskAdded"]
    assert set(harness.store.records) == {"Report"}


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
    harness = ContractHarness(contract)
    await (await harness.start(harness.task(cron="0 * * * *", retry=5 * MINUTE))).stop()
    harness.events.clear()

    await harness.start(harness.task(cron=cron, retry=retry))

    (overridden,) = harness.events_named("TaskOverridden")
    assert harness.event_names(*CLASSES) == ["TaskOverridden"]
    assert overridden.fields["changeType"] == change
    assert (harness.record().cron, harness.record().retry_delay) == (cron, retry)


# --- the identifier


@clause("identifier.unique")
async def test_no_two_schedulers_have_the_same_identifier(contract: Contract) -> None:
    worlds = [ContractHarness(contract, "11:00:30") for _ in range(20)]

    for harness in worlds:
        await harness.start(harness.task(takes=HOUR))

    identifiers = {harness.record().scheduler for harness in worlds}
    assert "" not in identifiers
    assert len(identifiers) == 20


@clause("identifier.unique")
async def test_a_scheduler_does_not_take_its_identifier_from_the_store(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:30")
    report = harness.task(cron="* * * * *", takes=HOUR)
    first = await harness.start(report)
    left = harness.record().scheduler
    await crash(first)

    await harness.start(report)
    await harness.until("11:01:30")

    assert harness.record().running_since is not None
    assert harness.record().scheduler not in ("", left)


@clause("identifier.tells-instances-apart", under=BOTH_POLLING)
async def test_a_scheduler_knows_its_own_run_when_it_is_given_a_list_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=30 * MINUTE)
    scheduler = await harness.start(report)
    await harness.until("11:10")
    before = harness.record()

    await scheduler.initialize([report])
    await harness.until("11:45")

    assert before.running_since is not None
    assert harness.starts() == times("11:00")
    assert [ended for _, ended in harness.ended] == times("11:30")


@clause("identifier.tells-instances-apart")
async def test_a_run_that_another_instance_left_behind_is_not_taken_for_a_run_in_flight(contract: Contract) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=10 * MINUTE)
    first = await harness.start(report)
    await harness.until("11:05")
    await crash(first)

    await harness.start(report)
    await harness.until("12:05")

    assert harness.starts()[-1:] == times("12:00")


@clause("identifier.tells-instances-apart", under=(DECLARATIVE,))
async def test_an_interrupted_run_is_emitted_with_the_identifier_of_the_instance_that_began_it(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract)
    report = harness.task(takes=HOUR)
    first = await harness.start(report)
    await harness.until("11:05")
    left = harness.record().scheduler
    await crash(first)

    await harness.start(report)

    (orphaned,) = harness.events_named("TaskOrphaned")
    assert orphaned.fields["schedulerIdentifier"] == left
    assert harness.record().scheduler != left


@clause("identifier.in-every-record")
async def test_every_record_has_the_identifier_of_its_scheduler_before_during_and_after_a_run(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract)
    await harness.start(
        harness.task("idle", "0 0 * * *"), harness.task("busy", takes=30 * MINUTE), harness.task("done")
    )

    found = {record.scheduler for record in harness.store.records.values()}
    for moment in ("11:10", "11:40"):
        await harness.until(moment)
        found |= {record.scheduler for record in harness.store.records.values()}

    assert len(found) == 1
    assert found != {""}


@clause("identifier.in-every-record")
async def test_a_new_scheduler_puts_its_identifier_into_the_records_that_it_preserves(contract: Contract) -> None:
    harness = ContractHarness(contract)
    tasks = [harness.task("one"), harness.task("two")]
    await (await harness.start(*tasks)).stop()
    left = harness.record("one").scheduler

    await harness.start(*tasks)

    now = {record.scheduler for record in harness.store.records.values()}
    assert len(now) == 1
    assert not now & {"", left}


@clause("identifier.while-running")
async def test_the_records_of_tasks_that_run_have_the_identifier_of_their_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(
        harness.task("one", takes=HOUR), harness.task("two", takes=HOUR), harness.task("idle", "0 0 * * *")
    )

    await harness.until("11:10")

    assert harness.record("one").scheduler == harness.record("two").scheduler != ""
    assert harness.record("idle").scheduler == ""
