"""Elements of `status.handledPeriods`: reading, writing, merging, trimming and clipping them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from kron.decision.seed import period_id
from kron.errors import InvalidInstantError
from kron.instant import MAX_DURATION, ZERO, Instant, format_instant, parse_instant
from kron.kronjob.kronjob import KronJob
from kron.rules.job_record import PeriodRecord
from kron.rules.periods import HandledPeriods
from kron.rules.verdict import Outcome, Reason

ALWAYS_KEPT = 10  # entries, however old: people want to see what became of the last periods
MOST_ENTRIES = 2_000  # of a status: twice the periods that a window with its deadline may span
MOST_COUNTED = 2**31 - 1  # periods of an outage: of one a second, 68 years
LONGEST_REASON = 64  # characters: ours are words

NAME_TAKEN, REJECTED, DEADLINE_EXCEEDED = "NameTaken", "Rejected", "DeadlineExceeded"
NO_CANDIDATE, SUPERSEDED, DEFINITION_CHANGED = "NoCandidate", "Superseded", "DefinitionChanged"
STATUS_REASONS = {
    Reason.ACTIVE.value: "ConcurrencyForbid",
    Reason.SUPERSEDED.value: SUPERSEDED,
    Reason.DEFINITION_CHANGED.value: DEFINITION_CHANGED,
    Reason.DEADLINE.value: DEADLINE_EXCEEDED,
    Reason.DOWNTIME.value: DEADLINE_EXCEEDED,
}


class PeriodStatus(NamedTuple):
    """One element of `status.handledPeriods`."""

    first: Instant  # nominal times
    last: Instant
    period_count: int
    chosen: Instant | None  # of the last
    outcome: Outcome
    reason: str = ""

    @classmethod
    def of(cls, record: PeriodRecord) -> "PeriodStatus":
        """Return what a status says of periods that were closed without a Job."""
        reason = status_reason(record.outcome, record.reason)
        return cls(record.first, record.last, record.period_count, record.chosen, record.outcome, reason)

    @property
    def effective_time(self) -> Instant:
        """What it is ordered by: the chosen time, or where there is none, the nominal one."""
        return self.last if self.chosen is None else self.chosen

    def to_dict(self) -> dict[str, Any]:
        """Return it as a status has it."""
        said: dict[str, Any] = {"periodID": period_id(self.first)}
        if self.chosen is not None:
            said["chosenTime"] = format_instant(self.chosen)
        if self.period_count > 1:
            said |= {"lastPeriodID": period_id(self.last), "count": self.period_count}
        return said | {"outcome": self.outcome.value, "reason": self.reason}


def status_reason(outcome: Outcome, reason: str) -> str:
    """Return the word of a status for a reason."""
    return NO_CANDIDATE if outcome is Outcome.UNSCHEDULABLE else STATUS_REASONS[reason]


def parse_periods(status: Mapping[str, Any]) -> tuple[PeriodStatus, ...]:
    """Return the entries of a status, of too many the last; what is not one, a stranger wrote, and it is left out."""
    found = status.get("handledPeriods")
    listed = found[-MOST_ENTRIES:] if isinstance(found, list) else []
    entries = (_read(each) for each in listed if isinstance(each, dict))
    return tuple(entry for entry in entries if entry is not None)


def _read(given: Mapping[str, Any]) -> PeriodStatus | None:
    chosen, number = given.get("chosenTime"), given.get("count", 1)
    try:
        first = parse_instant(given.get("periodID", ""))
        last = parse_instant(given["lastPeriodID"]) if given.get("lastPeriodID") else first
        at = None if chosen is None else parse_instant(chosen)
        counted = min(max(int(number), 1), MOST_COUNTED)
        reason = str(given.get("reason") or "")[:LONGEST_REASON]
        return PeriodStatus(first, last, counted, at, Outcome(given.get("outcome")), reason) if first <= last else None
    except (InvalidInstantError, ValueError, TypeError, OverflowError):
        return None


def trimmed_before(listed: Sequence[PeriodStatus]) -> Instant | None:
    """Return before which time periods may have been listed, and dropped since; None: of a short list nothing was."""
    return min(entry.effective_time for entry in listed) if len(listed) >= ALWAYS_KEPT else None


def handled_periods(entries: Iterable[PeriodStatus]) -> HandledPeriods:
    """Return the periods that have their outcome."""
    return HandledPeriods(tuple((entry.first, entry.last) for entry in entries))


def new_periods(theirs: Iterable[PeriodStatus], known: HandledPeriods) -> list[PeriodStatus]:
    """Return those of their entries whose periods have no outcome that we know; of equal ones the first."""
    firsts = set[Instant]()
    found = []
    for entry in theirs:
        if entry.first not in firsts and not known.has(entry.first):
            firsts.add(entry.first)
            found.append(entry)
    return found


def merge_periods(theirs: Sequence[PeriodStatus], ours: Iterable[PeriodStatus]) -> tuple[PeriodStatus, ...]:
    """Return all entries; of a period that both have, the one that was there first counts."""
    return (*theirs, *new_periods(ours, handled_periods(theirs)))


def trim_periods(entries: Sequence[PeriodStatus], now: Instant, span: timedelta) -> tuple[PeriodStatus, ...]:
    """Return the entries that are younger than the span, and in any case the youngest few, in the order they had.

    Of more than a status holds, the youngest stay: a definition has no more in its span, but forged Jobs may add any.

    What is dropped is older than all that is kept: whoever reads them knows that from the oldest on nothing is missing.
    """
    if len(entries) <= ALWAYS_KEPT:
        return tuple(entries)
    times = sorted(entry.effective_time for entry in entries)
    oldest = times[-ALWAYS_KEPT]
    limit = max(oldest if now - oldest > span else now - span, times[-MOST_ENTRIES:][0])
    return tuple(entry for entry in entries if entry.effective_time >= limit)[-MOST_ENTRIES:]


def served_until(listed: Sequence[PeriodStatus], declared_at: Instant) -> Instant:
    """Return an instant up to which all is handled; of what is chosen after it, what a status does not list is not.

    Of a short list nothing was dropped, so that it hides nothing.
    """
    return max(declared_at, trimmed_before(listed) or declared_at)


# How far ahead of the clock an entry may be: so much a clock can be set back, or another replica's can be ahead, before
# a period that has its outcome is forgotten and may run a second time.
CORRECTION = timedelta(days=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(microsecond=0, tzinfo=UTC)


class StatusHorizon(NamedTuple):
    """The bounds for one KronJob: its creation, and the present with its window and a correction of the clock.

    Everyone who may write a status, or a Job in the namespace, may write any instant there.
    """

    created: Instant
    now: Instant
    window: timedelta

    @classmethod
    def of(cls, created: Instant, now: Instant, kronjob: KronJob | None) -> "StatusHorizon":
        """Return the bounds for a KronJob; None: its spec is wrong, and it has no window."""
        return cls(created, now, ZERO if kronjob is None else kronjob.timing.window.duration)

    @property
    def end(self) -> Instant:
        """The latest instant that an entry can speak of."""
        return _moved(self.now, self.window + CORRECTION)

    def has(self, at: Instant) -> bool:
        """Whether a period can have been handled for this chosen time; one before the creation is not the KronJob's."""
        return self.created < at <= self.end

    def saw(self, at: Instant) -> bool:
        """Whether a Job of the KronJob can have ended then; the clock that says so is that of another host."""
        return _moved(self.created, -CORRECTION) <= at <= _moved(self.now, CORRECTION)

    def defined_at(self, at: Instant) -> Instant:
        """Return since when a definition can be in force, as near to an instant as possible."""
        return max(self.created, min(at, self.now))

    def clip(self, entry: PeriodStatus) -> PeriodStatus | None:
        """Return the part of an entry that can be true, None if there is none."""
        if entry.first == entry.last:
            is_near = abs(entry.last - entry.effective_time) <= MAX_DURATION  # no window is longer
            return entry if is_near and self.has(entry.effective_time) else None
        first, last = max(entry.first, _moved(self.created, -self.window)), min(entry.last, self.end)
        chosen = None if entry.chosen is None or not self.has(entry.chosen) else entry.chosen
        return None if first > last else entry._replace(first=first, last=last, chosen=chosen)

    def clip_all(self, entries: Iterable[PeriodStatus]) -> tuple[PeriodStatus, ...]:
        """Return what can be true of all entries, in their order."""
        return tuple(clipped for entry in entries if (clipped := self.clip(entry)) is not None)


def _moved(at: Instant, by: timedelta) -> Instant:
    """Return an instant so much later, or the end of the calendar."""
    try:
        return at + by
    except OverflowError:
        return _LAST if by > timedelta() else _FIRST
