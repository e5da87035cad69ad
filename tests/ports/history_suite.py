"""HISTORY_SUITE: what every reader of a ledger of jobs must answer, as functions that take ways to make both.

@pytest.mark.parametrize("check", HISTORY_SUITE, ids=lambda check: check.__name__)
def test_my_history(check, tmp_path):
    path = tmp_path / "ledger"
    asyncio.run(check(lambda: MyJobLedger(path), lambda: MyHistory(path)))
"""

from collections.abc import Callable, Coroutine, Iterable
from datetime import timedelta
from typing import Any

from kron.engine.ledger import HistoryQuery, HistoryReader, JobDefinition
from kron.rules.history import RunRow
from kron.rules.job_record import LastResult, ResultCode, RunEnd, UnfinishedRun
from kron.rules.verdict import Outcome
from kron.testing.job_ledger_suite import (
    DECLARED,
    DEFINITION,
    FAILED,
    JOB,
    KEY,
    MINUTE,
    NOON,
    NOTHING,
    OTHER,
    OTHER_KEY,
    RUN,
    TRIGGERED,
    JobLedgerFactory,
    attempt_at,
    closed_from,
    opened,
)

HistoryFactory = Callable[[], HistoryReader]
HistoryCheck = Callable[[JobLedgerFactory, HistoryFactory], Coroutine[Any, Any, None]]

_OTHER_JOB = JOB._replace(identity="other", name="other", definition_key=OTHER_KEY)
_BOTH = DECLARED._replace(definitions={KEY: DEFINITION, OTHER_KEY: OTHER}, jobs=[_OTHER_JOB, JOB])
# Runs at 12:02, in two attempts, at 12:12, and one without a period; 12:04 to 12:08 were missed. "other" ran at 12:07.
_RECORDS = NOTHING._replace(
    closed=[closed_from(4, 5)],
    begun=[
        attempt_at(2, "two"),
        attempt_at(2, "two again", 2),
        attempt_at(12, "twelve"),
        attempt_at(7, "seven")._replace(identity="other", definition_key=OTHER_KEY),
        TRIGGERED,
    ],
    ended=[
        FAILED._replace(run_id="two", retry_at=None),
        RunEnd("two again", NOON + 5 * MINUTE, ResultCode.SUCCEEDED, 0),
    ],
)


def _ids(rows: Iterable[RunRow]) -> list[object]:
    return [row.run_id or f"{row.nominal_time:%H:%M}" for row in rows]


# --- rows -------------------------------------------------------------------------------------------------------------


async def rows_are_in_the_order_of_the_times_at_which_they_were_due(
    make: JobLedgerFactory, read: HistoryFactory
) -> None:
    """A run without a period was due when it began, a range with its last period; the newest ones are kept."""
    async with opened(make, _BOTH, _RECORDS):
        assert _ids(read().rows(HistoryQuery())) == ["run 2", "two", "two again", "seven", "12:08", "twelve"]
        assert _ids(read().rows(HistoryQuery(limit=2))) == ["12:08", "twelve"]


