"""krond check: whether this host could run the jobs of its files, and what is unlikely to be meant."""

import click

from kron.adapters.files.job_files import is_directory, load_jobs, sort_findings
from kron.adapters.system_time import system_now
from kron.console.output import exit_with_findings
from kron.console.parameters import CommandDecorator, NonEmptyPath
from kron.console.program import WordType
from kron.engine.gc_pause import gc_paused
from kron.errors.diagnostics import as_errors
from kron.hosts.krond.host_checks import check_host
from kron.jobfile.job_file import FileFormat
from kron.jobfile.lint import lint_job, lint_same_second, lint_truncation, no_jobs
from kron.rules.lint import Linter

CONFIG: CommandDecorator = click.option(
    "--config",
    "configs",
    metavar="FILE|DIR",
    type=NonEmptyPath(readable=False),  # an unreadable file is one of the findings
    multiple=True,
    required=True,
    help="Job file, or directory with *.toml, *.kron, *.crontab and cron.d at any depth. Repeatable.",
)
FORMAT: CommandDecorator = click.option(
    "--format",
    "form",
    type=WordType([form.value for form in FileFormat]),
    help="Format of a single file. [default: by its name]",
)

ALLOW_EMPTY: CommandDecorator = click.option("--allow-empty", is_flag=True, help="Accept files without jobs.")


@click.command()
@CONFIG
@FORMAT
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array of findings.")
@click.option("--elsewhere", is_flag=True, help="Check for another host: users missing here are warnings, not errors.")
@click.option("--no-permissions", is_flag=True, help="Skip the check of who may write the files.")
@ALLOW_EMPTY
def check(
    configs: tuple[str, ...], form: str | None, *, strict: bool, as_json: bool, elsewhere: bool, no_permissions: bool,
    allow_empty: bool,
) -> None:  # fmt: skip
    """Check job files as krond on this host reads them.

    Exit codes: 0 no error, 1 errors or no jobs found, 2 wrong usage or an unreadable file.
    """
    loaded = load_jobs(configs, form=read_form(configs, form), permissions=not no_permissions)
    jobs, linter = loaded.job_set.jobs, Linter(system_now())
    with gc_paused():
        found = [*loaded.findings, *check_host(loaded.job_set, elsewhere=elsewhere)]
        for job in jobs:
            found += lint_job(job, linter)
            found += lint_same_second(job)
            found += lint_truncation(job)
    if loaded.ok and not jobs and not allow_empty:
        found.append(no_jobs(configs))
    found = sort_findings(found)
    exit_with_findings(as_errors(found) if strict else found, as_json=as_json, unusable=loaded.unreadable)


def read_form(files: tuple[str, ...], form: str | None) -> FileFormat | None:
    """Return the value of --format, which is for a single file."""
    if form is None:
        return None
    if len(files) != 1 or is_directory(files[0]):
        raise click.UsageError("--format is for a single file")
    return FileFormat(form)
