"""TextSink: one line per event, for people at a terminal."""

from collections.abc import Callable
from typing import TextIO

from kron.instant import Instant
from kron.rules.event import Event

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
