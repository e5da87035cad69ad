"""A record that contradicts the ledger drops the records of its job; all other jobs start in time."""

from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.jobs.control import CloseDowntime
from kron.engine.jobs.declaration import JobDeclaration
from kron.errors import LedgerConflictError
from kron.instant import Instant
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.verdict import Outcome
from kron.testing import MemoryJobLedger
from kron.testing.job_ledger_suite import DECLARED
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, RestartableHost, work

NOTHING = DECLARED._replace(definitions={}, jobs=[])  # a batch
JOBS = [work("* * * * *", name) for name in "abc"]
Ledger = MemoryJobLedger | SqliteJobLedger
Story = Callable[[RestartableHost], Coroutine[Any, Any, None]]


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    return MemoryJobLedger() if request.param == "memory" else SqliteJobLedger(tmp_path / "ledger.db")


def missed(host: RestartableHost, name: str, first: Instant, count: int = 1) -> PeriodRecord:
    """Return an outcome of minutely periods that the planner of the host does not know."""
    key, last = host.planner.jobs[name].record.definition_key, first + (count - 1) * MINUTE
    return PeriodRecord(name, first, last, count, last, last, Outcome.MISSED, "deadline", "", key, NOON)


def starts(host: RestartableHost, name: str) -> list[str]:
    """Return the minutes of the periods of a job that were executed."""
    said = [each.split() for each in host.log]
    return [each[3] for each in said if each[1] == name and each[-1] == "executed"]


def minutes(*numbers: int) -> list[str]:
    return [f"12:{number:02}" for number in numbers]


async def test_an_outcome_that_the_planner_does_not_know_costs_one_period_of_one_job(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    await host.begin(*JOBS)
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON + 2 * MINUTE)]))
    await host.clock.advance(10 * MINUTE)
    await host.engine.crash()
    found = host.refused

    assert (starts(host, "b"), starts(host, "c")) == (minutes(*range(10)), minutes(*range(10)))
    assert starts(host, "a") == minutes(0, 1, 3, 4, 5, 6, 7, 8, 9)
    assert [(each.identity, each.nominal) for each in found] == [("a", NOON + 2 * MINUTE)]
    assert [event.name for event in host.events] == []
    assert host.planner.aside == {}


async def test_a_range_of_outcomes_that_the_planner_does_not_know_is_handled_at_once(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    await host.begin(*JOBS)
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON + 2 * MINUTE, 5)]))
    await host.clock.advance(10 * MINUTE)
    await host.engine.crash()
    found = host.refused

    assert starts(host, "a") == minutes(0, 1, 7, 8, 9)
    assert starts(host, "b") == minutes(*range(10))
    assert len(found) == 1


async def test_a_closed_range_is_recorded_around_a_period_that_has_an_outcome(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    await host.begin(work("* * * * *", "a", deadline="30s"), *JOBS[1:])
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON + 4 * MINUTE)]))
    host.clock.jump(8 * MINUTE)
    await host.clock.advance(2 * MINUTE)
    await host.engine.crash()
    found = host.refused
    handled = await recorded(ledger, "a")

    assert len(found) == 1
    assert handled >= {NOON + number * MINUTE for number in range(9)}
    assert host.planner.aside == {}


async def recorded(ledger: Ledger, name: str) -> set[Instant]:
    """Return the periods of a job that have an outcome."""
    await ledger.open()
    found = (await ledger.handled({name: NOON})).get(name, frozenset())
    await ledger.close()
    assert isinstance(found, frozenset)
    return set(found)


async def refuse_what_waits(host: RestartableHost, ledger: Ledger, job: JobSpec) -> None:
    """Let two and a half minutes of a job wait for the only slot, and give its first period an outcome meanwhile."""
    host.runner.lasts = None
    await host.begin(work("0 12 * * *", "busy"), job)
    await host.clock.advance(150 * SECOND)
    assert (starts(host, "busy"), starts(host, "a")) == (minutes(0), [])
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON)]))
    host.runner.lasts = timedelta()
    host.runner.end(next(iter(host.runner.running)))
    await host.clock.advance(2 * MINUTE)


async def test_periods_that_wait_behind_a_refused_one_stay_accepted(ledger: Ledger) -> None:
    job = work("* * * * *", "a", concurrency="allow", deadline="30s")

    host = RestartableHost(NOON - SECOND, store=ledger, max_active=1)
    await refuse_what_waits(host, ledger, job)
    await host.engine.crash()
    found = host.refused

    assert [each.nominal for each in found] == [NOON]
    assert starts(host, "a") == minutes(1, 2, 3, 4)
    assert host.planner.aside == {}


