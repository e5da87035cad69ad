"""KronJobStatus: the status of a KronJob. merge_patch(old, new) -> what has to be written to turn one into another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kron.decision.decision import Decision
from kron.decision.seed import period_id
from kron.errors import InvalidInstantError
from kron.instant import Instant, format_instant, parse_instant
from kron.kronjob.period_status import LONGEST_REASON, PeriodStatus, StatusHorizon, parse_periods
from kron.rules.next_run import LOOKED_AHEAD
from kron.rules.verdict import Outcome

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
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }


@dataclass(frozen=True, slots=True)
class KronJobStatus:
    """All that a status tells of a KronJob."""

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
    """What a status says of the time before: nothing, if nobody has written one yet."""

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
