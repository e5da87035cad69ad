"""Job files as this host reads them, as another host would, or as each host of an inventory does."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

import click

from kron.adapters.files.job_files import (
    detect_format,
    host_info,
    is_directory,
    read_job_files,
    sort_findings,
)
from kron.adapters.files.trust import absolute_path
from kron.console.output import exit_with_findings
from kron.console.parameters import NonEmptyPath
from kron.console.program import file_errors
from kron.engine.gc_pause import gc_paused
from kron.errors import display_text, escape_unprintable
from kron.errors.diagnostics import Diagnostic
from kron.forecast.runs import ForecastJob
from kron.jobfile.host_job import HostJob, forecast_jobs
from kron.jobfile.job_file import HostInfo, JobFile
from kron.jobfile.lint import no_jobs
from kron.jobfile.reader import read_job_set

_BY_PATH = "give --at-path such a name"  # the other way to name the format of a file


def check_files(files: Iterable[str]) -> None:
    """Refuse directories."""
    for file in files:
        if is_directory(file):
            raise click.UsageError(f"{file}: is a directory; name the files in it")


def placed_pairs(files: Sequence[str], at_path: str | None) -> list[tuple[str, str]]:
    """Return each file with where it is to be taken to lie."""
    if at_path is not None and len(files) != 1:
        raise click.UsageError("--at-path is for a single file or directory")
    return [(file, at_path or file) for file in files]


def load_placed(
    pairs: Sequence[tuple[str, str]], here: HostInfo, configs: Sequence[str] | None = None
) -> tuple[list[JobFile], list[HostJob]]:
    """Return texts and jobs of files and directories, each as if it lay where the other of its pair says.

    Errors are printed and end the command. A file whose name does not tell its form has that of the
    place. `configs` are the files and directories to read, if not all that the pairs name.
    """
    if not all(given for given, _ in pairs):
        raise click.UsageError("the name of a file must not be empty")
    given, where = pairs[0]
    form = detect_format(given) or detect_format(where) if len(pairs) == 1 and not is_directory(given) else None
    files = [given for given, _ in pairs] if configs is None else configs
    sources, findings, unreadable = read_job_files(
        files, form=form, permissions=False, place=_placing(pairs), or_else=_BY_PATH
    )
    with gc_paused():
        job_set = read_job_set(sources, here)
    errors = [finding for finding in sort_findings([*findings, *job_set.findings]) if finding.level == "error"]
    if unreadable or errors:
        exit_with_findings(errors, unusable=True)
    return sources, list(job_set.jobs)


def _placing(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    places = {absolute_path(given): absolute_path(where) for given, where in pairs}

    def place(file: str) -> str:
        whole = Path(absolute_path(file))
        origin = next(path for path in (whole, *whole.parents) if str(path) in places)
        return os.path.normpath(Path(places[str(origin)]) / whole.relative_to(origin))

    return place


class InventoryHost(NamedTuple):
    """A host, its globs, and the line that names it."""

    name: str
    globs: tuple[str, ...]
    line: int


class Inventory(NamedTuple):
    """The hosts of a file, in its order."""

    path: Path
    hosts: tuple[InventoryHost, ...]

    def files(self, host: InventoryHost, folder: Path | None = None) -> list[str]:
        """Return the files and directories that the globs of a host match, each once; `folder` is not the usual one."""
        base = self.path.parent if folder is None else folder
        found = [match for pattern in host.globs for match in _matches(base, pattern)]
        return list(dict.fromkeys(found))

    def check_globs(self, folders: Sequence[Path] = ()) -> None:
        """Print the globs that match nothing in any of the folders, and end if there are some."""
        places = folders or [self.path.parent]
        _end_if_invalid(
            [
                self._finding("glob", f'matches nothing, found "{display_text(pattern)}"', "check its path", host.line)
                for host in self.hosts
                for pattern in host.globs
                if not any(_matches(place, pattern) for place in places)
            ]
        )

    def _finding(self, field: str, message: str, fix: str, line: int) -> Diagnostic:
        return Diagnostic("error", field, message, fix, str(self.path), line)


def read_inventory(path: Path) -> Inventory:
    """Return the hosts of an inventory; if it cannot be used, print why and end."""
    with file_errors(path):
        text = path.read_bytes().decode()
    hosts: dict[str, InventoryHost] = {}
    wrong: list[Diagnostic] = []
    for number, line in enumerate(text.splitlines(), 1):
        name, *globs = _words(line) or [""]
        if name in hosts:
            message = f'"{escape_unprintable(name)}" is already the host of line {hosts[name].line}'
            wrong.append(Diagnostic("error", "host", message, "name each host once", str(path), number))
        elif name:
            hosts[name] = InventoryHost(name, tuple(globs), number)
    if not hosts:
        wrong.append(Diagnostic("error", "host", "names no host", "write a line HOST [GLOB...]", str(path), 1))
    _end_if_invalid(wrong)
    return Inventory(path, tuple(hosts.values()))


def _words(line: str) -> list[str]:
    words = line.split()
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _matches(folder: Path, pattern: str) -> list[str]:
    """Return what a glob matches, in the order of names."""
    found = glob(pattern, root_dir=folder, recursive=True)  # noqa: PTH207 # Path.glob refuses absolute ones
    return sorted(str(Path(folder, match)) for match in found)


def _end_if_invalid(findings: Sequence[Diagnostic]) -> None:
    if findings:
        exit_with_findings(findings, unusable=True)


Pairs = Sequence[tuple[str, str]]  # files and directories, each with where it is to be taken to lie


@dataclass(frozen=True, slots=True)
class HostSelection:
    """Which hosts the files are read for: this one, one that is named, or those of an inventory."""

    host: str | None = None
    machine: str | None = None
    inventory: Path | None = None

    def given(self) -> dict[str, str]:
        """Return the words in braces of which an option says what they are."""
        words = {"host": self.host, "machine": self.machine}
        return {word: value for word, value in words.items() if value is not None}


class HostFiles(NamedTuple):
    """What files say on one host; its name is empty without an inventory."""

    host: str
    here: HostInfo
    sources: list[JobFile]
    jobs: list[HostJob]

    def entries(self) -> list[ForecastJob]:
        """Return the jobs that are expected to run."""
        return forecast_jobs(self.jobs, self.host)


_OPTIONS = (
    click.option("--host", metavar="NAME", help="Value of {host} in the files. [default: this machine's name]"),
    click.option("--machine", metavar="ID", help="Value of {machine} in the files. [default: this machine's id]"),
    click.option(
        "--inventory",
        metavar="FILE",
        type=NonEmptyPath(path_type=Path),
        help="Read the files as each host of this list does. A line is HOST [GLOB...]; without globs a host has FILES.",
    ),
)


def host_options(command: Callable[..., Any]) -> Any:
    """Give a command the options that say whose files they are; it gets them as `whose`."""

    @wraps(command)
    def with_whose(*args: Any, host: str | None, machine: str | None, inventory: Path | None, **rest: Any) -> Any:
        return command(*args, whose=_whose(host, machine, inventory), **rest)

    found: Any = with_whose
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


def _whose(host: str | None, machine: str | None, inventory: Path | None) -> HostSelection:
    if inventory is not None and (host is not None or machine is not None):
        option = "--host" if host is not None else "--machine"
        raise click.UsageError(f"{option} is for one host, --inventory for many: give one of them")
    for option, value in (("--host", host), ("--machine", machine)):
        if value is not None and (not value.strip() or not value.isprintable()):
            raise click.BadParameter(
                f"{display_text(value)!r} must be one printable line, not empty", param_hint=option
            )
    return HostSelection(host, machine, inventory)


def read_fleet(pairs: Pairs, whose: HostSelection) -> list[HostFiles]:
    """Return what the files say on each host, or print every error of the first host that has some and end."""
    if whose.inventory is None:
        if not pairs:
            raise click.UsageError("Missing argument 'FILES...': give job files, or --inventory FILE.")
        found = [read_here(pairs, whose)]
        warn_of_this_host(found, whose)
        return found
    inventory = read_inventory(whose.inventory)
    inventory.check_globs()
    check_needed(inventory, pairs)
    found = []
    for host in inventory.hosts:
        own = [(file, file) for file in inventory.files(host)] if host.globs else pairs
        found.append(read_as(host, own))
    return found


def read_as(host: InventoryHost, pairs: Pairs, configs: Sequence[str] | None = None) -> HostFiles:
    """Return what files say on a host of an inventory, whose machine id is not known."""
    here = replace(host_info(), host=host.name, machine="")
    return HostFiles(host.name, here, *load_placed(pairs, here, configs))


def read_here(pairs: Pairs, whose: HostSelection) -> HostFiles:
    """Return what files say on one host: the one that is named, or this one."""
    this, given = host_info(), whose.given()
    here = replace(this, host=given.get("host", this.host), machine=given.get("machine", this.machine))
    return HostFiles("", here, *load_placed(pairs, here))


def warn_of_this_host(readings: Iterable[HostFiles], whose: HostSelection) -> None:
    """Print one warning if jobs depend on the host and no option selects one."""
    if whose.inventory is not None:
        return
    values: dict[str, str] = {}
    for reading in readings:
        words = {word for job in reading.jobs for word in job.varies_by_host} - whose.given().keys()
        values |= {word: getattr(reading.here, word) for word in words}
    if values:
        said = " and ".join(f"{{{word}}} is {display_text(values[word])}" for word in sorted(values))
        options = " and ".join(f"--{word}" for word in sorted(values))
        verb = "names" if len(values) == 1 else "name"
        click.secho(f"kron: warning: {said}, as on this machine; {options} {verb} another one", fg="yellow", err=True)


def check_needed(inventory: Inventory, pairs: Pairs) -> None:
    """Refuse files that no host has, and hosts that have no files."""
    bare = [host for host in inventory.hosts if not host.globs]
    if bare and not pairs:
        reason = f"{inventory.path}:{bare[0].line}: {bare[0].name} has no globs, and no files are given"
        raise click.UsageError(f"{reason}: add a glob to the line, or give files")
    if pairs and not bare:
        raise click.UsageError(f"each host of {inventory.path} has globs: give no files beside --inventory")


def end_without_jobs(paths: Sequence[str], whose: HostSelection) -> None:
    """Print that none of these files has a job, nor any that an inventory names, and end."""
    more = [] if whose.inventory is None else [str(whose.inventory)]
    exit_with_findings([no_jobs([*paths, *more])], unusable=True)
