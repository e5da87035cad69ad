"""Tests of JobRecorder: hosts of jobs on the virtual clock obey the invariants in their recorded traces."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from kron.engine.ports import RunObserver
from kron.engine.runs import JobRun
from kron.instant import Instant
from kron.theory.alphabet import EVENTS
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.results import TraceReport
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, events_of
from kron.trace.job_recorder import JobRecorder
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work

SLACK = 30 * SECOND  # of the host in these tests


class Recording:
    """The trace of a host, and its verdict after the host has stopped."""

    def __init__(self) -> None:
        self.lines: list[TracePosition] = []
        self.report = self._judge()

    @property
    def events(self) -> list[TraceEvent]:
        return [event for line in self.lines for event in events_of(line)]

    def finish(self) -> None:
        self.report = self._judge()

    def _judge(self) -> TraceReport:
        checker = Checker(TraceHeader("kron", slack=SLACK // timedelta(milliseconds=1)))
        for line in self.lines:
            checker.read(line)
        return checker.report()


@asynccontextmanager
async def recording(**settings: Any) -> AsyncIterator[tuple[RestartableHost, Recording]]:
    """Yield a host and the recording of what happens to it until it stops at the end of the block."""
    host, trace = RestartableHost(**settings), Recording()
    recorder = JobRecorder(host.clock.now, trace.lines.append, SLACK)
    host.observers.append(recorder)
    recorder.on_declared()
    yield host, trace
    recorder.on_stop()
    await host.stop()
    recorder.on_stopped()
    await host.engine.crash()
    trace.finish()


async def test_the_trace_of_a_host_satisfies_the_theory() -> None:
    async with recording() as (host, trace):
        host.runner.codes = [0, 1, 0]
        await host.begin(work("*/20 * * * * @win(after,30m)", retries=1), work("0 * * * * @avoid(hours=13)", "b"))
        await host.clock.advance(6 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS
    assert {"Decision", "Outcome", "RunStart", "RunSuccess", "RunFailure"} <= {each.kind for each in trace.events}


async def test_a_job_that_was_held_until_a_time_goes_on_lawfully() -> None:
    async with recording() as (host, trace):
        await host.begin(work())
        await host.suspend("a", until=NOON + 30 * MINUTE)
        await host.clock.advance(3 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS
    assert {"Suspended", "Resumed", "Outcome"} <= {each.kind for each in trace.events}


async def test_a_job_that_was_removed_while_it_was_held_comes_back_lawfully() -> None:
    async with recording() as (host, trace):
        await host.begin(work("0 * * * * @win(after,50m)"))
        await host.suspend("a")
        await host.clock.advance(10 * MINUTE)
        await host.declare()
        await host.declare(work())
        await host.clock.advance(3 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS


async def test_an_edit_of_a_job_that_is_held_is_lawful() -> None:
    async with recording() as (host, trace):
        await host.begin(work("0 * * * * @win(after,50m)"))
        await host.suspend("a")
        await host.clock.advance(90 * MINUTE)
        await host.declare(work("30 * * * *"))
        await host.clock.advance(3 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS


# --- what a trace says of policies ------------------------------------------------------------------------------------


def executed(lines: list[TracePosition]) -> list[dict[str, Mapping[str, object]]]:
    """Return the positions at which periods are executed, each as its events by their names."""
    found = [{event.kind: event.fields for event in events_of(line)} for line in lines]
    return [each for each in found if each.get("Outcome", {}).get("outcome") == "executed"]


def started(lines: list[TracePosition]) -> list[object]:
    """Return the attempts that were started."""
    return [event.fields["attempt"] for line in lines for event in events_of(line) if event.kind == "RunStart"]


def milliseconds(at: Instant) -> int:
    return round(at.timestamp() * 1000)


async def test_the_decision_outcome_and_start_of_a_period_share_a_position() -> None:
    async with recording() as (host, trace):
        await host.begin(work(deadline="90s", concurrency="allow", retries=2))
        await host.clock.advance(2 * MINUTE)

    (first,) = executed(trace.lines)
    assert trace.report.verdict is TruthValue.HOLDS
    assert set(first) == {"Decision", "Outcome", "RunStart"}
    assert [first["Decision"][field] for field in ("deadlineMs", "concurrency", "retries")] == [90_000, "allow", 2]
    assert first["Outcome"]["acceptedMs"] == milliseconds(NOON)
    assert "slackMs" not in first["Outcome"]


async def test_two_actions_never_share_a_position() -> None:
    async with recording() as (host, trace):
        host.runner.codes = [1, 1, 0]
        await host.begin(work(retries=2), work(name="b"), work("* * * * *", "c"))
        await host.clock.advance(3 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS
    assert max(sum(EVENTS[each.kind].is_action for each in events_of(line)) for line in trace.lines) == 1


async def test_a_period_that_waits_for_a_slot_was_accepted_in_time() -> None:
    async with recording(max_active=1) as (host, trace):
        host.runner.lasts = 20 * MINUTE
        await host.begin(work(), work(name="b"))
        await host.clock.advance(HOUR)

    assert trace.report.verdict is TruthValue.HOLDS
    assert [each["Outcome"]["acceptedMs"] for each in executed(trace.lines)] == [milliseconds(NOON)] * 2
    assert [line.time_ms for line in trace.lines if any(event.kind == "RunStart" for event in events_of(line))] == [
        milliseconds(NOON),
        milliseconds(NOON + 20 * MINUTE),
    ]


async def test_a_period_is_held_to_the_policy_under_which_it_was_judged() -> None:
    async with recording(max_active=1) as (host, trace):
        host.runner.lasts = 20 * MINUTE
        await host.begin(work(name="b"), work("1 * * * *", deadline="1h", concurrency="allow", retries=1))
        await host.clock.advance(5 * MINUTE)
        await host.declare(work(name="b"), work("1 * * * *"))
        await host.clock.advance(50 * MINUTE)

    policies = [each["Decision"] for each in executed(trace.lines) if each["Decision"]["identity"] == "a"]
    assert trace.report.verdict is TruthValue.HOLDS
    assert [policies[0][field] for field in ("deadlineMs", "concurrency", "retries")] == [3_600_000, "allow", 1]


async def test_a_late_period_after_a_pause_is_judged_without_slack() -> None:
    async with recording() as (host, trace):
        await host.begin(work(deadline="2h"))
        await host.suspend("a")
        await host.clock.advance(90 * MINUTE)
        await host.resume("a")
        await host.clock.advance(MINUTE)

    (first,) = executed(trace.lines)
    assert trace.report.verdict is TruthValue.HOLDS
    assert first["Outcome"]["slackMs"] == 0


async def test_a_slack_that_was_set_since_the_start_is_recorded_with_what_it_judged() -> None:
    async with recording() as (host, trace):
        await host.begin(work())
        host.planner.slack = 5 * MINUTE
        await host.clock.advance(2 * MINUTE)

    (first,) = executed(trace.lines)
    assert trace.report.verdict is TruthValue.HOLDS
    assert first["Outcome"]["slackMs"] == 300_000


async def test_a_retry_that_an_edit_has_allowed_is_lawful() -> None:
    async with recording() as (host, trace):
        host.runner.lasts = 10 * MINUTE
        host.runner.codes = [1, 1, 0]
        await host.begin(work(retries=0))
        await host.clock.advance(5 * MINUTE)
        await host.declare(work(retries=2, command="other"))
        await host.clock.advance(50 * MINUTE)

    assert started(trace.lines) == [1, 2, 3]
    assert trace.report.verdict is TruthValue.HOLDS


async def test_overlaps_that_a_job_has_allowed_or_replaces_are_lawful() -> None:
    async with recording() as (host, trace):
        host.runner.lasts = 90 * MINUTE
        allowed, replaced = work(concurrency="allow"), work(name="b", concurrency="replace")
        await host.begin(allowed, replaced, work(name="c"))
        await host.clock.advance(3 * HOUR)
        await host.declare(work(command="other"), replaced, work(name="c", concurrency="allow"))
        await host.clock.advance(4 * HOUR)
        await host.declare()
        await host.clock.advance(2 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS


async def test_runs_without_a_period_are_neither_overlaps_nor_attempts() -> None:
    async with recording() as (host, trace):
        host.runner.lasts = 90 * MINUTE
        await host.begin(work(concurrency="allow"), work("@reboot", "b"))
        await host.trigger("a")
        await host.clock.advance(2 * HOUR)
        await host.trigger("a")
        await host.declare()
        await host.clock.advance(2 * HOUR)

    assert trace.report.verdict is TruthValue.HOLDS
    assert len(started(trace.lines)) == 2


async def test_a_start_is_recorded_by_the_clock_that_the_step_has_read() -> None:
    async with recording() as (host, trace):
        await host.begin(work())
        host.observers.insert(0, SetBack(host))
        await host.clock.advance(2 * MINUTE)

    assert executed(trace.lines)
    assert trace.report.verdict is TruthValue.HOLDS


class SetBack(RunObserver[JobRun]):
    """An observer that sets the clock back between a step and its record."""

    def __init__(self, host: RestartableHost) -> None:
        self._host = host

    def on_started(self, _: object) -> None:
        self._host.clock.jump(-5 * SECOND)
