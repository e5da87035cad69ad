"""Inquiry: somebody asks whether a job ran at an instant, and what the ledger has to tell about that."""

from collections.abc import Sequence
from typing import NamedTuple

from kron.instant import Instant
from kron.rules.history_row import HistoryRow
from kron.rules.job_record import JobRecord


class Told(NamedTuple):
    """A period with an outcome, or a run without a period: the row that tells of it, and its definition then."""

    nominal: Instant | None
    row: HistoryRow
    definition: str  # its text


class Inquiry(NamedTuple):
    """A question, and what is known."""

    record: JobRecord
    definition: str  # the text of the one in force, or of the last
    at: Instant
    now: Instant
    touching: Sequence[Told] = ()  # periods with the instant in their minute or their window; each attempt of them
    begun: Sequence[Told] = ()  # attempts that began within the minute of the instant
    near: Sequence[Told] = ()  # records that lie nearest, before and after; they may be ranges
    recorded_ahead: Instant | None = None  # the latest second of a period whose record is of an instant to come

    @property
    def ahead_until(self) -> Instant | None:
        """Until when periods that have not come yet are handled, None if they are not: the clock was ahead."""
        served = self.record.served if self.record.served > self.now else None
        return max((each for each in (served, self.recorded_ahead) if each is not None), default=None)
