"""Tests of the recorder: the trace of a clock that is set, or of a frozen loop."""

from datetime import timedelta

import pytest

from kron.engine.runs import TaskRun
from kron.errors import KronError
from kron.rules.job_record import ResultCode, RunEnd
from kron.theory.formula import TruthValue
from kron.theory.trace_format import TraceEvent
from kron.trace.recorder import TraceRecorder
from tests.trace.test_recorder import HOUR, MINUTE, NOON, SECOND, RecordedScheduler, task


async def test_a_clock_that_is_set_back_stands_still_in_the_trace() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task(cron="* * * * *")])
    await recorded.clock.advance(2 * MINUTE)
    recorded.clock.jump(-HOUR)
    await recorded.scheduler.stop()

    times = [position.time_ms for position in recorded.positions]

    assert times == sorted(times)


async def test_a_trace_has_the_time_of_a_clock_that_was_set_back_beside_its_own() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task()])
    await recorded.clock.advance(HOUR)
    recorded.clock.jump(-HOUR)
    await recorded.scheduler.stop()

    shown = [(each.time_ms - 1772452800000, each.fields.get("clock")) for each in recorded.positions[-2:]]
    assert shown == [(0, 1772452800000 - 1_800_000)] * 2  # at half past eleven; the last line before was at noon
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def work() -> None: ...


def test_an_event_reported_late_does_not_look_like_a_clock_set_back() -> None:
    positions: list[TraceEvent] = []
    recorder = TraceRecorder(lambda: NOON, positions.append)

    recorder.on_stop()
    run = TaskRun("report", work, NOON - MINUTE, NOON - MINUTE)
    recorder.on_ended([(run, RunEnd("report", NOON - SECOND, ResultCode.SUCCEEDED))])

    assert [(each.time_ms, "clock" in each.fields) for each in positions] == [(1772452800000, False)] * 2


async def test_unserved_occurrences_before_the_clock_was_set_back_are_served_one_by_one() -> None:
    recorded = RecordedScheduler()
    durations = iter([timedelta(minutes=3.5)])

    async def slow() -> None:  # the first time
        await recorded.clock.sleep(next(durations, SECOND))

    await recorded.scheduler.initialize([task(cron="0-3 * * * *", callback=slow)])
    await recorded.clock.advance(HOUR / 2 + 3.2 * MINUTE)
    recorded.clock.jump(-10 * MINUTE)
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    assert (
        recorded.events.count("RunStart") == 4
    )  # at noon, then at one, two and three past noon as shown the second time
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_task_that_comes_while_the_clock_is_behind_is_due_by_what_the_clock_shows() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([])
    await recorded.clock.advance(2 * HOUR)
    await recorded.scheduler.stop()
    recorded.clock.jump(-HOUR)
    await recorded.scheduler.initialize([task(cron="40 * * * *")])
    await recorded.clock.advance(2 * HOUR)
    await recorded.scheduler.stop()

    assert recorded.events.count("RunStart") == 2  # half past twelve is shown, then twenty to one and twenty to two
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_reload_does_not_hide_that_the_loop_stood_still() -> None:
    recorded = RecordedScheduler(contract="polling")
    await recorded.scheduler.initialize([task()])
    recorded.clock.freeze(HOUR)
    await recorded.scheduler.initialize([task(), task("another")])
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    assert recorded.events[2:5] == ["Freeze", "Thaw", "InitStart"]
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_reload_that_fails_does_not_hide_that_the_loop_stands_still_later() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task()])
    with pytest.raises(KronError):
        await recorded.scheduler.initialize([task(cron="61 * * * *")])
    recorded.clock.freeze(HOUR)
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    assert recorded.events.count("Freeze") == 1
    assert recorded.monitor.report().verdict is TruthValue.HOLDS


async def test_a_leap_of_the_clock_and_a_pause_at_once_are_one_freeze_as_long_as_both() -> None:
    recorded = RecordedScheduler()
    await recorded.scheduler.initialize([task()])
    await recorded.clock.advance(SECOND)
    recorded.clock.jump(10 * MINUTE)
    recorded.clock.freeze(50 * MINUTE)
    await recorded.clock.advance(HOUR)
    await recorded.scheduler.stop()

    times = [each.time_ms for each in recorded.positions if each.kind in ("Freeze", "Thaw")]
    assert times[1] - times[0] == 30 * 60_000 + 1_000  # since noon
    assert recorded.monitor.report().verdict is TruthValue.HOLDS
