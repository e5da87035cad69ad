"""OutputLog: the output of a run, read or followed from files alone. Output: some of it, as bytes, lines or JSON.

A run is complete when it has no spool file left.
"""

import os
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from kron.adapters.process.run_log import LogRecord, log_path, scan
from kron.adapters.process.spool import STREAMS, Spool, data_from, open_spool, read_spools
from kron.instant import Instant, format_instant, from_epoch_milliseconds

_ATTEMPTS, _MOMENT = 50, 0.001  # to read a run whose log or spool changes meanwhile, and seconds between them
_BLOCK = 1 << 20  # bytes read at once


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of one stream that arrived together, after `dropped` bytes that are not kept."""

    time: int  # milliseconds since 1970
    stream: str
    data: bytes
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class OutputLine:
    """A line of one stream without its end; the time is that of its first byte. A dropped part is a line, too."""

    time: Instant
    stream: str
    data: bytes

    def __bytes__(self) -> bytes:
        return b"%s %s %s\n" % (format_instant(self.time).encode(), self.stream.encode(), self.data)


@dataclass(frozen=True, slots=True)
class Output:
    """Pieces in order of arrival; final if no more can come."""

    run_id: str
    pieces: tuple[Piece, ...]
    is_final: bool
    skipped: int = 0  # kept bytes before the first piece, if these are the last of them

    @property
    def bytes(self) -> int:
        """How many bytes are there."""
        return sum(len(piece.data) for piece in self.pieces)

    @property
    def dropped(self) -> int:
        """How many are not."""
        return sum(piece.dropped for piece in self.pieces)

    def only(self, stream: str) -> "Output":
        """Return one stream alone."""
        return Output(self.run_id, tuple(piece for piece in self.pieces if piece.stream == stream), self.is_final)

    def text(self) -> "bytes_":
        """Return the bytes unchanged, with a line where some were dropped."""
        return b"".join(texts(self.pieces))

    def lines(self) -> Iterator[OutputLine]:
        """Yield lines as they were completed; those without an end come last."""
        begun: dict[str, tuple[int, bytes_]] = {}
        for piece in self.pieces:
            at, rest = begun.pop(piece.stream, (piece.time, b""))
            if piece.dropped:
                if rest:
                    yield OutputLine(from_epoch_milliseconds(at), piece.stream, rest)
                yield OutputLine(from_epoch_milliseconds(piece.time), piece.stream, _mark(piece.dropped))
                at, rest = piece.time, b""
            *complete, last = (rest + piece.data).split(b"\n")
            for data in complete:
                yield OutputLine(from_epoch_milliseconds(at), piece.stream, data)
                at = piece.time
            if last:
                begun[piece.stream] = (at, last)
        for stream in STREAMS:
            if stream in begun:
                yield OutputLine(from_epoch_milliseconds(begun[stream][0]), stream, begun[stream][1])

    def to_json(self) -> dict[str, Any]:
        """Return the output as `krond logs --json` prints it."""
        rows = [
            {"time": format_instant(line.time), "stream": line.stream, "text": line.data.decode("utf-8", "replace")}
            for line in self.lines()
        ]
        return {"run_id": self.run_id, "bytes": self.bytes, "dropped": self.dropped, "lines": rows}


bytes_ = bytes  # inside Output the name means the number of them


def texts(pieces: Iterable[Piece]) -> Iterator[bytes]:
    """Yield the bytes of pieces unchanged, with a line where some were dropped: one line for both streams."""
    dropped, last = 0, b"\n"
    for piece in chain(pieces, (None,)):
        if piece is not None:
            dropped += piece.dropped
            if not piece.data:
                continue
        if dropped:
            yield b"%s%s\n" % (b"" if last == b"\n" else b"\n", _mark(dropped))
            dropped = 0
        if piece is not None:
            yield piece.data
            last = piece.data[-1:]


def _mark(dropped: int) -> bytes:
    return b"[krond: %d bytes dropped]" % dropped


class _Snapshot(NamedTuple):
    """A log that is open, and its records; those that are not in it yet come with their data, or the end of it."""

    log: BinaryIO | None
    records: Sequence[tuple[LogRecord, bytes | None]]
    is_final: bool

    def pieces(self, *, after: int = 0) -> Iterator[Piece]:
        """Yield pieces of a bounded size from a number of bytes on, in order of arrival, dropped ones included."""
        for record, data in self.records:
            size = record.kept + record.dropped
            if after >= size:
                after -= size
                continue
            dropped, begin = max(0, record.dropped - after), max(0, after - record.dropped)
            after = 0
            if data is None:
                yield from self._read(record, dropped, begin)
            else:
                yield Piece(record.time, record.stream, data[max(0, begin - record.kept + len(data)) :], dropped)

    def _read(self, record: LogRecord, dropped: int, begin: int) -> Iterator[Piece]:
        assert self.log is not None  # it has the record
        if dropped:
            yield Piece(record.time, record.stream, b"", dropped)
        ((offset, length),) = record.parts
        for at in range(begin, length, _BLOCK):
            self.log.seek(offset + at)
            yield Piece(record.time, record.stream, self.log.read(min(_BLOCK, length - at)))

    def close(self) -> None:
        """Let go of the log."""
        if self.log is not None:
            self.log.close()


class _Scanned:
    """The records of a log as far as it was scanned."""

    def __init__(self) -> None:
        self._end = 0
        self._records: list[LogRecord] = []

    def more(self, log: BinaryIO) -> list[LogRecord]:
        """Return all records of a log; only new ones are scanned, unless it was compacted meanwhile."""
        if self._records and not self._has_last(log):
            self._end, self._records = 0, []
        log.seek(self._end)
        if found := scan(log):
            self._records = [*self._records, *found]
            self._end = sum(found[-1].parts[0])
        return self._records

    def _has_last(self, log: BinaryIO) -> bool:
        """Whether the last record is in its place. An inode number does not say that: a later log may have it again."""
        header, ((begin, _),) = self._records[-1].header(), self._records[-1].parts
        return os.pread(log.fileno(), len(header), begin - len(header)) == header


class OutputLog:
    """The output of one run, read again and again, followed or streamed. No krond has to be running."""

    def __init__(self, folder: str | os.PathLike[str], run_id: str) -> None:
        self._folder, self._run_id = Path(folder), run_id
        self._path = log_path(self._folder, run_id)
        self._position = 0  # bytes in order of arrival that `follow` has returned
        self._scanned = _Scanned()

    def read(self) -> Output:
        """Return all there is now; nothing, and final, of a run that wrote nothing or is not known."""
        with closing(self._snapshot()) as snapshot:
            return Output(self._run_id, tuple(snapshot.pieces()), snapshot.is_final)

    def tail(self, size: int) -> Output:
        """Return the last so many kept bytes; no others are read."""
        with closing(self._snapshot(most=size)) as snapshot:
            skipped, after = max(0, sum(record.kept for record, _ in snapshot.records) - size), 0
            left = skipped
            for record, _ in snapshot.records:
                if not left:
                    break
                after += record.dropped + min(record.kept, left)
                left -= min(record.kept, left)
            return Output(self._run_id, tuple(snapshot.pieces(after=after)), snapshot.is_final, skipped)

    def stream(self) -> Generator[bytes, None, None]:
        """Yield the text of all there is now, a block at a time."""
        with closing(self._snapshot()) as snapshot:
            yield from texts(snapshot.pieces())

    def follow(self, *, collected_only: bool = True) -> Output:
        """Return what has come since the last call, or since the beginning.

        While krond lives, only what it has put into its log: no other process knows the order of the two streams.
        """
        with closing(self._snapshot(collected_only=collected_only)) as snapshot:
            pieces = tuple(snapshot.pieces(after=self._position))
            self._position += sum(len(piece.data) + piece.dropped for piece in pieces)
            return Output(self._run_id, pieces, snapshot.is_final)

    # --- what is there ------------------------------------------------------------------------------------------------

    def _snapshot(self, *, collected_only: bool = False, most: int | None = None) -> _Snapshot:
        """Return what is there; of what is not in the log yet at most so many bytes of a stream, or the run's limit.

        The collector appends to the log before it frees a spool file: if the log has changed meanwhile, again.
        """
        for attempt in range(_ATTEMPTS):
            spools = [each for each in read_spools(self._folder) if each.run_id == self._run_id]
            log = self._open_log()
            stamp = None if log is None else _stamp(log.fileno())
            records = [] if log is None else self._scanned.more(log)
            positions = {record.stream: record.position for record in records}
            with suppress(FileNotFoundError, BlockingIOError):  # it became complete, or a process has a lease
                kept = [] if collected_only else [spool for spool in spools if spool.limit is not None]
                rest = [each for spool in kept for each in self._rest(spool, positions, most)]
                if stamp == _stamp(self._path) or attempt == _ATTEMPTS - 1:
                    return _Snapshot(log, [*((record, None) for record in records), *rest], is_final=not spools)
            if log is not None:
                log.close()
            time.sleep(_MOMENT)
        return _Snapshot(None, (), is_final=False)

    def _open_log(self) -> BinaryIO | None:
        with suppress(FileNotFoundError):
            return os.fdopen(open_spool(self._path), "rb")
        return None

    def _rest(self, spool: Spool, positions: dict[str, int], most: int | None) -> Iterator[tuple[LogRecord, bytes]]:
        descriptor = open_spool(self._folder / "live" / spool.name)
        try:
            facts, at = os.fstat(descriptor), positions.get(spool.stream, 0)
            if facts.st_size > at:
                begin = max(data_from(descriptor, at, facts.st_size), facts.st_size - (spool.limit or 0))
                length = facts.st_size - begin if most is None else min(most, facts.st_size - begin)
                data = os.pread(descriptor, length, facts.st_size - length)
                arrived = facts.st_mtime_ns // 1_000_000
                yield LogRecord(spool.stream, arrived, facts.st_size - begin, begin - at, facts.st_size), data
        finally:
            os.close(descriptor)


def _stamp(log: int | Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        facts = os.stat(log)  # noqa: PTH116  # of a descriptor, too
        return facts.st_ino, facts.st_size
    return None
