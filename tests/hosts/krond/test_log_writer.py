"""Events are written in order, and a slow reader delays no job."""

import fcntl
import json
import os
import resource
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from select import select

from kron.adapters.sinks import JsonLinesSink
from kron.hosts.krond.log_writer import LogWriter, LogWriterSink
from kron.rules.events import make_event
from tests.hosts.krond.krond_process import KROND, NEVER, Krond

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LONGEST = 60.0
SMALLEST_PIPE = 4096


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe that is soon full."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
    try:
        yield reading, writing
    finally:
        os.close(reading)
        os.close(writing)


def read_until(reading: int, last: bytes) -> list[bytes]:
    data = b""
    while not data.endswith(last):
        data += os.read(reading, SMALLEST_PIPE)
    return data.splitlines()


def test_lines_come_out_in_their_order() -> None:
    with pipe() as (reading, writing):
        outlet = LogWriter(writing)
        for number in range(2_000):
            outlet.write(b"%d\n" % number)

        assert read_until(reading, b"\n1999\n") == [b"%d" % number for number in range(2_000)]

        outlet.finish(LONGEST)


def test_accepted_events_are_written_before_the_end() -> None:
    with pipe() as (reading, writing):
        outlet = LogWriter(writing)
        outlet.as_text().write("the last\n")
        outlet.finish(LONGEST)

        assert os.read(reading, 100) == b"the last\n"


def test_the_end_does_not_wait_for_who_does_not_read() -> None:
    with pipe() as (reading, writing):
        outlet = LogWriter(writing)
        outlet.write(b"x" * 2 * SMALLEST_PIPE + b"\n")
        outlet.finish(0.01)

        assert not select([], [writing], [], 0)[1]
        read_until(reading, b"x\n")  # so that the thread ends before its descriptor is closed
        outlet.finish(LONGEST)


def test_unread_events_are_dropped_and_counted_where_they_are_missing() -> None:
    with pipe() as (reading, writing):
        os.set_blocking(reading, False)
        outlet = LogWriter(writing, most=10_000)
        sink = LogWriterSink(JsonLinesSink(outlet.as_text(), lambda: NOON), outlet)
        for uid in range(1_000):
            sink(make_event("PeerRefused", uid=uid))
        data = b""
        while b"EventsDropped" not in data or not data.endswith(b"\n"):
            sink.report_dropped()
            with suppress(BlockingIOError):
                data += os.read(reading, SMALLEST_PIPE)
        *kept, dropped = map(json.loads, data.splitlines())

        assert [line["uid"] for line in kept] == list(range(len(kept)))
        assert (dropped["event"], dropped["count"]) == ("EventsDropped", 1_000 - len(kept))

        outlet.finish(LONGEST)


def test_a_krond_with_unread_events_continues(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f"[jobs.a]\n{NEVER}\ncommand = 'false'\nretries = 20\nretry_delay = '0s'\n").start()
    assert krond.process is not None
    assert krond.process.stderr is not None
    fcntl.fcntl(krond.process.stderr, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)

    assert krond.ask("trigger", "a", "--wait").returncode == 1  # it failed, as it should
    assert krond.ask("status").returncode == 0
    assert krond.ask("stop").returncode == 0
    assert krond.end() == 0


def test_a_krond_without_standard_error_runs(tmp_path: Path) -> None:
    krond = Krond(tmp_path, f"[jobs.a]\n{NEVER}\ncommand = 'sh -c \"echo heard >&2\"'\nstderr = 'inherit'\n")
    krond.start().ask("stop")  # so that there is a state to look into
    krond.end()
    run = shlex.join([*KROND, "run", "--config", str(krond.file), "--state", str(krond.state)])
    with subprocess.Popen(["sh", "-c", f"exec {run} 2>&-"]) as process:
        while krond.ask("status").returncode:
            assert process.poll() is None

        assert krond.ask("trigger", "a", "--wait").returncode == 0
        assert krond.ask("stop").returncode == 0
        assert process.wait() == 0
    assert krond.ask("ledger", "check").returncode == 0


def test_a_line_that_was_torn_ends_before_the_next_one_and_is_counted(tmp_path: Path) -> None:
    def limited(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    file = tmp_path / "events"
    writing = os.open(file, os.O_WRONLY | os.O_CREAT)
    outlet = LogWriter(writing)
    limited(5)  # a disk that is full after so many bytes
    try:
        for line in (b"1\n", b"2\n", b"345\n"):
            outlet.write(line)
        while not (dropped := outlet.take_dropped()):
            select([], [], [], 0.01)
    finally:
        limited(resource.RLIM_INFINITY)
    outlet.write(b"6\n")
    outlet.finish(LONGEST)
    os.close(writing)

    assert file.read_bytes() == b"1\n2\n3\n6\n"
    assert dropped == 1


def test_a_non_blocking_descriptor_loses_no_line() -> None:
    with pipe() as (reading, writing):
        os.set_blocking(writing, False)
        outlet = LogWriter(writing)
        for number in range(2_000):
            outlet.write(b"%d\n" % number)

        assert read_until(reading, b"\n1999\n") == [b"%d" % number for number in range(2_000)]

        outlet.finish(LONGEST)
        assert outlet.take_dropped() == 0
