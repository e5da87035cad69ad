"""The states of a task: waiting for its time, running, waiting for a retry."""

from kron.rules.contract import Contract
from kron.rules.task_record import TaskRecord
from tests.conformance.citing import clause
from tests.conformance.contract_harness import HOUR, MINUTE, ContractHarness, at, times
from tests.rules.lifecycles import TASK_STATES

RUNS = ("TaskRunStarted", "TaskRunCompleted", "TaskRunFailed", "TaskRetryStarted", "TaskRetryPreempted")


def state(record: TaskRecord) -> str:
    """Return the state that the record shows; it shows one alone."""
    runs, retries = record.running_since is not None, record.retry_until is not None
    assert not (runs and retries), "a task cannot run and wait for a retry"
    if runs:
        return "Running"
    return "AwaitingRetry" if retries else "AwaitingRun"


@clause("task.three-states")
async def test_a_task_that_fails_once_is_at_each_moment_in_one_of_three_states(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE, fails=1))

    seen = []
    for moment in ("10:59", "11:01", "11:03", "11:08", "11:10"):
        await harness.until(moment)
        seen.append(state(harness.record()))

    assert seen == ["AwaitingRun", "Running", "AwaitingRetry", "Running", "AwaitingRun"]
    assert {str(row.source.value) for row in TASK_STATES} | {str(row.target.value) for row in TASK_STATES} == set(seen)


# --- from waiting to running ------------------------------------------------------------------------------------------


@clause("task.due")
async def test_a_task_starts_when_its_minute_comes_and_not_before(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task())

    await harness.until("10:59:59")
    early = harness.starts()
    await harness.until("11:00")

    assert early == []
    assert harness.starts() == times("11:00")


@clause("task.due")
async def test_a_start_is_recorded_as_an_attempt_before_the_callback_is_called(contract: Contract) -> None:
    harness = ContractHarness(contract)
    seen: list[TaskRecord] = []

    async def look() -> None:
        seen.append(harness.record())

    await harness.start(("report", "0 * * * *", look, MINUTE))

    await harness.until("11:00")

    assert [record.last_attempt for record in seen] == times("11:00")


@clause("task.due")
async def test_a_start_is_emitted(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=MINUTE), harness.task("other", "30 * * * *"))

    await harness.until("11:00")

    assert [event.fields["taskName"] for event in harness.events_named("TaskRunStarted")] == ["other", "report"]


@clause("task.once-a-minute")
async def test_a_task_that_has_run_in_its_minute_does_not_start_in_it_again(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task())

    await harness.until("11:59:59")

    assert harness.starts() == times("11:00")


@clause("task.once-a-minute")
async def test_a_task_that_has_run_in_its_minute_does_not_start_for_it_after_a_restart(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:00:10")
    scheduler = await harness.start(harness.task())
    await harness.until("11:00:20")
    await scheduler.stop()

    await harness.start(harness.task())
    await harness.until("11:30")

    assert harness.starts() == times("11:00:10")


@clause("task.missed")
async def test_a_task_that_missed_an_occurrence_starts_at_once_in_whatever_minute(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await harness.until("11:30")
    await scheduler.stop()
    await harness.until("12:17:20")

    await harness.start(harness.task())

    assert harness.starts() == times("11:00", "12:17:20")


@clause("task.missed")
async def test_a_task_that_missed_nothing_since_its_last_start_waits_for_its_minute(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task())
    await harness.until("11:10")
    await scheduler.stop()
    await harness.until("11:50")

    await harness.start(harness.task())
    await harness.until("12:00")

    assert harness.starts() == times("11:00", "12:00")


@clause("task.missed")
async def test_an_occurrence_that_came_during_a_run_is_made_up_for_when_it_ends(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(cron="0,20 * * * *", takes=25 * MINUTE))

    await harness.until("11:26")

    assert harness.starts() == times("10:20", "11:00", "11:25")


@clause("task.missed-before-its-time")
async def test_an_occurrence_before_the_first_registration_is_not_missed(contract: Contract) -> None:
    harness = ContractHarness(contract, "11:01")

    await harness.start(harness.task())
    await harness.until("11:59:59")

    assert harness.starts() == []


@clause("task.missed-before-its-time")
async def test_an_occurrence_after_the_first_registration_is_missed_by_a_task_that_never_ran(
    contract: Contract,
) -> None:
    harness = ContractHarness(contract, "10:07:30")
    scheduler = await harness.start(harness.task())
    await scheduler.stop()
    await harness.until("11:17:20")

    await harness.start(harness.task())

    assert harness.starts() == times("11:17:20")


# --- from running to waiting ------------------------------------------------------------------------------------------


@clause("task.succeeds")
async def test_a_success_is_recorded_and_emitted_and_the_task_waits_for_its_time(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE))

    await harness.until("11:30")

    assert harness.record().last_success == at("11:02")
    assert state(harness.record()) == "AwaitingRun"
    assert harness.event_names(*RUNS) == ["TaskRunStarted", "TaskRunCompleted"]
    assert harness.starts() == times("11:00")


@clause("task.succeeds")
async def test_a_success_clears_the_retry_of_the_failure_before_it(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(fails=1))

    await harness.until("11:59")

    assert harness.record().retry_until is None
    assert harness.starts() == times("11:00", "11:05")


@clause("task.fails")
async def test_a_failure_is_recorded_and_a_retry_allowed_one_delay_after_its_end(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=2 * MINUTE, fails=1, retry=7 * MINUTE))

    await harness.until("11:03")

    record = harness.record()
    assert (record.last_failure, record.retry_until) == (at("11:02"), at("11:09"))
    assert state(record) == "AwaitingRetry"


