"""krond after a year of downtime is ready soon, and reports that it is not ready until then."""

import asyncio
import sqlite3
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kron.adapters.sqlite.job_ledger import SqliteJobLedger
from kron.adapters.sqlite.schema import to_timestamp
from kron.adapters.system_time import system_now
from kron.engine.ledger import JobBatch
from kron.errors import ControlError
from kron.hosts.krond.control_api import ControlApi
from kron.hosts.krond.control_client import ControlClient
from kron.hosts.krond.daemon import Daemon
from kron.hosts.krond.events import EventQueue, JobEvents
from kron.hosts.krond.file_reader import ReadRequest, read_files
from kron.hosts.krond.state_directory import StateDirectory
from kron.instant import format_instant
from kron.rules.events import Event
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import JobSpec
from kron.theory.trace_format import TraceHeader
from kron.trace.job_recorder import JobRecorder
from kron.trace.monitor import OnlineMonitor
from tests.hosts.krond.krond_process import Krond

YEAR = timedelta(days=365)
HARD = '[jobs.hard]\nschedule = "* * * * * @avoid(dow=MON)"\ndeadline = "9000h"\ncommand = ["true"]\n'


async def no_reload() -> dict[str, object]:
    raise AssertionError("nothing asks for it")


async def asked_while_it_begins(daemon: Daemon, jobs: list[JobSpec], chronicler: JobEvents) -> list[dict[str, Any]]:
    """Return what a daemon says of its status until it is ready."""
    status = ControlApi(daemon, daemon.queries(chronicler.last_results), no_reload, chronicler, []).handlers()["status"]
    beginning, answers = asyncio.ensure_future(daemon.start(jobs)), list[Any]()
    while not beginning.done():
        answers.append(await status({}))
        await asyncio.sleep(0)  # noqa: TID251  # a turn, no time
    await beginning
    answers.append(await status({}))
    return answers


def test_krond_says_that_it_is_not_ready_while_it_judges_a_year_of_downtime(tmp_path: Path) -> None:
    file, events = tmp_path / "krond.toml", list[Event]()
    file.write_text(HARD, "utf-8")
    file.chmod(0o644)

    async def live() -> list[dict[str, Any]]:
        state = StateDirectory(tmp_path / "state")
        state.lock()
        found = read_files(ReadRequest([str(file)], None))
        recorder = JobRecorder(system_now, lambda _: None)
        chronicler = JobEvents(events.append)
        queue = EventQueue(system_now)
        monitor, sink = OnlineMonitor(TraceHeader("kron"), events.append), queue.sink(events.append)
        daemon = Daemon(state, found.settings, sink, [chronicler, recorder], recorder, monitor, queue)
        works, then = [each for each in found.jobs if isinstance(each, JobSpec)], system_now() - YEAR
        records = [JobRecord(each.identity, each.name, each.definition_key, then, then) for each in works]
        ledger = SqliteJobLedger(state.ledger)
        await ledger.open()
        await ledger.append(JobBatch({each.definition_key: each.definition for each in works}, records))
        await ledger.close()
        try:
            answers = await asked_while_it_begins(daemon, works, chronicler)
            daemon.stop()
            await daemon.run()
            return answers
        finally:
            state.unlock()

    answers = asyncio.run(live())

    recovering = [each for each in answers if each["jobs"] == 1 and not each["ready"]]
    assert len(recovering) > 2  # of a loop that is held, one is answered before and one after
    assert answers[-1]["ready"]
    ready = next(number for number, each in enumerate(events) if each.name == "KrondReady")
    closed = [number for number, each in enumerate(events) if each.name in ("PeriodSkipped", "PeriodUnschedulable")]
    assert closed
    assert max(closed) < ready


def a_year_passes(krond: Krond) -> None:
    """Let the ledger of a krond that has ended be a year older."""
    then = to_timestamp(system_now() - YEAR)
    with sqlite3.connect(krond.state / "ledger.db") as ledger:
        ledger.execute("UPDATE job SET served = ?, declared_at = ?", (then, then))
    ledger.close()


def declared(krond: Krond) -> None:
    """Return when a krond that starts knows its jobs: what it does from then on until it is ready is to recover."""
    while True:
        with suppress(ControlError):
            client = ControlClient(krond.state / "control.sock")
            try:
                while not (found := client.ask("status"))["jobs"]:
                    pass
            finally:
                client.close()
            assert not found["ready"]
            return


@pytest.mark.slow
def test_status_exits_1_while_krond_judges_a_year_of_downtime_and_0_when_it_is_ready(tmp_path: Path) -> None:
    line = "* * * * * @win(after,1m) @avoid(between=00:00-11:59)"
    jobs = "".join(
        f'[jobs.j{each}]\nschedule = "{line}"\ndeadline = "9000h"\ncommand = ["true"]\n' for each in range(4)
    )
    krond = Krond(tmp_path, jobs).start()
    krond.ask("stop")
    krond.end()
    a_year_passes(krond)

    krond.begin()
    declared(krond)
    while_it_recovers = krond.ask("status")
    krond.wait_for("KrondReady")
    ready = krond.ask("status")

    assert (while_it_recovers.returncode, ready.returncode) == (1, 0)
    assert "is starting" in while_it_recovers.stdout
    inside = format_instant((system_now() - timedelta(days=100)).replace(second=0, microsecond=0))
    assert "superseded" in krond.ask("why", "j0", "--at", inside).stdout
    krond.ask("stop")
    krond.end()
    assert krond.ask("ledger", "check").returncode == 0


@pytest.mark.slow
def test_a_year_of_downtime_within_the_deadline_is_one_range_that_the_commands_know(tmp_path: Path) -> None:
    krond = Krond(tmp_path, '[jobs.a]\nschedule = "* * * * *"\ndeadline = "9000h"\ncommand = ["true"]\n').start()
    krond.ask("stop")
    krond.end()
    a_year_passes(krond)

    krond.start()
    skipped = krond.wait_for("PeriodSkipped")
    krond.wait_for("PeriodExecuted")
    krond.ask("stop")
    krond.end()

    assert skipped["reason"] == "superseded"
    assert YEAR // timedelta(minutes=1) - 2 <= skipped["count"] <= YEAR // timedelta(minutes=1)
    inside = system_now().replace(second=0, microsecond=0) - timedelta(days=100)
    assert "superseded" in krond.ask("why", "a", "--at", format_instant(inside)).stdout
    (row,) = krond.json("history", "a", "--at", format_instant(inside))
    assert (row["period_id"], row["reason"]) == (format_instant(inside), "superseded")
    assert krond.ask("ledger", "check").returncode == 0
