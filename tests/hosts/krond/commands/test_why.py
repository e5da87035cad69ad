"""krond why, explain and history --at on a state directory without a running krond."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.engine.ledger import JobBatch
from kron.rules.job_record import ResultCode, RunEnd
from kron.rules.job_spec import definition_key
from kron.testing.job_ledger_suite import JOB, MINUTE, NOON, attempt_at, closed_from
from tests.cli.kron_runner import CommandResult
from tests.hosts.krond.command_runner import krond

OLD = '{"timing": {"schedule": "* * * * *", "timezone": "Europe/Berlin"}, "policy": {}}'
NEW = """{"timing": {"schedule": "0 * * * *", "timezone": "Europe/Berlin", "window": "after,30m", "avoid": ["hours=4"]},
 "policy": {"concurrency": "replace", "deadline": "5m"}}"""
OLD_KEY, NEW_KEY = definition_key(OLD), definition_key(NEW)
CHANGED = NOON + 25 * MINUTE


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A minutely job ran at 12:01, and failed twice at 12:02; 12:04 to 12:08 were missed. It is hourly since 12:25."""
    begun = [attempt_at(1, "one"), attempt_at(2, "two"), attempt_at(2, "two again", 2)]
    ended = [
        RunEnd("one", NOON + 2 * MINUTE, ResultCode.SUCCEEDED, 0),
        RunEnd("two", NOON + 3 * MINUTE, ResultCode.FAILED, 1),
        RunEnd("two again", NOON + 4 * MINUTE, ResultCode.FAILED, 7),
    ]
    old = JOB._replace(definition_key=OLD_KEY, handled_until=CHANGED)
    removed = old._replace(identity="/etc/jobs.toml:gone", name="gone", is_declared=False)

    async def remember() -> None:
        ledger = SqliteJobLedger(tmp_path / "ledger.db", guard=lambda: True)
        await ledger.open()
        await ledger.append(JobBatch({OLD_KEY: OLD}, [old, removed]))
        await ledger.append(
            JobBatch(
                closed=[closed_from(4, 5)._replace(definition_key=OLD_KEY)],
                begun=[
                    *(each._replace(definition_key=OLD_KEY) for each in begun),
                    attempt_at(1, "once")._replace(identity=removed.identity, definition_key=OLD_KEY),
                ],
                ended=ended,
            )
        )
        await ledger.append(
            JobBatch({NEW_KEY: NEW}, [old._replace(definition_key=NEW_KEY, declared_at=CHANGED, handled_until=CHANGED)])
        )
        await ledger.close()

    asyncio.run(remember())
    return tmp_path


def ask(state: Path, *words: str) -> CommandResult:
    return krond(*words, "--state", str(state))


def ask_json(state: Path, *words: str) -> Any:
    return json.loads(ask(state, *words, "--json").out)


# --- why --------------------------------------------------------------------------------------------------------------


def test_why_exits_with_0_if_something_ran_then(state: Path) -> None:
    found = ask(state, "why", "backup", "--at", "2026-03-01T12:01:30Z")

    assert found.code == 0
    assert found.out.startswith("Yes: run one of the period 2026-03-01T12:01:00Z began at")


def test_why_exits_with_1_if_nothing_did_and_speaks_of_the_period_inside_the_range(state: Path) -> None:
    at = "2026-03-01T12:06:00Z"

    found, (period, _) = (
        ask(state, "why", "backup", "--at", at),
        ask_json(state, "why", "backup", "--at", at)["periods"],
    )

    assert found.code == 1
    assert "one of 5 periods from 2026-03-01T12:04:00Z until 2026-03-01T12:08:00Z" in found.out
    assert (period["period_id"], period["outcome"], period["reason"]) == (at, "missed", "downtime")


def test_why_explains_by_the_definition_of_then_and_in_the_zone_of_the_job(state: Path) -> None:
    answer = ask_json(state, "why", "backup", "--at", "2026-03-01 13:01")

    assert answer["at"] == "2026-03-01T12:01:00Z"
    (old, new) = answer["periods"]
    assert (old["definition"], old["outcome"]) == (json.loads(OLD), "executed")
    assert (new["definition"], new["outcome"], new["state"]) == (json.loads(NEW), None, "not owned")
    assert (new["window_start"], new["window_end"]) == ("2026-03-01T12:00:00Z", "2026-03-01T12:30:00Z")


def test_why_explains_jobs_that_are_no_longer_defined(state: Path) -> None:
    assert ask(state, "why", "gone", "--at", "2026-03-01T12:01:00Z").code == 0


