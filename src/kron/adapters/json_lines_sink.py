"""JsonLinesSink: one JSON object per event and line."""

import json
from collections.abc import Callable
from typing import TextIO

from kron.instant import Instant, format_instant
from kron.rules.event import Event


class JsonLinesSink:
    """Writes to a text stream; `now` gives the time of each line. Control characters in names are escaped by JSON."""

    def __init__(self, stream: TextIO, now: Callable[[], Instant]) -> None:
        self._stream = stream
        self._now = now

    def __call__(self, event: Event) -> None:
        """Write the event and hand it on at once."""
        line = {"time": format_instant(self._now()), "level": event.level, "event": event.name, **event.fields}
        self._stream.write(json.dumps(line, default=str) + "\n")
        self._stream.flush()
