"""The states of a task and of the loop agree with what can be observed."""

import asyncio
from datetime import timedelta
from functools import partial
from itertools import pairwise

import pytest

from kron import Scheduler
from kron.adapters.callback_runner import CallbackRunner
from kron.engine.active_runs import ActiveRuns
from kron.engine.clock_watch import WakeUp
from kron.engine.emitter import Emitter, Observers
from kron.engine.loop import Engine
from kron.engine.tasks.planner import ObligationPlanner
from kron.instant import Instant
from kron.rules.contract import Contract
from kron.rules.registration import ScheduleReader, parse_registrations
from kron.testing import VirtualClock, crash
from tests.conformance.citing import clause
from tests.conformance.clause import BOTH_POLLING
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness, RegistrationTuple, times
from tests.conformance.test_task_lifecycle import state

RUN, RUNNING, RETRY = "AwaitingRun", "Running", "AwaitingRetry"
LOOP = ("PollingStarted", "PollingStopped")


class ObservedTask:
    """A task whose callback says in which state it is: it runs, it failed, or neither."""

    def __init__(self, harness: ContractHarness, *, takes: timedelta, results: list[bool]) -> None:
        self._world, self._takes, self._results = harness, takes, results
        self.state = RUN
        self.starts = 0

    async def __call__(self) -> None:
        assert self.state != RUNNING, "it runs beside itself"
        self.state, self.starts = RUNNING, self.starts + 1
        await self._world.clock.sleep(self._takes)
        succeeds = self._results.pop(0) if self._results else True
        self.state = RUN if succeeds else RETRY
        if not succeeds:
            raise ValueError("no")

    def task(self, cron: str, retry: timedelta) -> RegistrationTuple:
        """Return a registration of it."""

        async def callback() -> None:
            await self()

        return "report", cron, callback, retry


@pytest.mark.parametrize(
    ("cron", "retry", "results", "visited"),
    [
        ("0 * * * *", 7 * MINUTE, [True, True], {(RUN, RUNNING), (RUNNING, RUN)}),
        ("0 * * * *", 7 * MINUTE, [False, False, True], {(RUNNING, RETRY), (RETRY, RUNNING)}),
        ("0,10 * * * *", 2 * HOUR, [False, False, False], {(RUNNING, RETRY), (RETRY, RUNNING)}),
        ("0,5,10,15,20 * * * *", timedelta(), [False, True, False], {(RUNNING, RUN), (RUN, RUNNING)}),
    ],
    ids=["succeeds", "is tried again", "is preempted", "is tried again at once"],
)
@clause("task.three-states")
async def test_at_every_moment_the_record_shows_the_one_state_that_can_be_seen(
    contract: Contract, cron: str, retry: timedelta, results: list[bool], visited: set[tuple[str, str]]
) -> None:
    harness = ContractHarness(contract, "10:59:30")
    seen = ObservedTask(harness, takes=2 * MINUTE, results=list(results))
    await harness.start(seen.task(cron, retry))

    shown = []
    for _ in range(2 * 150):
        await harness.clock.advance(30 * SECOND)
        shown.append(state(harness.record()))
        assert shown[-1] == seen.state, harness.clock.now()

    steps = {(before, after) for before, after in pairwise(shown) if before != after}
    assert visited <= steps
    assert steps <= {(RUN, RUNNING), (RUNNING, RUN), (RUNNING, RETRY), (RETRY, RUNNING)}
    assert seen.starts >= len(results)


