"""Log: what the operator does, as JSON lines with enough in them to find every decision again."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from kron.instant import Instant, format_instant
from kron.rules.event import Event
from kron.rules.printable import safe_line

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode  # made once, not for every line
_escape = json.JSONEncoder(ensure_ascii=True, default=str).encode  # the same in ASCII
_LONGEST = 2_000  # characters of a text: tenants write some of them, and one is in many lines
INFO, WARNING, ERROR = "INFO", "WARNING", "ERROR"


class Log:
    """Writes to a stream; also a sink for the engine's events."""

    def __init__(self, stream: TextIO, now: Callable[[], Instant]) -> None:
        self._stream, self._now = stream, now

    def __call__(self, event: Event) -> None:
        """Take an event of the engine."""
        self.write(event.level, event.name, **event.fields)

    def wants(self, level: str) -> bool:
        """Whether events of this level are written."""
        return level != "DEBUG"

    def write(self, level: str, event: str, /, **fields: object) -> None:
        """Write one line; what a terminal would obey is escaped as JSON does it, and long texts are cut."""
        line: object = {"time": format_instant(self._now()), "level": level, "event": event, **fields}
        text = _encode(line)
        if len(text) > _LONGEST:
            line = _cut(line)
            text = _encode(line)
        if text != safe_line(text):
            text = _escape(line)
        self._stream.write(text + "\n")
        self._stream.flush()


def _cut(value: object) -> object:
    """Return a value with its long texts cut, each with how long it was."""
    match value:
        case str() if len(value) > _LONGEST:
            return f"{value[:_LONGEST]}… ({len(value):,} characters)"
        case Mapping():
            return {key: _cut(item) for key, item in value.items()}
        case Sequence() if not isinstance(value, str | bytes):
            return [_cut(item) for item in value]
    return value
