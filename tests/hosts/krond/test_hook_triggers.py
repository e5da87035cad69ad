"""Alarms: which hook is told of what."""

from datetime import UTC, datetime, timedelta

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.engine.runs import JobRun, Run
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
        self.errands: list[Notification] = []
        self.alarms = HookTriggers(self.errands.append)

    @property
    def events(self) -> list[str]:
        """What was told to hooks."""
        return [errand.event for errand in self.errands if errand.event != "ping"]

    @property
    def pings(self) -> list[str]:
        """What was got."""
        return [errand.hook.address() for errand in self.errands if isinstance(errand.hook, Ping)]

    def end(self, result: ResultCode, *, attempt: int = 1, retry_at: datetime | None = None) -> None:
        """Let an attempt end."""
        end = RunEnd("r-1", three + minute, result, retry_at=retry_at)
        self.alarms.on_ended([(execution(attempt=attempt), end)])


def execution(*, attempt: int = 1, started: datetime = three, before: str = "") -> JobRun:
    record = RunStart("r-1", "backup", RunKind.PERIOD, three, three, attempt, started, "key", "boot", before)
    run = Run(record, work_of(JOB))
    run.was_started = True
    return run


def sent_row(sent: SentNotifications) -> RunRow:
    row = sent.errands[-1].row
    assert row is not None
    return row


@pytest.mark.parametrize("result", [ResultCode.FAILED, ResultCode.TIMEOUT, ResultCode.NOT_STARTED])
def test_an_execution_that_fails_is_told_with_its_row(result: ResultCode) -> None:
    told = SentNotifications()

    told.end(result)

    assert told.events == ["failure"]
    assert sent_row(told).result is result


def test_an_attempt_that_is_tried_again_is_told_to_nobody() -> None:
    told = SentNotifications()

    told.end(ResultCode.FAILED, retry_at=AGAIN)
    told.end(ResultCode.SUCCEEDED, attempt=2)

    assert told.events == []
    assert told.pings == ["https://me:secret@ping/uuid?a=1#b"]


def test_the_last_attempt_decides_whether_the_execution_failed() -> None:
    told = SentNotifications()

    told.end(ResultCode.FAILED, retry_at=AGAIN)
    told.end(ResultCode.FAILED, attempt=2)

    assert told.events == ["failure"]


def test_only_the_first_success_after_failures_is_a_recovery() -> None:
    told = SentNotifications()

    for result in (
        ResultCode.SUCCEEDED,
        ResultCode.FAILED,
        ResultCode.FAILED,
        ResultCode.SUCCEEDED,
        ResultCode.SUCCEEDED,
    ):
        told.end(result)

    assert told.events == ["failure", "failure", "recovery"]


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED, ResultCode.UNKNOWN])
def test_what_neither_failed_nor_succeeded_is_told_to_nobody_and_changes_nothing(result: ResultCode) -> None:
    told = SentNotifications()

    for each in (ResultCode.FAILED, result, ResultCode.SUCCEEDED):
        told.end(each)

    assert told.events == ["failure", "recovery"]


@pytest.mark.parametrize("result", [ResultCode.REPLACED, ResultCode.STOPPED, ResultCode.UNKNOWN])
def test_who_got_the_ping_of_a_start_gets_that_of_an_end_however_it_came(result: ResultCode) -> None:
    told = SentNotifications()

    told.end(result)

    assert told.pings == ["https://me:secret@ping/uuid/fail?a=1#b"]


def test_an_execution_that_never_began_pings_no_end() -> None:
    told = SentNotifications()
    displaced = execution()
    displaced.was_started = False

    told.alarms.on_ended([(displaced, RunEnd("r-1", three, ResultCode.REPLACED))])

    assert told.errands == []


def test_an_execution_whose_next_attempt_is_given_up_has_failed() -> None:
    told = SentNotifications()

    told.end(ResultCode.TIMEOUT, retry_at=AGAIN)
    told.alarms.on_retry_dropped("r-1")

    assert told.events == ["failure"]
    assert sent_row(told).result is ResultCode.TIMEOUT
    assert told.pings == ["https://me:secret@ping/uuid/fail?a=1#b"]


def test_what_is_given_up_is_told_once_and_an_attempt_that_began_again_is_not() -> None:
    told = SentNotifications()

    told.end(ResultCode.FAILED, retry_at=AGAIN)
    told.alarms.on_started([execution(attempt=2, before="r-1")])
    told.alarms.on_retry_dropped("r-1")

    assert told.errands == []


def test_a_next_attempt_of_an_earlier_life_that_is_given_up_is_a_failure_if_its_job_is_known() -> None:
    told = SentNotifications()
    told.alarms.load_pending_retries(
        {"backup": JOB},
        [RunRow(each, each, RunKind.PERIOD, run_id=run) for each, run in (("backup", "old"), ("gone", "x"))],
    )

    for run_id in ("old", "x"):
        told.alarms.on_retry_dropped(run_id)

    assert told.events == ["failure"]
    assert sent_row(told).run_id == "old"


def test_a_job_that_failed_in_an_earlier_life_recovers_in_this_one() -> None:
    told = SentNotifications()
    told.alarms.load_failing({"backup"})

    told.end(ResultCode.SUCCEEDED)

    assert told.events == ["recovery"]


def test_what_this_life_has_seen_counts_more_than_what_the_ledger_says_later() -> None:
    told = SentNotifications()
    told.end(ResultCode.SUCCEEDED)

    told.alarms.load_failing({"backup"})
    told.end(ResultCode.SUCCEEDED)

    assert told.events == []


@pytest.mark.parametrize(("late", "events"), [(timedelta(seconds=60.9), []), (timedelta(seconds=61), ["late"])])
def test_a_start_is_late_above_the_limit_in_whole_seconds(late: timedelta, events: list[str]) -> None:
    told = SentNotifications()

    told.alarms.on_started([execution(started=three + late)])

    assert told.events == events


def test_only_the_first_attempt_can_be_late_or_begin() -> None:
    told = SentNotifications()

    told.alarms.on_started([execution(attempt=2, started=three + 10 * minute)])

    assert told.errands == []


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.value)
def test_of_periods_that_were_not_executed_only_the_missed_ones_are_told(outcome: Outcome) -> None:
    told = SentNotifications()
    record = PeriodRecord("backup", three, three, 1, three, three, outcome, "downtime", "", "key", three)

    told.alarms.on_closed(work_of(JOB), record, decide(TIMING, three))

    assert told.events == (["missed"] if outcome is Outcome.MISSED else [])


def test_an_execution_pings_its_start_and_its_end() -> None:
    told = SentNotifications()

    told.alarms.on_started([execution()])
    told.end(ResultCode.FAILED)

    assert told.pings == ["https://me:secret@ping/uuid/start?a=1#b", "https://me:secret@ping/uuid/fail?a=1#b"]


@pytest.mark.parametrize(
    ("to", "target"),
    [
        (Webhook("https://me:secret@host:8443/secret"), "host:8443"),
        (Ping("http://host?secret"), "host"),
        (HookCommand(("/usr/bin/mail", "secret")), "/usr/bin/mail"),
        (HookCommand(("/bin/sh", "-c", "TOKEN=secret page-somebody secret | cat")), "page-somebody"),
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
