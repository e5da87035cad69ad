"""KEYS: every key of a job, how its value is read and where it may stand. One table, for all forms of files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import partial
from types import MappingProxyType

from kron.cron.dialect import DIALECTS
from kron.cron.schedule import Gaps, Repeated
from kron.decision.choices import choose
from kron.decision.definition import (
    check_text,
    pointing_at,
    read_clauses,
    read_distribution,
    read_modifier,
    read_seed_parts,
    read_window,
)
from kron.decision.line import parse_line
from kron.decision.mistakes import Mistakes
from kron.rules.files.spelling import spell
from kron.rules.files.values import (
    read_absolute,
    read_bool,
    read_command,
    read_count,
    read_entries,
    read_hooks,
    read_limit,
    read_line_of_text,
    read_output_limit,
    read_positive_time,
    read_shell,
    read_stream,
    read_text,
    read_time,
    read_umask,
    read_url,
    read_variable,
    read_word,
    read_zone,
    wrong,
)
from kron.rules.policy import Concurrency, gather_policy_words

# What a key says, part by part; in the place of a part that is wrong stands its error, so that all of them are told.
Parts = list[tuple[str, object]]
Reader = Callable[[str, object], Parts]


@dataclass(frozen=True, slots=True)
class Key:
    """How a key's value is read, and where it may stand."""

    read: Reader
    in_defaults: bool = True
    modifier: str = ""  # what says it in a schedule line; in a `.kron` line nothing else does
    repeatable: bool = False  # in a `.kron` line
    entries: bool = False  # a table whose entries are merged with those of the defaults


def _one(read: Callable[[str, object], object]) -> Reader:
    return lambda key, given: [(key, read(key, given))]


def _read_schedule(_key: str, given: object) -> Parts:
    line = parse_line(check_text("schedule", given))
    parts: Parts = [("expression", line.expression)]
    for modifier in line.modifiers.values():
        mistakes = Mistakes()
        found: dict[str, object] = {}
        with mistakes, pointing_at(modifier):
            is_policy = modifier.name == "policy"
            found = gather_policy_words(modifier, mistakes) if is_policy else read_modifier(modifier)
        for key, value in found.items():
            with mistakes:
                parts += KEYS[key].read(key, value)
        parts += [(modifier.name, error) for error in mistakes.errors]
    return parts


def _read_seed(_key: str, given: object) -> Parts:
    return [*read_seed_parts(given).items()]


def _read_concurrency(_key: str, given: object) -> object:
    return choose(Concurrency, "policy.concurrency", given if isinstance(given, str) else spell(given))


def _text_or_table(read: Callable[[str, object], Parts], example: str) -> Reader:
    """Return a reader that takes what people write, and neither lists nor numbers."""

    def read_either(key: str, given: object) -> Parts:
        if isinstance(given, list | int | float | date | time):
            raise wrong(key, given, "must be a text or a table", f'write {key} = "{example}"')
        return read(key, given)

    return read_either


_HOOK = Key(read_hooks, repeatable=True)
_SIDE = _text_or_table(_one(read_clauses), "dow=MON-FRI")
_KEYS: Mapping[str, Key] = {
    "schedule": Key(_read_schedule, in_defaults=False),
    "timezone": Key(_one(read_zone), modifier="tz"),
    "dialect": Key(_one(read_word(*DIALECTS))),
    "gap": Key(_one(read_word(*(word.value for word in Gaps))), modifier="dst"),
    "repeated": Key(_one(read_word(*(word.value for word in Repeated))), modifier="dst"),
    "window": Key(_text_or_table(_one(lambda _, given: read_window(given)), "after,3h"), modifier="win"),
    "distribution": Key(_text_or_table(_one(lambda _, given: read_distribution(given)), "normal"), modifier="dist"),
    "seed": Key(_text_or_table(_read_seed, "daily"), modifier="seed"),
    "salt": Key(_one(read_text), modifier="seed"),
    "only": Key(_SIDE, modifier="only"),
    "avoid": Key(_SIDE, modifier="avoid"),
    "concurrency": Key(_one(_read_concurrency), modifier="policy"),
    "deadline": Key(_one(read_time), modifier="policy"),
    "suspend": Key(_one(read_bool), modifier="policy"),
    "identity": Key(_one(read_line_of_text), in_defaults=False),
    "description": Key(_one(read_text), in_defaults=False),
    "command": Key(_one(read_command), in_defaults=False),
    "shell": Key(_one(read_shell)),
    "stdin": Key(_one(read_text)),
    "user": Key(_one(read_line_of_text)),
    "group": Key(_one(read_line_of_text)),
    "cwd": Key(_one(read_absolute)),
    "umask": Key(_one(read_umask)),
    "env": Key(partial(read_entries, read_variable), repeatable=True, entries=True),
    "limits": Key(partial(read_entries, read_limit), repeatable=True, entries=True),
    "timeout": Key(_one(read_positive_time)),
    "grace": Key(_one(read_time)),
    "stdout": Key(_one(read_stream())),
    "stderr": Key(_one(read_stream("stdout"))),
    "output_limit": Key(_one(read_output_limit)),
    "retries": Key(_one(read_count)),
    "retry_delay": Key(_one(read_time)),
    "on_failure": _HOOK,
    "on_recovery": _HOOK,
    "on_missed": _HOOK,
    "on_late": _HOOK,
    "late_after": Key(_one(read_time)),
    "ping": Key(_one(read_url)),
}
KEYS: Mapping[str, Key] = MappingProxyType(_KEYS)
IN_DEFAULTS = tuple(name for name, key in KEYS.items() if key.in_defaults)
IN_LINES = ("name", *(name for name, key in KEYS.items() if not key.modifier and name != "schedule"))
REPEATABLE = tuple(name for name, key in KEYS.items() if key.repeatable)
