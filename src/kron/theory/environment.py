"""Calendar: what cron, zone and contract say about a list: whether it is valid, and when its tasks are due."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from kron.cron.schedule import Schedule
from kron.errors import CronCalculationError, InvalidCronExpressionError
from kron.instant import Instant
from kron.theory.trace import Registration

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
MINUTE = 60_000
_LONGEST = timedelta.max / _MILLISECOND


class Times:
    """The due instants of one expression. Those around the last instant asked for answer for all between them."""

    __slots__ = ("_coming", "_past", "_schedule")

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._past: int | None = None
        self._coming: int | None = 0
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
            self._past, self._coming = at, self._after(_EPOCH + timedelta(milliseconds=at))
        elif (self._past is not None and at < self._past) or (self._coming is not None and at > self._coming):
            self._look(at)

    def _look(self, at: int) -> None:
        instant = _EPOCH + timedelta(milliseconds=at)
        self._coming = self._after(instant)
        try:
            self._past = (self._schedule.previous(instant) - _EPOCH) // _MILLISECOND
        except CronCalculationError:
            self._past = None

    def _after(self, instant: Instant) -> int | None:
        try:
            return (self._schedule.next(instant) - _EPOCH) // _MILLISECOND
        except CronCalculationError:
            return None


class Calendar:
    """Reads expressions as a contract does; equal ones are read once."""

    def __init__(self, timezone: str, repeated: str, blanks: str) -> None:
        self._timezone, self._repeated = timezone, repeated
        self._blanks = {ord(blank): " " for blank in blanks}
        self._known: dict[str, Times | None] = {}
        self.times("* * * * *")  # an unknown zone is refused here

    def times(self, cron: str) -> Times | None:
        """Return the due instants of an expression, None if it is not valid."""
        if cron not in self._known:
            text = cron.translate(self._blanks)
            try:
                schedule = Schedule(text, self._timezone, dialect="posix", repeated=self._repeated)  # type: ignore[arg-type] # it checks
                self._known[cron] = Times(schedule)
            except InvalidCronExpressionError:
                self._known[cron] = None
        return self._known[cron]

    def is_valid(self, registrations: Sequence[Registration]) -> bool:
        """Whether a list may be accepted: no name twice, each with a schedule that comes and a delay that passes."""
        names = {registration.name for registration in registrations}
        return (
            len(names) == len(registrations)
            and all(names)
            and all(self.times(each.cron) is not None for each in registrations)
            and all(0 <= each.retry_delay_ms <= _LONGEST for each in registrations)  # not a number is neither
        )


def minute_of(t: int) -> int:
    """Return the beginning of the minute that an instant lies in."""
    return t - t % MINUTE
