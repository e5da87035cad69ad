"""LiveOutput: the files that one execution writes, indexed as they grow, kept small, and made final at last."""

import os
from collections.abc import Iterable, Sequence

from kron.adapters.process_runner import index
from kron.adapters.process_runner.capture import Segment
from kron.adapters.process_runner.libc import forget
from kron.adapters.process_runner.output_files import LiveFile
from kron.adapters.process_runner.output_log import open_live, pieces_of, write_final
from kron.adapters.process_runner.relay import Relay
from kron.adapters.process_runner.slots import Slots
from kron.adapters.process_runner.syslog import Syslog
from kron.adapters.process_runner.usage import Usage, usage

_SLACK = 1 << 16  # bytes above the limit that are not worth a look yet
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
                self._capture.limit = file.limit

    def grow(self, now: int) -> int:
        """Take note of what has come, and return how many bytes of it are kept here for now."""
        news = []
        for stream, file in self._kept.items():
            size = self._size(file)
            if size < self._capture.sizes[stream]:
                self._capture.lost(stream)
                index.save(self._index, self._capture)
            seen = self._capture.sizes[stream]
            if size > seen:
                news.append(Segment(now, stream, seen, size - seen))
                self._capture.arrived(news[-1])
        if news:
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
        done = [relay.pass_on(self._size(file), ended=ended) for file, relay in self._passed_on]
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

    def _size(self, file: LiveFile) -> int:
        try:
            return (self._folder / file.name).stat().st_size
        except FileNotFoundError:  # somebody has tidied up: there is nothing of it any more
            return 0

    # --- within bounds ------------------------------------------------------------------------------------------------

    def _trim(self, *, slack: int) -> None:
        dropped = self._capture.trim(self._read, slack=max(slack, self._capture.limit // 8) if slack else 0)
        if dropped:
            index.save(self._index, self._capture)  # first: a reader must not take holes for output
            self._punch(dropped)

    def _read(self, stream: str, offset: int, length: int) -> bytes:
        descriptor = open_live(self._folder / self._kept[stream].name)
        try:
            return os.pread(descriptor, length, offset)
        finally:
            os.close(descriptor)

    def _punch(self, dropped: Iterable[Segment]) -> None:
        for stream, file in self._kept.items():
            own = [segment for segment in dropped if segment.stream == stream]
            if own:
                path, end = self._folder / file.name, own[-1].offset + own[-1].length
                if not forget(path, own[0].offset, end) and end > self._capture.limit + _ENDURED:
                    os.truncate(path, 0)  # the head is lost, too; but the disk is everybody's
