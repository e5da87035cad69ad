"""read_job_set(files, host) -> JobSet: the jobs of all files of a host, and everything that is wrong."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import StringIO

from kron.cron.expression import REBOOT, parse
from kron.decision.line import TrailingText, parse_line
from kron.errors import InvalidDefinitionError, KronError, display_text, escape_unprintable
from kron.errors.diagnostics import Diagnostic, ErrorCollector
from kron.jobfile.builder import JobBuilder, ParseCache
from kron.jobfile.crontab import parse_crontab
from kron.jobfile.draft import FileReport, JobDraft
from kron.jobfile.host_job import HostJob, NamedAccount
from kron.jobfile.job import gather_settings
from kron.jobfile.job_file import FileFormat, HostInfo, JobFile
from kron.jobfile.keys import KEYS
from kron.jobfile.settings import Settings, SettingsReader
from kron.jobfile.toml_file import TomlTables, parse_toml

_BOOLS = {"true": True, "false": False}
LARGEST = 16 * 1024 * 1024  # characters: a hundred thousand jobs; more is not a job file
_ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KROND_TABLE = re.compile(r"""^[ \t]*\[[ \t]*["']?krond["']?[ \t]*(?:[\].]|$)""", re.MULTILINE)
_KROND_KEY = re.compile(r"""^[ \t]*["']?krond["']?[ \t]*[.=]""", re.MULTILINE)


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
