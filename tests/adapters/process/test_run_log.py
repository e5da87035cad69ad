"""Tests of output limits: the head and the tail are kept, in whole lines where possible."""

import os
import resource
from itertools import count
from pathlib import Path

import pytest

from kron.adapters.process.output import OutputLog
from kron.adapters.process.run_log import LogRecord, RunLog, log_path, scan
from kron.adapters.process.spool import STREAMS


class WrittenLog:
    """The log of a run, as a collector writes it."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.path = folder, log_path(folder, "run")
        self.log = RunLog(self.path, limit)
        self.total = 0
        self._times = count(1)

    def write(self, data: bytes, stream: str = "stdout", *, dropped: int = 0) -> None:
        position = self.log.positions[stream] + dropped + len(data)
        self.log.append(LogRecord(stream, next(self._times), len(data), dropped, position), data)
        self.total += len(data) + dropped

    def records(self) -> list[LogRecord]:
        with self.path.open("rb") as file:
            return scan(file)

    def kept(self) -> bytes:
        return b"".join(piece.data for piece in OutputLog(self.folder, "run").read().pieces)

    def text(self) -> bytes:
        return OutputLog(self.folder, "run").read().text()

    def dropped(self, stream: str) -> int:
        return sum(record.dropped for record in self.records() if record.stream == stream)


def test_output_within_the_limit_is_kept_unchanged(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=10)
    output.write(b"0123456789")

    output.log.compact()

    assert output.text() == b"0123456789"


@pytest.mark.parametrize(
    ("limit", "written", "left"),
    [
        (12, b"aa\nbb\ncc\ndd\nee\nff\n", b"aa\nbb\n[krond: 6 bytes dropped]\nee\nff\n"),
        (14, b"aaaaa\nbbbbb\nccccc\nddddd\neeeee\n", b"aaaaa\n[krond: 18 bytes dropped]\neeeee\n"),
        (10, b"x" * 100, b"xxxxx\n[krond: 90 bytes dropped]\nxxxxx"),
        (0, b"aa\n", b"[krond: 3 bytes dropped]\n"),
    ],
    ids=["half of each", "lines stay whole", "a line longer than the limit", "nothing"],
)
def test_half_is_kept_of_the_head_and_half_of_the_tail(tmp_path: Path, limit: int, written: bytes, left: bytes) -> None:
    output = WrittenLog(tmp_path, limit)
    output.write(written)

    output.log.compact()

    assert output.text() == left


def test_the_tail_moves_on_and_the_head_stays(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=12)
    for number in range(10, 100):
        output.write(b"%d\n" % number)
        output.log.compact()

    assert output.text() == b"10\n11\n[krond: 258 bytes dropped]\n98\n99\n"
    assert len(output.records()) == 5


def test_within_the_slack_nothing_is_done(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=12)
    output.write(b"aa\n" * 6)

    output.log.compact(slack=6)
    assert output.kept() == b"aa\n" * 6

    output.log.compact(slack=5)
    assert output.kept() == b"aa\n" * 4


def test_both_streams_share_the_limit_in_order_of_arrival(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=8)
    for number in range(10, 20):
        output.write(b"%d\n" % number, "stderr" if number % 2 else "stdout")

    output.log.compact()

    assert output.text() == b"10\n[krond: 24 bytes dropped]\n19\n"
    assert [output.dropped(stream) for stream in STREAMS] == [12, 12]


def test_dropped_and_kept_output_add_up_to_all(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=100)
    for number in range(500):
        output.write(b"line %d\n" % number, "stderr" if number % 3 else "stdout", dropped=number % 2)
        output.log.compact(slack=20)

    found = OutputLog(output.folder, "run").read()
    assert found.bytes == output.log.kept <= 120
    assert found.bytes + found.dropped == output.total


def test_where_each_stream_continues_is_known_after_a_compaction_and_to_the_next_daemon(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=8)
    for number in range(10, 20):
        output.write(b"%d\n" % number, "stderr" if number % 2 else "stdout")
    before = dict(output.log.positions)

    output.log.compact()

    assert output.log.positions == before == RunLog(output.path, 8).positions == {"stdout": 15, "stderr": 15}


@pytest.mark.parametrize("alternating", [False, True], ids=["one stream", "two in turn"])
@pytest.mark.parametrize("limit", [0, 1 << 20])
def test_a_log_never_has_more_than_some_thousand_records(tmp_path: Path, limit: int, *, alternating: bool) -> None:
    output = WrittenLog(tmp_path, limit)
    headers = b"".join(
        LogRecord("stderr" if alternating and number % 2 else "stdout", number, 1, 0, number).header() + b"x"
        for number in range(20_000)
    )
    output.path.write_bytes(headers)
    log = RunLog(output.path, limit)

    log.compact(slack=1 << 20)

    records = output.records()
    assert len(records) <= 10_000
    assert sum(record.kept + record.dropped for record in records) == 20_000
    assert [record.time for record in records] == sorted(record.time for record in records)


def test_half_a_record_is_cut_off_and_what_comes_next_is_whole(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=100)
    output.write(b"one\n")
    with output.path.open("ab") as file:
        file.write(b"stdout 5 50 0 54\nhalf of it")
    assert output.text() == b"one\n"

    output.log = RunLog(output.path, 100)
    output.write(b"two\n")

    assert output.text() == b"one\ntwo\n"
    assert output.log.positions["stdout"] == 8


def test_a_log_that_is_no_log_is_read_as_nothing(tmp_path: Path) -> None:
    for junk in (b"\n", b"stdout 1 2\n", b"stdin 1 1 0 1\nx", b"stdout 1 -5 0 1\n", b"x" * 1000, b"stdout a b c d\n"):
        log_path(tmp_path, "run").write_bytes(junk)

        assert OutputLog(tmp_path, "run").read().text() == b""


def test_a_crash_during_a_compaction_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=6)
    output.write(b"aa\nbb\ncc\n")
    output.path.with_name("run.log.new").write_bytes(b"half")

    assert output.kept() == b"aa\nbb\ncc\n"

    output.log.compact()

    assert output.kept() == b"aa\ncc\n"
    assert [path.name for path in tmp_path.iterdir()] == ["run.log"]


def test_the_log_is_for_the_daemon_alone(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=6)
    before = os.umask(0)
    try:
        output.write(b"aa\nbb\ncc\n")
        modes = [output.path.stat().st_mode & 0o777]
        output.log.compact()
        modes.append(output.path.stat().st_mode & 0o777)
    finally:
        os.umask(before)

    assert modes == [0o600, 0o600]


@pytest.mark.parametrize("compactions", [1, 2, 3])
def test_a_reader_follows_a_log_that_is_compacted_between_two_looks(tmp_path: Path, compactions: int) -> None:
    output, reader = WrittenLog(tmp_path, limit=1000), OutputLog(tmp_path, "run")

    seen = 0
    for _ in range(3):
        for _ in range(compactions):  # ext4 gives the new file the inode number of the one before the last
            output.write(b"a line\n" * 300)
            output.log.compact()
        seen += sum(len(piece.data) + piece.dropped for piece in reader.follow().pieces)

    assert seen == output.total


def test_a_compaction_that_fails_leaves_nothing_on_the_disk(tmp_path: Path) -> None:
    output = WrittenLog(tmp_path, limit=5000)
    output.write(b"a line\n" * 1000)
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))  # likewise on a full disk
    try:
        with pytest.raises(OSError, match="File too large"):
            output.log.compact()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))

    assert list(tmp_path.iterdir()) == [output.path]
    assert output.text() == b"a line\n" * 1000
