"""Periods of a running host: each is handled once, at its chosen second, by its policy."""

import asyncio

from kron.engine.runs import RunResult
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work


async def test_a_job_runs_at_its_chosen_second() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "13:00:00 a 02 13:00 executed"]


async def test_a_new_job_does_not_miss_the_past() -> None:
    host = RestartableHost()
    await host.begin(work("0 11 * * *"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == []


async def test_a_start_is_recorded_before_it_happens() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work())
    host.ledger.failures = 1
    await host.clock.advance(MINUTE)
    assert host.runner.running == {}
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == ["12:00:01 a 02 12:00 executed"]


async def test_the_first_of_many_begin_before_the_others_are_recorded() -> None:
    host = RestartableHost()
    await host.begin(*(work(name=f"job{number}") for number in range(400)))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.ledger.together == [16, 32, 64, 128, 128, 32]


async def test_as_which_process_a_run_was_there_is_only_recorded_while_it_is() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(name="long"))
    await host.clock.advance(MINUTE)
    host.runner.is_hasty = True
    await host.declare(work(name="long"), work("* * * * *", name="short"))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    ledger = host.ledger
    assert [ledger.runs[name].identity for name in ledger.processes] == ["long"]
    assert [ledger.runs[name].identity for name in ledger.ends] == ["short"]


async def test_windows_that_overlap_are_handled_in_the_order_of_chosen_times() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * * @win(after,30m)", concurrency="allow"))
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()
    executed = list(host.ledger.runs.values())
    assert 115 <= len(executed) <= 125
    assert [each.chosen for each in executed] == [each.started for each in executed]
    assert len({each.nominal for each in executed}) == len(executed)
    assert [each.nominal for each in executed] != sorted(each.nominal for each in executed if each.nominal)


async def test_forbid_skips_what_comes_while_a_run_is_active() -> None:
    host = RestartableHost()
    host.runner.lasts = 90 * MINUTE
    await host.begin(work())
    await host.clock.advance(3 * HOUR)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "13:00:00 a 02 13:00 skipped: active",
        "14:00:00 a 02 14:00 executed",
    ]


async def test_allow_lets_them_run_side_by_side() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(concurrency="allow"))
    await host.clock.advance(3 * HOUR)
    assert len(host.runner.running) == 3
    await host.engine.crash()


async def test_replace_ends_the_run_and_begins_when_it_is_gone() -> None:
    host = RestartableHost()
    host.runner.lasts, host.runner.obeys_sigterm = None, False
    await host.begin(work(concurrency="replace"))
    await host.clock.advance(HOUR + MINUTE)
    assert host.runner.terminated == ["life1-1"]
    host.runner.end("life1-1", RunResult(signal="SIGKILL"))
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "13:00:00 a 02 12:00 replaced",
        "13:00:00 a 02 13:00 executed",
    ]


async def test_a_waiting_replacement_is_superseded_by_the_next_period() -> None:
    host = RestartableHost()
    host.runner.lasts, host.runner.obeys_sigterm = None, False
    await host.begin(work("* * * * *", concurrency="replace"))
    await host.clock.advance(3 * MINUTE + SECOND)
    host.runner.end("life1-1", RunResult(signal="SIGKILL"))
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "12:02:00 a 02 12:01 skipped: superseded",
        "12:02:01 a 02 12:00 replaced",
        "12:02:01 a 02 12:02 executed",
    ]


async def test_a_period_without_a_possible_second_is_unschedulable_when_its_window_begins() -> None:
    host = RestartableHost()
    await host.begin(work("0 * * * * @win(after,30m) @avoid(hours=12)"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    log = host.log
    assert log == ["12:00:00 a 02 12:00 unschedulable: no candidate accepted within MaxAttempts"]


async def test_no_more_run_at_once_than_the_host_allows_and_waiting_makes_no_period_late() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = 10 * MINUTE
    await host.begin(*(work(name=name) for name in "abc"))
    await host.clock.advance(25 * MINUTE)
    await host.engine.crash()
    assert host.log == [
        "12:00:00 a 02 12:00 executed",
        "12:10:00 b 02 12:00 executed",
        "12:20:00 c 02 12:00 executed",
    ]


async def test_a_run_that_lasts_too_long_is_ended() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(timeout=5 * MINUTE))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log[:2] == ["12:00:00 a 02 12:00 executed", "12:05:00 a 02 12:00 timeout"]


async def test_a_failed_period_is_retried_and_is_active_until_its_last_attempt() -> None:
    host = RestartableHost()
    host.runner.codes = [1, 1, 0]
    await host.begin(work("* * * * *", retries=2, retry_delay=90 * SECOND))
    await host.clock.advance(5 * MINUTE)
    await host.engine.crash()

    assert host.log == [
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
    host = RestartableHost()
    await host.begin(work("* * * * *", deadline="5m"), work("0 * * * *", "b", deadline="5m"))
    host.ledger.failures = 4
    await host.clock.advance(2 * MINUTE)
    await host.engine.crash()
    assert [log for log in host.log if "12:00 " in log] == [
        "12:00:15 a 02 12:00 executed",
        "12:00:15 b 02 12:00 executed",
    ]


async def test_a_ledger_does_not_count_as_failed_when_the_job_that_it_failed_for_is_gone() -> None:
    failed = []

    host = RestartableHost()
    await host.begin(work(deadline="5m"))
    host.ledger.failures = 1
    await host.clock.advance_to(NOON)
    failed.append(host.engine.failed_ledger is not None)
    await host.declare()
    await host.clock.advance(MINUTE)
    failed.append(host.engine.failed_ledger is not None)
    await host.engine.crash()
    assert failed == [True, False]


async def test_a_clock_that_is_set_back_handles_nothing_again() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.clock.advance(2 * MINUTE)
    host.clock.jump(-30 * MINUTE)
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed"]


async def test_a_clock_that_is_set_forward_is_time_without_a_host() -> None:
    host = RestartableHost()
    await host.begin(work(deadline="2h"), work("0 12 * * *", "b"))
    host.clock.jump(4 * HOUR)
    host.engine.wake_up()
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert host.log == [
        "15:59:00 a 02 13:00 missed: deadline x2",
        "15:59:00 a 02 14:00 skipped: superseded",
        "15:59:00 b 02 12:00 missed: deadline",
        "15:59:00 a 02 15:00 executed",
    ]


async def test_nothing_is_started_while_the_host_drains() -> None:
    host = RestartableHost()
    host.runner.lasts = 5 * MINUTE
    await host.begin(work("* * * * *", concurrency="allow"))
    await host.clock.advance(MINUTE)
    stopping = asyncio.ensure_future(host.stop())
    await host.clock.advance(10 * MINUTE)
    await stopping
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed"]


async def test_a_longer_deadline_after_downtime_closes_no_period_and_lets_the_newest_run() -> None:
    host = RestartableHost()
    await host.begin(work("*/2 * * * *"))
    await host.crash(down=6 * MINUTE)
    declared = await host.begin(work("*/2 * * * *", deadline="10m"))
    assert declared.changed == ["a"]
    await host.engine.crash()

    lines = host.log
    assert [line for line in lines if "definition changed" in line] == []
    assert lines[-1] == "12:05:00 a 02 12:04 executed"
