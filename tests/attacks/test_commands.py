"""Attacks on krond's commands and its control socket: a false or stopped krond, and clients that ask too much."""

import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any, TypeAlias

import pytest

from kron.adapters.unix_socket import short_address
from kron.hosts.krond.control_client import ControlClient
from tests import forked
from tests.adapters.process.recorded_runner import needs_root
from tests.attacks.squatter import squatting, squatting_as, with_full_backlog
from tests.cli.kron_runner import CommandResult
from tests.hosts.krond.command_runner import krond as invoke_krond
from tests.hosts.krond.krond_process import KROND, NEVER, Krond

Clients: TypeAlias = Callable[[int], list[socket.socket]]

_EVIL = "\x1b]0;pwned\x07\x9b2J\u202e\u2028x\r\nkrond 0.1.0 is ready"
_JOBS = f"""
[jobs.evil]
{NEVER}
command = ["printf", '\\033[2Jred \\302\\233m\\342\\200\\256\\n\\ttab \\377\\n']
[jobs.long]
{NEVER}
command = "sleep 1000"
[jobs.minutely]
schedule = "* * * * *"
suspend = true
command = "true"
"""


@contextmanager
def started(folder: Path, jobs: str = _JOBS) -> Iterator[Krond]:
    """A krond that is ended whatever happens, also if it is stopped."""
    krond = Krond(folder, jobs).start()
    try:
        yield krond
    finally:
        assert krond.process is not None
        if krond.process.poll() is None:
            krond.signal(signal.SIGCONT)
            krond.ask("stop", "--now")
        krond.end()


@pytest.fixture(scope="module")
def krond(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Krond]:
    """A krond that several tests ask."""
    with started(tmp_path_factory.mktemp("krond")) as daemon:
        yield daemon


