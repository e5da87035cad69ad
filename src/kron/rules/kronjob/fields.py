"""SPEC: every field of a KronJob's spec, once; the schema of the CRD and the reading of documents both come from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any

from kron.cron.dialect import EXTENDED
from kron.cron.expression import LONGEST_TEXT, parse
from kron.cron.schedule import Gaps, Repeated
from kron.cron.zone import load_zone
from kron.decision.bounds import LONGEST_ITEM, LONGEST_PARAM, LONGEST_SALT, LONGEST_ZONE, MOST_PARAMS, MOST_VALUES
from kron.decision.choices import choose
from kron.decision.constraint import Clauses
from kron.decision.definition import check_salt, read_duration
from kron.decision.distribution import DISTRIBUTIONS
from kron.decision.seed import SeedStrategy
from kron.decision.window import WindowMode
from kron.errors import InvalidDefinitionError
from kron.rules.policy import Concurrency

DURATION = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns))+)$"  # Go's form; what is too fine is told later
_LONGEST_DURATION = 100  # characters
_MOST_JOBS = 2**31 - 1  # what CronJob's own limits hold
_ZONES = ("TZ=", "CRON_TZ=")

Read = Callable[[str, Any], object]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field with a value: its type and what else the schema says, and how a value of that type is read."""

    kind: str
    description: str
    read: Read = lambda _where, given: given
    default: object = None  # None: the field has none
    schema: Mapping[str, object] = field(default_factory=dict)
    required: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A field with fields. An open one keeps those that it does not know."""

    description: str
    fields: Mapping[str, "Leaf | Table"]
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


def _read_zone(_where: str, given: str) -> str:
    return load_zone(given).name


def _read_duration(where: str, given: str) -> timedelta:
    return read_duration(where, given)


def _read_clauses(_where: str, given: list[str]) -> Clauses:
    return Clauses.parse(given)


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


def _choice(enum: type[Enum], default: Enum, description: str) -> Leaf:
    words = [member.value for member in enum]
    return Leaf("string", description, lambda at, given: choose(enum, at, given), default.value, {"enum": words})


def _duration(default: str | None, description: str) -> Leaf:
    schema = {"pattern": DURATION, "maxLength": _LONGEST_DURATION}
    return Leaf("string", f"{description} A duration such as 1h30m, 90s or 250ms.", _read_duration, default, schema)


def _clauses(description: str) -> Leaf:
    schema = {"items": {"type": "string", "minLength": 1, "maxLength": LONGEST_ITEM}, "maxItems": MOST_VALUES}
    return Leaf("array", f"{description} Each item is one clause.", _read_clauses, [], schema)


def _limit(default: int, kind: str) -> Leaf:
    description = f"How many {kind} Jobs are kept; 0 keeps none."
    schema = {"format": "int32", "minimum": 0, "maximum": _MOST_JOBS}
    return Leaf("integer", description, _read_limit, default, schema)


def _word(description: str, longest: int = LONGEST_PARAM) -> Leaf:
    return Leaf("string", description, schema={"maxLength": longest})


_NUMBER = "A finite number above 0."
PARAMS = Table(
    "Parameters of the distribution; one that it does not take is an error.",
    {
        "shape": Leaf("number", f"Of skewEarly and skewLate: how skewed. {_NUMBER} Without it: 2."),
        "lambda": Leaf("number", f"Of exponential: how fast it falls. {_NUMBER} Without it: 1."),
        "dir": _word("Of exponential: early or late, the end where most runs are. Without it: early."),
        "mu": _word("Of normal: nominal, start, mid or end. Without it: nominal if around, mid if after."),
        "sigma": _word("Of normal: a duration above 0s. Without it: a sixth of the window.", _LONGEST_DURATION),
    },
    is_open=True,
    most=MOST_PARAMS,
)
SPEC = Table(
    "What the job is, when it runs, and what becomes of late or overlapping runs.",
    {
        "schedule": Leaf(
            "string",
            "Five cron fields (minute, hour, day, month, weekday) with steps and names, or a macro such as @daily; "
            "the zone stands in timeZone.",
            _read_schedule,
            schema={"minLength": 1, "maxLength": LONGEST_TEXT, "pattern": "^[^=()]+$"},
            required=True,
        ),
        "timeZone": Leaf(
            "string",
            "The IANA time zone of the schedule and the constraints.",
            _read_zone,
            "UTC",
            {"minLength": 1, "maxLength": LONGEST_ZONE},
        ),
        "gap": _choice(Gaps, Gaps.SKIP, "What a minute that the clocks jump over means: no run, or one after the gap."),
        "repeated": _choice(Repeated, Repeated.BOTH, "What a minute that occurs twice means: two runs, or one."),
        "window": Table(
            "Where around its nominal time a run may fall.",
            {
                "mode": _choice(WindowMode, WindowMode.AFTER, "On which side of the nominal time the window lies."),
                "duration": _duration("0s", "How long the window is."),
            },
        ),
        "distribution": Table(
            "How the seconds of the window are weighted.",
            {
                "name": Leaf(
                    "string", "The name of the distribution.", default="uniform", schema={"enum": [*DISTRIBUTIONS]}
                ),
                "params": PARAMS,
            },
        ),
        "seed": Table(
            "What the chosen second depends on besides namespace and name.",
            {
                "strategy": _choice(SeedStrategy, SeedStrategy.STABLE, "Whether each period, day or week has its own."),
                "salt": Leaf(
                    "string",
                    "Any text; another salt chooses other seconds.",
                    check_salt,
                    "",
                    {"maxLength": LONGEST_SALT},
                ),
            },
        ),
        "constraints": Table(
            "Which wall times a run may have.",
            {
                "only": _clauses("Every kind named here must be satisfied, such as dow=MON-FRI."),
                "avoid": _clauses("None of these may match, such as date=2026-12-25."),
            },
        ),
        "policy": Table(
            "What happens at the chosen second; it never moves it.",
            {
                "concurrency": _choice(Concurrency, Concurrency.FORBID, "What happens while an earlier Job is active."),
                "deadline": _duration("0s", "How late a Job may still be created."),
                "suspend": Leaf("boolean", "Whether nothing is started; running Jobs go on.", default=False),
            },
        ),
        "successfulJobsHistoryLimit": _limit(3, "successful"),
        "failedJobsHistoryLimit": _limit(1, "failed"),
        "jobTemplate": Leaf(
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
