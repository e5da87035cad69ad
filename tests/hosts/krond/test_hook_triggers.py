"""Tests of HookTriggers: which hook is called for which event."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.runs import JobRun
from kron.hosts.krond.hooks import HookTriggers, Notification, Ping
from kron.jobfile.host_job import Command, HookCommand, Hooks, HostJob, Webhook, work_of
from kron.rules.history import RunRow
from kron.rules.job_record import PeriodRecord, ResultCode, RunEnd, RunKind, RunStart
from kron.rules.policy import Policy
from kron.rules.verdict import Outcome

three = datetime(2026, 1, 5, 3, tzinfo=UTC)
minute = timedelta(minutes=1)
TIMING = Timing.parse("0 3 * * *", identity="backup")
HOOK = (Webhook("http://hooks/"),)
HOOKS = Hooks(HOOK, HOOK, HOOK, HOOK, ping="https://me:secret@ping/uuid?a=1#b")
JOB = HostJob("backup", "backup", "0 3 * * *", "UTC", TIMING, Policy(), Command(("true",)), hooks=HOOKS)
AGAIN = three + minute


class SentNotifications:
    """The notifications that the hook triggers of one job have sent."""

    def __init__(self) -> None:
        self.queued: list[Notification] = []
        self.alarms = HookTriggers(self.queued.append)

    @property
    def events(self) -> list[str]:
        """The events that hooks were called for."""
        return [errand.event for errand in self.queued if errand.event != "ping"]

    @property
    def pings(self) -> list[str]:
        """The addresses that were pinged."""
        return [errand.hook.address() for errand in self.queued if isinstance(errand.hook, Ping)]

    def end(self, result: ResultCode, *, attempt: int = 1, retry_at: datetime | None = None) -> None:
        """Let an attempt end."""
        end = RunEnd("r-1", three + minute, result, retry_at=retry_at)
        self.alarms.on_ended([(execution(attempt=attempt), end)])


def execution(*, attempt: int = 1, started: datetime = three, before: str = "") -> JobRun:
    record = RunStart("r-1", "backup", RunKind.PERIOD, three, three, attempt, started, "key", "boot", before)
    run = JobRun(record, work_of(JOB))
    run.was_started = True
    return run


def sent_row(sent: SentNotifications) -> RunRow:
    row = sent.queued[-1].row
    assert row is not None
    return row


@pytest.mark.parametrize("result", [ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED])
def test_a_failed_run_is_notified_with_its_row(result: ResultCode) -> None:
    notifications = SentNotifications()

    notifications.end(result)

    assert notifications.events == ["failure"]
    assert sent_row(notifications).result is result


def test_an_attempt_that_is_retried_is_not_notified() -> None:
    notifications = SentNotifications()

    notifications.end(ResultCode.FAILED, retry_at=AGAIN)
    notifications.end(ResultCode.SUCCEEDED, attempt=2)

    assert notifications.events == []
    assert notifications.pings == ["https://me:secret@ping/uuid?a=1#b"]


def test_the_last_attempt_decides_whether_the_execution_failed() -> None:
    notifications = SentNotifications()

    notifications.end(ResultCode.FAILED, retry_at=AGAIN)
    notifications.end(ResultCode.FAILED, attempt=2)

    assert notifications.events == ["failure"]


def test_only_the_first_success_after_failures_is_a_recovery() -> None:
    notifications = SentNotifications()

    for result in (
        ResultCode.SUCCEEDED,
        ResultCode.FAILED,
        ResultCode.FAILED,
        ResultCode.SUCCEEDED,
        ResultCode.SUCCEEDED,
    ):
        notifications.end(result)

    assert notifications.events == ["failure", "failure", "recovery"]


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED, ResultCode.UNKNOWN])
def test_a_result_that_is_neither_failure_nor_success_is_not_notified_and_changes_nothing(result: ResultCode) -> None:
    notifications = SentNotifications()

    for each in (ResultCode.FAILED, result, ResultCode.SUCCEEDED):
        notifications.end(each)

    assert notifications.events == ["failure", "recovery"]


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED, ResultCode.UNKNOWN])
def test_a_ping_of_a_start_is_followed_by_one_of_the_end_however_it_came(result: ResultCode) -> None:
    notifications = SentNotifications()

    notifications.end(result)

    assert notifications.pings == ["https://me:secret@ping/uuid/fail?a=1#b"]


def test_an_execution_that_never_began_pings_no_end() -> None:
    notifications = SentNotifications()
    displaced = execution()
    displaced.was_started = False

    notifications.alarms.on_ended([(displaced, RunEnd("r-1", three, ResultCode.REPLACED))])

    assert notifications.queued == []


def test_an_execution_whose_next_attempt_is_given_up_has_failed() -> None:
    notifications = SentNotifications()

    notifications.end(ResultCode.TIMEOUT, retry_at=AGAIN)
    notifications.alarms.on_retry_dropped("r-1")

    assert notifications.events == ["failure"]
    assert sent_row(notifications).result is ResultCode.TIMEOUT
    assert notifications.pings == ["https://me:secret@ping/uuid/fail?a=1#b"]


def test_a_given_up_retry_is_notified_once_and_an_attempt_that_began_again_is_not() -> None:
    notifications = SentNotifications()

    notifications.end(ResultCode.FAILED, retry_at=AGAIN)
    notifications.alarms.on_started([execution(attempt=2, before="r-1")])
    notifications.alarms.on_retry_dropped("r-1")

    assert notifications.queued == []


def test_a_next_attempt_of_an_earlier_life_that_is_given_up_is_a_failure_if_its_job_is_known() -> None:
    notifications = SentNotifications()
    notifications.alarms.load_pending_retries(
        {"backup": JOB},
        [RunRow(each, each, RunKind.PERIOD, run_id=run) for each, run in (("backup", "old"), ("gone", "x"))],
    )

    for run_id in ("old", "x"):
        notifications.alarms.on_retry_dropped(run_id)

    assert notifications.events == ["failure"]
    assert sent_row(notifications).run_id == "old"


def test_a_job_that_failed_in_an_earlier_life_recovers_in_this_one() -> None:
    notifications = SentNotifications()
    notifications.alarms.load_failing({"backup"})

    notifications.end(ResultCode.SUCCEEDED)

    assert notifications.events == ["recovery"]


def test_results_of_this_process_count_more_than_those_of_the_ledger() -> None:
    notifications = SentNotifications()
    notifications.end(ResultCode.SUCCEEDED)

    notifications.alarms.load_failing({"backup"})
    notifications.end(ResultCode.SUCCEEDED)

    assert notifications.events == []


@pytest.mark.parametrize(("late", "events"), [(timedelta(seconds=60.9), []), (timedelta(seconds=61), ["late"])])
def test_a_start_is_late_above_the_limit_in_whole_seconds(late: timedelta, events: list[str]) -> None:
    notifications = SentNotifications()

    notifications.alarms.on_started([execution(started=three + late)])

    assert notifications.events == events


def test_only_the_first_attempt_can_be_late_or_begin() -> None:
    notifications = SentNotifications()

    notifications.alarms.on_started([execution(attempt=2, started=three + 10 * minute)])

    assert notifications.queued == []


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.value)
def test_of_periods_that_were_not_executed_only_the_missed_ones_are_notified(outcome: Outcome) -> None:
    notifications = SentNotifications()
    record = PeriodRecord("backup", three, three, 1, three, three, outcome, "downtime", "", "key", three)

    notifications.alarms.on_closed(work_of(JOB), record, decide(TIMING, three))

    assert notifications.events == (["missed"] if outcome is Outcome.MISSED else [])


def test_an_execution_pings_its_start_and_its_end() -> None:
    notifications = SentNotifications()

    notifications.alarms.on_started([execution()])
    notifications.end(ResultCode.FAILED)

    assert notifications.pings == ["https://me:secret@ping/uuid/start?a=1#b", "https://me:secret@ping/uuid/fail?a=1#b"]


@pytest.mark.parametrize(
    ("to", "target"),
    [
        (Webhook("https://me:secret@host:8443/secret"), "host:8443"),
        (Ping("http://host?secret"), "host"),
        (HookCommand(("/usr/bin/mail", "secret")), "/usr/bin/mail"),
        (HookCommand(("/bin/sh", "-c", "TOKEN=secret page-oncall secret | cat")), "page-oncall"),
    ],
    ids=["an address", "a ping", "a command", "a text for a shell"],
)
def test_events_name_whom_an_errand_goes_to_without_what_may_be_secret(
    to: Webhook | Ping | HookCommand, target: str
) -> None:
    assert Notification(JOB, "failure", to, None).destination == target


def test_a_job_without_hooks_is_defined_as_before_and_one_with_hooks_by_them_too() -> None:
    plain = HostJob("backup", "backup", "0 3 * * *", "UTC", TIMING, Policy(), Command(("true",)))

    assert "hooks" not in work_of(plain).definition
    assert work_of(plain).definition_key != work_of(JOB).definition_key
