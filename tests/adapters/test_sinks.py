"""Tests of the sinks: events for people and for machines."""

import io
import json
import logging

import pytest

from kron.adapters.sinks import JsonLinesSink, LoggingSink, TextSink
from kron.rules.events import make_event
from kron.rules.history import RunRow
from kron.testing.job_ledger_suite import closed_from
from tests.hosts.scheduler_harness import NOON

NASTY = "two\nlines \x1b[31m and red"


def test_a_line_of_json_holds_the_event_and_its_time() -> None:
    stream = io.StringIO()

    JsonLinesSink(stream, lambda: NOON)(make_event("TaskPreserved", taskName=NASTY))

    assert json.loads(stream.getvalue()) == {
        "time": "2026-03-01T12:00:00Z", "level": "DEBUG", "event": "TaskPreserved", "taskName": NASTY,
    }  # fmt: skip


def test_an_event_is_one_line_of_json_whatever_a_name_holds() -> None:
    stream = io.StringIO()

    JsonLinesSink(stream, lambda: NOON)(make_event("TaskPreserved", taskName=NASTY))

    assert stream.getvalue().count("\n") == 1


def test_a_line_for_people_has_the_important_fields_of_a_run() -> None:
    stream = io.StringIO()
    row = {
        "kind": "period", "run_id": "7f-1", "identity": "/etc/krond/jobs.toml:backup", "name": "backup",
        "period_id": "2026-03-01T11:00:00Z", "nominal_time": "2026-03-01T11:00:00Z",
        "chosen_time": "2026-03-01T11:59:57Z", "outcome": "executed", "reason": None, "detail": None,
        "started_at": "2026-03-01T11:59:57.004Z", "ended_at": "2026-03-01T12:00:00.104Z", "state": "completed",
        "result": "failed", "exit_code": 1, "signal": None, "attempt": 1, "attempts": 1, "again": None,
        "duration": 3.1, "lateness": 0,
    }  # fmt: skip

    TextSink(stream, lambda: NOON)(make_event("RunEnded", **row))

    assert stream.getvalue() == (
        "12:00:00Z   RunEnded run_id=7f-1 name=backup chosen_time=2026-03-01T11:59:57Z outcome=executed result=failed "
        "exit_code=1 attempt=1 duration=3.1 lateness=0\n"
    )


def test_a_line_for_people_leaves_out_what_the_decisions_of_a_range_are_computed_from() -> None:
    stream, record = io.StringIO(), closed_from(4, 5)
    row = {**RunRow.of_closed("backup", record).to_dict(), "decisions": {"identity": "a", "definition": "* * * * *"}}

    TextSink(stream, lambda: NOON)(make_event("PeriodMissed", **row))

    assert "count=5" in stream.getvalue()
    assert "decisions" not in stream.getvalue()


def test_a_line_for_people_has_no_character_that_a_terminal_would_obey() -> None:
    stream = io.StringIO()

    TextSink(stream, lambda: NOON)(make_event("TaskPreserved", taskName=NASTY))

    assert stream.getvalue() == '12:00:00Z   TaskPreserved taskName="two?lines ?[31m and red"\n'


def test_a_log_line_has_no_character_that_a_terminal_would_obey(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kron"):
        LoggingSink()(make_event("TaskPreserved", taskName=NASTY))

    [record] = caplog.records
    assert record.getMessage() == 'TaskPreserved taskName="two\\nlines \\x1b[31m and red"'


def test_a_quote_inside_quotes_is_escaped(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kron"):
        LoggingSink()(make_event("TaskPreserved", taskName='say "hello" twice'))

    assert caplog.records[0].getMessage() == 'TaskPreserved taskName="say \\"hello\\" twice"'


def test_a_log_line_cuts_a_name_of_ten_thousand_characters(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kron"):
        LoggingSink()(make_event("TaskPreserved", taskName="x" * 10_000))

    assert len(caplog.records[0].getMessage()) < 300


def test_a_log_record_carries_the_event_for_structured_handlers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "kron"):
        LoggingSink()(make_event("TaskPreserved", taskName=NASTY))

    assert vars(caplog.records[0])["fields"] == {"taskName": NASTY}


def test_a_failed_run_is_logged_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    failure = make_event(
        "TaskRunFailed", ValueError("no"), taskName="a", duration=0.1, success=False, error="ValueError: no"
    )

    with caplog.at_level(logging.DEBUG, "kron"):
        LoggingSink()(failure)

    assert caplog.records[0].exc_info is not None


def test_a_quiet_logger_wants_no_details() -> None:
    logger = logging.getLogger("kron.test_a_quiet_logger")
    logger.setLevel(logging.WARNING)

    sink = LoggingSink(logger)

    assert [level for level in ("DEBUG", "INFO", "WARNING") if sink.wants(level)] == ["WARNING"]
