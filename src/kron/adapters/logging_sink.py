"""LoggingSink: events as records of the standard library's logging, one line each, safe to read on a terminal."""

import logging

from kron.errors import shown
from kron.rules.event import Event

_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARNING": logging.WARNING}


class LoggingSink:
    """Logs to `kron` unless told otherwise; a record carries `event` and `fields` for structured handlers."""

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
    text = shown(str(value))
    return '"' + text.replace('"', '\\"') + '"' if " " in text else text
