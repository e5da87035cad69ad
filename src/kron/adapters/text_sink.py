"""TextSink: one line per event, for people at a terminal."""

from collections.abc import Callable
from typing import TextIO

from kron.instant import Instant
from kron.rules.event import Event


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
        fields = " ".join(f"{key}={_short(value)}" for key, value in event.fields.items() if value not in (None, ""))
        mark = "! " if event.level == "WARNING" else "  "
        self._stream.write(f"{self._now():%H:%M:%S}Z {mark}{event.name} {fields}".rstrip() + "\n")
        self._stream.flush()


def _short(value: object) -> str:
    text = str(value)
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return f'"{shown}"' if " " in shown or not shown else shown
