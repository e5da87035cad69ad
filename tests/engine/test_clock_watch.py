"""Tests of ClockWatch: it reports when the clock was set, and when the loop stalled."""

from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron.engine.clock_watch import ClockWatch, WakeUp
from kron.instant import SECOND, Instant, parse_instant

NOON = parse_instant("2026-03-02T12:00:00Z")


class ManualClock:
    """A clock whose two hands are moved by the test."""

    max_sleep: timedelta | None = None

    def __init__(self) -> None:
        self.wall, self.seconds = NOON, 1000.0

    def now(self) -> Instant:
        return self.wall

    def monotonic(self) -> float:
        return self.seconds

    async def wait_until(self, _deadline: Instant | None, _wake: WakeUp, /) -> None:
        raise AssertionError("a watch never waits")

    def busy(self, *, watched: bool = False) -> AbstractContextManager[object]:  # noqa: ARG002
        return nullcontext()

    def stood_still(self) -> timedelta:
        return timedelta()

    def pass_by(self, seconds: float) -> None:
        self.wall += SECOND * seconds
        self.seconds += seconds

    def set(self, seconds: float) -> None:
        self.wall += SECOND * seconds


def reports(watch: ClockWatch, clock: ManualClock) -> list[tuple[str, object]]:
    found = watch.read(clock.now())
    return [(name, seconds) for name, seconds in (("jump", found.jump), ("stall", found.stall)) if seconds]


def test_passing_time_is_not_reported() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    clock.pass_by(86_400)

    assert reports(watch, clock) == []


# --- a clock that is set ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [1.0, 3600.0, -1.0, -3600.0])
def test_a_clock_that_is_set_is_reported_with_the_seconds(seconds: float) -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    clock.pass_by(10)
    clock.set(seconds)

    assert reports(watch, clock) == [("jump", seconds)]


@pytest.mark.parametrize("seconds", [0.9, -0.9, 0.001])
def test_the_correction_of_a_time_server_is_not_reported(seconds: float) -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    clock.set(seconds)

    assert reports(watch, clock) == []


def test_a_jump_is_reported_once() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)
    clock.set(60)

    assert reports(watch, clock) == [("jump", 60.0)]
    assert reports(watch, clock) == []


def test_a_jump_and_back_between_two_looks_is_nothing() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    clock.set(60)
    clock.set(-60)

    assert reports(watch, clock) == []


# --- a loop that stands still -----------------------------------------------------------------------------------------


def test_a_wake_up_in_time_is_not_reported() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(NOON + 10 * SECOND)
    clock.pass_by(10.9)

    assert reports(watch, clock) == []


@pytest.mark.parametrize("late", [1.0, 30.0])
def test_a_late_wake_up_is_reported_with_the_seconds(late: float) -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(NOON + 10 * SECOND)
    clock.pass_by(10 + late)

    assert reports(watch, clock) == [("stall", late)]


def test_a_deadline_that_has_passed_already_counts_from_now() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(NOON - 3600 * SECOND)
    clock.pass_by(0.5)

    assert reports(watch, clock) == []


def test_without_a_deadline_no_wake_up_is_late() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(None)
    clock.pass_by(3600)

    assert reports(watch, clock) == []


def test_an_earlier_wake_up_forgets_the_deadline() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)
    watch.expect(NOON + 10 * SECOND)
    clock.pass_by(1)
    reports(watch, clock)

    clock.pass_by(60)

    assert reports(watch, clock) == []


def test_a_clock_set_forward_while_the_loop_sleeps_is_a_jump_and_no_freeze() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(NOON + 10 * SECOND)
    clock.set(3600)
    clock.pass_by(1)

    assert reports(watch, clock) == [("jump", 3600.0)]


def test_a_clock_set_during_a_freeze_is_reported_before_the_freeze() -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    watch.expect(NOON + 10 * SECOND)
    clock.pass_by(15)
    clock.set(-60)

    assert reports(watch, clock) == [("jump", -60.0), ("stall", 5.0)]


# --- laws -------------------------------------------------------------------------------------------------------------

amounts = st.integers(-10_000, 10_000).map(float)


@given(st.lists(st.tuples(st.integers(0, 10_000), amounts)))
def test_the_reported_jumps_add_up_to_what_the_clock_was_set_by(steps: list[tuple[int, float]]) -> None:
    clock = ManualClock()
    watch = ClockWatch(clock)

    jumps: list[float] = []
    for passed, jump in steps:
        clock.pass_by(passed)
        clock.set(jump)
        jumps += [seconds for _, seconds in reports(watch, clock) if isinstance(seconds, float)]

    assert sum(jumps) == sum(jump for _, jump in steps)
