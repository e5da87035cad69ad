"""REFUSALS: what no ledger of jobs with periods may take, and that nothing of it is remembered."""

from kron.engine.jobs.store import JobBatch, JobLedger, PendingRetry, UnfinishedRun
from kron.errors import LedgerConflictError, LedgerError
from kron.rules.job_record import ResultCode, RunEnd, RunHandle
from kron.testing.job_ledger_samples import (
    DECLARED,
    DEFINITION,
    FAILED,
    JOB,
    KEY,
    MINUTE,
    MISSED,
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


async def _refusal(ledger: JobLedger, batch: JobBatch) -> LedgerError:
    """Return the error that a batch must end with; nothing may have changed."""
    before = await ledger.load()
    try:
        await ledger.append(batch)
    except LedgerError as error:
        assert await ledger.load() == before
        return error
    raise AssertionError("it was accepted")


async def _conflict(ledger: JobLedger, batch: JobBatch) -> None:
    """Append what must be refused, by an error that names the job and the period at noon."""
    error = await _refusal(ledger, batch)
    assert isinstance(error, LedgerConflictError), error
    assert (error.details["identity"], error.details["period"]) == (JOB.identity, "2026-03-01T12:00:00Z")


async def a_second_outcome_of_a_period_is_refused(make: JobLedgerFactory) -> None:
    """Of whatever kind the two are; what else is in the batch is not remembered either."""
    other = JobBatch({OTHER_KEY: OTHER}, [JOB._replace(definition_key=OTHER_KEY)])
    late = MISSED._replace(reason="downtime")
    async with opened(make, DECLARED, JobBatch(closed=[MISSED])) as ledger:
        await _conflict(ledger, other._replace(begun=[attempt_at(9, "run 9"), RUN]))
        await _conflict(ledger, other._replace(closed=[late]))
        await ledger.append(JobBatch(begun=[attempt_at(9, "run 9")]))
    async with opened(make, JobBatch(begun=[attempt_at(1, "run 1")])) as ledger:
        second = MISSED._replace(first=NOON + MINUTE, last=NOON + MINUTE)
        assert (await _refusal(ledger, JobBatch(closed=[second]))).details["period"] == "2026-03-01T12:01:00Z"


async def a_second_outcome_inside_one_batch_is_refused(make: JobLedgerFactory) -> None:
    """And nothing of it is remembered."""
    async with opened(make, DECLARED) as ledger:
        await _conflict(ledger, JobBatch(closed=[MISSED], begun=[RUN]))
        await _conflict(ledger, JobBatch(begun=[RUN, RUN._replace(run_id="run 3")]))
        await ledger.append(JobBatch(begun=[RUN]))


async def an_outcome_inside_a_range_is_refused(make: JobLedgerFactory) -> None:
    """At its ends and in the middle, before and after other outcomes."""
    async with opened(make, DECLARED, JobBatch(begun=[attempt_at(9, "run 9")])) as ledger:
        await ledger.append(JobBatch(closed=[closed_from(-2, 5)]))
        await _conflict(ledger, JobBatch(begun=[RUN]))
        await _conflict(ledger, JobBatch(closed=[MISSED]))
        for minute in (-2, 2):
            assert isinstance(await _refusal(ledger, JobBatch(begun=[attempt_at(minute, "x")])), LedgerConflictError)
        await ledger.append(JobBatch(begun=[attempt_at(-3, "before"), attempt_at(3, "after")]))


async def a_range_over_an_outcome_is_refused(make: JobLedgerFactory) -> None:
    """Over a period or over another range, whichever reaches further; beside them it is not."""
    async with opened(make, DECLARED, JobBatch(begun=[attempt_at(2, "run 2")], closed=[closed_from(5, 4)])) as ledger:
        for minute, number in ((1, 2), (0, 5), (2, 3), (3, 3), (8, 2), (6, 2), (4, 9), (-5, 30)):
            refused = await _refusal(ledger, JobBatch(closed=[closed_from(minute, number)]))
            assert isinstance(refused, LedgerConflictError), (minute, number)
        await ledger.append(JobBatch(closed=[closed_from(3, 2), closed_from(0, 2), closed_from(9, 3)]))


async def ranges_and_periods_of_one_batch_do_not_overlap(make: JobLedgerFactory) -> None:
    """In whatever order they stand in it."""
    run = attempt_at(6, "run 6")
    async with opened(make, DECLARED) as ledger:
        assert await _refusal(ledger, JobBatch(closed=[closed_from(5, 4)], begun=[run]))
        assert await _refusal(ledger, JobBatch(closed=[closed_from(5, 4), closed_from(1, 5)]))
        assert await _refusal(ledger, JobBatch(closed=[closed_from(6, 1), closed_from(5, 4)]))
        await ledger.append(JobBatch(closed=[closed_from(7, 4), closed_from(1, 5)], begun=[run]))


async def what_another_definition_names_between_the_ends_of_a_range_is_free(make: JobLedgerFactory) -> None:
    """A range stands for the periods of its own definition; those of others may come before it and after it."""
    hours = closed_from(0, 1)._replace(first=NOON, last=NOON + 180 * MINUTE, period_count=4, definition_key=OTHER_KEY)
    between = closed_from(121, 59)
    async with opened(make, DECLARED, JobBatch({OTHER_KEY: OTHER}, begun=[attempt_at(30, "before")])) as ledger:
        await ledger.append(JobBatch(closed=[hours]))
        await ledger.append(JobBatch(begun=[attempt_at(90, "after")], closed=[between]))
        for minute in (0, 60, 120, 180):
            assert isinstance(await _refusal(ledger, JobBatch(begun=[attempt_at(minute, "x")])), LedgerConflictError)
        assert isinstance(await _refusal(ledger, JobBatch(closed=[closed_from(50, 20)])), LedgerConflictError)


async def a_second_start_of_an_attempt_is_refused(make: JobLedgerFactory) -> None:
    """And so is a further attempt of what was never begun."""
    again = attempt_at(0, "run 3", 2)
    async with opened(make, DECLARED) as ledger:
        await _conflict(ledger, JobBatch(begun=[again]))
        await ledger.append(JobBatch(begun=[RUN, again]))
        await _conflict(ledger, JobBatch(begun=[again._replace(run_id="run 4")]))
        await _conflict(ledger, JobBatch(begun=[RUN._replace(run_id="run 4")]))
        await ledger.append(JobBatch(closed=[closed_from(1, 3)]))
        assert await _refusal(ledger, JobBatch(begun=[attempt_at(3, "run 4", 2)]))


async def another_run_with_the_same_name_is_refused(make: JobLedgerFactory) -> None:
    """Its name is all that people know of it."""
    async with opened(make, DECLARED, JobBatch(begun=[attempt_at(4, "run 1")])) as ledger:
        await _conflict(ledger, JobBatch(begun=[RUN]))


async def a_second_end_is_refused(make: JobLedgerFactory) -> None:
    """But for when it is tried again, an end is for ever."""
    async with opened(make, DECLARED, JobBatch(begun=[RUN], ended=[FAILED])) as ledger:
        await _conflict(ledger, JobBatch(ended=[FAILED._replace(result=ResultCode.SUCCEEDED)]))
        await ledger.append(JobBatch(ended=[FAILED._replace(retry_at=NOW + 9 * MINUTE)]))

        assert (await ledger.load()).retries == [PendingRetry(RUN, NOW + 9 * MINUTE)]


async def what_refers_to_nothing_is_refused(make: JobLedgerFactory) -> None:
    """A job without its definition, a run without its job, an end without its run."""
    stranger = RUN._replace(identity="stranger")
    async with opened(make, DECLARED) as ledger:
        await _refusal(ledger, JobBatch(jobs=[JOB._replace(definition_key="unknown")]))
        await _refusal(ledger, JobBatch(begun=[RUN._replace(definition_key="unknown")]))
        await _refusal(ledger, JobBatch(begun=[stranger]))
        await _refusal(ledger, JobBatch(closed=[MISSED._replace(identity="stranger")]))
        await _refusal(ledger, JobBatch(begun=[RUN], processes=[RunHandle("unknown", 1, 1)]))
        await _refusal(ledger, JobBatch(begun=[RUN], ended=[FAILED._replace(run_id="unknown")]))
        await ledger.append(JobBatch(begun=[RUN]))


async def writing_the_same_again_changes_nothing(make: JobLedgerFactory) -> None:
    """So that an append may be repeated when nobody knows whether it was done."""
    batch = JobBatch(
        {KEY: DEFINITION},
        [JOB],
        [closed_from(3, 4), closed_from(9, 1)],
        [RUN, TRIGGERED, attempt_at(0, "run 3", 2)],
        [RunHandle("run 1", 1, 2)],
        [FAILED, RunEnd("run 2", NOW, ResultCode.SUCCEEDED, 0)],
    )
    once = await reopened(make, batch)
    twice = await reopened(make, batch, batch._replace(begun=[*batch.begun, attempt_at(20, "run 20")]))

    assert twice == once._replace(unfinished=[*once.unfinished, UnfinishedRun(attempt_at(20, "run 20"), None)])


REFUSALS: tuple[JobLedgerCheck, ...] = (
    a_second_outcome_of_a_period_is_refused,
    a_second_outcome_inside_one_batch_is_refused,
    an_outcome_inside_a_range_is_refused,
    a_range_over_an_outcome_is_refused,
    ranges_and_periods_of_one_batch_do_not_overlap,
    what_another_definition_names_between_the_ends_of_a_range_is_free,
    a_second_start_of_an_attempt_is_refused,
    another_run_with_the_same_name_is_refused,
    a_second_end_is_refused,
    what_refers_to_nothing_is_refused,
    writing_the_same_again_changes_nothing,
)
