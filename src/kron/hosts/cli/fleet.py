"""read_fleet(pairs, whose) -> Readings: what files say on this host, on another, or on each host of an inventory."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from kron.errors import shown
from kron.hosts.cli.files import open_placed
from kron.hosts.cli.inventory import Inventory, InventoryHost, read_inventory
from kron.hosts.console import print_findings
from kron.hosts.given_path import GivenPath
from kron.hosts.krond.job_files import surroundings
from kron.rules.expected import Entry, entries_of
from kron.rules.files.host_job import HostJob
from kron.rules.files.source import Source, Surroundings
from kron.rules.files.warnings import no_jobs

Pairs = Sequence[tuple[str, str]]  # files and directories, each with where it is to be taken to lie


@dataclass(frozen=True, slots=True)
class Whose:
    """Which hosts the files are read for: this one, one that is named, or those of an inventory."""

    host: str | None = None
    machine: str | None = None
    inventory: Path | None = None

    def given(self) -> dict[str, str]:
        """Return the words in braces of which an option says what they are."""
        words = {"host": self.host, "machine": self.machine}
        return {word: value for word, value in words.items() if value is not None}


class Reading(NamedTuple):
    """What files say on one host; its name is empty without an inventory."""

    host: str
    here: Surroundings
    sources: list[Source]
    jobs: list[HostJob]

    def entries(self) -> list[Entry]:
        """Return the jobs that are expected to run."""
        return entries_of(self.jobs, self.host)


_OPTIONS = (
    click.option("--host", metavar="NAME", help="What {host} is in the files. [default: the name of this machine]"),
    click.option("--machine", metavar="ID", help="What {machine} is in the files. [default: the id of this machine]"),
    click.option(
        "--inventory",
        metavar="FILE",
        type=GivenPath(path_type=Path),
        help="Read the files as on each host of this list. A line is HOST [GLOB...]; a host without globs has the "
        "files given.",
    ),
)


def for_hosts(command: Callable[..., Any]) -> Any:
    """Give a command the options that say whose files they are; it gets them as `whose`."""

    @wraps(command)
    def with_whose(*args: Any, host: str | None, machine: str | None, inventory: Path | None, **rest: Any) -> Any:
        return command(*args, whose=_whose(host, machine, inventory), **rest)

    found: Any = with_whose
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


def _whose(host: str | None, machine: str | None, inventory: Path | None) -> Whose:
    if inventory is not None and (host is not None or machine is not None):
        option = "--host" if host is not None else "--machine"
        raise click.UsageError(f"{option} is for one host, --inventory for many: give one of them")
    for option, value in (("--host", host), ("--machine", machine)):
        if value is not None and (not value.strip() or not value.isprintable()):
            raise click.BadParameter(f"{shown(value)!r} must be one printable line, not empty", param_hint=option)
    return Whose(host, machine, inventory)


def read_fleet(pairs: Pairs, whose: Whose) -> list[Reading]:
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


def read_as(host: InventoryHost, pairs: Pairs, configs: Sequence[str] | None = None) -> Reading:
    """Return what files say on a host of an inventory, whose machine id is not known."""
    here = replace(surroundings(), host=host.name, machine="")
    return Reading(host.name, here, *open_placed(pairs, here, configs))


def read_here(pairs: Pairs, whose: Whose) -> Reading:
    """Return what files say on one host: the one that is named, or this one."""
    this, given = surroundings(), whose.given()
    here = replace(this, host=given.get("host", this.host), machine=given.get("machine", this.machine))
    return Reading("", here, *open_placed(pairs, here))


def warn_of_this_host(readings: Iterable[Reading], whose: Whose) -> None:
    """Print one warning if jobs depend on the host and no option says which one is meant."""
    if whose.inventory is not None:
        return
    values: dict[str, str] = {}
    for reading in readings:
        words = {word for job in reading.jobs for word in job.per_host} - whose.given().keys()
        values |= {word: getattr(reading.here, word) for word in words}
    if values:
        said = " and ".join(f"{{{word}}} is {shown(values[word])}" for word in sorted(values))
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


def end_without_jobs(paths: Sequence[str], whose: Whose) -> None:
    """Print that none of these files has a job, nor any that an inventory names, and end."""
    more = [] if whose.inventory is None else [str(whose.inventory)]
    print_findings([no_jobs([*paths, *more])])
    click.get_current_context().exit(2)
