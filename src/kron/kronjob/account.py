"""account_of(records, instant): what a cluster says about a period of a KronJob, and sentence(account) for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kron.cron.wall_time import format_short
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import MICROSECOND, Instant, format_instant
from kron.kronjob.child_job import job_name
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import invalid_spec_message, parse_kronjob
from kron.kronjob.snapshot import ChildJob, parse_job
from kron.kronjob.status import PeriodStatus, StatusHorizon, instant_of, parse_status, trimmed_before
from kron.rules.periods import effective_time, nominal_range_around, touches_instant
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
    outage: PeriodStatus | None = None  # of which the period is one of several
    child: ChildJob | None = None  # the Job, where it is still there

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
        self._past = parse_status(records.document.get("status") or {})
        jobs = (job for job in map(parse_job, records.jobs or ()) if job.identity == records.identity and job.is_record)
        children = {job.nominal: job for job in jobs if job.nominal is not None and job.chosen is not None}
        if (created := self._created()) is not None:  # as the operator does: others may write statuses and Jobs, too
            horizon = StatusHorizon.of(created, now, records.kronjob)
            self._past = self._past.within(horizon)
            children = {at: job for at, job in children.items() if job.chosen is not None and horizon.has(job.chosen)}
        self._own = {entry.first: entry for entry in self._past.periods if entry.period_count == 1}
        self._children = children

    def accounts(self) -> list[Account]:
        found = (self._account(nominal) for nominal in {*self._touching(), *self._recorded()})
        return [account for account in found if account is not None]

    def _touching(self) -> Iterator[Instant]:
        """Yield the periods of the present definition that the instant touches."""
        if self._records.kronjob is not None:
            timing = self._records.kronjob.timing
            first, last = nominal_range_around(timing, self._at)
            nominals = timing.schedule.between(first - MICROSECOND, last)
            yield from (nominal for nominal in nominals if touches_instant(timing, nominal, self._at))

    def _recorded(self) -> Iterator[Instant]:
        """Yield the periods, of whatever definition, of which something is recorded for the minute of the instant."""
        for entry in self._past.periods:
            yield from (end for end in (entry.first, entry.last) if self._is_near(end))
            if self._is_near(entry.chosen):
                yield entry.last
        for nominal, child in self._children.items():
            if any(map(self._is_near, (nominal, child.chosen, child.created))):
                yield nominal

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
        for entry in reversed(self._past.periods):
            if entry.first <= nominal <= entry.last:
                return self._told(Source.STATUS, entry.reason, outcome=entry.outcome.value, outage=entry, **known)
        return None if decision is None else self._told(Source.COMPUTED, self._why_nothing(decision).value, **known)

    def _told(self, source: Source, reason: str, **known: Any) -> Account:
        return Account(self._records.identity, source, reason, **known)

    def _job_name(self, nominal: Instant) -> str | None:
        return None if self._records.kronjob is None else job_name(self._records.kronjob, nominal)

    def _created(self) -> Instant | None:
        return instant_of((self._records.document.get("metadata") or {}).get("creationTimestamp"))

    def _why_nothing(self, decision: Decision) -> Why:
        """Return why no record tells of a period."""
        kronjob, created, due = self._records.kronjob, self._created(), effective_time(decision)
        assert kronjob is not None
        is_seen, defined = self._past.definition_hash == kronjob.definition_hash, self._past.defined_at
        if created is not None and due <= created:
            return Why.BEFORE_CREATION
        oldest = trimmed_before(self._past.periods)
        if oldest is not None and due < oldest:
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


_REASONS = {
    "ConcurrencyForbid": "an earlier Job was still running",
    "Superseded": "after an outage only the latest of the periods that are due is run",
    "DefinitionChanged": "the definition was changed, and the new one does not run it",
    "DeadlineExceeded": "it could not be started within its deadline",
    "NameTaken": "another Job has the name of its Job",
    "Rejected": "the server refuses its Job",
    "NoCandidate": "no second of its window that was tried is allowed",
}
_NOTHING = {
    Why.BEFORE_CREATION: "does not count: it lies before the creation of the KronJob",
    Why.EARLIER_DEFINITION: "does not count: it lies before the present definition",
    Why.FORGOTTEN: "is over, and is older than what the status keeps",
    Why.SUSPENDED: "waits: the KronJob is suspended",
    Why.PLANNED: "is planned",
    Why.NOT_SEEN: "has no outcome: no operator has seen this definition yet",
    Why.NOT_HANDLED: "has no outcome: no operator has judged it yet",
}
_STATES = {"running": ", which is running", "succeeded": ", which has succeeded", "failed": ", which has failed"}


def sentence(records: Records, account: Account, at: Instant) -> str:
    """Return the answer."""
    zone = UTC_ZONE if records.kronjob is None else records.kronjob.timing.schedule.zone
    if account.nominal is not None:
        return f"{'Yes' if account.ran else 'No'}: {_period(records, account, zone)}."
    asked = format_short(zone, at)
    if records.kronjob is None:
        errors = parse_kronjob(records.document)
        assert isinstance(errors, list)
        reason = invalid_spec_message(errors).splitlines()[0]
        return f"No: nothing is recorded at {asked}, and the spec is invalid: {reason}."
    before, after = (_neighbour(records, at, zone, is_after=is_after) for is_after in (False, True))
    name = account.identity
    return (
        f"No: no period of {name} has to do with {asked}; the nearest before is {before}, the nearest after is {after}."
    )


def _period(records: Records, account: Account, zone: Zone) -> str:
    assert account.nominal is not None
    chosen, period = account.chosen, f"the period {period_id(account.nominal)}"
    if chosen is not None and chosen != account.nominal:
        period += f", due at {format_short(zone, chosen)},"
    if account.source is Source.COMPUTED:
        lost = "; no second of its window that is tried is allowed" if chosen is None else ""
        return f"{period} {_NOTHING[Why(account.reason)]}{lost}"
    if account.ran:
        gone = "" if records.jobs is None else ", which is gone"
        return (
            f"{period} was executed by the Job {account.job}{_STATES[account.child.state] if account.child else gone}"
        )
    why = f" ({account.reason}): {_REASONS.get(account.reason, 'no more is known')}" if account.reason else ""
    return f"{period} was {account.outcome}{why}"


def _neighbour(records: Records, at: Instant, zone: Zone, *, is_after: bool) -> str:
    """Return when the nearest period before or after an instant, which is in no window, is due."""
    assert records.kronjob is not None
    timing = records.kronjob.timing
    try:
        nominal = timing.schedule.next(at) if is_after else timing.schedule.previous(at)
        return format_short(zone, effective_time(decide(timing, nominal)))
    except (CronCalculationError, OutOfRangeError, OverflowError):
        return "none"
