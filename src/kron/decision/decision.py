"""Decision: everything about one period's choice that is needed to make it again off-line, to JSON and back."""

import json
from collections.abc import Callable, Mapping
from reprlib import repr as short_repr
from typing import NamedTuple, TypeVar

from kron.cron.zone import Zone, load_zone
from kron.decision.constraint import Clauses, Constraints
from kron.decision.definition import read_distribution, require_identity, require_text
from kron.decision.distribution import Distribution
from kron.decision.seed import Seed, SeedStrategy, period_id
from kron.decision.timing import Terms
from kron.decision.window import Window, WindowMode
from kron.errors import (
    InvalidDecisionError,
    InvalidDefinitionError,
    InvalidInstantError,
    KronError,
    UnknownTimezoneError,
    display_text,
)
from kron.errors.diagnostics import Choice, parse_choice
from kron.instant import MAX_DURATION, SECOND, Instant, format_instant, parse_instant

Value = TypeVar("Value")
_encode = json.JSONEncoder(ensure_ascii=False).encode  # made once: json.dumps would make one for every decision
ALGORITHM_VERSION = 1
MAX_ATTEMPTS = 64  # SPEC: the sampling budget is deterministic and fixed; part of algorithm version 1
NO_CANDIDATE = "no candidate accepted within MaxAttempts"
ONLY_SECOND_NOT_ALLOWED = "the only second is not allowed"


