"""Evidence: what is recorded of a job around an instant, and why a period may have no record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kron.decision.timing import Timing
from kron.errors import InvalidDefinitionError
from kron.instant import Instant, format_instant
from kron.rules.history import NoRecordReason, RunRow
from kron.rules.job_record import JobRecord
from kron.rules.job_spec import parse_definition, parse_timing


def ahead_text(until: Instant) -> str:
    """Return why a job does nothing before an instant."""
    return f"handled while the clock was ahead, until {_second(until)}"


class RecordedPeriod(NamedTuple):
    """A period with an outcome, or a run without a period: its row, and its definition then."""

    nominal: Instant | None
    row: RunRow
    definition: str | None  # its text; None: only the one in force is known


@dataclass(frozen=True, slots=True)
class NoRecord:
    """Why nothing is recorded of the periods of the definition in force that are due in a span of time."""

    reason: NoRecordReason
    detail: str
    after: Instant | None = None  # excluded
    until: Instant | None = None  # included
    before: Instant | None = None  # excluded

    def covers(self, due: Instant) -> bool:
        """Whether a period that is due then is one of them."""
        if self.after is not None and due <= self.after:
            return False
        return (self.until is None or due <= self.until) and (self.before is None or due < self.before)


class Evidence(NamedTuple):
    """A question about a job, and what a ledger or a cluster knows."""

    identity: str
    name: str
    timing: Timing | None  # of the definition in force, or of the last one; None: it has no periods
    definition: str | None  # its text, where it is recorded
    at: Instant
    now: Instant
    no_record: Sequence[NoRecord]  # of those that cover a period, the first holds; the last covers all
    touching: Sequence[
        RecordedPeriod
    ] = ()  # periods with the instant in their minute or their window; each attempt of them
    started: Sequence[RecordedPeriod] = ()  # attempts that began within the minute of the instant
    nearest: Sequence[RecordedPeriod] = ()  # the nearest records before and after; they may be ranges
    ahead_until: Instant | None = None  # until when periods to come are handled already: the clock was ahead


def evidence_of_job(
    record: JobRecord, definition: str, at: Instant, now: Instant, recorded_ahead: Instant | None = None
) -> Evidence:
    """Return the evidence that the record of a job is by itself.

    `recorded_ahead` is the latest second of a period that was recorded at an instant to come.
    """
    try:
        timing: Timing | None = parse_timing(record.identity, definition)
    except InvalidDefinitionError:
        timing = None
    no_record = tuple(_no_record(record, definition, now))
    served = record.handled_until if record.handled_until > now else None
    ahead = max((each for each in (served, recorded_ahead) if each is not None), default=None)
    return Evidence(record.identity, record.name, timing, definition, at, now, no_record, ahead_until=ahead)


def _no_record(record: JobRecord, definition: str, now: Instant) -> Iterator[NoRecord]:
    declared, served = record.declared_at, record.handled_until
    yield NoRecord(NoRecordReason.CLOCK_AHEAD, f"it was {ahead_text(served)}", after=now, until=served)
    since = f"the definition is in force since {_second(declared)}, and owns no earlier period"
    yield NoRecord(NoRecordReason.EARLIER_DEFINITION, since, until=declared)
    if not record.is_declared:
        yield NoRecord(NoRecordReason.REMOVED, f"the job was removed at {_second(served)}", after=served)
    kept = "it was handled, and its record is older than what the ledger keeps"
    yield NoRecord(NoRecordReason.FORGOTTEN, kept, until=served)
    if parse_definition(record.identity, definition)[1].suspend:
        yield NoRecord(NoRecordReason.SUSPENDED, "its file suspends the job")
    if record.is_suspended:
        until = record.suspended_until
        how = "by command" if until is None else f"until {_second(until)}"
        yield NoRecord(NoRecordReason.SUSPENDED, f"the job is suspended {how}", before=until)
    yield NoRecord(NoRecordReason.PLANNED, "its time has not come yet", after=now)
    due = "its time has come, and it is judged as soon as krond runs and has room for it"
    yield NoRecord(NoRecordReason.PLANNED, due)


def _second(at: Instant) -> str:
    return format_instant(at.replace(microsecond=0))
