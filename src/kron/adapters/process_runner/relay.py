"""Relay: a live file in, its lines to the host's log out, and how many of them nobody took."""

import os
from pathlib import Path

from kron.adapters.process_runner.libc import forget
from kron.adapters.process_runner.output_log import open_live
from kron.adapters.process_runner.syslog import Syslog

_BLOCK = 1 << 20  # bytes of a look
_HELD = 1 << 24  # bytes that wait for the log; of who writes more, and faster than it reads, the oldest are dropped


class Relay:
    """One stream of one execution. What is passed on is given back to the disk."""

    def __init__(self, path: Path, run_id: str, stream: str, syslog: Syslog) -> None:
        self._path, self._run_id, self._stream, self._syslog = path, run_id, stream, syslog
        self._passed = 0  # bytes
        self.lost = 0  # lines

    def pass_on(self, size: int, *, ended: bool = False) -> bool:
        """Pass lines on as far as the log takes them, of a file that is so long; whether none is left to pass on.

        `ended`: nobody writes any more, so that a line without an end is one, too.
        """
        if size < self._passed:  # the job has emptied it
            self._passed = 0
        if size == self._passed:
            return True
        descriptor = open_live(self._path)
        try:
            self._passed = min(size, _data_from(descriptor, self._passed, size))
            self._drop(descriptor, size - _HELD)
            data = os.pread(descriptor, min(_BLOCK, size - self._passed), self._passed)
        finally:
            os.close(descriptor)
        is_last = self._passed + len(data) == size
        whole = data.rfind(b"\n") + 1
        if (is_last and ended) or (not whole and len(data) == _BLOCK):
            whole = len(data)
        is_done = self._send(data[:whole])
        forget(self._path, 0, self._passed)
        return is_done and is_last

    def _send(self, data: bytes) -> bool:
        """Send lines; whether all of them are through, or lost."""
        for line in data.splitlines(keepends=True):
            text = line.rstrip(b"\r\n").strip(b"\0")  # holes: what an earlier host has passed on
            if text and not self._syslog.send(self._run_id, self._stream, text):
                if not self._syslog.is_given_up:
                    return False
                self.lost += 1
            self._passed += len(line)
        return True

    def _drop(self, descriptor: int, until: int) -> None:
        """Drop what comes before a place."""
        while self._passed < until:
            data = os.pread(descriptor, min(_BLOCK, until - self._passed), self._passed)
            if not data:  # it was cut off just now
                return
            self.lost += data.count(b"\n")
            self._passed += len(data)


def _data_from(descriptor: int, place: int, size: int) -> int:
    """Return where a file goes on behind a hole."""
    try:
        return os.lseek(descriptor, place, os.SEEK_DATA)
    except OSError:  # there is nothing but a hole
        return size
