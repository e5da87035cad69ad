"""Delays of a host: a freeze in the middle of a step, and a slow append."""

from collections.abc import Sequence

from kron.engine.ledger import JobBatch
from kron.engine.ports import Refusal, RunObserver
from kron.engine.runs import JobRun
from kron.instant import Instant
from tests.engine.jobs.restartable_host import MINUTE, SECOND, Ledger, RestartableHost


async def stand_still(host: RestartableHost, until: Instant) -> None:
    """Freeze the host until an instant, and let it take up what is due."""
    host.clock.freeze(until - host.clock.now())
    await host.clock.advance(SECOND * 0)


def seconds_frozen(host: RestartableHost) -> list[object]:
    """Return how long the host says it was frozen, each time."""
    return [event.fields["seconds"] for event in host.events if event.name == "LoopFrozen"]


class AtBegin(RunObserver[JobRun]):
    """Does something, once, when a run begins: in the middle of a step."""

    def __init__(self, host: RestartableHost, identity: str) -> None:
        self._host, self._identity, self._is_done = host, identity, False
        host.observers.append(self)

    def on_started(self, runs: Sequence[JobRun]) -> None:
        if not self._is_done and any(run.attempt.identity == self._identity for run in runs):
            self._is_done = True
            self._host.clock.freeze(5 * MINUTE + 10 * SECOND)


class SlowLedger(Ledger):
    """Takes long for one append, or is stopped in it together with its host."""

    def __init__(self, host: RestartableHost, *, is_stopped: bool) -> None:
        super().__init__()
        self._clock, self._is_stopped, self.is_slow = host.clock, is_stopped, False

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        if self.is_slow:
            self.is_slow = False
            pass_by = self._clock.freeze if self._is_stopped else self._clock.delay
            pass_by(5 * MINUTE + 10 * SECOND)
        return await super().append(batch)


class JumpingLedger(Ledger):
    """The clock is set forward during one append."""

    def __init__(self, host: RestartableHost) -> None:
        super().__init__()
        self._clock, self.jumps = host.clock, False

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        if self.jumps:
            self.jumps = False
            self._clock.jump(5 * MINUTE + 10 * SECOND)
        return await super().append(batch)
