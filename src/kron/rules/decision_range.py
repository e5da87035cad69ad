"""DecisionRange: the decisions of neighbouring periods as a schedule line, the first, the last and their number."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.decision.timing import Timing
from kron.errors import InvalidDecisionError, InvalidInstantError, KronError, display_text
from kron.instant import MICROSECOND, Instant, format_instant, parse_instant
from kron.rules.job_record import PeriodRecord

FIELD = "decisions"  # of the event of a range


@dataclass(frozen=True, slots=True)
class DecisionRange:
    """All periods that a schedule line names from the first to the last; each decision can be computed from it."""

    identity: str
    definition: str  # the schedule line: everything that influences a decision but the identity
    first: Instant  # nominal times
    last: Instant
    count: int

    @classmethod
    def of(cls, timing: Timing, record: PeriodRecord) -> "DecisionRange":
        """Return the decisions of a record about several periods."""
        return cls(record.identity, timing.to_line(), record.first, record.last, record.period_count)

    def to_dict(self) -> dict[str, object]:
        """Return the range as the field `decisions` of an event holds it."""
        return {
            "identity": self.identity,
            "definition": self.definition,
            "first_period_id": format_instant(self.first),
            "last_period_id": format_instant(self.last),
            "count": self.count,
        }

    @classmethod
    def from_dict(cls, record: object) -> "DecisionRange":
        """Return the range that `to_dict` gave, or raise InvalidDecisionError."""
        if not isinstance(record, Mapping):
            raise InvalidDecisionError(field=FIELD, reason="is not a JSON object")
        identity, definition = (_text(record, key) for key in ("identity", "definition"))
        first, last = (_nominal(record, key) for key in ("first_period_id", "last_period_id"))
        count = record.get("count")
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise _wrong(record, "count", "must be a whole number from 1 on")
        if first > last:
            raise _wrong(record, "first_period_id", "must not be later than last_period_id")
        return cls(identity, definition, first, last, count)

    def contradiction(self) -> str | None:
        """Return what the definition says otherwise, None if it names these periods; InvalidDecisionError as below.

        They are counted, not listed: a forged range of a few bytes may name billions.
        """
        schedule, before = self._timing().schedule, self.first - MICROSECOND
        for key, at in (("first_period_id", self.first), ("last_period_id", self.last)):
            if schedule.count(at - MICROSECOND, at) == 0:
                where = f"{FIELD}.{key} of {self.identity} is {format_instant(at)}"
                return f"{where}, which the definition does not name"
        if (number := schedule.count(before, self.last)) != self.count:
            found = display_text(f"{self.count:,}")
            return f"{FIELD}.count of {self.identity} is {found}, and the definition names {number:,}"
        return None

    def decisions(self) -> Iterator[Decision]:
        """Yield the decision of each period in the order of nominal times; InvalidDecisionError if they cannot be."""
        timing = self._timing()
        for nominal in timing.schedule.between(self.first - MICROSECOND, self.last):
            yield decide(timing, nominal)

    def _timing(self) -> Timing:
        try:
            _ = self.first - MICROSECOND
            return Timing.parse(self.definition, identity=self.identity)
        except OverflowError as error:
            raise InvalidDecisionError(field=f"{FIELD}.first_period_id", reason="lies before the calendar") from error
        except KronError as error:
            reason = f"cannot be read: {display_text(error.message)}"
            raise InvalidDecisionError(field=f"{FIELD}.definition", reason=reason) from error


def _text(record: Mapping[str, object], key: str) -> str:
    found = record.get(key)
    if not isinstance(found, str):
        raise _wrong(record, key, "must be a text")
    return found


def _nominal(record: Mapping[str, object], key: str) -> Instant:
    try:
        at = parse_instant(_text(record, key))
    except InvalidInstantError as error:
        raise _wrong(record, key, "must be an RFC 3339 instant") from error
    if at.microsecond:
        raise _wrong(record, key, "must be a whole second")
    return at


def _wrong(record: Mapping[str, object], key: str, reason: str) -> InvalidDecisionError:
    found = f"found {short_repr(record[key])}" if key in record else "and is missing"
    return InvalidDecisionError(field=f"{FIELD}.{key}", reason=f"{reason}, {found}")
