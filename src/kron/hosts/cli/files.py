"""read_files(paths) -> jobs: the jobs of `.kron` files, or all that is wrong with them."""

from collections.abc import Iterable
from pathlib import Path

import click

from kron.rules.finding import Finding
from kron.rules.job import Job
from kron.rules.job_file import JobFile, read_job_file


def open_file(path: Path) -> JobFile:
    """Return what stands in one file; a file that cannot be read is wrong usage."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise click.UsageError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path}: is not UTF-8 at byte {error.start}") from error
    return read_job_file(text, file=str(path), source=str(path.absolute()))


def read_files(paths: Iterable[Path]) -> list[Job]:
    """Return the jobs of all files, or print every error of all of them and end."""
    jobs: list[Job] = []
    findings: list[Finding] = []
    for path in paths:
        found = open_file(path)
        jobs += [job for _, job in found.jobs]
        findings += found.findings
    if findings:
        for finding in findings:
            click.echo(str(finding), err=True)
        click.get_current_context().exit(2)
    return jobs
