"""read_sources(sources, surroundings) -> JobSet: the jobs of all files of a host, and everything that is wrong."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from kron.errors import printable, shown
from kron.rules.files.build import Builder, Memory
from kron.rules.files.crontab import read_crontab
from kron.rules.files.draft import Draft, Report
from kron.rules.files.host_job import HostJob, Wanted
from kron.rules.files.kron_file import read_kron
from kron.rules.files.settings import Settings, SettingsReader
from kron.rules.files.source import Format, Source, Surroundings
from kron.rules.files.toml_file import TomlFile, read_toml
from kron.rules.finding import Finding

LARGEST = 16 * 1024 * 1024  # characters: a hundred thousand jobs; more is not a job file


@dataclass(frozen=True, slots=True)
class JobSet:
    """The jobs of a host in the order of its files, how the daemon is set up, and what was found on the way."""

    jobs: tuple[HostJob, ...] = ()
    settings: Settings = field(default_factory=Settings)
    findings: tuple[Finding, ...] = ()
    wanted: tuple[Wanted, ...] = ()  # users and groups of what did not become a job
    settings_are_readable: bool = True  # False: a `[krond]` table has errors, or is in a file that is no TOML


def read_sources(sources: Iterable[Source], surroundings: Surroundings) -> JobSet:
    """Return the jobs of all sources. Errors of one hide no others; only what is free of them becomes a job."""
    settings, memory = SettingsReader(), Memory()
    opened = [_open(source, settings) for source in sources]
    zone = settings.settings().timezone  # it holds for all files, so all of them are opened first
    jobs: list[HostJob] = []
    wanted: list[Wanted] = []
    identities: dict[str, HostJob] = {}
    for source, report, toml in opened:
        builder = Builder(source.path, report, surroundings, zone, memory)
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


def read_drafts(source: Source, surroundings: Surroundings) -> tuple[list[Draft], list[Finding]]:
    """Return what a crontab says, line by line, as keys; for writing it in another form."""
    report = Report(source.file)
    return list(_unique(_drafts(source, report, surroundings), report)), report.findings


def _open(source: Source, settings: SettingsReader) -> tuple[Source, Report, TomlFile | None]:
    report = Report(source.file)
    text = source.text.removeprefix("\ufeff")  # the mark that some editors begin a file with
    if len(text) > LARGEST:
        report.add("error", "file", f"is larger than {LARGEST} characters", "split it", 1)
        text = ""
    if source.format is not Format.TOML:
        return Source(source.file, source.path, source.format, text), report, None
    toml = read_toml(text, report)
    if toml.krond is not None:
        settings.read(toml.krond, report)
    return source, report, toml


def _hides_settings(source: Source, report: Report) -> bool:
    """Whether the settings of a file are unknown: there is an error in them, or the file that names them is no TOML."""
    if source.format is not Format.TOML or not report.errors:
        return False
    fields = {finding.field for finding in report.findings if finding.level == "error"}
    if any(field == "krond" or field.startswith("krond.") for field in fields):
        return True
    return ("syntax" in fields or len(source.text) > LARGEST) and _names_settings(source.text)


_ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KROND_TABLE = re.compile(r"""^[ \t]*\[[ \t]*["']?krond["']?[ \t]*(?:[\].]|$)""", re.MULTILINE)
_KROND_KEY = re.compile(r"""^[ \t]*["']?krond["']?[ \t]*[.=]""", re.MULTILINE)


def _names_settings(text: str) -> bool:
    """Whether a text that is no TOML has the head of a `[krond]` table, or such a key before its first table."""
    first = _ANY_TABLE.search(text)
    before = len(text) if first is None else first.start()
    return _KROND_TABLE.search(text) is not None or _KROND_KEY.search(text, 0, before) is not None


def _drafts(source: Source, report: Report, surroundings: Surroundings) -> Iterator[Draft]:
    return _READERS[source.format](source.text, report, surroundings)


_READERS: dict[Format, Callable[[str, Report, Surroundings], Iterator[Draft]]] = {
    Format.LINES: lambda text, report, _: read_kron(text, report),
    Format.CRONTAB: lambda text, report, here: read_crontab(text, report, here, system=False),
    Format.SYSTEM_CRONTAB: lambda text, report, here: read_crontab(text, report, here, system=True),
}


def _unique(drafts: Iterator[Draft], report: Report) -> Iterator[Draft]:
    """Yield the drafts; a name that another one of the file has is reported."""
    first_line: dict[str, int] = {}
    for draft in drafts:
        earlier = first_line.setdefault(draft.name, draft.line)
        if earlier != draft.line and draft.name:
            message = f"{shown(draft.name)!r} is already the name of line {earlier}"
            report.add("error", "name", message, "names are unique in a file", draft.line_of("name"))
        yield draft


def _is_new(job: HostJob, identities: dict[str, HostJob], draft: Draft, report: Report) -> bool:
    earlier = identities.setdefault(job.identity, job)
    if earlier is job:
        return True
    if earlier.name != job.name or earlier.file != job.file:  # else the name was reported already
        message = f'is also that of {earlier.name} at {printable(earlier.file)}:{earlier.line}, found "{job.identity}"'
        report.add("error", f"{draft.prefix}identity", message, "each job has its own", job.line_of("identity"))
    return False


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.file, finding.line)))
