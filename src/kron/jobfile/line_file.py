"""parse_lines(text) -> drafts: a `.kron` file, one job a line."""

from collections.abc import Iterator
from io import StringIO

from kron.cron.expression import REBOOT, parse
from kron.decision.line import TrailingText, parse_line
from kron.errors import InvalidDefinitionError, KronError
from kron.errors.diagnostics import ErrorCollector
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.job import gather_settings
from kron.jobfile.keys import KEYS

_BOOLS = {"true": True, "false": False}


def parse_lines(text: str, report: FileReport) -> Iterator[JobDraft]:
    """Yield what each line says; a line that cannot be taken apart is reported."""
    for number, line in enumerate(StringIO(text), 1):
        content = line.rstrip("\r\n")
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        if report.full:
            return
        try:
            yield _read_line(content, number)
        except KronError as error:
            report.errors_of(error, number)


def _read_line(content: str, number: int) -> JobDraft:
    line = parse_line(content, trailing=TrailingText.SETTINGS)
    entries: dict[str, object] = {"schedule": content[: line.trailing_position].strip()}
    mistakes = ErrorCollector()
    name = None
    for key, value in gather_settings(line.trailing, line.trailing_position, mistakes):
        if key == "name":
            name = value
        else:
            with mistakes:
                _add(entries, key, value)
    if name is None and line.expression.lower() != REBOOT:
        parse(line.expression)  # it may have swallowed the name; then its own error is the one that helps
    return JobDraft(name or "", number, entries, mistakes=tuple(mistakes.errors))


def _add(entries: dict[str, object], key: str, value: str) -> None:
    found: object
    if KEYS[key].entries:
        _add_entry(entries.setdefault(key, {}), key, value)
    elif KEYS[key].repeatable:
        found = entries.setdefault(key, [])
        assert isinstance(found, list)
        found.append(value)
    else:
        entries[key] = _value(key, value)


def _add_entry(table: object, key: str, value: str) -> None:
    assert isinstance(table, dict)
    name, equals, text = value.partition("=")
    if not equals:
        fix = f"write {key}=NAME=value"
        raise InvalidDefinitionError(field=key, found=value, reason="needs a name and a value", fix=fix)
    if name in table:
        raise InvalidDefinitionError(field=f"{key}.{name}", found=text, reason="is said twice", fix="keep one of them")
    table[name] = text


def _value(key: str, text: str) -> object:
    """Return a value as TOML would have it, where a text alone would not do."""
    if key == "shell":
        return _BOOLS.get(text, text)
    if key == "retries" and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return text
