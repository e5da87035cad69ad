"""SPEC: every field of a spec once, with its type, default, reader and limits; the hash of a definition."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from hashlib import sha256
from itertools import islice
from typing import Any

from kron.cron.dialect import EXTENDED
from kron.cron.expression import MAX_TEXT_LENGTH, parse
from kron.cron.schedule import GapPolicy, RepeatedPolicy, Schedule
from kron.cron.zone import load_zone
from kron.decision.bounds import LONGEST_ITEM, LONGEST_PARAM, LONGEST_SALT, LONGEST_ZONE, MOST_PARAMS, MOST_VALUES
from kron.decision.constraint import Clauses, Constraints
from kron.decision.definition import check_salt, read_duration
from kron.decision.distribution import DISTRIBUTIONS
from kron.decision.seed import SeedStrategy
from kron.decision.window import WindowMode
from kron.errors import InvalidDefinitionError
from kron.errors.diagnostics import parse_choice
from kron.rules.policy import Concurrency

DURATION = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns))+)$"  # Go's form; precision is checked later
_LONGEST_DURATION = 100  # characters
_MOST_JOBS = 2**31 - 1  # what CronJob's own limits hold
_ZONES = ("TZ=", "CRON_TZ=")

Read = Callable[[str, Any], object]


@dataclass(frozen=True, slots=True)
class ValueField:
    """A field with a value: its type and what else the schema says, and how a value of that type is read."""

    kind: str
    description: str
    read: Read = lambda _where, given: given
    default: object = None  # None: the field has none
    schema: Mapping[str, object] = field(default_factory=dict)
    required: bool = False


@dataclass(frozen=True, slots=True)
class ObjectField:
    """A field with fields. An open one keeps those that it does not know."""

    description: str
    fields: Mapping[str, "ValueField | ObjectField"]
    is_open: bool = False
    most: int | None = None  # fields that it may have, known or not


# --- readers ----------------------------------------------------------------------------------------------------------


def _read_schedule(where: str, given: str) -> str:
    if given.strip().upper().startswith(_ZONES):
        zone = given.partition("=")[2].split()[:1]
        fix = f"write timeZone: {zone[0]}" if zone else "write it as timeZone"
        raise InvalidDefinitionError(field=where, found=given, reason="must not name a time zone", fix=fix)
    if "@" in given.strip()[1:]:
        fix = "write @win(…) as window, @dist(…) as distribution, and so on"
        raise InvalidDefinitionError(field=where, found=given, reason="must not have modifiers", fix=fix)
    parse(given, EXTENDED)
    return given


def _read_limit(where: str, given: int) -> int:
    if not 0 <= given <= _MOST_JOBS:
        reason = f"must be a whole number from 0 to {_MOST_JOBS}"
        raise InvalidDefinitionError(field=where, found=str(given), reason=reason)
    return given


def _read_template(where: str, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return the template as it is: what a Job may say is the server's business."""
    metadata = given.get("metadata")
    parts = {"spec": given.get("spec"), "metadata": metadata}
    if isinstance(metadata, dict):
        parts |= {f"metadata.{key}": metadata.get(key) for key in ("labels", "annotations")}
    for key, part in parts.items():
        if part is None and key == "spec":
            raise InvalidDefinitionError(field=f"{where}.{key}", found="", reason="is required")
        if part is not None and not isinstance(part, dict):
            raise InvalidDefinitionError(field=f"{where}.{key}", found=str(part), reason="must be an object")
    return given


# --- the kinds of leaves ----------------------------------------------------------------------------------------------


def _choice(enum: type[Enum], default: Enum, description: str) -> ValueField:
    words = [member.value for member in enum]
    return ValueField(
        "string", description, lambda at, given: parse_choice(enum, at, given), default.value, {"enum": words}
    )


def _duration(default: str | None, description: str) -> ValueField:
    schema = {"pattern": DURATION, "maxLength": _LONGEST_DURATION}
    return ValueField(
        "string", f"{description} A duration such as 1h30m, 90s or 250ms.", read_duration, default, schema
    )


def _clauses(description: str) -> ValueField:
    schema = {"items": {"type": "string", "minLength": 1, "maxLength": LONGEST_ITEM}, "maxItems": MOST_VALUES}
    description = f"{description} Each item is one clause."
    return ValueField("array", description, lambda _where, given: Clauses.parse(given), [], schema)


