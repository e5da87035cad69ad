"""sentence(records, account, at) -> str: what became of a KronJob's period, beginning with Yes or No."""

from kron.cron.wall_text import brief_text
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.decide import decide
from kron.decision.seed import period_id
from kron.errors import CronCalculationError, OutOfRangeError
from kron.instant import Instant
from kron.rules.coming import effective
from kron.rules.kronjob.account import Account, Records, Source, Why
from kron.rules.kronjob.reading import read_kronjob, told

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
    asked = brief_text(zone, at)
    if records.kronjob is None:
        errors = read_kronjob(records.document)
        assert isinstance(errors, list)
        return f"No: nothing is recorded at {asked}, and the spec is invalid: {told(errors).splitlines()[0]}."
    before, after = (_neighbour(records, at, zone, is_after=is_after) for is_after in (False, True))
    name = account.identity
    return (
        f"No: no period of {name} has to do with {asked}; the nearest before is {before}, the nearest after is {after}."
    )


def _period(records: Records, account: Account, zone: Zone) -> str:
    assert account.nominal is not None
    chosen, period = account.chosen, f"the period {period_id(account.nominal)}"
    if chosen is not None and chosen != account.nominal:
        period += f", due at {brief_text(zone, chosen)},"
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
        return brief_text(zone, effective(decide(timing, nominal)))
    except (CronCalculationError, OutOfRangeError, OverflowError):
        return "none"
