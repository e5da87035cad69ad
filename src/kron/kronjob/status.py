"""KronJobStatus: the status of a KronJob and its periods. merge_patch: what turns one status into another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.errors import InvalidInstantError
from kron.instant import LAST_INSTANT, MAX_DURATION, ZERO, Instant, format_instant, parse_instant, shift
from kron.kronjob.kronjob import KronJob
from kron.rules.job_record import PeriodRecord
from kron.rules.periods import LOOKED_AHEAD, HandledPeriods
from kron.rules.verdict import Outcome, Reason

ALWAYS_KEPT = 10  # entries, however old: people want to see the last outcomes
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

    Dropped entries are older than all that are kept, so a reader knows that nothing is missing from the oldest on.
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
_LAST = LAST_INSTANT.replace(microsecond=0)


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
        return min(shift(self.now, self.window + CORRECTION), _LAST)

    def has(self, at: Instant) -> bool:
        """Whether a period can have been handled for this chosen time; one before the creation is not the KronJob's."""
        return self.created < at <= self.end

    def saw(self, at: Instant) -> bool:
        """Whether a Job of the KronJob can have ended then; the clock that says so is that of another host."""
        return shift(self.created, -CORRECTION) <= at <= shift(self.now, CORRECTION)

    def defined_at(self, at: Instant) -> Instant:
        """Return since when a definition can be in force, as near to an instant as possible."""
        return max(self.created, min(at, self.now))

    def clip(self, entry: PeriodStatus) -> PeriodStatus | None:
        """Return the part of an entry that can be true, None if there is none."""
        if entry.first == entry.last:
            is_near = abs(entry.last - entry.effective_time) <= MAX_DURATION  # no window is longer
            return entry if is_near and self.has(entry.effective_time) else None
        first, last = max(entry.first, shift(self.created, -self.window)), min(entry.last, self.end)
        chosen = None if entry.chosen is None or not self.has(entry.chosen) else entry.chosen
        return None if first > last else entry._replace(first=first, last=last, chosen=chosen)

    def clip_all(self, entries: Iterable[PeriodStatus]) -> tuple[PeriodStatus, ...]:
        """Return what can be true of all entries, in their order."""
        return tuple(clipped for entry in entries if (clipped := self.clip(entry)) is not None)


AS_EXPECTED, INVALID_SPEC, INTERNAL_ERROR = "AsExpected", "InvalidSpec", "InternalError"
_TYPES = ("Ready", "InvalidSpec", "SchedulingError", "Unschedulable")
_BEYOND = f"none of the next {LOOKED_AHEAD:,} periods has an allowed second; later ones are beyond the look-ahead"
LONGEST_MESSAGE = 32_768  # characters of a condition's message, as for conditions of Kubernetes itself


class CreateFailure(NamedTuple):
    """Why the last Job could not be created: a word and a text."""

    reason: str
    message: str


class ObjectReference(NamedTuple):
    """A Job that runs."""

    namespace: str
    name: str
    uid: str

    def to_dict(self) -> dict[str, str]:
        """Return it as an object reference."""
        return {"apiVersion": "batch/v1", "kind": "Job", **self._asdict()}


