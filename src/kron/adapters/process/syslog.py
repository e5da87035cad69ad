"""The host's log: one message for each line, as long as it takes them. SyslogStream: sends the lines of a spool file.

A log reads when it can, and its queue is short. It is waited for, but never for long at once: the same thread keeps up
with what all other executions write.
"""

import os
import select
import socket
import time
from pathlib import Path

from kron.adapters.process.spool import (
    data_between,
    data_from,
    drop_attributes,
    free_beyond_end,
    is_seized,
    open_spool,
    punch_hole,
)

ADDRESS = "/dev/log"
_CRON = 9 << 3  # the facility
_SEVERITIES = {"stdout": 6, "stderr": 4}  # informational, warning
_LONGEST = 8192  # bytes of a message: more than most logs take
_TURN = 0.1  # seconds of a look for all lines together
_ROOM = 0.05  # seconds of them for which room for one line is waited for
_BLOCK = 1 << 20  # bytes of a look
_HELD = 1 << 24  # bytes that wait for the log; of more than that the oldest are dropped
_NO_HOLES = 1 << 26  # bytes that a spool file may have where the file system knows no holes
_ALLOCATED = 1 << 20  # bytes beyond the end of a spool file that may be the file system's own doing
_PATIENCE = 5.0  # seconds after which a log that takes nothing is given up, until it does


class Syslog:
    """The socket of the log, opened when there is something to say."""

    def __init__(self, address: str = "", *, patience: float = _PATIENCE) -> None:
        self._address = address or ADDRESS
        self._patience = patience
        self._socket: socket.socket | None = None
        self._until = 0.0  # the end of this turn, by the monotonic clock
        self._refused: float | None = None  # since when nothing is taken

    def start_turn(self) -> None:
        """Begin another turn."""
        self._until = time.monotonic() + _TURN

    @property
    def is_unavailable(self) -> bool:
        """Whether it has taken nothing for longer than the patience."""
        return self._refused is not None and time.monotonic() - self._refused >= self._patience

    def send(self, run_id: str, stream: str, line: bytes) -> bool:
        """Pass a line on; whether it was taken. It is not once the turn is over, or when the log has no room."""
        if time.monotonic() > self._until:
            return False
        priority = _CRON | _SEVERITIES[stream]
        if self._is_taken(b"<%d>krond[%s]: %s" % (priority, run_id.encode("utf-8", "replace"), line[:_LONGEST])):
            self._refused = None
            return True
        self._refused = self._refused or time.monotonic()
        self._until = 0.0  # the next line of this turn would wait as long
        return False

    def close(self) -> None:
        """Let go of the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _is_taken(self, message: bytes) -> bool:
        until, is_new = time.monotonic() + _ROOM, False
        while True:
            try:
                is_new = is_new or self._socket is None
                self._opened().send(message)
            except BlockingIOError:
                if not self._has_room(until):
                    return False
            except OSError:
                self.close()
                if is_new:
                    return False  # else: a log that was restarted has a new socket
            else:
                return True

    def _opened(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)  # noqa: FBT003  # it has no name
            self._socket.connect(self._address)
        return self._socket

    def _has_room(self, until: float) -> bool:
        poll = select.poll()
        poll.register(self._opened(), select.POLLOUT)
        return bool(poll.poll(1000 * max(0.0, until - time.monotonic())))


class SyslogStream:
    """One stream of one run. What is forwarded is given back to the disk."""

    def __init__(self, path: Path, run_id: str, stream: str, syslog: Syslog) -> None:
        self.path, self._run_id, self._stream, self._syslog = path, run_id, stream, syslog
        self._position = 0  # bytes forwarded
        self._seen: tuple[int, int, int] | None = None  # size, blocks and last change at the last look
        self.is_behind = False  # whether lines wait for room in the log
        self.dropped_lines = 0
        self.seized = 0  # looks at which more than waits for the log was allocated beyond the end

    def forward(self, *, is_last: bool = False) -> None:
        """Forward lines as far as the log takes them. `is_last`: nothing more comes, so the rest is a line, too."""
        try:
            facts = self.path.stat()
        except FileNotFoundError:  # someone has tidied up
            self.is_behind = False
            return
        if (facts.st_size, facts.st_blocks, facts.st_ctime_ns) == self._seen and not self.is_behind and not is_last:
            return
        descriptor = open_spool(self.path, os.O_RDWR)
        try:
            self._forward(descriptor, os.fstat(descriptor).st_size, is_last=is_last)
            after = os.fstat(descriptor)
            self._seen = (after.st_size, after.st_blocks, after.st_ctime_ns)
        finally:
            os.close(descriptor)

    def _forward(self, descriptor: int, size: int, *, is_last: bool) -> None:
        if size < self._position:  # the job has emptied it
            self._position = 0
        self._position = data_from(descriptor, self._position, size)
        written = data_between(descriptor, self._position, size)
        self._drop(descriptor, size - _HELD)
        data = os.pread(descriptor, min(_BLOCK, size - self._position), self._position)
        reaches_end = self._position + len(data) == size
        whole = data.rfind(b"\n") + 1
        if (reaches_end and is_last) or (not whole and len(data) == _BLOCK):
            whole = len(data)
        is_taken = self._send(data[:whole])
        is_punched = punch_hole(descriptor, self._position)
        if not is_punched and self._position > _NO_HOLES:
            os.ftruncate(descriptor, 0)
            self._position = 0
        begin = self._position if is_punched else 0
        found = free_beyond_end(descriptor, begin, _ALLOCATED + _BLOCK)
        written += data_between(descriptor, begin, os.fstat(descriptor).st_size)  # since the look has begun
        self.seized += is_seized(found, _HELD, written)
        drop_attributes(descriptor)
        self.is_behind = not (is_taken and reaches_end)

    def _send(self, data: bytes) -> bool:
        """Send lines; return whether all of them are through, or dropped."""
        for line in data.splitlines(keepends=True):
            text = line.rstrip(b"\r\n").strip(b"\0")  # what an earlier daemon has forwarded reads as zeros
            if text and not self._syslog.send(self._run_id, self._stream, text):
                if not self._syslog.is_unavailable:
                    return False
                self.dropped_lines += 1
            self._position += len(line)
        return True

    def _drop(self, descriptor: int, until: int) -> None:
        """Drop what comes before a place. Of holes no line is read."""
        while (at := data_from(descriptor, self._position, max(self._position, until))) < until:
            data = os.pread(descriptor, min(_BLOCK, until - at), at)
            if not data:  # it was cut off just now
                return
            self.dropped_lines += data.count(b"\n")
            self._position = at + len(data)
        self._position = max(self._position, at)
