"""Runs that wait for a slot, and jobs that are removed and return: no run waits for ever."""

from collections.abc import Awaitable, Callable

import pytest

from kron.engine.runs import RunResult
from kron.errors import LedgerWriteError, UnknownJobError
from kron.rules.job_record import ResultCode
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, drained, work

REPLACED = (ResultCode.REPLACED, "it had not begun when something else took its place")


async def test_a_job_that_was_removed_may_come_back_as_another() -> None:
    host = RestartableHost()
    await host.begin(work())
    await host.declare()
    await host.declare(work("30 * * * *"))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert host.log == ["12:30:00 a 02 12:30 executed"]


async def test_a_run_that_was_asked_for_and_makes_room_before_it_begins_leaves_a_row() -> None:
    asked: list[str] = []

    host = RestartableHost()
    host.runner.obeys_sigterm = False
    host.runner.lasts = HOUR
    await host.begin(work(concurrency="replace"))
    asked.extend([await host.trigger("a"), await host.trigger("a"), await host.trigger("a")])
    await host.clock.advance(SECOND)
    await host.engine.crash()
    assert list(host.ledger.runs) == asked[:2]
    assert (host.ledger.ends[asked[1]].result, host.ledger.ends[asked[1]].detail) == REPLACED
    assert [line.partition(" ")[2] for line in host.log] == ["a trigger", "a replaced"]


async def test_a_run_that_was_asked_for_leaves_a_row_when_a_period_takes_its_place() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work(concurrency="replace"), work("59 11 * * *", "b"))
    await host.trigger("b")
    await host.clock.advance(SECOND)
    await host.trigger("a")
    await host.clock.advance(HOUR)
    await host.engine.crash()

    assert "12:00:00 a replaced" in host.log


async def test_a_run_that_was_asked_for_leaves_a_row_when_its_job_is_removed() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work(name="a"), work("0 0 1 1 *", "b"))
    await host.trigger("b")
    await host.clock.advance(SECOND)
    await host.trigger("a")
    await host.clock.advance(SECOND)
    await host.declare(work("0 0 1 1 *", "b"))
    host.ledger.failures = 1
    await host.clock.advance(MINUTE)
    await host.engine.crash()
    assert [line.partition(" ")[2] for line in host.log] == ["b trigger", "a replaced"]
    assert "a" not in [attempt.identity for name, attempt in host.ledger.runs.items() if name not in host.ledger.ends]


async def test_a_waiting_run_is_given_up_when_its_job_is_removed() -> None:
    asked: list[str] = []

    host = RestartableHost()
    host.runner.lasts = HOUR
    await host.begin(work("0 0 1 1 *", retries=1, retry_delay=HOUR), work("0 0 1 1 *", "b"))
    asked.append(await host.trigger("a"))
    await host.clock.advance(MINUTE)
    host.runner.end(asked[0], RunResult(exit_code=1))
    await host.clock.advance(MINUTE)
    await host.declare(work("0 0 1 1 *", "b"))
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.given_up == asked


@pytest.mark.parametrize("by_file", [False, True], ids=["by command", "by its file"])
async def test_a_period_that_waits_for_room_does_not_begin_while_its_job_is_held(*, by_file: bool) -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = 10 * MINUTE
    await host.begin(work(), work("0 * * * *", "b", deadline="30m"))
    await host.clock.advance(5 * MINUTE)
    if by_file:
        await host.declare(work(), work("0 * * * *", "b", deadline="30m", suspend=True))
    else:
        await host.suspend("b")
    await host.clock.advance(15 * MINUTE)
    if by_file:
        await host.declare(work(), work("0 * * * *", "b", deadline="30m"))
    else:
        await host.resume("b")
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == ["12:00:00 a 02 12:00 executed", "12:19:00 b 02 12:00 executed"]


async def test_a_triggered_run_is_recorded_before_its_id_is_returned() -> None:
    known: list[bool] = []

    host = RestartableHost()
    await host.begin(work("0 0 1 1 *"))
    known.append(await host.trigger("a") in host.ledger.runs)
    await host.engine.crash()
    assert known == [True]


async def test_a_run_that_cannot_be_recorded_is_refused_to_who_asks_for_it() -> None:
    host = RestartableHost()
    await host.begin(work("0 0 1 1 *"))
    host.ledger.failures = 1
    with pytest.raises(LedgerWriteError):
        await host.trigger("a")
    await host.clock.advance(MINUTE)
    await host.engine.crash()

    assert host.log == []


@pytest.mark.parametrize("line", ["0 0 1 1 *", "@reboot"])
async def test_a_run_that_was_asked_for_and_waits_leaves_a_row_when_the_host_stops(line: str) -> None:
    asked: list[str] = []

    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work("0 0 1 1 *", "b"))
    await host.trigger("b")
    await host.declare(work("0 0 1 1 *", "b"), work(line))
    asked.append(await host.trigger("a"))
    await drained(host)
    await host.engine.crash()
    end = host.ledger.ends[asked[0]]
    assert (end.result, end.detail) == (ResultCode.STOPPED, "it had not begun when the host was asked to stop")
    assert "11:59:00 a stopped" in host.log


async def test_a_period_that_waits_is_left_to_the_next_life_when_the_host_stops() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = HOUR
    await host.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", deadline="3h"))
    await host.trigger("b")
    await host.clock.advance(2 * MINUTE)
    await drained(host)
    await host.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", deadline="3h"))
    await host.engine.crash()

    assert host.log == ["11:59:00 b trigger", "13:01:00 a 02 12:00 executed"]


