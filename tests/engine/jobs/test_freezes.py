"""Freezes and stalls: a loop that wakes up later than its slack was frozen, and that is downtime."""

import pytest

from kron.instant import MICROSECOND
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, lived, work
from tests.engine.jobs.standstill import AtBegin, stand_still

SLACK = 30 * SECOND


# --- a stall ----------------------------------------------------------------------------------------------------------


async def test_a_wake_up_that_is_late_by_less_than_the_slack_runs_its_period() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await stand_still(host, NOON + 20 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:00:20 a 02 12:00 executed"]


async def test_after_a_stall_each_period_is_judged() -> None:
    host = RestartableHost(slack=5 * MINUTE)
    await host.begin(work("* * * * *", concurrency="allow"))
    await stand_still(host, NOON + 2 * MINUTE + 20 * SECOND)
    await host.engine.crash()

    assert host.log == [f"12:02:20 a 02 12:0{minute} executed" for minute in range(3)]


def test_a_delay_of_exactly_the_slack_is_a_stall_and_a_longer_one_is_a_freeze() -> None:
    async def stalled(host: RestartableHost) -> None:
        await host.begin(work("0 * * * *"))
        await stand_still(host, NOON + SLACK)

    async def frozen(host: RestartableHost) -> None:
        await host.begin(work("0 * * * *"))
        await stand_still(host, NOON + SLACK + MICROSECOND)

    assert lived(stalled).log == ["12:00:30 a 02 12:00 executed"]
    assert lived(frozen).log == ["12:00:30 a 02 12:00 missed: deadline"]


async def test_an_idle_loop_that_sleeps_its_full_minute_is_neither_frozen_nor_stalled() -> None:
    host = RestartableHost(start=NOON - MINUTE)
    host.clock.max_sleep = MINUTE
    await host.begin(work("0 * * * *"))
    await stand_still(host, NOON + 1.2 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:00:01 a 02 12:00 executed"]


async def test_a_run_that_ended_in_a_stall_does_not_skip_the_next_period() -> None:
    host = RestartableHost()
    host.runner.lasts = 50 * SECOND
    await host.begin(work("* * * * *"))
    await host.clock.advance_to(NOON + 45 * SECOND)
    await stand_still(host, NOON + MINUTE + 20 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:01:20 a 02 12:01 executed"]


# --- a freeze ---------------------------------------------------------------------------------------------------------


async def test_after_a_freeze_the_newest_period_runs_and_the_others_are_superseded() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *", deadline="10m"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == [
        "12:05:10 a 02 12:04 skipped: superseded x5",
        "12:05:10 a 02 12:05 executed",
        "12:06:00 a 02 12:06 executed",
    ]


async def test_periods_of_a_freeze_beyond_their_deadline_are_missed_as_one_range() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *", deadline="2m"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:05:10 a 02 12:03 missed: deadline x4",
        "12:05:10 a 02 12:04 skipped: superseded",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_freeze_gets_no_slack() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == [
        "12:05:10 a 02 12:05 missed: deadline x6",
        "12:06:00 a 02 12:06 executed",
    ]


@pytest.mark.parametrize(
    ("concurrency", "last"),
    [
        ("forbid", ["skipped: active"]),
        ("allow", ["executed"]),
        ("replace", ["02 12:00 replaced", "executed"]),
    ],
)
async def test_a_run_that_goes_on_after_a_freeze_counts_as_its_policy_says(concurrency: str, last: list[str]) -> None:
    host = RestartableHost()
    host.runner.lasts = HOUR
    await host.begin(work("* * * * *", concurrency=concurrency, deadline="10m"))
    await host.clock.advance_to(NOON + 10 * SECOND)
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    log = host.log
    assert log[:2] == ["12:00:00 a 02 12:00 executed", "12:05:10 a 02 12:04 skipped: superseded x4"]
    assert [each.removeprefix("12:05:10 a ").removeprefix("02 12:05 ") for each in log[2:]] == last


async def test_a_run_that_ended_in_a_freeze_does_not_skip_the_newest_period() -> None:
    host = RestartableHost()
    host.runner.lasts = MINUTE / 2
    await host.begin(work("* * * * *", deadline="10m"))
    await host.clock.advance_to(NOON + 10 * SECOND)
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_period_that_waits_for_a_slot_when_a_freeze_begins_is_executed_after_it() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = 3 * MINUTE
    await host.begin(work("0 * * * *"), work("0 * * * *", name="b"))
    await host.clock.advance_to(NOON + 10 * SECOND)
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:05:10 b 02 12:00 executed"]


async def test_each_of_many_jobs_is_judged_by_the_freeze_though_a_step_takes_up_a_few() -> None:
    host = RestartableHost()
    await host.begin(*(work("* * * * *", name=f"job{number}", deadline="10m") for number in range(100)))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    log = host.log
    assert len([each for each in log if each.endswith("skipped: superseded x5")]) == 100
    assert len([each for each in log if each.endswith("02 12:05 executed")]) == 100
    assert len(log) == 200


async def test_a_second_freeze_before_all_jobs_were_taken_up_is_one_time_without_a_host() -> None:
    host = RestartableHost()
    AtBegin(host, "job0")
    await host.begin(*(work("* * * * *", name=f"job{number}", deadline="20m") for number in range(40)))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    log = [each for each in host.log if " job39 " in each]
    assert log == ["12:10:20 job39 02 12:09 skipped: superseded x10", "12:10:20 job39 02 12:10 executed"]


async def test_a_period_that_is_due_after_a_freeze_has_its_slack() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await stand_still(host, NOON + 6 * MINUTE + 20 * SECOND)
    await host.engine.crash()

    assert host.log[1:] == ["12:06:20 a 02 12:06 executed"]
