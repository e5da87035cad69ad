"""occurrences(schedule, at) -> instants: all nominal times after an instant, until the calendar ends."""

from collections.abc import Iterator

from kron.cron.schedule import Schedule
from kron.errors import CronCalculationError
from kron.instant import Instant


def occurrences(schedule: Schedule, at: Instant) -> Iterator[Instant]:
    """Yield nominal times strictly after `at`; if there is none at all, raise CronCalculationError."""
    at = schedule.next(at)
    while True:
        yield at
        try:
            at = schedule.next(at)
        except CronCalculationError:
            return
