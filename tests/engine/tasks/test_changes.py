"""The law of changes for tasks: a list that is not recorded has never been declared."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import pytest
from hypothesis import assume, given, settings, strategies as st

from kron.adapters.callback_runner import CallbackRunner
from kron.adapters.virtual_clock import VirtualClock
from kron.engine.active_runs import ActiveRuns
from kron.engine.emitter import Emitter, Observers
from kron.engine.loop import Engine
from kron.engine.runs import TaskRun
from kron.engine.tasks.planner import ObligationPlanner
from kron.errors import LedgerWriteError
from kron.instant import parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract
from kron.rules.due import Occurrences
from kron.rules.events import Event
from kron.rules.registration import ScheduleReader, TaskSpec, parse_registrations
from kron.testing import FaultyLedger, MemoryTaskLedger
from tests.engine.state import snapshot

NOON = parse_instant("2026-03-02T12:00:00Z")
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class DrawnTask(NamedTuple):
    """A registration: what it does, and how long that takes."""

    name: str
    cron: str
    minutes: int
    fails: bool


TASKS = st.lists(
    st.builds(
        DrawnTask,
        st.sampled_from("abcd"),
        st.sampled_from(["* * * * *", "0,30 * * * *", "0 * * * *"]),
        st.sampled_from([0, 3, 100]),
        st.booleans(),
    ),
    unique_by=lambda each: each.name,
    max_size=4,
)


class Story(NamedTuple):
    """What a scheduler lives through: lists that are declared, each with the minutes until the next, and its end."""

    contract: Contract
    lists: Sequence[tuple[Sequence[DrawnTask], int]]
    changed: Sequence[DrawnTask]
    is_restarted: bool  # the list that changes is the first one of another life


STORIES = st.builds(
    Story,
    st.sampled_from([DECLARATIVE, POLLING, POLLING_DRAFT]),
    st.lists(st.tuples(TASKS, st.integers(0, 90)), min_size=1, max_size=3),
    TASKS,
    st.booleans(),
)


class TaskHost:
    """Lives of a scheduler, one after the other, on one ledger."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self.clock = VirtualClock(NOON - MINUTE)
        self.memory = MemoryTaskLedger()
        self.ledger = FaultyLedger(self.memory)
        self.events: list[Event] = []
        self.begun: list[str] = []
        self._lives = 0

    async def open(self) -> None:
        self._lives += 1
        self.runs = ActiveRuns[TaskRun](self.clock, CallbackRunner())
        emitter = Emitter(self.events.append)
        self.planner = ObligationPlanner(self.runs.running, emitter, self._contract, f"scheduler {self._lives}")
        self.engine = Engine(self.clock, self.ledger, self.planner, self.runs, emitter, Observers([]))
        await self.engine.open()

    async def declare(self, tasks: Sequence[TaskSpec]) -> object:
        return await self.engine.apply(partial(self.planner.declare, tasks))

    async def fail_to_declare(self, tasks: Sequence[TaskSpec]) -> None:
        self.ledger.fail_next()
        await self.declare(tasks)

    def specs(self, tasks: Sequence[DrawnTask]) -> list[TaskSpec]:
        read = ScheduleReader(self._contract, "posix", "UTC")
        return parse_registrations([(each.name, each.cron, self._callback(each), 5 * MINUTE) for each in tasks], read)

    def _callback(self, task: DrawnTask) -> Callable[[], Awaitable[None]]:
        async def callback() -> None:
            self.begun.append(f"{self.clock.now():%H:%M:%S} {task.name}")
            await self.clock.sleep(task.minutes * MINUTE)
            if task.fails:
                raise ValueError("it fails")

        return callback

    def state(self) -> object:
        return snapshot(self.planner, self.runs, leaves=(CallbackRunner, Occurrences))

    def seen(self) -> object:
        events = [(each.name, each.fields, repr(each.exception), each.happened_at) for each in self.events]
        return snapshot(events, self.begun, vars(self.memory))


async def host_of(story: Story) -> TaskHost:
    """Return a host that is about to change its list."""
    host = TaskHost(story.contract)
    await host.open()
    host.engine.arm()
    for tasks, minutes in story.lists:
        await host.declare(host.specs(tasks))
        await host.clock.advance(minutes * MINUTE)
    if story.is_restarted:
        await host.engine.crash()
        await host.open()
    return host


async def failed(story: Story) -> bool:
    """Make the change and fail to record it: neither changes anything. Return whether there was something to record."""
    host = await host_of(story)
    tasks, before, events = host.specs(story.changed), host.state(), len(host.events)

    change = host.planner.declare(tasks, host.clock.now())
    said = [snapshot(change.batch, list(change.starts), list(change.stops)) for _ in range(2)]

    assert said[0] == said[1]
    assert host.state() == before
    if change.batch:
        with pytest.raises(LedgerWriteError):
            await host.fail_to_declare(tasks)
        assert host.state() == before
        assert len(host.events) == events
    await host.engine.crash()
    return bool(change.batch)


async def changed(story: Story, failures: int) -> list[object]:
    """Return what is to be seen of a host whose change fails so often and then does not, then and hours later."""
    host = await host_of(story)
    tasks = host.specs(story.changed)
    for _ in range(failures):
        with pytest.raises(LedgerWriteError):
            await host.fail_to_declare(tasks)
    seen = [snapshot(await host.declare(tasks)), host.state()]
    if story.is_restarted:
        host.engine.arm()
    await host.clock.advance(2 * HOUR)
    seen += [host.state(), host.seen()]
    await host.engine.crash()
    return seen


@given(STORIES)
def test_a_list_that_is_not_recorded_changes_nothing(story: Story) -> None:
    asyncio.run(failed(story))


@settings(max_examples=15)
@given(STORIES)
def test_a_list_that_is_recorded_in_the_end_does_what_it_would_have_done_at_once(story: Story) -> None:
    assume(asyncio.run(failed(story)))  # else there is nothing that could fail

    at_once = asyncio.run(changed(story, 0))

    assert asyncio.run(changed(story, 2)) == at_once
