"""Calendar: computes from cron, zone and contract whether a list is valid, and when its tasks are due."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from kron.cron.schedule import Schedule
from kron.errors import CronCalculationError, InvalidCronExpressionError
from kron.instant import MILLISECOND, Instant, epoch_milliseconds, from_epoch_milliseconds
from kron.theory.properties import PropertySuite
from kron.theory.trace_format import TracedTask, TraceHeader

MINUTE = 60_000
AHEAD = 60 * MINUTE  # a baseline so much later than the clock is not waited for
_LONGEST = timedelta.max / MILLISECOND


class DueTimes:
    """The due instants of one expression. Those around the last instant asked for answer for all between them.

    Without a schedule nothing is known but the last one, which the trace has named.
    """

    __slots__ = ("_coming", "_past", "_schedule")

    def __init__(self, schedule: Schedule | None, last: int | None = None) -> None:
        self._schedule = schedule
        self._past = last
        self._coming: int | None = None
        self._look(0)

    def next(self, after: int) -> int | None:
        """Return the first one strictly after."""
        self._move(after)
        return self._coming

    def latest(self, at: int) -> int | None:
        """Return the last one at or before."""
        self._move(at)
        return self._past

    def _move(self, at: int) -> None:
        if at == self._coming:  # from one to the next, as nearly always
            self._past, self._coming = at, self._after(from_epoch_milliseconds(at))
        elif (self._past is not None and at < self._past) or (self._coming is not None and at > self._coming):
            self._look(at)

    def _look(self, at: int) -> None:
        if self._schedule is None:
            return
        instant = from_epoch_milliseconds(at)
        self._coming = self._after(instant)
        try:
            self._past = epoch_milliseconds(self._schedule.previous(instant))
        except CronCalculationError:
            self._past = None

    def _after(self, instant: Instant) -> int | None:
        assert self._schedule is not None, "without a schedule none is coming"
        try:
            return epoch_milliseconds(self._schedule.next(instant))
        except CronCalculationError:
            return None


class Calendar:
    """Reads expressions as a contract does; equal ones are read once.

    If a trace names its Dues, a line may have modifiers, which are not read here; then the trace has to say that a line
    is invalid. If its header says so, the trace also says when a task was last due before it was listed.
    """

    def __init__(self, header: TraceHeader, suite: PropertySuite, *, adds_due: bool) -> None:
        self._terms = {
            "timezone": header.timezone,
            "dialect": "extended" if header.names_dues else "posix",
            "repeated": suite.repeated,
        }
        self._is_told, self._believes = header.names_dues, header.names_dues or not adds_due
        self._blanks = {ord(blank): " " for blank in suite.blanks}
        self.last_dues: Mapping[str, int] = {}  # of the list that is taken just now
        self._known: dict[str, DueTimes | None] = {}
        self.times("* * * * *")  # an unknown zone is refused here

    def times(self, cron: str) -> DueTimes | None:
        """Return the due instants of an expression, None if it is not valid."""
        if cron not in self._known:
            text = cron.translate(self._blanks)
            try:
                self._known[cron] = DueTimes(Schedule(text, **self._terms))  # type: ignore[arg-type] # it checks
            except InvalidCronExpressionError:
                self._known[cron] = None
        return self._known[cron]

    def times_of(self, registration: TracedTask) -> DueTimes | None:
        """Return the due instants of a task of the current list, as far as this trace lets them be known."""
        if self._is_told:
            return DueTimes(None, self.last_dues.get(registration.name))
        return self.times(registration.cron)

    def is_valid(self, registrations: Sequence[TracedTask]) -> bool:
        """Whether a list may be accepted: no name twice, each with a schedule that comes and a delay that passes."""
        names = {registration.name for registration in registrations}
        return (
            len(names) == len(registrations)
            and all(names)
            and all(self._is_schedule(each.cron) for each in registrations)
            and all(0 <= each.retry_delay_ms <= _LONGEST for each in registrations)  # not a number is neither
        )

    def _is_schedule(self, cron: str) -> bool:
        return (self._believes and "@" in cron[1:]) or self.times(cron) is not None


def minute_of(t: int) -> int:
    """Return the beginning of the minute that an instant lies in."""
    return t - t % MINUTE


def is_far_ahead(at: int, clock: int) -> bool:
    """Whether an instant is one of a clock that was wrong: then the present one takes its place."""
    return at - clock > AHEAD
