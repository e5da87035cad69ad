"""OutputLog: what an execution wrote so far, or in all, read from files alone: no host has to live."""

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from kron.adapters.process_runner import index
from kron.adapters.process_runner.capture import Capture, Segment
from kron.adapters.process_runner.output import Output, Piece
from kron.adapters.process_runner.output_files import STREAMS, LiveFile, OutputFiles

_TRIES = 5  # the live files may be made into the final one while they are read
_LENGTH = 8  # bytes of the length at the end of a final file
_OPENINGS, _MOMENT = 50, 0.001  # tries, and seconds between them
_BLOCK = 1 << 20  # bytes read at once
_FLUSH = 1000  # milliseconds after which a living host would have noticed what is there


class OutputLog:
    """The output of one execution, read again and again or followed."""

    def __init__(self, folder: str | os.PathLike[str], run_id: str) -> None:
        self._files = OutputFiles(folder)
        self._run_id = run_id
        self._position = 0  # bytes in order of arrival that `follow` has returned

    def read(self) -> Output:
        """Return all there is now; nothing, and final, of an execution that wrote nothing or is not known."""
        return self._read(all_there_is=True)

    def follow(self, *, to_the_end: bool = False) -> Output:
        """Return what has come since the last call, or since the beginning; `to_the_end`: nobody adds to it."""
        output = self._read(all_there_is=to_the_end)
        pieces = _after(output.pieces, self._position)
        self._position += sum(piece.length for piece in pieces)
        return Output(output.run_id, tuple(pieces), output.is_final)

    def _read(self, *, all_there_is: bool) -> Output:
        for _ in range(_TRIES):
            with suppress(FileNotFoundError):
                return read_final(self._files.log(self._run_id), self._run_id)
            live = self._files.live_files(self._run_id)
            with suppress(FileNotFoundError):
                if live:
                    output = self._read_live(live, all_there_is=all_there_is)
                    # Else they were emptied meanwhile, or even somebody else's: the final form came before that.
                    if not self._files.log(self._run_id).exists() and self._files.live_files(self._run_id) == live:
                        return output
            if not live and not self._files.log(self._run_id).exists():
                break
        return Output(self._run_id, (), is_final=True)

    def _read_live(self, live: Sequence[LiveFile], *, all_there_is: bool) -> Output:
        """Return the parts that the index knows, then those that it does not know yet: a host indexes them soon, in an
        order of its own, so that who follows waits for it, unless there is none."""
        paths = {one.stream: self._files.live / one.name for one in live if one.limit is not None}
        capture = index.load(self._files.index_of(self._run_id), 0)
        for stream, path in paths.items():
            found = path.stat()  # FileNotFoundError: it has become final meanwhile
            changed = found.st_mtime_ns // 1_000_000
            news = found.st_size - capture.sizes[stream]
            if news > 0 and (all_there_is or changed + _FLUSH < time.time_ns() // 1_000_000):
                capture.arrived(Segment(changed, stream, capture.sizes[stream], news))
        return Output(self._run_id, tuple(pieces_of(capture, paths)), is_final=False)


def pieces_of(capture: Capture, paths: dict[str, Path]) -> Iterable[Piece]:
    """Yield the pieces that a capture keeps, read from live files. Bytes that somebody took away count as dropped."""
    descriptors: dict[str, int] = {}
    try:
        for stream, path in paths.items():
            with suppress(FileNotFoundError):
                descriptors[stream] = open_live(path)
        for segment in capture.head:
            yield from _piece(segment, descriptors)
        kept = capture.tail or capture.head
        cut_at = kept[0].time if kept else max((_changed(each) for each in descriptors.values()), default=0)
        for stream in STREAMS:
            if capture.dropped[stream]:
                yield Piece(cut_at, stream, b"", capture.dropped[stream])
        for segment in capture.tail:
            yield from _piece(segment, descriptors)
    finally:
        for descriptor in descriptors.values():
            os.close(descriptor)


def _changed(descriptor: int) -> int:
    """Return when a file was written to last, in milliseconds."""
    return os.fstat(descriptor).st_mtime_ns // 1_000_000


def _piece(segment: Segment, descriptors: dict[str, int]) -> Iterable[Piece]:
    descriptor = descriptors.get(segment.stream)
    at, end = segment.offset, segment.offset + segment.length
    while at < end and descriptor is not None and (data := os.pread(descriptor, min(_BLOCK, end - at), at)):
        yield Piece(segment.time, segment.stream, data)
        at += len(data)
    if at < end:
        yield Piece(segment.time, segment.stream, b"", end - at)


def open_live(path: Path) -> int:
    """Open a live file to read. A lease on it is the host's, for a moment, or its user's: an error then, not a wait."""
    for left in reversed(range(_OPENINGS)):
        try:
            return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(_MOMENT)
    raise AssertionError


# --- the final form: the bytes, then JSON that says which pieces they are, then its length ----------------------------


def write_final(path: Path, pieces: Iterable[Piece]) -> None:
    """Write all pieces as one file: it is there as a whole or not at all."""
    rows = []
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for piece in pieces:
            file.write(piece.data)
            rows.append([piece.time, piece.stream, len(piece.data), piece.dropped])
        told = json.dumps(rows).encode()
        file.write(told + len(told).to_bytes(_LENGTH, "big"))
    new.replace(path)


def read_final(path: Path, run_id: str) -> Output:
    """Return what was written; FileNotFoundError if it is not final yet."""
    with path.open("rb") as file:
        file.seek(-_LENGTH, os.SEEK_END)
        length = int.from_bytes(file.read(_LENGTH), "big")
        file.seek(-_LENGTH - length, os.SEEK_END)
        rows = json.loads(file.read(length))
        file.seek(0)
        pieces = tuple(Piece(at, stream, file.read(length), dropped) for at, stream, length, dropped in rows)
    return Output(run_id, pieces, is_final=True)


def _after(pieces: Iterable[Piece], position: int) -> list[Piece]:
    """Return what lies behind a position, in order of arrival."""
    found = []
    for piece in pieces:
        if position >= piece.length:
            position -= piece.length
        elif position == 0:
            found.append(piece)
        else:
            dropped = max(0, piece.dropped - position)
            found.append(Piece(piece.time, piece.stream, piece.data[position:], dropped))
            position = 0
    return found
