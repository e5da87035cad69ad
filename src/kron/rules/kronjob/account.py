"""account_of(records, at, now) -> Account: what became of a KronJob's period, or will, and who says so.

The status of the KronJob is asked first, then the Jobs that are there; where neither knows, the decision is computed,
and the reason says why nothing is recorded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import MICROSECOND, Instant, format_instant
from kron.rules.coming import effective
from kron.rules.inside import reach, touches
from kron.rules.kronjob.child import job_name
from kron.rules.kronjob.children import Child, children_of, instant_of
from kron.rules.kronjob.entry import Entry, is_forgotten
from kron.rules.kronjob.kronjob import KronJob
from kron.rules.kronjob.status import read_past
from kron.rules.verdict import Outcome


class Source(Enum):
    """Who says what became of a period."""

    STATUS = "status"
    JOB = "job"
    COMPUTED = "computed"


class Why(Enum):
    """Why nothing is recorded."""

    NO_PERIOD = "NoPeriod"
    INVALID_SPEC = "InvalidSpec"
    BEFORE_CREATION = "BeforeCreation"
    EARLIER_DEFINITION = "EarlierDefinition"
    FORGOTTEN = "Forgotten"
    SUSPENDED = "Suspended"
    PLANNED = "Planned"
    NOT_SEEN = "NotSeen"
    NOT_HANDLED = "NotHandled"


@dataclass(frozen=True, slots=True)
class Account:
    """One period: what became of it. Without a nominal time there is no period to tell of."""

    identity: str
    source: Source
    reason: str
    nominal: Instant | None = None
    chosen: Instant | None = None
    outcome: str | None = None
    job: str | None = None
    decision: Decision | None = None  # by the present definition, where it names the period
    outage: Entry | None = None  # of which the period is one of several
    child: Child | None = None  # the Job, where it is still there

    @property
    def ran(self) -> bool:
        """Whether a Job was created for it."""
        return self.outcome == Outcome.EXECUTED.value

    def to_dict(self) -> dict[str, object]:
        """Return the account as JSON holds it."""
        return {
            "identity": self.identity,
            "period_id": None if self.nominal is None else period_id(self.nominal),
            "nominal_time": _text(self.nominal),
            "chosen_time": _text(self.chosen),
            "outcome": self.outcome,
            "reason": self.reason,
            "source": self.source.value,
            "job": self.job,
        }


@dataclass(frozen=True, slots=True)
class Records:
    """What is known of a KronJob: the resource as the server has it, what it means if it is valid, and its Jobs."""

    identity: str
    document: Mapping[str, Any]
    kronjob: KronJob | None
    jobs: Sequence[Mapping[str, Any]] | None = ()  # None: nobody may see them


def account_of(records: Records, at: Instant, now: Instant) -> Account:
    """Return the account of the period that is meant by an instant.

    It is the one that was chosen for it, else that whose nominal time it is, else of all that it touches the nearest.
    """
    found = _Asking(records, at, now).accounts()
    if found:
        return min(found, key=lambda account: _distance(account, at))
    why = Why.INVALID_SPEC if records.kronjob is None else Why.NO_PERIOD
    return Account(records.identity, Source.COMPUTED, why.value)


def _distance(account: Account, at: Instant) -> tuple[object, ...]:
    second, nominal = at.replace(microsecond=0), account.nominal
    assert nominal is not None
    return account.chosen != second, nominal != second, abs((account.chosen or nominal) - second), nominal


class _Asking:
    """One question: the periods that have to do with an instant."""

    def __init__(self, records: Records, at: Instant, now: Instant) -> None:
        self._records, self._at, self._now = records, at, now
        self._past = read_past(records.document.get("status") or {})
        self._own = {entry.first: entry for entry in self._past.entries if entry.number == 1}
        self._children = {child.nominal: child for child in children_of(records.identity, records.jobs or ())}

    def accounts(self) -> list[Account]:
        found = (self._account(nominal) for nominal in {*self._touching(), *self._recorded()})
        return [account for account in found if account is not None]

    def _touching(self) -> Iterator[Instant]:
        """Yield the periods of the present definition that the instant touches."""
        if self._records.kronjob is not None:
            timing = self._records.kronjob.timing
            first, last = reach(timing, self._at)
            nominals = timing.schedule.between(first - MICROSECOND, last)
            yield from (nominal for nominal in nominals if touches(timing, nominal, self._at))

    def _recorded(self) -> Iterator[Instant]:
        """Yield the periods, of whatever definition, of which something is recorded for the minute of the instant."""
        for entry in self._past.entries:
            yield from (end for end in (entry.first, entry.last) if self._is_near(end))
            if self._is_near(entry.chosen):
                yield entry.last
        for child in self._children.values():
            if any(map(self._is_near, (child.nominal, child.chosen, child.created))):
                yield child.nominal

    def _is_near(self, time: Instant | None) -> bool:
        return time is not None and time.replace(second=0, microsecond=0) == self._at.replace(second=0, microsecond=0)

    def _decision(self, nominal: Instant) -> Decision | None:
        """Return what the present definition decides, None if it has no such period."""
        kronjob = self._records.kronjob
        try:
            if kronjob is None or kronjob.timing.schedule.previous(nominal) != nominal:
                return None
            return decide(kronjob.timing, nominal)
        except (OutOfRangeError, CronCalculationError):  # the calendar ends, or begins
            return None

    def _account(self, nominal: Instant) -> Account | None:
        """Return what an entry of its own, a Job, or an outage, which names its ends only, says of a period."""
        child, own, decision = self._children.get(nominal), self._own.get(nominal), self._decision(nominal)
        chosen = child.chosen if child else decision and decision.chosen_time
        known: dict[str, Any] = {"nominal": nominal, "chosen": chosen, "decision": decision, "child": child}
        if own is not None:
            name = self._job_name(nominal) if own.outcome is Outcome.EXECUTED else None
            known |= {"chosen": own.chosen or chosen, "job": child.name if child else name}
            return self._told(Source.STATUS, own.reason, outcome=own.outcome.value, **known)
        if child is not None:
            return self._told(Source.JOB, "", outcome=Outcome.EXECUTED.value, job=child.name, **known)
        for entry in reversed(self._past.entries):
            if entry.first <= nominal <= entry.last:
                return self._told(Source.STATUS, entry.reason, outcome=entry.outcome.value, outage=entry, **known)
        return None if decision is None else self._told(Source.COMPUTED, self._why_nothing(decision).value, **known)

    def _told(self, source: Source, reason: str, **known: Any) -> Account:
        return Account(self._records.identity, source, reason, **known)

    def _job_name(self, nominal: Instant) -> str | None:
        return None if self._records.kronjob is None else job_name(self._records.kronjob, nominal)

    def _why_nothing(self, decision: Decision) -> Why:
        """Return why no record tells of a period."""
        kronjob, document, due = self._records.kronjob, self._records.document, effective(decision)
        assert kronjob is not None
        created = instant_of((document.get("metadata") or {}).get("creationTimestamp"))
        is_seen, defined = self._past.definition_hash == kronjob.definition_hash, self._past.defined_at
        if created is not None and due <= created:
            return Why.BEFORE_CREATION
        if is_forgotten(due, self._past.entries):
            return Why.FORGOTTEN
        if is_seen and defined is not None and due <= defined:
            return Why.EARLIER_DEFINITION
        if kronjob.policy.suspend:
            return Why.SUSPENDED
        if due > self._now:
            return Why.PLANNED
        return Why.NOT_HANDLED if is_seen else Why.NOT_SEEN


def _text(at: Instant | None) -> str | None:
    return None if at is None else format_instant(at)