@clause("task.fails")
async def test_a_failure_is_emitted_and_not_a_success(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(fails=1))

    await harness.until("11:01")

    assert harness.event_names(*RUNS) == ["TaskRunStarted", "TaskRunFailed"]
    assert harness.record().last_success is None


# --- from waiting for a retry -----------------------------------------------------------------------------------------


@clause("task.retries")
async def test_a_retry_starts_when_it_is_allowed_and_not_before(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(fails=1))

    await harness.until("11:04:59")
    early = harness.starts()
    await harness.until("11:05")

    assert early == times("11:00")
    assert harness.starts() == times("11:00", "11:05")


@clause("task.retries")
async def test_the_start_of_a_retry_is_emitted_recorded_as_an_attempt_and_clears_the_retry(contract: Contract) -> None:
    harness = ContractHarness(contract)
    await harness.start(harness.task(takes=MINUTE, fails=1))

    await harness.until("11:06:30")

    record = harness.record()
    assert (state(record), record.last_attempt, record.retry_until) == ("Running", at("11:06"), None)
    assert harness.event_names(*RUNS)[:3] == ["TaskRunStarted", "TaskRunFailed", "TaskRetryStarted"]


@clause("task.retries")
async def test_a_retry_that_became_allowed_without_a_scheduler_starts_with_the_next_one(contract: Contract) -> None:
    harness = ContractHarness(contract)
    scheduler = await harness.start(harness.task(fails=1))
    await harness.until("11:01")
    await scheduler.stop()
    await harness.until("11:20")

    await harness.start(harness.task())

    assert harness.starts() == times("11:00", "11:20")
    assert len(harness.events_named("TaskRetryStarted")) == 1


@clause("task.preempted")
async def test_an_occurrence_during_the_wait_for_a_retry_starts_the_task_in_its_place(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:57:30")
    await harness.start(harness.task(cron="0,3 * * * *", fails=1))

    await harness.until("11:59")

    assert harness.starts() == times("11:00", "11:03")
    assert harness.event_names(*RUNS) == [
        "TaskRunStarted", "TaskRunFailed", "TaskRetryPreempted", "TaskRunStarted", "TaskRunCompleted",
    ]  # fmt: skip


@clause("task.preempted")
async def test_the_start_that_comes_before_a_retry_clears_it(contract: Contract) -> None:
    harness = ContractHarness(contract, "10:57:30")
    await harness.start(harness.task(cron="0,30 * * * *", retry=2 * HOUR, fails=1, takes=MINUTE))

    await harness.until("11:30:30")

    record = harness.record()
    assert (state(record), record.last_attempt, record.retry_until) == ("Running", at("11:30"), None)
