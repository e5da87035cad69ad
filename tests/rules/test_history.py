"""Rows of the history: every one has the same keys, and says no more than is known."""

from datetime import timedelta

import pytest

from kron.rules.history import closed_row, format_milliseconds, run_row
from kron.rules.job_record import ResultCode, RunEnd
from kron.testing.job_ledger_suite import FAILED, MINUTE, MISSED, NOON, NOW, RUN, TRIGGERED, closed_from

KEYS = [
    *("kind", "run_id", "identity", "name", "period_id", "nominal_time", "chosen_time", "outcome", "reason", "detail"),
    *(
        "started_at",
        "ended_at",
        "state",
        "result",
        "exit_code",
        "signal",
        "attempt",
        "attempts",
        "again",
        "duration",
        "lateness",
    ),
]


def test_every_row_has_all_keys_in_one_order() -> None:
    rows = [run_row("x", RUN, None, attempts=1), run_row("x", TRIGGERED, FAILED, attempts=1), closed_row("x", MISSED)]

    assert [list(row) for row in rows] == [KEYS] * 3


def test_a_range_has_three_keys_more() -> None:
    row = closed_row("x", closed_from(3, 4))

    assert list(row) == [*KEYS, "first_period_id", "last_period_id", "count"]
    assert (row["kind"], row["first_period_id"], row["last_period_id"], row["count"]) == (
        "range",
        "2026-03-01T12:03:00Z",
        "2026-03-01T12:06:00Z",
        4,
    )
    assert row["period_id"] == row["nominal_time"] == row["chosen_time"] == row["last_period_id"]


def test_a_run_that_goes_on_is_executed_and_has_no_result() -> None:
    row = run_row("backup", RUN, None, attempts=1)

    assert row == {
        "kind": "period",
        "run_id": "run 1",
        "identity": RUN.identity,
        "name": "backup",
        "period_id": "2026-03-01T12:00:00Z",
        "nominal_time": "2026-03-01T12:00:00Z",
        "chosen_time": "2026-03-01T12:00:00Z",
        "outcome": "executed",
        "reason": None,
        "detail": None,
        "started_at": "2026-03-01T12:00:07.123Z",
        "ended_at": None,
        "state": "running",
        "result": None,
        "exit_code": None,
        "signal": None,
        "attempt": 1,
        "attempts": 1,
        "again": None,
        "duration": None,
        "lateness": 7,
    }


def test_a_run_that_has_ended_says_how_and_how_long_it_took() -> None:
    row = run_row("backup", RUN, FAILED, attempts=2)

    assert (row["state"], row["result"], row["exit_code"], row["signal"]) == ("completed", "failed", 3, None)
    assert (row["ended_at"], row["duration"], row["detail"]) == ("2026-03-01T12:01:07.123Z", 60.0, "It said 3.")
    assert row["attempts"] == 2


def test_a_clock_that_was_set_back_gives_no_negative_duration() -> None:
    row = run_row("backup", RUN, RunEnd("run 1", NOW - MINUTE, ResultCode.SUCCEEDED, 0), attempts=1)

    assert row["duration"] == 0


def test_a_triggered_run_belongs_to_no_period() -> None:
    row = run_row("backup", TRIGGERED, None, attempts=1)

    assert row["kind"] == "trigger"
    assert [row[key] for key in ("period_id", "nominal_time", "chosen_time", "lateness")] == [None] * 4


def test_a_further_attempt_is_not_late_and_names_the_run_that_it_tries_again() -> None:
    further = RUN._replace(attempt=2, started=NOON + 10 * MINUTE, retry_of="run 1")

    row = run_row("backup", further, None, attempts=2)

    assert (row["attempt"], row["lateness"], row["again"]) == (2, None, "run 1")


def test_a_period_without_an_execution_has_a_reason_and_no_run() -> None:
    row = closed_row("backup", MISSED)

    assert (row["kind"], row["outcome"], row["reason"], row["detail"]) == (
        "period",
        "missed",
        "deadline",
        "It was too late.",
    )
    assert [row[key] for key in ("run_id", "started_at", "state", "result", "attempt", "attempts")] == [None] * 5 + [0]


@pytest.mark.parametrize(
    ("microseconds", "text"), [(0, "12:00:00.000Z"), (999, "12:00:00.000Z"), (59_999_999, "12:00:59.999Z")]
)
def test_instants_of_runs_have_three_digits(microseconds: int, text: str) -> None:
    assert format_milliseconds(NOON + timedelta(microseconds=microseconds)) == f"2026-03-01T{text}"
