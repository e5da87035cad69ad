"""OutputCollector: one thread that moves what jobs write from their spool files to their logs, or to syslog.

A spool file is read from a position on, and what was read is given back to the disk as a hole. So a job never waits,
the disk is bounded, and what the thread has seen survives whatever the job or krond does next.
"""

import errno
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from kron.adapters.process.run_log import LogRecord, RunLog, log_path
from kron.adapters.process.spool import (
    Spool,
    data_between,
    data_from,
    data_until,
    drop_attributes,
    free_beyond_end,
    is_seized,
    open_spool,
    punch_hole,
    seal,
)
from kron.adapters.process.syslog import Syslog, SyslogStream

_PAUSE = 0.2  # seconds between two looks; what a job writes is readable within a second
_SHARE = 0.05  # of a processor that looking may take: with thousands of runs looks are further apart
_LONGEST_PAUSE = 1.0  # seconds, however long a look takes: meanwhile a job can fill the disk
_HASTE, _FLOOD = 0.02, 1 << 24  # seconds between two looks while a job writes so many bytes between them
_LINGER = 2.0  # seconds between two looks at which processes still have the files of an ended run open
_LONGEST_PUT_OFF = 1.0  # seconds for which a burst of starts has the processor before ended runs
_BUDGET = 1 << 25  # bytes of one stream moved in one look, while other runs wait
_SEGMENTS = 1024  # pieces of a sparse file that are looked at in one look
_TRUNCATED = b"[krond: the job emptied its output here]\n"
_NO_HOLES = 1 << 26  # bytes that a spool file may have where the file system knows no holes
_ALLOCATED = 1 << 20  # bytes beyond the end of a spool file that may be the file system's own doing
_SLACK = 1 << 16  # bytes above the limit that are not worth a compaction
_BLOCK = 1 << 20  # bytes read at once
_MOST_SEIZED = 3  # looks at which a run may have allocated more than its limit beyond the end of its output
_KILLED = b"[krond: the job allocated disk space beyond its output_limit 3 times, and was killed]\n"
_ZEROS = bytes(64)


