"""read_toml(text) -> the tables of a TOML job file, with the line of every key; its first syntax error instead."""

import re
import tomllib
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass, field

from kron.decision.choices import unknown_word
from kron.errors import shown
from kron.rules.files.draft import Draft, Report
from kron.rules.files.spelling import spell_key
from kron.rules.files.toml_index import DEEPEST, Path, TooDeepError, index_keys
from kron.rules.files.toml_plain import read_plain
from kron.rules.files.values import wrong

TABLES = ("krond", "defaults", "jobs")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_WORD = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_KEY_PATH = re.compile(rf"\({_WORD}(?:,|(?:, {_WORD})+)\)")  # as tomllib names a key: a tuple of Python
_REMEDIES = {
    "Cannot declare": "keep one of them",
    "Cannot overwrite": "keep one of them",
    "Cannot redefine": "keep one of them",
    "Cannot mutate": "write all of its keys in one place",
    "Duplicate inline table key": "keep one of them",
    "Expected '='": 'write KEY = "value"',
    "Expected ']'": "close it with ]",
    "Expected newline": "begin a new line",
    "Found invalid character": "remove it",
    "Illegal character": 'close the text with ", or remove the character',
    "Invalid date": "write it in quotes, or as 2026-03-01T00:00:00Z",
    "Invalid initial character": "write a key of letters, digits, - and _, or one in quotes",
    "Invalid statement": 'write [TABLE] or KEY = "value"',
    "Invalid value": 'write a text in quotes, as in KEY = "value"',
    "Unclosed array": "close it with ]",
    "Unclosed inline table": "close it with }",
    "Unescaped '\\'": "write two backslashes, or single quotes around the text",
    "Unterminated string": "close it with the quote that it begins with",
}
_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")  # beyond it Python refuses to read an integer


@dataclass(frozen=True, slots=True)
class TomlFile:
    """The three kinds of tables, as drafts."""

    krond: Draft | None = None
    defaults: Draft | None = None
    jobs: tuple[Draft, ...] = field(default=())


def read_toml(text: str, report: Report) -> TomlFile:
    """Return the tables of a text; what is no TOML, or stands in the wrong place, is reported."""
    parsed = _parse(text, report)
    if parsed is None:
        return TomlFile()
    document, index = parsed
    for key in document:
        if key not in TABLES:
            report.error(unknown_word("key", key, TABLES), index.get((key,), 1), spell_key(key))
    drafts = {name: _draft(document[name], name, (name,), index, report) for name in TABLES if name in document}
    jobs = drafts.pop("jobs", None)
    found = []
    for name, table in jobs.entries.items() if jobs else ():
        draft = _draft(table, name, ("jobs", name), index, report)
        if draft is not None:
            found.append(draft)
    return TomlFile(drafts.get("krond"), drafts.get("defaults"), tuple(found))


def _draft(table: object, name: str, path: Path, index: Mapping[Path, int], report: Report) -> Draft | None:
    field = ".".join(spell_key(str(key)) for key in path)
    line = index.get(path, 1)
    if not isinstance(table, Mapping):
        fix = "write [jobs.NAME]" if path[0] == "jobs" else f"write [{field}]"
        report.error(wrong(field, table, "must be a table", fix), line)
        return None
    return Draft(name, line, table, f"{field}.", path, index)


def _parse(text: str, report: Report) -> tuple[dict[str, object], dict[Path, int]] | None:
    if (plain := read_plain(text)) is not None:
        return plain
    try:
        index = index_keys(text)  # first, because it refuses what tomllib would be lost in
        return tomllib.loads(text), index
    except TooDeepError as error:
        report.add("error", "syntax", f"is nested more than {DEEPEST} levels deep", "a job needs four", error.line)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        what = message[: place.start()] if place else message
        column = f", column {place[2]}" if place and place[2] else ", at the end of the file"
        words = _KEY_PATH.sub(lambda found: ".".join(spell_key(key) for key in literal_eval(found[0])), what)
        fix = next((fix for start, fix in _REMEDIES.items() if what.startswith(start)), "see toml.io for the language")
        report.add("error", "syntax", f"{shown(words[:1].lower() + words[1:])}{column}", fix, line)
    except (ValueError, RecursionError):
        number = _LONG_NUMBER.search(text)
        line = text.count("\n", 0, number.start()) + 1 if number else 1
        report.add("error", "syntax", "has a value that is too large to be read", "write a smaller one", line)
    return None
