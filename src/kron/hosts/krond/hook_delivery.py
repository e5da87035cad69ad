"""DeliveryQueue: notifications in order, a few at a time, each tried three times, by a command or an HTTP request."""

import asyncio
import secrets
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from kron.adapters.process.host_runner import HostRunner
from kron.adapters.process.procfs import HOOK_ID
from kron.adapters.process.spawner_client import SpawnRequest
from kron.adapters.webhook_client import WebhookClient, WebhookRequest
from kron.engine.emitter import Emitter
from kron.engine.ledger import HistoryReader
from kron.errors.base import describe_exception
from kron.hosts.krond.hooks import HookTriggers, Notification
from kron.jobfile.host_job import HookCommand, HostJob, Webhook

if TYPE_CHECKING:
    from kron.adapters.prometheus import JobMetrics

_PAUSES = (1.0, 5.0)  # seconds between the three tries
_TOGETHER = 16  # notifications under way
_SHARE = 8  # of them to one host or program: a dead one holds up no other
_MOST = 10_000  # notifications that wait; further ones are given up at once
_PARTING = 15.0  # seconds that notifications have when the host ends

Key = tuple[str, object]


class DeliveryQueue:
    """Calls `deliver`, which returns why a notification failed, if it did; `failed` takes those that are given up."""

    def __init__(
        self,
        deliver: Callable[[Notification], Awaitable[str]],
        failed: Callable[[Notification, str, int], object],
        *,
        pauses: Sequence[float] = _PAUSES,
    ) -> None:
        """`pauses`: seconds between the tries, of which there is one more."""
        self._pauses = pauses
        self._deliver, self._failed = deliver, failed
        self._queues: dict[Key, deque[Notification]] = {}  # notifications of one key are delivered in order
        self._ready: dict[str, deque[Key]] = {}  # by target: whose turn it may be
        self._targets: deque[str] = deque()  # the keys of `_ready`, in turn
        self._busy: Counter[str] = Counter()
        self._waiting = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending = asyncio.Event()
        self._quiet = asyncio.Event()  # nothing is under way, or it is not waited for
        self._quiet.set()

    def enqueue(self, notification: Notification) -> None:
        """Deliver a notification when it is its turn, or give it up at once."""
        if self._waiting >= _MOST:
            self._failed(notification, "too many others wait", 0)
            return
        self._waiting += 1
        if notification.order_key in self._queues:
            self._queues[notification.order_key].append(notification)
        else:
            self._queues[notification.order_key] = deque([notification])
            self._line_up(notification)
            self._go_on()

    async def close(self) -> None:
        """Wait a little for what is under way, and give up the rest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_PARTING):
                await self._quiet.wait()
        self.stop_waiting()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for queue in self._queues.values():
            for notification in queue:
                self._failed(notification, "krond ended before", 0)

    def stop_waiting(self) -> None:
        """Let `close` return without waiting."""
        self._ending.set()
        self._quiet.set()

    def _line_up(self, notification: Notification) -> None:
        if notification.destination not in self._ready:
            self._ready[notification.destination] = deque()
            self._targets.append(notification.destination)
        self._ready[notification.destination].append(notification.order_key)

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
        """Deliver the first notification of a queue; the next one lines up again."""
        queue = self._queues[key]
        await self._try(queue[0])
        queue.popleft()
        self._waiting -= 1
        self._busy -= Counter({target: 1})  # drops a target that has none left
        if queue:
            self._line_up(queue[0])
        else:
            del self._queues[key]

    async def _try(self, notification: Notification) -> None:
        for tries, pause in enumerate((*self._pauses, None), start=1):
            try:
                error = await self._deliver(notification)
            except Exception as raised:  # whatever it is, those behind it get their turn
                error = describe_exception(raised)
            if not error:
                return
            if pause is None or await self._is_over(pause):
                self._failed(notification, error, tries)
                return

    async def _is_over(self, seconds: float) -> bool:
        """Wait before the next try; whether there is to be none, because the host ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ending.wait()
        return self._ending.is_set()


LIMIT = 10.0  # seconds for each try


class HookDispatcher:
    """Calls the hooks of all jobs: `alarms` observes their runs; a hook that fails is an event, and is counted."""

    def __init__(self, runner: HostRunner, emitter: Emitter, metrics: "JobMetrics | None") -> None:
        self._runner, self._emitter, self._metrics = runner, emitter, metrics
        self._webhooks = WebhookClient(LIMIT)
        self._queue = DeliveryQueue(self._deliver, self._failed)
        self._life, self._numbers = secrets.token_hex(4), count(1)
        self.alarms = HookTriggers(self._queue.enqueue)
        self.hurry = self._queue.stop_waiting

    async def close(self) -> None:
        """Wait a little for what is under way, and give up the rest."""
        await self._queue.close()
        self._webhooks.close()

    async def learn(self, jobs: Iterable[HostJob], history: HistoryReader) -> None:
        """Load which jobs are failing, once a job has a hook for its recovery."""
        if not self.alarms.has_learnt and any(job.hooks.on_recovery for job in jobs):
            self.alarms.load_failing(await asyncio.to_thread(history.failing_jobs))

    async def recall(self, jobs: Mapping[str, HostJob], history: HistoryReader) -> None:
        """Load which runs are to be tried again: a hook may have to report that this was given up."""
        if any(job.hooks.on_failure or job.hooks.ping for job in jobs.values()):
            self.alarms.load_pending_retries(jobs, await asyncio.to_thread(history.pending_retries))

    async def _deliver(self, notification: Notification) -> str:
        match notification.hook:
            case HookCommand(argv):
                return await self._run(notification, argv)
            case Webhook(url):
                headers = (("Content-Type", "application/json"), ("X-Kron-Event", notification.event))
                return await self._webhooks.call(WebhookRequest("POST", url, notification.payload().encode(), headers))
            case ping:
                return await self._webhooks.call(WebhookRequest("GET", ping.address()))

    async def _run(self, notification: Notification, argv: tuple[str, ...]) -> str:
        name = f"hook-{self._life}-{next(self._numbers)}"
        start = SpawnRequest(name, notification.command(argv), notification.variables(), HOOK_ID)
        ended = await self._runner.run_command(start, LIMIT)
        if ended is None:
            return f"it had not ended after {LIMIT:g} s"
        if ended.exit_code == 0:
            return ""
        return ended.not_started or (f"it ended by {ended.signal}" if ended.signal else f"exit code {ended.exit_code}")

    def _failed(self, notification: Notification, error: str, tries: int) -> None:
        if self._metrics is not None:
            self._metrics.on_hook_failure()
        job = notification.job
        self._emitter.tell(
            "HookFailed",
            identity=job.identity,
            name=job.name,
            hook=notification.event,
            target=notification.destination,
            error=error,
            tries=tries,
        )
