"""Files of an earlier Kron are still opened, and questions about them get the same answers.

`kept/` has a state directory of krond (killed with two runs in flight), a ledger of `Scheduler` (killed while a task
was running), the trace of that process and a simulated one. They are never written again: see `make_state.py`.
"""

import asyncio
import json
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import kron
from kron.testing import VirtualClock
from tests.golden.answers import KEPT, RECORDED, ask, copy_to
from tests.hosts.krond.krond_process import NEVER, Krond

ANSWERS: dict[str, Any] = json.loads(RECORDED.read_text("utf-8"))
KILLED = datetime(2026, 11, 18, 14, 28, 13, tzinfo=UTC)  # when the library's process was
IN_FLIGHT = {"slow": "b9c3e4c9-2-9e08cd3ee60231c8", "long": "b9c3e4c9-4-795d3b9e18c60795"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_to(tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("question", ANSWERS)
def test_a_command_answers_as_it_did_when_the_files_were_written(question: str, copy: Path) -> None:
    assert ask(copy, question) == ANSWERS[question]


def test_the_history_has_every_kind_of_row() -> None:
    rows = ANSWERS["krond history --state {kept}/state --json"]["out"]

    assert {row["outcome"] for row in rows} == {"executed", "missed", "skipped", "unschedulable"}
    assert {row["result"] for row in rows} == {None, "succeeded", "failed", "unknown"}
    assert {row["kind"] for row in rows} == {"period", "range", "trigger"}
    assert {row["state"] for row in rows} >= {"running", "completed"}


def test_krond_starts_on_the_state_directory_and_closes_the_runs_that_the_crash_cut_off(tmp_path: Path) -> None:
    copy_to(tmp_path).joinpath("state").rename(tmp_path / "state")
    krond = Krond(tmp_path, f'[krond]\nretention = "36500d"\n[jobs.other]\n{NEVER}\ncommand = ["true"]\n').start()
    krond.signal(signal.SIGTERM)
    code = krond.end()
    krond_rows = krond.json("history")

    before = ANSWERS["krond history --state {kept}/state --json"]["out"]
    unchanged = [row for row in before if row["run_id"] not in IN_FLIGHT.values()]
    assert code == 0
    assert [row for row in krond_rows if row in before] == unchanged
    ended = {row["name"]: row["result"] for row in krond_rows if row["run_id"] in IN_FLIGHT.values()}
    assert ended == dict.fromkeys(IN_FLIGHT, "unknown")
    assert krond.ask("ledger", "check").returncode == 0


# --- the library ------------------------------------------------------------------------------------------------------


def task_events_of_a_start(ledger: Path) -> list[tuple[object, object]]:
    """Start the tasks of `make_state.py` on a ledger, a minute after they were killed; return what happens to them."""
    seen: list[Any] = []

    async def callback() -> None:
        pass

    async def live() -> None:
        clock = VirtualClock(KILLED + timedelta(minutes=1))
        scheduler = kron.Scheduler(ledger=ledger, clock=clock, sink=seen.append, timezone="UTC")
        await scheduler.initialize(
            [
                ("succeeds", "* * * * *", callback, timedelta(0)),
                ("fails", "* * * * *", callback, timedelta(minutes=5)),
                ("hangs", "* * * * *", callback, timedelta(0)),
                ("not due", "0 0 29 2 *", callback, timedelta(0)),
            ]
        )
        await clock.advance(timedelta(seconds=1))
        await scheduler.stop()

    asyncio.run(live())
    names = ("TaskPreserved", "TaskOrphaned", "TaskRetryPreempted", "TaskRunStarted")
    return [(event.name, event.fields["taskName"]) for event in seen if event.name in names]


def test_the_library_starts_on_the_ledger_and_goes_on_where_the_crash_cut_it_off(copy: Path) -> None:
    assert task_events_of_a_start(copy / "library.db") == [
        ("TaskPreserved", "succeeds"),
        ("TaskPreserved", "fails"),
        ("TaskOrphaned", "hangs"),
        ("TaskPreserved", "not due"),
        ("TaskRunStarted", "succeeds"),
        ("TaskRetryPreempted", "fails"),
        ("TaskRunStarted", "fails"),
        ("TaskRunStarted", "hangs"),
    ]


def test_the_files_stay_small() -> None:
    assert sum(file.stat().st_size for file in (*KEPT.rglob("*"), RECORDED) if file.is_file()) < 200_000
