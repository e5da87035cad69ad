"""Output that goes to the host's log: every line, as fast as the log reads; and what it does not take is counted."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kron.adapters.process.syslog import Syslog, SyslogStream
from tests.adapters.process.recorded_runner import living, settled, until

MANY = 3000  # lines, and far more than a log has room for


def bound(path: Path) -> socket.socket:
    """Return the socket of a log."""
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(str(path))
    log.settimeout(0)
    return log


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def log(place: Path) -> Iterator[socket.socket]:
    with bound(place) as log:
        yield log


def waiting(log: socket.socket) -> int:
    """Return the number of unread messages."""
    number = 0
    try:
        while log.recv(10_000):
            number += 1
    except BlockingIOError:
        return number
    raise AssertionError


async def hear(log: socket.socket, number: int) -> list[bytes]:
    """Return so many messages, when they have come."""
    loop = asyncio.get_running_loop()
    return [await loop.sock_recv(log, 10_000) for _ in range(number)]


async def test_every_line_is_a_message_and_none_is_on_the_disk(tmp_path: Path, place: Path, log: socket.socket) -> None:
    async with living(tmp_path, syslog=Syslog(str(place))) as runner:
        run_id = runner.start("sh", "-c", "echo one; printf 'two\\nthree'", stdout="syslog")
        await settled(runner, run_id)

        assert runner.output(run_id).text() == b""
        messages = await hear(log, 3)
        assert messages == [f"<78>krond[{run_id}]: {line}".encode() for line in ("one", "two", "three")]


async def test_a_log_that_reads_late_gets_every_line_in_order(tmp_path: Path, place: Path, log: socket.socket) -> None:
    async with living(tmp_path, syslog=Syslog(str(place))) as runner:
        run_id = runner.start("seq", str(MANY), stdout="syslog")
        await runner.ended(run_id)
        messages = await hear(log, MANY)
        await settled(runner, run_id)

        assert messages == [f"<78>krond[{run_id}]: {number}".encode() for number in range(1, MANY + 1)]
        assert runner.lost == []


async def test_while_a_log_has_no_room_others_are_captured(tmp_path: Path, place: Path, log: socket.socket) -> None:
    async with living(tmp_path, syslog=Syslog(str(place))) as runner:
        stuck = runner.start("seq", str(MANY), stdout="syslog")
        await runner.ended(stuck)
        await settled(runner, runner.start("echo", "hello", run_id="other"))

        assert runner.output("other").text() == b"hello\n"
        await hear(log, MANY)
        await settled(runner, stuck)


async def test_lines_that_a_log_without_a_reader_does_not_take_are_counted(
    tmp_path: Path, place: Path, log: socket.socket
) -> None:
    async with living(tmp_path, syslog=Syslog(str(place), patience=0.0)) as runner:
        run_id = runner.start("seq", str(MANY), stdout="syslog")
        await settled(runner, run_id)
        taken = waiting(log)
        await until(lambda: sum(lines for _, lines in runner.lost) == MANY - taken)

        assert {run for run, _ in runner.lost} == {run_id}
        assert len(runner.lost) <= 2


async def test_a_host_without_a_log_runs_and_counts_lost_messages(tmp_path: Path, place: Path) -> None:
    async with living(tmp_path, syslog=Syslog(str(place), patience=0.0)) as runner:
        run_id = runner.start("sh", "-c", "echo one; echo two", stdout="syslog", stderr="syslog")

        assert (await runner.ended(run_id)).exit_code == 0
        await settled(runner, run_id)
        await until(lambda: sum(lines for _, lines in runner.lost) == 2)


def test_a_log_that_was_restarted_is_found_again(place: Path) -> None:
    syslog = Syslog(str(place))
    syslog.start_turn()
    with bound(place):
        assert syslog.send("run", "stdout", b"one")
    place.unlink()

    with bound(place) as log:
        assert syslog.send("run", "stderr", b"two")
        assert log.recv(100) == b"<76>krond[run]: two"
    syslog.close()


def test_a_log_is_unavailable_only_as_long_as_it_takes_nothing(place: Path) -> None:
    syslog = Syslog(str(place), patience=0.0)
    syslog.start_turn()
    assert not syslog.send("run", "stdout", b"one")
    assert syslog.is_unavailable
    syslog.start_turn()

    with bound(place):
        assert syslog.send("run", "stdout", b"two")
    assert not syslog.is_unavailable
    syslog.close()


def test_of_more_than_may_wait_the_oldest_lines_are_dropped_and_counted(tmp_path: Path, place: Path) -> None:
    live = tmp_path / "live"
    line = b"x" * 1023 + b"\n"
    live.write_bytes(line * (20 << 10))
    stream = SyslogStream(live, "run", "stdout", Syslog(str(place)))

    stream.forward()

    assert stream.is_behind
    assert stream.dropped_lines == 4 << 10


def test_lines_that_an_earlier_host_has_sent_are_not_sent_again(
    tmp_path: Path, place: Path, log: socket.socket
) -> None:
    live = tmp_path / "live"
    live.write_bytes(b"one\n")
    syslog = Syslog(str(place))
    syslog.start_turn()
    SyslogStream(live, "run", "stdout", syslog).forward()
    with live.open("ab") as file:
        file.write(b"two\n")

    SyslogStream(live, "run", "stdout", syslog).forward()

    assert [log.recv(100) for _ in range(2)] == [b"<78>krond[run]: one", b"<78>krond[run]: two"]
    syslog.close()


def test_a_job_that_empties_its_output_goes_on_being_heard(tmp_path: Path, place: Path, log: socket.socket) -> None:
    live = tmp_path / "live"
    syslog = Syslog(str(place))
    stream = SyslogStream(live, "run", "stdout", syslog)
    for text in (b"a long line\n", b"short\n"):
        syslog.start_turn()
        live.write_bytes(text)
        stream.forward()

    assert waiting(log) == 2
    syslog.close()
