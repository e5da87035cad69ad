"""The events of runs and retries, and their order."""

from kron.rules.contract import Contract
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, SECOND, ContractHarness

_STARTS = ("TaskRunStarted", "TaskRetryStarted", "TaskRetryPreempted")
_ENDS = ("TaskRunCompleted", "TaskRunFailed")
_LIST = ("TaskAdded", "TaskScheduled", "TaskOverridden", "TaskPreserved", "TaskSkipped", "TaskOrphaned")


@clause("events.run-started")
async def test_the_start_of_a_run_has_its_due_time_and_its_start_time(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    scheduler = await harness.start(harness.task())
    await scheduler.stop()
    await harness.until("11:20:15")

    await harness.start(harness.task())

    (started,) = harness.events_named("TaskRunStarted")
    assert started.level == "INFO"
    assert dict(started.fields) == {
        "taskName": "report",
        "scheduledTime": "2026-03-02T11:00:00Z",
        "actualTime": "2026-03-02T11:20:15Z",
        "isRetry": False,
    }


@clause("events.run-started")
async def test_the_start_of_a_retry_says_that_it_is_one(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, retry=5 * MINUTE))

    await harness.until("11:05")

    first, second = harness.events_named("TaskRunStarted")
    assert [first.fields["isRetry"], second.fields["isRetry"]] == [False, True]
    assert second.fields["actualTime"] == "2026-03-02T11:05:00Z"


@clause("events.run-completed")
async def test_the_end_of_a_successful_run_has_its_duration_and_success(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(takes=90 * SECOND))

    await harness.until("11:02")

    (completed,) = harness.events_named("TaskRunCompleted")
    assert completed.level == "INFO"
    assert dict(completed.fields) == {"taskName": "report", "duration": 90.0, "success": True}


@clause("events.run-failed")
async def test_the_end_of_a_failed_run_has_its_duration_its_error_and_its_retry_time(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(takes=90 * SECOND, fails=1, retry=5 * MINUTE))

    await harness.until("11:02")

    (failed,) = harness.events_named("TaskRunFailed")
    assert failed.level == "WARNING"
    assert dict(failed.fields) == {
        "taskName": "report",
        "duration": 90.0,
        "success": False,
        "error": "BrokenError: report is broken",
        "nextRetryAt": "2026-03-02T11:06:30Z",
    }
    assert harness.events_named("TaskRunCompleted") == []


@clause("events.retry-started")
async def test_each_retry_has_its_number(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=2, retry=5 * MINUTE))

    await harness.until("11:59")

    retries = harness.events_named("TaskRetryStarted")
    assert [event.level for event in retries] == ["INFO", "INFO"]
    assert [dict(event.fields) for event in retries] == [
        {"taskName": "report", "retryCount": 1},
        {"taskName": "report", "retryCount": 2},
    ]


@clause("events.retry-preempted")
async def test_a_retry_before_which_an_occurrence_is_due_is_emitted_as_preempted_with_the_reason(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, retry=2 * HOUR))

    await harness.until("12:00")

    (preempted,) = harness.events_named("TaskRetryPreempted")
    assert preempted.level == "INFO"
    assert dict(preempted.fields) == {"taskName": "report", "reason": "a run is due"}


@clause("events.causal-order")
async def test_a_task_is_added_before_it_is_scheduled_and_scheduled_before_it_runs(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:30")

    await harness.start(harness.task())

    assert harness.event_names(*_LIST, *_STARTS, *_ENDS) == [
        "TaskAdded",
        "TaskScheduled",
        "TaskRunStarted",
        "TaskRunCompleted",
    ]


@clause("events.causal-order")
async def test_a_failure_comes_before_its_retry_and_a_retry_before_its_run(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, retry=5 * MINUTE))

    await harness.until("11:05")

    assert harness.event_names(*_STARTS, *_ENDS) == [
        "TaskRunStarted",
        "TaskRunFailed",
        "TaskRetryStarted",
        "TaskRunStarted",
        "TaskRunCompleted",
    ]


@clause("events.causal-order")
async def test_a_preemption_comes_after_the_failure_and_before_the_run_that_preempts(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(fails=1, retry=2 * HOUR))

    await harness.until("12:00")

    assert harness.event_names(*_STARTS, *_ENDS) == [
        "TaskRunStarted",
        "TaskRunFailed",
        "TaskRetryPreempted",
        "TaskRunStarted",
        "TaskRunCompleted",
    ]


@clause("events.causal-order")
async def test_the_end_of_a_run_comes_before_the_start_of_the_run_that_waited_for_it(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:59:30")
    await harness.start(harness.task(takes=90 * MINUTE))

    await harness.until("12:30")

    assert harness.event_names(*_STARTS, *_ENDS) == ["TaskRunStarted", "TaskRunCompleted", "TaskRunStarted"]
