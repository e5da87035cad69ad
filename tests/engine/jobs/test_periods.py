"""Periods of a host that is alive: each is handled once, at its chosen second, by its policy."""

import asyncio

from kron.engine.runs import RunResult
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, work


async def test_a_job_runs_at_its_chosen_second() -> None:
    world = RestartableHost()
    await world.begin(work())
    await world.clock.advance(2 * HOUR)
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed", "13:00:00 a 02 13:00 executed"]


async def test_a_new_job_does_not_miss_the_past() -> None:
    world = RestartableHost()
    await world.begin(work("0 11 * * *"))
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == []


async def test_a_start_is_recorded_before_it_happens() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work())
    world.ledger.failures = 1
    await world.clock.advance(MINUTE)
    assert world.runner.running == {}
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert world.told == ["12:00:01 a 02 12:00 executed"]


async def test_the_first_of_many_begin_before_the_others_are_recorded() -> None:
    world = RestartableHost()
    await world.begin(*(work(name=f"job{number}") for number in range(400)))
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    assert world.ledger.together == [16, 32, 64, 128, 128, 32]


async def test_as_which_process_a_run_was_there_is_only_recorded_while_it_is() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work(name="long"))
    await world.clock.advance(MINUTE)
    world.runner.is_hasty = True
    await world.declare(work(name="long"), work("* * * * *", name="short"))
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    ledger = world.ledger
    assert [ledger.runs[name].identity for name in ledger.processes] == ["long"]
    assert [ledger.runs[name].identity for name in ledger.ends] == ["short"]


async def test_windows_that_overlap_are_handled_in_the_order_of_chosen_times() -> None:
    world = RestartableHost()
    await world.begin(work("* * * * * @win(after,30m)", concurrency="allow"))
    await world.clock.advance(2 * HOUR)
    await world.engine.crash()
    executed = list(world.ledger.runs.values())
    assert 115 <= len(executed) <= 125
    assert [each.chosen for each in executed] == [each.started for each in executed]
    assert len({each.nominal for each in executed}) == len(executed)
    assert [each.nominal for each in executed] != sorted(each.nominal for each in executed if each.nominal)


async def test_forbid_skips_what_comes_while_a_run_is_active() -> None:
    world = RestartableHost()
    world.runner.lasts = 90 * MINUTE
    await world.begin(work())
    await world.clock.advance(3 * HOUR)
    await world.engine.crash()

    assert world.told == [
        "12:00:00 a 02 12:00 executed",
        "13:00:00 a 02 13:00 skipped: active",
        "14:00:00 a 02 14:00 executed",
    ]


async def test_allow_lets_them_run_side_by_side() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work(concurrency="allow"))
    await world.clock.advance(3 * HOUR)
    assert len(world.runner.running) == 3
    await world.engine.crash()


async def test_replace_ends_the_run_and_begins_when_it_is_gone() -> None:
    world = RestartableHost()
    world.runner.lasts, world.runner.heeds = None, False
    await world.begin(work(concurrency="replace"))
    await world.clock.advance(HOUR + MINUTE)
    assert world.runner.terminated == ["life1-1"]
    world.runner.end("life1-1", RunResult(signal="SIGKILL"))
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert world.told == [
        "12:00:00 a 02 12:00 executed",
        "13:00:00 a 02 12:00 replaced",
        "13:00:00 a 02 13:00 executed",
    ]


async def test_what_waits_to_replace_gives_way_to_what_comes_after_it() -> None:
    world = RestartableHost()
    world.runner.lasts, world.runner.heeds = None, False
    await world.begin(work("* * * * *", concurrency="replace"))
    await world.clock.advance(3 * MINUTE + SECOND)
    world.runner.end("life1-1", RunResult(signal="SIGKILL"))
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert world.told == [
        "12:00:00 a 02 12:00 executed",
        "12:02:00 a 02 12:01 skipped: superseded",
        "12:02:01 a 02 12:00 replaced",
        "12:02:01 a 02 12:02 executed",
    ]


async def test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins() -> None:
    world = RestartableHost()
    await world.begin(work("0 * * * * @win(after,30m) @avoid(hours=12)"))
    await world.clock.advance(HOUR)
    await world.engine.crash()

    told = world.told
    assert told == ["12:00:00 a 02 12:00 unschedulable: no candidate accepted within MaxAttempts"]


