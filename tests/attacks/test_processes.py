"""Users who manipulate processes cannot make krond record false results of runs."""

import os
import re
import signal
import sqlite3
import subprocess

import pytest

from tests.adapters.process.recorded_runner import UNPRIVILEGED_USER, needs_root
from tests.faults.conftest import NewKrond
from tests.faults.recording_jobs import living
from tests.hosts.krond.krond_process import NEVER

pytestmark = [needs_root, pytest.mark.slow]
SLEEPER = f"[jobs.long]\n{NEVER}\ncommand = 'sleep 1000'\n"


def test_a_process_with_a_forged_run_id_is_not_taken_for_a_run_after_a_crash(new_krond: NewKrond) -> None:
    krond = new_krond(SLEEPER).start()
    run_id = krond.ask("trigger", "long").stdout.strip()
    krond.wait_for("RunStarted")
    krond.kill()
    os.kill(living(krond.file)[run_id], signal.SIGKILL)
    with sqlite3.connect(
        krond.state / "ledger.db"
    ) as ledger:  # as if the crash had come before the process was recorded
        ledger.execute("UPDATE entry SET pid = NULL, ticks = NULL WHERE run_id = ?", (run_id,))
    ledger.close()
    environment = {"KRON_RUN_ID": run_id, "KRON_IDENTITY": f"{krond.file}:long"}
    forged = subprocess.Popen(["sleep", "1000"], env=environment, user=UNPRIVILEGED_USER, start_new_session=True)
    try:
        krond.start()
        row = krond.json("history", "long")[-1]
    finally:
        forged.kill()
        forged.wait()

    assert (row["run_id"], row["result"]) == (run_id, "unknown")
    assert krond.json("status")["active"] == []


def test_the_ids_of_other_runs_cannot_be_guessed_from_ones_own(new_krond: NewKrond) -> None:
    krond = new_krond(f"[jobs.own]\n{NEVER}\ncommand = 'true'\n").start()

    ids = [krond.ask("trigger", "own", "--wait").stdout.strip() for _ in range(3)]

    found = [re.fullmatch(r"([0-9a-f]{8})-([0-9]+)-([0-9a-f]{16})", each) for each in ids]
    assert all(found), ids
    assert len({each[3] for each in found if each}) == 3


def test_a_user_that_stops_its_spawner_loses_no_exit_code(new_krond: NewKrond) -> None:
    stops = f"[jobs.stops]\n{NEVER}\nuser = '{UNPRIVILEGED_USER}'\ncommand = ['sh', '-c', 'kill -STOP $PPID; exit 3']\n"
    krond = new_krond(stops).start()

    for _ in range(3):
        krond.ask("trigger", "stops", "--wait")

    rows = krond.json("history", "stops")
    assert [(row["result"], row["exit_code"]) for row in rows] == [("failed", 3)] * 3
