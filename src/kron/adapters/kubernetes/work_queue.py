"""Work queue of writes: priorities, one item a key, delayed retries, a circuit breaker; namespaces take turns."""

import asyncio
import math
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from kron.adapters.kubernetes.responses import LEADER_RECHECK, sleep
from kron.engine.clock_watch import WakeUp
from kron.engine.ports import Clock
from kron.instant import SECOND

_Item = TypeVar("_Item")


class FairQueue(Generic[_Item]):
    """A tenant with five thousand items waits for its own items, and delays another tenant by one of them."""

    def __init__(self) -> None:
        self._queues: OrderedDict[str, OrderedDict[Hashable, _Item]] = OrderedDict()  # the next namespace first
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def get(self, namespace: str, key: Hashable) -> _Item | None:
        """Return an item that waits, None if there is none of this key."""
        queue = self._queues.get(namespace)
        return None if queue is None else queue.get(key)

    def put(self, namespace: str, key: Hashable, item: _Item) -> None:
        """Let an item wait behind those of its namespace; one of the same key is replaced and keeps its place."""
        queue = self._queues.setdefault(namespace, OrderedDict())
        self._size += key not in queue
        queue[key] = item

    def drop(self, namespace: str, key: Hashable) -> bool:
        """Forget an item; return whether there was one."""
        queue = self._queues.get(namespace)
        if queue is None or key not in queue:
            return False
        del queue[key]
        self._size -= 1
        if not queue:
            del self._queues[namespace]
        return True

    def next(self, is_allowed: Callable[[str], bool] = lambda _namespace: True) -> str | None:
        """Return the namespace whose turn it is among those that are allowed, None if nothing of them waits."""
        return next(filter(is_allowed, self._queues), None)

    def first(self, namespace: str) -> _Item:
        """Return the item of a namespace that has waited longest."""
        return next(iter(self._queues[namespace].values()))

    def take(self, namespace: str) -> tuple[Hashable, _Item]:
        """Remove and return the item of a namespace that has waited longest; its next one comes after the others'."""
        queue = self._queues.pop(namespace)
        found = queue.popitem(last=False)
        self._size -= 1
        if queue:
            self._queues[namespace] = queue
        return found

    def rotate(self, namespace: str) -> None:
        """Move a namespace behind the others; its items keep their order."""
        self._queues.move_to_end(namespace)

    def shorten(self) -> None:
        """Forget the oldest item of the namespace with the most."""
        longest = max(self._queues, key=lambda namespace: len(self._queues[namespace]))
        self.drop(longest, next(iter(self._queues[longest])))

    def clear(self) -> None:
        """Forget everything."""
        self._queues.clear()
        self._size = 0


WorkItem = Callable[[], Awaitable[float | None]]
"""One write. It returns after how many seconds it is to be tried again, None: it is done."""

_MOST_EVENTS = 20_000  # events that may wait; of more, the oldest are dropped
_AFTER_A_BUG = 5.0  # seconds
_SHORTEST_HOLD, _LONGEST_HOLD = 0.125, 5.0  # seconds between two rounds of tries while the server does not answer


class Priority(IntEnum):
    """What goes first."""

    START = 0  # Jobs to create, and to delete for others
    STATUS = 1
    CLEANUP = 2  # Jobs beyond the limits of a history
    EVENT = 3


_MAX_WAIT = {Priority.STATUS: 2.0, Priority.CLEANUP: 5.0}
"""Seconds after which one goes first. Both have ten: a status after its Job, and what is created in these two seconds,
four times as fast as statuses are written, waits for eight; an old Job after the end of a newer one."""


class _Waiting(NamedTuple):
    item: WorkItem
    since: float  # by the monotonic clock; of one that is to come back: when it is


_Place: TypeAlias = tuple[Priority, str, Hashable]  # with the namespace
_RESERVED = 8  # one worker of so many starts Jobs and does nothing else, and is not for a namespace that has the rest


