"""kron lint FILES or LINES: what is wrong, and what is valid and yet unlikely to be meant."""

import json
from dataclasses import replace
from pathlib import Path

import click

from kron.adapters.system_clock import system_now
from kron.errors import KronError
from kron.hosts.cli.files import open_file
from kron.hosts.cli.options import DIALECT, read_job
from kron.instant import Instant
from kron.rules.finding import Finding, finding_of
from kron.rules.lint import lint as lint_job


@click.command()
@click.argument("what", metavar="FILE|LINE...", nargs=-1, required=True)
@DIALECT
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
def lint(what: tuple[str, ...], dialect: str, *, strict: bool, as_json: bool) -> None:
    """Check .kron files and single schedule lines.

    Errors, and warnings: times that a change of the clocks hits, days that never come, windows longer than the spacing,
    periods that may find no allowed second. Exit 0 no error, 1 errors found, 2 wrong usage or an unreadable file.
    """
    now = system_now()
    findings = [finding for item in what for finding in _findings(item, dialect, now)]
    if strict:
        findings = [replace(finding, level="error") for finding in findings]
    if as_json:
        click.echo(json.dumps([finding.to_dict() for finding in findings], ensure_ascii=False, indent=1))
    else:
        for finding in findings:
            click.secho(str(finding), err=True, fg="red" if finding.level == "error" else "yellow")
    click.get_current_context().exit(1 if any(finding.level == "error" for finding in findings) else 0)


def _findings(item: str, dialect: str, now: Instant) -> list[Finding]:
    """Return the findings about a file, or about a line if the text cannot be a file's name."""
    if _is_line(item):
        try:
            job = read_job(item, dialect=dialect)
        except KronError as error:
            return [finding_of(error, file="<line>", line=1)]
        return [replace(finding, file="<line>", line=1) for finding in lint_job(job, now)]
    found = open_file(Path(item))
    warnings = [
        replace(finding, file=item, line=number) for number, job in found.jobs for finding in lint_job(job, now)
    ]
    return sorted([*found.findings, *warnings], key=lambda finding: finding.line)


def _is_line(item: str) -> bool:
    return (" " in item or "\t" in item or item.startswith("@") or not item) and not _exists(item)


def _exists(item: str) -> bool:
    try:
        return Path(item).is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False
