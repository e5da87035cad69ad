"""History rows: all have the same keys, and unknown values are null."""

from datetime import timedelta

import pytest

from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.rules.history import NoRecordReason, RunRow, format_milliseconds, merge_attempts
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
TIMING = Timing.parse("* * * * *", identity="x")


def test_every_row_has_all_keys_in_one_order() -> None:
    rows = [
        RunRow.of_run("x", RUN, None, attempts=1),
        RunRow.of_run("x", TRIGGERED, FAILED, attempts=1),
        RunRow.of_closed("x", MISSED),
        RunRow.of_open("x", decide(TIMING, NOON), NoRecordReason.PLANNED, "its time has not come yet"),
    ]

    assert [list(row.to_dict()) for row in rows] == [KEYS] * 4


def test_a_range_has_three_keys_more() -> None:
    row = RunRow.of_closed("x", closed_from(3, 4)).to_dict()

    assert list(row) == [*KEYS, "first_period_id", "last_period_id", "count"]
    assert (row["kind"], row["first_period_id"], row["last_period_id"], row["count"]) == (
        "range",
        "2026-03-01T12:03:00Z",
        "2026-03-01T12:06:00Z",
        4,
    )
    assert row["period_id"] == row["nominal_time"] == row["chosen_time"] == row["last_period_id"]


def test_a_run_that_goes_on_is_executed_and_has_no_result() -> None:
    row = RunRow.of_run("backup", RUN, None, attempts=1).to_dict()

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
    row = RunRow.of_run("backup", RUN, FAILED, attempts=2).to_dict()

    assert (row["state"], row["result"], row["exit_code"], row["signal"]) == ("completed", "failed", 3, None)
    assert (row["ended_at"], row["duration"], row["detail"]) == ("2026-03-01T12:01:07.123Z", 60.0, "It said 3.")
    assert row["attempts"] == 2


def test_a_clock_that_was_set_back_gives_no_negative_duration() -> None:
    row = RunRow.of_run("backup", RUN, RunEnd("run 1", NOW - MINUTE, ResultCode.SUCCEEDED, 0), attempts=1).to_dict()

    assert row["duration"] == 0


def test_a_triggered_run_belongs_to_no_period() -> None:
    row = RunRow.of_run("backup", TRIGGERED, None, attempts=1).to_dict()

    assert row["kind"] == "trigger"
    assert [row[key] for key in ("period_id", "nominal_time", "chosen_time", "lateness")] == [None] * 4


def test_a_further_attempt_is_not_late_and_names_the_run_that_it_tries_again() -> None:
    further = RUN._replace(attempt=2, started=NOON + 10 * MINUTE, retry_of="run 1")

    row = RunRow.of_run("backup", further, None, attempts=2).to_dict()

    assert (row["attempt"], row["lateness"], row["again"]) == (2, None, "run 1")


def test_a_period_without_an_execution_has_a_reason_and_no_run() -> None:
    row = RunRow.of_closed("backup", MISSED).to_dict()

    assert (row["kind"], row["outcome"], row["reason"], row["detail"]) == (
        "period",
        "missed",
        "deadline",
        "It was too late.",
    )
    assert [row[key] for key in ("run_id", "started_at", "state", "result", "attempt", "attempts")] == [None] * 5 + [0]


def test_a_period_that_is_not_recorded_says_why_in_its_state() -> None:
    row = RunRow.of_open("backup", decide(TIMING, NOON), NoRecordReason.REMOVED, "It is too old.").to_dict()

    assert (row["state"], row["detail"], row["outcome"], row["attempts"]) == ("not owned", "It is too old.", None, 0)
    assert row["period_id"] == row["chosen_time"] == "2026-03-01T12:00:00Z"


def test_a_row_is_due_at_its_chosen_second_else_when_its_run_began_else_at_its_nominal_time() -> None:
    late, triggered = (RunRow.of_run("x", start, None, attempts=1) for start in (RUN, TRIGGERED))
    unschedulable = RunRow.of_closed("x", MISSED._replace(chosen=None))

    assert [late.due, triggered.due, unschedulable.due] == [NOON, NOW, NOON]


def test_a_range_narrowed_to_a_period_of_it_still_names_its_ends() -> None:
    row = RunRow.of_closed("x", closed_from(3, 4)).narrow_to_period(decide(TIMING, NOON + 5 * MINUTE)).to_dict()

    assert row["period_id"] == row["chosen_time"] == "2026-03-01T12:05:00Z"
    assert (row["kind"], row["first_period_id"], row["last_period_id"]) == (
        "range",
        "2026-03-01T12:03:00Z",
        "2026-03-01T12:06:00Z",
    )


def test_merged_attempts_begin_with_the_first_and_end_with_the_last() -> None:
    again = RUN._replace(run_id="run 2", attempt=2, started=NOON + 2 * MINUTE, retry_of="run 1")
    ended = RunEnd("run 2", NOON + 3 * MINUTE, ResultCode.SUCCEEDED, 0)
    attempts = [RunRow.of_run("x", RUN, FAILED, attempts=2), RunRow.of_run("x", again, ended, attempts=2)]

    row = merge_attempts(attempts)

    assert (row.run_id, row.attempt, row.result) == ("run 2", 2, ResultCode.SUCCEEDED)
    assert (row.started_at, row.ended_at, row.lateness) == (NOW, NOON + 3 * MINUTE, 7)
    assert row.duration == 172.877


@pytest.mark.parametrize(
    ("microseconds", "text"), [(0, "12:00:00.000Z"), (999, "12:00:00.000Z"), (59_999_999, "12:00:59.999Z")]
)
def test_instants_of_runs_have_three_digits(microseconds: int, text: str) -> None:
    assert format_milliseconds(NOON + timedelta(microseconds=microseconds)) == f"2026-03-01T{text}"