def _limit(default: int, kind: str) -> ValueField:
    description = f"How many {kind} Jobs are kept; 0 keeps none."
    schema = {"format": "int32", "minimum": 0, "maximum": _MOST_JOBS}
    return ValueField("integer", description, _read_limit, default, schema)


def _word(description: str, longest: int = LONGEST_PARAM) -> ValueField:
    return ValueField("string", description, schema={"maxLength": longest})


_NUMBER = "A finite number above 0."
PARAMS = ObjectField(
    "Parameters of the distribution; one that it does not take is an error.",
    {
        "shape": ValueField("number", f"Of skewEarly and skewLate: how skewed. {_NUMBER} Without it: 2."),
        "lambda": ValueField("number", f"Of exponential: how fast it falls. {_NUMBER} Without it: 1."),
        "dir": _word("Of exponential: early or late, the end where most runs are. Without it: early."),
        "mu": _word("Of normal: nominal, start, mid or end. Without it: nominal if around, mid if after."),
        "sigma": _word("Of normal: a duration above 0s. Without it: a sixth of the window.", _LONGEST_DURATION),
    },
    is_open=True,
    most=MOST_PARAMS,
)
SPEC = ObjectField(
    "The job, its schedule, and the policy for late and overlapping runs.",
    {
        "schedule": ValueField(
            "string",
            "Five cron fields (minute, hour, day, month, weekday) with steps and names, or a macro such as @daily; "
            "the zone is in timeZone.",
            _read_schedule,
            schema={"minLength": 1, "maxLength": MAX_TEXT_LENGTH, "pattern": "^[^=()]+$"},
            required=True,
        ),
        "timeZone": ValueField(
            "string",
            "The IANA time zone of the schedule and the constraints.",
            lambda _where, given: load_zone(given).name,
            "UTC",
            {"minLength": 1, "maxLength": LONGEST_ZONE},
        ),
        "gap": _choice(
            GapPolicy, GapPolicy.SKIP, "What a minute that the clocks jump over means: no run, or one after the gap."
        ),
        "repeated": _choice(
            RepeatedPolicy, RepeatedPolicy.BOTH, "What a minute that occurs twice means: two runs, or one."
        ),
        "window": ObjectField(
            "Where around its nominal time a run may fall.",
            {
                "mode": _choice(WindowMode, WindowMode.AFTER, "On which side of the nominal time the window lies."),
                "duration": _duration("0s", "How long the window is."),
            },
        ),
        "distribution": ObjectField(
            "How the seconds of the window are weighted.",
            {
                "name": ValueField(
                    "string", "The name of the distribution.", default="uniform", schema={"enum": [*DISTRIBUTIONS]}
                ),
                "params": PARAMS,
            },
        ),
        "seed": ObjectField(
            "What the chosen second depends on besides namespace and name.",
            {
                "strategy": _choice(SeedStrategy, SeedStrategy.STABLE, "Whether each period, day or week has its own."),
                "salt": ValueField(
                    "string",
                    "Any text; another salt chooses other seconds.",
                    check_salt,
                    "",
                    {"maxLength": LONGEST_SALT},
                ),
            },
        ),
        "constraints": ObjectField(
            "Which wall times a run may have.",
            {
                "only": _clauses("Every kind named here must be satisfied, such as dow=MON-FRI."),
                "avoid": _clauses("None of these may match, such as date=2026-12-25."),
            },
        ),
        "policy": ObjectField(
            "What happens at the chosen second; it never moves it.",
            {
                "concurrency": _choice(Concurrency, Concurrency.FORBID, "What happens while an earlier Job is active."),
                "deadline": _duration("0s", "How late a Job may still be created."),
                "suspend": ValueField("boolean", "Whether nothing is started; running Jobs go on.", default=False),
            },
        ),
        "successfulJobsHistoryLimit": _limit(3, "successful"),
        "failedJobsHistoryLimit": _limit(1, "failed"),
        "jobTemplate": ValueField(
            "object",
            "The Job to create, metadata and spec as in CronJob. The spec is copied untouched.",
            _read_template,
            schema={
                "required": ["spec"],
                "properties": {
                    "metadata": {
                        "type": "object",
                        "description": "Labels and annotations of the Job.",
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                    "spec": {
                        "type": "object",
                        "description": "The spec of a batch/v1 Job.",
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                },
                "x-kubernetes-preserve-unknown-fields": True,
            },
            required=True,
        ),
    },
)


MAX_PERIODS = 1000  # that one status may have to remember: an entry each, in an object of at most a megabyte or so
MAX_DEPTH = 100  # of a field of the spec; a Job has twenty or so
MAX_SPEC_BYTES = (
    256_000  # bytes of JSON: a template is kept as it is, for every KronJob; scripts belong into a ConfigMap
)
MAX_STATUS_BYTES = 512_000  # bytes of JSON: a thousand periods and as many active Jobs have half of that
LONGEST_ERRORS = 8_000  # characters of all that is wrong with one KronJob: a status and a log line have room for it

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str).encode  # made once
_CONTAINERS = frozenset({dict, list})
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
_START = datetime(2024, 1, 1, tzinfo=UTC)  # any instant would do; a fixed one gives every reader the same answer
_CALENDAR = timedelta(days=28 * 366)  # after which weekdays and leap days repeat
_PERIODS_LOOKED_AT = 5 * MAX_PERIODS


def exceeds_max_periods(schedule: Schedule, span: timedelta) -> bool:
    """Whether more than a thousand periods begin within some span of this length."""
    expression = schedule.expression
    daily = len(list(expression.minute)) * len(list(expression.hour))
    if min(span // _MINUTE + 1, (span // _DAY + 2) * daily) <= MAX_PERIODS:
        return False
    nominals = list(islice(schedule.between(_START, _START + _CALENDAR), _PERIODS_LOOKED_AT))
    return any(last - first <= span for first, last in zip(nominals, nominals[MAX_PERIODS:], strict=False))


def is_unsatisfiable(constraints: Constraints) -> bool:
    """Whether it is certain that no second of any day can be chosen, whatever the schedule and the window are."""
    if not constraints:
        return False
    days = _days(constraints)
    return constraints.minutes == 0 or (
        not any(constraints.allows_day(day) for day in islice(days, _CALENDAR.days)) and next(days, None) is None
    )


def exceeds_max_depth(value: Any) -> bool:
    """Whether objects and lists are nested more deeply than a spec needs."""
    level: list[Any] = [value] if value and value.__class__ in _CONTAINERS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [  # an empty one has nothing on the next level, and there may be hundreds of thousands
            item
            for each in level
            for item in (each.values() if each.__class__ is dict else each)
            if item and item.__class__ in _CONTAINERS
        ]
    return bool(level)


def json_bytes(value: Any) -> bytes:
    """Return a value as compact JSON."""
    return _encode(value).encode(errors="surrogatepass")


def _days(constraints: Constraints) -> Iterator[date]:
    """Yield the days that could be allowed: those that are named, or a whole round of the calendar."""
    named = constraints.only.values
    if not named.keys() & {"date", "dates"}:
        yield from (_START.date() + timedelta(days=number) for number in range(_CALENDAR.days))
    for text in named.get("date", ()):
        yield date.fromisoformat(text)
    for text in named.get("dates", ()):
        first, last = (date.fromisoformat(part) for part in text.split(".."))
        yield from (first + timedelta(days=number) for number in range(min((last - first).days + 1, _CALENDAR.days)))


_NOT_DEFINING = ("jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit")


def definition_hash(spec: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a spec, defaults stated, without what changes no decision.

    A spec that is wrong has one, too: becoming wrong is a change.
    """
    defining = {key: value for key, value in spec.items() if key not in _NOT_DEFINING}  # a template may be large
    read = {key: "too deep" if exceeds_max_depth(value) else value for key, value in defining.items()}
    stated = {key: value for key, value in apply_defaults(SPEC, read).items() if key not in _NOT_DEFINING}
    if isinstance(policy := stated.get("policy"), dict):
        stated["policy"] = {key: value for key, value in policy.items() if key != "suspend"}
    text = json.dumps(_canonical(stated), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def apply_defaults(table: ObjectField, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the server stores: every default stated, a null where a default is taken as nothing said."""
    stated = {key: value for key, value in given.items() if value is not None}
    for name, declared in table.fields.items():
        match declared:
            case ValueField(default=default):
                if name not in stated and default is not None:
                    stated[name] = default
            case ObjectField():
                found = stated.get(name, {})
                stated[name] = apply_defaults(declared, found) if isinstance(found, dict) else found
    return stated


def _canonical(value: object) -> object:
    """Return the value with numbers in one spelling: the server does not keep apart 2 and 2.0."""
    match value:
        case dict():
            return {key: _canonical(item) for key, item in value.items()}
        case list():
            return [_canonical(item) for item in value]
        case float() if value.is_integer():
            return int(value)
    return value
