"""A scheduler survives failing callbacks, sinks, ledgers and clocks; its other tasks run."""

import asyncio
import logging
from datetime import datetime, timedelta

import pytest

from kron.engine.clock_watch import WakeUp
from kron.rules.events import Event
from kron.testing import FaultyLedger, VirtualClock, crash
from tests.hosts.scheduler_harness import HOUR, MINUTE, NOON, SECOND, SchedulerHarness, run


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), asyncio.CancelledError(), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), BaseException()],
    ids=repr,
)
async def test_any_exception_of_a_callback_is_the_failure_of_that_run_alone(error: BaseException) -> None:
    async def raise_it() -> None:
        raise error

    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task("bad", then=raise_it), harness.task("good")])

    await harness.clock.advance(2 * HOUR)

    assert harness.starts.count(NOON) == 2
    assert len(harness.events_named("TaskRunCompleted")) == 2
    failed = harness.events_named("TaskRunFailed")
    assert {event.fields["taskName"] for event in failed} == {"bad"}
    assert str(failed[0].fields["error"]).startswith(type(error).__name__)
    await scheduler.stop()


async def test_a_callback_that_cancels_itself_fails() -> None:
    async def cancel_myself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.Event().wait()

    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task(then=cancel_myself)])

    await harness.clock.advance(MINUTE)

    assert [event.fields["error"] for event in harness.events_named("TaskRunFailed")] == ["CancelledError"]
    await scheduler.stop()


def test_a_sink_that_raises_is_reported_once_and_affects_no_task(caplog: pytest.LogCaptureFixture) -> None:
    def broken(event: Event) -> None:
        raise ValueError(event.name)

    async def body() -> None:
        harness = SchedulerHarness()
        scheduler = harness.scheduler(sink=broken)
        await scheduler.initialize([harness.task()])

        await harness.clock.advance(3 * HOUR)

        assert len(harness.starts) == 3
        await scheduler.stop()

    with caplog.at_level(logging.ERROR):
        run(body())
    assert len(caplog.records) == 1


async def test_a_failing_append_starts_nothing_and_is_tried_again_later_and_later() -> None:
    harness = SchedulerHarness()
    ledger = FaultyLedger(harness.ledger)
    scheduler = harness.scheduler(ledger=ledger)
    await scheduler.initialize([harness.task()])
    ledger.fail_next(3)

    await harness.clock.advance(2 * MINUTE)

    assert harness.starts == [NOON + 7 * SECOND]
    assert [event.fields["retryInSeconds"] for event in harness.events_named("LedgerAppendFailed")] == [1, 2, 4]
    assert len(harness.events_named("LedgerRecovered")) == 1
    await scheduler.stop()


class WaitCountingClock(VirtualClock):
    """A clock that counts its waits."""

    waits = 0

    async def wait_until(self, deadline: datetime | None, wake: WakeUp) -> None:
        """Wait, and be counted."""
        self.waits += 1
        await super().wait_until(deadline, wake)


async def test_waiting_for_the_ledger_ends_where_seconds_have_no_exact_fraction() -> None:
    # after so much time 1.000008 + 1 is a hair more than 2.000008: a wait that no clock would ever see the end of
    start = NOON - timedelta(microseconds=1_000_008)

    harness = SchedulerHarness(start)
    clock = harness.clock = WaitCountingClock(start)
    ledger = FaultyLedger(harness.ledger)
    scheduler = harness.scheduler(ledger=ledger)
    await scheduler.initialize([harness.task()])
    ledger.fail_next()

    await clock.advance(MINUTE)

    assert harness.starts == [NOON + SECOND]
    assert clock.waits < 10
    await scheduler.stop()


async def test_an_end_that_cannot_be_written_is_kept_and_written_when_the_ledger_is_back() -> None:
    harness = SchedulerHarness()
    ledger = FaultyLedger(harness.ledger)
    scheduler = harness.scheduler(ledger=ledger)
    await scheduler.initialize([harness.task(takes=MINUTE)])
    await harness.clock.advance(MINUTE)
    ledger.fail_next(5)
    await harness.clock.advance(MINUTE)
    unknown = harness.ledger.records["task"].running_since

    await harness.clock.advance(MINUTE)

    assert unknown == NOON
    record = harness.ledger.records["task"]
    assert (record.running_since, record.last_success) == (None, NOON + MINUTE)
    assert len(harness.events_named("TaskRunCompleted")) == 1
    await scheduler.stop()


