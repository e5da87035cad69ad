"""krond as a process, with real children, and the output of its commands."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.damaged_ledger import execute
from tests.hosts.krond.krond_process import KROND, NEVER, Krond

JOBS = f"""
[jobs.hello]
{NEVER}
command = "echo hello; echo $KRON_JOB $KRON_ATTEMPT >&2; pwd"
shell = true
cwd = "/"
[jobs.fails]
{NEVER}
command = ["false"]
[jobs.long]
{NEVER}
command = "echo begun; exec sleep 1000"
shell = true
[jobs.nothing]
{NEVER}
command = ["/does/not/exist"]
"""


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, JOBS).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def test_a_triggered_run_is_recorded_with_its_output(krond: Krond) -> None:
    found = krond.ask("trigger", "hello", "--wait")

    run_id = found.stdout.strip()
    assert found.returncode == 0
    (row,) = krond.json("history")
    assert (row["kind"], row["run_id"], row["result"], row["exit_code"]) == ("trigger", run_id, "succeeded", 0)
    assert krond.ask("logs", run_id, "--stream", "stdout").stdout == "hello\n/\n"
    assert krond.ask("logs", "hello", "--stream", "stderr").stdout == "hello 1\n"


@pytest.mark.parametrize(
    ("job", "result", "code"), [("fails", "failed", 1), ("nothing", "not started", None)], ids=["fails", "is missing"]
)
def test_a_trigger_that_waits_for_a_failed_run_exits_with_1(
    krond: Krond, job: str, result: str, code: int | None
) -> None:
    found = krond.ask("trigger", job, "--wait")

    assert found.returncode == 1
    (row,) = krond.json("history", job)
    assert (row["result"], row["exit_code"]) == (result, code)


def test_a_second_run_of_a_job_that_forbids_it_is_refused_and_not_recorded(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")

    found = krond.ask("trigger", "long")

    assert found.returncode == 1
    assert "is active" in found.stderr
    assert len(krond.json("history")) == 1


def test_an_unknown_job_is_wrong_usage(krond: Krond) -> None:
    found = krond.ask("trigger", "unknown")

    assert found.returncode == 2
    assert found.stderr == "krond: error: unknown is not a job\n"


def test_status_and_jobs_say_what_is_there(krond: Krond) -> None:
    run_id = krond.ask("trigger", "long").stdout.strip()
    krond.wait_for("RunStarted")

    status, jobs = krond.json("status"), krond.json("jobs")

    assert (status["ready"], status["draining"], status["jobs"]) == (True, False, 4)
    assert status["monitor"] == {"on": True, "violations": 0}
    assert [run["run_id"] for run in status["active"]] == [run_id]
    assert {job["name"]: job["active"] for job in jobs} == {"hello": 0, "fails": 0, "long": 1, "nothing": 0}


def test_a_process_that_survives_a_killed_krond_is_active_in_the_next_and_ends_unknown(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")
    pid = krond.json("status")["active"][0]["pid"]
    krond.kill()
    os.kill(pid, 0)

    krond.start()

    assert [run["pid"] for run in krond.json("status")["active"]] == [pid]
    os.kill(pid, signal.SIGKILL)
    krond.wait_for("RunEnded")
    (row,) = krond.json("history")
    assert (row["outcome"], row["result"], row["exit_code"], row["signal"]) == ("executed", "unknown", None, None)


def test_a_survivor_whose_process_was_not_recorded_is_found_by_its_name_and_shown(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")
    pid = krond.json("status")["active"][0]["pid"]
    krond.kill()
    execute(krond.state / "ledger.db", "UPDATE entry SET pid = NULL, ticks = NULL")

    krond.start()

    assert [run["pid"] for run in krond.json("status")["active"]] == [pid]


def test_a_first_sigterm_waits_for_what_runs_and_a_second_ends_it(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")

    krond.signal(signal.SIGTERM)
    krond.wait_for("KrondDraining")
    assert krond.ask("trigger", "hello").returncode == 1
    krond.signal(signal.SIGTERM)

    assert krond.end() == 0
    assert [row["result"] for row in krond.json("history")] == ["stopped"]


def test_a_reload_with_errors_leaves_everything_as_it_was(krond: Krond) -> None:
    krond.write(f'[jobs.hello]\n{NEVER}\ncommand = "true"\n[jobs.bad]\nschedule = "61 * * * *"\ncommand = "true"\n')

    found = krond.ask("reload")

    assert found.returncode == 1
    assert f"{krond.file}:5: error: jobs.bad.schedule: minute field value 61 is outside 0-59" in found.stderr
    assert krond.json("status")["failed_reload"] is not None
    assert len(krond.json("jobs")) == 4


def test_a_reload_says_which_jobs_changed(krond: Krond) -> None:
    krond.write(JOBS.replace('["false"]', '["true"]').replace("[jobs.nothing]", "[jobs.new]"))

    found = krond.json("reload")

    names = {word: [each.rpartition(":")[2] for each in found[word]] for word in ("added", "changed", "removed")}
    assert names == {"added": ["new"], "changed": ["fails"], "removed": ["nothing"]}
    assert len(found["unchanged"]) == 2


def test_a_reload_takes_up_other_settings(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")
    krond.write(f'[krond]\ndrain_timeout = "10ms"\n{JOBS}')
    krond.ask("reload")

    krond.signal(signal.SIGTERM)

    assert krond.end() == 0
    assert [row["result"] for row in krond.json("history")] == ["stopped"]


def test_a_suspension_outlives_a_restart_and_is_lifted_by_resume(krond: Krond) -> None:
    krond.ask("suspend", "hello", "fails")
    krond.kill()
    krond.start()
    assert [job["name"] for job in krond.json("jobs") if job["suspended"]] == ["hello", "fails"]

    found = krond.ask("resume", "hello")

    assert found.returncode == 0
    assert [job["name"] for job in krond.json("jobs") if job["suspended"]] == ["fails"]


def test_two_kronds_cannot_share_a_state_directory(krond: Krond) -> None:
    found = krond.ask("run", "--config", str(krond.file))

    assert found.returncode == 1
    assert "is in use by process" in found.stderr


def test_without_a_krond_its_history_can_be_read_and_the_rest_says_that_none_runs(krond: Krond) -> None:
    krond.ask("trigger", "hello", "--wait")
    krond.ask("stop")
    assert krond.end() == 0

    assert len(krond.json("history")) == 1
    assert krond.ask("logs", "hello", "--stream", "stdout").stdout == "hello\n/\n"
    assert krond.ask("ledger", "check").returncode == 0
    found = krond.ask("status")
    assert (found.returncode, "no krond runs" in found.stderr) == (1, True)


def test_an_interrupted_follow_prints_no_error(krond: Krond) -> None:
    run_id = krond.ask("trigger", "long").stdout.strip()
    words = [*KROND, "logs", run_id, "--follow", "--state", str(krond.state)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        following.stdout.readline()
        following.send_signal(signal.SIGINT)
        said = following.communicate()

    assert (following.returncode, said) == (130, ("", ""))


def test_the_end_of_a_triggered_run_is_that_of_its_last_attempt(tmp_path: Path) -> None:
    job = f'[jobs.second]\n{NEVER}\ncommand = "test $KRON_ATTEMPT = 2"\nshell = true\nretries = 1\nretry_delay = "0s"\n'
    krond = Krond(tmp_path, job).start()

    found = krond.ask("trigger", "second", "--wait")
    krond.ask("stop", "--now")
    krond.end()

    assert found.returncode == 0
    first, second = krond.json("history")
    assert (first["result"], second["result"]) == ("failed", "succeeded")
    assert (first["again"], second["again"]) == (None, first["run_id"])


def test_settings_that_change_hold_from_the_reload_on(krond: Krond) -> None:
    krond.ask("trigger", "long")
    krond.wait_for("RunStarted")
    krond.write(f"[krond]\nmax_active = 1\n{JOBS}")

    assert krond.ask("reload").returncode == 0

    krond.ask("trigger", "hello")
    krond.ask("stop", "--now")
    _, waited = krond.json("history")
    assert (waited["name"], waited["result"]) == ("hello", "stopped")
    assert waited["detail"] == "it had not begun when the host was asked to stop"


def test_a_job_cannot_be_held_until_a_time_that_has_passed(krond: Krond) -> None:
    found = krond.ask("suspend", "hello", "--until", "2020-01-01T00:00:00Z")

    assert (found.returncode, "has passed" in found.stderr) == (2, True)
    assert krond.ask("suspend", "hello", "--until", "nonsense").returncode == 2
    assert not any(job["suspended"] for job in krond.json("jobs"))


def test_a_reload_that_cannot_be_remembered_says_so_and_changes_nothing(krond: Krond) -> None:
    refuse = "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    execute(krond.state / "ledger.db", f"CREATE TRIGGER refuse BEFORE INSERT ON job {refuse}")
    krond.write(f'{JOBS}[jobs.more]\n{NEVER}\ncommand = "true"\n')

    krond.signal(signal.SIGHUP)

    assert "cannot be written: it refuses a record" in str(krond.wait_for("ReloadFailed")["errors"])
    assert "cannot be written: it refuses a record" in krond.ask("status").stdout
    assert len(krond.json("jobs")) == 4
