"""JOB_LEDGER_SUITE: what every ledger of jobs with periods must do, as functions that take a way to make one.

    @pytest.mark.parametrize("check", JOB_LEDGER_SUITE, ids=lambda check: check.__name__)
    def test_my_ledger(check, tmp_path):
        asyncio.run(check(lambda: MyJobLedger(tmp_path / "ledger")))

The function is called several times in one check: each call stands for another host, on the same store.
"""

from kron.engine.jobs.store import JobBatch, JobSnapshot, PendingRetry
from kron.errors import LedgerError, LedgerInUseError
from kron.rules.job_record import ResultCode, RunEnd, RunHandle, UnfinishedRun
from kron.testing.job_ledger_refusals import REFUSALS
from kron.testing.job_ledger_samples import (
    DECLARED,
    DEFINITION,
    FAILED,
    FULL,
    JOB,
    KEY,
    MINUTE,
    NOON,
    NOW,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    JobLedgerCheck,
    JobLedgerFactory,
    attempt_at,
    closed_from,
    opened,
    reopened,
)

# --- what comes back --------------------------------------------------------------------------------------------------


async def a_new_ledger_remembers_nothing(make: JobLedgerFactory) -> None:
    """There is nothing in a new one."""
    assert await reopened(make) == JobSnapshot({}, {}, [], [])


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

    assert found == {JOB.identity: frozenset(NOON + minute * MINUTE for minute in (3, 4, 5))}


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


JOB_LEDGER_SUITE: tuple[JobLedgerCheck, ...] = (
    a_new_ledger_remembers_nothing,
    a_job_comes_back_as_it_was,
    the_last_word_on_a_job_counts,
    a_run_without_an_end_is_unfinished,
    a_run_that_has_ended_is_finished,
    an_execution_waits_for_its_next_attempt_until_that_begins,
    an_execution_without_a_period_waits_for_its_next_attempt_until_that_begins,
    a_next_attempt_can_be_given_up,
    every_period_inside_a_range_is_handled,
    what_was_handled_since_an_instant_can_be_asked_for,
    a_second_host_is_refused_until_the_first_lets_go,
    a_closed_ledger_takes_nothing,
    what_was_appended_is_there_without_a_close,
    thousands_begin_and_end_in_one_batch,
    *REFUSALS,
)
