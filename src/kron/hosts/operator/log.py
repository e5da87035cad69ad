"""Log: what the operator does, as JSON lines with enough in them to find every decision again."""

import json
from collections.abc import Callable
from typing import TextIO

from kron.instant import Instant, format_instant
from kron.rules.event import Event

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode  # made once, not for every line
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
        """Write one line."""
        line = {"time": format_instant(self._now()), "level": level, "event": event, **fields}
        self._stream.write(_encode(line) + "\n")
        self._stream.flush()
