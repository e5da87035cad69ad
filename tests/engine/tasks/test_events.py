"""The events of overrides, starts and ends, in causal order."""

from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from kron.engine.tasks.events import end_event, override_events, start_events
from kron.errors.base import describe_exception
from kron.instant import parse_instant
from kron.rules.contract import DECLARATIVE, POLLING, POLLING_DRAFT, Contract
from kron.rules.events import Event
from kron.rules.obligation import Obligation, ObligationReason
from kron.rules.override import Override, OverrideKind
from kron.rules.task_record import TaskRecord

NOON = parse_instant("2026-03-02T12:00:00Z")
NOW = NOON + timedelta(seconds=1, microseconds=5)
NEW = TaskRecord("report", "0 * * * *", timedelta(minutes=5), NOON)
RAN = NEW._replace(last_attempt=NOON, scheduler="scheduler-1")
CUT_OFF = RAN._replace(running_since=NOON)
CONFIGURATION = {"cronExpression": "0 * * * *", "retryDelayMs": 300_000}
CONTRACTS = [POLLING_DRAFT, POLLING, DECLARATIVE]

every_contract = pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)


def override_to_events(
    override: Override, contract: Contract, *, run_follows: bool = False, skipped: bool = False
) -> list[Event]:
    return list(override_events(override, contract, run_follows=run_follows, skipped=skipped))


def names(events: list[Event]) -> list[str]:
    return [each.name for each in events]


def orphaned(record: TaskRecord, last: str = "2026-03-02T12:00:00Z") -> dict[str, object]:
    return {"taskName": "report", "lastExecutionTime": last, "schedulerIdentifier": record.scheduler}


# --- what initialisation found ----------------------------------------------------------------------------------------


@every_contract
def test_a_new_task_is_added_and_scheduled(contract: Contract) -> None:
    events = override_to_events(Override(OverrideKind.NEW, None, NEW), contract)

    assert names(events) == ["TaskAdded", "TaskScheduled"]
    assert [dict(each.fields) for each in events] == [{"taskName": "report", **CONFIGURATION}] * 2


@every_contract
def test_an_equal_task_is_preserved_and_scheduled(contract: Contract) -> None:
    events = override_to_events(Override(OverrideKind.PRESERVED, RAN, RAN), contract)

    assert names(events) == ["TaskPreserved", "TaskScheduled"]
    assert dict(events[0].fields) == {"taskName": "report"}


@every_contract
def test_a_task_that_was_scheduled_already_is_skipped(contract: Contract) -> None:
    events = override_to_events(Override(OverrideKind.PRESERVED, RAN, RAN), contract, skipped=True)

    assert names(events) == ["TaskPreserved", "TaskSkipped"]
    assert dict(events[1].fields) == {"taskName": "report", "reason": "already scheduled and unchanged"}


@every_contract
@pytest.mark.parametrize("run_follows", [True, False], ids=["a run follows", "none follows"])
def test_a_changed_task_is_overridden_and_scheduled(contract: Contract, *, run_follows: bool) -> None:
    after = RAN._replace(cron="30 * * * *")

    events = override_to_events(
        Override(OverrideKind.OVERRIDDEN, RAN, after, changed=True), contract, run_follows=run_follows
    )

    assert names(events) == ["TaskOverridden", "TaskScheduled"]
    assert dict(events[0].fields) == {
        "taskName": "report",
        "changeType": "cronExpression",
        "oldState": CONFIGURATION,
        "newState": {"cronExpression": "30 * * * *", "retryDelayMs": 300_000},
        "runFollows": run_follows,
    }
    assert events[1].fields["cronExpression"] == "30 * * * *"


@pytest.mark.parametrize(
    ("after", "change"),
    [
        (RAN._replace(cron="30 * * * *"), "cronExpression"),
        (RAN._replace(retry_delay=timedelta(microseconds=1)), "retryDelayMs"),
        (RAN._replace(cron="30 * * * *", retry_delay=timedelta()), "cronExpression,retryDelayMs"),
    ],
)
def test_a_change_is_emitted_with_what_changed(after: TaskRecord, change: str) -> None:
    events = override_to_events(Override(OverrideKind.OVERRIDDEN, RAN, after, changed=True), DECLARATIVE)

    assert events[0].fields["changeType"] == change


def test_a_run_that_was_cut_off_is_an_orphan_where_the_word_means_that() -> None:
    events = override_to_events(Override(OverrideKind.ORPHANED, CUT_OFF, CUT_OFF), DECLARATIVE, run_follows=True)

    assert names(events) == ["TaskOrphaned", "TaskScheduled"]
    assert dict(events[0].fields) == orphaned(CUT_OFF)


def test_a_run_that_was_cut_off_is_no_orphan_where_the_word_means_something_else() -> None:
    events = override_to_events(Override(OverrideKind.ORPHANED, CUT_OFF, CUT_OFF), POLLING, run_follows=True)

    assert names(events) == ["TaskPreserved", "TaskScheduled"]


def test_a_cut_off_task_that_changed_is_overridden_and_then_orphaned() -> None:
    after = CUT_OFF._replace(cron="30 * * * *")

    events = override_to_events(
        Override(OverrideKind.ORPHANED, CUT_OFF, after, changed=True), DECLARATIVE, run_follows=True
    )

    assert names(events) == ["TaskOverridden", "TaskOrphaned", "TaskScheduled"]


