"""The listener of a real krond: its address, its token, its metrics, and its shutdown."""

import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.hosts.krond.krond_process import KROND, Krond

NEVER = 'schedule = "0 0 29 2 *"'  # so that only triggers run
OTHER = f'[jobs.other]\n{NEVER}\ncommand = "true"\n'
JOBS = f'[krond]\nlisten = "127.0.0.1:0"\n[jobs.fails]\n{NEVER}\ncommand = "false"\n{OTHER}'


def address(krond: Krond) -> str:
    """Return where it listens, as it said itself."""
    return str(next(event for event in krond.events[::-1] if event["event"] == "Listening")["address"].split("/")[2])


def get(krond: Krond, path: str, **headers: str) -> tuple[int, str]:
    """Return the status and the body of a page."""
    connection = http.client.HTTPConnection(address(krond))
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def session(krond: Krond) -> str:
    """Show the token once, and return the value of the cookie."""
    connection = http.client.HTTPConnection(address(krond))
    connection.request("GET", f"/?token={bearer(krond).partition(' ')[2]}")
    cookie = str(connection.getresponse().getheader("set-cookie"))
    connection.close()
    return cookie.partition(";")[0].partition("=")[2]


def cookie_of(krond: Krond, value: str) -> str:
    """Return the header of a browser that has this value."""
    return f"krond-{address(krond).rpartition(':')[2]}={value}"


def bearer(krond: Krond) -> str:
    return f"Bearer {(krond.state / 'token').read_text().strip()}"


@pytest.fixture
def krond(tmp_path: Path) -> Iterator[Krond]:
    daemon = Krond(tmp_path, JOBS).start()
    yield daemon
    daemon.ask("stop", "--now")
    daemon.end()


def test_a_krond_shows_its_health_its_token_once_and_its_numbers_to_who_has_it(krond: Krond) -> None:
    listening = next(event for event in krond.events if event["event"] == "Listening")
    token = (krond.state / "token").read_text().strip()
    assert listening["address"] == f"http://{krond.json('status')['listen']}/?token={token}"
    assert stat.S_IMODE((krond.state / "token").stat().st_mode) == 0o600
    krond.ask("trigger", "fails", "--wait")

    assert get(krond, "/healthz") == (200, "ok")
    assert get(krond, "/metrics")[0] == 401
    assert krond.wait_for("VisitorRefused")["client"] == "127.0.0.1"
    status, numbers = get(krond, "/metrics", Authorization=bearer(krond))

    assert status == 200
    identity = f"{krond.file}:fails"
    for line in (
        f'kron_runs_total{{job="{identity}",outcome="executed"}} 1.0',
        f'kron_run_results_total{{job="{identity}",result="failed"}} 1.0',
        "kron_active_runs 0.0",
        "kron_jobs 2.0",
        "kron_run_duration_seconds_count 1.0",
        "kron_run_lateness_seconds_count 0.0",
        "kron_hook_failures_total 0.0",
    ):
        assert line in numbers.splitlines()
    assert f'kron_next_chosen_timestamp_seconds{{job="{identity}"}}' in numbers
    assert "kron_ledger_append_seconds_count 0.0" not in numbers
    assert "# TYPE kron_monitor_violations_total counter" in numbers


def test_a_removed_job_has_no_metrics(krond: Krond) -> None:
    krond.ask("trigger", "fails", "--wait")
    krond.write(f'[krond]\nlisten = "127.0.0.1:0"\n{OTHER}')
    krond.ask("reload")

    _, numbers = get(krond, "/metrics", Authorization=bearer(krond))

    assert f"{krond.file}:fails" not in numbers
    assert "kron_jobs 1.0" in numbers


def test_the_second_start_has_the_same_token_does_not_print_it_and_has_no_sessions(krond: Krond) -> None:
    before, value = bearer(krond), session(krond)
    assert get(krond, "/monitor", Cookie=cookie_of(krond, value))[0] == 200
    krond.ask("stop")
    krond.end()
    krond.events.clear()
    krond.start()

    (listening,) = [event for event in krond.events if event["event"] == "Listening"]
    assert bearer(krond) == before
    assert listening["address"] == f"http://{krond.json('status')['listen']}/"
    assert get(krond, "/monitor", Cookie=cookie_of(krond, value))[0] == 401


