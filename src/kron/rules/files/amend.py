"""amend(source, wishes) -> text: a file in which jobs have other windows and salts, and nothing else is changed.

Comments, order and layout stay. Whether the new text says what is meant is for the caller to check, by reading it.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kron.decision.line import Rest, parse_line, quote
from kron.errors import InvalidDefinitionError
from kron.rules.files.host_job import HostJob
from kron.rules.files.source import Format, Source
from kron.rules.files.spelling import spell
from kron.rules.files.toml_index import index_keys

_MODIFIERS = {"window": "win", "salt": "seed"}
_RESTS = {Format.LINES: Rest.SETTINGS, Format.CRONTAB: Rest.COMMAND, Format.SYSTEM_CRONTAB: Rest.COMMAND}
_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|\{[^{}]*\})"""  # a text on one line, or a table without tables in it


class Wish(NamedTuple):
    """What a job is to have: a window, as it stands between the parentheses of its modifier, or a salt."""

    job: HostJob
    key: str
    value: str


def amend(source: Source, wishes: Iterable[Wish]) -> str:
    """Return the changed text; if there is no safe way to change it, raise InvalidDefinitionError."""
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    lines = source.text.removeprefix(mark).split("\n")
    if source.format is Format.TOML:
        return mark + _amend_toml(lines, wishes)
    for wish in wishes:
        text = lines[wish.job.line - 1]
        start, end = len(text) - len(text.lstrip(" \t")), len(text.rstrip("\r"))
        changed = _with_modifier(text[start:end], _RESTS[source.format], wish)
        lines[wish.job.line - 1] = f"{text[:start]}{changed}{text[end:]}"
    return mark + "\n".join(lines)


def _arguments(wish: Wish) -> str:
    assert wish.job.timing is not None  # a job of boots has neither
    if wish.key == "window":
        return wish.value
    return f"{wish.job.timing.seed.strategy.value},salt={quote(wish.value)}"


def _with_modifier(text: str, rest: Rest, wish: Wish) -> str:
    """Return a schedule line in which a modifier has other arguments, or is added behind the others."""
    line, name = parse_line(text, rest=rest), _MODIFIERS[wish.key]
    modifier = f"@{name}({_arguments(wish)})"
    if name in line.modifiers:
        start = line.modifiers[name].position
        end = start + len(f"@{name}({line.modifiers[name].arguments})")
        return f"{text[:start]}{modifier}{text[end:]}"
    head = text[: line.rest_position]
    end = len(head.rstrip(" \t"))
    return f"{head[:end]} {modifier}{head[end:]}{line.rest}"


# --- TOML -------------------------------------------------------------------------------------------------------------

_KNOWN = ("schedule", "window", "seed", "salt")


class _Place(NamedTuple):
    """A line, where on it a key begins, where its value ends, and the value as it is written."""

    line: int
    start: int
    end: int
    value: str


def _amend_toml(lines: list[str], wishes: Iterable[Wish]) -> str:
    """Change the keys that say what is to be changed, or add them beside the schedules."""
    index = index_keys("\n".join(lines))
    added: dict[int, list[str]] = {}  # below which line; inserted at the end, so that lines keep their numbers
    for wish in wishes:
        known = {name: index[path] - 1 for name in _KNOWN if (path := ("jobs", wish.job.name, name)) in index}
        _amend_table(lines, known, wish, added)
    return "\n".join(text for number, line in enumerate(lines) for text in (line, *added.get(number, ())))


def _amend_table(lines: list[str], known: Mapping[str, int], wish: Wish, added: dict[int, list[str]]) -> None:
    schedule = _find(lines, known, "schedule", wish)
    written = str(_read(schedule.value))
    if f"@{_MODIFIERS[wish.key]}(" in written:
        changed = _with_modifier(written, Rest.NOTHING, wish)
        _replace(lines, schedule, _spelled(changed, schedule.value))
    elif wish.key in known:
        _replace(lines, _find(lines, known, wish.key, wish), spell(wish.value))
    elif wish.key == "salt" and "seed" in known and _has_salt(seed := _find(lines, known, "seed", wish)):
        _replace(lines, seed, spell(_arguments(wish)))
    else:
        line, addition = lines[schedule.line], f"{wish.key} = {spell(wish.value)}"
        if "{" in line[: schedule.start]:  # a table that stands on one line
            lines[schedule.line] = f"{line[: schedule.end]}, {addition}{line[schedule.end :]}"
        else:
            tail = "\r" if line.endswith("\r") else ""
            added.setdefault(schedule.line, []).append(f"{line[: schedule.start]}{addition}{tail}")


def _find(lines: list[str], known: Mapping[str, int], key: str, wish: Wish) -> _Place:
    """Return where a key of a job stands with its value."""
    number = known.get(key, 0)
    match = re.search(rf"""(?:^|(?<=[\s.{{,]))(["']?){key}\1[ \t]*=[ \t]*{_VALUE}""", lines[number])
    if key not in known or match is None or lines[number][match.end() :].startswith(('"', "'")):
        reason = "is written in a way that only its author should change"
        raise InvalidDefinitionError(field=f"{wish.job.prefix}{key}", found="", reason=reason, fix="change it by hand")
    return _Place(number, match.start(), match.end(), match[2])


def _read(value: str) -> object:
    return tomllib.loads(f"value = {value}")["value"]


def _has_salt(seed: _Place) -> bool:
    value = _read(seed.value)
    return "salt" in value if isinstance(value, dict) else "salt" in str(value)


def _replace(lines: list[str], place: _Place, value: str) -> None:
    line = lines[place.line]
    lines[place.line] = f"{line[: place.end - len(place.value)]}{value}{line[place.end :]}"


def _spelled(text: str, before: str) -> str:
    """Return a text in the quotes that it had, if they do."""
    return f"'{text}'" if before.startswith("'") and "'" not in text and text.isprintable() else spell(text)


def says(changed: HostJob, meant: HostJob) -> bool:
    """Whether a job that was read from a changed text is the one that was meant: equal in all but its words."""
    return replace(changed, schedule=meant.schedule) == meant
