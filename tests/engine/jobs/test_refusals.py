"""A record that contradicts the ledger drops the records of its job; all other jobs start in time."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.jobs.control import CloseDowntime
from kron.engine.jobs.declaration import JobDeclaration
from kron.engine.ports import Refusal
from kron.errors import LedgerConflictError
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome
from kron.testing import MemoryJobLedger
from kron.testing.job_ledger_suite import DECLARED
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, RestartableHost, work

NOTHING = DECLARED._replace(definitions={}, jobs=[])  # a batch
JOBS = [work("* * * * *", name) for name in "abc"]
Ledger = MemoryJobLedger | SqliteJobLedger
Story = Callable[[RestartableHost], Coroutine[Any, Any, None]]


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return MemoryJobLedger() if request.param == "memory" else SqliteJobLedger(tmp_path / "ledger.db")


def refused(ledger: Ledger, story: Story, **host: Any) -> tuple[RestartableHost, list[Refusal]]:
    """Return the world after a story, and what its planner was refused."""

    async def live() -> RestartableHost:
        world = RestartableHost(NOON - SECOND, store=ledger, **host)
        await story(world)
        await world.engine.crash()
        return world

    world = asyncio.run(live())
    return world, world.refused


def missed(world: RestartableHost, name: str, first: Instant, count: int = 1) -> PeriodRecord:
    """Return an outcome of minutely periods that the planner of the world does not know."""
    key, last = world.book.jobs[name].record.definition_key, first + (count - 1) * MINUTE
    return PeriodRecord(name, first, last, count, last, last, Outcome.MISSED, "deadline", "", key, NOON)


def starts(world: RestartableHost, name: str) -> list[str]:
    """Return the minutes of the periods of a job that were executed."""
    said = [each.split() for each in world.told]
    return [each[3] for each in said if each[1] == name and each[-1] == "executed"]


def minutes(*numbers: int) -> list[str]:
    return [f"12:{number:02}" for number in numbers]


def test_an_outcome_that_the_planner_does_not_know_costs_one_period_of_one_job(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(*JOBS)
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON + 2 * MINUTE)]))
        await world.clock.advance(10 * MINUTE)

    world, found = refused(ledger, story)

    assert (starts(world, "b"), starts(world, "c")) == (minutes(*range(10)), minutes(*range(10)))
    assert starts(world, "a") == minutes(0, 1, 3, 4, 5, 6, 7, 8, 9)
    assert [(each.identity, each.nominal) for each in found] == [("a", NOON + 2 * MINUTE)]
    assert [event.name for event in world.events] == []
    assert world.book.aside == {}


def test_a_range_of_outcomes_that_the_planner_does_not_know_is_handled_at_once(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(*JOBS)
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON + 2 * MINUTE, 5)]))
        await world.clock.advance(10 * MINUTE)

    world, found = refused(ledger, story)

    assert starts(world, "a") == minutes(0, 1, 7, 8, 9)
    assert starts(world, "b") == minutes(*range(10))
    assert len(found) == 1


def test_a_closed_range_is_recorded_around_a_period_that_has_an_outcome(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("* * * * *", "a", deadline="30s"), *JOBS[1:])
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON + 4 * MINUTE)]))
        world.clock.jump(8 * MINUTE)
        await world.clock.advance(2 * MINUTE)

    world, found = refused(ledger, story)
    handled = asyncio.run(recorded(ledger, "a"))

    assert len(found) == 1
    assert handled >= {NOON + number * MINUTE for number in range(9)}
    assert world.book.aside == {}


async def recorded(ledger: Ledger, name: str) -> set[Instant]:
    """Return the periods of a job that have an outcome."""
    await ledger.open()
    found = (await ledger.handled({name: NOON})).get(name, frozenset())
    await ledger.close()
    assert isinstance(found, frozenset)
    return set(found)


async def refuse_what_waits(world: RestartableHost, ledger: Ledger, job: JobSpec) -> None:
    """Let two and a half minutes of a job wait for the only slot, and give its first period an outcome meanwhile."""
    world.runner.lasts = None
    await world.begin(work("0 12 * * *", "busy"), job)
    await world.clock.advance(150 * SECOND)
    assert (starts(world, "busy"), starts(world, "a")) == (minutes(0), [])
    await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON)]))
    world.runner.lasts = timedelta()
    world.runner.end(next(iter(world.runner.running)))
    await world.clock.advance(2 * MINUTE)


def test_periods_that_wait_behind_a_refused_one_stay_accepted(ledger: Ledger) -> None:
    job = work("* * * * *", "a", concurrency="allow", deadline="30s")

    world, found = refused(ledger, lambda world: refuse_what_waits(world, ledger, job), max_active=1)

    assert [each.nominal for each in found] == [NOON]
    assert starts(world, "a") == minutes(1, 2, 3, 4)
    assert world.book.aside == {}


def test_periods_that_were_closed_for_a_refused_one_are_judged_again(ledger: Ledger) -> None:
    job = work("* * * * *", "a", concurrency="forbid", deadline="1h")

    world, found = refused(ledger, lambda world: refuse_what_waits(world, ledger, job), max_active=1)

    assert [each.nominal for each in found] == [NOON]
    assert starts(world, "a") == minutes(1, 3, 4)  # 12:02 came while 12:01 was accepted
    assert world.book.aside == {}


def test_an_end_that_is_recorded_differently_sets_its_job_aside_and_nothing_else(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 90 * SECOND
        await world.begin(*JOBS)
        await world.clock.advance(2 * SECOND)
        run_id = next(each for each in world.book.running if world.book.running[each].attempt.identity == "a")
        await ledger.append(NOTHING._replace(ended=[RunEnd(run_id, NOON, ResultCode.UNKNOWN)]))
        await world.clock.advance(10 * MINUTE)
        assert not world.book.has_unrecorded()

    world, found = refused(ledger, story)

    assert list(world.book.aside) == ["a"]
    assert len(found) == 1
    assert starts(world, "a") == minutes(0)
    assert len(starts(world, "b")) > 3


def test_a_retry_that_has_begun_already_sets_its_job_aside(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.codes = [1]
        await world.begin(work("0 * * * *", "a", retries=3, retry_delay=MINUTE), *JOBS[1:])
        await world.clock.advance(2 * SECOND)
        first = next(each.attempt for each in world.book.jobs["a"].retries)
        await ledger.append(NOTHING._replace(begun=[first._replace(run_id="other", attempt=2)]))
        await world.clock.advance(10 * MINUTE)

    world, found = refused(ledger, story)

    assert list(world.book.aside) == ["a"]
    assert [each.identity for each in found] == ["a"]
    assert starts(world, "b") == minutes(*range(11))


def test_an_end_in_a_refused_batch_is_recorded_by_the_next_step(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = MINUTE
        await world.begin(work("* * * * *", "a", concurrency="allow"), JOBS[1])
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON + MINUTE)]))
        await world.clock.advance(90 * SECOND)
        assert (await ledger.load()).unfinished == [
            each for each in (await ledger.load()).unfinished if each.attempt.identity == "b"
        ]

    world, found = refused(ledger, story)

    assert len(found) == 1
    assert world.book.jobs["a"].active == {}
    assert starts(world, "a") == minutes(0)


def test_a_refused_trigger_is_an_error_and_starts_nothing(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        await world.begin(work("0 * * * *", "a"))
        key = world.book.jobs["a"].record.definition_key
        await ledger.append(
            NOTHING._replace(begun=[RunStart("taken", "a", RunKind.TRIGGER, None, None, 1, NOON, key, "boot")])
        )
        world.book.new_run_id = lambda: "taken"  # type: ignore[method-assign]  # a name that another run has
        with pytest.raises(LedgerConflictError):
            await world.trigger("a")
        assert not world.runner.running
        assert world.book.jobs["a"].active == {}

    refused(ledger, story)


def test_a_declaration_sets_a_refused_job_aside_and_declares_the_others(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        windowed = [work("0 * * * * @win(after,30m)", name) for name in "ab"]
        await world.begin(*windowed)
        await world.clock.advance(MINUTE)
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON)]))
        changed = [work("*/5 * * * *", name) for name in "abc"]
        declared = await world.engine.apply(lambda now: JobDeclaration(world.book, changed, now, {}))
        assert (declared.added, declared.changed) == (["c"], ["b"])
        await world.clock.advance(11 * MINUTE)

    world, found = refused(ledger, story)

    assert [each.identity for each in found] == ["a"]
    assert list(world.book.aside) == ["a"]
    assert (starts(world, "a"), starts(world, "b"), starts(world, "c")) == ([], minutes(5, 10), minutes(5, 10))


def test_a_long_downtime_that_is_refused_is_judged_by_the_first_step(ledger: Ledger) -> None:
    async def story(world: RestartableHost) -> None:
        await world.engine.open()
        await world.declare(*JOBS)
        await world.clock.advance(HOUR)
        job, now = world.book.jobs["a"], world.clock.now()
        found = job.judge_downtime(now)
        await ledger.append(NOTHING._replace(closed=[missed(world, "a", NOON + 5 * MINUTE)]))
        await world.engine.apply(lambda _: CloseDowntime(world.book, job, found, now))
        world.engine.arm()
        await world.clock.advance(2 * MINUTE)

    world, found = refused(ledger, story)

    assert [each.identity for each in found] == ["a"]
    assert world.book.aside == {}
    assert asyncio.run(recorded(ledger, "a")) >= {NOON + number * MINUTE for number in range(60)}
