"""The parts of a timing, read from the words of a line or from the tables of a file: each reader takes either."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from enum import Enum

from kron.cron.schedule import GapPolicy, RepeatedPolicy
from kron.cron.zone import load_zone
from kron.decision.bounds import LONGEST_PARAM, LONGEST_SALT, MOST_PARAMS, check_length, check_number
from kron.decision.constraint import Clauses
from kron.decision.distribution import Distribution
from kron.decision.line import Modifier, ScheduleLine, parse_line, split_outside_quotes, unquote
from kron.decision.seed import Seed, SeedStrategy
from kron.decision.window import Window, WindowMode
from kron.errors import InvalidDefinitionError, InvalidDurationError, UnknownTimezoneError
from kron.errors.diagnostics import ErrorCollector, parse_choice, unknown_value
from kron.instant import parse_duration

Parts = dict[str, object]

KEYS = (
    "schedule", "timezone", "dialect", "gap", "repeated", "window", "distribution", "seed", "salt", "only", "avoid",
)  # fmt: skip
_TEXT_OR_TABLE = ("window", "distribution", "seed")
_WHOLE = ("window", "distribution", "timezone", "constraint")  # what a line has under the name of a modifier
_ALIASES = {"timeZone": "timezone"}  # how Kubernetes spells it


def read_definition(definition: Mapping[str, object]) -> Parts:
    """Return the parts of a structured definition, those that its `schedule` carries as modifiers included."""
    read_table("definition", definition, None)
    parts: Parts = {}
    constraints = read_table("constraints", definition.get("constraints", {}), ("only", "avoid"))
    for key, value in [*definition.items(), *constraints.items()]:
        known = _ALIASES.get(key, key)
        if known in KEYS:
            set_once(parts, known, value)
        elif key != "constraints":
            raise unknown_value("key", key, KEYS)
    if "schedule" not in parts:
        raise InvalidDefinitionError(field="schedule", found="", reason="is required")
    line = parse_line(require_text("schedule", parts.pop("schedule")))
    for key, value in [("schedule", line.expression), *read_modifiers(line).items()]:
        set_once(parts, key, value)
    return parts


def read_modifiers(line: ScheduleLine) -> Parts:
    """Return the parts that a line's modifiers name; an error points at the modifier it came from."""
    parts: Parts = {}
    for modifier in line.modifiers.values():
        with locate_errors(modifier):
            parts |= read_modifier(modifier)
    return parts


def read_modifier(modifier: Modifier) -> Parts:
    """Return the parts that one modifier names."""
    return _MODIFIERS[modifier.name](modifier)


@contextmanager
def locate_errors(modifier: Modifier) -> Iterator[None]:
    """Give errors raised inside the place and the name of the modifier that they are about."""
    try:
        yield
    except InvalidDefinitionError as error:
        for each in error.all_errors:
            if isinstance(each, InvalidDefinitionError) and each.position is None:
                each.position = modifier.position
                last = each.field.replace(" ", ".").rpartition(".")[2]
                each.where = f"@{modifier.name}" if last in (modifier.name, *_WHOLE) else f"@{modifier.name} {last}"
        raise
    except UnknownTimezoneError as error:
        reason = "must be an IANA time zone"
        again = InvalidDefinitionError(field="timezone", found=modifier.arguments, reason=reason, fix=error.fix)
        again.position, again.where = modifier.position, "@tz"
        raise again from error


def read_window(given: object) -> Window:
    """Return the window of `after,2h`, of {mode, duration}, or itself."""
    if isinstance(given, Window):
        return given
    if isinstance(given, str):
        word, comma, length = (part.strip() for part in given.partition(","))
        if not comma:
            raise InvalidDefinitionError(
                field="window", found=given, reason="needs a mode and a duration", fix="write after,2h or around,90m"
            )
        given = {"mode": word, "duration": length}
    mistakes = ErrorCollector()
    table = read_table("window", given, ("mode", "duration"), mistakes)
    with mistakes:
        mode = parse_choice(WindowMode, "window.mode", table.get("mode", "after"))
    with mistakes:
        duration = read_duration("window.duration", table.get("duration", "0s"))
    mistakes.raise_first()
    return Window(mode, duration)


def read_duration(field: str, given: object) -> timedelta:
    """Return a duration, with the field's name in the error."""
    try:
        return parse_duration(given)  # type: ignore[arg-type] # it checks
    except InvalidDurationError as error:
        raise InvalidDefinitionError(
            field=field, found=str(given), reason=str(error.details["reason"]), fix="write it as 1h30m, 90s or 250ms"
        ) from error


def read_distribution(given: object) -> Distribution:
    """Return the distribution of `skewLate,shape=2.5`, of {name, params}, or itself."""
    if isinstance(given, Distribution):
        return given
    mistakes = ErrorCollector()
    params: Parts = {}
    if isinstance(given, str):
        name, *words = (part.strip() for part in given.split(","))
        for word in words:
            with mistakes:
                set_once(params, *read_pair("distribution", word), of="distribution")
        given = {"name": name, "params": params}
    table = read_table("distribution", given, ("name", "params"), mistakes)
    given_params = table.get("params")
    with mistakes:
        params = dict(read_table("distribution.params", {} if given_params is None else given_params, None))
    with mistakes:
        check_number("distribution.params", len(params), MOST_PARAMS, what="parameters")
        for key in params:
            check_length("distribution.params", str(key), LONGEST_PARAM)
        distribution = Distribution(str(table.get("name", "uniform")), params)  # type: ignore[arg-type] # it checks
    mistakes.raise_first()
    return distribution


