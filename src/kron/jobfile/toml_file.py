"""parse_toml(text) -> the tables of a TOML job file, with the line of every key; or its first syntax error."""

import re
import tomllib
from ast import literal_eval
from collections.abc import Mapping
from dataclasses import dataclass, field

from kron.errors import display_text
from kron.errors.diagnostics import unknown_value
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.toml_syntax import DEEPEST, NestingError, Path, format_key, key_lines
from kron.jobfile.values import invalid_value

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
class TomlTables:
    """The three kinds of tables, as drafts."""

    krond: JobDraft | None = None
    defaults: JobDraft | None = None
    jobs: tuple[JobDraft, ...] = field(default=())


def parse_toml(text: str, report: FileReport) -> TomlTables:
    """Return the tables of a text; what is no TOML, or stands in the wrong place, is reported."""
    parsed = _parse(text, report)
    if parsed is None:
        return TomlTables()
    document, index = parsed
    for key in document:
        if key not in TABLES:
            report.error(unknown_value("key", key, TABLES), index.get((key,), 1), format_key(key))
    drafts = {name: _draft(document[name], name, (name,), index, report) for name in TABLES if name in document}
    jobs = drafts.pop("jobs", None)
    found = []
    for name, table in jobs.entries.items() if jobs else ():
        draft = _draft(table, name, ("jobs", name), index, report)
        if draft is not None:
            found.append(draft)
    return TomlTables(drafts.get("krond"), drafts.get("defaults"), tuple(found))


def _draft(table: object, name: str, path: Path, index: Mapping[Path, int], report: FileReport) -> JobDraft | None:
    field = ".".join(format_key(str(key)) for key in path)
    line = index.get(path, 1)
    if not isinstance(table, Mapping):
        fix = "write [jobs.NAME]" if path[0] == "jobs" else f"write [{field}]"
        report.error(invalid_value(field, table, "must be a table", fix), line)
        return None
    return JobDraft(name, line, table, f"{field}.", path, index)


def _parse(text: str, report: FileReport) -> tuple[dict[str, object], dict[Path, int]] | None:
    try:
        index = key_lines(text)  # first, because it refuses what tomllib would be lost in
        return tomllib.loads(text), index
    except NestingError as error:
        report.add("error", "syntax", f"is nested more than {DEEPEST} levels deep", "a job needs four", error.line)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        place = _PLACE.search(message)
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        what = message[: place.start()] if place else message
        column = f", column {place[2]}" if place and place[2] else ", at the end of the file"
        words = _KEY_PATH.sub(lambda found: ".".join(format_key(key) for key in literal_eval(found[0])), what)
        fix = next((fix for start, fix in _REMEDIES.items() if what.startswith(start)), "see toml.io for the language")
        report.add("error", "syntax", f"{display_text(words[:1].lower() + words[1:])}{column}", fix, line)
    except (ValueError, RecursionError):
        number = _LONG_NUMBER.search(text)
        line = text.count("\n", 0, number.start()) + 1 if number else 1
        report.add("error", "syntax", "has a value that is too large to be read", "write a smaller one", line)
    return None
