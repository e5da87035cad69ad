"""Drafts as a TOML document, and job files with other windows and salts; both are read back as the same jobs."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kron.decision.line import TrailingText, parse_line, quote
from kron.errors import InvalidDefinitionError
from kron.jobfile.draft import JobDraft
from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import FileFormat, JobFile
from kron.jobfile.toml_syntax import format_key, format_table, format_value, key_lines


def write_toml(drafts: Iterable[JobDraft], *, path: str = "") -> str:
    """Return a table for each draft; those of a file at `path` keep the identity that they have there."""
    return "\n".join(format_table(f"jobs.{format_key(draft.name)}", _entries(draft, path)) for draft in drafts)


def _entries(draft: JobDraft, path: str) -> dict[str, object]:
    entries = dict(draft.entries)
    kept = f"{path}:{draft.name}"
    if path and "identity" not in entries and not {"{", "}"} & set(kept):  # which would be taken for words in braces
        entries["identity"] = kept
    return entries


_MODIFIERS = {"window": "win", "salt": "seed"}
_RESTS = {
    FileFormat.LINES: TrailingText.SETTINGS,
    FileFormat.CRONTAB: TrailingText.COMMAND,
    FileFormat.SYSTEM_CRONTAB: TrailingText.COMMAND,
}
_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|\{[^{}]*\})"""  # a text on one line, or a table without tables in it


class JobEdit(NamedTuple):
    """What a job is to have: a window, as it stands between the parentheses of its modifier, or a salt."""

    job: HostJob
    key: str
    value: str


def edit_file(source: JobFile, wishes: Iterable[JobEdit]) -> str:
    """Return the changed text; if there is no safe way to change it, raise InvalidDefinitionError."""
    mark = "\ufeff" if source.text.startswith("\ufeff") else ""
    lines = source.text.removeprefix(mark).split("\n")
    if source.format is FileFormat.TOML:
        return mark + _amend_toml(lines, wishes)
    for wish in wishes:
        text = lines[wish.job.line - 1]
        start, end = len(text) - len(text.lstrip(" \t")), len(text.rstrip("\r"))
        changed = _with_modifier(text[start:end], _RESTS[source.format], wish)
        lines[wish.job.line - 1] = f"{text[:start]}{changed}{text[end:]}"
    return mark + "\n".join(lines)


def _arguments(wish: JobEdit) -> str:
    assert wish.job.timing is not None  # a job of boots has neither
    if wish.key == "window":
        return wish.value
    return f"{wish.job.timing.seed.strategy.value},salt={quote(wish.value)}"


def _with_modifier(text: str, rest: TrailingText, wish: JobEdit) -> str:
    """Return a schedule line in which a modifier has other arguments, or is added behind the others."""
    line, name = parse_line(text, trailing=rest), _MODIFIERS[wish.key]
    modifier = f"@{name}({_arguments(wish)})"
    if name in line.modifiers:
        start = line.modifiers[name].position
        end = start + len(f"@{name}({line.modifiers[name].arguments})")
        return f"{text[:start]}{modifier}{text[end:]}"
    head = text[: line.trailing_position]
    end = len(head.rstrip(" \t"))
    return f"{head[:end]} {modifier}{head[end:]}{line.trailing}"


# --- TOML -------------------------------------------------------------------------------------------------------------

_KNOWN = ("schedule", "window", "seed", "salt")


class _Place(NamedTuple):
    """A line, where on it a key begins, where its value ends, and the value as it is written."""

    line: int
    start: int
    end: int
    value: str


def _amend_toml(lines: list[str], wishes: Iterable[JobEdit]) -> str:
    """Change the keys that say what is to be changed, or add them beside the schedules."""
    index = key_lines("\n".join(lines))
    added: dict[int, list[str]] = {}  # below which line; inserted at the end, so that lines keep their numbers
    for wish in wishes:
        known = {name: index[path] - 1 for name in _KNOWN if (path := ("jobs", wish.job.name, name)) in index}
        _amend_table(lines, known, wish, added)
    return "\n".join(text for number, line in enumerate(lines) for text in (line, *added.get(number, ())))


def _amend_table(lines: list[str], known: Mapping[str, int], wish: JobEdit, added: dict[int, list[str]]) -> None:
    schedule = _find(lines, known, "schedule", wish)
    written = str(_read(schedule.value))
    if f"@{_MODIFIERS[wish.key]}(" in written:
        changed = _with_modifier(written, TrailingText.NOTHING, wish)
        _replace(lines, schedule, _spelled(changed, schedule.value))
    elif wish.key in known:
        _replace(lines, _find(lines, known, wish.key, wish), format_value(wish.value))
    elif wish.key == "salt" and "seed" in known and _has_salt(seed := _find(lines, known, "seed", wish)):
        _replace(lines, seed, format_value(_arguments(wish)))
    else:
        line, addition = lines[schedule.line], f"{wish.key} = {format_value(wish.value)}"
        if "{" in line[: schedule.start]:  # a table that stands on one line
            lines[schedule.line] = f"{line[: schedule.end]}, {addition}{line[schedule.end :]}"
        else:
            tail = "\r" if line.endswith("\r") else ""
            added.setdefault(schedule.line, []).append(f"{line[: schedule.start]}{addition}{tail}")


def _find(lines: list[str], known: Mapping[str, int], key: str, wish: JobEdit) -> _Place:
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
    return f"'{text}'" if before.startswith("'") and "'" not in text and text.isprintable() else format_value(text)


def is_equivalent(changed: HostJob, meant: HostJob) -> bool:
    """Whether a job that was read from a changed text is the one that was meant: equal in all but its words."""
    return replace(changed, schedule=meant.schedule) == meant