def read_seed(given: object, salt: object = None) -> Seed:
    """Return the seed of `daily,salt=prod`, of {strategy, salt}, or itself, with a salt that may stand beside it."""
    parts = read_seed_parts(given)
    if salt is not None and "salt" in parts:
        raise InvalidDefinitionError(field="salt", found=str(salt), reason="is said twice, in salt and in seed")
    text = parts.get("salt", "") if salt is None else salt
    return Seed(parse_choice(SeedStrategy, "seed.strategy", parts.get("strategy", "stable")), check_salt("salt", text))


def read_seed_parts(given: object) -> Parts:
    """Return the strategy and the salt that are given, in any of the forms of a seed."""
    if isinstance(given, Seed):
        return {"strategy": given.strategy} | ({"salt": given.salt} if given.salt else {})
    mistakes = ErrorCollector()
    if isinstance(given, str):
        words: Parts = {}
        for word in split_outside_quotes(given, ","):
            with mistakes:
                key, value = read_pair("seed", word) if "=" in word else ("strategy", word.strip())
                set_once(words, key, unquote(value), of="seed")
        given = words
    parts = dict(read_table("seed", given, ("strategy", "salt"), mistakes))
    if "strategy" in parts:
        with mistakes:
            parts["strategy"] = parse_choice(SeedStrategy, "seed.strategy", parts["strategy"])
    if "salt" in parts:
        with mistakes:
            check_salt("salt", parts["salt"])
    mistakes.raise_first()
    return parts


def read_clauses(side: str, given: object) -> Clauses:
    """Return the clauses of a text, of a list with one clause an item, of a table, or themselves."""
    if isinstance(given, Clauses):
        return given
    if isinstance(given, Mapping):
        return Clauses.from_table(given)
    if isinstance(given, str | list | tuple):
        return Clauses.parse(given)
    raise InvalidDefinitionError(field=side, found=str(given), reason="must be a text, a list of clauses or a table")


_DST: Mapping[str, type[Enum]] = {"gap": GapPolicy, "repeated": RepeatedPolicy}


def _read_dst(modifier: Modifier) -> Parts:
    parts: Parts = {}
    mistakes = ErrorCollector()
    for word in modifier.words():
        with mistakes:
            key, value = read_pair("dst", word)
            if key not in _DST:
                raise unknown_value("dst", key, _DST)
            set_once(parts, key, parse_choice(_DST[key], key, value).value)
    mistakes.raise_first()
    return parts


_MODIFIERS: Mapping[str, Callable[[Modifier], Parts]] = {
    "tz": lambda modifier: {"timezone": load_zone(modifier.arguments.strip()).name},
    "dst": _read_dst,
    "win": lambda modifier: {"window": read_window(modifier.arguments)},
    "dist": lambda modifier: {"distribution": read_distribution(modifier.arguments)},
    "seed": lambda modifier: {"seed": read_seed(modifier.arguments)},
    "only": lambda modifier: {"only": Clauses.parse(modifier.arguments)},
    "avoid": lambda modifier: {"avoid": Clauses.parse(modifier.arguments)},
    "policy": lambda _: {},
}


def read_pair(field: str, word: str) -> tuple[str, str]:
    """Return the key and the value of `KEY=VALUE`."""
    key, equals, value = word.partition("=")
    if not equals or not key.strip():
        raise InvalidDefinitionError(
            field=field, found=word, reason="needs KEY=VALUE", fix="write both, with a = between"
        )
    return key.strip(), value.strip()


def set_once(parts: Parts, key: str, value: object, *, of: str = "") -> None:
    """Add a part that must not be there yet; `of` is what it is a part of."""
    if key in parts:
        raise InvalidDefinitionError(
            field=f"{of}.{key}" if of else key, found=str(value), reason="is said twice", fix="keep one of them"
        )
    parts[key] = value


def read_table(
    field: str, given: object, known: tuple[str, ...] | None, mistakes: ErrorCollector | None = None
) -> Mapping[str, object]:
    """Return a table; that one of its keys is unknown is raised, or is one of several `mistakes`."""
    if not isinstance(given, Mapping):
        kinds = "a text or a table" if field in _TEXT_OR_TABLE else "a table"
        raise InvalidDefinitionError(field=field, found=str(given), reason=f"must be {kinds}")
    unknown = mistakes or ErrorCollector()
    if known is not None:
        unknown.errors += [unknown_value(field, key, known) for key in given if key not in known]
    if mistakes is None:
        unknown.raise_first()
    return given


def require_identity(given: object) -> str:
    """Return an identity: one line, not empty, because a line break separates the parts of a seed."""
    identity = require_text("identity", given)
    if not identity or "\n" in identity:
        raise InvalidDefinitionError(field="identity", found=identity, reason="must be one non-empty line")
    return identity


def require_type(field: str, value: object, kind: type) -> None:
    """Refuse a part that was built by hand from something else than it must be."""
    if not isinstance(value, kind):
        raise InvalidDefinitionError(field=field, found=str(value), reason=f"must be a {kind.__name__}")


def check_salt(field: str, given: object) -> str:
    """Return a salt: any text that is not too long."""
    return check_length(field, require_text(field, given), LONGEST_SALT)


def require_text(field: str, given: object) -> str:
    """Return a text that can be written as UTF-8."""
    try:
        if not isinstance(given, str):
            raise TypeError("not a text")
        given.encode()
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidDefinitionError(
            field=field, found=ascii(given), reason="must be a text in UTF-8", fix="write it in quotes"
        ) from error
    return given
