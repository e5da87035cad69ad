"""Tests of WorkQueue: writes wait for their turn."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from kron.adapters.kubernetes.work_queue import Priority, WorkItem, WorkQueue
from kron.adapters.virtual_clock import VirtualClock
from tests.hosts.operator.replica import NOON


class QueueHarness:
    """A work queue, and what was done of it."""

    def __init__(self, workers: int = 1) -> None:
        self.clock = VirtualClock(NOON)
        self.bugs: list[Exception] = []
        self.leads = True
        self.queue = WorkQueue(
            workers, self.clock, may_write=lambda: self.leads, on_bug=lambda _key, error: self.bugs.append(error)
        )
        self.done: list[str] = []

    def write(self, name: str, *again: float, during: Callable[[], object] = lambda: None) -> WorkItem:
        left = list(again)

        async def write() -> float | None:
            await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
            during()
            self.done.append(name)
            return left.pop(0) if left else None

        return write

    async def settle(self, seconds: float = 0.0) -> None:
        await self.clock.advance(timedelta(seconds=seconds))


async def test_starts_go_before_statuses_and_statuses_before_events() -> None:
    office = QueueHarness()
    for priority in (Priority.EVENT, Priority.CLEANUP, Priority.STATUS, Priority.START):
        office.queue.add(priority, "ns", "a", office.write(priority.name))

    await office.settle()

    assert office.done == ["START", "STATUS", "CLEANUP", "EVENT"]


@pytest.mark.parametrize(("priority", "seconds"), [(Priority.STATUS, 2), (Priority.CLEANUP, 5)])
def test_a_status_or_a_deletion_that_has_waited_for_long_goes_first(priority: Priority, seconds: int) -> None:
    async def story(took: timedelta) -> list[str]:
        office = QueueHarness()

        def take_time() -> None:
            office.clock.freeze(took)

        office.queue.add(Priority.START, "ns", 1, office.write("slow start", during=take_time))
        office.queue.add(Priority.START, "ns", 2, office.write("start"))
        office.queue.add(priority, "ns", "a", office.write("other"))
        await office.settle()
        return office.done

    long = timedelta(seconds=seconds)
    moment = timedelta(milliseconds=1)
    assert asyncio.run(story(long)) == ["slow start", "start", "other"]
    assert asyncio.run(story(long + moment)) == ["slow start", "other", "start"]


async def test_of_two_with_the_same_key_only_the_second_is_done() -> None:
    office = QueueHarness()
    office.queue.add(Priority.STATUS, "ns", "a", office.write("old"))
    office.queue.add(Priority.STATUS, "ns", "a", office.write("new"))

    await office.settle()

    assert office.done == ["new"]


async def test_one_that_comes_again_while_it_is_under_way_comes_after() -> None:
    office = QueueHarness(workers=2)
    again = office.write("again")
    first = office.write("first", during=lambda: office.queue.add(Priority.STATUS, "ns", "a", again))
    office.queue.add(Priority.STATUS, "ns", "a", first)

    await office.settle()

    assert office.done == ["first", "again"]


async def test_one_that_failed_is_tried_again_after_as_many_seconds_as_it_says() -> None:
    office = QueueHarness()
    office.queue.add(Priority.START, "ns", "a", office.write("a", 3.0))
    await office.settle(2.9)
    assert office.done == ["a"]

    await office.settle(0.2)

    assert office.done == ["a", "a"]
    assert len(office.queue) == 0


async def test_one_that_is_to_come_back_and_is_dropped_does_not() -> None:
    office = QueueHarness()
    office.queue.add(Priority.START, "ns", "a", office.write("a", 3.0))
    await office.settle()

    assert office.queue.cancel(Priority.START, "ns", "a")

    await office.settle(10)
    assert office.done == ["a"]


async def test_no_more_are_under_way_at_a_time_than_there_are_workers() -> None:
    office = QueueHarness(workers=3)
    now: list[int] = []
    most: list[int] = []

    async def busy() -> None:
        now.append(1)
        most.append(len(now))
        for _ in range(5):
            await asyncio.sleep(0)  # noqa: TID251
        now.pop()

    for number in range(20):
        office.queue.add(Priority.START, "ns", number, busy)
    await office.settle()

    assert max(most) == 3
    assert len(most) == 20


async def test_one_that_comes_when_the_last_worker_has_just_stopped_is_done() -> None:
    office = QueueHarness()
    gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait() -> None:
        await gate

    async def come_right_after() -> None:
        await gate
        office.queue.add(Priority.START, "ns", "b", office.write("b"))

    office.queue.add(Priority.START, "ns", "a", wait)
    await office.settle()
    coming = asyncio.create_task(come_right_after())
    await office.settle()
    gate.set_result(None)
    await coming

    await office.settle()

    assert office.done == ["b"]


async def test_a_bug_in_one_item_is_reported_and_does_not_end_the_others() -> None:
    office = QueueHarness()

    async def broken() -> None:
        raise RuntimeError("a bug")

    office.queue.add(Priority.START, "ns", 1, broken)
    office.queue.add(Priority.START, "ns", 2, office.write("good"))

    await office.settle()

    assert [str(bug) for bug in office.bugs] == ["a bug"]
    assert office.done == ["good"]
    await office.queue.close(0.0)


async def test_close_finishes_active_items_and_starts_no_other() -> None:
    office = QueueHarness()
    office.queue.add(Priority.START, "ns", 1, office.write("under way"))
    office.queue.add(Priority.START, "ns", 2, office.write("too late"))
    await asyncio.sleep(0)  # noqa: TID251

    await office.queue.close(5.0)

    assert office.done == ["under way"]


async def test_of_too_many_events_the_oldest_are_dropped() -> None:
    office = QueueHarness()
    for number in range(20_001):
        office.queue.add(Priority.EVENT, "ns", number, office.write(str(number)))

    assert len(office.queue) == 20_000
    await office.queue.close(0.0)


async def test_while_the_server_does_not_answer_only_a_few_try_however_many_wait() -> None:
    office = QueueHarness(workers=4)
    tries: list[int] = []

    async def unanswered() -> float:
        tries.append(1)
        office.queue.on_answer(0)
        return 0.25

    for number in range(1000):
        office.queue.add(Priority.STATUS, "ns", number, unanswered)

    await office.settle(60)

    assert len(tries) < 100
    await office.queue.close(0.0)


async def test_when_the_server_answers_again_all_that_waits_is_done() -> None:
    office = QueueHarness(workers=4)
    answers: list[int] = []
    up = [False]

    async def write() -> float | None:
        office.queue.on_answer(200 if up[0] else 0)
        if not up[0]:
            return 5.0
        answers.append(1)
        return None

    for number in range(1000):
        office.queue.add(Priority.STATUS, "ns", number, write)
    await office.settle(60)

    up[0] = True
    await office.settle(10)

    assert len(answers) == 1000


async def test_nothing_is_written_while_the_replica_may_not_write() -> None:
    office = QueueHarness(workers=2)
    office.leads = False
    for priority in (Priority.EVENT, Priority.STATUS, Priority.START):
        office.queue.add(priority, "ns", "a", office.write(priority.name))
    await office.settle(1)
    assert office.done == []

    office.leads = True
    await office.settle(0.25)

    assert office.done == ["START", "STATUS", "EVENT"]
    assert office.queue.was_blocked_since(office.clock.monotonic() - 1)
    assert not office.queue.was_blocked_since(office.clock.monotonic())


async def test_a_queue_without_items_does_not_ask_again_and_again_whether_it_may_write() -> None:
    office = QueueHarness()
    office.queue.add(Priority.START, "ns", "a", office.write("a"))
    await office.settle()
    office.leads = False

    await office.settle(60)

    assert not office.queue.was_blocked_since(0)


async def test_leadership_that_is_lost_during_one_item_stops_the_next() -> None:
    office = QueueHarness()

    def lose() -> None:
        office.leads = False

    office.queue.add(Priority.START, "ns", 1, office.write("a", during=lose))
    office.queue.add(Priority.START, "ns", 2, office.write("b"))
    await office.settle()

    assert office.done == ["a"]
    await office.queue.close(0.0)
