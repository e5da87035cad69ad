"""Capture: which parts of what an execution wrote are kept, in order of arrival: a head, and a tail that moves on."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kron.adapters.process_runner.output_files import STREAMS

Read = Callable[[str, int, int], bytes]
"""Stream, offset and length in, bytes out: fewer, if they are not there any more."""

_LOOK = 8192  # bytes in which the end of a line is looked for
_MOST_SEGMENTS = 16_384  # beyond them, neighbours in time are joined: an index must not outgrow what it points to


class Segment(NamedTuple):
    """A part of a stream that was there at a look, and was not at the look before."""

    time: int  # milliseconds since 1970
    stream: str
    offset: int
    length: int


class Capture:
    """Segments in order of arrival; `dropped` bytes of each stream are missing between `head` and `tail`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.head: list[Segment] = []
        self.tail: list[Segment] = []
        self.dropped = dict.fromkeys(STREAMS, 0)
        self.sizes = dict.fromkeys(STREAMS, 0)  # how far each has been seen
        self.size = 0  # bytes kept
        self.is_cut = False  # the head is complete

    def arrived(self, segment: Segment) -> None:
        """Append what has come."""
        self.tail.append(segment)
        self.size += segment.length
        self.sizes[segment.stream] = max(self.sizes[segment.stream], segment.offset + segment.length)
        if len(self.tail) > _MOST_SEGMENTS:
            self.tail = _joined(self.tail)

    def lost(self, stream: str) -> None:
        """Take note that somebody has cut a stream off: what is there now is all new."""
        for part in (self.head, self.tail):
            self._count([segment for segment in part if segment.stream == stream])
            part[:] = [segment for segment in part if segment.stream != stream]
        self.sizes[stream] = 0
        if not self.is_cut:  # what is missing is missing before all that follows
            self.head, self.tail, self.is_cut = self.tail, [], True

    def moved(self, stream: str, by: int) -> None:
        """Take note that what was seen of a stream lies further back now: what is before it is all new."""
        for part in (self.head, self.tail):
            part[:] = [
                segment._replace(offset=segment.offset + by) if segment.stream == stream else segment
                for segment in part
            ]

    def trim(self, read: Read, *, slack: int = 0) -> list[Segment]:
        """Return what is dropped to stay within the limit, in whole lines where possible; nothing while it exceeds the
        limit by no more than the slack."""
        if self.size <= self.limit + slack:
            return []
        if not self.is_cut:
            self.head, self.tail = _split(self.tail, _end_of_head(self.tail, self.limit // 2, read))
            self.is_cut = True
        room = max(0, self.limit - _size(self.head))
        excess = max(0, _size(self.tail) - room)
        dropped, self.tail = _split(self.tail, _begin_of_tail(self.tail, excess, read) if room else excess)
        self._count(dropped)
        return dropped

    def _count(self, dropped: Sequence[Segment]) -> None:
        for segment in dropped:
            self.dropped[segment.stream] += segment.length
            self.size -= segment.length


def _size(segments: Sequence[Segment]) -> int:
    return sum(segment.length for segment in segments)


def _locate(segments: Sequence[Segment], position: int) -> tuple[Segment, int] | None:
    """Return the segment that a position falls into, and where in it."""
    for segment in segments:
        if position < segment.length:
            return segment, position
        position -= segment.length
    return None


def _split(segments: Sequence[Segment], position: int) -> tuple[list[Segment], list[Segment]]:
    """Return the segments before a position, and those after it, one of them cut in two."""
    before: list[Segment] = []
    for number, segment in enumerate(segments):
        if position < segment.length:
            after = list(segments[number:])
            if position:
                before.append(segment._replace(length=position))
                after[0] = segment._replace(offset=segment.offset + position, length=segment.length - position)
            return before, after
        before.append(segment)
        position -= segment.length
    return before, []


def _end_of_head(segments: Sequence[Segment], position: int, read: Read) -> int:
    """Return the last end of a line up to a position, or the position if none is near."""
    located = _locate(segments, position)
    if located is None or not position:
        return position
    segment, inside = located
    begin = max(0, inside - _LOOK)
    found = read(segment.stream, segment.offset + begin, inside - begin).rfind(b"\n")
    if found >= 0:
        return position - inside + begin + found + 1
    return position - inside if begin == 0 and inside < position else position


def _begin_of_tail(segments: Sequence[Segment], position: int, read: Read) -> int:
    """Return the first begin of a line from a position on, or the position if none is near."""
    located = _locate(segments, position)
    if located is None:
        return position
    segment, inside = located
    if segment.offset + inside == 0:
        return position
    data = read(segment.stream, segment.offset + inside - 1, min(_LOOK, segment.length - inside) + 1)
    found = data.find(b"\n")
    moved = position + found
    return moved if found >= 0 and moved < _size(segments) else position


def _joined(segments: Sequence[Segment]) -> list[Segment]:
    """Return half as many times: each two neighbouring moments become one, in which each stream is in one piece."""
    times = sorted({segment.time for segment in segments})
    earlier = dict(zip(times, (times[at - at % 2] for at in range(len(times))), strict=True))
    joined: dict[tuple[int, str], Segment] = {}
    for segment in segments:
        key = (earlier[segment.time], segment.stream)
        known = joined.get(key)
        if known is None or known.offset + known.length != segment.offset:
            key = key if known is None else (segment.time, segment.stream)
            joined[key] = segment._replace(time=key[0])
        else:
            joined[key] = known._replace(length=known.length + segment.length)
    return list(joined.values())
