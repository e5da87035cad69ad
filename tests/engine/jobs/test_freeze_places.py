"""Where a freeze falls: in the middle of a step, in an append, while the disk is down, after a declaration."""

from tests.engine.jobs.standstill import AtBegin, JumpingLedger, SlowLedger, seconds_frozen, stand_still
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, work


async def test_a_freeze_in_the_middle_of_a_step_is_one() -> None:
    world = RestartableHost()
    AtBegin(world, "b")
    await world.begin(work("* * * * *", deadline="10m"), work("0 * * * *", name="b"))
    await world.clock.advance_to(NOON)
    await world.engine.crash()
    assert [each for each in world.told if " a " in each] == [
        "12:00:00 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]
    assert seconds_frozen(world) == [250.0]


async def test_an_append_that_hangs_is_no_freeze() -> None:
    world = RestartableHost()
    ledger = SlowLedger(world, is_stopped=False)
    world.restart_on(ledger)
    await world.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.is_slow = True
    await world.clock.advance_to(NOON)
    await world.clock.advance(SECOND * 0)
    await world.engine.crash()
    assert world.told == [f"12:05:10 a 02 12:0{minute} executed" for minute in range(6)]
    assert seconds_frozen(world) == []


async def test_a_host_that_is_stopped_in_an_append_was_frozen() -> None:
    world = RestartableHost()
    ledger = SlowLedger(world, is_stopped=True)
    world.restart_on(ledger)
    await world.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.is_slow = True
    await world.clock.advance_to(NOON)
    await world.clock.advance(SECOND * 0)
    await world.engine.crash()

    assert world.told == [
        "12:05:10 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_clock_that_is_set_forward_while_the_ledger_is_waited_for_is_time_without_a_host() -> None:
    world = RestartableHost()
    ledger = JumpingLedger(world)
    world.restart_on(ledger)
    await world.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.jumps = True
    await world.clock.advance_to(NOON)
    await world.clock.advance(SECOND * 0)
    await world.engine.crash()

    assert world.told == [
        "12:05:10 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_freeze_after_an_append_that_was_slow_is_one() -> None:
    world = RestartableHost()
    ledger = SlowLedger(world, is_stopped=False)
    world.restart_on(ledger)
    await world.begin(work("0 * * * *", deadline="10h"))
    ledger.is_slow = True
    await world.clock.advance_to(NOON)
    await stand_still(world, NOON + 3 * HOUR + 50 * SECOND)
    await world.engine.crash()

    assert world.told[1:] == [
        "15:00:50 a 02 14:00 skipped: superseded x2",
        "15:00:50 a 02 15:00 executed",
    ]


async def test_a_freeze_while_a_failed_ledger_is_waited_for_counts_from_the_next_try() -> None:
    world = RestartableHost()
    await world.begin(work("0,1,2,3,4 12 * * *", concurrency="allow", deadline="10m"))
    world.ledger.failures = 1
    await world.clock.advance_to(NOON)
    await stand_still(world, NOON + 4 * MINUTE + 10 * SECOND)
    await world.engine.crash()

    assert world.told == [
        "12:04:10 a 02 12:03 skipped: superseded x3",
        "12:04:10 a 02 12:00 executed",
        "12:04:10 a 02 12:04 executed",
    ]


async def test_a_ledger_that_is_down_for_long_is_no_freeze() -> None:
    world = RestartableHost()
    await world.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    world.ledger.failures = 8
    await world.clock.advance_to(NOON + 4 * MINUTE)
    await world.engine.crash()

    assert not [each for each in world.told if "superseded" in each]


async def test_a_freeze_right_after_a_declaration_is_one() -> None:
    world = RestartableHost()
    await world.begin(work("0 0 1 1 *", name="idle"))
    await world.declare(work("0 0 1 1 *", name="idle"), work("* * * * *", deadline="10m"))
    await stand_still(world, NOON + 5 * MINUTE + 10 * SECOND)
    await world.engine.crash()

    assert world.told == ["12:05:10 a 02 12:04 skipped: superseded x5", "12:05:10 a 02 12:05 executed"]


async def test_a_job_that_is_resumed_right_after_a_freeze_runs_once() -> None:
    world = RestartableHost()
    await world.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    await world.suspend("a")
    await world.clock.advance_to(NOON + MINUTE + 10 * SECOND)
    world.clock.freeze(3 * MINUTE)
    await world.resume("a")
    world.clock.freeze(3 * MINUTE)
    await world.clock.advance(SECOND * 0)
    await world.engine.crash()

    told = world.told
    assert [each for each in told if "executed" in each] == ["12:07:10 a 02 12:07 executed"]


async def test_the_time_that_catching_up_takes_makes_no_period_of_a_freeze_late() -> None:
    world = RestartableHost()
    world.runner.catching_up = 8 * SECOND
    await world.begin(work("* * * * *", deadline="10s"))
    await stand_still(world, NOON + 5 * MINUTE + 5 * SECOND)
    await world.engine.crash()

    assert world.told == ["12:05:13 a 02 12:04 missed: deadline x5", "12:05:13 a 02 12:05 executed"]


async def test_a_period_that_is_due_while_the_host_catches_up_is_judged_on_its_own() -> None:
    world = RestartableHost()
    world.runner.catching_up = 8 * SECOND
    await world.begin(work("* * * * *", concurrency="allow", deadline="5m"))
    await stand_still(world, NOON + 4 * MINUTE + 55 * SECOND)
    await world.engine.crash()

    assert world.told == [
        "12:05:03 a 02 12:03 skipped: superseded x4",
        "12:05:03 a 02 12:04 executed",
        "12:05:03 a 02 12:05 executed",
    ]


async def test_a_freeze_is_told_once_wherever_it_falls() -> None:
    world = RestartableHost()
    await world.begin(work("* * * * *"))
    await stand_still(world, NOON + 5 * MINUTE + 10 * SECOND)
    await world.engine.crash()

    assert seconds_frozen(world) == [310.0]
