"""Which jobs a preview is of, and of which span: files, directories and registrations, --from, --to and --at-path."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from kron.adapters.system_now import system_now
from kron.adapters.system_timezone import system_timezone
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.timing import Timing
from kron.errors import InvalidDurationError, KronError
from kron.hosts.cli.files import read_job_set
from kron.hosts.cli.options import Decorator, read_span
from kron.hosts.cli.run import load_registrations
from kron.hosts.krond.job_files import form_of, is_directory
from kron.hosts.krond.trust import whole_path
from kron.hosts.moments import read_moment
from kron.instant import Instant
from kron.rules.contract import DEFAULT
from kron.rules.expected import Entry, Span, entries_of, later
from kron.rules.files.host_job import HostJob
from kron.rules.files.source import Source
from kron.rules.reader import Reader

_WEEK = 7 * 86_400
_LONGEST = 3660  # days, ten years: nobody waits for more
_REGISTRATIONS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)

FILES: Decorator = click.argument("files", metavar="FILES...", nargs=-1, required=True)
SINCE: Decorator = click.option(
    "--from",
    "since",
    metavar="T",
    help="After this instant: RFC 3339, or YYYY-MM-DD HH:MM[:SS] or HH:MM[:SS] in the jobs' zone. [default: now]",
)
UNTIL: Decorator = click.option(
    "--to", "until", metavar="T", help="Until this instant, or for so long, such as 12h or 30d. [default: 7d]"
)
AT_PATH: Decorator = click.option(
    "--at-path", metavar="PATH", help="As if the file, or directory, lay there: a path is part of an identity."
)


@dataclass(frozen=True, slots=True)
class Found:
    """All jobs that were found, and what of them is expected to run."""

    entries: list[Entry]
    jobs: list[HostJob] = field(default_factory=list)
    count: int = 0  # of all jobs, also those that are suspended or run at boots only


def zone_of(entries: Iterable[Entry]) -> Zone:
    """Return the zone in which a time without one is meant: that of all jobs, or UTC."""
    zones = {entry.timing.schedule.timezone: entry.timing.schedule.zone for entry in entries}
    return next(iter(zones.values())) if len(zones) == 1 else UTC_ZONE


def find_entries(files: Sequence[str], at_path: str | None = None) -> Found:
    """Return the jobs of files, directories and lists of registrations, or print every error of all of them and end."""
    targets = [file for file in files if _REGISTRATIONS.fullmatch(file) and not Path(file).exists()]
    others = [file for file in files if file not in targets]
    jobs = read_placed(pairs_of(others, at_path)) if others else []
    registered = [entry for target in targets for entry in _registered(target)]
    found = Found(entries_of(jobs) + registered, jobs, len(jobs) + len(registered))
    identities = {entry.identity for entry in found.entries}
    if len(identities) != len(found.entries):
        raise click.UsageError("two of the jobs given have the same identity")
    return found


def pairs_of(files: Sequence[str], at_path: str | None) -> list[tuple[str, str]]:
    """Return each file with where it is to be taken to lie."""
    if at_path is not None and len(files) != 1:
        raise click.UsageError("--at-path is for a single file or directory")
    return [(file, at_path or file) for file in files]


def read_placed(pairs: Sequence[tuple[str, str]]) -> list[HostJob]:
    """Return the jobs of files and directories, each as if it lay where the other of its pair says."""
    return open_placed(pairs)[1]


def open_placed(pairs: Sequence[tuple[str, str]]) -> tuple[list[Source], list[HostJob]]:
    """Return the texts, too. If there are errors, they are printed, and that is all.

    A file whose name does not tell its form has that of the place.
    """
    if not all(given for given, _ in pairs):
        raise click.UsageError("the name of a file must not be empty")
    given, where = pairs[0]
    form = form_of(given) or form_of(where) if len(pairs) == 1 and not is_directory(given) else None
    return read_job_set([given for given, _ in pairs], _placing(pairs), form)


def _placing(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    places = {whole_path(given): whole_path(where) for given, where in pairs}

    def place(file: str) -> str:
        whole = Path(whole_path(file))
        origin = next(path for path in (whole, *whole.parents) if str(path) in places)
        return os.path.normpath(Path(places[str(origin)]) / whole.relative_to(origin))

    return place


def _registered(target: str) -> list[Entry]:
    read = Reader(DEFAULT, "extended", system_timezone())
    entries: list[Entry] = []
    for number, given in enumerate(load_registrations(target), 1):
        try:
            entries.append(_entry(read, given))
        except (KronError, TypeError, AttributeError) as error:
            reason = error.message if isinstance(error, KronError) else "must have a name and a cron expression"
            raise click.BadParameter(f"registration {number}: {reason}", param_hint=target) from error
    return entries


def _entry(read: Reader, given: Any) -> Entry:
    name, expression = given[:2]
    found = read.read(expression, name)
    return Entry(name, found if isinstance(found, Timing) else Timing(name, found))


def find_span(since: str | None, until: str | None, zone: Zone) -> Span:
    """Return the span that --from and --to name; one that ends before it begins, or is endless, is wrong usage."""
    now = system_now().replace(microsecond=0)
    begin = now if since is None else _moment("--from", since, zone, now)
    end = later(begin, _WEEK) if until is None else _end(until, begin, zone, now)
    end = end.replace(microsecond=0)
    if end < begin:
        raise click.UsageError(
            f"--to lies before --from: {end:%Y-%m-%dT%H:%M:%SZ} is before {begin:%Y-%m-%dT%H:%M:%SZ}"
        )
    if (end - begin).days > _LONGEST:
        raise click.UsageError(
            f"--to lies too far after --from: {_LONGEST} days are the most, found {(end - begin).days}"
        )
    return Span(begin, end)


def _end(text: str, begin: Instant, zone: Zone, now: Instant) -> Instant:
    try:
        length = read_span(text)
    except click.BadParameter as error:
        if isinstance(error.__cause__, InvalidDurationError):
            return _moment("--to", text, zone, now, "; or a length, as 12h or 30d")
        raise
    return later(begin, int(length.total_seconds()))


def _moment(option: str, text: str, zone: Zone, now: Instant, other: str = "") -> Instant:
    try:
        return read_moment(text, zone, now).replace(microsecond=0)
    except KronError as error:
        raise click.BadParameter(f"{error.message}{other}", param_hint=option) from error