async def test_no_more_run_at_once_than_the_host_allows_and_waiting_makes_nobody_late() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = 10 * MINUTE
    await world.begin(*(work(name=name) for name in "abc"))
    await world.clock.advance(25 * MINUTE)
    await world.engine.crash()
    assert world.told == [
        "12:00:00 a 02 12:00 executed",
        "12:10:00 b 02 12:00 executed",
        "12:20:00 c 02 12:00 executed",
    ]


async def test_a_run_that_lasts_too_long_is_ended() -> None:
    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work(timeout=5 * MINUTE))
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told[:2] == ["12:00:00 a 02 12:00 executed", "12:05:00 a 02 12:00 timeout"]


async def test_what_fails_is_tried_again_and_is_active_until_it_is_over() -> None:
    world = RestartableHost()
    world.runner.codes = [1, 1, 0]
    await world.begin(work("* * * * *", retries=2, retry_delay=90 * SECOND))
    await world.clock.advance(5 * MINUTE)
    await world.engine.crash()

    assert world.told == [
        "12:00:00 a 02 12:00 executed",
        "12:00:00 a 02 12:00 failed",
        "12:01:00 a 02 12:01 skipped: active",
        "12:01:30 a 02 12:00 attempt 2",
        "12:01:30 a 02 12:00 failed",
        "12:02:00 a 02 12:02 skipped: active",
        "12:03:00 a 02 12:03 skipped: active",
        "12:03:00 a 02 12:00 attempt 3",
        "12:04:00 a 02 12:04 executed",
    ]


async def test_a_ledger_that_fails_holds_everything_up_and_loses_nothing() -> None:
    world = RestartableHost()
    await world.begin(work("* * * * *", deadline="5m"), work("0 * * * *", "b", deadline="5m"))
    world.ledger.failures = 4
    await world.clock.advance(2 * MINUTE)
    await world.engine.crash()
    assert [told for told in world.told if "12:00 " in told] == [
        "12:00:15 a 02 12:00 executed",
        "12:00:15 b 02 12:00 executed",
    ]


async def test_a_ledger_does_not_count_as_failed_when_the_job_that_it_failed_for_is_gone() -> None:
    failed = []

    world = RestartableHost()
    await world.begin(work(deadline="5m"))
    world.ledger.failures = 1
    await world.clock.advance_to(NOON)
    failed.append(world.engine.failed_ledger is not None)
    await world.declare()
    await world.clock.advance(MINUTE)
    failed.append(world.engine.failed_ledger is not None)
    await world.engine.crash()
    assert failed == [True, False]


async def test_a_clock_that_is_set_back_handles_nothing_again() -> None:
    world = RestartableHost()
    await world.begin(work())
    await world.clock.advance(2 * MINUTE)
    world.clock.jump(-30 * MINUTE)
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed"]


async def test_a_clock_that_is_set_forward_is_time_without_a_host() -> None:
    world = RestartableHost()
    await world.begin(work(deadline="2h"), work("0 12 * * *", "b"))
    world.clock.jump(4 * HOUR)
    world.engine.wake_up()
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert world.told == [
        "15:59:00 a 02 13:00 missed: deadline x2",
        "15:59:00 a 02 14:00 skipped: superseded",
        "15:59:00 b 02 12:00 missed: deadline",
        "15:59:00 a 02 15:00 executed",
    ]


async def test_nothing_is_started_while_the_host_drains() -> None:
    world = RestartableHost()
    world.runner.lasts = 5 * MINUTE
    await world.begin(work("* * * * *", concurrency="allow"))
    await world.clock.advance(MINUTE)
    stopping = asyncio.ensure_future(world.stop())
    await world.clock.advance(10 * MINUTE)
    await stopping
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed"]


async def test_a_longer_deadline_after_downtime_closes_no_period_and_lets_the_newest_run() -> None:
    world = RestartableHost()
    await world.begin(work("*/2 * * * *"))
    await world.crash(down=6 * MINUTE)
    declared = await world.begin(work("*/2 * * * *", deadline="10m"))
    assert declared.changed == ["a"]
    await world.engine.crash()

    lines = world.told
    assert [line for line in lines if "definition changed" in line] == []
    assert lines[-1] == "12:05:00 a 02 12:04 executed"