@clause("task.three-states")
async def test_the_state_survives_stops_and_new_lists_and_is_one_of_three_after_a_crash(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    seen = ObservedTask(harness, takes=2 * MINUTE, results=[False])
    scheduler = await harness.start(seen.task("0 * * * *", HOUR / 2))
    await harness.until("11:10")
    await scheduler.stop()
    stopped = state(harness.record())
    scheduler = await harness.start(seen.task("0 * * * *", HOUR / 2))
    again = state(harness.record())
    await harness.until("11:33")
    running = state(harness.record())
    await crash(scheduler)
    seen.state = RUN

    await harness.start(seen.task("0 * * * *", HOUR / 2))

    assert (stopped, again, running) == (RETRY, RETRY, RUNNING)
    assert state(harness.record()) == seen.state
    assert seen.state == (RUN if contract.name == "polling-draft" else RUNNING)


# --- the loop ---------------------------------------------------------------------------------------------------------


class WaitRecordingClock(VirtualClock):
    """A clock that records each instant it is asked to wait for."""

    def __init__(self, start: Instant) -> None:
        super().__init__(start)
        self.waits: list[Instant | None] = []

    async def wait_until(self, deadline: Instant | None, wake: WakeUp) -> None:
        self.waits.append(deadline)
        await super().wait_until(deadline, wake)


def watched(contract: Contract) -> tuple[ContractHarness, WaitRecordingClock]:
    """Return a harness and its clock, which records the waits."""
    harness = ContractHarness(contract)
    clock = harness.clock = WaitRecordingClock(harness.clock.now())
    return harness, clock


@clause("polling.last-task-cancelled")
async def test_with_its_last_task_the_loop_stops_to_wait_for_any_instant(contract: Contract) -> None:
    harness, clock = watched(contract)
    runs, emitter = ActiveRuns(clock, CallbackRunner()), Emitter(harness.events.append)
    book = ObligationPlanner(runs.running, emitter, contract, "me")
    engine = Engine(clock, harness.disk, book, runs, emitter, Observers([]))
    tasks = parse_registrations([harness.task(), harness.task("other")], ScheduleReader(contract, "posix", "UTC"))
    await engine.open()
    engine.arm()
    await engine.apply(partial(book.declare, tasks))
    await engine.apply(partial(book.declare, tasks[:1]))
    await harness.settle()
    one_left = clock.waits[-1], harness.event_names(*LOOP)

    await engine.apply(partial(book.declare, []))
    await harness.settle()
    clock.waits.clear()
    harness.events.clear()
    await harness.until("23:00")

    assert one_left[0] is not None
    assert one_left[1] == ["PollingStarted"]
    assert (clock.waits, harness.events, harness.began) == ([], [], [])
    await engine.drain()


@clause("polling.last-task-cancelled", under=BOTH_POLLING)
async def test_the_loop_is_inactive_from_the_call_that_cancels_the_last_task_on(contract: Contract) -> None:
    harness, clock = watched(contract)
    scheduler = await harness.start(harness.task(), harness.task("other"))
    await scheduler.initialize([harness.task()])
    await harness.settle()
    before = harness.event_names(*LOOP)

    await scheduler.initialize([])
    await harness.settle()

    assert before == ["PollingStarted"]
    assert harness.event_names(*LOOP) == ["PollingStarted", "PollingStopped"]
    assert clock.waits[-1] is None
    clock.waits.clear()
    await harness.until("23:00")
    assert (clock.waits, harness.began) == ([], [])


@clause("polling.last-task-cancelled", under=BOTH_POLLING)
async def test_a_last_task_that_is_cancelled_while_it_runs_ends_and_never_starts_again(contract: Contract) -> None:
    harness, clock = watched(contract)
    scheduler = await harness.start(harness.task(takes=10 * MINUTE, fails=1))
    await harness.until("11:05")

    await scheduler.initialize([])
    await harness.until("11:06")
    events = harness.event_names(*LOOP)
    await harness.until("11:30")
    clock.waits.clear()
    await harness.until("23:00")

    assert events == ["PollingStarted", "PollingStopped"]
    assert (harness.starts(), len(harness.ended)) == (times("11:00"), 1)
    assert clock.waits == []
    await _stopped(scheduler)


async def _stopped(scheduler: Scheduler) -> None:
    await asyncio.wait_for(scheduler.stop(), 10)
