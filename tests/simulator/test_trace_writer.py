"""Tests of the trace writer: another process writes and judges a long trace with the same result."""

from itertools import chain
from pathlib import Path

import pytest

from kron.errors import InvalidTraceError
from kron.simulator.trace_writer import TraceWriter
from kron.theory.checker import Checker
from kron.theory.formula import TruthValue
from kron.theory.trace_format import (
    SimultaneousEvents,
    TraceEvent,
    TraceHeader,
    TracePosition,
    write_event,
    write_header,
)

HEADER = TraceHeader("declarative", "UTC")
MINUTE = 60_000
LISTED = [{"name": "a", "cron": "* * * * *", "retryDelayMs": 0}]
BEGINNING = (
    TraceEvent(1, "InitStart", {"call": 1, "registrations": LISTED}),
    TraceEvent(1, "InitSuccess", {"call": 1}),
)

AT_ONCE: list[TracePosition] = [
    SimultaneousEvents((TraceEvent(10**9, "StopStart", {"call": 1}), TraceEvent(10**9, "UnexpectedShutdown")))
]


def minutes(number: int, event: str = "RunSuccess") -> list[TraceEvent]:
    runs = ((TraceEvent(n * MINUTE + 1, "RunStart", {"task": "a"}), TraceEvent(n * MINUTE + 2, event, {"task": "a"}))
            for n in range(number))  # fmt: skip
    return [*BEGINNING, *chain.from_iterable(runs)]


@pytest.mark.parametrize("length", [10, 4_000], ids=["a short one", "a long one"])
def test_a_trace_is_written_and_judged_as_if_there_were_no_clerk(tmp_path: Path, length: int) -> None:
    positions: list[TracePosition] = [*minutes(length), *AT_ONCE]
    path = tmp_path / "trace.jsonl"
    writer, checker = TraceWriter(HEADER, path, verify=True), Checker(HEADER)

    for position in positions:
        writer.take(position)
        checker.read(position)

    assert writer.close() == checker.report()
    lines = [write_header(HEADER), *(write_event(position) for position in positions)]
    assert path.read_text().split("\n") == [*lines, ""]


def test_a_violation_far_into_a_trace_is_found(tmp_path: Path) -> None:
    writer = TraceWriter(HEADER, tmp_path / "trace.jsonl", verify=True)
    positions = minutes(4_000)

    for position in [*positions, TraceEvent(positions[-1].time_ms, "RunStart", {"task": "a"})]:
        writer.take(position)
    report = writer.close()

    assert report is not None
    assert report.verdict is TruthValue.VIOLATED


def test_without_a_judge_there_is_no_report(tmp_path: Path) -> None:
    writer = TraceWriter(HEADER, tmp_path / "trace.jsonl", verify=False)

    for position in minutes(4_000):
        writer.take(position)

    assert writer.close() is None
    assert len((tmp_path / "trace.jsonl").read_text().splitlines()) == 8_003


@pytest.mark.parametrize("length", [10, 4_000], ids=["a short trace", "a long one"])
def test_an_event_that_cannot_be_written_is_an_error(tmp_path: Path, length: int) -> None:
    writer = TraceWriter(HEADER, tmp_path / "trace.jsonl", verify=True)
    positions = minutes(length)

    for position in [*positions, TraceEvent(positions[-1].time_ms, "StopEnd", {"call": 7})]:
        writer.take(position)

    with pytest.raises(InvalidTraceError):
        writer.close()


def test_a_clerk_that_is_let_go_leaves_no_process(tmp_path: Path) -> None:
    writer = TraceWriter(HEADER, tmp_path / "trace.jsonl", verify=True)

    for position in minutes(4_000):
        writer.take(position)
    writer.kill()

    assert writer._process is not None
    assert writer._process.returncode is not None


def test_a_file_that_cannot_be_made_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        TraceWriter(HEADER, tmp_path / "missing" / "trace.jsonl", verify=True)
