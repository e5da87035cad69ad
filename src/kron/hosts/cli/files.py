"""read_files(paths) -> jobs: the jobs of files of any form, or all that is wrong with them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from kron.hosts.console import print_findings
from kron.hosts.krond.job_files import Loaded, is_directory, load_jobs
from kron.rules.files.host_job import HostJob
from kron.rules.files.reading import JobSet
from kron.rules.files.source import Format


def open_files(paths: Iterable[str], form: Format | None = None) -> Loaded:
    """Return what stands in files, whoever may write them; a directory is wrong usage."""
    files = list(paths)
    for file in files:
        if is_directory(file):
            raise click.UsageError(f"{file}: is a directory")
    return load_jobs(files, form=form, permissions=False)


def read_files(paths: Iterable[Path]) -> list[HostJob]:
    """Return the jobs of all files, or print every error of all of them and end."""
    return list(_sound(open_files(str(path) for path in paths)).jobs)


def read_job_set(configs: Sequence[str], place: Callable[[str], str], form: Format | None) -> JobSet:
    """Return what stands in files and directories, or print every error of all of them and end."""
    return _sound(load_jobs(configs, form=form, permissions=False, place=place))


def _sound(loaded: Loaded) -> JobSet:
    if not loaded.ok:
        print_findings([finding for finding in loaded.findings if finding.level == "error"])
        click.get_current_context().exit(2)
    return loaded.job_set
