"""Run one life of a scheduler in a process, from its start to a clean stop or to SIGKILL.

The callbacks are real and so is the ledger's file; the trace tells what happened until the last moment.
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from kron import Registration, Scheduler
from kron.adapters.sqlite.task_ledger import SqliteTaskLedger
from kron.engine.clock_watch import WakeUp
from kron.instant import SECOND, ZERO, Instant, parse_instant
from kron.rules.events import Event
from kron.rules.registration import Callback
from kron.testing import VirtualClock
from tests.crash.disk import Fault
from tests.crash.fast_clock import FastClock
from tests.crash.kill_point import KillingLedger, KillPoint, Point
from tests.crash.libc_disk import LibcDisk
from tests.crash.sqlite_disk import SqliteDisk
from tests.crash.trace import Trace, to_file

_LONG = timedelta(minutes=10)  # enough for every run that a stop waits for


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done; times are texts, because an order travels to another process."""

    ledger: str
    trace: str
    contract: str
    start: str
    until: str
    origin: float | None = None  # of a FastClock; None: on virtual time
    point: str | None = None
    count: int = 0


class RecordingTask(NamedTuple):
    """A task of these tests: due in every minute that is a multiple of `every`."""

    name: str
    every: int
    delay: timedelta = 20 * SECOND
    takes: timedelta = ZERO
    fails_for: timedelta = ZERO  # after each due minute

    @property
    def cron(self) -> str:
        """The expression, in a language that has no steps."""
        return f"{','.join(str(minute) for minute in range(0, 60, self.every))} * * * *"

    def latest_due(self, now: Instant) -> Instant:
        """Return the last due instant not after now, by trying minute after minute."""
        at = now.replace(second=0, microsecond=0)
        while at.minute % self.every:
            at -= timedelta(minutes=1)
        return at


RECORDING_TASKS = (
    RecordingTask("steady", 1),
    RecordingTask("flaky", 4, delay=25 * SECOND, fails_for=60 * SECOND),  # three retries, the last succeeds
    RecordingTask("broken", 3, delay=100 * SECOND, fails_for=180 * SECOND),  # its second retry is pre-empted
    RecordingTask("lengthy", 2, takes=150 * SECOND),  # due again while it runs
    RecordingTask("lasting", 3, delay=10 * SECOND, takes=30 * SECOND, fails_for=60 * SECOND),
)


class RecordingTaskError(Exception):
    """What a callback raises here when it fails."""


def registrations(clock: VirtualClock | FastClock, trace: Trace, kill_point: KillPoint) -> list[Registration]:
    """Return the tasks with callbacks that write the trace."""
    return [
        Registration(recorded.name, recorded.cron, _callback(recorded, clock, trace, kill_point), recorded.delay)
        for recorded in RECORDING_TASKS
    ]


def _callback(
    recorded: RecordingTask, clock: VirtualClock | FastClock, trace: Trace, kill_point: KillPoint
) -> Callback:
    async def run() -> None:
        trace.write("begun", task=recorded.name)
        kill_point.reach(Point.CALLBACK_BEGINS)
        if recorded.takes:
            await clock.sleep(recorded.takes)
        now = clock.now()
        fails = now - recorded.latest_due(now) < recorded.fails_for
        trace.write("done", task=recorded.name, fails=fails)
        kill_point.reach(Point.CALLBACK_ENDS)
        if fails:
            raise RecordingTaskError(recorded.name)

    return run


def live(order: Order) -> None:
    """Live."""
    point = None if order.point is None else Point(order.point)
    if point is Point.DISK_STEP:
        SqliteDisk().arm(order.count, Fault.KILL)
    if point is Point.FILE_STEP:
        LibcDisk(Path(order.ledger).parent).arm(order.count, Fault.KILL)
    asyncio.run(_live(order, KillPoint(point, order.count)))


async def _live(order: Order, kill_point: KillPoint) -> None:
    start = parse_instant(order.start)
    clock = VirtualClock(start) if order.origin is None else FastClock(start, order.origin)
    trace = Trace(to_file(order.trace), clock.now)

    def record_event(event: Event) -> None:
        trace.write("event", name=event.name, fields=dict(event.fields))
        if event.name.startswith("Task"):
            kill_point.reach(Point.EVENT_EMITTED)

    ledger = KillingLedger(SqliteTaskLedger(order.ledger), trace, kill_point)
    scheduler = Scheduler(ledger=ledger, contract=order.contract, clock=clock, sink=record_event, timezone="UTC")
    trace.write("born")
    await scheduler.initialize(registrations(clock, trace, kill_point))
    trace.write("ready")
    if isinstance(clock, VirtualClock):
        await clock.advance_to(parse_instant(order.until))
    else:
        await clock.wait_until(parse_instant(order.until), WakeUp())
    trace.write("stopping", settled=True)
    stop = asyncio.ensure_future(scheduler.stop())
    if isinstance(clock, VirtualClock):
        await clock.advance(_LONG)
    await stop
    trace.write("stopped", is_clean=True)
