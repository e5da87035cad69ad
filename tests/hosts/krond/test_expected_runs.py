"""What the numbers of krond say of runs that are expected, and when they say that one is late."""

from collections.abc import Callable, Sequence

from kron.engine.ledger import JobBatch
from kron.engine.ports import Refusal
from kron.hosts.krond.page import job_gauges
from tests.engine.jobs.world import HOUR, MINUTE, NOON, SECOND, Ledger, RestartableHost, lived, work


class Looking(Ledger):
    """Looks at the host while it records that something begins."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []
        self.look: Callable[[], float]

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        self.seen += [self.look() for _ in batch.begun]
        return await super().append(batch)


def late(world: RestartableHost) -> dict[str, float]:
    """Return by how many seconds a job is late, of those that are."""
    _, _, chosen, now, *_ = job_gauges(world.jobs, world.clock.now())
    return {identity: now - at for identity, at in chosen.items() if at < now}


def test_a_run_that_waits_for_room_is_late_until_it_begins() -> None:
    seen = []

    async def story(world: RestartableHost) -> None:
        world.runner.lasts = 10 * MINUTE
        await world.begin(work(), work("0 * * * *", "b"))
        seen.append(late(world))
        await world.clock.advance(6 * MINUTE)
        seen.append(late(world))
        await world.clock.advance(6 * MINUTE)
        seen.append(late(world))

    lived(story, max_active=1)
    assert seen == [{}, {"b": 300.0}, {}]


def test_a_run_that_waits_for_the_one_it_replaces_is_late() -> None:
    seen = []

    async def story(world: RestartableHost) -> None:
        world.runner.lasts, world.runner.heeds = 2 * HOUR, False
        await world.begin(work(concurrency="replace"))
        await world.clock.advance(HOUR + MINUTE + 30 * SECOND)
        seen.append(late(world))

    lived(story)
    assert seen == [{"a": 30.0}]


def test_a_run_that_cannot_be_recorded_is_late() -> None:
    seen = []

    async def story(world: RestartableHost) -> None:
        await world.begin(work())
        world.ledger.failures = 100
        await world.clock.advance(3 * MINUTE)
        seen.append(late(world))
        world.ledger.failures = 0
        await world.clock.advance(2 * MINUTE)
        seen.append(late(world))

    lived(story)
    assert seen == [{"a": 120.0}, {}]


def test_while_krond_drains_what_comes_is_late() -> None:
    seen = []

    async def story(world: RestartableHost) -> None:
        world.runner.lasts = None
        await world.begin(work())
        await world.clock.advance(MINUTE)
        world.engine.pause_starts()
        await world.clock.advance(HOUR + MINUTE)
        seen.append(late(world))

    lived(story)
    assert seen == [{"a": 60.0}]


def test_a_run_has_not_begun_while_it_is_being_recorded() -> None:
    ledger = Looking()

    async def story(world: RestartableHost) -> None:
        ledger.look = lambda: job_gauges(world.jobs, world.clock.now()).chosen["a"]
        await world.begin(work())
        await world.clock.advance(MINUTE)

    lived(story, store=ledger)
    assert ledger.seen == [NOON.timestamp()]


def test_nothing_is_expected_of_a_job_that_is_held_and_nothing_late_of_one_that_runs() -> None:
    async def story(world: RestartableHost) -> None:
        world.runner.lasts = None
        await world.begin(work(), work("0 * * * *", "b"))
        await world.suspend("b")
        await world.clock.advance(10 * MINUTE)
        assert job_gauges(world.jobs, world.clock.now()).chosen == {"a": (NOON + HOUR).timestamp()}
        world.runner.end(next(iter(world.runner.running)))
        assert job_gauges(world.jobs, world.clock.now()).chosen == {"a": (NOON + HOUR).timestamp()}

    lived(story)
