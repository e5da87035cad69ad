"""The control socket answers its owner and root, and is closed to other users."""

import asyncio
import os
import select
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from kron.adapters.unix_socket import short_address
from kron.errors import ControlError, JobActiveError
from kron.hosts.krond.control_client import ControlClient
from kron.hosts.krond.control_server import MOST, ControlServer, Row, Rows


async def echo(asked: Mapping[str, Any]) -> object:
    return asked.get("word")


async def refuse(_: Mapping[str, Any]) -> object:
    raise JobActiveError(identity="job")


async def fail(_: Mapping[str, Any]) -> object:
    raise KeyError("a")


HANDLERS = {"echo": echo, "refuse": refuse, "fail": fail}


def asked(path: Path, *requests: Mapping[str, Any], errors: list[str] | None = None) -> list[object]:
    """Return the answers of a server to requests on one connection."""

    async def live() -> list[object]:
        if errors is not None:
            asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context["message"]))
        control = ControlServer(path, HANDLERS, lambda _: None)
        await control.open()
        try:
            return await asyncio.to_thread(ask)
        finally:
            await control.close()

    def ask() -> list[object]:
        client = ControlClient(path)
        answers: list[object] = []
        for request in requests:
            try:
                answers.append(client.ask(**request))
            except ControlError as error:
                answers.append((error.message, error.exit_code))
        client.close()
        return answers

    return asyncio.run(live())


def test_a_command_is_answered(tmp_path: Path) -> None:
    assert asked(tmp_path / "control.sock", {"command": "echo", "word": "grüß"}) == ["grüß"]


def test_a_refusal_of_a_command_has_its_message_and_exit_code(tmp_path: Path) -> None:
    found = asked(tmp_path / "control.sock", {"command": "refuse"}, {"command": "echo", "word": 1})

    assert found == [("job is active, and its concurrency is forbid", 1), 1]


def test_an_unknown_command_is_refused_and_the_connection_goes_on(tmp_path: Path) -> None:
    found = asked(tmp_path / "control.sock", {"command": "dance"}, {"command": "echo", "word": 2})

    assert found == [("that is no request of this krond", 2), 2]


def test_a_path_too_long_for_an_address_works(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 20) / ("longer" * 20)
    folder.mkdir(parents=True)

    assert asked(folder / "control.sock", {"command": "echo", "word": 3}) == [3]


def test_a_missing_krond_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(ControlError, match="no krond runs"):
        ControlClient(tmp_path / "control.sock")


def test_the_socket_is_for_its_owner_alone_and_goes_with_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    path.write_text("left from a crash")

    async def live() -> int:
        control = ControlServer(path, HANDLERS, lambda _: None)
        await control.open()
        mode = stat.S_IMODE(path.stat().st_mode)
        await control.close()
        return mode

    assert asyncio.run(live()) == 0o600
    assert not path.exists()


@pytest.mark.parametrize("sent", [b"\n", b"[]\n", b'"echo"\n', b"\xff\n", b"{" * 5000 + b"\n"])
def test_nonsense_is_no_request(tmp_path: Path, sent: bytes) -> None:
    path = tmp_path / "control.sock"

    async def live() -> bytes:
        control = ControlServer(path, HANDLERS, lambda _: None)
        await control.open()
        try:
            return await asyncio.to_thread(send)
        finally:
            await control.close()

    def send() -> bytes:
        with socket.socket(socket.AF_UNIX) as client, short_address(path) as address:
            client.connect(address)
            client.sendall(sent)
            return client.recv(1000)

    assert b"that is no request" in asyncio.run(live())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_another_user_is_refused_and_named(tmp_path: Path) -> None:
    path, refused = tmp_path / "control.sock", list[int]()

    async def live() -> int:
        control = ControlServer(path, HANDLERS, refused.append)
        await control.open()
        path.chmod(0o666)  # as if the directory's rights had failed, too
        tmp_path.chmod(0o755)
        stranger = await asyncio.create_subprocess_exec(
            "python3", "-c",
            "import os, socket, sys\nos.setuid(65534)\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\n"
            "sys.exit(len(s.recv(100)))",
            path.name,
            cwd=tmp_path,  # entered by root: the folders above stay closed to the stranger
        )  # fmt: skip
        code = await stranger.wait()
        await control.close()
        return code

    assert asyncio.run(live()) == 0
    assert refused == [65534]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@pytest.mark.parametrize(
    ("asking", "answer"),
    [
        (
            "kron.hosts.krond.control_client import ControlClient as ask",
            "only its owner and root may ask the krond on {}",
        ),
        (
            "kron.hosts.krond.commands.history import open_state as ask",
            "State directory {} can only be read by its owner and root",
        ),
    ],
)
def test_a_user_without_access_to_the_state_directory_gets_its_owner(tmp_path: Path, asking: str, answer: str) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    place = state / "control.sock" if "client" in asking else state
    lines = ("import os, sys, pathlib", f"from {asking}", "os.setuid(65534)", "ask(pathlib.Path(sys.argv[1]))")
    command = [sys.executable, "-c", "; ".join(lines), str(place)]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)

    assert asked.stderr.splitlines()[-1].partition("Error: ")[2] == answer.format(state)


