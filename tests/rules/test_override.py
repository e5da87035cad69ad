"""Tests of reconcile: how a list of tasks compares with the stored ones, under each contract."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron.cron.schedule import Schedule
from kron.instant import parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract, IdentifierScope
from kron.rules.due import Occurrences
from kron.rules.override import Override, OverrideKind, reconcile
from kron.rules.registration import TaskSpec
from kron.rules.task_record import TaskRecord

ME, ANOTHER = "scheduler-2", "scheduler-1"
FIVE_MINUTES = timedelta(minutes=5)
NOW = parse_instant("2026-03-02T12:00:30Z")
YESTERDAY = NOW - timedelta(days=1)


def name_of(contract: Contract) -> str:
    return contract.name


every_contract = pytest.mark.parametrize("contract", [POLLING_DRAFT, POLLING, DECLARATIVE], ids=name_of)
contracts_that_reset = pytest.mark.parametrize("contract", [POLLING_DRAFT, POLLING], ids=name_of)


async def work() -> None: ...


def task(name: str = "report", cron: str = "0 * * * *", delay: timedelta = FIVE_MINUTES) -> TaskSpec:
    return TaskSpec(name, cron, work, delay, Occurrences(Schedule(cron)))


def owner(contract: Contract, me: str = ME) -> str:
    """Return whose name a record of a task that does not run carries."""
    return me if contract.identifier_in_record is IdentifierScope.ALWAYS else ""


def stored(contract: Contract, name: str = "report") -> TaskRecord:
    """Return what another scheduler left of a task with a past: a success, then a failure that waits for its retry."""
    return TaskRecord(
        name,
        "0 * * * *",
        FIVE_MINUTES,
        YESTERDAY,
        NOW - timedelta(minutes=2),
        NOW - timedelta(hours=1),
        NOW - timedelta(minutes=1),
        NOW + timedelta(minutes=4),
        1,
        None,
        owner(contract, ANOTHER),
    )


def running(contract: Contract, scheduler: str) -> TaskRecord:
    return stored(contract)._replace(running_since=NOW - timedelta(minutes=2), scheduler=scheduler)


def override(task: TaskSpec, before: TaskRecord | None, contract: Contract) -> Override:
    """Return the one override of a list of one."""
    (found,) = reconcile([task], {} if before is None else {before.name: before}, contract, NOW, ME)
    return found


# --- new --------------------------------------------------------------------------------------------------------------


@every_contract
def test_a_task_that_is_not_stored_is_new_and_has_no_history(contract: Contract) -> None:
    found = override(task(), None, contract)

    after = TaskRecord("report", "0 * * * *", FIVE_MINUTES, NOW, scheduler=owner(contract))
    assert found == Override(OverrideKind.NEW, None, after)


# --- preserved --------------------------------------------------------------------------------------------------------


@every_contract
def test_an_equal_task_is_preserved_with_its_history(contract: Contract) -> None:
    before = stored(contract)

    found = override(task(), before, contract)

    assert found == Override(OverrideKind.PRESERVED, before, before._replace(scheduler=owner(contract)))


@every_contract
def test_a_record_that_this_scheduler_wrote_is_preserved_untouched(contract: Contract) -> None:
    before = stored(contract)._replace(scheduler=owner(contract))

    found = override(task(), before, contract)

    assert found.after is before


@every_contract
def test_a_task_that_runs_here_is_preserved_untouched(contract: Contract) -> None:
    before = running(contract, ME)

    found = override(task(), before, contract)

    assert found.kind is OverrideKind.PRESERVED
    assert found.after is before


@every_contract
def test_the_callback_is_no_part_of_the_configuration(contract: Contract) -> None:
    async def other_work() -> None: ...

    found = override(task()._replace(callback=other_work), stored(contract), contract)

    assert found.kind is OverrideKind.PRESERVED


# --- overridden -------------------------------------------------------------------------------------------------------

CHANGES = {
    "the expression": task(cron="30 * * * *"),
    "the delay": task(delay=timedelta(microseconds=1)),
    "both": task(cron="30 * * * *", delay=timedelta()),
    "the spelling": task(cron="0  * * * *"),
}
every_change = pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)


@every_change
def test_where_history_is_kept_only_the_configuration_changes(changed: TaskSpec) -> None:
    before = stored(DECLARATIVE)

    found = override(changed, before, DECLARATIVE)

    after = before._replace(cron=changed.cron, retry_delay=changed.retry_delay)
    assert found == Override(OverrideKind.OVERRIDDEN, before, after, changed=True)


@every_change
@contracts_that_reset
def test_where_history_is_reset_a_changed_task_starts_over(contract: Contract, changed: TaskSpec) -> None:
    before = stored(contract)

    found = override(changed, before, contract)

    after = TaskRecord("report", changed.cron, changed.retry_delay, NOW, scheduler=ME)
    assert found == Override(OverrideKind.OVERRIDDEN, before, after, changed=True)


def test_a_retry_that_waits_keeps_its_instant_when_the_delay_changes() -> None:
    before = stored(DECLARATIVE)

    found = override(task(delay=timedelta(days=1)), before, DECLARATIVE)

    assert found.after is not None
    assert found.after.retry_until == before.retry_until


# --- overridden while it runs here ------------------------------------------------------------------------------------


@every_change
def test_a_changed_task_that_runs_here_goes_on_with_its_history(changed: TaskSpec) -> None:
    before = running(DECLARATIVE, ME)

    found = override(changed, before, DECLARATIVE)

    after = before._replace(cron=changed.cron, retry_delay=changed.retry_delay)
    assert found == Override(OverrideKind.OVERRIDDEN, before, after, changed=True)


@every_change
@contracts_that_reset
def test_a_changed_task_that_runs_here_goes_on_without_its_history(contract: Contract, changed: TaskSpec) -> None:
    before = running(contract, ME)

    found = override(changed, before, contract)

    fresh = TaskRecord("report", changed.cron, changed.retry_delay, NOW)
    after = fresh._replace(running_since=before.running_since, scheduler=ME)
    assert found == Override(OverrideKind.OVERRIDDEN, before, after, changed=True)


# --- cut off ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("contract", [POLLING, DECLARATIVE], ids=name_of)
def test_a_run_that_was_cut_off_keeps_its_marks_until_its_restart_is_recorded(contract: Contract) -> None:
    before = running(contract, ANOTHER)

    found = override(task(), before, contract)

    assert found == Override(OverrideKind.ORPHANED, before, before)


def test_where_a_cut_off_run_waits_for_its_next_occurrence_its_marks_go() -> None:
    before = running(POLLING_DRAFT, ANOTHER)

    found = override(task(), before, POLLING_DRAFT)

    assert found == Override(OverrideKind.PRESERVED, before, before._replace(running_since=None, scheduler=ME))


@every_change
def test_a_cut_off_task_that_changed_is_orphaned_with_its_new_configuration(changed: TaskSpec) -> None:
    # C6: the orphan wins, with the new configuration.
    before = running(DECLARATIVE, ANOTHER)

    found = override(changed, before, DECLARATIVE)

    after = before._replace(cron=changed.cron, retry_delay=changed.retry_delay)
    assert found == Override(OverrideKind.ORPHANED, before, after, changed=True)


@every_change
@contracts_that_reset
def test_a_cut_off_task_that_changed_comes_for_the_first_time_where_history_is_reset(
    contract: Contract, changed: TaskSpec
) -> None:
    # 7.2: with RESET the change counts as first coming, which clears due, retry and orphan.
    before = running(contract, ANOTHER)

    found = override(changed, before, contract)

    after = TaskRecord("report", changed.cron, changed.retry_delay, NOW, scheduler=ME)
    assert found == Override(OverrideKind.OVERRIDDEN, before, after, changed=True)


# --- gone -------------------------------------------------------------------------------------------------------------


@every_contract
def test_a_stored_task_that_is_not_in_the_list_goes(contract: Contract) -> None:
    before = stored(contract)

    assert reconcile([], {"report": before}, contract, NOW, ME) == [Override(OverrideKind.UNREGISTERED, before, None)]


@every_contract
def test_a_task_that_was_cut_off_and_is_not_in_the_list_goes_too(contract: Contract) -> None:
    before = running(contract, ANOTHER)

    assert reconcile([], {"report": before}, contract, NOW, ME) == [Override(OverrideKind.UNREGISTERED, before, None)]


# --- whose name -------------------------------------------------------------------------------------------------------


@every_contract
@pytest.mark.parametrize("before", [None, ANOTHER, ME], ids=["new", "of another", "of this one"])
def test_a_task_that_does_not_run_carries_a_name_only_where_it_always_does(
    contract: Contract, before: str | None
) -> None:
    record = None if before is None else stored(contract)._replace(scheduler=owner(contract, before))

    found = override(task(), record, contract)

    assert found.after is not None
    assert found.after.scheduler == owner(contract)


# --- lists ------------------------------------------------------------------------------------------------------------


@every_contract
@given(names=st.lists(st.text(min_size=1, max_size=2), unique=True), kept=st.sets(st.text(min_size=1, max_size=2)))
def test_registered_tasks_come_first_in_their_order_and_then_those_that_go(
    contract: Contract, names: list[str], kept: set[str]
) -> None:
    records = {name: stored(contract, name) for name in sorted(kept)}

    found = reconcile([task(name) for name in names], records, contract, NOW, ME)

    gone = [name for name in sorted(kept) if name not in names]
    kinds = [OverrideKind.PRESERVED if name in kept else OverrideKind.NEW for name in names] + [
        OverrideKind.UNREGISTERED
    ] * len(gone)
    assert [record.name for each in found if (record := each.after or each.before)] == names + gone
    assert [each.kind for each in found] == kinds


@every_contract
def test_reconcile_does_not_change_the_stored_records(contract: Contract) -> None:
    records = {"report": stored(contract), "gone": stored(contract, "gone")}

    reconcile([task()], records, contract, NOW, ME)

    assert records == {"report": stored(contract), "gone": stored(contract, "gone")}
