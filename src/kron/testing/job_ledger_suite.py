"""ROUND_TRIPS: what every ledger of jobs gives back, as functions that take a way to make one; and their samples.

With the refusals they are `kron.testing.JOB_LEDGER_SUITE`:

    @pytest.mark.parametrize("check", JOB_LEDGER_SUITE, ids=lambda check: check.__name__)
    def test_my_ledger(check, tmp_path):
        asyncio.run(check(lambda: MyJobLedger(tmp_path / "ledger")))

The function is called several times in one check: each call stands for another host, on the same store. A ledger that
lacks clauses of the port, because something else keeps them, passes `kron.testing.job_ledger_suite(lacking={...})`.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Set
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

from kron.engine.ledger import HandledByJob, JobBatch, JobLedger, JobSnapshot, PendingRetry
from kron.engine.ports import Ledger, Stored, Written
from kron.errors import LedgerError, LedgerInUseError
from kron.rules.job_record import (
    JobRecord,
    PeriodRecord,
    ResultCode,
    RunEnd,
    RunHandle,
    RunKind,
    RunStart,
    UnfinishedRun,
)
from kron.rules.job_spec import definition_key
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Outcome

JobLedgerFactory = Callable[[], JobLedger]
JobLedgerCheck = Callable[[JobLedgerFactory], Coroutine[Any, Any, None]]
AnyLedger = TypeVar("AnyLedger", bound=Ledger[Any, object])


class JobLedgerClause(Enum):
    """What the port promises, and a ledger may lack."""

    JOBS = "jobs and their definitions come back"
    RUNS = "starts, ends and next attempts are recorded"
    REFUSALS = "what contradicts the ledger is refused"
    POSSESSION = "one host at a time has the ledger, and a closed one takes nothing"


MINUTE = timedelta(minutes=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = NOON + timedelta(seconds=7, microseconds=123456)
DEFINITION = '{"timing": {"schedule": "* * * * *"}, "policy": {}}'
KEY = definition_key(DEFINITION)
OTHER = '{"timing": {"schedule": "0 * * * *", "salt": "other ü"}, "policy": {}}'
OTHER_KEY = definition_key(OTHER)
JOB = JobRecord("/etc/jobs.toml:backup", "backup", KEY, NOON, NOON)
FULL = JobRecord("ü 日本\n", "x", KEY, NOON, NOW, True, NOW + MINUTE, "boot 1", False)  # noqa: FBT003
NOTHING = JobBatch()
DECLARED = JobBatch({KEY: DEFINITION}, [JOB])
MISSED = PeriodRecord(
    JOB.identity, NOON, NOON, 1, NOON, NOON, Outcome.MISSED, "deadline", "It was too late.", KEY, NOW
)  # fmt: skip
RUN = RunStart("run 1", JOB.identity, RunKind.PERIOD, NOON, NOON, 1, NOW, KEY, "boot 1")
TRIGGERED = RunStart("run 2", JOB.identity, RunKind.TRIGGER, None, None, 1, NOW, KEY, "boot 1")
FAILED = RunEnd("run 1", NOW + MINUTE, ResultCode.FAILED, 3, None, "It said 3.", NOW + 2 * MINUTE)


def closed_from(minute: int, number: int) -> PeriodRecord:
    """Return the record of so many periods of a job that has one in every minute."""
    first, last = NOON + minute * MINUTE, NOON + (minute + number - 1) * MINUTE
    return PeriodRecord(
        JOB.identity, first, last, number, last, last, Outcome.MISSED, "downtime", "", KEY, NOW + 1000 * MINUTE
    )  # fmt: skip


def attempt_at(minute: int, run_id: str, number: int = 1) -> RunStart:
    """Return an attempt of the period that belongs to a minute."""
    nominal = NOON + minute * MINUTE
    return RUN._replace(run_id=run_id, nominal=nominal, chosen=nominal, started=nominal, attempt=number)


@asynccontextmanager
async def opened(make: Callable[[], AnyLedger], *batches: object) -> AsyncIterator[AnyLedger]:
    """Let a host have the ledger for a while, and remember something first."""
    ledger = make()
    await ledger.open()
    try:
        await ledger.load()
        for batch in batches:
            await ledger.append(batch)
        yield ledger
    finally:
        await ledger.close()


async def reopened(make: Callable[[], Ledger[Written, Stored]], *batches: Written) -> Stored:
    """Append, close, and return what another host then finds."""
    async with opened(make, *batches):
        pass
    async with opened(make) as ledger:
        return await ledger.load()


# --- what comes back --------------------------------------------------------------------------------------------------


async def a_new_ledger_remembers_nothing(make: JobLedgerFactory) -> None:
    """There is nothing in a new one."""
    assert not any(await reopened(make))


async def a_job_comes_back_as_it_was(make: JobLedgerFactory) -> None:
    """Every field, with the text of its definition."""
    stored = await reopened(make, JobBatch({KEY: DEFINITION, OTHER_KEY: OTHER}, [JOB, FULL]))

    assert stored == JobSnapshot({JOB.identity: JOB, FULL.identity: FULL}, {KEY: DEFINITION}, [], [])


async def the_last_word_on_a_job_counts(make: JobLedgerFactory) -> None:
    """Within a batch and between batches; its definition in force is the last one."""
    later, last = JOB._replace(handled_until=NOW), JOB._replace(handled_until=NOW + MINUTE, definition_key=OTHER_KEY)

    stored = await reopened(make, DECLARED, JobBatch({OTHER_KEY: OTHER}, [later, last]))

    assert (stored.jobs, stored.definitions) == ({JOB.identity: last}, {OTHER_KEY: OTHER})


async def a_run_without_an_end_is_unfinished(make: JobLedgerFactory) -> None:
    """Of a period or of none, in the order in which they began, with what they are recognised by."""
    process = RunHandle("run 2", 4711, 123456789)

    stored = await reopened(make, DECLARED, JobBatch(begun=[RUN, TRIGGERED]), JobBatch(processes=[process]))

    assert stored.unfinished == [UnfinishedRun(RUN, None), UnfinishedRun(TRIGGERED, process)]


async def a_run_that_has_ended_is_finished(make: JobLedgerFactory) -> None:
    """Also if it began in the same batch."""
    ends = [FAILED._replace(retry_at=None), RunEnd("run 2", NOW, ResultCode.UNKNOWN)]

    stored = await reopened(make, DECLARED, JobBatch(begun=[RUN]), JobBatch(begun=[TRIGGERED], ended=ends))

    assert (stored.unfinished, stored.retries) == ([], [])


async def an_execution_waits_for_its_next_attempt_until_that_begins(make: JobLedgerFactory) -> None:
    """Then that attempt is what is unfinished."""
    again = attempt_at(0, "run 3", 2)
    failed = [DECLARED, JobBatch(begun=[RUN]), JobBatch(ended=[FAILED])]

    waiting = await reopened(make, *failed)
    begun = await reopened(make, JobBatch(begun=[again]))

    assert (waiting.unfinished, waiting.retries) == ([], [PendingRetry(RUN, NOW + 2 * MINUTE)])
    assert (begun.unfinished, begun.retries) == ([UnfinishedRun(again, None)], [])


async def an_execution_without_a_period_waits_for_its_next_attempt_until_that_begins(make: JobLedgerFactory) -> None:
    """Of several that wait the others are left."""
    other = TRIGGERED._replace(run_id="run 3")
    ends = [FAILED._replace(run_id=run.run_id) for run in (TRIGGERED, other)]
    again = TRIGGERED._replace(run_id="run 4", attempt=2, retry_of="run 3")

    waiting = await reopened(make, DECLARED, JobBatch(begun=[TRIGGERED, other], ended=ends))
    begun = await reopened(make, JobBatch(begun=[again]))

    assert [retry.attempt for retry in waiting.retries] == [TRIGGERED, other]
    assert [retry.attempt for retry in begun.retries] == [TRIGGERED]
    assert begun.unfinished == [UnfinishedRun(again, None)]


async def a_next_attempt_can_be_given_up(make: JobLedgerFactory) -> None:
    """Of a run with a period or without one; of one that does not wait it changes nothing."""
    ends = [FAILED, FAILED._replace(run_id="run 2")]
    given_up = JobBatch(given_up=["run 1", "run 2", "unknown"])

    stored = await reopened(make, DECLARED, JobBatch(begun=[RUN, TRIGGERED], ended=ends), given_up, given_up)

    assert (stored.retries, stored.unfinished) == ([], [])


# --- what is handled --------------------------------------------------------------------------------------------------


async def every_period_inside_a_range_is_handled(make: JobLedgerFactory) -> None:
    """By its definition, which need not be the one in force."""
    changed = JobBatch({OTHER_KEY: OTHER}, [JOB._replace(definition_key=OTHER_KEY)], [closed_from(3, 3)])
    async with opened(make, DECLARED, changed) as ledger:
        found = await ledger.handled({JOB.identity: NOON})

    assert found.keys() == {JOB.identity}
    assert _handled_minutes(found) == {3, 4, 5}


async def closing_the_same_periods_again_changes_nothing(make: JobLedgerFactory) -> None:
    """And refuses nothing; other periods of that batch are handled."""
    async with opened(make, DECLARED, JobBatch(closed=[closed_from(3, 2)])) as ledger:
        refused = await ledger.append(JobBatch(closed=[closed_from(3, 2), closed_from(9, 1)]))
        found = await ledger.handled({JOB.identity: NOON})

    assert list(refused) == []
    assert _handled_minutes(found) == {3, 4, 9}


def _handled_minutes(found: HandledByJob) -> set[int]:
    """Return the minutes of the first hour whose periods are handled."""
    periods = found[JOB.identity]
    handled = periods if isinstance(periods, HandledPeriods) else HandledPeriods.from_nominals(periods)
    return {minute for minute in range(60) if handled.has(NOON + minute * MINUTE)}


async def what_was_handled_since_an_instant_can_be_asked_for(make: JobLedgerFactory) -> None:
    """Whatever is served; also inside of ranges; only of the jobs that are asked for."""
    other = JOB._replace(identity="other")
    served = JobBatch({KEY: DEFINITION}, [JOB._replace(handled_until=NOON + 90 * MINUTE), other])
    begun = [attempt_at(2, "run 2"), attempt_at(8, "run 8"), attempt_at(8, "run 9")._replace(identity="other")]
    async with opened(make, served, JobBatch(closed=[closed_from(3, 4)], begun=begun)) as ledger:
        found = await ledger.handled({JOB.identity: NOON + 5 * MINUTE})
        everything = await ledger.handled({JOB.identity: NOON, "other": NOON + 9 * MINUTE, "unknown": NOON})

    assert found == {JOB.identity: frozenset(NOON + minute * MINUTE for minute in (5, 6, 8))}
    assert everything == {JOB.identity: frozenset(NOON + minute * MINUTE for minute in (2, 3, 4, 5, 6, 8))}


# --- possession -------------------------------------------------------------------------------------------------------


async def a_second_host_is_refused_until_the_first_lets_go(make: JobLedgerFactory) -> None:
    """The error says so, and the first goes on undisturbed."""
    async with opened(make) as first:
        try:
            await make().open()
        except LedgerInUseError:
            pass
        else:
            raise AssertionError("two hosts have the same ledger")
        await first.append(DECLARED)

    assert (await reopened(make)).jobs == {JOB.identity: JOB}


async def a_closed_ledger_takes_nothing(make: JobLedgerFactory) -> None:
    """It says so instead of losing it; closing twice is harmless."""
    async with opened(make) as ledger:
        pass
    await ledger.close()

    try:
        await ledger.append(DECLARED)
    except LedgerError:
        return
    raise AssertionError("a closed ledger took a record")


async def what_was_appended_is_there_without_a_close(make: JobLedgerFactory) -> None:
    """Loading again shows it."""
    async with opened(make, DECLARED, JobBatch(begun=[RUN])) as ledger:
        assert (await ledger.load()).unfinished == [UnfinishedRun(RUN, None)]


async def thousands_begin_and_end_in_one_batch(make: JobLedgerFactory) -> None:
    """More than a statement can hold."""
    jobs = [JOB._replace(identity=f"job {number}") for number in range(2_500)]
    runs = [RUN._replace(run_id=f"run of {job.identity}", identity=job.identity) for job in jobs]
    ends = [RunEnd(run.run_id, NOW, ResultCode.SUCCEEDED, 0) for run in runs[::2]]

    stored = await reopened(make, JobBatch({KEY: DEFINITION}, jobs, begun=runs), JobBatch(ended=ends))

    assert stored.jobs == {job.identity: job for job in jobs}
    assert stored.unfinished == [UnfinishedRun(run, None) for run in runs[1::2]]


_JOBS, _RUNS, _POSSESSION = {JobLedgerClause.JOBS}, {JobLedgerClause.RUNS}, {JobLedgerClause.POSSESSION}
ROUND_TRIPS: Mapping[JobLedgerCheck, Set[JobLedgerClause]] = {
    a_new_ledger_remembers_nothing: set(),
    a_job_comes_back_as_it_was: _JOBS,
    the_last_word_on_a_job_counts: _JOBS,
    a_run_without_an_end_is_unfinished: _RUNS,
    a_run_that_has_ended_is_finished: _RUNS,
    an_execution_waits_for_its_next_attempt_until_that_begins: _RUNS,
    an_execution_without_a_period_waits_for_its_next_attempt_until_that_begins: _RUNS,
    a_next_attempt_can_be_given_up: _RUNS,
    every_period_inside_a_range_is_handled: set(),
    closing_the_same_periods_again_changes_nothing: set(),
    what_was_handled_since_an_instant_can_be_asked_for: _RUNS,
    a_second_host_is_refused_until_the_first_lets_go: _POSSESSION | _JOBS,
    a_closed_ledger_takes_nothing: _POSSESSION,
    what_was_appended_is_there_without_a_close: _RUNS,
    thousands_begin_and_end_in_one_batch: _JOBS | _RUNS,
}
"""Each check, with the clauses that it is about beyond those that every ledger keeps."""