def test_a_bug_in_a_command_is_answered_and_reported_and_the_connection_stays_open(tmp_path: Path) -> None:
    errors: list[str] = []
    said, word = asked(tmp_path / "control.sock", {"command": "fail"}, {"command": "echo", "word": 1}, errors=errors)

    assert said == ("krond failed, which is a bug of it: KeyError: 'a'", 1)
    assert word == 1
    assert errors == ["krond could not answer fail"]


async def large(_: Mapping[str, Any]) -> object:
    return "x" * (1 << 20)


@asynccontextmanager
async def opened(path: Path, *, limit: float = 60.0) -> AsyncIterator[ControlServer]:
    """A server of commands, one of which has a large answer."""
    control = ControlServer(path, {**HANDLERS, "large": large}, lambda _: None, ask_limit=limit, take_limit=limit)
    await control.open()
    try:
        yield control
    finally:
        await control.close()


def connected(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX)
    with short_address(path) as address:
        client.connect(address)
    return client


def test_clients_that_read_no_answer_keep_no_other_client_from_asking(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"

    def ask() -> object:
        with ExitStack() as stack:
            stuck = [stack.enter_context(connected(path)) for _ in range(MOST)]
            for client in stuck:
                client.sendall(b'{"command": "large"}\n')
            for client in stuck:
                client.recv(1)  # it is being answered, and takes nothing more
            with closing(ControlClient(path)) as other:
                return other.ask("echo", word="there")

    async def live() -> object:
        async with opened(path):
            return await asyncio.to_thread(ask)

    assert asyncio.run(live()) == "there"


@pytest.mark.parametrize("sent", [b"", b'{"command": "ec', b'{"command": "large"}\n'], ids=["idle", "half", "unread"])
def test_a_client_that_neither_asks_nor_reads_is_disconnected_after_a_time(tmp_path: Path, sent: bytes) -> None:
    path = tmp_path / "control.sock"

    def wait_for_the_end() -> bool:
        with connected(path) as client:
            client.sendall(sent)
            hung_up = select.poll()
            hung_up.register(client, select.POLLHUP)
            return bool(hung_up.poll(60_000))

    async def live() -> bool:
        async with opened(path, limit=0.05):
            return await asyncio.to_thread(wait_for_the_end)

    assert asyncio.run(live())


def test_the_loop_turns_while_a_long_answer_is_computed_and_one_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    path, turns = tmp_path / "control.sock", list[int]()

    def compute() -> Iterator[Row]:
        for number in range(5):
            before = len(turns)
            while len(turns) < before + 10:  # it ends only if the loop turns meanwhile
                pass
            yield {"number": number}

    def idle() -> Iterator[Row]:
        began = monotonic()
        while monotonic() < began + 60:
            yield None

    async def rows(_: Mapping[str, Any]) -> object:
        return Rows(compute)

    async def too_long(_: Mapping[str, Any]) -> object:
        return Rows(idle, longest=0.05)

    def ask() -> tuple[Any, str]:
        with closing(ControlClient(path)) as client:
            found = client.ask("rows")
            with pytest.raises(ControlError) as raised:
                client.ask("too long")
            return found, raised.value.message

    async def live() -> tuple[Any, str]:
        control = ControlServer(path, {"rows": rows, "too long": too_long}, lambda _: None)
        await control.open()
        asking = asyncio.ensure_future(asyncio.to_thread(ask))
        while not asking.done():
            turns.append(1)
            await asyncio.sleep(0.001)  # noqa: TID251  # a turn
        await control.close()
        return asking.result()

    found, refusal = asyncio.run(live())

    assert [each["number"] for each in found] == [0, 1, 2, 3, 4]
    assert refusal == "the answer takes krond more than 0.05 s; ask for less"


def test_a_client_that_has_asked_to_stop_is_not_disconnected_while_it_waits_for_the_end(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"

    def wait() -> object:
        with connected(path) as stopping:
            stopping.sendall(b'{"command": "stop"}\n')
            stopping.recv(100)
            with connected(path) as idle:
                idle.recv(100)  # it is disconnected, and has connected later
            return select.select([stopping], [], [], 0)[0]

    async def live() -> object:
        control = ControlServer(path, {"stop": echo}, lambda _: None, ask_limit=0.05)
        await control.open()
        waited = await asyncio.to_thread(wait)
        await control.close()
        return waited

    assert asyncio.run(live()) == []
