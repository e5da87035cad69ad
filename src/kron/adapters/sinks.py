"""Where events go: lines of text, lines of JSON, Python's logging."""

import json
import logging
from collections.abc import Callable
from typing import TextIO

from kron.errors import display_text
from kron.instant import Instant, format_instant
from kron.rules.events import Event

# Of a row of the history, what the line says anyway or what `krond history` is there for.
_LEFT_OUT = {"kind", "identity", "period_id", "nominal_time", "started_at", "ended_at", "state", "attempts"}
_FOR_PROGRAMS = {"decisions"}  # of a range: a person asks `kron explain`


class TextSink:
    """Writes the time of day, the name and the fields that say something."""

    def __init__(self, stream: TextIO, now: Callable[[], Instant]) -> None:
        self._stream = stream
        self._now = now

    def wants(self, level: str) -> bool:
        """Whether an event of this level is for people: all but the finest."""
        return level != "DEBUG"

    def __call__(self, event: Event) -> None:
        """Write the event at once."""
        left_out = _FOR_PROGRAMS | (_LEFT_OUT if event.fields.keys() >= _LEFT_OUT else set())
        said = {key: value for key, value in event.fields.items() if key not in left_out and value not in (None, "")}
        fields = " ".join(f"{key}={_short(value)}" for key, value in said.items())
        mark = "! " if event.level == "WARNING" else "  "
        self._stream.write(f"{self._now():%H:%M:%S}Z {mark}{event.name} {fields}".rstrip() + "\n")
        self._stream.flush()


def _short(value: object) -> str:
    text = str(value)
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return f'"{shown}"' if " " in shown or not shown else shown


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


_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARNING": logging.WARNING}


class LoggingSink:
    """Logs to the given logger, or `kron`; a record carries `event` and `fields` for structured handlers."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("kron")

    def wants(self, level: str) -> bool:
        """Whether the logger would take an event of this level."""
        return self._logger.isEnabledFor(_LEVELS[level])

    def __call__(self, event: Event) -> None:
        """Log the event: its name, its fields without characters that a terminal would obey, and a failure's trace."""
        level = _LEVELS[event.level]
        if self._logger.isEnabledFor(level):
            fields = " ".join(f"{key}={_text(value)}" for key, value in event.fields.items())
            extra = {"event": event.name, "fields": dict(event.fields)}
            self._logger.log(level, "%s", f"{event.name} {fields}".rstrip(), exc_info=event.exception, extra=extra)


def _text(value: object) -> str:
    text = display_text(str(value))
    return '"' + text.replace('"', '\\"') + '"' if " " in text else text
