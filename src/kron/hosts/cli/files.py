"""read_files(paths) -> jobs: the jobs of files of any form, or all that is wrong with them."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from kron.engine.collector import collector_paused
from kron.hosts.console import print_findings
from kron.hosts.krond.job_files import Loaded, form_of, in_order, is_directory, load_jobs, open_sources
from kron.hosts.krond.trust import whole_path
from kron.rules.files.host_job import HostJob
from kron.rules.files.reading import read_sources
from kron.rules.files.source import Format, Source, Surroundings

_BY_FORMAT, _BY_PATH = "say --format", "give --at-path such a name"  # how else a file's form can be told


def open_files(paths: Iterable[str], form: Format | None = None) -> Loaded:
    """Return what stands in files and directories, whoever may write them."""
    return load_jobs([*paths], form=form, permissions=False)


def read_files(paths: Iterable[Path]) -> list[HostJob]:
    """Return the jobs of all files, or print every error of all of them and end; a directory is wrong usage."""
    files = [str(path) for path in paths]
    check_files(files)
    loaded = open_files(files)
    _end_if_wrong(loaded)
    return list(loaded.job_set.jobs)


def check_files(files: Iterable[str]) -> None:
    """Refuse directories."""
    for file in files:
        if is_directory(file):
            raise click.UsageError(f"{file}: is a directory; name the files in it")


def pairs_of(files: Sequence[str], at_path: str | None) -> list[tuple[str, str]]:
    """Return each file with where it is to be taken to lie."""
    if at_path is not None and len(files) != 1:
        raise click.UsageError("--at-path is for a single file or directory")
    return [(file, at_path or file) for file in files]


def open_placed(
    pairs: Sequence[tuple[str, str]], here: Surroundings, configs: Sequence[str] | None = None
) -> tuple[list[Source], list[HostJob]]:
    """Return texts and jobs of files and directories, each as if it lay where the other of its pair says.

    If there are errors, they are printed, and that is all. A file whose name does not tell its form has that of the
    place. `configs` are the files and directories to read, if not all that the pairs name.
    """
    if not all(given for given, _ in pairs):
        raise click.UsageError("the name of a file must not be empty")
    given, where = pairs[0]
    form = form_of(given) or form_of(where) if len(pairs) == 1 and not is_directory(given) else None
    files = [given for given, _ in pairs] if configs is None else configs
    sources, findings, unreadable = open_sources(files, form=form, permissions=False, place=_placing(pairs))
    with collector_paused():
        job_set = read_sources(sources, here)
    found = [replace(finding, fix=finding.fix.replace(_BY_FORMAT, _BY_PATH)) for finding in findings]
    _end_if_wrong(Loaded(job_set, tuple(in_order([*found, *job_set.findings])), unreadable))
    return sources, list(job_set.jobs)


def _placing(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    places = {whole_path(given): whole_path(where) for given, where in pairs}

    def place(file: str) -> str:
        whole = Path(whole_path(file))
        origin = next(path for path in (whole, *whole.parents) if str(path) in places)
        return os.path.normpath(Path(places[str(origin)]) / whole.relative_to(origin))

    return place


def _end_if_wrong(loaded: Loaded) -> None:
    if not loaded.ok:
        print_findings([finding for finding in loaded.findings if finding.level == "error"])
        click.get_current_context().exit(2)
