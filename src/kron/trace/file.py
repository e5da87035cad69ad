"""TraceFile: a trace on disk, one life of a scheduler after the other."""

import json
import os
from dataclasses import replace
from pathlib import Path

from kron.errors import InvalidTraceError
from kron.theory.trace_format import TraceEvent, TraceHeader, TracePosition, events_of, write_event, write_header

_QUIET_ENDS = ("StopEnd", "UnexpectedShutdown")  # after these nothing was running, so nothing was cut off
_BLOCK = 65_536


class TraceFile:
    """Adds to a file, or makes it. A torn last line is cut off; a life that broke off ended by a crash.

    `crash` is the line that says so. It is written at once, unless `holds_crash` is set, so that the caller can look at
    the ledger first.
    """

    def __init__(self, path: Path, header: TraceHeader, *, holds_crash: bool = False) -> None:
        self.path = path
        self.crash: TraceEvent | None = None
        self._is_old = False  # of version 1, where each event has a line of its own
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._size = self._line_start(os.fstat(self._file).st_size)  # without a torn line
            os.ftruncate(self._file, self._size)
            self.last: int | None = None  # the instant of the last position that was there, in milliseconds
            if self._size == 0:
                self._write(write_header(header))
            else:
                self._go_on(header)
                if self.crash is not None and not holds_crash:
                    self.write(self.crash)
        except BaseException:
            os.close(self._file)
            raise

    def write(self, position: TracePosition) -> None:
        """Add a position. If that fails, no half of it is left."""
        lines = events_of(position) if self._is_old else (position,)
        self._write("\n".join(map(write_event, lines)))

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _write(self, text: str) -> None:
        line = f"{text}\n".encode()
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(line)

    def _line_start(self, end: int) -> int:
        """Return where the line begins that ends there: behind the last newline before it."""
        while end:
            start = max(0, end - _BLOCK)
            newline = os.pread(self._file, end - start, start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
        return 0

    def _go_on(self, header: TraceHeader) -> None:
        with self.path.open("rb") as lines:
            first = lines.readline()[:-1].decode(errors="replace")
        self._is_old = first == write_header(replace(header, version=1))
        if first != write_header(header) and not self._is_old:
            reason = f"of {self.path} must be that of the traces to be added to it, {write_header(header)}"
            raise InvalidTraceError(line=1, field="header", found=first, reason=reason)
        begin, end = self._line_start(self._size - 1), self._size - 1
        last = os.pread(self._file, end - begin, begin).decode(errors="replace")
        if last == first:
            return
        found = json.loads(last)
        events = found if isinstance(found, list) else [found]
        names = {event["event"] for event in events}
        self.last = int(events[0]["t"])
        if "End" in names:
            with self.path.open("rb") as lines:
                number = sum(1 for _ in lines)
            raise InvalidTraceError(
                line=number, field="event", found="End", reason="must be one that others may follow"
            )
        if names.isdisjoint(_QUIET_ENDS):
            shown = {"clock": events[0]["clock"]} if "clock" in events[0] else {}
            self.crash = TraceEvent(self.last, "UnexpectedShutdown", shown)
