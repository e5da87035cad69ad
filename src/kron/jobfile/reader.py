"""read_job_set(files, host) -> JobSet: the jobs of all files of a host, and everything that is wrong."""

import re
import tomllib
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO

from kron.cron.expression import REBOOT, parse
from kron.decision.line import TrailingText, parse_line
from kron.errors import InvalidDefinitionError, KronError, display_text, escape_unprintable
from kron.errors.diagnostics import Diagnostic, ErrorCollector, unknown_value
from kron.jobfile.builder import JobBuilder, ParseCache
from kron.jobfile.crontab import parse_crontab
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.host_job import HostJob, NamedAccount
from kron.jobfile.job import gather_settings
from kron.jobfile.job_file import FileFormat, HostInfo, JobFile
from kron.jobfile.keys import KEYS
from kron.jobfile.settings import Settings, SettingsReader
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
_BOOLS = {"true": True, "false": False}
LARGEST = 16 * 1024 * 1024  # characters: a hundred thousand jobs; more is not a job file
_ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KROND_TABLE = re.compile(r"""^[ \t]*\[[ \t]*["']?krond["']?[ \t]*(?:[\].]|$)""", re.MULTILINE)
_KROND_KEY = re.compile(r"""^[ \t]*["']?krond["']?[ \t]*[.=]""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlTables:
    """The three kinds of tables, as drafts."""

    krond: JobDraft | None = None
    defaults: JobDraft | None = None
    jobs: tuple[JobDraft, ...] = field(default=())


def parse_toml(text: str, report: FileReport) -> TomlTables:
    """Return the tables of a text; invalid TOML and misplaced tables are reported."""
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


@dataclass(frozen=True, slots=True)
class JobSet:
    """The jobs of a host in the order of its files, how the daemon is set up, and what was found on the way."""

    jobs: tuple[HostJob, ...] = ()
    settings: Settings = field(default_factory=Settings)
    findings: tuple[Diagnostic, ...] = ()
    wanted: tuple[NamedAccount, ...] = ()  # users and groups of what did not become a job
    settings_are_readable: bool = True  # False: a `[krond]` table has errors, or is in a file that is no TOML


def read_job_set(sources: Iterable[JobFile], surroundings: HostInfo) -> JobSet:
    """Return the jobs of all sources. Errors of one hide no others; only what is free of them becomes a job."""
    settings, memory = SettingsReader(), ParseCache()
    opened = [_open(source, settings) for source in sources]
    zone = settings.settings().timezone  # it holds for all files, so all of them are opened first
    jobs: list[HostJob] = []
    wanted: list[NamedAccount] = []
    identities: dict[str, HostJob] = {}
    for source, report, toml in opened:
        builder = JobBuilder(source.path, report, surroundings, zone, memory)
        if toml is not None and toml.defaults is not None:
            builder.set_defaults(toml.defaults)
        drafts = _drafts(source, report, surroundings) if toml is None else iter(toml.jobs)
        for draft in _unique(drafts, report):
            job = builder.build(draft)
            if job is not None and _is_new(job, identities, draft, report):
                jobs.append(job)
            if report.full:
                break
        wanted += builder.wanted
    findings = _sorted(finding for _, report, _ in opened for finding in report.findings)
    are_readable = not any(_hides_settings(source, report) for source, report, _ in opened)
    return JobSet(tuple(jobs), settings.settings(), findings, tuple(wanted), are_readable)


def read_drafts(source: JobFile, surroundings: HostInfo) -> tuple[list[JobDraft], list[Diagnostic]]:
    """Return what a crontab says, line by line, as keys; for writing it in another form."""
    report = FileReport(source.file)
    return list(_unique(_drafts(source, report, surroundings), report)), report.findings


def _open(source: JobFile, settings: SettingsReader) -> tuple[JobFile, FileReport, TomlTables | None]:
    report = FileReport(source.file)
    text = source.text.removeprefix("\ufeff")  # the mark that some editors begin a file with
    if len(text) > LARGEST:
        report.add("error", "file", f"is larger than {LARGEST} characters", "split it", 1)
        text = ""
    if source.format is not FileFormat.TOML:
        return JobFile(source.file, source.path, source.format, text), report, None
    toml = parse_toml(text, report)
    if toml.krond is not None:
        settings.read(toml.krond, report)
    return source, report, toml


def _hides_settings(source: JobFile, report: FileReport) -> bool:
    """Whether the settings of a file are unknown: there is an error in them, or the file that names them is no TOML."""
    if source.format is not FileFormat.TOML or not report.errors:
        return False
    fields = {finding.field for finding in report.findings if finding.level == "error"}
    if any(field == "krond" or field.startswith("krond.") for field in fields):
        return True
    return ("syntax" in fields or len(source.text) > LARGEST) and _names_settings(source.text)


def _names_settings(text: str) -> bool:
    """Whether a text that is no TOML has the head of a `[krond]` table, or such a key before its first table."""
    first = _ANY_TABLE.search(text)
    before = len(text) if first is None else first.start()
    return _KROND_TABLE.search(text) is not None or _KROND_KEY.search(text, 0, before) is not None


def _drafts(source: JobFile, report: FileReport, surroundings: HostInfo) -> Iterator[JobDraft]:
    return _READERS[source.format](source.text, report, surroundings)


_READERS: dict[FileFormat, Callable[[str, FileReport, HostInfo], Iterator[JobDraft]]] = {
    FileFormat.LINES: lambda text, report, _: parse_lines(text, report),
    FileFormat.CRONTAB: lambda text, report, here: parse_crontab(text, report, here, system=False),
    FileFormat.SYSTEM_CRONTAB: lambda text, report, here: parse_crontab(text, report, here, system=True),
}


def _unique(drafts: Iterator[JobDraft], report: FileReport) -> Iterator[JobDraft]:
    """Yield the drafts; a name that another one of the file has is reported."""
    first_line: dict[str, int] = {}
    for draft in drafts:
        earlier = first_line.setdefault(draft.name, draft.line)
        if earlier != draft.line and draft.name:
            message = f"{display_text(draft.name)!r} is already the name of line {earlier}"
            report.add("error", "name", message, "names are unique in a file", draft.line_of("name"))
        yield draft


def _is_new(job: HostJob, identities: dict[str, HostJob], draft: JobDraft, report: FileReport) -> bool:
    earlier = identities.setdefault(job.identity, job)
    if earlier is job:
        return True
    if earlier.name != job.name or earlier.file != job.file:  # else the name was reported already
        place = f"{escape_unprintable(earlier.file)}:{earlier.line}"
        message = f'is also that of {earlier.name} at {place}, found "{job.identity}"'
        report.add("error", f"{draft.prefix}identity", message, "each job has its own", job.line_of("identity"))
    return False


def _sorted(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.file, finding.line)))
