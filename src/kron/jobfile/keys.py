"""KEYS: every key of a job, how its value is read and where it may be; and the words that people use instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time
from functools import partial
from types import MappingProxyType

from kron.cron.dialect import DIALECTS
from kron.cron.schedule import GapPolicy, RepeatedPolicy
from kron.decision.definition import (
    locate_errors,
    read_clauses,
    read_distribution,
    read_modifier,
    read_seed_parts,
    read_window,
    require_text,
)
from kron.decision.line import parse_line
from kron.errors.diagnostics import ErrorCollector, parse_choice
from kron.jobfile.toml_syntax import format_value
from kron.jobfile.values import (
    invalid_value,
    parse_absolute_path,
    parse_bool,
    parse_command,
    parse_count,
    parse_duration,
    parse_entries,
    parse_hooks,
    parse_limit,
    parse_output_limit,
    parse_positive_duration,
    parse_shell,
    parse_single_line,
    parse_stream,
    parse_string,
    parse_umask,
    parse_url,
    parse_variable,
    parse_word,
    parse_zone,
)
from kron.rules.policy import Concurrency, collect_policy_words

# The parts of a key's value; a wrong part is replaced by its error, so that all errors are reported.
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
    line = parse_line(require_text("schedule", given))
    parts: Parts = [("expression", line.expression)]
    for modifier in line.modifiers.values():
        mistakes = ErrorCollector()
        found: dict[str, object] = {}
        with mistakes, locate_errors(modifier):
            is_policy = modifier.name == "policy"
            found = collect_policy_words(modifier, mistakes) if is_policy else read_modifier(modifier)
        for key, value in found.items():
            with mistakes, locate_errors(modifier):
                parts += KEYS[key].read(key, value)
        parts += [(modifier.name, error) for error in mistakes.errors]
    return parts


def _read_seed(_key: str, given: object) -> Parts:
    return [*read_seed_parts(given).items()]


def _read_concurrency(_key: str, given: object) -> object:
    return parse_choice(Concurrency, "policy.concurrency", given if isinstance(given, str) else format_value(given))


def _text_or_table(read: Callable[[str, object], Parts], example: str) -> Reader:
    """Return a reader that takes what people write, and neither lists nor numbers."""

    def read_either(key: str, given: object) -> Parts:
        if isinstance(given, list | int | float | date | time):
            raise invalid_value(key, given, "must be a text or a table", f'write {key} = "{example}"')
        return read(key, given)

    return read_either


_HOOK = Key(parse_hooks, repeatable=True)
_SIDE = _text_or_table(_one(read_clauses), "dow=MON-FRI")
_KEYS: Mapping[str, Key] = {
    "schedule": Key(_read_schedule, in_defaults=False),
    "timezone": Key(_one(parse_zone), modifier="tz"),
    "dialect": Key(_one(parse_word(*DIALECTS))),
    "gap": Key(_one(parse_word(*(word.value for word in GapPolicy))), modifier="dst"),
    "repeated": Key(_one(parse_word(*(word.value for word in RepeatedPolicy))), modifier="dst"),
    "window": Key(_text_or_table(_one(lambda _, given: read_window(given)), "after,3h"), modifier="win"),
    "distribution": Key(_text_or_table(_one(lambda _, given: read_distribution(given)), "normal"), modifier="dist"),
    "seed": Key(_text_or_table(_read_seed, "daily"), modifier="seed"),
    "salt": Key(_one(parse_string), modifier="seed"),
    "only": Key(_SIDE, modifier="only"),
    "avoid": Key(_SIDE, modifier="avoid"),
    "concurrency": Key(_one(_read_concurrency), modifier="policy"),
    "deadline": Key(_one(parse_duration), modifier="policy"),
    "suspend": Key(_one(parse_bool), modifier="policy"),
    "identity": Key(_one(parse_single_line), in_defaults=False),
    "description": Key(_one(parse_string), in_defaults=False),
    "command": Key(_one(parse_command), in_defaults=False),
    "shell": Key(_one(parse_shell)),
    "stdin": Key(_one(parse_string)),
    "user": Key(_one(parse_single_line)),
    "group": Key(_one(parse_single_line)),
    "cwd": Key(_one(parse_absolute_path)),
    "umask": Key(_one(parse_umask)),
    "env": Key(partial(parse_entries, parse_variable), repeatable=True, entries=True),
    "limits": Key(partial(parse_entries, parse_limit), repeatable=True, entries=True),
    "timeout": Key(_one(parse_positive_duration)),
    "grace": Key(_one(parse_duration)),
    "stdout": Key(_one(parse_stream())),
    "stderr": Key(_one(parse_stream("stdout"))),
    "output_limit": Key(_one(parse_output_limit)),
    "retries": Key(_one(parse_count)),
    "retry_delay": Key(_one(parse_duration)),
    "on_failure": _HOOK,
    "on_recovery": _HOOK,
    "on_missed": _HOOK,
    "on_late": _HOOK,
    "late_after": Key(_one(parse_duration)),
    "ping": Key(_one(parse_url)),
}
KEYS: Mapping[str, Key] = MappingProxyType(_KEYS)
IN_DEFAULTS = tuple(name for name, key in KEYS.items() if key.in_defaults)
IN_LINES = ("name", *(name for name, key in KEYS.items() if not key.modifier and name != "schedule"))
REPEATABLE = tuple(name for name, key in KEYS.items() if key.repeatable)


_JOB = {
    "the name of the table, [jobs.NAME]": "name",
    "schedule": "cron expression when at every interval calendar on_calendar",
    "timezone": "tz zone time_zone cron_tz",
    "gap or repeated": "dst",
    "window": "win jitter splay delay random_delay randomized_delay spread",
    "distribution": "dist",
    "concurrency": "overlap concurrency_policy concurrencypolicy singleton",
    "concurrency, deadline or suspend": "policy",
    "deadline": "starting_deadline startingdeadlineseconds misfire_grace_time",
    "suspend": "enabled disabled enable disable active paused pause suspended",
    "identity": "id key",
    "description": "desc comment doc title",
    "command": "cmd exec execute run script program args argv task",
    "stdin": "input",
    "user": "uid username run_as runas owner",
    "group": "gid groups",
    "cwd": "workdir work_dir working_dir working_directory workingdirectory dir directory chdir pwd",
    "env": "environment environ variables vars environment_variables",
    "limits": "rlimits rlimit ulimit ulimits resources",
    "timeout": "time_limit max_runtime max_duration runtime",
    "grace": "kill_after stop_timeout",
    "stdout": "output log logfile",
    "retries": "attempts max_retries retry_count",
    "retry_delay": "backoff retry_interval retry_after",
    "on_failure": "mailto mail notify on_error on_fail onfailure",
    "ping": "url healthcheck heartbeat healthchecks webhook",
}
_KROND = {
    "state": "state_dir statedir directory dir data",
    "listen": "port address addr bind host http web url",
    "token_file": "token secret password",
    "retention": "retain history keep",
    "output_retention": "logs output keep_output",
    "max_active": "max_jobs max_running concurrency parallel workers slots jobs",
    "timezone": "tz zone time_zone",
    "slack": "tolerance lateness",
    "drain_timeout": "grace stop_timeout shutdown_timeout timeout",
}


def _by_word(words: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: meant for meant, others in words.items() for word in others.split()})


KEY_ALIASES = _by_word(_JOB)
SETTING_ALIASES = _by_word(_KROND)
