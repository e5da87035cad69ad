"""Tests of Scheduler and running: the lifecycle of the two methods, as users see it."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import kron
from kron import Registration, Scheduler
from kron.errors import (
    InvalidDefinitionError,
    InvalidRegistrationError,
    LedgerUnusableError,
    UnknownTimezoneError,
)
from tests.hosts.scheduler_harness import HOUR, MINUTE, NOON, SECOND, START, SchedulerHarness, SlowToOpen


async def test_three_hours_are_three_runs_of_an_hourly_task_each_at_its_instant() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    await scheduler.initialize([harness.task()])

    await harness.clock.advance(3 * HOUR)

    assert harness.starts == [NOON, NOON + HOUR, NOON + 2 * HOUR]
    await scheduler.stop()


def test_there_are_two_public_methods() -> None:
    assert [name for name in dir(Scheduler) if not name.startswith("_")] == ["initialize", "stop"]


async def test_a_registration_may_be_a_named_tuple() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler()
    _, cron, callback, delay = harness.task()

    await scheduler.initialize([Registration("named", cron, callback, delay)])
    await harness.clock.advance(MINUTE)

    assert harness.starts == [NOON]
    await scheduler.stop()


async def test_a_schedule_line_is_due_at_its_chosen_second() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(dialect="extended")
    line = "0 0 * * * @win(after,3h) @seed(stable,salt=backup)"

    await scheduler.initialize([harness.task("prod/db-backup", line)])
    await harness.clock.advance_to(NOON + 24 * HOUR)

    chosen = kron.decide(kron.Timing.parse(line, identity="prod/db-backup"), NOON + 12 * HOUR).chosen_time
    assert harness.starts == [chosen]
    await scheduler.stop()


async def test_a_line_that_never_has_an_allowed_second_never_runs_and_delays_no_other() -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(dialect="extended")

    await scheduler.initialize(
        [harness.task("never", "* * * * * @win(after,30s) @only(date=2020-01-01)"), harness.task("hourly")]
    )
    await harness.clock.advance(2 * HOUR)

    assert harness.starts == [NOON, NOON + HOUR]
    await scheduler.stop()


async def test_a_policy_does_not_belong_in_a_task() -> None:
    harness = SchedulerHarness()

    with pytest.raises(InvalidRegistrationError, match="policy"):
        await harness.scheduler(dialect="extended").initialize([harness.task(cron="0 0 * * * @policy(suspend=true)")])


async def test_a_cancelled_initialize_leaves_a_scheduler_that_can_be_initialized() -> None:
    harness, ledger = SchedulerHarness(), SlowToOpen()
    scheduler = harness.scheduler(ledger=ledger)
    initializing = asyncio.ensure_future(scheduler.initialize([harness.task()]))
    await asyncio.wait([initializing], timeout=0)

    initializing.cancel()
    await asyncio.wait([initializing])
    ledger.ready.set()
    await scheduler.initialize([harness.task()])
    await harness.clock.advance(MINUTE)

    assert harness.starts == [NOON]
    await scheduler.stop()


async def test_running_begins_with_the_block_and_ends_with_it() -> None:
    harness = SchedulerHarness()
    keywords: dict[str, Any] = {"clock": harness.clock, "timezone": "UTC", "sink": harness.events.append}

    async with kron.running([harness.task()], **keywords):
        await harness.clock.advance(HOUR)
    await harness.clock.advance(HOUR)

    assert harness.starts == [NOON]


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"contract": "unheard of"}, InvalidDefinitionError),
        ({"contract": "kron"}, InvalidDefinitionError),
        ({"contract": 7}, InvalidDefinitionError),
        ({"dialect": "quartz"}, InvalidDefinitionError),
        ({"timezone": "Europe/Pariss"}, UnknownTimezoneError),
        ({"ledger": 7}, InvalidDefinitionError),
        ({"max_concurrent_runs": 0}, InvalidDefinitionError),
        ({"max_concurrent_runs": True}, InvalidDefinitionError),
        ({"run_timeout": timedelta(0)}, InvalidDefinitionError),
        ({"run_timeout": 30}, InvalidDefinitionError),
    ],
    ids=str,
)
def test_a_wrong_keyword_is_refused_at_once(keywords: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        SchedulerHarness().scheduler(**keywords)


async def test_an_unusable_ledger_is_named_and_the_scheduler_stays_usable(tmp_path: Path) -> None:
    harness = SchedulerHarness()
    scheduler = harness.scheduler(ledger=tmp_path)

    with pytest.raises(LedgerUnusableError, match=tmp_path.name):
        await scheduler.initialize([harness.task()])
    with pytest.raises(LedgerUnusableError):
        await scheduler.initialize([harness.task()])


async def test_a_partial_and_a_bound_method_are_callbacks() -> None:
    class Service:
        def __init__(self) -> None:
            self.calls: list[str] = []

        async def work(self, what: str = "method") -> None:
            self.calls.append(what)

    harness, service = SchedulerHarness(), Service()
    scheduler = harness.scheduler()

    await scheduler.initialize(
        [("m", "0 * * * *", service.work, SECOND), ("p", "0 * * * *", partial(service.work, "partial"), SECOND)]
    )
    await harness.clock.advance_to(START + MINUTE)

    assert sorted(service.calls) == ["method", "partial"]
    await scheduler.stop()
