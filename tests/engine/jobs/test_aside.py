"""A job whose data cannot be judged is set aside: it starts no run, and all others run."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

from kron.engine.ledger import JobBatch, PendingRetry
from kron.engine.ports import Refusal
from kron.errors import LedgerWriteError
from tests.engine.jobs.restartable_host import MINUTE, SECOND, Ledger, RestartableHost, work

FIRST = datetime.min.replace(tzinfo=UTC)
BAD, GOOD = work("* * * * * @win(after,1h)", "bad"), work("* * * * *", "good")
SOUND = work("* * * * *", "sound")


async def begin_with_bad_rows(host: RestartableHost) -> None:
    """Begin again after a row of a job was changed to the beginning of the calendar."""
    await host.begin(BAD, GOOD)
    await host.crash()
    ledger = host.ledger
    ledger.jobs["bad"] = ledger.jobs["bad"]._replace(handled_until=FIRST, declared_at=FIRST)
    await host.begin(BAD, GOOD)


async def test_a_job_whose_record_is_of_the_first_year_is_set_aside_alone() -> None:
    host = RestartableHost()
    await begin_with_bad_rows(host)
    await host.clock.advance(3 * MINUTE)
    await host.engine.crash()

    assert list(host.planner.aside) == ["bad"]
    assert [each.split()[1] for each in host.log] == ["good"] * 3


async def test_a_job_that_is_set_aside_runs_again_when_its_definition_changes() -> None:
    host = RestartableHost()
    await begin_with_bad_rows(host)
    await host.clock.advance(SECOND)
    assert list(host.planner.aside) == ["bad"]
    await host.declare(work("* * * * *", "bad"), GOOD)
    await host.clock.advance(2 * MINUTE)
    await host.engine.crash()

    assert host.planner.aside == {}
    assert "bad" in {each.split()[1] for each in host.log}


async def test_a_job_that_cannot_begin_is_set_aside_alone_and_nothing_of_it_is_recorded() -> None:
    host = RestartableHost()
    await host.begin(SOUND, GOOD)
    await host.clock.advance(MINUTE)
    attempt = next(each for each in host.ledger.runs.values() if each.identity == "sound")
    broken = attempt._replace(attempt=cast("int", "first"))
    host.planner.jobs["sound"].retries = (PendingRetry(broken, host.clock.now()),)
    await host.clock.advance(3 * MINUTE)
    assert not host.planner.jobs["sound"].active
    await host.engine.crash()

    assert list(host.planner.aside) == ["sound"]
    assert sorted(each.identity for each in host.ledger.runs.values()) == ["good"] * 4 + ["sound"]


class MissingFolderLedger(Ledger):
    """A ledger whose place is gone for a while."""

    is_gone = False

    async def append(self, batch: JobBatch) -> Sequence[Refusal]:
        if self.is_gone:
            raise LedgerWriteError(path="ledger.db", reason="it is gone", retry_soon=True)
        return await super().append(batch)


async def test_a_ledger_that_is_put_back_is_written_within_a_second() -> None:
    host = RestartableHost()
    ledger = MissingFolderLedger()
    host.use_ledger(ledger)
    await host.begin(GOOD)
    ledger.is_gone = True
    await host.clock.advance(10 * MINUTE)
    assert host.log == []
    ledger.is_gone = False
    await host.clock.advance(SECOND)
    await host.engine.crash()

    assert [event.name for event in host.events][-1] == "LedgerRecovered"
    assert [event.name for event in host.events].count("LedgerAppendFailed") <= 11  # one a minute
    assert len(host.log) == 10
