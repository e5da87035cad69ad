"""Entry: what a status remembers of a period, or of an outage of several, and how long it has to."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from kron.decision.seed import period_id
from kron.errors import InvalidInstantError
from kron.instant import Instant, format_instant, parse_instant
from kron.rules.handled import Handled
from kron.rules.verdict import Outcome, Reason

ALWAYS_KEPT = 10  # entries, however old: people want to see what became of the last periods
MOST_ENTRIES = 2_000  # of a status: twice the periods that a window with its deadline may span
MOST_COUNTED = 2**31 - 1  # periods of an outage: of one a second, 68 years
LONGEST_REASON = 64  # characters: ours are words

NAME_TAKEN, REJECTED, DEADLINE_EXCEEDED = "NameTaken", "Rejected", "DeadlineExceeded"
NO_CANDIDATE, SUPERSEDED, DEFINITION_CHANGED = "NoCandidate", "Superseded", "DefinitionChanged"
_WORDS = {
    Reason.ACTIVE.value: "ConcurrencyForbid",
    Reason.SUPERSEDED.value: SUPERSEDED,
    Reason.DEFINITION_CHANGED.value: DEFINITION_CHANGED,
    Reason.DEADLINE.value: DEADLINE_EXCEEDED,
    Reason.DOWNTIME.value: DEADLINE_EXCEEDED,
}


class Entry(NamedTuple):
    """One element of `status.handledPeriods`."""

    first: Instant  # nominal times
    last: Instant
    number: int
    chosen: Instant | None  # of the last
    outcome: Outcome
    reason: str = ""

    @property
    def at(self) -> Instant:
        """What it is ordered by: the chosen time, or where there is none, the nominal one."""
        return self.last if self.chosen is None else self.chosen

    def to_dict(self) -> dict[str, Any]:
        """Return it as a status has it."""
        said: dict[str, Any] = {"periodID": period_id(self.first)}
        if self.chosen is not None:
            said["chosenTime"] = format_instant(self.chosen)
        if self.number > 1:
            said |= {"lastPeriodID": period_id(self.last), "count": self.number}
        return said | {"outcome": self.outcome.value, "reason": self.reason}


def reason_word(outcome: Outcome, reason: str) -> str:
    """Return the word of a status for a reason."""
    return NO_CANDIDATE if outcome is Outcome.UNSCHEDULABLE else _WORDS[reason]


def read_entries(status: Mapping[str, Any]) -> tuple[Entry, ...]:
    """Return the entries of a status, of too many the last; what is not one, a stranger wrote, and it is left out."""
    found = status.get("handledPeriods")
    listed = found[-MOST_ENTRIES:] if isinstance(found, list) else []
    entries = (_read(each) for each in listed if isinstance(each, dict))
    return tuple(entry for entry in entries if entry is not None)


def _read(given: Mapping[str, Any]) -> Entry | None:
    chosen, number = given.get("chosenTime"), given.get("count", 1)
    try:
        first = parse_instant(given.get("periodID", ""))
        last = parse_instant(given["lastPeriodID"]) if given.get("lastPeriodID") else first
        at = None if chosen is None else parse_instant(chosen)
        counted = min(max(int(number), 1), MOST_COUNTED)
        reason = str(given.get("reason") or "")[:LONGEST_REASON]
        return Entry(first, last, counted, at, Outcome(given.get("outcome")), reason) if first <= last else None
    except (InvalidInstantError, ValueError, TypeError, OverflowError):
        return None


def is_forgotten(at: Instant, listed: Sequence[Entry]) -> bool:
    """Whether a period of that time may have been listed, and dropped since: of a short list nothing was."""
    return len(listed) >= ALWAYS_KEPT and all(at < entry.at for entry in listed)


def handled_of(entries: Iterable[Entry]) -> Handled:
    """Return the periods that have their outcome."""
    return Handled(tuple((entry.first, entry.last) for entry in entries))


def unknown(theirs: Iterable[Entry], known: Handled) -> list[Entry]:
    """Return those of their entries whose periods have no outcome that we know; of equal ones the first."""
    firsts = set[Instant]()
    found = []
    for entry in theirs:
        if entry.first not in firsts and not known.has(entry.first):
            firsts.add(entry.first)
            found.append(entry)
    return found


def joined(theirs: Sequence[Entry], ours: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return all entries; of a period that both have, the one that was there first counts."""
    return (*theirs, *unknown(ours, handled_of(theirs)))


def kept(entries: Sequence[Entry], now: Instant, span: timedelta) -> tuple[Entry, ...]:
    """Return the entries that are younger than the span, and in any case the youngest few, in the order they had.

    Of more than a status holds, the youngest stay: a definition has no more in its span, but forged Jobs may add any.

    What is dropped is older than all that is kept: whoever reads them knows that from the oldest on nothing is missing.
    """
    if len(entries) <= ALWAYS_KEPT:
        return tuple(entries)
    times = sorted(entry.at for entry in entries)
    oldest = times[-ALWAYS_KEPT]
    limit = max(oldest if now - oldest > span else now - span, times[-MOST_ENTRIES:][0])
    return tuple(entry for entry in entries if entry.at >= limit)[-MOST_ENTRIES:]


def served(entries: Sequence[Entry], declared_at: Instant) -> Instant:
    """Return an instant up to which all is handled; of what is chosen after it, what is not listed is not."""
    oldest = min((entry.at for entry in entries), default=declared_at)
    return max(oldest, declared_at)