async def rows_are_those_of_one_job_or_with_one_outcome(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """Of an unknown job there are none."""
    async with opened(make, _BOTH, _RECORDS):
        assert _ids(read().rows(HistoryQuery("other"))) == ["seven"]
        assert _ids(read().rows(HistoryQuery("unknown"))) == []
        assert _ids(read().rows(HistoryQuery(outcome=Outcome.MISSED))) == ["12:08"]


async def a_span_includes_its_start_and_ranges_of_which_it_has_a_part(
    make: JobLedgerFactory, read: HistoryFactory
) -> None:
    """Its end is excluded."""
    async with opened(make, _BOTH, _RECORDS):
        for since, until, expected in (
            (2, 12, ["two", "two again", "seven", "12:08"]),
            (0, 4, ["run 2", "two", "two again"]),
            (8, 9, ["12:08"]),
            (9, 12, []),
        ):
            span = NOON + since * MINUTE, NOON + until * MINUTE
            assert _ids(read().rows(HistoryQuery(None, *span))) == expected


async def attempts_of_an_execution_can_be_one_row(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """It lasts from the start of the first to the end of the last; attempts are counted either way."""
    async with opened(make, _BOTH, _RECORDS):
        first, _ = read().rows(HistoryQuery(JOB.identity, NOON + 2 * MINUTE, NOON + 3 * MINUTE))
        (row,) = read().rows(HistoryQuery(JOB.identity, NOON + 2 * MINUTE, NOON + 3 * MINUTE, executions=True))

    assert (first.attempt, first.attempts, row.run_id, row.attempts) == (1, 2, "two again", 2)
    assert (row.started_at, row.ended_at, row.lateness) == (NOON + 2 * MINUTE, NOON + 5 * MINUTE, 0)


async def rows_at_an_instant_are_those_that_it_touches(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """Of a range it is the one period; of all jobs or of one."""
    async with opened(make, _BOTH, _RECORDS):
        everything = read().rows(HistoryQuery(at=NOON + 7 * MINUTE))
        (period,) = read().rows(HistoryQuery(JOB.identity, at=NOON + 6 * MINUTE + timedelta(seconds=42)))
        executions = read().rows(HistoryQuery(at=NOON + 2 * MINUTE, executions=True))
        nothing = read().rows(HistoryQuery(at=NOON + 7 * MINUTE, outcome=Outcome.SKIPPED))

    assert [(row.name, row.outcome) for row in everything] == [("backup", Outcome.MISSED), ("other", Outcome.EXECUTED)]
    assert (period.nominal_time, period.is_range, period.period_count) == (NOON + 6 * MINUTE, True, 5)
    assert (_ids(executions), nothing) == (["two again"], [])


async def a_run_is_found_by_its_id(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """With the name of its job."""
    async with opened(make, DECLARED, NOTHING._replace(begun=[RUN], ended=[FAILED])):
        row = read().run(RUN.run_id)

        assert row == RunRow.of_run("backup", RUN, FAILED, attempts=1)
        assert read().run("unknown") is None


async def a_run_without_an_end_is_listed(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """In the order in which they began."""
    async with opened(make, DECLARED, NOTHING._replace(begun=[TRIGGERED, RUN])):
        assert list(read().unfinished()) == [UnfinishedRun(TRIGGERED, None), UnfinishedRun(RUN, None)]


async def problems_are_bad_ends_and_periods_without_a_run(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """The last recorded one is the first; a run that was replaced or stopped is none."""
    results = [*ResultCode]
    begun = [attempt_at(number, result.value) for number, result in enumerate(results, 20)]
    ended = [RunEnd(result.value, NOON, result) for result in results]
    async with opened(make, DECLARED, NOTHING._replace(closed=[closed_from(3, 2)], begun=begun, ended=ended)):
        found = _ids(read().problems(10))
        assert _ids(read().problems(2)) == found[:2]

    assert found == ["unknown", "not started", "timeout", "failed", "12:04"]


async def a_failed_run_is_a_pending_retry_until_it_is_retried_or_given_up(
    make: JobLedgerFactory, read: HistoryFactory
) -> None:
    """With the row of the run that failed."""
    begun = [attempt_at(number, f"run {number}") for number in range(3)]
    ended = [FAILED._replace(run_id=each.run_id) for each in begun]
    settled = NOTHING._replace(begun=[attempt_at(1, "run 1 again", 2)], given_up=["run 2"])
    async with opened(make, DECLARED, NOTHING._replace(begun=begun, ended=ended), settled):
        assert [(row.run_id, row.exit_code) for row in read().pending_retries()] == [("run 0", 3)]


# --- jobs -------------------------------------------------------------------------------------------------------------


async def jobs_are_listed_by_identity_also_those_that_are_gone(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """Definitions are those of declared jobs, and of any record by its key."""
    gone = NOTHING._replace(jobs=[_OTHER_JOB._replace(is_declared=False)])
    async with opened(make, _BOTH, _RECORDS, gone):
        reader = read()

        assert [job.identity for job in reader.jobs()] == [JOB.identity, "other"]
        assert (reader.job("other"), reader.job("unknown")) == (gone.jobs[0], None)
        assert list(reader.definitions()) == [JobDefinition(JOB.identity, "backup", DEFINITION)]
        assert (reader.definition(OTHER_KEY), reader.definition("unknown")) == (OTHER, None)


async def the_last_result_of_a_job_is_that_of_what_was_due_last(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """A run without an end has none yet."""
    async with opened(make, _BOTH, _RECORDS):
        assert read().last_results() == dict.fromkeys([JOB.identity, "other"], LastResult(Outcome.EXECUTED))
    async with opened(make, NOTHING._replace(closed=[closed_from(13, 2)])):
        assert read().last_results()[JOB.identity] == LastResult(Outcome.MISSED)


async def a_job_is_failing_until_it_succeeds(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """An end that is neither, and an attempt that is retried, change nothing."""
    ends = [(ResultCode.FAILED, True), (ResultCode.STOPPED, True), (ResultCode.SUCCEEDED, False)]
    retried = RunEnd("retried", NOON, ResultCode.FAILED, 1, retry_at=NOON + 90 * MINUTE)
    async with opened(make, DECLARED) as ledger:
        for number, (result, is_failing) in enumerate(ends):
            run = attempt_at(number, f"run {number}")
            await ledger.append(NOTHING._replace(begun=[run], ended=[RunEnd(run.run_id, NOON, result)]))
            assert (JOB.identity in read().failing_jobs()) is is_failing
        await ledger.append(NOTHING._replace(begun=[attempt_at(9, "retried")], ended=[retried]))
        assert not read().failing_jobs()


async def the_duration_of_a_job_is_the_median_of_its_runs(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """Runs without an end, or whose end was not seen, do not count."""
    begun = [attempt_at(number, f"run {number}") for number in range(5)]
    took = {0: 10, 1: 600, 2: 20}
    ended = [RunEnd(f"run {number}", NOON + number * MINUTE + timedelta(seconds=each), ResultCode.SUCCEEDED)
             for number, each in took.items()]  # fmt: skip
    ended.append(RunEnd("run 3", NOON + 900 * MINUTE, ResultCode.UNKNOWN))
    async with opened(make, _BOTH, NOTHING._replace(begun=begun, ended=ended)):
        assert read().median_durations() == {JOB.identity: timedelta(seconds=20)}


async def a_boot_is_served_by_a_run_or_a_suspension(make: JobLedgerFactory, read: HistoryFactory) -> None:
    """Each boot is served by itself."""
    jobs = [JOB._replace(last_boot_id="boot 2"), _OTHER_JOB._replace(last_boot_id="boot 1")]
    held = JOB._replace(identity="held", is_suspended=True)
    async with opened(make, _BOTH._replace(jobs=[*jobs, held])):
        assert read().served_at_boot("boot 1") == {"other", "held"}


# --- evidence ---------------------------------------------------------------------------------------------------------


async def evidence_has_what_touches_an_instant_what_started_then_and_what_is_nearest(
    make: JobLedgerFactory, read: HistoryFactory
) -> None:
    """Each attempt of a period; a late run in the minute in which it began; a range around the instant."""
    late = attempt_at(20, "late")._replace(started=NOON + 31 * MINUTE)
    async with opened(make, _BOTH, _RECORDS, NOTHING._replace(begun=[late])):
        two, missed, started = (read().evidence(JOB.identity, NOON + at * MINUTE, NOON) for at in (2, 6, 31))

    assert (two.identity, two.name, two.definition) == (JOB.identity, JOB.name, DEFINITION)
    assert [each.row.run_id for each in two.touching] == ["two", "two again"]
    assert [(each.nominal, each.definition) for each in missed.touching] == [(NOON + 6 * MINUTE, DEFINITION)]
    assert {each.nominal for each in missed.nearest} == {NOON + 2 * MINUTE, NOON + 8 * MINUTE}
    assert [(each.nominal, each.row.run_id) for each in started.started] == [(NOON + 20 * MINUTE, "late")]


async def a_period_recorded_before_its_time_says_how_far_the_clock_was_ahead(
    make: JobLedgerFactory, read: HistoryFactory
) -> None:
    """The latest second of those that were recorded at an instant to come."""
    async with opened(make, _BOTH, _RECORDS):
        found = read().evidence(JOB.identity, NOON, NOON - 10 * MINUTE)

    assert found.ahead_until == NOON + 12 * MINUTE


HISTORY_SUITE: tuple[HistoryCheck, ...] = (
    rows_are_in_the_order_of_the_times_at_which_they_were_due,
    rows_are_those_of_one_job_or_with_one_outcome,
    a_span_includes_its_start_and_ranges_of_which_it_has_a_part,
    attempts_of_an_execution_can_be_one_row,
    rows_at_an_instant_are_those_that_it_touches,
    a_run_is_found_by_its_id,
    a_run_without_an_end_is_listed,
    problems_are_bad_ends_and_periods_without_a_run,
    a_failed_run_is_a_pending_retry_until_it_is_retried_or_given_up,
    jobs_are_listed_by_identity_also_those_that_are_gone,
    the_last_result_of_a_job_is_that_of_what_was_due_last,
    a_job_is_failing_until_it_succeeds,
    the_duration_of_a_job_is_the_median_of_its_runs,
    a_boot_is_served_by_a_run_or_a_suspension,
    evidence_has_what_touches_an_instant_what_started_then_and_what_is_nearest,
    a_period_recorded_before_its_time_says_how_far_the_clock_was_ahead,
)
