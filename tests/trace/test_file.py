"""Tests of TraceFile: consecutive processes in one file, however the last one ended."""

from dataclasses import replace
from pathlib import Path

import pytest

from kron.errors import InvalidTraceError
from kron.theory.properties import SUITES
from kron.theory.trace_format import (
    SimultaneousEvents,
    TraceEvent,
    TraceHeader,
    TracePosition,
    events_of,
    read_trace,
    write_event,
    write_header,
)
from kron.trace.file import TraceFile

HEADER = TraceHeader("declarative", "UTC")
INIT = TraceEvent(5, "InitStart", {"call": 1, "registrations": []})
STOPPED = TraceEvent(9, "StopEnd", {"call": 1})


def write(path: Path, *positions: TracePosition) -> TraceFile:
    """Write a life, and leave the file as a death would."""
    file = TraceFile(path, HEADER)
    for position in positions:
        file.write(position)
    file.close()
    return file


def read(path: Path) -> list[TraceEvent]:
    with path.open(encoding="utf-8") as lines:
        return [event for line in read_trace(lines, SUITES)[1] for event in events_of(line)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.jsonl"


def test_a_written_trace_is_read_back(path: Path) -> None:
    write(path, INIT, STOPPED)

    assert read(path) == [INIT, STOPPED]


DUES = SimultaneousEvents((TraceEvent(7, "Due", {"task": "a"}), TraceEvent(7, "Due", {"task": "b"})))


def test_events_that_share_a_position_share_a_line(path: Path) -> None:
    write(path, INIT, DUES)

    assert len(path.read_text().splitlines()) == 3
    assert read(path) == [INIT, *DUES.events]


def test_a_life_that_broke_off_after_a_shared_line_ended_by_a_crash(path: Path) -> None:
    write(path, INIT, DUES)

    file = write(path, STOPPED)

    assert file.last == 7
    assert read(path)[3] == TraceEvent(7, "UnexpectedShutdown")


@pytest.mark.parametrize("quiet", [True, False])
def test_a_shared_last_line_that_says_how_a_life_ended_is_believed(path: Path, quiet: bool) -> None:  # noqa: FBT001
    last = TraceEvent(9, "StopEnd", {"call": 1}) if quiet else TraceEvent(9, "Thaw")
    write(path, INIT, SimultaneousEvents((TraceEvent(9, "Due", {"task": "a"}), last)))

    write(path)

    assert [event.kind for event in read(path)].count("UnexpectedShutdown") == (0 if quiet else 1)


def test_a_file_of_version_1_is_continued_in_version_1(path: Path) -> None:
    path.write_text(f"{write_header(replace(HEADER, version=1))}\n{write_event(INIT)}\n")

    write(path, DUES)

    lines = path.read_text().splitlines()
    assert read(path) == [INIT, TraceEvent(INIT.time_ms, "UnexpectedShutdown"), *DUES.events]
    assert [line[0] for line in lines] == ["{"] * 5


def test_after_a_stop_the_next_life_simply_follows(path: Path) -> None:
    write(path, INIT, STOPPED)

    file = write(path, INIT._replace(time_ms=12))

    assert file.last == STOPPED.time_ms
    assert [position.kind for position in read(path)] == ["InitStart", "StopEnd", "InitStart"]


def test_a_life_that_broke_off_ended_by_a_crash_at_its_last_instant(path: Path) -> None:
    write(path, INIT)

    write(path, STOPPED)

    assert read(path)[1] == TraceEvent(5, "UnexpectedShutdown")


def test_a_crash_is_said_by_the_clock_of_the_last_line(path: Path) -> None:
    write(path, INIT._replace(fields={**INIT.fields, "clock": 3}))

    write(path, STOPPED)

    assert read(path)[1] == TraceEvent(5, "UnexpectedShutdown", {"clock": 3})


def test_a_crash_is_said_once(path: Path) -> None:
    write(path, INIT)
    write(path)
    write(path)

    assert [position.kind for position in read(path)] == ["InitStart", "UnexpectedShutdown"]


@pytest.mark.parametrize("torn", [b'{"t": 7, "ev', b'{"t": 7, "event": "Freeze"}', "ü".encode()[:1]])
def test_a_torn_last_line_is_cut_off(path: Path, torn: bytes) -> None:
    write(path, INIT, STOPPED)
    with path.open("ab") as file:
        file.write(torn)

    write(path)

    assert read(path) == [INIT, STOPPED]


def test_a_file_with_only_a_torn_header_is_started_again(path: Path) -> None:
    path.write_bytes(b'{"trace": 1, "con')

    write(path, INIT)

    assert read(path) == [INIT]


def test_a_line_longer_than_any_block_is_found_whole(path: Path) -> None:
    many = [{"name": f"task {number}", "cron": "* * * * *", "retryDelayMs": 0} for number in range(5_000)]
    write(path, INIT._replace(fields={"call": 1, "registrations": many}))

    file = write(path)

    assert file.last == INIT.time_ms
    assert read(path)[1].kind == "UnexpectedShutdown"


@pytest.mark.parametrize("other", [TraceHeader("polling", "UTC"), TraceHeader("declarative", "Europe/Paris")])
def test_a_trace_of_other_terms_is_not_added_to(path: Path, other: TraceHeader) -> None:
    write(path, INIT)
    before = path.read_bytes()

    with pytest.raises(InvalidTraceError, match="Line 1: header"):
        TraceFile(path, other)

    assert path.read_bytes() == before


def test_a_trace_that_has_ended_is_not_added_to(path: Path) -> None:
    write(path, INIT, TraceEvent(9, "End", {"closed": True}))

    with pytest.raises(InvalidTraceError) as caught:
        TraceFile(path, HEADER)

    assert caught.value.line == 3