async def test_periods_that_were_closed_for_a_refused_one_are_judged_again(ledger: Ledger) -> None:
    job = work("* * * * *", "a", concurrency="forbid", deadline="1h")

    host = RestartableHost(NOON - SECOND, store=ledger, max_active=1)
    await refuse_what_waits(host, ledger, job)
    await host.engine.crash()
    found = host.refused

    assert [each.nominal for each in found] == [NOON]
    assert starts(host, "a") == minutes(1, 3, 4)  # 12:02 came while 12:01 was accepted
    assert host.planner.aside == {}


async def test_an_end_that_is_recorded_differently_sets_its_job_aside_and_nothing_else(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    host.runner.lasts = 90 * SECOND
    await host.begin(*JOBS)
    await host.clock.advance(2 * SECOND)
    run_id = next(each for each in host.planner.running if host.planner.running[each].attempt.identity == "a")
    await ledger.append(NOTHING._replace(ended=[RunEnd(run_id, NOON, ResultCode.UNKNOWN)]))
    await host.clock.advance(10 * MINUTE)
    assert not host.planner.has_unrecorded()
    await host.engine.crash()
    found = host.refused

    assert list(host.planner.aside) == ["a"]
    assert len(found) == 1
    assert starts(host, "a") == minutes(0)
    assert len(starts(host, "b")) > 3


async def test_a_retry_that_has_begun_already_sets_its_job_aside(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    host.runner.codes = [1]
    await host.begin(work("0 * * * *", "a", retries=3, retry_delay=MINUTE), *JOBS[1:])
    await host.clock.advance(2 * SECOND)
    first = next(each.attempt for each in host.planner.jobs["a"].retries)
    await ledger.append(NOTHING._replace(begun=[first._replace(run_id="other", attempt=2)]))
    await host.clock.advance(10 * MINUTE)
    await host.engine.crash()
    found = host.refused

    assert list(host.planner.aside) == ["a"]
    assert [each.identity for each in found] == ["a"]
    assert starts(host, "b") == minutes(*range(11))


async def test_an_end_in_a_refused_batch_is_recorded_by_the_next_step(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    host.runner.lasts = MINUTE
    await host.begin(work("* * * * *", "a", concurrency="allow"), JOBS[1])
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON + MINUTE)]))
    await host.clock.advance(90 * SECOND)
    assert (await ledger.load()).unfinished == [
        each for each in (await ledger.load()).unfinished if each.attempt.identity == "b"
    ]
    await host.engine.crash()
    found = host.refused

    assert len(found) == 1
    assert host.planner.jobs["a"].active == {}
    assert starts(host, "a") == minutes(0)


async def test_a_refused_trigger_is_an_error_and_starts_nothing(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    await host.begin(work("0 * * * *", "a"))
    key = host.planner.jobs["a"].record.definition_key
    await ledger.append(
        NOTHING._replace(begun=[RunStart("taken", "a", RunKind.TRIGGER, None, None, 1, NOON, key, "boot")])
    )
    host.planner.new_run_id = lambda: "taken"  # type: ignore[method-assign]  # a name that another run has
    with pytest.raises(LedgerConflictError):
        await host.trigger("a")
    assert not host.runner.running
    assert host.planner.jobs["a"].active == {}
    await host.engine.crash()


async def test_a_declaration_sets_a_refused_job_aside_and_declares_the_others(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    windowed = [work("0 * * * * @win(after,30m)", name) for name in "ab"]
    await host.begin(*windowed)
    await host.clock.advance(MINUTE)
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON)]))
    changed = [work("*/5 * * * *", name) for name in "abc"]
    declared = await host.engine.apply(lambda now: JobDeclaration(host.planner, changed, now, {}))
    assert (declared.added, declared.changed) == (["c"], ["b"])
    await host.clock.advance(11 * MINUTE)
    await host.engine.crash()
    found = host.refused

    assert [each.identity for each in found] == ["a"]
    assert list(host.planner.aside) == ["a"]
    assert (starts(host, "a"), starts(host, "b"), starts(host, "c")) == ([], minutes(5, 10), minutes(5, 10))


async def test_a_long_downtime_that_is_refused_is_judged_by_the_first_step(ledger: Ledger) -> None:
    host = RestartableHost(NOON - SECOND, store=ledger)
    await host.engine.open()
    await host.declare(*JOBS)
    await host.clock.advance(HOUR)
    job, now = host.planner.jobs["a"], host.clock.now()
    judged = job.judge_downtime(now)
    await ledger.append(NOTHING._replace(closed=[missed(host, "a", NOON + 5 * MINUTE)]))
    await host.engine.apply(lambda _: CloseDowntime(host.planner, job, judged, now))
    host.engine.arm()
    await host.clock.advance(2 * MINUTE)
    await host.engine.crash()
    found = host.refused

    assert [each.identity for each in found] == ["a"]
    assert host.planner.aside == {}
    assert await recorded(ledger, "a") >= {NOON + number * MINUTE for number in range(60)}
