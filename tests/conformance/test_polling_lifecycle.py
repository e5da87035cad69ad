"""The states of the polling loop: it starts with the first task and ends with the last or with a stop."""

import asyncio
from functools import partial

from kron.adapters.callback_runner import CallbackRunner
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.loop import Engine
from kron.engine.tasks.planner import ObligationPlanner
from kron.rules.contract import Contract
from kron.rules.registration import ScheduleReader, parse_registrations
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING, DECLARATIVE
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, times

BEGAN, ENDED, REQUESTED = "PollingStarted", "PollingStopped", "PollingStopRequested"
LOOP = (BEGAN, ENDED, REQUESTED)


@clause("polling.begins")
async def test_the_first_list_with_a_task_begins_the_loop_once(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start(harness.task(), harness.task("other"))
    await harness.until("11:00")

    assert harness.event_names(*LOOP) == [BEGAN]
    assert harness.event_names("PollStarted", BEGAN)[:2] == [BEGAN, "PollStarted"]
    assert harness.starts() == times("11:00")


@clause("polling.begins", under=BOTH_POLLING)
async def test_a_second_list_with_the_first_task_begins_the_loop(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start()
    before = harness.event_names(*LOOP)

    await scheduler.initialize([harness.task()])
    await harness.until("11:00")

    assert before == []
    assert harness.event_names(*LOOP) == [BEGAN]
    assert harness.starts() == times("11:00")


@clause("polling.begins")
async def test_a_list_after_a_stop_begins_the_loop_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await scheduler.stop()

    await scheduler.initialize([harness.task()])

    assert harness.event_names(*LOOP) == [BEGAN, REQUESTED, ENDED, BEGAN]


@clause("polling.last-task-cancelled")
async def test_the_loop_ends_when_its_last_task_is_taken_away(contract: Contract) -> None:
    harness = ContractHarness(contract)
    runs, emitter = ActiveRuns(harness.clock, CallbackRunner()), Emitter(harness.events.append)
    book = ObligationPlanner(runs.running, emitter, contract, "me")
    engine = Engine(harness.clock, harness.disk, book, runs, emitter, Observers([]))
    tasks = parse_registrations([harness.task(), harness.task("other")], ScheduleReader(contract, "posix", "UTC"))
    await engine.open()
    engine.arm()
    await engine.apply(partial(book.declare, tasks))
    await engine.apply(partial(book.declare, tasks[:1]))
    before = harness.event_names(*LOOP)

    await engine.apply(partial(book.declare, []))
    await harness.until("13:00")

    assert (before, harness.event_names(*LOOP)) == ([BEGAN], [BEGAN, ENDED])
    assert harness.began == []
    await engine.drain()


@clause("polling.last-task-cancelled", under=BOTH_POLLING)
async def test_an_empty_second_list_ends_the_loop_and_not_the_scheduler(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.initialize([])
    await harness.settle()

    assert harness.event_names(*LOOP, "SchedulerStopped") == [BEGAN, ENDED]
    harness.events.clear()
    await harness.until("13:00")
    assert (harness.events_named("PollStarted"), harness.began) == ([], [])


@clause("polling.last-task-cancelled", under=(DECLARATIVE,))
async def test_an_empty_list_after_a_stop_leaves_the_loop_inactive(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await scheduler.stop()

    await scheduler.initialize([])
    await harness.until("13:00")

    assert harness.event_names(*LOOP) == [BEGAN, REQUESTED, ENDED]
    assert (harness.store.records, harness.began) == ({}, [])


@clause("polling.stop-requested")
async def test_a_stop_asks_the_loop_to_stop_and_no_poll_follows(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("other", "5 * * * *"))
    await harness.until("11:01")

    stopping = asyncio.create_task(scheduler.stop())
    await harness.settle()

    assert harness.event_names(*LOOP) == [BEGAN, REQUESTED]
    harness.events.clear()
    await harness.until("11:09")
    assert (harness.events_named("PollStarted"), harness.starts("other"), stopping.done()) == ([], [], False)


@clause("polling.ends")
async def test_the_loop_ends_when_all_that_runs_has_ended(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE), harness.task("other", takes=2 * MINUTE))
    await harness.until("11:01")
    stopping = asyncio.create_task(scheduler.stop())

    await harness.until("11:09:59")
    early = harness.events_named(ENDED)
    await harness.until("11:10")

    assert early == []
    assert harness.event_names(*LOOP, "TaskRunCompleted") == [
        BEGAN,
        REQUESTED,
        "TaskRunCompleted",
        "TaskRunCompleted",
        ENDED,
    ]
    assert stopping.done()


@clause("polling.ends")
async def test_a_loop_without_runs_ends_at_once(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())

    await scheduler.stop()

    assert harness.event_names(*LOOP) == [BEGAN, REQUESTED, ENDED]
    assert harness.clock.now() == at("10:07:30")


@clause("polling.inactive-without-tasks")
async def test_without_tasks_no_loop_runs(contract: Contract) -> None:
    harness = ContractHarness(contract)

    await harness.start()
    await harness.clock.advance(3 * HOUR)

    assert harness.event_names(*LOOP, "PollStarted", "PollCompleted") == []


@clause("polling.inactive-without-tasks")
async def test_without_tasks_the_scheduler_runs_until_it_is_stopped(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start()

    await scheduler.stop()

    assert harness.event_names("SchedulerInitializationCompleted", "SchedulerStopRequested", "SchedulerStopped") == [
        "SchedulerInitializationCompleted", "SchedulerStopRequested", "SchedulerStopped",
    ]  # fmt: skip
    assert harness.event_names(*LOOP) == []
