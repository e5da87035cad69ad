"""What waits for its turn, and what comes back: nobody waits for something that never comes."""

from collections.abc import Awaitable, Callable

import pytest

from kron.engine.runs import RunResult
from kron.errors import LedgerWriteError, UnknownJobError
from kron.rules.job_record import ResultCode
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, drained, work

REPLACED = (ResultCode.REPLACED, "it had not begun when something else took its place")


async def test_a_job_that_was_removed_may_come_back_as_another() -> None:
    world = RestartableHost()
    await world.begin(work())
    await world.declare()
    await world.declare(work("30 * * * *"))
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert world.told == ["12:30:00 a 02 12:30 executed"]


async def test_a_run_that_was_asked_for_and_makes_room_before_it_begins_leaves_a_row() -> None:
    asked: list[str] = []

    world = RestartableHost()
    world.runner.heeds = False
    world.runner.lasts = HOUR
    await world.begin(work(concurrency="replace"))
    asked.extend([await world.trigger("a"), await world.trigger("a"), await world.trigger("a")])
    await world.clock.advance(SECOND)
    await world.engine.crash()
    assert list(world.ledger.runs) == asked[:2]
    assert (world.ledger.ends[asked[1]].result, world.ledger.ends[asked[1]].detail) == REPLACED
    assert [line.partition(" ")[2] for line in world.told] == ["a trigger", "a replaced"]


async def test_a_run_that_was_asked_for_leaves_a_row_when_a_period_takes_its_place() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = HOUR
    await world.begin(work(concurrency="replace"), work("59 11 * * *", "b"))
    await world.trigger("b")
    await world.clock.advance(SECOND)
    await world.trigger("a")
    await world.clock.advance(HOUR)
    await world.engine.crash()

    assert "12:00:00 a replaced" in world.told


async def test_a_run_that_was_asked_for_leaves_a_row_when_its_job_is_removed() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = HOUR
    await world.begin(work(name="a"), work("0 0 1 1 *", "b"))
    await world.trigger("b")
    await world.clock.advance(SECOND)
    await world.trigger("a")
    await world.clock.advance(SECOND)
    await world.declare(work("0 0 1 1 *", "b"))
    world.ledger.failures = 1
    await world.clock.advance(MINUTE)
    await world.engine.crash()
    assert [line.partition(" ")[2] for line in world.told] == ["b trigger", "a replaced"]
    assert "a" not in [attempt.identity for name, attempt in world.ledger.runs.items() if name not in world.ledger.ends]


async def test_what_waits_of_a_job_is_given_up_when_it_is_removed() -> None:
    asked: list[str] = []

    world = RestartableHost()
    world.runner.lasts = HOUR
    await world.begin(work("0 0 1 1 *", retries=1, retry_delay=HOUR), work("0 0 1 1 *", "b"))
    asked.append(await world.trigger("a"))
    await world.clock.advance(MINUTE)
    world.runner.end(asked[0], RunResult(exit_code=1))
    await world.clock.advance(MINUTE)
    await world.declare(work("0 0 1 1 *", "b"))
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    assert world.given_up == asked


@pytest.mark.parametrize("by_file", [False, True], ids=["by command", "by its file"])
async def test_a_period_that_waits_for_room_does_not_begin_while_its_job_is_held(*, by_file: bool) -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = 10 * MINUTE
    await world.begin(work(), work("0 * * * *", "b", deadline="30m"))
    await world.clock.advance(5 * MINUTE)
    if by_file:
        await world.declare(work(), work("0 * * * *", "b", deadline="30m", suspend=True))
    else:
        await world.suspend("b")
    await world.clock.advance(15 * MINUTE)
    if by_file:
        await world.declare(work(), work("0 * * * *", "b", deadline="30m"))
    else:
        await world.resume("b")
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    assert world.told == ["12:00:00 a 02 12:00 executed", "12:19:00 b 02 12:00 executed"]


