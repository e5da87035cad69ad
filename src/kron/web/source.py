"""PageSource, JobControl: what a page asks of a scheduler and may do with it, and the values that it gets."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from kron.cron.wall_time import is_duration, read_moment
from kron.cron.zone import Zone
from kron.errors import ControlError, InvalidDefinitionError, InvalidInstantError
from kron.instant import Instant, format_instant
from kron.jobfile.values import parse_long_duration
from kron.theory.results import PropertyResult
from kron.web.queries import JobQueries


@dataclass(frozen=True, slots=True)
class Notice:
    """A warning at the top of the page."""

    text: str
    since: Instant | None = None
    kind: str = "bad"  # or odd, or busy


@dataclass(frozen=True, slots=True)
class SchedulerStatus:
    """Version and state of a scheduler."""

    version: str
    state: str  # such as "ready"
    since: Instant
    notices: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A row of a job's definition."""

    name: str
    text: str
    is_code: bool = False


class OutputTail(Protocol):
    """The end of what a run wrote."""

    @property
    def skipped(self) -> int:
        """How many bytes are before it."""

    def text(self) -> bytes:
        """Return the end."""


class OutputReader(Protocol):
    """What a run wrote, also while it is running."""

    def tail(self, size: int, /) -> OutputTail:
        """Return the last so many bytes."""

    def stream(self) -> Generator[bytes, None, None]:
        """Yield all there is now, in parts."""


class PageSource(Protocol):
    """What the pages read of a scheduler. Every method is safe in any thread, and changes nothing."""

    @property
    def product(self) -> str:
        """The name of the program, as pages call it."""

    @property
    def jobs(self) -> JobQueries:
        """Its jobs and their history."""

    def status(self) -> SchedulerStatus:
        """Return its version, its state since its start, and what is wrong with it."""

    def facts(self, identity: str, /) -> Sequence[Fact]:
        """Return what only this scheduler knows of a declared job: a command and a user, or a function."""

    def output(self, run_id: str, /) -> OutputReader | None:
        """Return what a run wrote, None if output is not kept here."""

    def violations(self) -> Sequence[PropertyResult] | None:
        """Return what the monitor found since the start, None if it is off."""


class JobControl(Protocol):
    """What pages may do with jobs. ControlError: why an action is refused."""

    async def suspend(self, identities: Sequence[str], until: Instant | None, /) -> None:
        """Suspend jobs until an instant or until they are resumed."""

    async def resume(self, identities: Sequence[str], /) -> None:
        """Resume jobs that were suspended by command."""

    async def trigger(self, identity: str, /) -> str:
        """Start a run outside the periods of its job, and return its id."""


def parse_until(text: str, zone: Zone, now: Instant) -> Instant:
    """Return the end of a suspension, in the future: a duration from now, or a time on the wall clock of a job."""
    try:
        until = (now + parse_long_duration("until", text)).replace(microsecond=0)
    except OverflowError as error:
        raise ControlError(reason=f"{text} from now lies after the year 9999", exit_code=2) from error
    except InvalidDefinitionError:
        if is_duration(text):
            raise
        try:
            until = read_moment(text, zone, now)
        except InvalidInstantError as error:
            raise InvalidInstantError(text=text, has_zone=True, may_last=True) from error
    if until <= now:
        raise ControlError(reason=f"{format_instant(until)} has passed; name a time to come", exit_code=2)
    return until
