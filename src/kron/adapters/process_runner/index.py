"""An index in, a Capture out, and back: what a reader without the host, or a host after a crash, needs to know.

A line a segment, `TIME o|e OFFSET LENGTH`, appended as they arrive. Where parts were dropped stands
`cut OUT ERR OUT ERR`: how many bytes of each stream, and how far each had been seen by then.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kron.adapters.process_runner.capture import Capture, Segment
from kron.adapters.process_runner.output_files import STREAMS

_LETTERS = {"stdout": "o", "stderr": "e"}
_STREAM_OF = {letter: stream for stream, letter in _LETTERS.items()}
_CUT = "cut"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def load(path: Path, limit: int) -> Capture:
    """Return what an index says; an empty capture if there is none. A line that a crash cut off does not count."""
    capture = Capture(limit)
    try:
        text = path.read_text("ascii", "replace")
    except FileNotFoundError:
        return capture
    seen = dict.fromkeys(STREAMS, 0)
    for line in text.split("\n")[:-1]:
        words = line.split(" ")
        with suppress(ValueError, KeyError):
            if words[0] == _CUT:
                capture.head, capture.tail = capture.tail, []
                capture.dropped = dict(zip(STREAMS, map(int, words[1:3]), strict=True))
                seen = dict(zip(STREAMS, map(int, words[3:5]), strict=True))
                capture.is_cut = True
            else:
                time, letter, offset, length = words
                capture.arrived(Segment(int(time), _STREAM_OF[letter], int(offset), int(length)))
    for stream in STREAMS:  # the last parts that were seen may have been dropped
        capture.sizes[stream] = max(capture.sizes[stream], seen[stream])
    return capture


def append(path: Path, segments: Iterable[Segment]) -> None:
    """Add segments that have arrived."""
    _write(path, "".join(map(_line, segments)))


def save(path: Path, capture: Capture) -> None:
    """Write the whole index anew: a reader sees the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    numbers = [part[stream] for part in (capture.dropped, capture.sizes) for stream in STREAMS]
    cut = f"{_CUT} {' '.join(map(str, numbers))}\n" if capture.is_cut else ""
    _write(new, "".join((*map(_line, capture.head), cut, *map(_line, capture.tail))))
    new.replace(path)


def _line(segment: Segment) -> str:
    return f"{segment.time} {_LETTERS[segment.stream]} {segment.offset} {segment.length}\n"


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        data = memoryview(text.encode())
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
