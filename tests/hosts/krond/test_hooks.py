"""Hooks of a real krond: real commands, a real web server, real failures."""

import json
import os
import signal
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import pytest

from tests.hosts.krond.hook_target import Target, listening, status
from tests.hosts.krond.krond_process import Krond

NEVER = 'schedule = "0 0 29 2 *"'  # so that only triggers run


def job(target: Target, command: str) -> str:
    hooks = f"""
on_failure = ["{target.url}/failure"]
on_recovery = ["{target.url}/recovery"]
ping = "{target.url}/ping"
"""
    return f'[jobs.a]\n{NEVER}\ncommand = "{command}"\n{hooks}'


def test_a_failure_is_sent_until_it_is_delivered_and_so_is_the_recovery_after_a_restart(tmp_path: Path) -> None:
    with listening() as target:
        krond = Krond(tmp_path, job(target, "false")).start()
        run_id = krond.ask("trigger", "a", "--wait").stdout.strip()
        asked = {each.path: each for each in (target.take() for _ in range(3))}
        krond.ask("stop")
        krond.end()
        krond.write(job(target, "true"))
        krond.start()
        krond.ask("trigger", "a", "--wait")
        again = {each.path: each for each in (target.take() for _ in range(3))}
        krond.ask("stop")

        assert krond.end() == 0
    assert asked.keys() == {"/ping/start", "/ping/fail", "/failure"}
    row = json.loads(asked["/failure"].body)
    assert (row["run_id"], row["result"], row["exit_code"]) == (run_id, "failed", 1)
    assert asked["/failure"].headers["X-Kron-Event"] == "failure"
    assert again.keys() == {"/ping/start", "/ping", "/recovery"}
    assert json.loads(again["/recovery"].body)["result"] == "succeeded"


def test_a_refused_notification_is_tried_again_also_by_a_krond_that_ends(tmp_path: Path) -> None:
    draining = Event()

    def refuse(handler: BaseHTTPRequestHandler) -> None:
        draining.wait()
        status(503)(handler)

    with listening(refuse) as target:
        krond = Krond(tmp_path, f'[jobs.a]\n{NEVER}\ncommand = "false"\non_failure = ["{target.url}"]\n').start()
        krond.ask("trigger", "a")
        refused = target.take()
        krond.signal(signal.SIGTERM)
        krond.wait_for("KrondDraining")
        draining.set()

        assert krond.end() == 0
        assert target.asked.get_nowait().body == refused.body


def test_a_command_gets_the_row_and_what_happened(tmp_path: Path) -> None:
    script = "cat > row; env > environment; touch done"
    hook = f'[\\"/bin/sh\\", \\"-c\\", \\"{script}\\"]'.replace("\\", "")
    jobs = f'[jobs.a]\n{NEVER}\ncommand = "false"\ncwd = "{tmp_path}"\non_failure = [{hook}]\n'
    krond = Krond(tmp_path, jobs).start()

    krond.ask("trigger", "a", "--wait")
    krond.ask("stop")  # which waits for hooks

    assert krond.end() == 0
    assert json.loads((tmp_path / "row").read_text())["result"] == "failed"
    variables = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    found = [variables[f"KRON_{name}"] for name in ("EVENT", "OUTCOME", "RESULT", "REASON", "EXIT_CODE", "JOB")]
    assert found == ["failure", "executed", "failed", "", "1", "a"]
    assert variables["KRON_RUN_ID"] == json.loads((tmp_path / "row").read_text())["run_id"]
    assert variables["KRON_HOOK_ID"].startswith("hook-")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_command_is_run_as_the_user_of_its_job(tmp_path: Path) -> None:
    with TemporaryDirectory() as place:  # which others may enter
        Path(place).chmod(0o777)
        job = f'command = "false"\nuser = "nobody"\ncwd = "{place}"\non_failure = ["touch mine"]'
        krond = Krond(tmp_path, f"[jobs.a]\n{NEVER}\n{job}\n").start()

        krond.ask("trigger", "a", "--wait")
        krond.ask("stop")

        assert krond.end() == 0
        assert (Path(place) / "mine").owner() == "nobody"


def test_a_hook_that_fails_is_an_event_and_the_history_knows_nothing_of_it(tmp_path: Path) -> None:
    jobs = f'[jobs.a]\n{NEVER}\ncommand = "false"\non_failure = ["/does/not/exist"]\n'
    krond = Krond(tmp_path, jobs).start()

    krond.ask("trigger", "a", "--wait")
    krond.ask("stop", "--now")  # which waits for no further try

    failed = krond.wait_for("HookFailed")
    assert krond.end() == 0
    assert (failed["hook"], failed["target"], failed["name"]) == ("failure", "/does/not/exist", "a")
    assert len(krond.json("history")) == 1


def test_changed_hooks_are_called_from_the_next_run_on(tmp_path: Path) -> None:
    with listening() as target:
        krond = Krond(tmp_path, f'[jobs.a]\n{NEVER}\ncommand = "false"\n').start()
        krond.write(f'[jobs.a]\n{NEVER}\ncommand = "false"\non_failure = ["{target.url}/new"]\n')
        krond.ask("reload")

        krond.ask("trigger", "a", "--wait")

        assert target.take().path == "/new"
        krond.ask("stop")
        krond.end()


def tried_again(target: Target, *, retries: int = 1, more: str = "") -> str:
    return job(target, "false") + f'retries = {retries}\nretry_delay = "1h"\n{more}'


def run_once(krond: Krond) -> None:
    krond.ask("trigger", "a")
    krond.wait_for("RunEnded")


def test_a_removed_job_that_was_to_be_tried_again_has_failed(tmp_path: Path) -> None:
    with listening() as target:
        krond = Krond(tmp_path, tried_again(target)).start()
        run_once(krond)
        krond.write("")
        krond.ask("reload")

        assert {target.take().path for _ in range(3)} == {"/ping/start", "/ping/fail", "/failure"}
        krond.ask("stop")
        krond.end()


def test_a_replaced_execution_that_was_to_be_tried_again_ends_before_the_next_one_begins(tmp_path: Path) -> None:
    with listening() as target:
        krond = Krond(tmp_path, tried_again(target, more='concurrency = "replace"\n')).start()
        run_once(krond)
        run_once(krond)

        requests = [target.take().path for _ in range(4)]
        assert [path for path in requests if path != "/failure"] == ["/ping/start", "/ping/fail", "/ping/start"]
        krond.ask("stop")
        krond.end()


def test_a_run_that_an_earlier_krond_would_have_retried_and_this_one_does_not_has_failed(tmp_path: Path) -> None:
    with listening() as target:
        krond = Krond(tmp_path, tried_again(target)).start()
        run_once(krond)
        assert target.take().path == "/ping/start"
        krond.ask("stop")
        krond.end()
        krond.write(tried_again(target, retries=0))
        krond.start()

        requests = {each.path: each for each in (target.take() for _ in range(2))}
        assert requests.keys() == {"/ping/fail", "/failure"}
        assert json.loads(requests["/failure"].body)["exit_code"] == 1
        krond.ask("stop")
        krond.end()