@dataclass(frozen=True, slots=True)
class KronJobStatus:
    """The content of a KronJob's status."""

    generation: int
    definition_hash: str
    defined_at: Instant  # since when that definition is in force
    periods: tuple[PeriodStatus, ...] = ()
    suspended: bool = False
    errors: str = ""  # what is wrong with the spec
    next: Decision | None = None
    active: tuple[ObjectReference, ...] = ()
    last_successful_time: Instant | None = None
    create_failure: CreateFailure | None = None
    is_beyond: bool = False  # the next period with a chosen second lies beyond the look-ahead, if there is one

    @property
    def last(self) -> PeriodStatus | None:
        """What was handled last."""
        return self.periods[-1] if self.periods else None

    def to_dict(self, before: Mapping[str, Any], now: Instant) -> dict[str, Any]:
        """Return the status; a condition that does not turn keeps its time."""
        said: dict[str, Any] = {
            "observedGeneration": self.generation,
            "definitionHash": self.definition_hash,
            "definedAt": format_instant(self.defined_at),
            "active": [each.to_dict() for each in self.active],
            "activeJobs": len(self.active),
            "handledPeriods": [entry.to_dict() for entry in self.periods],
            "conditions": self._conditions(before, now),
        }
        if self.last is not None:
            said |= _last(self.last)
        if self.next is not None and self.next.chosen_time is not None:
            said |= {
                "nextPeriodID": self.next.period_id,
                "nextNominalTime": format_instant(self.next.nominal_time),
                "nextChosenTime": format_instant(self.next.chosen_time),
                "nextSeedHash": self.next.seed_hash,
            }
        if self.last_successful_time is not None:
            said["lastSuccessfulTime"] = format_instant(self.last_successful_time.replace(microsecond=0))
        return said

    def _conditions(self, before: Mapping[str, Any], now: Instant) -> list[dict[str, Any]]:
        earlier = {each["type"]: each for each in conditions_of(before)}
        return [self._condition(kind, earlier.get(kind, {}), now) for kind in _TYPES]

    def _condition(self, kind: str, earlier: Mapping[str, Any], now: Instant) -> dict[str, Any]:
        holds, reason, message = self._judged(kind)
        status = "True" if holds else "False"
        since = instant_of(earlier.get("lastTransitionTime")) if earlier.get("status") == status else None
        turned = now if since is None or since > now else since
        return {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message[:LONGEST_MESSAGE],
            "lastTransitionTime": format_instant(turned.replace(microsecond=0)),
            "observedGeneration": self.generation,
        }

    def _judged(self, kind: str) -> tuple[bool, str, str]:
        match kind:
            case "Ready" if self.errors:
                return False, INVALID_SPEC, "nothing starts until the spec is repaired"
            case "Ready" if self.suspended:
                return True, "Suspended", "nothing starts while it is suspended"
            case "Ready" if self.is_beyond:
                return True, "Scheduled", _BEYOND
            case "Ready":
                return True, "Scheduled", ""
            case "InvalidSpec" if self.errors:
                return True, INVALID_SPEC, self.errors
            case "SchedulingError" if self.create_failure is not None:
                return True, *self.create_failure
            case "Unschedulable" if self.last is not None and self.last.outcome is Outcome.UNSCHEDULABLE:
                return True, self.last.reason, f"{period_id(self.last.last)} has no second that its constraints allow"
        return False, AS_EXPECTED, ""


def _last(entry: PeriodStatus) -> dict[str, Any]:
    said = {
        "lastPeriodID": period_id(entry.last),
        "lastNominalTime": format_instant(entry.last),
        "lastOutcome": entry.outcome.value,
    }
    return said if entry.chosen is None else said | {"lastChosenTime": format_instant(entry.chosen)}


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch from one status to another; it is empty if nothing has changed."""
    changed = {key: value for key, value in new.items() if old.get(key) != value}
    return changed | dict.fromkeys(old.keys() - new.keys())


# --- what an earlier life wrote ---------------------------------------------------------------------------------------


class StoredStatus(NamedTuple):
    """The history in a status; empty if the operator has not written one yet."""

    definition_hash: str = ""
    defined_at: Instant | None = None
    periods: tuple[PeriodStatus, ...] = ()
    next: PeriodStatus | None = None  # the period that was to come next, as if it had been skipped
    last_successful_time: Instant | None = None
    create_failure: CreateFailure | None = None
    was_invalid: bool = False

    def within(self, horizon: StatusHorizon) -> "StoredStatus":
        """Return what of it can be true."""
        succeeded_at = self.last_successful_time
        return self._replace(
            defined_at=None if self.defined_at is None else horizon.defined_at(self.defined_at),
            periods=horizon.clip_all(self.periods),
            next=None if self.next is None else horizon.clip(self.next),
            last_successful_time=succeeded_at if succeeded_at is not None and horizon.saw(succeeded_at) else None,
        )


def parse_status(status: Mapping[str, Any]) -> StoredStatus:
    """Return what a status says; parts that cannot be read are left out."""
    true = {each["type"]: each for each in conditions_of(status) if each.get("status") == "True"}
    found = true.get("SchedulingError")
    trouble = None
    if found is not None:
        trouble = CreateFailure(str(found.get("reason"))[:LONGEST_REASON], str(found.get("message"))[:LONGEST_MESSAGE])
    nominal, chosen = (instant_of(status.get(key)) for key in ("nextNominalTime", "nextChosenTime"))
    coming = None if nominal is None else PeriodStatus(nominal, nominal, 1, chosen, Outcome.SKIPPED)
    return StoredStatus(
        str(status.get("definitionHash") or ""),
        instant_of(status.get("definedAt")),
        parse_periods(status),
        coming,
        instant_of(status.get("lastSuccessfulTime")),
        trouble,
        INVALID_SPEC in true,
    )


def active_uids(status: Mapping[str, Any]) -> set[str]:
    """Return which Jobs a status says are active."""
    found = status.get("active")
    return {str(each.get("uid")) for each in found if isinstance(each, dict)} if isinstance(found, list) else set()


def conditions_of(status: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the conditions of a status, each of which has a type."""
    found = status.get("conditions")
    listed = found if isinstance(found, list) else []
    return [each for each in listed if isinstance(each, dict) and isinstance(each.get("type"), str)]


def instant_of(text: object) -> Instant | None:
    """Return the instant that a text of the cluster names, None if it names none."""
    try:
        return parse_instant(text) if isinstance(text, str) else None
    except InvalidInstantError:
        return None
