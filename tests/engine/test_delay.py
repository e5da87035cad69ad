"""Tests of Delay: how late a loop wakes up, and the end of a freeze when it catches up first."""

from datetime import timedelta

import pytest

from kron.adapters.virtual_clock import VirtualClock
from kron.engine.clock_watch import Delay
from kron.instant import parse_instant
from kron.rules.outage import Freeze
from tests.engine.asked_clock import AskedClock

NOON = parse_instant("2026-03-02T12:00:00Z")
MINUTE, SECOND, MICROSECOND = timedelta(minutes=1), timedelta(seconds=1), timedelta(microseconds=1)
SLACK = 30 * SECOND


def frozen() -> tuple[VirtualClock, Delay]:
    """Return the delay of a loop that was to wake up at 12:01, and did at 12:10."""
    clock = VirtualClock(NOON)
    delay = Delay(clock)
    delay.plan(NOON + MINUTE)
    clock.freeze(10 * MINUTE)
    return clock, delay


@pytest.mark.parametrize("lasts", [3 * SECOND, 10 * SECOND])
def test_a_freeze_ends_when_the_loop_wakes_up_not_when_it_has_caught_up(lasts: timedelta) -> None:
    clock, delay = frozen()
    woke = clock.now()
    clock.delay(lasts)

    delay.catch_up(woke)

    assert delay.end(clock.now(), SLACK) == Freeze(NOON + MINUTE - MICROSECOND, woke)


def test_a_loop_that_takes_longer_than_ten_seconds_to_catch_up_stood_still_again() -> None:
    clock, delay = frozen()
    woke = clock.now()
    clock.freeze(10 * SECOND + MICROSECOND)

    delay.catch_up(woke)

    assert delay.end(clock.now(), SLACK) == Freeze(NOON + MINUTE - MICROSECOND, clock.now())


def test_a_freeze_after_one_that_was_caught_up_with_ends_when_the_loop_wakes_up() -> None:
    clock, delay = frozen()
    delay.catch_up(clock.now())
    delay.end(clock.now(), SLACK)
    planned = clock.now() + MINUTE
    delay.plan(planned)
    clock.freeze(5 * MINUTE)

    assert delay.end(clock.now(), SLACK) == Freeze(planned - MICROSECOND, clock.now())


def test_a_wait_for_the_ledger_is_watched() -> None:
    clock = AskedClock(NOON)

    with Delay(clock).waiting():
        pass

    assert clock.watched == [True]