def test_another_address_at_a_reload_is_refused(krond: Krond) -> None:
    krond.write(JOBS.replace("127.0.0.1:0", "127.0.0.1:1"))

    found = krond.ask("reload")

    assert found.returncode == 1
    assert ":2: error: krond.listen: was changed, which needs a restart" in found.stderr
    assert get(krond, "/healthz") == (200, "ok")


def test_a_krond_that_drains_answers_until_it_has_ended(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS.replace('"false"', '"sleep 1000"')).start()
    krond.ask("trigger", "fails")
    krond.wait_for("RunStarted")
    krond.signal(signal.SIGTERM)
    krond.wait_for("KrondDraining")
    address = krond.json("status")["listen"]

    assert get(krond, "/healthz") == (200, "ok")
    krond.signal(signal.SIGTERM)
    assert krond.end() == 0
    host, port = address.split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def test_an_address_of_another_host_ends_the_start_with_1_and_leaves_the_state_free(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS.replace("127.0.0.1", "192.0.2.1"))

    for _ in range(2):
        found = krond.ask("run", "--config", str(krond.file))
        assert found.returncode == 1
        assert "Cannot assign requested address; name an address of this host" in found.stderr
        assert (found.stdout, "Traceback" in found.stderr) == ("", False)


def test_the_command_line_counts_more_than_the_file_and_a_wrong_address_is_wrong_usage(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS)

    found = krond.ask("run", "--config", str(krond.file), "--listen", "nonsense")

    assert found.returncode == 2
    assert "must be HOST:PORT, unix:/path or off" in found.stderr


def test_a_listener_in_the_file_system_needs_no_token(tmp_path: Path) -> None:
    path = tmp_path / "page.sock"
    krond = Krond(tmp_path, JOBS.replace("127.0.0.1:0", f"unix:{path}")).start()

    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    assert krond.json("status")["listen"] == f"unix:{path}"
    assert not (krond.state / "token").exists()
    krond.ask("stop")
    assert krond.end() == 0
    assert not path.exists()


def test_a_listener_that_others_can_reach_is_said_in_a_warning(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS.replace("127.0.0.1", "0.0.0.0")).start()

    assert [event["level"] for event in krond.events if event["event"] == "ListenerExposed"] == ["WARNING"]
    krond.ask("stop")
    krond.end()


def test_without_the_packages_of_the_listener_one_sentence_says_how_to_get_them(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS)
    program = f"import sys; sys.modules['uvicorn'] = None\n{KROND[-1]}"
    command = [sys.executable, "-c", program, "run", "--config", str(krond.file), "--state", str(krond.state)]

    found = subprocess.run(command, capture_output=True, text=True, check=False)

    assert found.returncode == 1
    assert found.stderr.endswith("uvicorn; pip install 'kron-scheduler[krond]'\n")
    assert found.stderr.count("\n") == 1


def test_output_that_is_older_than_it_has_to_be_kept_is_removed(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f'[krond]\noutput_retention = "2d"\n{OTHER}')
    output = krond.state / "output"
    output.mkdir(parents=True)
    krond.state.chmod(0o700)
    old, young = output / "old.log", output / "young.log"
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    krond.start()

    while old.exists():
        krond.ask("status")

    assert young.exists()
    krond.ask("stop")
    krond.end()


@pytest.mark.slow
def test_idle_visitors_leave_descriptors_for_others(tmp_path: Path) -> None:
    krond = Krond(tmp_path, JOBS, before=("sh", "-c", 'ulimit -n 64; exec "$@"', "sh")).start()
    host, _, port = address(krond).rpartition(":")
    with ExitStack() as idle:
        for _ in range(80):
            idle.enter_context(socket.create_connection((host, int(port))))

        assert get(krond, "/healthz") == (200, "ok")
        assert krond.ask("trigger", "other", "--wait").returncode == 0

    krond.ask("stop", "--now")
    assert krond.process is not None
    assert krond.process.stderr is not None
    assert [line for line in krond.process.stderr if not line.startswith("{")] == []
    krond.end()
