"""The metrics of expected runs, and when they report a late one."""

from collections.abc import Callable, Sequence

from kron.engine.ledger import JobBatch
from kron.engine.ports import Refusal
from kron.hosts.krond.page import job_gauges
from tests.engine.jobs.restartable_host import HOUR, MINUTE, NOON, SECOND, Ledger, RestartableHost, work


class ObservingLedger(Ledger):
    """Looks at the host while it records that something begins."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []
        self.look: Callable[[], float]

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        self.seen += [self.look() for _ in batch.begun]
        return await super().append(batch)


def late(host: RestartableHost) -> dict[str, float]:
    """Return by how many seconds a job is late, of those that are."""
    _, _, chosen, now, *_ = job_gauges(host.jobs, host.clock.now())
    return {identity: now - at for identity, at in chosen.items() if at < now}


async def test_a_run_that_waits_for_room_is_late_until_it_begins() -> None:
    seen = []

    host = RestartableHost(max_active=1)
    host.runner.lasts = 10 * MINUTE
    await host.begin(work(), work("0 * * * *", "b"))
    seen.append(late(host))
    await host.clock.advance(6 * MINUTE)
    seen.append(late(host))
    await host.clock.advance(6 * MINUTE)
    seen.append(late(host))
    await host.engine.crash()
    assert seen == [{}, {"b": 300.0}, {}]


async def test_a_run_that_waits_for_the_one_it_replaces_is_late() -> None:
    seen = []

    host = RestartableHost()
    host.runner.lasts, host.runner.obeys_sigterm = 2 * HOUR, False
    await host.begin(work(concurrency="replace"))
    await host.clock.advance(HOUR + MINUTE + 30 * SECOND)
    seen.append(late(host))
    await host.engine.crash()
    assert seen == [{"a": 30.0}]


async def test_a_run_that_cannot_be_recorded_is_late() -> None:
    seen = []

    host = RestartableHost()
    await host.begin(work())
    host.ledger.failures = 100
    await host.clock.advance(3 * MINUTE)
    seen.append(late(host))
    host.ledger.failures = 0
    await host.clock.advance(2 * MINUTE)
    seen.append(late(host))
    await host.engine.crash()
    assert seen == [{"a": 120.0}, {}]


async def test_while_krond_drains_what_comes_is_late() -> None:
    seen = []

    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work())
    await host.clock.advance(MINUTE)
    host.engine.pause_starts()
    await host.clock.advance(HOUR + MINUTE)
    seen.append(late(host))
    await host.engine.crash()
    assert seen == [{"a": 60.0}]


async def test_a_run_has_not_begun_while_it_is_being_recorded() -> None:
    ledger = ObservingLedger()

    host = RestartableHost(store=ledger)
    ledger.look = lambda: job_gauges(host.jobs, host.clock.now()).chosen["a"]
    await host.begin(work())
    await host.clock.advance(MINUTE)
    await host.engine.crash()
    assert ledger.seen == [NOON.timestamp()]


async def test_nothing_is_expected_of_a_job_that_is_held_and_nothing_late_of_one_that_runs() -> None:
    host = RestartableHost()
    host.runner.lasts = None
    await host.begin(work(), work("0 * * * *", "b"))
    await host.suspend("b")
    await host.clock.advance(10 * MINUTE)
    assert job_gauges(host.jobs, host.clock.now()).chosen == {"a": (NOON + HOUR).timestamp()}
    host.runner.end(next(iter(host.runner.running)))
    assert job_gauges(host.jobs, host.clock.now()).chosen == {"a": (NOON + HOUR).timestamp()}
    await host.engine.crash()
