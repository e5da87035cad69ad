"""Settings: what `[krond]` says, in one file or spread over several."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from kron.errors import InvalidDefinitionError, KronError, escape_unprintable
from kron.errors.diagnostics import suggest_key
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.keys import SETTING_ALIASES
from kron.jobfile.values import (
    invalid_value,
    parse_absolute_path,
    parse_bool,
    parse_count,
    parse_long_duration,
    parse_single_line,
    parse_word,
    parse_zone,
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


def parse_listen(key: str, given: object) -> str:
    """Return where to listen."""
    text = parse_single_line(key, given)
    if text == "off":
        return text
    if text.startswith("unix:"):
        parse_absolute_path(key, text.removeprefix("unix:"))
        return text
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and len(port) < 6 and int(port) <= _HIGHEST_PORT):
        raise invalid_value(key, text, "must be HOST:PORT, unix:/path or off", "write 127.0.0.1:8080")
    return text


SETTINGS: Mapping[str, Callable[[str, object], object]] = MappingProxyType(
    {
        "state": parse_absolute_path,
        "listen": parse_listen,
        "token_file": parse_absolute_path,
        "retention": parse_long_duration,
        "output_retention": parse_long_duration,
        "max_active": parse_count,
        "timezone": parse_zone,
        "slack": parse_long_duration,
        "drain_timeout": parse_long_duration,
        "on_invalid": parse_word("skip", "refuse"),
        "watch": parse_bool,
    }
)


class SettingsReader:
    """Takes the `[krond]` of every file; the same key twice is an error, wherever it stands."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._places: dict[str, tuple[str, int]] = {}

    def read(self, draft: JobDraft, report: FileReport) -> None:
        """Take what one file says."""
        for key, given in draft.entries.items():
            line = draft.line_of(key)
            try:
                if key not in SETTINGS:
                    fix = suggest_key(key, SETTINGS, SETTING_ALIASES)
                    raise InvalidDefinitionError(field=key, found="", reason="is not a key of [krond]", fix=fix)
                if key in self._values:
                    file, at = self._places[key]
                    reason = f"is said twice, first at {escape_unprintable(file)}:{at}"
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