def run(state: Path, *words: str, before: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    if not before:
        return forked.run("krond", *words, "--state", str(state))
    command = [*before, *KROND, *words, "--state", str(state)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def invoke(state: Path, *words: str) -> CommandResult:
    """Run a command in this process: many are asked, and each process takes a third of a second to load."""
    return invoke_krond(*words, "--state", str(state))


def on_terminal(state: Path, *words: str) -> str:
    """Return what a command prints on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*KROND, *words, "--state", str(state)], stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        printed = b""
        try:
            while part := os.read(ours, 1 << 16):
                printed += part
        except OSError:  # the last one has closed the terminal
            pass
        finally:
            os.close(ours)
        assert process.wait() == 0
    return printed.decode("utf-8", "backslashreplace").replace("\r\n", "\n")


@pytest.fixture
def clients(krond: Krond) -> Iterator[Clients]:
    """Connections to a krond, which are closed when the test is over."""
    with ExitStack() as stack:
        yield lambda number: [stack.enter_context(connect(krond)) for _ in range(number)]


def connect(krond: Krond) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    with short_address(krond.state / "control.sock") as address:
        connection.connect(address)
    connection.settimeout(60)
    return connection


def received(connection: socket.socket) -> dict[str, Any]:
    """Return an answer that is read to its end."""
    with connection.makefile("rb") as lines:
        answer: dict[str, Any] = json.loads(lines.readline())
    return answer


# --- a false krond ----------------------------------------------------------------------------------------------------


def _status(**fields: object) -> dict[str, object]:
    sound: dict[str, object] = {
        "pid": 1, "version": "1", "started_at": "now", "ready": True, "draining": False, "state": "/", "config": [],
        "listen": "off", "jobs": 0, "clock_ahead": None, "active": [], "failed_reload": None, "failed_files": [],
    }  # fmt: skip
    return {**sound, **fields}


_RUN = {"run_id": _EVIL, "identity": _EVIL, "pid": 1, "started_at": _EVIL}


def _answer(result: object) -> bytes:
    return json.dumps({"ok": True, "result": result}).encode() + b"\n"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("status", b"HTTP/1.1 200 OK\n"),
        ("status", b"[" * 100_000 + b"\n"),
        ("status", _answer(None)),
        ("status", _answer(_status(failed_files=[{"file": "a", "findings": [{"level": "error"}]}]))),
        ("status", _answer(_status(failed_listen=1))),
        ("status", _answer(_status(set_aside=[{"identity": "a"}]))),
        ("jobs", _answer([{"name": "a"}])),
        ("trigger a", b'{"ok": false, "error": "no", "exit": 0}\n'),
    ],
    ids=["no JSON", "too deep", "no fields", "no findings", "no reason", "no error", "no rows", "no exit code"],
)
def test_an_answer_of_the_wrong_shape_is_one_error(tmp_path: Path, command: str, answer: bytes) -> None:
    with squatting(tmp_path / "state", answer):
        found = invoke(tmp_path / "state", *command.split())

    assert (found.code, found.out, found.err.count("\n")) == (1, "", 1)
    assert f"krond: error: what {tmp_path}/state/control.sock sent is not an answer of krond: " in found.err


def test_an_answer_without_an_end_is_given_up_when_it_is_too_long(tmp_path: Path) -> None:
    with squatting(tmp_path / "state", b'{"result": "' + b"x" * (17 << 20)):
        found = invoke(tmp_path / "state", "status")

    assert (found.code, found.out) == (1, "")
    assert found.err.endswith("is not an answer of krond: it is longer than 16 MiB\n")


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("status", _answer(_status(version=_EVIL, active=[_RUN]))),
        ("trigger a", _answer(_EVIL)),
        ("trigger a", json.dumps({"ok": False, "error": _EVIL, "exit": 1}).encode() + b"\n"),
        ("status --json", _answer(_status(version=_EVIL))),
    ],
    ids=["table", "line", "error", "JSON"],
)  # fmt: skip
def test_no_answer_of_a_false_krond_steers_the_terminal(tmp_path: Path, command: str, answer: bytes) -> None:
    with squatting(tmp_path / "state", answer):
        found = invoke(tmp_path / "state", *command.split())

    said = found.out + found.err
    assert "pwned" in said
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2028"} & set(said)
    assert not any(line.startswith("krond 0.1.0 is ready") for line in said.split("\n"))


@needs_root
def test_a_socket_that_another_user_listens_on_is_not_believed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    with squatting_as(65534, state) as heard:
        found = invoke(state, "trigger", "a")

    assert (found.code, found.out, heard) == (1, "", [b""])
    assert found.err == f"krond: error: uid 65534 answers on {state}/control.sock, and is neither root nor this user\n"


@needs_root
@pytest.mark.slow
def test_a_user_does_not_believe_the_krond_of_another_user(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    for folder in (tmp_path, *tmp_path.parents):
        if len(folder.parts) > 2:  # /tmp has its own
            folder.chmod(0o755)
    os.chown(state, 65534, 65534)
    lines = ("import os, pathlib, sys", "from kron.hosts.krond.control_client import ControlClient", "os.setuid(65533)")
    asking = "; ".join([*lines, "ControlClient(pathlib.Path(sys.argv[1]))"])
    with squatting_as(65534, state) as heard:
        found = subprocess.run(
            [sys.executable, "-c", asking, str(state / "control.sock")], capture_output=True, text=True, check=False
        )

    assert found.stderr.endswith("and is neither root nor this user\n")
    assert heard == [b""]


@pytest.mark.slow
def test_a_command_gives_up_a_krond_that_accepts_nothing_or_never_answers(tmp_path: Path) -> None:
    silent, full = tmp_path / "silent", tmp_path / "full"
    with squatting(silent, b'{"ok": tr', end=False), with_full_backlog(full):
        words = [[*KROND, "status", "--state", str(state)] for state in (silent, full)]
        asked = [subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for each in words]
        answers = [process.communicate(timeout=60) for process in asked]

    assert [process.returncode for process in asked] == [1, 1]
    assert "has not answered within 5 s; is it stopped or frozen?" in answers[0][1]
    assert f"has not accepted a connection on {full}/control.sock within 5 s; " in answers[1][1]
    assert [said for said, _ in answers] == ["", ""]


@pytest.mark.slow
def test_commands_notice_a_krond_that_is_stopped_while_they_wait(tmp_path: Path) -> None:
    with started(tmp_path) as krond:
        words = [*KROND, "trigger", "long", "--wait", "--state", str(krond.state)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            waiting.stdout.readline()  # the name of the run
            stopping = subprocess.Popen(
                [*KROND, "stop", "--state", str(krond.state)], stderr=subprocess.PIPE, text=True
            )
            krond.wait_for("KrondDraining")
            krond.signal(signal.SIGSTOP)
            status = run(krond.state, "status")
            _, waited = waiting.communicate(timeout=60)
            _, stopped = stopping.communicate(timeout=60)

    assert (status.returncode, waiting.returncode, stopping.returncode) == (1, 1, 1)
    assert krond.process is not None
    for said in (status.stderr, waited, stopped):
        assert said.startswith(f"krond: error: krond (process {krond.process.pid}) has not answered within 5 s; ")


@pytest.mark.slow
def test_a_wait_ends_when_krond_is_killed(tmp_path: Path) -> None:
    with started(tmp_path, f'[jobs.short]\n{NEVER}\ncommand = "sleep 3"\n') as krond:
        words = [*KROND, "trigger", "short", "--wait", "--state", str(krond.state)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stdout is not None
            waiting.stdout.readline()
            krond.kill()
            _, said = waiting.communicate(timeout=60)

    assert waiting.returncode == 1
    assert said.startswith("krond: error: krond is gone, ")


# --- output of a hostile job ------------------------------------------------------------------------------------------


def test_output_of_a_job_does_not_steer_the_terminal_unless_that_is_asked_for(krond: Krond) -> None:
    written = b"\x1b[2Jred \xc2\x9bm\xe2\x80\xae\n\ttab \xff\n"
    run_id = invoke(krond.state, "trigger", "evil", "--wait").out.strip()

    piped = subprocess.run([*KROND, "logs", run_id, "--state", str(krond.state)], capture_output=True, check=True)
    shown = on_terminal(krond.state, "logs", run_id)
    raw = on_terminal(krond.state, "logs", run_id, "--raw")

    assert piped.stdout == written
    assert shown == "\\x1b[2Jred \\x9bm\\u202e\n\ttab \\xff\n"
    assert raw.startswith("\x1b[2Jred \x9bm\u202e\n")


# --- clients that ask too much ----------------------------------------------------------------------------------------


def test_the_control_socket_can_be_reached_by_its_owner_alone(krond: Krond) -> None:
    modes = [path.stat().st_mode & 0o777 for path in (krond.state, krond.state / "control.sock")]

    assert modes == [0o700, 0o600]


def test_clients_that_ask_for_half_a_request_keep_no_one_else_from_asking(krond: Krond, clients: Clients) -> None:
    stuck = clients(200)
    for connection in stuck:
        with_half = connection.send(b'{"command": "sta', socket.MSG_NOSIGNAL) if is_open(connection) else 0
        assert with_half in (0, 16)

    found = invoke(krond.state, "status")

    assert found.code == 0
    assert sum(map(is_open, stuck)) < 64


def is_open(connection: socket.socket) -> bool:
    """Whether the other end has not closed a connection on which it sends nothing."""
    return not select.select([connection], [], [], 0)[0]


def test_a_request_without_an_end_is_refused_when_it_is_too_long(krond: Krond) -> None:
    with closing(connect(krond)) as connection:
        Thread(target=_pour, args=(connection,), daemon=True).start()
        answer = received(connection)

    assert answer == {"ok": False, "error": "a request has at most 1,048,576 bytes", "exit": 2}
    assert invoke(krond.state, "status").code == 0


def _pour(connection: socket.socket) -> None:
    try:
        for _ in range(64):
            connection.sendall(b"x" * (1 << 20))
    except OSError:
        pass


def test_more_decisions_than_are_reasonable_are_refused(krond: Krond) -> None:
    with closing(connect(krond)) as connection:
        connection.sendall(b'{"command": "next", "count": 100000}\n')
        answer = received(connection)

    assert answer == {"ok": False, "error": "count must be a number from 1 to 10,000, found 100000", "exit": 2}
    assert invoke(krond.state, "next", "-n", "100000").code == 2


def longest_wait_for_a_status(krond: Krond) -> float:
    """Return the longest wait for a status while krond computes a long answer, as a share of the wait for that one."""
    with closing(connect(krond)) as asking, closing(ControlClient(krond.state / "control.sock")) as other:
        answers: list[dict[str, Any]] = []
        reading = Thread(target=lambda: answers.append(received(asking)))
        instants = [monotonic()]
        asking.sendall(b'{"command": "next", "job": "minutely", "count": 5000}\n')
        reading.start()
        while reading.is_alive():
            other.ask("status")
            instants.append(monotonic())
        reading.join()
    assert len(answers[0]["result"]) == 5000
    return max(after - before for before, after in pairwise(instants)) / (instants[-1] - instants[0])


def test_krond_answers_others_while_it_computes_a_long_answer(krond: Krond) -> None:
    # If the loop is held, a status waits for nearly the whole time, each time. On a busy machine it may do so once.
    assert any(longest_wait_for_a_status(krond) < 0.5 for _ in range(20))


def test_a_run_that_no_client_waits_for_is_waited_for_by_no_connection(krond: Krond, clients: Clients) -> None:
    for _ in range(3):
        waiting = clients(48)
        for number, connection in enumerate(waiting):
            connection.sendall(b'{"command": "wait", "run_id": "none-%d"}\n' % number)
        with closing(connect(krond)) as one_more:
            one_more.sendall(b'{"command": "ping"}\n{"command": "wait", "run_id": "none"}\n')
            with one_more.makefile("rb") as lines:
                pinged, refused = json.loads(lines.readline()), json.loads(lines.readline())
        for connection in waiting:
            connection.close()

        assert pinged == {"ok": True, "result": None}
        assert refused["error"] == "48 commands wait for runs already; try again later"


# --- the end ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "before",
    [
        (),
        pytest.param(("unshare", "--pid", "--fork"), marks=[needs_root]),
    ],
    ids=["beside krond", "in another container"],
)
def test_stop_returns_when_the_process_is_gone_and_the_log_says_so_last(
    tmp_path: Path, before: tuple[str, ...]
) -> None:
    with started(tmp_path) as krond:
        found = run(krond.state, "stop", before=before)
        assert krond.process is not None
        is_gone = krond.process.poll() == 0
        assert krond.process.stderr is not None
        last = json.loads(krond.process.stderr.read().splitlines()[-1])

    assert (found.returncode, found.stderr, is_gone) == (0, "", True)
    assert (last["event"], last["level"]) == ("KrondStopped", "INFO")
