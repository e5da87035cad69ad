"""The traces of docs/theory.md: two are recorded from a real scheduler on a virtual clock, one has a mistake.

`python -m tests.theory.example_traces` writes them into examples/traces.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kron import Scheduler
from kron.hosts.library.scheduler import observe
from kron.testing import MemoryTaskLedger, VirtualClock, crash
from kron.theory.trace_format import TraceEvent, TraceHeader, write_event, write_header
from kron.trace.recorder import TraceRecorder

FOLDER = Path(__file__).parents[2] / "examples" / "traces"
_BEFORE_NINE = datetime(2026, 3, 2, 8, 59, 30, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)


class _Story:
    """A report at nine, recorded; `lasts` says how long each run takes, and `fails` which of them raise."""

    def __init__(self, *, lasts: timedelta, fails: tuple[int, ...] = ()) -> None:
        self.clock, self._ledger = VirtualClock(_BEFORE_NINE), MemoryTaskLedger()
        self._lasts, self._fails, self._runs = lasts, fails, 0
        self._positions: list[TraceEvent] = []

    async def begin(self) -> Scheduler:
        """Begin a life of the scheduler."""
        self._recorder = TraceRecorder(self.clock.now, self._positions.append)
        scheduler = Scheduler(ledger=self._ledger, clock=self.clock, timezone="UTC", sink=lambda _: None)
        observe(scheduler, self._recorder)
        await scheduler.initialize([("report", "0 9 * * *", self._report, _MINUTE)])
        return scheduler

    async def end(self, scheduler: Scheduler) -> None:
        """End it as the death of its process would."""
        await crash(scheduler)
        self._recorder.record_crash()

    async def _report(self) -> None:
        self._runs += 1
        await self.clock.sleep(self._lasts)
        if self._runs in self._fails:
            raise ConnectionError("no network")

    def text(self) -> str:
        """Return the trace."""
        return "\n".join([write_header(TraceHeader("declarative")), *map(write_event, self._positions)]) + "\n"


async def _retried() -> str:
    story = _Story(lasts=timedelta(seconds=1), fails=(1,))
    scheduler = await story.begin()
    await story.clock.advance(5 * _MINUTE)
    await scheduler.stop()
    return story.text()


async def _cut_off() -> str:
    story = _Story(lasts=2 * _MINUTE)
    scheduler = await story.begin()
    await story.clock.advance(_MINUTE)
    await story.end(scheduler)
    await story.clock.advance(10 * _MINUTE)
    scheduler = await story.begin()
    await story.clock.advance(3 * _MINUTE)
    await scheduler.stop()
    return story.text()


async def _too_early() -> str:
    """Return the first trace with a retry that comes after half of its delay."""
    before, start, after = (await _retried()).rpartition('"event": "RunStart"')
    head, time, number = before.rpartition('{"t": ')
    return f"{head}{time}{int(number.rstrip(', ')) - 30_000}, {start}{after}"


STORIES: dict[str, Callable[[], Coroutine[Any, Any, str]]] = {
    "retried": _retried,
    "cut-off": _cut_off,
    "too-early": _too_early,
}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, tell in STORIES.items():
        (FOLDER / f"{name}.jsonl").write_text(asyncio.run(tell()), "utf-8")
