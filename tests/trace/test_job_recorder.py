"""Tests of JobRecorder: hosts of jobs on the virtual clock obey the invariants in their recorded traces."""

from collections.abc import Awaitable, Callable, Mapping
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
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, lived, work

SLACK = 30 * SECOND  # of the host in these tests


def recorded(live: Callable[[RestartableHost], Awaitable[None]]) -> tuple[list[TraceEvent], TruthValue]:
    """Return what is recorded of a story, from its beginning to a stop, and the verdict on it."""
    lines, report = lines_of(live)
    return [event for line in lines for event in events_of(line)], report.verdict


def lines_of(
    live: Callable[[RestartableHost], Awaitable[None]], **host: Any
) -> tuple[list[TracePosition], TraceReport]:
    """Return what is recorded of a story, line by line, and the report on it."""
    lines: list[TracePosition] = []
    checker = Checker(TraceHeader("kron", slack=SLACK // timedelta(milliseconds=1)))

    async def story(world: RestartableHost) -> None:
        recorder = JobRecorder(world.clock.now, lines.append, SLACK)
        world.observers.append(recorder)
        recorder.on_declared()
        await live(world)
        recorder.on_stop()
        await world.stop()
        recorder.on_stopped()

    lived(story, **host)
    for line in lines:
        checker.read(line)
    return lines, checker.report()


def test_what_a_host_does_is_judged_by_the_theory() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.codes = [0, 1, 0]
        await world.begin(work("*/20 * * * * @win(after,30m)", retries=1), work("0 * * * * @avoid(hours=13)", "b"))
        await world.clock.advance(6 * HOUR)

    positions, verdict = recorded(story)

    assert verdict is TruthValue.HOLDS
    assert {"Decision", "Outcome", "RunStart", "RunSuccess", "RunFailure"} <= {each.kind for each in positions}


def test_a_job_that_was_held_until_a_time_goes_on_lawfully() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work())
        await world.suspend("a", until=NOON + 30 * MINUTE)
        await world.clock.advance(3 * HOUR)

    positions, verdict = recorded(story)

    assert verdict is TruthValue.HOLDS
    assert {"Suspended", "Resumed", "Outcome"} <= {each.kind for each in positions}


def test_a_job_that_was_removed_while_it_was_held_comes_back_lawfully() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 * * * * @win(after,50m)"))
        await world.suspend("a")
        await world.clock.advance(10 * MINUTE)
        await world.declare()
        await world.declare(work())
        await world.clock.advance(3 * HOUR)

    _, verdict = recorded(story)

    assert verdict is TruthValue.HOLDS


def test_an_edit_of_a_job_that_is_held_is_lawful() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 * * * * @win(after,50m)"))
        await world.suspend("a")
        await world.clock.advance(90 * MINUTE)
        await world.declare(work("30 * * * *"))
        await world.clock.advance(3 * HOUR)

    _, verdict = recorded(story)

    assert verdict is TruthValue.HOLDS


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


def test_what_a_step_says_of_a_period_and_does_is_one_position() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work(deadline="90s", concurrency="allow", retries=2))
        await world.clock.advance(2 * MINUTE)

    lines, report = lines_of(story)

    (first,) = executed(lines)
    assert report.verdict is TruthValue.HOLDS
    assert set(first) == {"Decision", "Outcome", "RunStart"}
    assert [first["Decision"][field] for field in ("deadlineMs", "concurrency", "retries")] == [90_000, "allow", 2]
    assert first["Outcome"]["acceptedMs"] == milliseconds(NOON)
    assert "slackMs" not in first["Outcome"]


def test_two_actions_never_share_a_position() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.codes = [1, 1, 0]
        await world.begin(work(retries=2), work(name="b"), work("* * * * *", "c"))
        await world.clock.advance(3 * HOUR)

    lines, report = lines_of(story)

    assert report.verdict is TruthValue.HOLDS
    assert max(sum(EVENTS[each.kind].is_action for each in events_of(line)) for line in lines) == 1


