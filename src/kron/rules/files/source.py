"""Source: the text of one job file, where it lies and which form it has. Surroundings: what a host says of itself."""

from dataclasses import dataclass, field
from enum import Enum


class Format(Enum):
    """The forms of job files."""

    TOML = "toml"
    LINES = "kron"  # a schedule line with settings each
    CRONTAB = "crontab"
    SYSTEM_CRONTAB = "system-crontab"  # with a column for the user


@dataclass(frozen=True, slots=True)
class Source:
    """A text, how people call its file, and the absolute normalised path that enters identities."""

    file: str
    path: str
    format: Format
    text: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the host is called, its machine id, its zone and its users; empty where it does not tell."""

    host: str = ""
    machine: str = ""
    timezone: str = ""
    users: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # a new one changes no job