def test_why_of_nothing_names_the_nearest_before_and_after(state: Path) -> None:
    answer = ask_json(state, "why", "backup", "--at", "2026-03-01T12:45:00Z")

    assert (answer["ran"], answer["periods"]) == (False, [])
    assert "the nearest before is 2026-03-01T12:08:00Z (Sun 13:08:00 +01:00) (missed)" in answer["answer"]
    assert "the nearest after is 2026-03-01T13:" in answer["answer"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("unknown", "--at", "12:00"), "unknown is not a job"),
        (("backup", "--at", "noon"), "noon"),
        (("backup",), "--at"),
    ],
    ids=["an unknown job", "no moment", "no --at"],
)
def test_wrong_usage_of_why_exits_with_2(state: Path, words: tuple[str, ...], said: str) -> None:
    found = ask(state, "why", *words)

    assert (found.code, found.out) == (2, "")
    assert said in found.err


# --- explain ----------------------------------------------------------------------------------------------------------


def test_explain_speaks_of_the_next_period_by_the_definition_in_force(state: Path) -> None:
    (decision,) = ask_json(state, "explain", "backup")

    assert decision["window_mode"] == "after"
    assert ask(state, "explain", "backup").out.startswith("1 Text\n  0 * * * * @tz(Europe/Berlin) @win(after,30m)")


def test_explain_speaks_of_a_period_by_the_definition_that_held(state: Path) -> None:
    found = ask(state, "explain", "backup", "--at", "2026-03-01T12:06:00Z")

    assert found.out.startswith("1 Text\n  * * * * * @tz(Europe/Berlin)\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("backup", "--at", "2026-03-01T12:45:00Z"), "no period of backup belongs to"),
        (("gone",), "is no longer defined"),
    ],
    ids=["no period", "a job that is gone"],
)
def test_a_period_that_cannot_be_explained_is_an_error_with_exit_code_1(
    state: Path, words: tuple[str, ...], said: str
) -> None:
    found = ask(state, "explain", *words)

    assert found.code == 1
    assert said in found.err


# --- history ----------------------------------------------------------------------------------------------------------


def test_history_at_a_time_answers_for_the_period_inside_a_range(state: Path) -> None:
    (row,) = ask_json(state, "history", "backup", "--at", "2026-03-01 13:06")

    assert (row["period_id"], row["last_period_id"]) == ("2026-03-01T12:06:00Z", "2026-03-01T12:08:00Z")


def test_history_at_a_time_of_all_jobs_can_be_folded_and_filtered(state: Path) -> None:
    at = ("history", "--at", "2026-03-01T12:01:00Z")

    assert {row["run_id"] for row in ask_json(state, *at)} == {"one", "once"}
    assert ask_json(state, *at, "--outcome", "missed") == []
    folded = ask_json(state, "history", "--at", "2026-03-01T12:02:00Z", "--executions")
    assert [row["run_id"] for row in folded] == ["two again"]


def test_since_and_until_of_one_job_are_in_its_zone(state: Path) -> None:
    span = ("--since", "2026-03-01 13:02", "--until", "2026-03-01 13:03")

    assert [row["run_id"] for row in ask_json(state, "history", "backup", *span)] == ["two", "two again"]
    assert ask_json(state, "history", "backup", "--since", "1d") == []


def test_history_either_at_a_time_or_over_a_span(state: Path) -> None:
    found = ask(state, "history", "--at", "12:00", "--since", "1h")

    assert (found.code, "--at" in found.err) == (2, True)


def test_history_is_a_table_for_people(state: Path) -> None:
    lines = ask(state, "history", "backup").out.splitlines()

    assert lines[0].split() == ["due", "(Europe/Berlin)", "job", "outcome", "result", "attempt", "late", "took", "run"]
    assert "Sun 2026-03-01 13:02:00 +01:00  backup  executed" in lines[2]
    assert "failed (7)  2 of 2" in lines[3]
    assert "missed: downtime, 5 periods from 2026-03-01T12:04:00Z" in lines[4]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("why", "backup", "--at", "9999-12-31T23:59:59Z"), "what lies around 9999-12-31T23:59:59Z leaves"),
        (("why", "backup", "--at", "0001-01-01T00:00:00Z"), "what lies around 0001-01-01T00:00:00Z leaves"),
        (("history", "--since", "999999d"), "a time is outside"),
    ],
    ids=["the last second", "the first second", "before all time"],
)
def test_an_instant_at_the_end_of_the_calendar_is_one_error(state: Path, words: tuple[str, ...], message: str) -> None:
    found = ask(state, *words)

    assert (found.code, found.err) == (2, f"krond: error: {message} the years 1 to 9999\n")
