"""Freezes in the middle of a step, in an append, during a disk failure, and after a declaration."""

from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work
from tests.engine.jobs.standstill import AtBegin, JumpingLedger, SlowLedger, seconds_frozen, stand_still


async def test_a_freeze_in_the_middle_of_a_step_is_one() -> None:
    host = RestartableHost()
    AtBegin(host, "b")
    await host.begin(work("* * * * *", deadline="10m"), work("0 * * * *", name="b"))
    await host.clock.advance_to(NOON)
    await host.engine.crash()
    assert [each for each in host.log if " a " in each] == [
        "12:00:00 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]
    assert seconds_frozen(host) == [250.0]


async def test_an_append_that_hangs_is_no_freeze() -> None:
    host = RestartableHost()
    ledger = SlowLedger(host, is_stopped=False)
    host.use_ledger(ledger)
    await host.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.is_slow = True
    await host.clock.advance_to(NOON)
    await host.clock.advance(SECOND * 0)
    await host.engine.crash()
    assert host.log == [f"12:05:10 a 02 12:0{minute} executed" for minute in range(6)]
    assert seconds_frozen(host) == []


async def test_a_host_that_is_stopped_in_an_append_was_frozen() -> None:
    host = RestartableHost()
    ledger = SlowLedger(host, is_stopped=True)
    host.use_ledger(ledger)
    await host.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.is_slow = True
    await host.clock.advance_to(NOON)
    await host.clock.advance(SECOND * 0)
    await host.engine.crash()

    assert host.log == [
        "12:05:10 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_clock_that_is_set_forward_while_the_ledger_is_waited_for_is_time_without_a_host() -> None:
    host = RestartableHost()
    ledger = JumpingLedger(host)
    host.use_ledger(ledger)
    await host.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    ledger.jumps = True
    await host.clock.advance_to(NOON)
    await host.clock.advance(SECOND * 0)
    await host.engine.crash()

    assert host.log == [
        "12:05:10 a 02 12:00 executed",
        "12:05:10 a 02 12:04 skipped: superseded x4",
        "12:05:10 a 02 12:05 executed",
    ]


async def test_a_freeze_after_an_append_that_was_slow_is_one() -> None:
    host = RestartableHost()
    ledger = SlowLedger(host, is_stopped=False)
    host.use_ledger(ledger)
    await host.begin(work("0 * * * *", deadline="10h"))
    ledger.is_slow = True
    await host.clock.advance_to(NOON)
    await stand_still(host, NOON + 3 * HOUR + 50 * SECOND)
    await host.engine.crash()

    assert host.log[1:] == [
        "15:00:50 a 02 14:00 skipped: superseded x2",
        "15:00:50 a 02 15:00 executed",
    ]


async def test_a_freeze_while_a_failed_ledger_is_waited_for_counts_from_the_next_try() -> None:
    host = RestartableHost()
    await host.begin(work("0,1,2,3,4 12 * * *", concurrency="allow", deadline="10m"))
    host.ledger.failures = 1
    await host.clock.advance_to(NOON)
    await stand_still(host, NOON + 4 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:04:10 a 02 12:03 skipped: superseded x3",
        "12:04:10 a 02 12:00 executed",
        "12:04:10 a 02 12:04 executed",
    ]


async def test_a_ledger_that_is_down_for_long_is_no_freeze() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    host.ledger.failures = 8
    await host.clock.advance_to(NOON + 4 * MINUTE)
    await host.engine.crash()

    assert not [each for each in host.log if "superseded" in each]


async def test_a_freeze_right_after_a_declaration_is_one() -> None:
    host = RestartableHost()
    await host.begin(work("0 0 1 1 *", name="idle"))
    await host.declare(work("0 0 1 1 *", name="idle"), work("* * * * *", deadline="10m"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:05:10 a 02 12:04 skipped: superseded x5", "12:05:10 a 02 12:05 executed"]


async def test_a_job_that_is_resumed_right_after_a_freeze_runs_once() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *", concurrency="allow", deadline="10m"))
    await host.suspend("a")
    await host.clock.advance_to(NOON + MINUTE + 10 * SECOND)
    host.clock.freeze(3 * MINUTE)
    await host.resume("a")
    host.clock.freeze(3 * MINUTE)
    await host.clock.advance(SECOND * 0)
    await host.engine.crash()

    log = host.log
    assert [each for each in log if "executed" in each] == ["12:07:10 a 02 12:07 executed"]


async def test_the_time_that_catching_up_takes_makes_no_period_of_a_freeze_late() -> None:
    host = RestartableHost()
    host.runner.catching_up = 8 * SECOND
    await host.begin(work("* * * * *", deadline="10s"))
    await stand_still(host, NOON + 5 * MINUTE + 5 * SECOND)
    await host.engine.crash()

    assert host.log == ["12:05:13 a 02 12:04 missed: deadline x5", "12:05:13 a 02 12:05 executed"]


async def test_a_period_that_is_due_while_the_host_catches_up_is_judged_on_its_own() -> None:
    host = RestartableHost()
    host.runner.catching_up = 8 * SECOND
    await host.begin(work("* * * * *", concurrency="allow", deadline="5m"))
    await stand_still(host, NOON + 4 * MINUTE + 55 * SECOND)
    await host.engine.crash()

    assert host.log == [
        "12:05:03 a 02 12:03 skipped: superseded x4",
        "12:05:03 a 02 12:04 executed",
        "12:05:03 a 02 12:05 executed",
    ]


async def test_a_freeze_is_reported_once_wherever_it_falls() -> None:
    host = RestartableHost()
    await host.begin(work("* * * * *"))
    await stand_still(host, NOON + 5 * MINUTE + 10 * SECOND)
    await host.engine.crash()

    assert seconds_frozen(host) == [310.0]
