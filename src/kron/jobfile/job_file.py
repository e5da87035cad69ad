"""JobFile: the string of one job file. HostInfo: what a host says of itself, also in the place of `{host}`."""

import re
from dataclasses import dataclass, field
from enum import Enum

from kron.errors import InvalidDefinitionError


class FileFormat(Enum):
    """The forms of job files."""

    TOML = "toml"
    LINES = "kron"  # a schedule line with settings each
    CRONTAB = "crontab"
    SYSTEM_CRONTAB = "system-crontab"  # with a column for the user


@dataclass(frozen=True, slots=True)
class JobFile:
    """A text, how people call its file, and the absolute normalised path that enters identities."""

    file: str
    path: str
    format: FileFormat
    text: str


@dataclass(frozen=True, slots=True)
class HostInfo:
    """The name of the host, its machine id, its zone and its users; empty where unknown."""

    host: str = ""
    machine: str = ""
    timezone: str = ""
    users: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # a new one changes no job


_IN_BRACES = re.compile(r"\{([^{}]*)\}|[{}]")
_SETS: dict[tuple[bool, bool], frozenset[str]] = {  # shared, because a daemon keeps one for each job
    (False, False): frozenset(),
    (True, False): frozenset({"host"}),
    (False, True): frozenset({"machine"}),
    (True, True): frozenset({"host", "machine"}),
}
_FIXES = {"host": "leave it out", "machine": "use {host}, or leave it out"}


def expand_placeholders(key: str, text: str, surroundings: HostInfo) -> str:
    """Return the text with the host's own values; any other word in braces is refused."""
    if "{" not in text and "}" not in text:
        return text
    values = {"host": surroundings.host, "machine": surroundings.machine}

    def value_of(match: re.Match[str]) -> str:
        word = match[1]
        if word not in values:
            reason = "may have {host} and {machine} in braces, and no other word"
            raise InvalidDefinitionError(field=key, found=match[0], reason=reason, fix="leave the braces out")
        if not values[word]:
            reason = f"the {word} of {surroundings.host or 'this host'} is not known"
            raise InvalidDefinitionError(field=key, found=match[0], reason=reason, fix=_FIXES[word])
        return values[word]

    return _IN_BRACES.sub(value_of, text)


def placeholders_in(*texts: str) -> frozenset[str]:
    """Return the words in braces of texts that were expanded: with any, they are others on another host."""
    return _SETS[any("{host}" in text for text in texts), any("{machine}" in text for text in texts)]
