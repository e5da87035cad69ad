"""What is recorded of a job around an instant, and what that says if the clock was ahead."""

from collections.abc import Sequence
from typing import NamedTuple

from kron.instant import Instant, format_instant
from kron.rules.history import RunRow
from kron.rules.job_record import JobRecord


def ahead_text(until: Instant) -> str:
    """Return why a job does nothing before an instant."""
    return f"handled while the clock was ahead, until {format_instant(until.replace(microsecond=0))}"


class RecordedPeriod(NamedTuple):
    """A period with an outcome, or a run without a period: the row that tells of it, and its definition then."""

    nominal: Instant | None
    row: RunRow
    definition: str  # its text


class Evidence(NamedTuple):
    """A question, and what is known."""

    record: JobRecord
    definition: str  # the text of the one in force, or of the last
    at: Instant
    now: Instant
    touching: Sequence[
        RecordedPeriod
    ] = ()  # periods with the instant in their minute or their window; each attempt of them
    started: Sequence[RecordedPeriod] = ()  # attempts that began within the minute of the instant
    nearest: Sequence[RecordedPeriod] = ()  # records that lie nearest, before and after; they may be ranges
    recorded_ahead: Instant | None = None  # the latest second of a period whose record is of an instant to come

    @property
    def ahead_until(self) -> Instant | None:
        """Until when periods that have not come yet are handled, None if they are not: the clock was ahead."""
        served = self.record.handled_until if self.record.handled_until > self.now else None
        return max((each for each in (served, self.recorded_ahead) if each is not None), default=None)