async def test_a_period_that_waits_and_is_replaced_by_who_asks_says_so() -> None:
    host = RestartableHost(max_active=1)
    host.runner.lasts = 3 * HOUR
    await host.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", concurrency="replace"))
    await host.trigger("b")
    await host.clock.advance(2 * MINUTE)
    await host.trigger("a")
    await host.clock.advance(4 * HOUR)
    await host.engine.crash()
    assert [line.partition(" ")[2] for line in host.log] == [
        "b trigger",
        "a 02 12:00 skipped: superseded",
        "a trigger",
    ]
    assert [each.detail for each in host.ledger.closed] == [
        "a run that somebody asked for took its place before it began"
    ]


# --- jobs that are gone and come back ---------------------------------------------------------------------------------


async def test_the_run_of_a_removed_job_is_active_when_the_job_returns() -> None:
    host = RestartableHost()
    host.runner.lasts = 90 * MINUTE
    await host.begin(work())
    await host.clock.advance(2 * MINUTE)
    await host.declare()
    await host.declare(work())
    await host.clock.advance(2 * HOUR)
    await host.engine.crash()

    log = [line.partition(" ")[2] for line in host.log]
    assert log == ["a 02 12:00 executed", "a 02 13:00 skipped: active", "a 02 14:00 executed"]


async def test_the_run_of_a_returning_job_is_replaced_by_its_next_period() -> None:
    host = RestartableHost()
    host.runner.lasts = 90 * MINUTE
    await host.begin(work(concurrency="replace"))
    await host.clock.advance(2 * MINUTE)
    await host.declare()
    other = work(concurrency="replace", command="another")
    await host.declare(other, prepared=await host.prepare(other))
    await host.clock.advance(HOUR)
    await host.engine.crash()

    log = [line.partition(" ")[2] for line in host.log]
    assert log == ["a 02 12:00 executed", "a 02 12:00 replaced", "a 02 13:00 executed"]


@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "at once"])
async def test_a_suspended_job_is_suspended_when_it_returns(*, is_prepared: bool) -> None:
    held: list[tuple[str, bool]] = []

    host = RestartableHost()
    host.on_held = lambda identity, suspended: held.append((identity, suspended))
    await host.begin(work())
    await host.suspend("a", until=NOON + 90 * MINUTE)
    await host.declare()
    await host.declare(work(), prepared=await host.prepare(work()) if is_prepared else {})
    await host.clock.advance(3 * HOUR)
    await host.engine.crash()

    log = [line.partition(" ")[2] for line in host.log]
    assert log == ["a 02 13:00 missed: deadline x2", "a 02 14:00 executed"]
    assert held == [("a", True), ("a", False), ("a", True), ("a", False)]


async def test_a_retry_that_waits_for_room_is_not_looked_at_until_something_ends() -> None:
    host = RestartableHost(max_active=1, start=NOON + MINUTE)
    host.runner.lasts = None
    await host.begin(work(retries=1, retry_delay=MINUTE), work("0 0 1 1 *", "b"))
    host.runner.end(await host.trigger("a"), RunResult(exit_code=1))
    await host.clock.advance(SECOND)
    other = await host.trigger("b")
    await host.clock.advance(MINUTE)
    assert host.next_wake() == NOON + HOUR
    host.runner.end(other)
    await host.clock.advance(SECOND)
    await host.engine.crash()
    assert host.log == ["12:01:00 a trigger", "12:01:00 a failed", "12:01:01 b trigger", "12:02:01 a trigger"]


async def test_a_retry_that_the_file_allows_no_more_is_given_up() -> None:
    failed: list[str] = []

    host = RestartableHost(start=NOON + MINUTE)
    host.runner.lasts = None
    await host.begin(work(retries=1, retry_delay=MINUTE))
    failed.append(await host.trigger("a"))
    host.runner.end(failed[0], RunResult(exit_code=1))
    await host.clock.advance(SECOND)
    await host.declare(work(command="another"))
    assert not host.planner.jobs["a"].is_active
    await host.clock.advance(10 * MINUTE)
    await host.engine.crash()
    assert host.log == ["12:01:00 a trigger", "12:01:00 a failed"]
    assert host.given_up == failed
    assert host.ledger.ends[failed[0]].retry_at is None


async def test_the_timeout_of_an_ended_run_causes_no_step() -> None:
    host = RestartableHost(start=NOON + SECOND)
    await host.begin(work("* * * * *", timeout=24 * HOUR))
    await host.clock.advance(10 * MINUTE)
    await host.suspend("a")
    await host.clock.advance(MINUTE)
    assert host.next_wake() is None
    await host.engine.crash()

    assert len(host.log) == 10


@pytest.mark.parametrize("change", [RestartableHost.trigger, RestartableHost.suspend, RestartableHost.resume])
async def test_a_job_that_is_gone_when_its_turn_comes_is_unknown(
    change: Callable[[RestartableHost, str], Awaitable[object]],
) -> None:
    host = RestartableHost()
    await host.begin()
    with pytest.raises(UnknownJobError):
        await change(host, "a")
    await host.engine.crash()


async def test_times_of_runs_that_have_ended_do_not_pile_up_behind_one_that_goes_on() -> None:
    kept: list[int] = []

    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work("* * * * *", timeout=24 * HOUR), work("0 0 1 1 *", "b", timeout=20 * HOUR))
    await host.trigger("b")
    host.runner.lasts = SECOND
    await host.clock.advance(6 * HOUR)
    kept.append(len(host.runs._timeouts))
    await host.engine.crash()

    assert len(host.log) > 360
    assert kept[0] < 200