def test_a_period_that_waits_for_a_slot_was_accepted_in_time() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 20 * MINUTE
        await world.begin(work(), work(name="b"))
        await world.clock.advance(HOUR)

    lines, report = lines_of(story, max_active=1)

    assert report.verdict is TruthValue.HOLDS
    assert [each["Outcome"]["acceptedMs"] for each in executed(lines)] == [milliseconds(NOON)] * 2
    assert [line.time_ms for line in lines if any(event.kind == "RunStart" for event in events_of(line))] == [
        milliseconds(NOON),
        milliseconds(NOON + 20 * MINUTE),
    ]


def test_a_period_is_held_to_the_policy_under_which_it_was_judged() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 20 * MINUTE
        await world.begin(work(name="b"), work("1 * * * *", deadline="1h", concurrency="allow", retries=1))
        await world.clock.advance(5 * MINUTE)
        await world.declare(work(name="b"), work("1 * * * *"))
        await world.clock.advance(50 * MINUTE)

    lines, report = lines_of(story, max_active=1)

    policies = [each["Decision"] for each in executed(lines) if each["Decision"]["identity"] == "a"]
    assert report.verdict is TruthValue.HOLDS
    assert [policies[0][field] for field in ("deadlineMs", "concurrency", "retries")] == [3_600_000, "allow", 1]


def test_a_late_period_after_a_pause_is_judged_without_slack() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work(deadline="2h"))
        await world.suspend("a")
        await world.clock.advance(90 * MINUTE)
        await world.resume("a")
        await world.clock.advance(MINUTE)

    lines, report = lines_of(story)

    (first,) = executed(lines)
    assert report.verdict is TruthValue.HOLDS
    assert first["Outcome"]["slackMs"] == 0


def test_a_slack_that_was_set_since_the_start_stands_beside_what_it_judged() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work())
        world.book.slack = 5 * MINUTE
        await world.clock.advance(2 * MINUTE)

    lines, report = lines_of(story)

    (first,) = executed(lines)
    assert report.verdict is TruthValue.HOLDS
    assert first["Outcome"]["slackMs"] == 300_000


def test_a_retry_that_an_edit_has_allowed_is_lawful() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 10 * MINUTE
        world.runner.codes = [1, 1, 0]
        await world.begin(work(retries=0))
        await world.clock.advance(5 * MINUTE)
        await world.declare(work(retries=2, command="other"))
        await world.clock.advance(50 * MINUTE)

    lines, report = lines_of(story)

    assert started(lines) == [1, 2, 3]
    assert report.verdict is TruthValue.HOLDS


def test_overlaps_that_a_job_has_allowed_or_replaces_are_lawful() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 90 * MINUTE
        allowed, replaced = work(concurrency="allow"), work(name="b", concurrency="replace")
        await world.begin(allowed, replaced, work(name="c"))
        await world.clock.advance(3 * HOUR)
        await world.declare(work(command="other"), replaced, work(name="c", concurrency="allow"))
        await world.clock.advance(4 * HOUR)
        await world.declare()
        await world.clock.advance(2 * HOUR)

    _, report = lines_of(story)

    assert report.verdict is TruthValue.HOLDS


def test_runs_without_a_period_are_nobodys_overlap_or_attempt() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 90 * MINUTE
        await world.begin(work(concurrency="allow"), work("@reboot", "b"))
        await world.trigger("a")
        await world.clock.advance(2 * HOUR)
        await world.trigger("a")
        await world.declare()
        await world.clock.advance(2 * HOUR)

    lines, report = lines_of(story)

    assert report.verdict is TruthValue.HOLDS
    assert len(started(lines)) == 2


def test_a_start_is_recorded_by_the_clock_that_the_step_has_read() -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work())
        world.observers.insert(0, SetBack(world))
        await world.clock.advance(2 * MINUTE)

    lines, report = lines_of(story)

    assert executed(lines)
    assert report.verdict is TruthValue.HOLDS


class SetBack(RunObserver[JobRun]):
    """An observer that sets the clock back between a step and its record."""

    def __init__(self, world: RestartableHost) -> None:
        self._world = world

    def on_started(self, _: object) -> None:
        self._world.clock.jump(-5 * SECOND)