@pytest.mark.parametrize("contract", [POLLING_DRAFT, POLLING], ids=lambda contract: contract.name)
@pytest.mark.parametrize(
    ("record", "last"), [(RAN, "2026-03-02T12:00:00Z"), (NEW, None)], ids=["that ran", "that never ran"]
)
def test_a_task_that_goes_is_an_orphan_where_the_word_means_that(
    contract: Contract, record: TaskRecord, last: str
) -> None:
    events = override_to_events(Override(OverrideKind.UNREGISTERED, record, None), contract)

    assert names(events) == ["TaskOrphaned"]
    assert dict(events[0].fields) == orphaned(record, last)


@pytest.mark.parametrize("record", [RAN, CUT_OFF], ids=["at rest", "cut off"])
def test_a_removed_task_has_no_event_where_an_orphan_means_another_thing(record: TaskRecord) -> None:
    assert override_to_events(Override(OverrideKind.UNREGISTERED, record, None), DECLARATIVE) == []


# --- starts -----------------------------------------------------------------------------------------------------------


def start(owed: Obligation, retry_count: int = 0) -> list[Event]:
    return list(start_events("report", owed, RAN._replace(retry_count=retry_count), NOW))


def test_a_start_is_emitted_with_its_scheduled_time() -> None:
    (started,) = start(Obligation(ObligationReason.DUE, NOON, preempts_retry=False))

    assert started.name == "TaskRunStarted"
    assert dict(started.fields) == {
        "taskName": "report",
        "scheduledTime": "2026-03-02T12:00:00Z",
        "actualTime": "2026-03-02T12:00:01.000005Z",
        "isRetry": False,
    }


def test_a_retry_is_emitted_with_its_count_before_the_start() -> None:
    events = start(Obligation(ObligationReason.RETRY, NOON, preempts_retry=False), retry_count=2)

    assert names(events) == ["TaskRetryStarted", "TaskRunStarted"]
    assert dict(events[0].fields) == {"taskName": "report", "retryCount": 2}
    assert events[1].fields["isRetry"] is True


@pytest.mark.parametrize("why", [ObligationReason.DUE, ObligationReason.ORPHANED], ids=lambda why: why.value)
def test_a_preempted_retry_is_emitted_before_the_start(why: ObligationReason) -> None:
    events = start(Obligation(why, NOON, preempts_retry=True))

    assert names(events) == ["TaskRetryPreempted", "TaskRunStarted"]
    assert dict(events[0].fields) == {"taskName": "report", "reason": f"a run is {why.value}"}
    assert events[1].fields["isRetry"] is False


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_success_is_emitted_with_its_duration_in_seconds() -> None:
    event = end_event("report", NOON, 1.5, None, None)

    assert event.name == "TaskRunCompleted"
    assert dict(event.fields) == {"taskName": "report", "duration": 1.5, "success": True}
    assert event.exception is None


def test_a_failure_is_emitted_with_its_error_and_its_retry() -> None:
    error = ValueError("no such table")

    event = end_event("report", NOON, 2.0, error, NOON)

    assert event.name == "TaskRunFailed"
    assert dict(event.fields) == {
        "taskName": "report",
        "duration": 2.0,
        "success": False,
        "error": "ValueError: no such table",
        "nextRetryAt": "2026-03-02T12:00:00Z",
    }
    assert event.exception is error


def test_a_failure_of_a_task_that_is_gone_has_no_retry() -> None:
    event = end_event("report", NOON, 2.0, KeyboardInterrupt(), None)

    assert event.name == "TaskRunFailed"
    assert "nextRetryAt" not in event.fields
    assert event.fields["error"] == "KeyboardInterrupt"


# --- errors in one line -----------------------------------------------------------------------------------------------


class UnspeakableError(Exception):
    """Its text cannot be made."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class WordlessError(Exception):
    """Its text is no text."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value] # noqa: PLE0307 # the mistake itself


class LethalError(Exception):
    """Asking for its text ends the program."""

    def __str__(self) -> str:
        raise SystemExit(1)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such table"), "ValueError: no such table"),
        (ValueError(), "ValueError"),
        (KeyError("name"), "KeyError: 'name'"),
        (SystemExit(3), "SystemExit: 3"),
        (ValueError("two\nlines\x1b[31m"), "ValueError: two\\nlines\\x1b[31m"),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (UnspeakableError(), "UnspeakableError"),
        (WordlessError(), "WordlessError"),
        (ExceptionGroup("several", [ValueError("a")]), "ExceptionGroup: several (1 sub-exception)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_an_error_is_emitted_in_one_line(error: BaseException, text: str) -> None:
    assert describe_exception(error) == text


def test_an_error_of_a_megabyte_is_cut() -> None:
    assert len(describe_exception(ValueError("x" * 1_000_000))) < 300


@given(st.text())
def test_the_text_of_any_error_can_be_printed(message: str) -> None:
    text = describe_exception(ValueError(message))

    assert text.isprintable()
    assert text.encode()


@pytest.mark.parametrize("name", ["Two\nLines", "x" * 10_000], ids=ascii)
def test_the_name_of_an_error_can_be_printed_too(name: str) -> None:
    text = describe_exception(type(name, (Exception,), {})("oh"))

    assert text.isprintable()
    assert len(text) < 500


def test_an_error_whose_text_ends_the_program_is_emitted_without_its_text() -> None:
    assert describe_exception(LethalError()) == "LethalError"