async def test_a_run_that_was_asked_for_is_recorded_before_its_name_is_told() -> None:
    known: list[bool] = []

    world = RestartableHost()
    await world.begin(work("0 0 1 1 *"))
    known.append(await world.trigger("a") in world.ledger.runs)
    await world.engine.crash()
    assert known == [True]


async def test_a_run_that_cannot_be_recorded_is_refused_to_who_asks_for_it() -> None:
    world = RestartableHost()
    await world.begin(work("0 0 1 1 *"))
    world.ledger.failures = 1
    with pytest.raises(LedgerWriteError):
        await world.trigger("a")
    await world.clock.advance(MINUTE)
    await world.engine.crash()

    assert world.told == []


@pytest.mark.parametrize("line", ["0 0 1 1 *", "@reboot"])
async def test_a_run_that_was_asked_for_and_waits_leaves_a_row_when_the_host_stops(line: str) -> None:
    asked: list[str] = []

    world = RestartableHost(max_active=1)
    world.runner.lasts = HOUR
    await world.begin(work("0 0 1 1 *", "b"))
    await world.trigger("b")
    await world.declare(work("0 0 1 1 *", "b"), work(line))
    asked.append(await world.trigger("a"))
    await drained(world)
    await world.engine.crash()
    end = world.ledger.ends[asked[0]]
    assert (end.result, end.detail) == (ResultCode.STOPPED, "it had not begun when the host was asked to stop")
    assert "11:59:00 a stopped" in world.told


async def test_a_period_that_waits_is_left_to_the_next_life_when_the_host_stops() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = HOUR
    await world.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", deadline="3h"))
    await world.trigger("b")
    await world.clock.advance(2 * MINUTE)
    await drained(world)
    await world.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", deadline="3h"))
    await world.engine.crash()

    assert world.told == ["11:59:00 b trigger", "13:01:00 a 02 12:00 executed"]


async def test_a_period_that_waits_and_is_replaced_by_who_asks_says_so() -> None:
    world = RestartableHost(max_active=1)
    world.runner.lasts = 3 * HOUR
    await world.begin(work("0 0 1 1 *", "b"), work("0 12 * * *", concurrency="replace"))
    await world.trigger("b")
    await world.clock.advance(2 * MINUTE)
    await world.trigger("a")
    await world.clock.advance(4 * HOUR)
    await world.engine.crash()
    assert [line.partition(" ")[2] for line in world.told] == [
        "b trigger",
        "a 02 12:00 skipped: superseded",
        "a trigger",
    ]
    assert [each.detail for each in world.ledger.closed] == [
        "a run that somebody asked for took its place before it began"
    ]


# --- jobs that are gone and come back ---------------------------------------------------------------------------------


async def test_what_runs_of_a_job_that_was_removed_is_active_when_it_comes_back() -> None:
    world = RestartableHost()
    world.runner.lasts = 90 * MINUTE
    await world.begin(work())
    await world.clock.advance(2 * MINUTE)
    await world.declare()
    await world.declare(work())
    await world.clock.advance(2 * HOUR)
    await world.engine.crash()

    told = [line.partition(" ")[2] for line in world.told]
    assert told == ["a 02 12:00 executed", "a 02 13:00 skipped: active", "a 02 14:00 executed"]


async def test_what_runs_of_a_job_that_comes_back_is_replaced_by_its_next_period() -> None:
    world = RestartableHost()
    world.runner.lasts = 90 * MINUTE
    await world.begin(work(concurrency="replace"))
    await world.clock.advance(2 * MINUTE)
    await world.declare()
    other = work(concurrency="replace", command="another")
    await world.declare(other, prepared=await world.prepare(other))
    await world.clock.advance(HOUR)
    await world.engine.crash()

    told = [line.partition(" ")[2] for line in world.told]
    assert told == ["a 02 12:00 executed", "a 02 12:00 replaced", "a 02 13:00 executed"]


