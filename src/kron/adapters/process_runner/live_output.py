"""LiveOutput: the files that one execution writes, indexed as they grow, kept small, and made final at last."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kron.adapters.process_runner import index
from kron.adapters.process_runner.capture import Segment
from kron.adapters.process_runner.imprint import Imprint, Look
from kron.adapters.process_runner.libc import forget
from kron.adapters.process_runner.output_files import LiveFile
from kron.adapters.process_runner.output_log import open_live, pieces_of, write_final
from kron.adapters.process_runner.relay import Relay
from kron.adapters.process_runner.slots import Slots
from kron.adapters.process_runner.syslog import Syslog
from kron.adapters.process_runner.usage import Usage, usage

_SLACK = 1 << 16  # bytes above the limit that are not worth a look yet
_EMPTIED = b"[krond: the job emptied its output here]\n"
_ENDURED = 1 << 26  # bytes above the limit that a file may have where the file system knows no holes


class LiveOutput:
    """What the host knows about the output of one execution."""

    def __init__(self, slots: Slots, run_id: str, syslog: Syslog) -> None:
        self._run_id = run_id
        self._slots = slots
        self._folder = slots.files.live
        self._index = slots.files.index_of(run_id)
        self._log = slots.files.log(run_id)
        self._kept: dict[str, LiveFile] = {}  # by stream
        self._imprints: dict[str, Imprint] = {}
        self._passed_on: list[tuple[LiveFile, Relay]] = []
        self.is_behind_log = False  # lines wait until the host's log has room for them
        self._capture = index.load(self._index, 0)
        self._is_behind = False  # the index on the disk lacks something
        for file in slots.of_run.get(run_id, ()):
            if file.limit is None:
                relay = Relay(self._folder / file.name, run_id, file.stream, syslog)
                self._passed_on.append((file, relay))
            else:
                self._kept[file.stream] = file
                self._imprints[file.stream] = Imprint()
                self._capture.limit = file.limit

    def grow(self, now: int) -> int:
        """Take note of what has come, and return how many bytes of it are kept here for now."""
        news: list[Segment] = []
        for stream, file in self._kept.items():
            look, seen = self._look(file), self._capture.sizes[stream]
            if look.size == seen and (not seen or self._imprints[stream].is_as(look)):
                continue
            if look.is_gone:
                self._lose(stream)
            else:
                news += self._arrived(stream, look, now)
        if news or self._is_behind:
            self._remember(news)
            self._trim(slack=_SLACK)
        self._pass_on(ended=False)
        return sum(segment.length for segment in news)

    def finish(self, now: int) -> list[str] | None:
        """Make the output final, and return the files that are free then; None if somebody can still write, or the log
        has not got all of it."""
        paths = {stream: self._folder / file.name for stream, file in self._kept.items()}
        everything = [*paths.values(), *(self._folder / file.name for file, _ in self._passed_on)]
        self.grow(now)  # also what grandchildren write while nobody but them has the files
        if any(usage(path) is Usage.WRITTEN for path in everything):
            return None
        self.grow(now)  # what came before the last of them closed it
        self._pass_on(ended=True)
        if self.is_behind_log:
            return None
        if self._capture.size or any(self._capture.dropped.values()):
            self._trim(slack=0)
            # An earlier host may have died between here and the release: what it wrote counts, the rest is remains.
            if not self._log.exists():
                write_final(self._log, pieces_of(self._capture, paths))
        self._index.unlink(missing_ok=True)
        return [file.name for file in self._slots.release(self._run_id) if self._clear(file.name)]

    @property
    def lost(self) -> int:
        """How many lines the host's log did not take."""
        return sum(relay.lost for _, relay in self._passed_on)

    def _pass_on(self, *, ended: bool) -> None:
        done = [relay.pass_on(self._look(file).size, ended=ended) for file, relay in self._passed_on]
        self.is_behind_log = not all(done)

    def _clear(self, name: str) -> bool:
        """Empty a file; whether it may be used again: if nobody at all has it open, and under no other name."""
        path = self._folder / name
        found = usage(path)
        if found is Usage.FREE:
            os.truncate(path, 0)
        elif found is not Usage.EMPTY:
            path.unlink(missing_ok=True)
            return False
        return True

    def _remember(self, news: Sequence[Segment]) -> None:
        if self._is_behind:
            index.save(self._index, self._capture)
            self._is_behind = False
            return
        try:
            index.append(self._index, news)
        except OSError:  # a full disk: what is missing there must not be followed by what comes later
            self._is_behind = True
            raise

    def _look(self, file: LiveFile) -> Look:
        try:
            facts = (self._folder / file.name).stat()
        except FileNotFoundError:  # somebody has tidied up: there is nothing of it any more
            return Look()
        return Look(facts.st_size, facts.st_mtime_ns)

    # --- what has come ------------------------------------------------------------------------------------------------

    def _arrived(self, stream: str, look: Look, now: int) -> list[Segment]:
        """Take note of what has come in one stream, and return it."""
        capture, imprint = self._capture, self._imprints[stream]
        with self._opened(stream) as descriptor:
            if look.size < capture.sizes[stream] or not imprint.is_kept(descriptor):
                self._save(stream, imprint.whole(capture.sizes[stream]), now)
                look = look._replace(size=capture.sizes[stream])
            seen = capture.sizes[stream]
            news = [Segment(now, stream, seen, look.size - seen)] if look.size > seen else []
            for segment in news:
                capture.arrived(segment)
            imprint.take(descriptor, look, look.size)
        return news

    def _save(self, stream: str, before: bytes | None, now: int) -> None:
        """Put what was seen of an emptied file behind what is in it now, with a word about it: so it has a place again.

        What the job wrote after the last look, and before it emptied the file, nobody has seen.
        """
        capture, saved = self._capture, before or b""
        mark = _EMPTIED if not saved or saved.endswith(b"\n") else b"\n" + _EMPTIED
        path = self._folder / self._kept[stream].name
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.write(descriptor, saved + mark) < len(saved + mark):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            end = os.lseek(descriptor, 0, os.SEEK_CUR)  # others may append at the same time
        finally:
            os.close(descriptor)
        begin = end - len(saved + mark)
        if before is None:
            self._lose(stream)
        else:
            capture.moved(stream, begin)
        capture.arrived(Segment(now, stream, end - len(mark), len(mark)))
        if begin:
            capture.arrived(Segment(now, stream, 0, begin))
        self._is_behind = True

    def _lose(self, stream: str) -> None:
        self._capture.lost(stream)
        self._is_behind = True

    # --- within bounds ------------------------------------------------------------------------------------------------

    def _trim(self, *, slack: int) -> None:
        dropped = self._capture.trim(self._read, slack=max(slack, self._capture.limit // 8) if slack else 0)
        if dropped:
            index.save(self._index, self._capture)  # first: a reader must not take holes for output
            self._punch(dropped)

    def _read(self, stream: str, offset: int, length: int) -> bytes:
        with self._opened(stream) as descriptor:
            return os.pread(descriptor, length, offset)

    @contextmanager
    def _opened(self, stream: str) -> Iterator[int]:
        descriptor = open_live(self._folder / self._kept[stream].name)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _punch(self, dropped: Sequence[Segment]) -> None:
        for stream, file in self._kept.items():
            own = [segment for segment in dropped if segment.stream == stream]
            if not own:
                continue
            path, end = self._folder / file.name, max(segment.offset + segment.length for segment in own)
            can_forget = all(forget(path, begin, stop) for begin, stop in _spans(own))
            if not can_forget and end > self._capture.limit + _ENDURED:
                os.truncate(path, 0)  # the head is lost, too; but the disk is everybody's
                self._lose(stream)
            with self._opened(stream) as descriptor:  # it is not the job that has changed it
                self._imprints[stream].take(descriptor, self._look(file), self._capture.sizes[stream])


def _spans(segments: Sequence[Segment]) -> list[tuple[int, int]]:
    """Return from where to where segments reach, neighbours as one."""
    spans: list[tuple[int, int]] = []
    for segment in segments:
        begin, end = segment.offset, segment.offset + segment.length
        if spans and spans[-1][1] == begin:
            begin = spans.pop()[0]
        spans.append((begin, end))
    return spans
