"""Time: the host's clock, minutes and their boundaries, concurrent tasks, and polling."""

from itertools import pairwise

import pytest

from kron.instant import Instant
from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness, at, names_of, times

SELDOM = "0 0 1 1 *"


def polls(harness: ContractHarness) -> list[Instant]:
    """Return when due tasks were looked for."""
    return [at(str(event.fields["pollTime"])) for event in harness.events_named("PollStarted")]


# --- the clock --------------------------------------------------------------------------------------------------------


@clause("time.host-clock")
async def test_a_clock_that_is_set_forwards_brings_a_run_at_once(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30:00")
    await harness.start(harness.task())

    harness.clock.jump(31 * MINUTE)
    await harness.settle()

    assert harness.starts() == times("11:01:00")


@clause("time.host-clock")
async def test_a_clock_that_is_set_back_takes_a_run_away(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:50:00")
    await harness.start(harness.task())

    harness.clock.jump(-30 * MINUTE)
    await harness.clock.advance(39 * MINUTE)

    assert harness.clock.now() == at("10:59")
    assert harness.starts() == []


@clause("time.host-clock")
async def test_a_clock_that_was_set_back_is_obeyed_when_it_comes_to_the_time(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:50:00")
    await harness.start(harness.task())

    harness.clock.jump(-30 * MINUTE)
    await harness.until("12:30")

    assert harness.starts() == times("11:00", "12:00")


@clause("time.host-clock")
async def test_recorded_and_emitted_times_are_those_of_the_clock(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:30:00")
    await harness.start(harness.task())

    harness.clock.jump(31 * MINUTE)
    await harness.settle()

    assert harness.record().last_attempt == at("11:01")
    assert [event.fields["actualTime"] for event in harness.events_named("TaskRunStarted")] == ["2026-03-02T11:01:00Z"]


# --- minutes ----------------------------------------------------------------------------------------------------------


@clause("time.minute-granularity")
async def test_a_minute_gives_one_run_however_short_it_is(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:06:30")

    await harness.start(harness.task(cron="7 * * * *"))
    await harness.until("10:59")

    assert harness.starts() == times("10:07")


@clause("time.minute-granularity")
async def test_a_minute_that_was_served_is_not_served_again_when_it_is_looked_at_again(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:07:10")
    scheduler = await harness.start(harness.task(cron="* * * * *"))

    await scheduler.stop()
    await harness.until("10:07:20")
    await harness.start(harness.task(cron="* * * * *"))
    await harness.until("10:08:30")

    assert harness.starts() == times("10:07:10", "10:08")


@clause("time.every-boundary")
async def test_a_task_of_every_minute_runs_at_every_boundary(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:00:00")

    await harness.start(harness.task(cron="* * * * *"))
    await harness.until("12:00")

    assert harness.starts() == [at("10:00") + MINUTE * number for number in range(121)]


@clause("time.every-boundary")
async def test_each_minute_of_the_hour_finds_its_task(contract: Contract) -> None:
    harness = ContractHarness(contract, "09:59:59")

    await harness.start(*(harness.task(str(minute), f"{minute} 10 * * *") for minute in range(60)))
    await harness.until("11:00")

    assert sorted(harness.began, key=lambda start: start[1]) == [
        (str(minute), at("10:00") + MINUTE * minute) for minute in range(60)
    ]


@clause("time.boundary-is-second-zero")
async def test_nothing_starts_before_the_second_zero_of_its_minute(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task())

    await harness.until("10:59:59.999999")

    assert harness.starts() == []


@clause("time.boundary-is-second-zero")
@pytest.mark.parametrize("start", ["10:07:00", "10:07:30", "10:07:59.5"])
async def test_a_task_starts_at_second_zero_whenever_the_scheduler_did(contract: Contract, start: str) -> None:
    harness = ContractHarness(contract, start)

    await harness.start(harness.task())
    await harness.until("11:30")

    assert harness.starts() == times("11:00:00")


@clause("time.due-together")
async def test_tasks_that_are_due_together_run_side_by_side(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(*(harness.task(name, takes=10 * MINUTE) for name in "abc"))
    await harness.until("11:05")

    assert names_of(harness.began) == ["a", "b", "c"]
    assert {moment for _, moment in harness.began} == {at("11:00")}
    assert harness.ended == []


@clause("time.due-together")
async def test_a_slow_task_holds_no_other_up(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task("slow", takes=5 * HOUR), harness.task("quick"))
    await harness.until("13:30")

    assert harness.starts("slow") == times("11:00")
    assert harness.starts("quick") == times("11:00", "12:00", "13:00")


# --- polling ----------------------------------------------------------------------------------------------------------


@clause("time.polls-regularly")
async def test_polls_are_never_more_than_a_minute_apart(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(cron=SELDOM))
    await harness.until("12:07:30")

    looked = [at("10:07:30"), *polls(harness), at("12:07:30")]
    assert max(later - earlier for earlier, later in pairwise(looked)) <= MINUTE


@clause("time.starts-all-due")
async def test_everything_that_is_due_at_a_poll_is_started_whatever_the_reason(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(
        harness.task("by the hour"),
        harness.task("at eleven", "0 11 * * *"),
        harness.task("a retry", "55 10 * * *", retry=5 * MINUTE, fails=1),
    )
    await harness.until("10:59:59")
    harness.began.clear()
    await harness.until("11:00")

    assert names_of(harness.began) == ["a retry", "at eleven", "by the hour"]


@clause("time.starts-all-due")
async def test_all_due_tasks_are_started_however_many_there_are(contract: Contract) -> None:
    harness = ContractHarness(contract)
    many = {f"task {number}" for number in range(2500)}

    await harness.start(*(harness.task(name) for name in many))
    await harness.until("11:00")

    assert names_of(harness.began) == sorted(many)


@clause("time.polls-while-tasks")
async def test_polling_goes_on_while_one_task_is_left(contract: Contract) -> None:
    harness = ContractHarness(contract)
    kept = harness.task("kept", SELDOM)
    scheduler = await harness.start(kept, harness.task("dropped", SELDOM))

    await scheduler.initialize([kept])
    await harness.until("11:07:30")

    assert harness.events_named("PollingStopped") == []
    assert at("11:07:30") - max(polls(harness)) < MINUTE + SECOND


@clause("time.polls-while-tasks")
async def test_polling_goes_on_while_the_only_task_runs(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(takes=5 * HOUR))
    await harness.until("13:07:30")

    assert harness.events_named("PollingStopped") == []
    assert at("13:07:30") - max(polls(harness)) < MINUTE + SECOND


@clause("time.no-tasks-no-polls")
async def test_polling_ends_with_the_last_task(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.initialize([])
    await harness.until("14:00")

    assert harness.event_names("PollingStarted", "PollingStopped") == ["PollingStarted", "PollingStopped"]
    assert max(polls(harness)) == at("10:07:30")


@clause("time.no-tasks-no-polls")
async def test_an_empty_list_begins_no_polling(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start()
    await harness.until("14:00")

    assert harness.event_names("PollingStarted", "PollStarted", "PollCompleted") == []


@clause("time.no-tasks-no-polls")
async def test_no_poll_follows_the_end_of_polling(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.initialize([])
    await harness.until("14:00")

    assert harness.event_names("PollStarted", "PollingStopped")[-1] == "PollingStopped"


@clause("time.no-tasks-no-polls")
async def test_polling_begins_again_with_a_new_task(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start()
    await harness.until("10:30")

    await scheduler.initialize([harness.task()])
    await harness.until("11:30")

    assert harness.starts() == times("11:00")