@pytest.mark.parametrize("is_prepared", [True, False], ids=["prepared", "at once"])
async def test_a_job_that_somebody_holds_is_held_when_it_comes_back(*, is_prepared: bool) -> None:
    held: list[tuple[str, bool]] = []

    world = RestartableHost()
    world.on_held = lambda identity, suspended: held.append((identity, suspended))
    await world.begin(work())
    await world.suspend("a", until=NOON + 90 * MINUTE)
    await world.declare()
    await world.declare(work(), prepared=await world.prepare(work()) if is_prepared else {})
    await world.clock.advance(3 * HOUR)
    await world.engine.crash()

    told = [line.partition(" ")[2] for line in world.told]
    assert told == ["a 02 13:00 missed: deadline x2", "a 02 14:00 executed"]
    assert held == [("a", True), ("a", False), ("a", True), ("a", False)]


async def test_a_retry_that_waits_for_room_is_not_looked_at_until_something_ends() -> None:
    world = RestartableHost(max_active=1, start=NOON + MINUTE)
    world.runner.lasts = None
    await world.begin(work(retries=1, retry_delay=MINUTE), work("0 0 1 1 *", "b"))
    world.runner.end(await world.trigger("a"), RunResult(exit_code=1))
    await world.clock.advance(SECOND)
    other = await world.trigger("b")
    await world.clock.advance(MINUTE)
    assert world.next_wake() == NOON + HOUR
    world.runner.end(other)
    await world.clock.advance(SECOND)
    await world.engine.crash()
    assert world.told == ["12:01:00 a trigger", "12:01:00 a failed", "12:01:01 b trigger", "12:02:01 a trigger"]


async def test_a_retry_that_the_file_allows_no_more_is_given_up() -> None:
    failed: list[str] = []

    world = RestartableHost(start=NOON + MINUTE)
    world.runner.lasts = None
    await world.begin(work(retries=1, retry_delay=MINUTE))
    failed.append(await world.trigger("a"))
    world.runner.end(failed[0], RunResult(exit_code=1))
    await world.clock.advance(SECOND)
    await world.declare(work(command="another"))
    assert not world.book.jobs["a"].is_active
    await world.clock.advance(10 * MINUTE)
    await world.engine.crash()
    assert world.told == ["12:01:00 a trigger", "12:01:00 a failed"]
    assert world.given_up == failed
    assert world.ledger.ends[failed[0]].retry_at is None


async def test_nobody_wakes_for_the_timeout_of_a_run_that_has_ended() -> None:
    world = RestartableHost(start=NOON + SECOND)
    await world.begin(work("* * * * *", timeout=24 * HOUR))
    await world.clock.advance(10 * MINUTE)
    await world.suspend("a")
    await world.clock.advance(MINUTE)
    assert world.next_wake() is None
    await world.engine.crash()

    assert len(world.told) == 10


@pytest.mark.parametrize("change", [RestartableHost.trigger, RestartableHost.suspend, RestartableHost.resume])
async def test_a_job_that_is_gone_when_its_turn_comes_is_unknown(
    change: Callable[[RestartableHost, str], Awaitable[object]],
) -> None:
    world = RestartableHost()
    await world.begin()
    with pytest.raises(UnknownJobError):
        await change(world, "a")
    await world.engine.crash()


async def test_times_of_runs_that_have_ended_do_not_pile_up_behind_one_that_goes_on() -> None:
    kept: list[int] = []

    world = RestartableHost()
    world.runner.lasts = None
    await world.begin(work("* * * * *", timeout=24 * HOUR), work("0 0 1 1 *", "b", timeout=20 * HOUR))
    await world.trigger("b")
    world.runner.lasts = SECOND
    await world.clock.advance(6 * HOUR)
    kept.append(len(world.runs._timeouts))
    await world.engine.crash()

    assert len(world.told) > 360
    assert kept[0] < 200
