"""The surroundings of a simulated scheduler: callbacks that misbehave, and a ledger that fails and kills."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from random import Random

from kron.adapters.memory_ledger import MemoryTaskLedger
from kron.adapters.passing_ledger import FaultyLedger
from kron.adapters.virtual_clock import VirtualClock
from kron.engine.ports import Refusal, TaskBatch
from kron.simulator.scenario import CallbackBehaviour, SimulatedJob

_HANG = timedelta(days=3)
_SHORT = timedelta(seconds=1)
_TURNS = 0.25  # of the appends take a turn of the event loop


class CallbackError(Exception):
    """What a failing callback raises."""


class CrashingLedger(FaultyLedger):
    """A ledger in whose appends the process may die, before or after they are durable, and whose disk may fail.

    Some appends take a turn of the event loop, others none, as drawn: what happens meanwhile is part of the story.
    """

    def __init__(self, chance: Random) -> None:
        self._memory = MemoryTaskLedger()
        super().__init__(self._memory)
        self._chance = chance
        self.is_dead = False
        self._appends_left: int | None = None
        self._is_durable_first = False

    def crash_on_append(self, appends: int, *, is_durable_first: bool) -> None:
        """Let the process die in one of the next appends."""
        self._appends_left, self._is_durable_first = appends, is_durable_first

    def restart(self) -> None:
        """Be what the next process finds."""
        self.is_dead, self._appends_left = False, None

    async def append(self, batch: TaskBatch) -> Sequence[Refusal]:
        """Remember the batch, unless the disk fails or the process dies of it."""
        if self._chance.random() < _TURNS:
            await asyncio.sleep(0)  # noqa: TID251  # no time passes, others get a turn
        if self._appends_left is not None:
            self._appends_left -= 1
            if self._appends_left <= 0:
                self._die(batch)
        self.raise_next_failure()
        return self._memory.append_now(batch)

    def _die(self, batch: TaskBatch) -> None:
        if self._is_durable_first:
            self._memory.append_now(batch)
        self.is_dead = True
        raise asyncio.CancelledError


class SimulatedCallbacks:
    """Makes a callback for each job; what each run does is drawn when it begins."""

    def __init__(self, clock: VirtualClock, chance: Random) -> None:
        self._clock, self._chance = clock, chance
        self.runs = self.failures = 0

    def of(self, job: SimulatedJob) -> Callable[[], Awaitable[None]]:
        """Return the callback of a job."""
        return partial(self._live, job.behaviour)

    async def _live(self, behaviour: CallbackBehaviour) -> None:
        self.runs += 1
        draw = self._chance.random
        if draw() < behaviour.hanging:
            await self._clock.sleep(_HANG)
        elif draw() < behaviour.slow:
            await self._clock.sleep(_SHORT + draw() * behaviour.longest)
        if draw() < behaviour.failing:
            self.failures += 1
            raise CallbackError("drawn")
