"""Collector: one thread that keeps up with what all executions write, within bounds, and closes the files of the dead.

It sleeps while nobody writes, and looks at most a few times a second otherwise: the kernel remembers who has written.
"""

import os
import select
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from kron.adapters.process_runner.libc import watch_folder
from kron.adapters.process_runner.live_output import LiveOutput
from kron.adapters.process_runner.slots import Slots
from kron.adapters.process_runner.syslog import Syslog
from kron.adapters.process_runner.usage import Usage, usage

_PAUSE = 0.2  # seconds between two looks
_HASTE, _FLOOD = 0.02, 1 << 24  # seconds instead while somebody writes so many bytes between them: disks are finite
_LONGEST_PUT_OFF = 1.0  # seconds
_LINGERING = 2.0  # seconds between two looks for who still has the files of an ended execution open
_EVENT = struct.Struct("iIII")  # of inotify: watch, mask, cookie, length of the name that follows
_OVERFLOW = 0x4000
_READ = 1 << 16


class Collector:
    """`end` may be called from any thread; all else happens in its own."""

    def __init__(
        self,
        slots: Slots,
        is_starting: Callable[[], bool],
        lost: Callable[[str, int], object],
        *,
        syslog: Syslog | None = None,
    ) -> None:
        """`lost` is told, in the thread, of which execution the host's log did not take how many lines."""
        self._slots = slots
        self._lost = lost
        self._is_starting = is_starting  # a burst: whatever can wait for its end does
        self._put_off = 0.0  # since when
        self._is_flooded = False
        self._syslog = syslog or Syslog()
        self._live: dict[str, LiveOutput] = {}  # of those that have written something
        self._told: dict[str, int] = {}  # lines that the log did not take, of whom that was told
        self._behind: set[str] = set()  # whose lines wait for room in the host's log
        self._lingering: set[str] = set()  # ended, but somebody can still write, or its lines wait
        self._ended: deque[str] = deque()  # to be looked at; appended to by others
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._closing = threading.Event()
        self._inotify: int | None = None
        self._thread = threading.Thread(target=self._serve, name="kron output", daemon=True)

    def start(self) -> None:
        """Begin to watch, with what lies there already."""
        self._inotify = watch_folder(str(self._slots.files.live))
        self._thread.start()

    def end(self, run_id: str) -> None:
        """Take note that an execution has ended: its output is made final as soon as nobody can write it any more."""
        self._ended.append(run_id)
        if len(self._ended) == 1:
            os.eventfd_write(self._wake, 1)

    def end_all_but(self, survivors: Collection[str]) -> None:
        """Take note that all executions of an earlier host have ended, except these."""
        self._ended.extend(run_id for run_id in self._everybody() if run_id not in survivors)
        os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """Look a last time, and end the thread."""
        if self._thread.is_alive():
            self._closing.set()
            os.eventfd_write(self._wake, 1)
            self._thread.join()
        if self._inotify is not None:
            os.close(self._inotify)
        os.close(self._wake)
        self._syslog.close()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        self._grow(self._everybody())  # whatever was written while nobody looked
        poll = select.poll()
        for descriptor in (self._wake, self._inotify):
            if descriptor is not None:
                poll.register(descriptor, select.POLLIN)
        while not self._closing.is_set():
            poll.poll(self._patience())
            self._try_to_look()
            self._closing.wait(_HASTE if self._is_flooded or self._behind else _PAUSE)
        self._try_to_look()

    def _try_to_look(self) -> None:
        """Look. An error that nobody thought of must not end the thread: all output would fill the disk."""
        try:
            self._look()
        except Exception:
            threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), self._thread]))

    def _patience(self) -> float | None:
        """Return for how many milliseconds to sleep if nothing happens."""
        if self._behind:
            return 0
        if self._inotify is None or self._ended:
            return _PAUSE * 1000
        return _LINGERING * 1000 if self._lingering else None

    def _look(self) -> None:
        with suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        self._grow({**dict.fromkeys(self._behind), **dict.fromkeys(self._written())})
        if self._can_wait():
            return
        ended = set(self._lingering)
        while self._ended:
            ended.add(self._ended.popleft())
        self._finish(ended)

    def _can_wait(self) -> bool:
        """Whether files of the ended are better looked at a little later: starting needs the processor."""
        now = time.monotonic()
        if self._is_starting() and not self._closing.is_set():
            self._put_off = self._put_off or now
            return now - self._put_off < _LONGEST_PUT_OFF
        self._put_off = 0.0
        return False

    def _written(self) -> Iterable[str]:
        """Return those that have written since the last look, whoever began first."""
        if self._inotify is None:
            return self._everybody()
        found: dict[str, None] = {}
        with suppress(BlockingIOError):
            while data := os.read(self._inotify, _READ):
                at = 0
                while at < len(data):
                    _, mask, _, length = _EVENT.unpack_from(data, at)
                    name = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
                    at += _EVENT.size + length
                    if mask & _OVERFLOW:
                        return self._everybody()
                    if file := self._slots.holders.get(os.fsdecode(name)):
                        found[file.run_id] = None
        return found

    def _everybody(self) -> Iterable[str]:
        return list(self._slots.of_run)

    def _output(self, run_id: str) -> LiveOutput:
        output = self._live.get(run_id)
        if output is None:
            output = self._live[run_id] = LiveOutput(self._slots, run_id, self._syslog)
        return output

    def _grow(self, run_ids: Iterable[str]) -> None:
        now = time.time_ns() // 1_000_000
        most = 0
        self._syslog.begin()
        for run_id in run_ids:
            if run_id in self._slots.of_run:
                with suppress(OSError):  # a full disk, or a file in use: at the next look
                    most = max(most, self._output(run_id).grow(now))
                self._hear(run_id, is_over=False)
        self._is_flooded = most > _FLOOD

    def _finish(self, run_ids: Iterable[str]) -> None:
        now = time.time_ns() // 1_000_000
        free: list[str] = []
        for run_id in run_ids:
            if run_id not in self._live and self._was_silent(run_id):
                free += [file.name for file in self._slots.release(run_id)]
                continue
            self._lingering.add(run_id)
            with suppress(OSError):
                cleared = self._output(run_id).finish(now)
                self._hear(run_id, is_over=cleared is not None)
                if cleared is not None:
                    free += cleared
                    del self._live[run_id]
                    self._lingering.discard(run_id)
        self._slots.free(free)

    def _hear(self, run_id: str, *, is_over: bool) -> None:
        """Take note of what waits for the log; tell what is lost when that begins, and of the rest at the end."""
        output = self._live.get(run_id)
        if output is None:
            return
        if output.is_behind_log:
            self._behind.add(run_id)
        else:
            self._behind.discard(run_id)
        told = self._told.get(run_id, 0)
        if output.lost > told and (is_over or not told):
            self._told[run_id] = output.lost
            self._lost(run_id, output.lost - told)
        if is_over:
            self._told.pop(run_id, None)

    def _was_silent(self, run_id: str) -> bool:
        """Whether an execution wrote nothing, and nobody can any more: as most do."""
        live = self._slots.files.live
        return all(usage(f"{live}/{file.name}") is Usage.EMPTY for file in self._slots.of_run.get(run_id, ()))
