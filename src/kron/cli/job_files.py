"""kron lint and kron import: what is wrong with job files, and job files made of crontabs."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from kron.adapters.files.job_files import detect_format, host_info, load_jobs, sort_findings
from kron.adapters.files.trust import absolute_path
from kron.adapters.system_time import system_now
from kron.cli.options import DIALECT, read_job
from kron.console.output import exit_with_findings, print_findings
from kron.console.program import DeferredGroup, file_errors
from kron.errors import KronError
from kron.errors.diagnostics import Diagnostic, as_errors, diagnostic_of
from kron.hosts.krond.commands.check import ALLOW_EMPTY, FORMAT, read_form
from kron.jobfile.crontab import user_column
from kron.jobfile.job_file import FileFormat, JobFile
from kron.jobfile.lint import fix_in_line, lint_job, no_jobs
from kron.jobfile.reader import read_drafts, read_job_set
from kron.jobfile.writer import write_toml
from kron.rules.lint import Linter


@click.command()
@click.argument("what", metavar="FILE|DIR|LINE...", nargs=-1, required=True)
@DIALECT
@FORMAT
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
@ALLOW_EMPTY
def lint(
    what: tuple[str, ...], dialect: str, form: str | None, *, strict: bool, as_json: bool, allow_empty: bool
) -> None:
    """Check job files, directories and schedule lines.

    Reads *.toml, *.kron and *.crontab. Warns about times that a clock change skips or doubles, days that never come,
    windows longer than the interval between periods, and periods that may find no allowed second.

    Exit codes: 0 no error, 1 errors or no jobs found, 2 wrong usage or an unreadable file.
    """
    linter = Linter(system_now())
    files = tuple(item for item in what if not _is_line(item))
    loaded = load_jobs(files, form=read_form(files, form), permissions=False)
    found = [*loaded.findings]
    for job in loaded.job_set.jobs:
        found += lint_job(job, linter)
    if files and loaded.ok and not loaded.job_set.jobs and not allow_empty:
        found.append(no_jobs(files))
    of_lines = [finding for item in what if _is_line(item) for finding in _lint_line(item, dialect, linter)]
    every = of_lines + sort_findings(found)
    exit_with_findings(as_errors(every) if strict else every, as_json=as_json, unusable=loaded.unreadable)


def _lint_line(line: str, dialect: str, linter: Linter) -> list[Diagnostic]:
    try:
        job = read_job(line, dialect=dialect)
    except KronError as error:
        return [diagnostic_of(error, file="<line>", line=1)]
    found = linter.check(job.timing, job.policy)
    return [replace(each, fix=fix_in_line(each.fix, line), file="<line>", line=1) for each in found]


def _is_line(item: str) -> bool:
    return (" " in item or "\t" in item or item.startswith("@") or not item) and not _exists(item)


def _exists(item: str) -> bool:
    try:
        return bool(item) and Path(item).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


_COMMANDS = {"crontab": ("Files", "kron.cli.job_files:crontab", "kron import crontab jobs.crontab")}


@click.group("import", cls=DeferredGroup, table=_COMMANDS)
def import_() -> None:
    """Convert the jobs of other schedulers to TOML."""


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--system/--no-system",
    default=None,
    help="Lines have a user column, as in /etc/crontab, or not. [default: by the name of the file]",
)
def crontab(file: str, *, system: bool | None) -> None:
    """Convert a crontab to a TOML job file.

    Writes out zone, shell and environment. Keeps names and identities, so that chosen seconds and history continue.
    FILE may be - for standard input: `crontab -l | kron import crontab -`. Exit codes: 1 if lines seem to have a user
    column and neither --system nor --no-system is given, 2 if the file has errors.
    """
    is_system = detect_format(file) is FileFormat.SYSTEM_CRONTAB if system is None else system
    form = FileFormat.SYSTEM_CRONTAB if is_system else FileFormat.CRONTAB
    source = JobFile(file, "" if file == "-" else absolute_path(file), form, _read(file))
    here = host_info()
    if system is False:
        here = replace(here, users=frozenset())  # words that look like users are programs
    findings = read_job_set([source], here).findings
    if any(finding.level == "error" for finding in findings):
        exit_with_findings(findings, unusable=True)
    print_findings(findings)
    drafts, _ = read_drafts(source, here)
    if not is_system and any(user_column(draft, here.users) for draft in drafts):
        reason = "lines seem to have a column for the user: say --system, or --no-system if these are programs"
        click.secho(f"kron: error: {reason}", fg="red", err=True)
        click.get_current_context().exit(1)
    click.echo(write_toml(drafts, path=source.path), nl=False)


def _read(file: str) -> str:
    with file_errors(file):
        return (sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()).decode()