async def test_a_clock_set_forwards_is_reported_and_leads_to_one_run() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task()])
    await harness.clock.advance(timedelta(0))

    harness.clock.jump(5 * HOUR)
    await harness.clock.advance(SECOND)

    assert len(harness.starts) == 1
    assert [event.fields["seconds"] for event in harness.events_named("ClockJumped")] == [18000]
    await scheduler.stop()


async def test_a_clock_set_back_is_reported_and_repeats_nothing() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task()])
    await harness.clock.advance(MINUTE)

    harness.clock.jump(-2 * MINUTE)
    await harness.clock.advance(timedelta(0))
    await harness.clock.advance_to(NOON + HOUR)

    assert harness.starts == [NOON, NOON + HOUR]
    assert [event.fields["seconds"] for event in harness.events_named("ClockJumped")] == [-120]
    await scheduler.stop()


class FreezingClock(VirtualClock):
    """A clock whose owner is woken late: the process stood still."""

    async def wait_until(self, deadline: object, wake: WakeUp) -> None:
        await super().wait_until(deadline, wake)  # type: ignore[arg-type] # as it came
        self._pass(5 * SECOND)


async def test_a_loop_that_stood_still_is_reported() -> None:
    harness = SchedulerHarness()
    harness.clock = FreezingClock(harness.clock.now())
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task()])

    await harness.clock.advance(MINUTE)

    assert [event.fields["seconds"] for event in harness.events_named("LoopFrozen")] == [5]
    await scheduler.stop()


async def test_a_start_that_a_limit_delays_beyond_the_promise_is_reported() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(max_concurrent_runs=1)
    await scheduler.initialize([harness.task("first", takes=10 * MINUTE), harness.task("second")])

    await harness.clock.advance(20 * MINUTE)

    assert harness.starts == [NOON, NOON + 10 * MINUTE]
    [event] = harness.events_named("StartDelayed")
    assert (event.fields["taskName"], event.fields["lateness"]) == ("second", 600)
    await scheduler.stop()


async def test_no_more_runs_than_the_limit_are_in_flight() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(max_concurrent_runs=2)
    await scheduler.initialize([harness.task(name, takes=MINUTE) for name in "abcde"])

    await harness.clock.advance_to(NOON + 10 * MINUTE)

    assert harness.starts == [NOON, NOON, NOON + MINUTE, NOON + MINUTE, NOON + 2 * MINUTE]
    await scheduler.stop()


async def test_a_run_that_takes_too_long_is_cancelled_and_fails() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(run_timeout=10 * MINUTE)
    await scheduler.initialize([harness.task(takes=HOUR, delay=HOUR)])

    await harness.clock.advance(15 * MINUTE)

    [event] = harness.events_named("TaskRunFailed")
    assert (event.fields["duration"], event.fields["error"]) == (
        600, "RunTimeoutError: The run was cancelled after 10m",
    )  # fmt: skip
    await scheduler.stop()


async def test_a_cancelled_run_lasts_until_its_callback_has_really_ended() -> None:
    harness = SchedulerHarness()

    async def stubborn() -> None:
        try:
            await harness.clock.sleep(HOUR)
        except asyncio.CancelledError:
            await harness.clock.sleep(30 * MINUTE)

    scheduler = harness.scheduler(run_timeout=10 * MINUTE)
    await scheduler.initialize([("task", "0,20 * * * *", stubborn, HOUR)])

    await harness.clock.advance_to(NOON + 39 * MINUTE)
    meanwhile = harness.events_named("TaskRunStarted", "TaskRunFailed")
    await harness.clock.advance_to(NOON + 41 * MINUTE)

    assert [event.name for event in meanwhile] == ["TaskRunStarted"]
    assert [event.name for event in harness.events_named("TaskRunStarted", "TaskRunFailed")] == [
        "TaskRunStarted", "TaskRunFailed", "TaskRunStarted",
    ]  # fmt: skip
    await crash(scheduler)


async def test_a_limit_longer_than_the_calendar_is_no_limit() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(run_timeout=timedelta.max)
    await scheduler.initialize([harness.task(takes=30 * MINUTE)])

    await harness.clock.advance(3 * HOUR)

    assert harness.starts == [NOON, NOON + HOUR, NOON + 2 * HOUR]
    await scheduler.stop()
