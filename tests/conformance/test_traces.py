"""Properties of every trace of runs, stops and crashes, in the shortest trace that could violate them."""

import asyncio
from datetime import timedelta

import pytest

from kron.instant import Instant
from kron.rules.contract import Contract
from kron.testing import crash
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, NOTHING, SECOND, ContractHarness, at, names_of, times
from tests.cron.iana import zone

_RUNS = ("TaskRunStarted", "TaskRunCompleted", "TaskRunFailed")


def trace(harness: ContractHarness, name: str) -> list[str]:
    """Return the starts and ends of one task in the events."""
    return [event.name for event in harness.events if event.name in _RUNS and event.fields["taskName"] == name]


# --- starts and ends --------------------------------------------------------------------------------------------------


@clause("trace.ends-have-starts")
async def test_every_end_follows_the_one_start_that_it_belongs_to(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, takes=MINUTE), harness.task("backup", takes=90 * MINUTE))

    await harness.until("12:40")

    assert trace(harness, "report") == [
        *("TaskRunStarted", "TaskRunFailed"),
        *("TaskRunStarted", "TaskRunCompleted"),
        *("TaskRunStarted", "TaskRunCompleted"),
    ]
    assert trace(harness, "backup") == ["TaskRunStarted", "TaskRunCompleted", "TaskRunStarted"]


@clause("trace.no-overlap")
async def test_a_task_that_takes_longer_than_its_interval_starts_again_only_when_it_has_ended(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(cron="* * * * *", takes=90 * SECOND))

    await harness.until("11:04")

    assert harness.starts() == times("10:59:30", "11:01", "11:02:30", "11:04")
    assert [moment for _, moment in harness.ended] == times("11:01", "11:02:30", "11:04")


@clause("trace.no-overlap")
async def test_a_new_list_does_not_start_a_task_beside_its_own_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=10 * MINUTE))
    await harness.until("11:05")

    await scheduler.initialize([harness.task(cron="* * * * *")])
    await harness.until("11:09:59")

    assert harness.starts() == times("11:00")


@clause("trace.no-overlap", "trace.interrupted-restarts")
@pytest.mark.parametrize("downtime", [NOTHING, 7 * MINUTE, 20 * HOUR], ids=["none", "minutes", "most of a day"])
async def test_a_run_that_a_crash_cut_off_starts_again_when_its_task_is_back(
    contract: Contract, downtime: timedelta
) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(cron="0 11 * * *", takes=10 * MINUTE))
    await harness.until("11:05:20")
    await crash(scheduler)
    await harness.clock.advance(downtime)
    back = harness.clock.now()

    await harness.start(harness.task(cron="0 11 * * *", takes=10 * MINUTE))
    await harness.clock.advance(MINUTE)

    first, second = harness.starts()
    assert first == at("11:00")
    assert back <= second <= back + MINUTE


# --- who may start ----------------------------------------------------------------------------------------------------


@clause("trace.eligibility")
async def test_a_task_that_owes_nothing_does_not_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:01:00")
    await harness.start(harness.task())

    await harness.until("12:59:59")

    assert harness.starts() == times("12:00")


@clause("trace.eligibility")
async def test_a_task_that_is_registered_no_more_does_not_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(), harness.task("backup"))
    await harness.until("11:30")

    await scheduler.initialize([harness.task("backup")])
    await harness.until("12:30")

    assert harness.starts("report") == times("11:00")
    assert harness.starts("backup") == times("11:00", "12:00")


@clause("trace.eligibility", "trace.quiet-after-stop")
async def test_nothing_starts_between_a_stop_and_the_next_initialisation(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(), harness.task("backup", fails=1))
    await harness.until("11:02")

    await scheduler.stop()
    await harness.until("13:30")

    assert harness.starts("report") == times("11:00")
    assert harness.starts("backup") == times("11:00")


@clause("trace.quiet-after-stop")
async def test_nothing_starts_while_a_stop_still_waits_for_a_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(takes=3 * HOUR), harness.task("backup"))
    await harness.until("11:30")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.until("13:30")

    assert not stopping.done()
    assert names_of(harness.began) == ["backup", "report"]


@clause("trace.quiet-after-stop")
async def test_a_scheduler_that_is_initialised_after_its_stop_starts_again(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task())
    await harness.until("11:30")
    await scheduler.stop()

    await scheduler.initialize([harness.task()])
    await harness.until("12:00")

    assert harness.starts() == times("11:00", "12:00")


