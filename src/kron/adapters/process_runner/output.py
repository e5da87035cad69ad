"""Output: what an execution wrote, piece by piece in order of arrival, as bytes, as lines, or as JSON has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from kron.adapters.process_runner.output_files import STREAMS
from kron.instant import Instant, format_instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of one stream that arrived together; or, without data, how many are missing here."""

    time: int  # milliseconds since 1970
    stream: str
    data: bytes
    dropped: int = 0

    @property
    def length(self) -> int:
        """How many bytes were written here, whether they are kept or not."""
        return len(self.data) + self.dropped


@dataclass(frozen=True, slots=True)
class Line:
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

    @property
    def bytes(self) -> int:
        """How many bytes are there."""
        return sum(len(piece.data) for piece in self.pieces)

    @property
    def dropped(self) -> int:
        """How many are not."""
        return sum(piece.dropped for piece in self.pieces)

    def of(self, stream: str) -> "Output":
        """Return one stream alone."""
        return Output(self.run_id, tuple(piece for piece in self.pieces if piece.stream == stream), self.is_final)

    def text(self) -> "bytes_":
        """Return the bytes unchanged, with a line where some were dropped."""
        parts: list[bytes_] = []
        dropped = 0
        for piece in (*self.pieces, None):
            if piece is not None and piece.dropped:
                dropped += piece.dropped  # both streams' are told in one line
                continue
            if dropped:
                parts.append(b"" if not parts or parts[-1].endswith(b"\n") else b"\n")
                parts.append(b"%s\n" % _told(dropped))
                dropped = 0
            if piece is not None:
                parts.append(piece.data)
        return b"".join(parts)

    def lines(self) -> Iterator[Line]:
        """Yield lines as they were completed; those without an end come last."""
        begun: dict[str, tuple[int, bytes_]] = {}
        for piece in self.pieces:
            time, rest = begun.pop(piece.stream, (piece.time, b""))
            if piece.dropped:
                if rest:
                    yield Line(_instant(time), piece.stream, rest)
                yield Line(_instant(piece.time), piece.stream, _told(piece.dropped))
                continue
            *complete, last = (rest + piece.data).split(b"\n")
            for data in complete:
                yield Line(_instant(time), piece.stream, data)
                time = piece.time
            if last:
                begun[piece.stream] = (time, last)
        for stream in STREAMS:
            if stream in begun:
                yield Line(_instant(begun[stream][0]), stream, begun[stream][1])

    def as_json(self) -> dict[str, Any]:
        """Return the output as `krond logs --json` prints it."""
        rows = [
            {"time": format_instant(line.time), "stream": line.stream, "text": line.data.decode("utf-8", "replace")}
            for line in self.lines()
        ]
        return {"run_id": self.run_id, "bytes": self.bytes, "dropped": self.dropped, "lines": rows}


bytes_ = bytes  # inside Output the name means the number of them


def _told(dropped: int) -> bytes:
    return b"[krond: %d bytes dropped]" % dropped


def _instant(milliseconds: int) -> Instant:
    return _EPOCH + timedelta(milliseconds=milliseconds)
