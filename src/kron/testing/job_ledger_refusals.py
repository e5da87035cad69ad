"""REFUSALS: what no ledger of jobs with periods may take: it drops the records of that job, and no others."""

from collections.abc import Sequence

from kron.engine.ledger import JobBatch, JobLedger, PendingRetry
from kron.engine.ports import Refusal
from kron.errors import LedgerError
from kron.rules.job_record import ResultCode, RunEnd, RunHandle, UnfinishedRun
from kron.testing.job_ledger_suite import (
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


async def _failure(ledger: JobLedger, batch: JobBatch) -> None:
    """Append what must fail as a whole; nothing may have changed."""
    before = await ledger.load()
    try:
        await ledger.append(batch)
    except LedgerError:
        assert await ledger.load() == before
        return
    raise AssertionError("it was accepted")


async def _refusal(ledger: JobLedger, batch: JobBatch) -> Refusal:
    """Append what must be refused, and nothing of the only job in it remembered; return the refusal."""
    before = await ledger.load()
    refused: Sequence[Refusal] = await ledger.append(batch)
    assert [each.identity for each in refused] == [JOB.identity], refused
    assert await ledger.load() == before
    return refused[0]


async def _conflict(ledger: JobLedger, batch: JobBatch) -> None:
    """Append what must be refused: the refusal, and its error, name the job and the period at noon."""
    refused = await _refusal(ledger, batch)
    assert refused.nominal == NOON
    details = refused.error.details
    assert (details["identity"], details["period"]) == (JOB.identity, "2026-03-01T12:00:00Z")


async def a_second_outcome_of_a_period_is_refused(make: JobLedgerFactory) -> None:
    """Of whatever kind the two are; what else the batch has of the job is not remembered either."""
    other = JobBatch({OTHER_KEY: OTHER}, [JOB._replace(definition_key=OTHER_KEY)])
    late = MISSED._replace(reason="downtime")
    async with opened(make, DECLARED, JobBatch(closed=[MISSED])) as ledger:
        await _conflict(ledger, other._replace(begun=[attempt_at(9, "run 9"), RUN]))
        await _conflict(ledger, other._replace(closed=[late]))
        await ledger.append(JobBatch(begun=[attempt_at(9, "run 9")]))
    async with opened(make, JobBatch(begun=[attempt_at(1, "run 1")])) as ledger:
        second = MISSED._replace(first=NOON + MINUTE, last=NOON + MINUTE)
        assert (await _refusal(ledger, JobBatch(closed=[second]))).nominal == NOON + MINUTE


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
            await _refusal(ledger, JobBatch(begun=[attempt_at(minute, "x")]))
        await ledger.append(JobBatch(begun=[attempt_at(-3, "before"), attempt_at(3, "after")]))


async def a_range_over_an_outcome_is_refused(make: JobLedgerFactory) -> None:
    """Over a period or over another range, whichever reaches further; beside them it is not."""
    async with opened(make, DECLARED, JobBatch(begun=[attempt_at(2, "run 2")], closed=[closed_from(5, 4)])) as ledger:
        for minute, number in ((1, 2), (0, 5), (2, 3), (3, 3), (8, 2), (6, 2), (4, 9), (-5, 30)):
            await _refusal(ledger, JobBatch(closed=[closed_from(minute, number)]))
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
            await _refusal(ledger, JobBatch(begun=[attempt_at(minute, "x")]))
        await _refusal(ledger, JobBatch(closed=[closed_from(50, 20)]))


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


async def a_conflict_drops_the_records_of_one_job_only(make: JobLedgerFactory) -> None:
    """Its definition in force, its other periods, runs, processes and ends; those of all other jobs are remembered."""
    other = JOB._replace(identity="other")
    run, theirs = attempt_at(3, "run 3"), attempt_at(0, "run 4")._replace(identity="other")
    batch = JobBatch(
        {OTHER_KEY: OTHER},
        [JOB._replace(definition_key=OTHER_KEY), other._replace(handled_until=NOW)],
        [MISSED._replace(identity="other", first=NOON + MINUTE, last=NOON + MINUTE), closed_from(7, 2)],
        [RUN._replace(run_id="run 5"), run, theirs],
        [RunHandle("run 1", 1, 2), RunHandle("run 3", 3, 4), RunHandle("run 4", 5, 6)],
        [FAILED, RunEnd("run 3", NOW, ResultCode.SUCCEEDED, 0)],
    )
    async with opened(make, DECLARED, JobBatch(jobs=[other], begun=[RUN])) as ledger:
        refused = await ledger.append(batch)
        handled = await ledger.handled({JOB.identity: NOON, "other": NOON})
    stored = await reopened(make)

    assert [(each.identity, each.nominal, each.run_id) for each in refused] == [(JOB.identity, NOON, "run 5")]
    assert stored.jobs == {JOB.identity: JOB, "other": other._replace(handled_until=NOW)}
    assert stored.unfinished == [UnfinishedRun(RUN, None), UnfinishedRun(theirs, RunHandle("run 4", 5, 6))]
    assert handled == {JOB.identity: frozenset({NOON}), "other": frozenset({NOON, NOON + MINUTE})}


async def each_job_that_is_refused_is_named_once(make: JobLedgerFactory) -> None:
    """With the periods that have an outcome, from the first one on to which the batch gives an outcome."""
    names = [f"job {number}" for number in range(20)]
    jobs = [JOB._replace(identity=name) for name in names]
    closed = [closed_from(minute, 2)._replace(identity=name) for name in names[::2] for minute in (-9, 4)]
    batch = JobBatch(closed=[closed_from(minute, 1)._replace(identity=name) for name in names for minute in (3, 4, 5)])
    async with opened(make, JobBatch({KEY: DEFINITION}, jobs, closed)) as ledger:
        refused = await ledger.append(batch)
        again = await ledger.append(batch)

    assert [each.identity for each in refused] == names[::2]
    assert {each.handled.spans for each in refused} == {((NOON + 4 * MINUTE,) * 2, (NOON + 5 * MINUTE,) * 2)}
    assert [each.identity for each in again] == names[::2]


async def a_refused_end_names_its_run(make: JobLedgerFactory) -> None:
    """Another end of the same job is not remembered with it, and can be remembered alone."""
    other = attempt_at(1, "run 7")
    ends = [FAILED._replace(result=ResultCode.SUCCEEDED), RunEnd("run 7", NOW, ResultCode.SUCCEEDED, 0)]
    async with opened(make, DECLARED, JobBatch(begun=[RUN, other], ended=[FAILED])) as ledger:
        refused = await ledger.append(JobBatch(ended=ends))
        between = await ledger.load()
        alone = await ledger.append(JobBatch(ended=ends[1:]))
        after = await ledger.load()

    assert [(each.identity, each.run_id, each.handled.spans) for each in refused] == [(JOB.identity, "run 1", ())]
    assert (between.unfinished, alone, after.unfinished) == ([UnfinishedRun(other, None)], (), [])


async def what_refers_to_nothing_is_refused(make: JobLedgerFactory) -> None:
    """A job without its definition, a run without its job, an end without its run."""
    stranger = RUN._replace(identity="stranger")
    async with opened(make, DECLARED) as ledger:
        await _failure(ledger, JobBatch(jobs=[JOB._replace(definition_key="unknown")]))
        await _failure(ledger, JobBatch(begun=[RUN._replace(definition_key="unknown")]))
        await _failure(ledger, JobBatch(begun=[stranger]))
        await _failure(ledger, JobBatch(closed=[MISSED._replace(identity="stranger")]))
        await _failure(ledger, JobBatch(begun=[RUN], processes=[RunHandle("unknown", 1, 1)]))
        await _failure(ledger, JobBatch(begun=[RUN], ended=[FAILED._replace(run_id="unknown")]))
        await ledger.append(JobBatch(begun=[RUN]))


async def writing_the_same_again_changes_nothing(make: JobLedgerFactory) -> None:
    """And refuses nothing, so that an append may be repeated when it is not known whether it was done."""
    batch = JobBatch(
        {KEY: DEFINITION},
        [JOB],
        [closed_from(3, 4), closed_from(9, 1)],
        [RUN, TRIGGERED, attempt_at(0, "run 3", 2)],
        [RunHandle("run 1", 1, 2)],
        [FAILED, RunEnd("run 2", NOW, ResultCode.SUCCEEDED, 0)],
    )
    once = await reopened(make, batch)
    more = batch._replace(begun=[*batch.begun, attempt_at(20, "run 20")])
    async with opened(make) as ledger:
        assert [*await ledger.append(batch), *await ledger.append(more)] == []
    twice = await reopened(make)

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
    a_conflict_drops_the_records_of_one_job_only,
    each_job_that_is_refused_is_named_once,
    a_refused_end_names_its_run,
    what_refers_to_nothing_is_refused,
    writing_the_same_again_changes_nothing,
)
