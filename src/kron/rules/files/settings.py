"""Settings: what `[krond]` says, in one file or spread over several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from kron.decision.choices import meant_key
from kron.errors import InvalidDefinitionError, KronError, printable
from kron.rules.files.draft import Draft, Report
from kron.rules.files.other_words import OF_KROND
from kron.rules.files.values import (
    read_absolute,
    read_bool,
    read_count,
    read_days,
    read_line_of_text,
    read_word,
    read_zone,
    wrong,
)

_RETENTION = timedelta(days=90)
_SLACK = timedelta(seconds=30)
_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Settings:
    """How the daemon itself is set up; what is empty is the host's to choose."""

    state: str = ""
    listen: str = "off"  # or HOST:PORT, or unix:/path
    token_file: str = ""
    retention: timedelta = _RETENTION
    output_retention: timedelta = _RETENTION  # unless said: as long as `retention`
    max_active: int = 0  # 0: no limit
    timezone: str = "UTC"  # of jobs that name none
    slack: timedelta = _SLACK
    drain_timeout: timedelta | None = None
    on_invalid: str = "skip"  # what a file with errors does: it alone is left out, or "refuse": no file is taken up
    watch: bool = False  # whether the files are read again when they change
    places: Mapping[str, tuple[str, int]] = field(default_factory=dict, compare=False, repr=False)
    """The file and the line that say a key."""


def read_listen(key: str, given: object) -> str:
    """Return where to listen."""
    text = read_line_of_text(key, given)
    if text == "off":
        return text
    if text.startswith("unix:"):
        read_absolute(key, text.removeprefix("unix:"))
        return text
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and len(port) < 6 and int(port) <= _HIGHEST_PORT):
        raise wrong(key, text, "must be HOST:PORT, unix:/path or off", 'write listen = "127.0.0.1:8080"')
    return text


SETTINGS: Mapping[str, Callable[[str, object], object]] = MappingProxyType(
    {
        "state": read_absolute,
        "listen": read_listen,
        "token_file": read_absolute,
        "retention": read_days,
        "output_retention": read_days,
        "max_active": read_count,
        "timezone": read_zone,
        "slack": read_days,
        "drain_timeout": read_days,
        "on_invalid": read_word("skip", "refuse"),
        "watch": read_bool,
    }
)


class SettingsReader:
    """Takes the `[krond]` of every file; the same key twice is an error, wherever it stands."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._places: dict[str, tuple[str, int]] = {}

    def read(self, draft: Draft, report: Report) -> None:
        """Take what one file says."""
        for key, given in draft.entries.items():
            line = draft.line_of(key)
            try:
                if key not in SETTINGS:
                    fix = meant_key(key, SETTINGS, OF_KROND)
                    raise InvalidDefinitionError(field=key, found="", reason="is not a key of [krond]", fix=fix)
                if key in self._values:
                    file, at = self._places[key]
                    reason = f"is said twice, first at {printable(file)}:{at}"
                    raise InvalidDefinitionError(field=key, found=str(given), reason=reason, fix="keep one of them")
                self._values[key] = SETTINGS[key](key, given)
                self._places[key] = report.file, line
            except KronError as error:
                report.error(error, line, f"{draft.prefix}{key}")

    def settings(self) -> Settings:
        """Return all of it, with defaults for what no file says."""
        values = dict(self._values)
        if "retention" in values:
            values.setdefault("output_retention", values["retention"])
        return Settings(**values, places=self._places)
