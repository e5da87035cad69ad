"""HostJob: one job of a host, whatever its file looked like: when, under which policy, what is run, what follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.rules.command import Command
from kron.rules.finding import Finding, Level
from kron.rules.policy import Policy

LATE_AFTER = timedelta(seconds=60)
RETRY_DELAY = timedelta(seconds=30)
ORIGIN = 16  # bytes of a digest


@dataclass(frozen=True, slots=True)
class Call:
    """A hook that is called: POST to an address."""

    url: str


@dataclass(frozen=True, slots=True)
class Program:
    """A hook that is run, as the job's user."""

    argv: tuple[str, ...]


Hook = Call | Program


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told when a job fails, recovers, is missed or starts late."""

    on_failure: tuple[Hook, ...] = ()
    on_recovery: tuple[Hook, ...] = ()
    on_missed: tuple[Hook, ...] = ()
    on_late: tuple[Hook, ...] = ()
    late_after: timedelta = LATE_AFTER
    ping: str = ""


HOOKS = ("on_failure", "on_recovery", "on_missed", "on_late")  # the keys that take calls and programs
NO_HOOKS = Hooks()


class Wanted(NamedTuple):
    """A user or group that is named where so much else is wrong that there is no job."""

    part: str  # `user` or `group`
    name: str
    field: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class HostJob:
    """A job and where it is defined. Two are equal if they say the same, wherever they say it."""

    name: str
    identity: str
    schedule: str  # as it was written
    timezone: str
    timing: Timing | None  # None: @reboot, once for each boot of the machine
    policy: Policy
    command: Command
    retries: int = 0
    retry_delay: timedelta = RETRY_DELAY
    hooks: Hooks = field(default_factory=Hooks)
    description: str = ""
    file: str = field(default="", compare=False)  # as people call it
    line: int = field(default=0, compare=False)
    offsets: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Where its parts are said, those of the defaults, too: lines from its own one on."""
    prefix: str = field(default="", compare=False)  # of the names of its keys, such as `jobs.backup.`
    per_host: frozenset[str] = field(default=frozenset(), compare=False)
    """The words in braces of its identity and salt: with any, another host has another seed."""
    origin: bytes = field(default=b"", compare=False, repr=False)
    """Of all that it was made from, a digest: as long as it is the same, so is the job."""

    def line_of(self, part: str) -> int:
        """Return the line that says a part, such as `suspend` or `window`; the job's own if none does."""
        return self.line + self.offsets.get(part, 0)

    def finding(self, level: Level, part: str, message: str, fix: str = "") -> Finding:
        """Return something to say about a part of this job, at the line that says it."""
        return Finding(level, f"{self.prefix}{part}", message, fix, self.file, self.line_of(part))
