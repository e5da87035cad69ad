"""kron lint FILES or LINES: what is wrong, and what is valid and yet unlikely to be meant."""

from dataclasses import replace
from pathlib import Path

import click

from kron.adapters.system_now import system_now
from kron.errors import KronError
from kron.hosts.cli.files import open_files
from kron.hosts.cli.options import DIALECT, read_job
from kron.hosts.console import end_with_findings
from kron.hosts.krond.check import ALLOW_EMPTY, FORMAT, read_form
from kron.hosts.krond.job_files import in_order
from kron.rules.files.warnings import no_jobs, warn
from kron.rules.finding import Finding, finding_of
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
    """Check job files of any form (*.toml, *.kron, *.crontab), those of directories, and single schedule lines.

    Errors, and warnings: times that a change of the clocks hits, days that never come, windows longer than the spacing,
    periods that may find no allowed second.

    Exit 0 no error, 1 errors found or no jobs, 2 wrong usage or an unreadable file.
    """
    linter = Linter(system_now())
    files = tuple(item for item in what if not _is_line(item))
    loaded = open_files(files, read_form(files, form))
    found = [*loaded.findings]
    for job in loaded.job_set.jobs:
        found += warn(job, linter)
    if files and loaded.ok and not loaded.job_set.jobs and not allow_empty:
        found.append(no_jobs(files))
    of_lines = [finding for item in what if _is_line(item) for finding in _lint_line(item, dialect, linter)]
    every = of_lines + in_order(found)
    end_with_findings(every, strict=strict, as_json=as_json, unreadable=loaded.unreadable)


def _lint_line(line: str, dialect: str, linter: Linter) -> list[Finding]:
    try:
        job = read_job(line, dialect=dialect)
    except KronError as error:
        return [finding_of(error, file="<line>", line=1)]
    return [replace(finding, file="<line>", line=1) for finding in linter.warnings(job.timing, job.policy)]


def _is_line(item: str) -> bool:
    return (" " in item or "\t" in item or item.startswith("@") or not item) and not _exists(item)


def _exists(item: str) -> bool:
    try:
        return bool(item) and Path(item).exists()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False
