"""The log of one run's captured output: records of what arrived, appended by the collector and kept within a limit.

OUTPUT/RUN.log     records, see `LogRecord`; replaced as a whole when it is compacted
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kron.adapters.process.spool import STREAMS, quoted

_BLOCK = 1 << 20  # bytes copied at once
_NEAR = 8192  # bytes in which the end of a line is looked for
_MAX_RECORDS = 16_384  # then neighbours are joined: headers must not outgrow the output they describe
_JOINED = 4  # neighbours that become one record for each stream
_LONGEST_HEADER = 128  # bytes


class LogRecord(NamedTuple):
    """Bytes of one stream that arrived together, after `dropped` bytes that are not kept.

    In the file: `STREAM TIME KEPT DROPPED POSITION\\n`, then the kept bytes.
    """

    stream: str
    time: int  # milliseconds since 1970
    kept: int
    dropped: int
    position: int  # in the spool file, where the stream continues
    parts: tuple[tuple[int, int], ...] = ()  # offset and length in the log of the kept bytes

    def header(self) -> bytes:
        """Return the mark that precedes the kept bytes."""
        return b"%s %d %d %d %d\n" % (self.stream.encode(), *self[1:5])


def log_path(folder: Path, run_id: str) -> Path:
    """Return where the log of a run is, if it wrote anything."""
    return folder / f"{quoted(run_id)}.log"


def scan(log: BinaryIO) -> list[LogRecord]:
    """Return the records of a log from its current place on. One that a crash cut off does not count."""
    records: list[LogRecord] = []
    end = os.fstat(log.fileno()).st_size
    while line := log.readline(_LONGEST_HEADER):
        words = line.split(b" ")
        if len(words) != len(LogRecord._fields) - 1 or not line.endswith(b"\n"):
            break
        try:
            time, kept, dropped, position = map(int, words[1:])
            stream = words[0].decode("ascii")
        except ValueError:
            break
        begin = log.tell()
        if stream not in STREAMS or kept < 0 or log.seek(kept, os.SEEK_CUR) > end:
            break
        records.append(LogRecord(stream, time, kept, dropped, position, ((begin, kept),)))
    return records


class RunLog:
    """Appends to the log of a run and keeps it within its limit: half from the head, half from the tail."""

    def __init__(self, path: Path, limit: int) -> None:
        self._path, self.limit = path, limit
        self.positions = dict.fromkeys(STREAMS, 0)
        self.kept = self._records = 0
        self._last: dict[str, bytes] = dict.fromkeys(STREAMS, b"\n")
        with suppress(FileNotFoundError), path.open("r+b") as log:
            records = scan(log)
            size = sum(records[-1].parts[0]) if records else 0
            if size < os.fstat(log.fileno()).st_size:
                log.truncate(size)  # half a record: its bytes are still in the spool file
            self._count(records)
            for record in records:
                if record.kept:
                    log.seek(record.parts[0][0] + record.kept - 1)
                    self._last[record.stream] = log.read(1)

    def append(self, record: LogRecord, data: bytes) -> None:
        """Append one record. It is in the page cache when this returns, so it survives the daemon."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as log:
            size = os.fstat(descriptor).st_size
            try:
                _write(log, record.header() + data)
            except OSError:  # a full disk: half a record must not be followed by the next one
                os.ftruncate(descriptor, size)
                raise
        self._count([record])
        if data:
            self._last[record.stream] = data[-1:]

    def is_at_line_begin(self, stream: str) -> bool:
        """Whether what is logged of a stream ends with a whole line."""
        return self._last[stream] == b"\n"

    def compact(self, *, slack: int = 0) -> None:
        """Drop the middle if more than the limit and some slack is kept, in whole lines where possible."""
        if self.kept <= self.limit + slack and self._records <= _MAX_RECORDS:
            return
        new = self._path.with_name(f"{self._path.name}.new")
        try:
            with self._path.open("rb") as log, open(new, "wb", buffering=0, opener=_private) as target:
                records = trimmed(scan(log), self.limit, log)
                for record in records:
                    _write(target, record.header())
                    _copy(log, target, record)
        except OSError:  # a full disk: half a log must not keep it full
            new.unlink(missing_ok=True)
            raise
        new.replace(self._path)  # a crash before it: the next compaction overwrites the new file
        self.kept = self._records = 0
        self._count(records)

    def _count(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            self.positions[record.stream] = record.position
            self.kept += record.kept
            self._records += 1


def trimmed(records: list[LogRecord], limit: int, log: BinaryIO) -> list[LogRecord]:
    """Return records that keep at most `limit` bytes: a head, what was dropped of each stream, and a tail."""
    if len(records) > _MAX_RECORDS:
        records = _joined(records)
    size = sum(record.kept for record in records)
    if size <= limit:
        return records
    cut = next((number for number, record in enumerate(records) if record.dropped), len(records))
    head_size = sum(record.kept for record in records[:cut])  # a head that was cut before stays
    if head_size >= limit // 2:
        head_size = _line_end(records[:cut], limit // 2, log)
    head, rest = _split(records[:cut], head_size)
    rest += records[cut:]
    room = limit - head_size
    middle, tail = _split(rest, _line_begin(rest, size - limit, log) if room else size)
    gaps = []
    for stream in STREAMS:
        if own := [record for record in middle if record.stream == stream]:
            lost = sum(record.kept + record.dropped for record in own)
            time = tail[0].time if tail else own[-1].time
            gaps.append(LogRecord(stream, time, 0, lost, own[-1].position))
    return [*head, *gaps, *tail]


def _split(records: Sequence[LogRecord], size: int) -> tuple[list[LogRecord], list[LogRecord]]:
    """Return the records before and after so many kept bytes, one of them cut in two."""
    before: list[LogRecord] = []
    for number, record in enumerate(records):
        if size < record.kept or (not size and not record.dropped):
            after = list(records[number:])
            if size:
                left, parts = record.kept - size, record.parts
                before.append(record._replace(kept=size, position=record.position - left, parts=_part(parts, 0, size)))
                after[0] = record._replace(kept=left, dropped=0, parts=_part(parts, size, record.kept))
            return before, after
        before.append(record)
        size -= record.kept
    return before, []


def _part(parts: Iterable[tuple[int, int]], begin: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return where in the log the kept bytes from `begin` to `end` of a record are."""
    found, at = [], 0
    for offset, length in parts:
        first, last = max(begin - at, 0), min(end - at, length)
        if first < last:
            found.append((offset + first, last - first))
        at += length
    return tuple(found)


def _line_end(records: Sequence[LogRecord], size: int, log: BinaryIO) -> int:
    """Return the last end of a line within the first `size` kept bytes, or `size` if none is near."""
    record, inside = _locate(records, size - 1)
    if record is None or not size:
        return size
    inside += 1
    begin = max(0, inside - _NEAR)
    found = _read(log, _part(record.parts, begin, inside)).rfind(b"\n")
    if found >= 0:
        return size - inside + begin + found + 1
    return size - inside if begin == 0 and inside < size else size


def _line_begin(records: Sequence[LogRecord], size: int, log: BinaryIO) -> int:
    """Return the first begin of a line after `size` kept bytes, or `size` if none is near."""
    record, inside = _locate(records, size)
    if record is None or not inside:
        return size
    data = _read(log, _part(record.parts, inside - 1, min(record.kept, inside + _NEAR)))
    moved = size + data.find(b"\n")
    return moved if size <= moved < sum(each.kept for each in records) else size


def _locate(records: Sequence[LogRecord], size: int) -> tuple[LogRecord | None, int]:
    for record in records:
        if size < record.kept:
            return record, size
        size -= record.kept
    return None, 0


def _joined(records: Sequence[LogRecord]) -> list[LogRecord]:
    """Return at most half as many records: of some neighbours, those of one stream become one, with the first time."""
    found = []
    for at in range(0, len(records), _JOINED):
        some = records[at : at + _JOINED]
        for stream in STREAMS:
            if own := [record for record in some if record.stream == stream]:
                kept, dropped = sum(record.kept for record in own), sum(record.dropped for record in own)
                parts = tuple(part for record in own for part in record.parts)
                found.append(LogRecord(stream, some[0].time, kept, dropped, own[-1].position, parts))
    return found


def _write(target: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[target.write(rest) :]


def _read(log: BinaryIO, parts: Iterable[tuple[int, int]]) -> bytes:
    found = []
    for offset, length in parts:
        log.seek(offset)
        found.append(log.read(length))
    return b"".join(found)


def _copy(source: BinaryIO, target: BinaryIO, record: LogRecord) -> None:
    for offset, length in record.parts:
        source.seek(offset)
        left = length
        while left and (data := source.read(min(left, _BLOCK))):
            _write(target, data)
            left -= len(data)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
