"""TraceWriter: writes and judges a trace, in a process of its own once it is long, while the simulation continues."""

import fcntl
import marshal
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import IO, Any

from kron.errors import KronError
from kron.theory.checker import Checker
from kron.theory.results import TraceReport
from kron.theory.trace_format import (
    SimultaneousEvents,
    TraceEvent,
    TraceHeader,
    TracePosition,
    write_event,
    write_header,
)

_SHORT = 5_000  # positions: a shorter trace is done before another process is ready
_BATCH = 500  # positions sent at once
_PIPE = 1024 * 1024  # bytes that may be on their way
_LENGTH = Struct("!I")


class TraceWriter:
    """Takes positions one by one; `close` returns what was found, None if nothing was to be judged."""

    def __init__(self, header: TraceHeader, path: Path, *, verify: bool, overwrite: bool = False) -> None:
        """The file is made at once; OSError says why it cannot be, FileExistsError that it is there already."""
        is_device = path.exists() and not path.is_file()  # of which nothing is lost
        with path.open("w" if overwrite or is_device else "x", encoding="utf-8") as file:
            file.write(f"{write_header(header)}\n")
        self._work = _TraceJudge(header, path, verify=verify)
        self._waiting: list[TracePosition] = []
        self._most = _SHORT
        self._process: subprocess.Popen[bytes] | None = None

    def take(self, position: TracePosition) -> None:
        """Take one position."""
        self._waiting.append(position)
        if len(self._waiting) >= self._most:
            self._send()

    def close(self) -> TraceReport | None:
        """Wait until all is written and judged."""
        if self._process is None:
            self._work.take(self._waiting)
            return self._work.close()
        self._send()
        answer, _ = self._process.communicate()
        found = pickle.loads(answer) if answer else None  # of our own process
        if isinstance(found, KronError):
            raise found
        if self._process.returncode:
            raise ChildProcessError(f"the process that judges the trace ended with {self._process.returncode}")
        return found if isinstance(found, TraceReport) else None

    def kill(self) -> None:
        """Let go of everything: the simulation failed."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def _send(self) -> None:
        if self._process is None:
            self._most = _BATCH
            command = [sys.executable, "-c", f"from {__name__} import child_main; child_main()"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            _widen(self._process.stdin)
            _write(self._process.stdin, pickle.dumps(self._work))
        _write(self._process.stdin, marshal.dumps(list(map(_plain, self._waiting))))
        self._waiting = []


class _TraceJudge:
    """What is done with a trace, wherever that is."""

    def __init__(self, header: TraceHeader, path: Path, *, verify: bool) -> None:
        self._header, self._path, self._verify = header, path, verify
        self._checker: Checker | None = None

    def take(self, positions: Sequence[TracePosition]) -> None:
        """Write the positions down, and judge them."""
        if self._verify and self._checker is None:
            self._checker = Checker(self._header)
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{write_event(position)}\n" for position in positions)
        if self._checker is not None:
            for position in positions:
                self._checker.read(position)

    def close(self) -> TraceReport | None:
        """Return what was found."""
        return None if self._checker is None else self._checker.report()


def child_main() -> None:
    """Be the other process: take batches from the standard input until it ends, and answer on the standard output."""
    source = sys.stdin.buffer
    found: TraceReport | KronError | None
    try:
        doing: _TraceJudge = pickle.loads(_read(source))  # of our own process
        while batch := _read(source):
            doing.take(list(map(_line, marshal.loads(batch))))
        found = doing.close()
    except KronError as error:
        found = error
        while source.read(1 << 20):  # so that the simulation does not write into a closed pipe
            pass
    sys.stdout.buffer.write(pickle.dumps(found))


def _plain(line: TracePosition) -> object:
    """Return a position as another process can have it: an event is a tuple, a set of them is a list."""
    return [tuple(event) for event in line.events] if isinstance(line, SimultaneousEvents) else tuple(line)


def _line(found: Any) -> TracePosition:
    if isinstance(found, list):
        return SimultaneousEvents(tuple(map(TraceEvent._make, found)))
    return TraceEvent._make(found)


def _widen(pipe: IO[bytes] | None) -> None:
    """Let much be on its way, so that neither process waits for the other at every batch."""
    with suppress(OSError, AttributeError):  # only Linux can; elsewhere it is a little slower
        assert pipe is not None
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _write(pipe: IO[bytes] | None, batch: bytes) -> None:
    assert pipe is not None
    pipe.write(_LENGTH.pack(len(batch)))
    pipe.write(batch)


def _read(pipe: IO[bytes]) -> bytes:
    """Return the next batch, nothing at the end."""
    length = pipe.read(_LENGTH.size)
    return pipe.read(_LENGTH.unpack(length)[0]) if length else b""
