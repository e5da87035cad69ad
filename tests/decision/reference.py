"""A reference implementation of decide, naive and without code of Kron.

Every step is written down as its definition reads: one hash, one generator with its state, one attempt after the
other, one clause after the other. The distributions are evaluated with sixty digits, the normal one by the standard
library's NormalDist, the zones by the standard library's zoneinfo over the same database.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import floor
from zoneinfo import ZoneInfo

from tests.decision.reference_shape import SettingsTable, microseconds, resolve

_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS = ("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@cache
def zone_of(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def wall_time(instant: datetime, zone: str) -> datetime:
    return instant.astimezone(zone_of(zone)).replace(tzinfo=None)


# --- texts ------------------------------------------------------------------------------------------------------------


def read_line(text: str) -> dict[str, object]:
    """Return the structured form of a schedule line; quoted salts must hold no parenthesis."""
    words = dict(re.findall(r"@(tz|win|dist|seed|only|avoid|dst)\(([^)]*)\)", text))
    definition: dict[str, object] = {"schedule": text.partition(" @")[0]}
    if "tz" in words:
        definition["timeZone"] = words["tz"]
    if "win" in words:
        definition["window"] = dict(zip(("mode", "duration"), words["win"].split(","), strict=True))
    if "dist" in words:
        name, *pairs = words["dist"].split(",")
        definition["distribution"] = {"name": name, "params": dict(pair.split("=") for pair in pairs)}
    if "seed" in words:
        strategy, _, salt = words["seed"].partition(",salt=")
        definition["seed"] = {"strategy": strategy, "salt": salt.strip('"')}
    definition["constraints"] = {side: words[side].split(";") for side in ("only", "avoid") if side in words}
    return definition


def instant_text(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


# --- window, seed, stream ---------------------------------------------------------------------------------------------


def window_bounds(mode: str, duration: str) -> tuple[int, int]:
    """Return the first and the last second, counted from the nominal time."""
    length = microseconds(duration) / 1_000_000
    start = Fraction(0) if mode == "after" else -length / 2
    return floor(start), floor(start + length)


def period_key(strategy: str, nominal: datetime, zone: str) -> str:
    if strategy == "stable":
        return instant_text(nominal)
    wall = wall_time(nominal, zone)
    return wall.date().isoformat() if strategy == "daily" else wall.strftime("%G-W%V")


def seed_hash(identity: str, key: str, salt: str) -> str:
    return hashlib.sha256(b"\n".join(part.encode("utf-8") for part in (identity, key, salt))).hexdigest()


def splitmix64(state: int) -> Iterator[int]:
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = state
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB % 2**64
        yield mixed ^ (mixed >> 31)


def uniforms(hash_: str) -> Iterator[Fraction]:
    for value in splitmix64(int.from_bytes(bytes.fromhex(hash_)[:8], "big")):
        yield Fraction(value >> 11, 2**53)


# --- constraints ------------------------------------------------------------------------------------------------------


def allowed(wall: datetime, constraints: SettingsTable) -> bool:
    kinds: dict[str, bool] = {}
    for clause in _clauses(constraints, "only"):
        kind = "dates" if clause.startswith("date=") else clause.split("=")[0]
        kinds[kind] = kinds.get(kind, False) or clause_matches(clause, wall)
    return all(kinds.values()) and not any(clause_matches(clause, wall) for clause in _clauses(constraints, "avoid"))


def clause_matches(clause: str, wall: datetime) -> bool:
    kind, _, values = clause.partition("=")
    return any(_value_matches(kind, value.strip().upper(), wall) for value in values.split(","))


def _value_matches(kind: str, value: str, wall: datetime) -> bool:
    day, minute = wall.date().isoformat(), f"{wall.hour:02}:{wall.minute:02}"
    match kind:
        case "between":
            first, last = value.split("-")
            return first <= minute <= last
        case "date":
            return day == value
        case "dates":
            first, last = value.split("..")
            return first <= day <= last
        case "hours":
            return wall.hour in _numbers(value, ())
        case "dom":
            return wall.day in _numbers(value, ())
        case "months":
            return wall.month in _numbers(value, _MONTHS)
        case _:
            return wall.isoweekday() % 7 in {number % 7 for number in _numbers(value, _WEEKDAYS)}


def _numbers(value: str, names: tuple[str, ...]) -> range:
    ends = [names.index(end) if end in names else int(end) for end in value.split("-")]
    if names is _WEEKDAYS and len(ends) == 2 and ends[1] == 0 < ends[0]:
        ends[1] = 7
    return range(ends[0], ends[-1] + 1)


def _clauses(constraints: SettingsTable, side: str) -> list[str]:
    given = constraints.get(side, [])
    assert isinstance(given, list)
    return given


def _summary(constraints: SettingsTable, side: str) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for clause in _clauses(constraints, side):
        kind, _, values = clause.partition("=")
        kinds.setdefault(kind, []).extend(value.strip() for value in values.split(","))
    return [f"{kind}={','.join(values)}" for kind, values in kinds.items()]


# --- the whole --------------------------------------------------------------------------------------------------------


def decide(given: str | SettingsTable, identity: str, nominal: datetime) -> dict[str, object]:
    """Return every field of the decision but the version of the time zone database."""
    definition = read_line(given) if isinstance(given, str) else given
    zone = str(definition.get("timeZone", "UTC"))
    window, seed = _part(definition, "window"), _part(definition, "seed")
    constraints = _part(definition, "constraints")
    mode = str(window.get("mode", "after"))
    strategy, salt = str(seed.get("strategy", "stable")), str(seed.get("salt", ""))
    bounds = window_bounds(mode, str(window.get("duration", "0s")))
    shape = resolve(_part(definition, "distribution"), mode, bounds)
    start, end = (nominal + timedelta(seconds=bound) for bound in bounds)
    key = period_key(strategy, nominal, zone)
    hash_ = seed_hash(identity, key, salt)

    chosen, attempts, reason = None, 0, None
    if start == end:
        chosen = start if allowed(wall_time(start, zone), constraints) else None
        reason = None if chosen else "the only second is not allowed"
    else:
        numbers = uniforms(hash_)
        while chosen is None and attempts < 64:
            attempts += 1
            place = max(0.0, float(shape.quantile(next(numbers))))
            candidate = start + timedelta(seconds=min(floor(place * (shape.width + 1)), shape.width))
            chosen = candidate if allowed(wall_time(candidate, zone), constraints) else None
        reason = None if chosen else "no candidate accepted within MaxAttempts"

    return {
        "identity": identity,
        "period_id": instant_text(nominal),
        "period_key": key,
        "nominal_time": instant_text(nominal),
        "window_start": instant_text(start),
        "window_end": instant_text(end),
        "window_mode": mode,
        "chosen_time": instant_text(chosen) if chosen else None,
        "timezone": zone,
        "distribution": {"name": shape.name, "params": dict(shape.params)},
        "seed_strategy": strategy,
        "salt": salt,
        "seed_hash": hash_,
        "constraints_applied": {side: _summary(constraints, side) for side in ("only", "avoid")},
        "attempts": attempts,
        "reason": reason,
        "algorithm_version": 1,
    }


def _part(definition: SettingsTable, key: str) -> SettingsTable:
    part = definition.get(key, {})
    assert isinstance(part, Mapping)
    return part