class _Source:
    """One spool file, and what the thread has seen of it."""

    def __init__(self, path: Path, stream: str) -> None:
        self.path, self.stream = path, stream
        self._seen: tuple[int, int, int] | None = (0, 0, 0)  # None: there is more than was moved
        self._touched = time.time_ns()  # the file was made before; later, when its data or attributes changed last
        self.seized = 0  # looks at which more than the limit was allocated beyond the end
        self._is_said = False  # the output says that the run was killed for that
        self._is_punched = False  # what was read is a hole, in which nothing can be but what the job wrote later

    def has_news(self) -> bool:
        """Whether the file, or an attribute of it, has changed since the last look."""
        facts = self._facts()
        return facts is not None and (self._is_new(facts) or facts.st_ctime_ns > self._touched)

    def has_data(self) -> bool:
        """Whether there is data that was not moved."""
        facts = self._facts()
        return facts is not None and self._is_new(facts)

    def _facts(self) -> os.stat_result | None:
        try:
            return self.path.stat()
        except FileNotFoundError:  # someone has tidied up
            return None

    def _is_new(self, facts: os.stat_result) -> bool:
        return (facts.st_size, facts.st_blocks, facts.st_mtime_ns if facts.st_size else 0) != self._seen

    def collect(self, log: RunLog, now: int) -> int:
        """Move what is new to the log; return how many bytes the job has written meanwhile."""
        descriptor = open_spool(self.path, os.O_RDWR)
        try:
            at = log.positions[self.stream]
            size = os.fstat(descriptor).st_size
            if size < at or (self._is_punched and self._was_rewritten(descriptor, at)):
                mark = _TRUNCATED if log.is_at_line_begin(self.stream) else b"\n" + _TRUNCATED
                log.append(LogRecord(self.stream, now, len(mark), 0, 0), mark)
                at = 0
            written = data_between(descriptor, at, size)
            try:
                end = self._move(descriptor, log, at, size, now)
            except OSError as error:
                if error.errno == errno.ENOSPC:  # what would be dropped anyway is dropped now
                    punch_hole(descriptor, max(log.positions[self.stream], size - log.limit))
                    self._free(descriptor, log.positions[self.stream], log.limit, written)
                raise
            if end:  # also if nothing is new: a job can allocate what was given back
                self._give_back(descriptor, end)
            self._free(descriptor, end if self._is_punched else 0, log.limit, written)
            if self.seized >= _MOST_SEIZED and not self._is_said:
                mark = _KILLED if log.is_at_line_begin(self.stream) else b"\n" + _KILLED
                log.append(LogRecord(self.stream, now, len(mark), 0, end), mark)
                self._is_said = True  # not before: a full disk may not have taken it
            drop_attributes(descriptor)
            facts = os.fstat(descriptor)
            mtime = facts.st_mtime_ns if facts.st_size else 0
            is_done = end == size == facts.st_size
            self._seen = (size, facts.st_blocks, mtime) if is_done else None
            self._touched = facts.st_ctime_ns
            return size - at
        finally:
            os.close(descriptor)

    def _free(self, descriptor: int, begin: int, limit: int, written: int) -> None:
        """Free what is allocated beyond the end, and count it if it is more than the run may write at all."""
        found = free_beyond_end(descriptor, begin, _ALLOCATED)
        written += data_between(descriptor, begin, os.fstat(descriptor).st_size)  # since the look has begun
        self.seized += is_seized(found, max(limit, _ALLOCATED), written)

    def _give_back(self, descriptor: int, end: int) -> None:
        self._is_punched = punch_hole(descriptor, end)
        if not self._is_punched and end > _NO_HOLES:
            os.ftruncate(descriptor, 0)  # what is written just now is lost; but the disk belongs to all users

    @staticmethod
    def _was_rewritten(descriptor: int, at: int) -> bool:
        """Whether there is data where a hole was: the job has truncated its file, as `> /dev/stdout` does."""
        return os.pread(descriptor, min(64, at), max(0, at - 64)) != _ZEROS[:at]

    def _move(self, descriptor: int, log: RunLog, at: int, size: int, now: int) -> int:
        """Append what lies between two places to the log; return how far that was done."""
        head = max(0, log.limit // 2 - log.kept)
        if size - at <= head + log.limit:
            return self._copy(descriptor, log, at, size, now)
        end = self._copy(descriptor, log, at, at + head, now)
        if end < at + head:
            return end
        # The middle of a flood would not be kept: it is not even read.
        tail = size - log.limit
        return self._copy(descriptor, log, tail, size, now, dropped=tail - end)

    def _copy(self, descriptor: int, log: RunLog, at: int, end: int, now: int, *, dropped: int = 0) -> int:
        """Append the data between two places, up to a budget. Holes are dropped, too: no job has written them."""
        left = _BUDGET
        for _ in range(_SEGMENTS):
            begin = data_from(descriptor, at, end)
            dropped, at = dropped + begin - at, begin
            stop = min(data_until(descriptor, at, end), at + min(left, _BLOCK))
            if at >= end or not left or not (data := os.pread(descriptor, stop - at, at)):
                break
            at, left = at + len(data), left - len(data)
            log.append(LogRecord(self.stream, now, len(data), dropped, at), data)
            dropped = 0
        if dropped:
            log.append(LogRecord(self.stream, now, 0, dropped, at), b"")
        return at


class RunOutput:
    """The spool files of one run, and what they are moved to."""

    def __init__(self, folder: Path, spools: Sequence[Spool], syslog: Syslog) -> None:
        self.run_id = spools[0].run_id
        self._path = log_path(folder, self.run_id)
        self._limit = next((spool.limit for spool in spools if spool.limit is not None), 0)
        self._log: RunLog | None = None
        live = folder / "live"
        self._paths = [live / each.name for each in spools]
        self._sources = [_Source(live / each.name, each.stream) for each in spools if each.limit is not None]
        self._streams = [
            SyslogStream(live / each.name, each.run_id, each.stream, syslog) for each in spools if each.limit is None
        ]
        self.has_ended = False
        self.moved = 0  # bytes that one stream wrote, the most, between the last two looks
        self.is_killed = False  # the collector has asked the host to kill it
        self.reported = 0  # lines dropped by syslog of which the host knows

    @property
    def dropped_lines(self) -> int:
        """How many lines the host's log did not take."""
        return sum(stream.dropped_lines for stream in self._streams)

    @property
    def seizes_disk(self) -> bool:
        """Whether the run has taken disk space that it must not have, again and again."""
        seized = [source.seized for source in self._sources] + [stream.seized for stream in self._streams]
        return max(seized, default=0) >= _MOST_SEIZED

    @property
    def waits_for_syslog(self) -> bool:
        """Whether there are lines for which the host's log had no room."""
        return any(stream.is_behind for stream in self._streams)

    def collect(self, now: int) -> int:
        """Move what has come; return the most that one stream wrote."""
        most, failure = 0, None
        for source in self._sources:
            try:
                if source.has_news():
                    log = self._log = self._log or RunLog(self._path, self._limit)
                    most = max(most, source.collect(log, now))
            except OSError as error:  # a full disk: the other stream may have what is missing
                failure = error
        for stream in self._streams:
            try:
                stream.forward()
            except OSError as error:
                failure = error
        self.moved = most
        if failure is not None:
            raise failure
        if self._log is not None and most:
            self._log.compact(slack=max(_SLACK, self._limit // 2))
        return most

    def finish(self, now: int) -> bool:
        """Complete the log and remove the spool files, unless a process can still write; return whether it is done."""
        self.collect(now)
        if not all(seal(path) for path in self._paths):
            return False
        while any(source.has_data() for source in self._sources):  # nothing more can come
            self.collect(now)
        for stream in self._streams:
            stream.forward(is_last=True)
        if self.waits_for_syslog:
            return False
        if self._log is not None or self._path.exists():  # an earlier krond may have died here
            self._log = self._log or RunLog(self._path, self._limit)
            self._log.compact()
        self.remove()
        return True

    def remove(self) -> None:
        """Remove the spool files. A crash in between: the next krond finds nothing new in the other."""
        for path in self._paths:
            path.unlink(missing_ok=True)


class OutputCollector:
    """`add`, `end`, `cancel` and `free_space` may be called from any thread."""

    def __init__(
        self,
        folder: Path,
        is_starting: Callable[[], bool],
        lost: Callable[[str, int], object],
        *,
        seized: Callable[[str], object] = lambda _run_id: None,
        syslog: Syslog | None = None,
    ) -> None:
        """`lost` is called in the thread with a run and how many of its lines the host's log did not take, `seized`
        once with a run that takes disk space again and again."""
        self._seized = seized
        self._folder, self._is_starting, self._lost = folder, is_starting, lost
        self._syslog = syslog or Syslog()
        self._runs: dict[str, RunOutput] = {}
        self._earlier: set[str] = set()
        self._news: deque[Callable[[], object]] = deque()  # what other threads have said since the last look
        self._changed = threading.Event()  # a run starts or ends
        self._urgent = threading.Event()  # the daemon closes, or needs disk space
        self._looks = threading.Condition()
        self._look_count = 0
        self._put_off = 0.0  # since when ended runs wait for a burst of starts
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="kron output", daemon=True)

    def start(self, earlier: Iterable[Spool] = ()) -> None:
        """Start the thread, with the spool files of an earlier krond."""
        found: dict[str, list[Spool]] = {}
        for spool in earlier:
            found.setdefault(spool.run_id, []).append(spool)
        for spools in found.values():
            self.add(spools)
        self._earlier = set(found)
        self._thread.start()

    def add(self, spools: Sequence[Spool]) -> None:
        """Collect the output of a run that is about to start."""
        if spools:
            self._say(lambda: self._runs.__setitem__(spools[0].run_id, RunOutput(self._folder, spools, self._syslog)))

    def end(self, run_id: str) -> None:
        """Complete the output of a run as soon as no process can write it."""
        self._say(lambda: self._end(run_id))

    def cancel(self, run_id: str) -> None:
        """Remove the spool files of a start that did not happen. None is used again: another process got them."""
        self._say(lambda: self._cancel(run_id))

    def end_all_except(self, survivors: Collection[str]) -> None:
        """Complete the output of all runs of an earlier krond, except these."""
        for run_id in self._earlier - set(survivors):
            self.end(run_id)

    @property
    def is_busy(self) -> bool:
        """Whether any run has spool files."""
        return bool(self._news or self._runs)

    def free_space(self, patience: float) -> None:
        """Return when all spool files were looked at, and what they need not have was given back to the disk."""
        with self._looks:
            wanted = self._look_count + 2  # one may be under way
            self._urgent.set()
            self._changed.set()
            self._looks.wait_for(lambda: self._look_count >= wanted or self._closing, patience)

    def close(self) -> None:
        """Look a last time, and end the thread."""
        self._closing = True
        self._urgent.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join()
        self._syslog.close()

    def _say(self, news: Callable[[], object]) -> None:
        self._news.append(news)
        if not self._changed.is_set():  # how long the queue is says nothing: other threads append to it, too
            self._changed.set()

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        pause: float | None = 0.0
        while not self._closing:
            event = self._changed if pause is None or pause >= _LINGER else self._urgent
            event.wait(pause)
            event.clear()
            pause = self._look()
        self._look()

    def _look(self) -> float | None:
        """Look at all runs; return the seconds until the next look, None: until a run starts."""
        begun, now, most, is_active = time.monotonic(), time.time_ns() // 1_000_000, 0, False
        while self._news:
            self._news.popleft()()
        may_finish = self._may_finish(begun)
        self._syslog.start_turn()
        for run_id, run in list(self._runs.items()):
            try:
                if run.has_ended and may_finish:
                    if run.finish(now):
                        del self._runs[run_id]
                    elif run.moved:  # a process that it left behind writes
                        is_active, most = True, max(most, run.moved)
                else:
                    is_active = True
                    most = max(most, run.collect(now))
            except OSError:
                is_active = True  # a full disk, or a file in use: at the next look
            except Exception:  # a bug must not end the thread: all output would fill the disk
                threading.excepthook(threading.ExceptHookArgs([*sys.exc_info(), self._thread]))
            if run.seizes_disk and not run.is_killed:
                run.is_killed = True
                self._seized(run_id)
            self._report(run, is_over=run_id not in self._runs)
        with self._looks:
            self._look_count += 1
            self._looks.notify_all()
        if not self._runs:
            return None
        if most > _FLOOD or any(run.waits_for_syslog for run in self._runs.values()):
            return _HASTE
        if not is_active:
            return _LINGER
        return min(_LONGEST_PAUSE, max(_PAUSE, (time.monotonic() - begun) / _SHARE))

    def _may_finish(self, now: float) -> bool:
        """Whether ended runs are looked at: a burst of starts has the processor first, for a while."""
        if self._closing or not self._is_starting():
            self._put_off = 0.0
            return True
        self._put_off = self._put_off or now
        return now - self._put_off > _LONGEST_PUT_OFF

    def _end(self, run_id: str) -> None:
        if run_id in self._runs:
            self._runs[run_id].has_ended = True

    def _cancel(self, run_id: str) -> None:
        if (run := self._runs.pop(run_id, None)) is not None:
            with suppress(OSError):
                run.remove()

    def _report(self, run: RunOutput, *, is_over: bool) -> None:
        """Report lines that are lost when that begins, and the rest at the end."""
        new = run.dropped_lines - run.reported
        if new and (is_over or not run.reported):
            run.reported += new
            self._lost(run.run_id, new)
