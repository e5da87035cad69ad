"""Messenger: takes errands at next to no cost, and runs them a few at a time, each tried three times."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from kron.hosts.krond.hooks.errand import Errand
from kron.rules.telling import error_text

_PAUSES = (1.0, 5.0)  # seconds between the three tries
_TOGETHER = 16  # errands under way
_SHARE = 8  # of them to the same host or program: if it is dead, the others still hear what happens
_MOST = 10_000  # errands that wait; whoever comes then is told to nobody
_PARTING = 15.0  # seconds that errands have when the host ends

Key = tuple[str, object]


class Messenger:
    """`deliver` returns why an errand failed, empty if it did not; `failed` is told which was given up, and why."""

    def __init__(
        self,
        deliver: Callable[[Errand], Awaitable[str]],
        failed: Callable[[Errand, str, int], object],
        *,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        """`pauses`: seconds between the tries, of which there is one more."""
        self._pauses = pauses
        self._deliver, self._failed = deliver, failed
        self._queues: dict[Key, deque[Errand]] = {}  # what has the same key is told in its order
        self._ready: dict[str, deque[Key]] = {}  # by target: whose turn it may be
        self._targets: deque[str] = deque()  # the keys of `_ready`, in turn
        self._busy: Counter[str] = Counter()
        self._waiting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = asyncio.Event()
        self._quiet = asyncio.Event()  # nothing is under way, or nobody waits for it
        self._quiet.set()

    def send(self, errand: Errand) -> None:
        """Take an errand."""
        if self._waiting >= _MOST:
            self._failed(errand, "too many others wait", 0)
            return
        self._waiting += 1
        if errand.key in self._queues:
            self._queues[errand.key].append(errand)
        else:
            self._queues[errand.key] = deque([errand])
            self._line_up(errand)
            self._go_on()

    async def close(self) -> None:
        """Let the errands have a moment, and give up the rest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PARTING):
                await self._quiet.wait()
        self.hurry()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for queue in self._queues.values():
            for errand in queue:
                self._failed(errand, "krond ended before", 0)

    def hurry(self) -> None:
        """Wait for nothing any more."""
        self._ending.set()
        self._quiet.set()

    def _line_up(self, errand: Errand) -> None:
        if errand.target not in self._ready:
            self._ready[errand.target] = deque()
            self._targets.append(errand.target)
        self._ready[errand.target].append(errand.key)

    def _go_on(self) -> None:
        skipped = 0
        while len(self._tasks) < _TOGETHER and skipped < len(self._targets) and not self._ending.is_set():
            target = self._targets.popleft()
            if self._busy[target] >= _SHARE:
                self._targets.append(target)
                skipped += 1
                continue
            key = self._ready[target].popleft()
            if self._ready[target]:
                self._targets.append(target)
            else:
                del self._ready[target]
            self._begin(key, target)

    def _begin(self, key: Key, target: str) -> None:
        self._busy[target] += 1
        task = asyncio.get_running_loop().create_task(self._run(key, target))
        self._tasks.add(task)
        self._quiet.clear()
        task.add_done_callback(self._on_done)

    def _on_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._go_on()
        if not self._tasks:
            self._quiet.set()

    async def _run(self, key: Key, target: str) -> None:
        """Run the first errand of a queue; the others have to line up again."""
        queue = self._queues[key]
        await self._try(queue[0])
        queue.popleft()
        self._waiting -= 1
        self._busy -= Counter({target: 1})  # one that has none any more is forgotten
        if queue:
            self._line_up(queue[0])
        else:
            del self._queues[key]

    async def _try(self, errand: Errand) -> None:
        for tries, pause in enumerate((*self._pauses, None), start=1):
            try:
                error = await self._deliver(errand)
            except Exception as raised:  # whatever it is, those behind it have to have their turn
                error = error_text(raised)
            if not error:
                return
            if pause is None or await self._is_over(pause):
                self._failed(errand, error, tries)
                return

    async def _is_over(self, seconds: float) -> bool:
        """Wait before the next try; whether there is to be none, because the host ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ending.wait()
        return self._ending.is_set()
