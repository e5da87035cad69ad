"""LogWriter: writes lines in a thread of its own; if the reader is too slow, lines are dropped and counted."""

import io
import os
from contextlib import suppress
from queue import Empty, SimpleQueue
from select import select
from threading import Thread
from typing import TextIO

from kron.engine.ports import Sink
from kron.rules.events import Event, make_event

_MOST = 4 << 20  # bytes that may wait: the events of a burst of a few thousand starts
_TOGETHER = 64 << 10  # bytes written at once: a turn of the thread for each line would cost the event loop more


class LogWriter(io.BufferedIOBase):
    """A stream on a descriptor, for whole lines. A line that does not fit is dropped and counted."""

    def __init__(self, descriptor: int, *, most: int = _MOST) -> None:
        self._descriptor, self._most = descriptor, most
        self._lines: SimpleQueue[bytes] = SimpleQueue()  # an empty one: no more will come
        self._taken = self._refused = self._told = 0  # bytes, lines, lines: counted by `write`
        self._done = self._failed = 0  # bytes, lines: counted by the thread
        self._is_torn = False  # whether the last line that was written lacks its end
        self._thread = Thread(target=self._pass_on, name="kron events", daemon=True)
        self._thread.start()

    def as_text(self) -> TextIO:
        """Return it as a stream of text."""
        # The stub asks for more than is ever called.
        return io.TextIOWrapper(self, "utf-8", "backslashreplace", write_through=True)  # type: ignore[type-var]

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, line: bytes, /) -> int:  # type: ignore[override]  # callers have bytes
        """Take a line, or drop it."""
        if self._taken - self._done + len(line) > self._most:
            self._refused += 1
        else:
            self._taken += len(line)
            self._lines.put(line)
        return len(line)

    def take_dropped(self) -> int:
        """Return how many lines were dropped since this was last asked; none as long as there is no room to say so."""
        if self._taken - self._done > self._most // 2:
            return 0
        lost = self._refused + self._failed
        dropped, self._told = lost - self._told, lost
        return dropped

    def finish(self, seconds: float) -> None:
        """Write what waits, for so long at most."""
        self._lines.put(b"")
        self._thread.join(seconds)

    def _pass_on(self) -> None:
        is_over = False
        while not is_over:
            lines, size = [self._lines.get()], 0
            try:
                while lines[-1] and (size := size + len(lines[-1])) < _TOGETHER:
                    lines.append(self._lines.get_nowait())
            except Empty:
                pass
            if is_over := not lines[-1]:
                lines.pop()
            data = b"".join(lines)
            written = data[: self._write(data)]
            self._failed += len(lines) - written.count(b"\n")
            self._done += size

    def _write(self, data: bytes) -> int:
        """Write as much of some lines as the descriptor takes; return how many bytes that are."""
        if self._is_torn and not self._send(b"\n"):
            return 0
        written = self._send(data)
        self._is_torn = written > 0 and data[written - 1 : written] != b"\n"
        return written

    def _send(self, data: bytes) -> int:
        rest = memoryview(data)
        with suppress(OSError):  # the reader has closed the pipe, or a disk is full
            while rest:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:  # another process that shares it has made it so
                    select([], [self._descriptor], [])
        return len(data) - len(rest)


class LogWriterSink:
    """A sink that writes to an outlet, and what it says of the lines that are missing there."""

    def __init__(self, sink: Sink, outlet: LogWriter) -> None:
        self._sink, self._outlet = sink, outlet
        self.wants = getattr(sink, "wants", lambda _: True)

    def __call__(self, event: Event) -> None:
        """Write the event; before it, how many were dropped."""
        self.report_dropped()
        self._sink(event)

    def report_dropped(self) -> None:
        """Say how many events were dropped, if any were and there is room."""
        if count := self._outlet.take_dropped():
            self._sink(make_event("EventsDropped", count=count))