class Decision(NamedTuple):
    """The second chosen for one period, or the reason why there is none, with all that led to it.

    A named tuple over shared terms, and not a dataclass of eighteen fields: hundreds of thousands are made in a
    preview, and such a dataclass costs more to create than the whole calculation.
    """

    terms: Terms
    nominal_time: Instant
    period_key: str
    seed_hash: str
    chosen_time: Instant | None
    attempts: int
    reason: str | None

    @property
    def identity(self) -> str:
        """The stable identifier of the schedule entry."""
        return self.terms.identity

    @property
    def period_id(self) -> str:
        """The canonical name of the period."""
        return period_id(self.nominal_time)

    @property
    def window_start(self) -> Instant:
        """The first second that could be chosen."""
        return self.nominal_time + self.terms.start

    @property
    def window_end(self) -> Instant:
        """The last second that could be chosen."""
        return self.nominal_time + SECOND * self.terms.last

    @property
    def window_mode(self) -> WindowMode:
        """On which side of the nominal time the window lies."""
        return self.terms.mode

    @property
    def timezone(self) -> str:
        """The IANA name of the zone in which constraints and period keys are read."""
        return self.terms.zone.name

    @property
    def distribution(self) -> Distribution:
        """The distribution with every parameter stated."""
        return self.terms.distribution

    @property
    def seed_strategy(self) -> SeedStrategy:
        """What of the period enters the seed."""
        return self.terms.seed.strategy

    @property
    def salt(self) -> str:
        """What else enters the seed."""
        return self.terms.seed.salt

    @property
    def constraints_applied(self) -> Constraints:
        """What a candidate had to satisfy."""
        return self.terms.constraints

    @property
    def tzdata_version(self) -> str:
        """The version of the time zone database that was in use."""
        return self.terms.tzdata_version

    @property
    def algorithm_version(self) -> int:
        """The version of the calculation."""
        return ALGORITHM_VERSION

    def to_dict(self) -> dict[str, object]:
        """Return the decision as JSON holds it."""
        return {
            "identity": self.identity,
            "period_id": self.period_id,
            "period_key": self.period_key,
            "nominal_time": format_instant(self.nominal_time),
            "window_start": format_instant(self.window_start),
            "window_end": format_instant(self.window_end),
            "window_mode": self.window_mode.value,
            "chosen_time": None if self.chosen_time is None else format_instant(self.chosen_time),
            "timezone": self.timezone,
            "distribution": self.distribution.to_dict(),
            "seed_strategy": self.seed_strategy.value,
            "salt": self.salt,
            "seed_hash": self.seed_hash,
            "constraints_applied": self.constraints_applied.to_dict(),
            "attempts": self.attempts,
            "reason": self.reason,
            "algorithm_version": self.algorithm_version,
            "tzdata_version": self.tzdata_version,
        }

    def to_json(self) -> str:
        """Return the decision as one line of JSON."""
        return _encode(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Decision":
        """Return the decision that `to_json` wrote, or raise InvalidDecisionError."""
        try:
            value = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidDecisionError(field="text", reason=f"is not JSON ({display_text(str(error))})") from error
        return cls.from_dict(value)

    @classmethod
    def from_dict(cls, record: Mapping[str, object]) -> "Decision":
        """Return the decision that `to_dict` gave; fields it does not know are ignored."""
        if not isinstance(record, Mapping):
            raise InvalidDecisionError(field="text", reason="is not a JSON object")
        read = _Reader(record)
        if read("algorithm_version", _count) != ALGORITHM_VERSION:
            raise InvalidDecisionError(field="algorithm_version", reason=f"must be {ALGORITHM_VERSION}")
        nominal = read("nominal_time", _second)
        start, end = read("window_start", _second), read("window_end", _second)
        distribution = read("distribution", _distribution)
        terms = Terms(
            read("identity", require_identity),
            read("timezone", _zone),
            read("window_mode", _word(WindowMode)),
            (start - nominal) // SECOND,
            (end - nominal) // SECOND,
            distribution,
            Seed(read("seed_strategy", _word(SeedStrategy)), read("salt", _text)),
            read("constraints_applied", _constraints),
            read("tzdata_version", _text),
        )
        decision = cls(
            terms,
            nominal,
            read("period_key", _text),
            read("seed_hash", _hash),
            read("chosen_time", lambda value: None if value is None else _second(value)),
            read("attempts", _count),
            read("reason", lambda value: None if value is None else _text(value)),
        )
        chosen = decision.chosen_time
        for consistent, field, reason in (
            (Window(terms.mode, SECOND * max(0, terms.last - terms.first)).bounds == (terms.first, terms.last),
             "window_start", "and window_end do not fit window_mode"),
            (read("period_id", _text) == period_id(nominal), "period_id", "is not the period of nominal_time"),
            (distribution == terms.distribution, "distribution", "must state every parameter"),
            (terms.last - terms.first <= MAX_DURATION // SECOND, "window_end", "lies too far from window_start"),
            (decision.attempts <= MAX_ATTEMPTS, "attempts", f"must be at most {MAX_ATTEMPTS}"),
            ((chosen is None) == (decision.reason is not None), "reason", "must be there exactly if nothing is chosen"),
            (chosen is None or start <= chosen <= end, "chosen_time", "lies outside the window"),
        ):  # fmt: skip
            if not consistent:
                raise InvalidDecisionError(field=field, reason=reason)
        return decision


class _Reader:
    """Reads one field after the other, with the field's name in every error."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record

    def __call__(self, name: str, read: Callable[[object], Value]) -> Value:
        if name not in self._record:
            raise InvalidDecisionError(field=name, reason="is missing")
        try:
            return read(self._record[name])
        except RecursionError as error:
            raise InvalidDecisionError(field=name, reason="is nested too deeply") from error
        except (KronError, TypeError, ValueError) as error:
            reason = error.reason if isinstance(error, InvalidDefinitionError) else str(error)
            found = short_repr(self._record[name])
            raise InvalidDecisionError(field=name, reason=f"{display_text(reason)}, found {found}") from error


def _text(value: object) -> str:
    return require_text("text", value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError("must be a whole number, not negative")
    return value


def _second(value: object) -> Instant:
    try:
        at = parse_instant(_text(value))
    except InvalidInstantError as error:
        raise ValueError("must be an RFC 3339 instant") from error
    if at.microsecond:
        raise ValueError("must be a whole second")
    return at


def _zone(value: object) -> Zone:
    try:
        return load_zone(_text(value))
    except UnknownTimezoneError as error:
        raise ValueError("must be an IANA time zone") from error


def _hash(value: object) -> str:
    text = _text(value)
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        raise ValueError("must be 64 lower-case hexadecimal digits")
    return text


def _word(enum: type[Choice]) -> Callable[[object], Choice]:
    return lambda value: parse_choice(enum, "word", _text(value))


def _distribution(value: object) -> Distribution:
    if not isinstance(value, Mapping) or set(value) != {"name", "params"}:
        raise TypeError("must be a table of name and params")
    return read_distribution(value)


def _constraints(value: object) -> Constraints:
    if not isinstance(value, Mapping) or set(value) != {"only", "avoid"}:
        raise TypeError("must be a table of only and avoid")
    if not all(isinstance(clauses, list) for clauses in value.values()):
        raise TypeError("must hold lists of clauses")
    return Constraints(Clauses.parse(value["only"]), Clauses.parse(value["avoid"]))