class WorkQueue:
    """Runs all writes of a replica, each only if the replica may write at that moment.

    At most so many run at a time, and never two with the same key and priority: one that comes again meanwhile comes
    after. Within a priority the namespaces take turns. Some workers are reserved: neither statuses nor one namespace
    has all.
    """

    def __init__(
        self,
        workers: int,
        clock: Clock,
        *,
        may_write: Callable[[], bool],
        on_bug: Callable[[Hashable, Exception], object],
    ) -> None:
        """`on_bug` gets the key of an item that raised, and the error."""
        self._workers, self._clock, self._on_bug = workers, clock, on_bug
        self.may_write = may_write  # an item with several writes asks before each of them
        self._most = workers - workers // _RESERVED  # of one namespace, and of all that start nothing
        self._queues: dict[Priority, FairQueue[_Waiting]] = {priority: FairQueue() for priority in Priority}
        self._under_way: dict[_Place, WorkItem | None] = {}  # with what came again meanwhile
        self._busy: Counter[str] = Counter()  # workers, by namespace
        self._starting = 0  # workers that start something
        self._later: dict[_Place, _Waiting] = {}
        self._order: list[tuple[float, int, _Place]] = []  # a heap of when they come back; some have moved meanwhile
        self._numbers = count()
        self._wake = WakeUp()
        self._tasks: set[asyncio.Task[None]] = set()
        self._working = 0  # of the tasks; others have nothing to do, and are about to end
        self._alarm: asyncio.Task[None] | None = None
        self._is_closed = False
        self._blocked_at = -math.inf  # by the monotonic clock: when a request was last not answered, or not allowed
        self._unanswered = 0  # requests in a row
        self._held_until = 0.0  # by the monotonic clock

    def __len__(self) -> int:
        """How many wait or are under way."""
        return sum(map(len, self._queues.values())) + len(self._under_way) + len(self._later)

    def add(self, priority: Priority, namespace: str, key: Hashable, item: WorkItem) -> None:
        """Let an item wait for its turn; one with the same key that waits is replaced."""
        if self._is_closed:
            return
        place = priority, namespace, key
        self._later.pop(place, None)
        if place in self._under_way:
            self._under_way[place] = item
            return
        queue = self._queues[priority]
        known = queue.get(namespace, key)
        queue.put(namespace, key, _Waiting(item, self._clock.monotonic() if known is None else known.since))
        if priority is Priority.EVENT and len(queue) > _MOST_EVENTS:
            queue.shorten()
        if self._has_room(namespace) and self._may_begin(priority):
            self._spawn_worker()

    def _has_room(self, namespace: str) -> bool:
        return self._busy[namespace] < self._most

    def _may_begin(self, priority: Priority) -> bool:
        return priority is Priority.START or len(self._under_way) - self._starting < self._most

    def _spawn_worker(self) -> None:
        if self._working < self._workers:
            self._working += 1
            task = asyncio.get_running_loop().create_task(self._work())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def on_answer(self, code: int) -> None:
        """Take note whether the server answers: while it does not, a few try again, however many wait."""
        if not code:
            self._blocked_at = self._clock.monotonic()
        self._unanswered = 0 if code else self._unanswered + 1
        rounds = self._unanswered // self._workers
        if not code and rounds and not self._is_paused():
            self._hold(min(_LONGEST_HOLD, _SHORTEST_HOLD * 2.0**rounds))

    def was_blocked_since(self, monotonic: float) -> bool:
        """Whether since then something else than the items before it held up an item: the server, or the lease."""
        return self._blocked_at >= monotonic

    def _hold(self, seconds: float) -> None:
        self._held_until = self._clock.monotonic() + seconds
        self._wait_anew()

    def _is_paused(self) -> bool:
        return self._clock.monotonic() < self._held_until

    def cancel(self, priority: Priority, namespace: str, key: Hashable) -> bool:
        """Forget an item that has not begun; return whether there was one."""
        was_later = self._later.pop((priority, namespace, key), None) is not None
        return self._queues[priority].drop(namespace, key) or was_later

    async def close(self, seconds: float) -> None:
        """Begin nothing more, and give what is under way some time to end."""
        self._is_closed = True
        self._later.clear()
        self._order.clear()
        for queue in self._queues.values():
            queue.clear()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = {*self._tasks, *([] if self._alarm is None else [self._alarm])}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _work(self) -> None:
        while (found := self._pick()) is not None:
            place, item = found
            self._begin(place)
            try:
                again = await item()
            except Exception as error:
                self._on_bug(place[2], error)
                again = _AFTER_A_BUG
            newer = self._end(place)
            if newer is not None:
                self.add(*place, newer)
            elif again is not None and not self._is_closed:
                self._put_off(place, _Waiting(item, self._clock.monotonic() + again))
            await sleep(0.0)  # an item that only looked has not waited: others get a turn
        self._working -= 1

    def _begin(self, place: _Place) -> None:
        priority, namespace, _ = place
        self._under_way[place] = None
        self._busy[namespace] += 1
        self._starting += priority is Priority.START

    def _end(self, place: _Place) -> WorkItem | None:
        """Take note that an item has ended; return what came again meanwhile."""
        priority, namespace, _ = place
        self._starting -= priority is Priority.START
        self._busy[namespace] -= 1
        if not self._busy[namespace]:
            del self._busy[namespace]
        return self._under_way.pop(place)

    def _pick(self) -> tuple[_Place, WorkItem] | None:
        """Return what runs next, None if nothing may run now: no turn of the loop is between this and its request."""
        turn = None if self._is_paused() else self._next_turn()
        if turn is None:
            return None
        if not self.may_write():  # a lease that is renewed late may be ours still; if another leads, the queue ends
            self._blocked_at = self._clock.monotonic()
            self._hold(LEADER_RECHECK)
            return None
        priority, namespace = turn
        key, waiting = self._queues[priority].take(namespace)
        return (priority, namespace, key), waiting.item

    def _next_turn(self) -> tuple[Priority, str] | None:
        now = self._clock.monotonic()
        turns = {
            priority: self._queues[priority].next(self._has_room) for priority in Priority if self._may_begin(priority)
        }
        for priority, seconds in _MAX_WAIT.items():
            namespace = turns.get(priority)
            if namespace is not None and now - self._queues[priority].first(namespace).since > seconds:
                return priority, namespace
        return next(((priority, each) for priority, each in turns.items() if each is not None), None)

    # --- what is to be tried again ------------------------------------------------------------------------------------

    def _put_off(self, place: _Place, waiting: _Waiting) -> None:
        self._later[place] = waiting
        heappush(self._order, (waiting.since, next(self._numbers), place))
        if self._order[0][0] == waiting.since:  # earlier than whatever is waited for
            self._wait_anew()

    def _wait_anew(self) -> None:
        self._wake.set()
        if self._alarm is None or self._alarm.done():
            self._alarm = asyncio.get_running_loop().create_task(self._wait())

    async def _wait(self) -> None:
        """Let items come back when it is time, as long as there are any."""
        clock = self._clock
        while self._order or self._held_until:
            self._wake.clear()
            monotonic = clock.monotonic()
            if self._held_until and not self._is_paused():
                self._held_until = 0.0
                for _ in range(self._workers):
                    self._spawn_worker()
            while self._order and self._order[0][0] <= monotonic:
                since, _, place = heappop(self._order)
                waiting = self._later.get(place)
                if waiting is not None and waiting.since == since:
                    self.add(*place, waiting.item)
            times = [self._order[0][0]] if self._order else []
            times += [self._held_until] if self._held_until else []
            if times:
                await clock.wait_until(clock.now() + SECOND * (min(times) - clock.monotonic()), self._wake)
