"""Tests of JobMetrics: the outcomes of jobs as Prometheus reads them."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st
from prometheus_client.parser import text_string_to_metric_families

from kron.adapters.prometheus import JobGauges, JobMetrics
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.runs import JobRun
from kron.rules.job_record import ResultCode, RunEnd, RunKind, RunStart
from kron.rules.job_spec import JobSpec
from kron.rules.policy import Policy
from kron.testing.job_ledger_suite import JOB, MINUTE, NOON, RUN, closed_from

TIMING = Timing.parse("* * * * *", identity=JOB.identity)
WORK = JobSpec(JOB.identity, JOB.name, TIMING, Policy(), "{}")
NOW_DUE = decide(TIMING, NOON)
HERE = JobGauges(2, {JOB.identity: JOB}, {JOB.identity: 1_772_366_400.0}, 1_772_366_400.0)


def lines(metrics: JobMetrics, present: JobGauges = HERE) -> set[str]:
    return set(metrics.snapshot(present).render().decode().splitlines())


def begin(metrics: JobMetrics, attempt: RunStart) -> JobRun:
    execution = JobRun(attempt, WORK)
    execution.was_started = True
    metrics.on_started([execution])
    return execution


def test_an_execution_is_counted_once_and_its_lateness_is_that_of_its_first_attempt() -> None:
    metrics = JobMetrics()

    begin(metrics, RUN._replace(started=NOON + timedelta(milliseconds=30)))
    begin(metrics, RUN._replace(started=NOON + MINUTE, attempt=2))

    assert {
        f'kron_runs_total{{job="{JOB.identity}",outcome="executed"}} 1.0',
        'kron_run_lateness_seconds_bucket{le="0.025"} 0.0',
        'kron_run_lateness_seconds_bucket{le="0.05"} 1.0',
        "kron_run_lateness_seconds_count 1.0",
    } <= lines(metrics)


def test_an_extra_run_is_counted_and_cannot_be_late() -> None:
    metrics = JobMetrics()

    begin(metrics, RUN._replace(kind=RunKind.TRIGGER, nominal=None, chosen=None))

    assert {
        f'kron_runs_total{{job="{JOB.identity}",outcome="executed"}} 1.0',
        "kron_run_lateness_seconds_count 0.0",
    } <= lines(metrics)


def test_every_period_of_a_range_is_counted() -> None:
    metrics = JobMetrics()

    metrics.on_closed(WORK, closed_from(4, 5), NOW_DUE)

    assert f'kron_runs_total{{job="{JOB.identity}",outcome="missed"}} 5.0' in lines(metrics)


@pytest.mark.parametrize(
    ("result", "seen"), [(ResultCode.FAILED, 1), (ResultCode.UNKNOWN, 0), (ResultCode.NOT_STARTED, 0)]
)
def test_every_end_is_counted_and_its_duration_if_it_was_observed(result: ResultCode, seen: int) -> None:
    metrics = JobMetrics()

    metrics.on_ended([(begin(metrics, RUN), RunEnd(RUN.run_id, RUN.started + MINUTE, result))])

    assert {
        f'kron_run_results_total{{job="{JOB.identity}",result="{result.value}"}} 1.0',
        f"kron_run_duration_seconds_count {seen}.0",
        f"kron_run_duration_seconds_sum {60 * seen}.0",
    } <= lines(metrics)


def test_gauges_show_the_present_jobs() -> None:
    assert {
        "kron_active_runs 2.0",
        "kron_jobs 1.0",
        f'kron_next_chosen_timestamp_seconds{{job="{JOB.identity}"}} 1772366400.0',
    } <= lines(JobMetrics())


@given(st.lists(st.text(), unique=True))
def test_every_identity_is_read_as_it_was_written(identities: list[str]) -> None:
    metrics = JobMetrics()
    for identity in identities:
        begin(metrics, RUN._replace(identity=identity))

    text = metrics.snapshot(JobGauges(0, identities, {}, 0.0)).render().decode()

    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = [sample for sample in families["kron_runs"].samples if sample.labels["outcome"] == "executed"]
    assert [sample.labels["job"] for sample in samples] == identities


def test_removed_jobs_are_not_exported_and_are_forgotten() -> None:
    metrics = JobMetrics()
    begin(metrics, RUN)
    no_jobs = JobGauges(0, {}, {}, 0.0)

    assert not [line for line in lines(metrics, no_jobs) if JOB.identity in line]
    metrics.retain({})
    assert not [line for line in lines(metrics) if "executed" in line]


def test_counters_for_alerts_start_at_zero() -> None:
    assert {
        f'kron_runs_total{{job="{JOB.identity}",outcome="missed"}} 0.0',
        f'kron_run_results_total{{job="{JOB.identity}",result="failed"}} 0.0',
    } <= lines(JobMetrics())


def test_an_expected_run_is_late_from_the_moment_after_its_second() -> None:
    punctual = lines(JobMetrics())
    late = lines(JobMetrics(), HERE._replace(now=1_772_366_490.5))

    assert "kron_late_jobs 0.0" in punctual
    assert not [line for line in punctual if line.startswith("kron_expected_lateness_seconds")]
    assert {"kron_late_jobs 1.0", f'kron_expected_lateness_seconds{{job="{JOB.identity}"}} 90.5'} <= late


def test_a_hook_that_was_given_up_is_counted() -> None:
    metrics = JobMetrics()

    metrics.on_hook_failure()

    assert "kron_hook_failures_total 1.0" in lines(metrics)


def test_each_append_to_the_ledger_is_counted_with_its_time() -> None:
    metrics = JobMetrics()

    metrics.on_append(0.003)

    assert {
        'kron_ledger_append_seconds_bucket{le="0.0025"} 0.0',
        'kron_ledger_append_seconds_bucket{le="0.005"} 1.0',
        "kron_ledger_append_seconds_count 1.0",
    } <= lines(metrics)


def test_jobs_that_are_set_aside_are_counted() -> None:
    assert "kron_jobs_set_aside 3.0" in lines(JobMetrics(), HERE._replace(aside=3))
