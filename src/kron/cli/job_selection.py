"""Which jobs a preview is of, and of which span: files, directories and registrations, --from, --to and --at-path."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kron.adapters.system_time import system_now, system_timezone
from kron.cli.host_files import HostSelection, end_without_jobs, placed_pairs, read_fleet
from kron.cli.options import read_span
from kron.cli.run import load_registrations
from kron.console.parameters import CommandDecorator, naming
from kron.cron.wall_time import read_moment
from kron.cron.zone import UTC_ZONE, Zone
from kron.decision.timing import Timing
from kron.errors import InvalidDurationError, KronError
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import SECOND, Instant, shift
from kron.rules.contract import DEFAULT
from kron.rules.job_record import find_identity
from kron.rules.registration import ScheduleReader

_WEEK = 7 * 86_400
_LONGEST = 3660  # days, ten years: a longer forecast would take too long
_REGISTRATIONS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)

FILES: CommandDecorator = click.argument("files", metavar="[FILES]...", nargs=-1)  # an inventory may name them instead
SINCE: CommandDecorator = click.option(
    "--from",
    "since",
    metavar="T",
    help="Start after this time: RFC 3339, or YYYY-MM-DD HH:MM or HH:MM in the jobs' zone. [default: now]",
)
UNTIL: CommandDecorator = click.option(
    "--to", "until", metavar="T", help="End at this time, or after this span, such as 12h or 30d. [default: 7d]"
)
AT_PATH: CommandDecorator = click.option(
    "--at-path", metavar="PATH", help="Read FILES as if they were at PATH, a part of identities."
)


@dataclass(frozen=True, slots=True)
class SelectedJobs:
    """All jobs that were found, and what of them is expected to run."""

    entries: list[ForecastJob]
    count: int = 0  # of all jobs, also those that are suspended or run at boots only


def zone_of(entries: Iterable[ForecastJob]) -> Zone:
    """Return the zone of times that name none: that of all jobs, or UTC."""
    zones = {entry.timing.schedule.timezone: entry.timing.schedule.zone for entry in entries}
    return next(iter(zones.values())) if len(zones) == 1 else UTC_ZONE


def select_jobs(files: Sequence[str], at_path: str | None, whose: HostSelection, *, allow_empty: bool) -> SelectedJobs:
    """Return the jobs of files, directories and lists of registrations, or print every error of all of them and end."""
    targets = [file for file in files if _REGISTRATIONS.fullmatch(file) and not Path(file).exists()]
    others = [file for file in files if file not in targets]
    if targets and whose.inventory is not None:
        raise click.UsageError(f"{targets[0]} is the same on all hosts: --inventory is for job files")
    registered = [entry for target in targets for entry in _registered(target)]
    readings = [] if targets and not others else read_fleet(placed_pairs(others, at_path), whose)
    entries = [entry for reading in readings for entry in reading.entries()] + registered
    found = SelectedJobs(entries, sum(len(reading.jobs) for reading in readings) + len(registered))
    if len({(entry.host, entry.identity) for entry in entries}) != len(entries):
        raise click.UsageError("two of the jobs given have the same identity")
    if not found.count and not allow_empty:
        end_without_jobs(files, whose)
    return found


def find_identities(word: str, entries: Iterable[ForecastJob]) -> set[str]:
    """Return the identity that a word names, on each host that has it; UnknownJobError if no job or several match."""
    hosts: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        hosts.setdefault(entry.host, []).append((entry.name, entry.identity))
    having = [pairs for pairs in hosts.values() if any(word in pair for pair in pairs)]
    return {find_identity(word, pairs) for pairs in having or hosts.values() or [[]]}


def _registered(target: str) -> list[ForecastJob]:
    read = ScheduleReader(DEFAULT, "extended", system_timezone())
    entries: list[ForecastJob] = []
    for number, given in enumerate(load_registrations(target), 1):
        try:
            entries.append(_entry(read, given))
        except (KronError, TypeError, AttributeError) as error:
            reason = error.message if isinstance(error, KronError) else "must have a name and a cron expression"
            raise click.BadParameter(f"registration {number}: {reason}", param_hint=target) from error
    return entries


def _entry(read: ScheduleReader, given: Any) -> ForecastJob:
    name, expression = given[:2]
    found = read.read(expression, name)
    return ForecastJob(name, found if isinstance(found, Timing) else Timing(name, found))


def parse_span(since: str | None, until: str | None, zone: Zone) -> TimeSpan:
    """Return the span that --from and --to name; one that ends before it begins, or is endless, is wrong usage."""
    now = system_now().replace(microsecond=0)
    begin = now if since is None else _moment("--from", since, zone, now)
    end = shift(begin, SECOND * _WEEK) if until is None else _end(until, begin, zone, now)
    end = end.replace(microsecond=0)
    if end < begin:
        raise click.UsageError(f"--to is before --from: {end:%Y-%m-%dT%H:%M:%SZ} is before {begin:%Y-%m-%dT%H:%M:%SZ}")
    if (end - begin).days > _LONGEST:
        raise click.UsageError(f"--to is too far after --from: at most {_LONGEST} days, found {(end - begin).days}")
    return TimeSpan(begin, end)


def _end(text: str, begin: Instant, zone: Zone, now: Instant) -> Instant:
    try:
        length = read_span("--to", text)
    except click.BadParameter as error:
        if isinstance(error.__cause__, InvalidDurationError):
            return _moment("--to", text, zone, now, "; or a length, as 12h or 30d")
        raise
    return shift(begin, SECOND * int(length.total_seconds()))


def _moment(option: str, text: str, zone: Zone, now: Instant, other: str = "") -> Instant:
    with naming(option, other):
        return read_moment(text, zone, now).replace(microsecond=0)
