"""read_files(paths) -> jobs: the jobs of files of any form, or all that is wrong with them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from kron.engine.collector import collector_paused
from kron.hosts.console import print_findings
from kron.hosts.krond.job_files import Loaded, in_order, is_directory, load_jobs, open_sources, surroundings
from kron.rules.files.host_job import HostJob
from kron.rules.files.reading import read_sources
from kron.rules.files.source import Format, Source

_BY_FORMAT, _BY_PATH = "say --format", "give --at-path such a name"  # how else a file's form can be told


def open_files(paths: Iterable[str], form: Format | None = None) -> Loaded:
    """Return what stands in files and directories, whoever may write them."""
    return load_jobs([*paths], form=form, permissions=False)


def read_files(paths: Iterable[Path]) -> list[HostJob]:
    """Return the jobs of all files, or print every error of all of them and end; a directory is wrong usage."""
    files = [str(path) for path in paths]
    for file in files:
        if is_directory(file):
            raise click.UsageError(f"{file}: is a directory")
    loaded = open_files(files)
    _end_if_wrong(loaded)
    return list(loaded.job_set.jobs)


def read_job_set(
    configs: Sequence[str], place: Callable[[str], str], form: Format | None
) -> tuple[list[Source], list[HostJob]]:
    """Return what stands in files and directories, texts and jobs, or print every error of all of them and end."""
    sources, findings, unreadable = open_sources(configs, form=form, permissions=False, place=place)
    with collector_paused():
        job_set = read_sources(sources, surroundings())
    found = [replace(finding, fix=finding.fix.replace(_BY_FORMAT, _BY_PATH)) for finding in findings]
    _end_if_wrong(Loaded(job_set, tuple(in_order([*found, *job_set.findings])), unreadable))
    return sources, list(job_set.jobs)


def _end_if_wrong(loaded: Loaded) -> None:
    if not loaded.ok:
        print_findings([finding for finding in loaded.findings if finding.level == "error"])
        click.get_current_context().exit(2)