# --- how often --------------------------------------------------------------------------------------------------------


@clause("trace.no-make-up")
async def test_a_pause_over_many_occurrences_is_followed_by_one_start_before_the_next(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await (await harness.start(harness.task())).stop()
    await harness.until("16:20")

    await harness.start(harness.task())
    await harness.until("17:30")

    assert harness.starts() == times("16:20", "17:00")


@clause("trace.no-make-up")
async def test_only_a_failure_gives_a_second_start_after_a_pause(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await (await harness.start(harness.task())).stop()
    await harness.until("16:20")

    await harness.start(harness.task(fails=1, retry=5 * MINUTE))
    await harness.until("16:59:59")

    assert harness.starts() == times("16:20", "16:25")


@clause("trace.one-start-for-both")
async def test_an_occurrence_and_a_retry_at_the_same_instant_give_one_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, retry=HOUR))

    await harness.until("12:59:59")

    assert harness.starts() == times("11:00", "12:00")
    assert harness.record().retry_until is None


@clause("trace.one-start-for-both")
async def test_an_occurrence_and_a_retry_that_both_came_in_a_pause_give_one_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task(fails=1, retry=5 * MINUTE))
    await harness.until("11:01")
    await scheduler.stop()
    await harness.until("12:20")

    await harness.start(harness.task(retry=5 * MINUTE))
    await harness.until("12:59:59")

    assert harness.starts() == times("11:00", "12:20")


@clause("trace.one-start-per-occurrence")
async def test_polls_stops_and_new_lists_between_two_occurrences_add_no_start(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task())
    await harness.until("11:00:20")

    await scheduler.initialize([harness.task(), harness.task("backup", "5 5 * * *")])
    await harness.until("11:00:40")
    await scheduler.stop()
    await harness.start(harness.task())
    await harness.until("11:59:59")

    assert harness.starts() == times("11:00")


@clause("trace.bounded-lag")
@pytest.mark.parametrize("begin", ["10:00:00", "10:00:00.000001", "10:07:30", "10:59:59.999999"])
async def test_a_due_task_starts_within_a_minute_whatever_the_second_in_which_polling_began(
    contract: Contract, begin: str
) -> None:
    harness = ContractHarness(contract, begin)
    await harness.start(harness.task(cron="0 11,12 * * *"))

    await harness.until("12:01")

    assert [moment.replace(second=0, microsecond=0) for moment in harness.starts()] == times("11:00", "12:00")


@clause("trace.bounded-lag")
async def test_a_task_that_is_due_because_the_clock_was_set_starts_within_a_minute(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30:00")
    await harness.start(harness.task())

    harness.clock.jump(2 * HOUR)
    await harness.until("12:31")

    (started,) = harness.starts()
    assert at("12:30") <= started <= at("12:31")


@clause("trace.bounded-lag")
async def test_a_task_that_is_due_while_it_runs_starts_within_a_minute_of_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(takes=75 * MINUTE))

    await harness.until("12:16")

    _, second = harness.starts()
    assert at("12:15") <= second <= at("12:16")


@clause("trace.due")
@pytest.mark.parametrize("timezone", ["UTC", "Asia/Kolkata", "America/St_Johns"])
async def test_a_task_starts_in_the_minutes_whose_calendar_time_matches_and_in_no_other(
    contract: Contract, timezone: str
) -> None:
    harness = ContractHarness(contract, "10:07:30", timezone=timezone)
    matching = [minute for minute in _minutes(at("10:08"), 2 * 24 * 60) if _is_listed(minute, timezone)]
    await harness.start(harness.task(cron="15,45 9-11 3 3 *"))

    await harness.clock.advance(48 * HOUR)

    assert len(matching) == 6
    assert harness.starts() == matching


def _minutes(first: Instant, count: int) -> list[Instant]:
    return [first + number * MINUTE for number in range(count)]


def _is_listed(minute: Instant, timezone: str) -> bool:
    """Whether the calendar of the zone shows 3 March, nine to eleven, a quarter past or to."""
    local = minute.astimezone(zone(timezone))
    return (local.month, local.day) == (3, 3) and local.hour in {9, 10, 11} and local.minute in {15, 45}
