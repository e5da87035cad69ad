"""A job whose data cannot be judged is set aside: it starts nothing, and all others go on."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from kron.engine.ledger import JobBatch, PendingRetry
from kron.engine.ports import Refusal
from kron.errors import LedgerWriteError
from tests.engine.jobs.world import MINUTE, SECOND, Ledger, RestartableHost, work

FIRST = datetime.min.replace(tzinfo=UTC)
BAD, GOOD = work("* * * * * @win(after,1h)", "bad"), work("* * * * *", "good")
SOUND = work("* * * * *", "sound")


async def begin_with_bad_rows(world: RestartableHost) -> None:
    """Begin again after a row of a job was changed to the beginning of the calendar."""
    await world.begin(BAD, GOOD)
    await world.crash()
    ledger = world.ledger
    ledger.jobs["bad"] = ledger.jobs["bad"]._replace(handled_until=FIRST, declared_at=FIRST)
    await world.begin(BAD, GOOD)


async def test_a_job_whose_record_is_of_the_first_year_is_set_aside_alone() -> None:
    world = RestartableHost()
    await begin_with_bad_rows(world)
    await world.clock.advance(3 * MINUTE)
    await world.engine.crash()

    assert list(world.book.aside) == ["bad"]
    assert [each.split()[1] for each in world.told] == ["good"] * 3


async def test_a_job_that_is_set_aside_runs_again_when_its_definition_changes() -> None:
    world = RestartableHost()
    await begin_with_bad_rows(world)
    await world.clock.advance(SECOND)
    assert list(world.book.aside) == ["bad"]
    await world.declare(work("* * * * *", "bad"), GOOD)
    await world.clock.advance(2 * MINUTE)
    await world.engine.crash()

    assert world.book.aside == {}
    assert "bad" in {each.split()[1] for each in world.told}


async def test_a_job_that_cannot_begin_is_set_aside_alone_and_nothing_of_it_is_recorded() -> None:
    world = RestartableHost()
    await world.begin(SOUND, GOOD)
    await world.clock.advance(MINUTE)
    attempt = next(each for each in world.ledger.runs.values() if each.identity == "sound")
    broken = attempt._replace(attempt=cast("int", "first"))
    world.book.jobs["sound"].retries = (PendingRetry(broken, world.clock.now()),)
    await world.clock.advance(3 * MINUTE)
    assert not world.book.jobs["sound"].active
    await world.engine.crash()

    assert list(world.book.aside) == ["sound"]
    assert sorted(each.identity for each in world.ledger.runs.values()) == ["good"] * 4 + ["sound"]


class Misplaced(Ledger):
    """A ledger whose place is gone for a while."""

    is_gone = False

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        if self.is_gone:
            raise LedgerWriteError(path="ledger.db", reason="it is gone", retry_soon=True)
        return await super().append(batch)


async def test_a_ledger_that_is_put_back_is_written_within_a_second() -> None:
    world = RestartableHost()
    ledger = Misplaced()
    world.restart_on(ledger)
    await world.begin(GOOD)
    ledger.is_gone = True
    await world.clock.advance(10 * MINUTE)
    assert world.told == []
    ledger.is_gone = False
    await world.clock.advance(SECOND)
    await world.engine.crash()

    assert [event.name for event in world.events][-1] == "LedgerRecovered"
    assert [event.name for event in world.events].count("LedgerAppendFailed") <= 11  # one a minute
    assert len(world.told) == 10
