"""kron plan OLD NEW: what a change of job files does to the coming runs, before anybody makes it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kron.adapters.sqlite_ledger.job_declared import declared_jobs
from kron.engine.collector import collector_paused
from kron.errors import ControlError, shown
from kron.hosts.cli.counting import count_load
from kron.hosts.cli.entries import SINCE, UNTIL, find_span, zone_of
from kron.hosts.cli.fleet import Reading, Whose, end_without_jobs, for_hosts, read_as, read_here, warn_of_this_host
from kron.hosts.cli.inventory import Inventory, read_inventory
from kron.hosts.cli.progress import progress
from kron.hosts.given_path import GivenPath
from kron.hosts.krond.asking import asking
from kron.hosts.krond.check import ALLOW_EMPTY
from kron.hosts.krond.definition import work_of
from kron.hosts.krond.job_files import is_directory
from kron.hosts.krond.looking import opened
from kron.hosts.krond.trust import whole_path
from kron.instant import format_instant
from kron.rules.difference import Difference, difference_of
from kron.rules.expected import Entry, Span, entries_of
from kron.rules.feed import row_of
from kron.rules.files.host_job import HostJob
from kron.rules.load import Load
from kron.rules.work import timing_and_policy

_MANY = 500  # jobs that take longer than a second to compare
_SHOWN = 10  # runs of each kind; JSON has all


@click.command()
@click.argument("files", metavar="OLD NEW", nargs=-1, required=True)
@click.option("--live", is_flag=True, help="Compare with what a running krond has declared: kron plan --live NEW.")
@click.option("--state", type=GivenPath(path_type=Path), help="The state directory of that krond.")
@SINCE
@UNTIL
@click.option("--max-peak", type=click.IntRange(0), metavar="N", help="Exit 1 if more start in one second.")
@click.option("--max-moved", type=click.IntRange(0), metavar="N", help="Exit 1 if more runs are moved.")
@for_hosts
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(
    files: tuple[str, ...],
    *,
    live: bool,
    state: Path | None,
    since: str | None,
    until: str | None,
    max_peak: int | None,
    max_moved: int | None,
    whose: Whose,
    allow_empty: bool,
    as_json: bool,
) -> None:
    """Show which runs appear, vanish and move if the files OLD become NEW.

    NEW, a file or a directory, is taken as if it lay where OLD lies. A job under another identity is told, as are salts
    that changed, the nights on which clocks are changed, and the peak.

    Exit 0, 1 if --max-peak or --max-moved is exceeded, 2 for files with errors.
    """
    if live and whose != Whose():
        raise click.UsageError("--live is about this host: leave --host, --machine and --inventory out")
    sides = _declared(files, state) if live else _given(files, whose)
    for side in sides:
        if not side.jobs and not allow_empty:
            end_without_jobs(side.paths, whose)
    old, new = (side.entries for side in sides)
    span = find_span(since, until, zone_of(new or old))
    jobs = len({(entry.host, entry.identity) for entry in (*old, *new)})
    with progress("comparing", jobs, shown=jobs > _MANY) as advance, collector_paused():
        found = difference_of(old, new, span, advance=advance)
    before, after = count_load(old, span), count_load(new, span)
    if as_json:
        click.echo(json.dumps(_to_dict(found, before, after), ensure_ascii=False, indent=1))
    else:
        _print(found, before, after, span)
    peak = after.chosen.peaks["second"].count
    exceeded = [
        f"{what}: {count}, more than {limit}"
        for what, count, limit in (("starts in one second", peak, max_peak), ("runs moved", found.moved, max_moved))
        if limit is not None and count > limit
    ]
    for reason in exceeded:
        click.secho(f"kron: {reason}", fg="red", err=True)
    click.get_current_context().exit(1 if exceeded else 0)


class Side(NamedTuple):
    """What is compared: jobs that are expected to run, how many there are at all, and where they were looked for."""

    entries: list[Entry]
    jobs: int
    paths: Sequence[str]


def _given(files: Sequence[str], whose: Whose) -> tuple[Side, Side]:
    if len(files) != 2:
        raise click.UsageError("give two files or directories, OLD and NEW")
    old, new = files
    if is_directory(old) != is_directory(new):
        raise click.UsageError("OLD and NEW are two files or two directories")
    pairs = ((old, old), (new, old))
    if whose.inventory is not None:
        before, after = _of_inventory(pairs, read_inventory(whose.inventory))
    else:
        before, after = ([read_here([pair], whose)] for pair in pairs)
        warn_of_this_host([*before, *after], whose)
    return _side(before, [old]), _side(after, [new])


def _of_inventory(pairs: Sequence[tuple[str, str]], inventory: Inventory) -> tuple[list[Reading], list[Reading]]:
    """Return what both sides say on each host; globs choose files of both, where the inventory lies in one of them."""
    folders = [Path(given) / _inside(pairs, inventory) for given, _ in pairs] if _has_globs(inventory) else []
    inventory.check_globs(folders)
    sides: tuple[list[Reading], list[Reading]] = ([], [])
    for host in inventory.hosts:
        for number, (side, pair) in enumerate(zip(sides, pairs, strict=True)):
            side.append(read_as(host, [pair], inventory.files(host, folders[number]) if host.globs else None))
    return sides


def _has_globs(inventory: Inventory) -> bool:
    return any(host.globs for host in inventory.hosts)


def _inside(pairs: Sequence[tuple[str, str]], inventory: Inventory) -> Path:
    """Return the way from OLD or NEW to the directory of the inventory."""
    folder = Path(whole_path(str(inventory.path.parent)))
    for given, _ in pairs:
        if folder.is_relative_to(whole_path(given)):
            return folder.relative_to(whole_path(given))
    raise click.UsageError(f"{inventory.path} has globs: it must lie in OLD or in NEW, whose files they choose")


def _side(readings: Sequence[Reading], paths: Sequence[str]) -> Side:
    entries = [entry for reading in readings for entry in _entries(reading.jobs, reading.host)]
    return Side(entries, sum(len(reading.jobs) for reading in readings), paths)


def _declared(files: Sequence[str], state: Path | None) -> tuple[Side, Side]:
    """Return what a krond has declared, and the new files as if they lay where its own do."""
    with asking(state) as krond:
        status = krond.ask("status")
    configs = [_where(config, status["pid"]) for config in status["config"]]
    if len(configs) != len(files):
        raise ControlError(reason=f"krond runs {', '.join(configs)}: give as many, in this order", exit_code=2)
    old = []
    declared = declared_jobs(opened(state).ledger)
    for job in declared:
        timing, policy = timing_and_policy(job.identity, job.definition)
        if timing is not None and not policy.suspend:
            old.append(Entry(job.name, timing, _what(job.definition)))
    new = read_here(list(zip(files, configs, strict=True)), Whose())
    return Side(old, len(declared), configs), _side([new], files)


def _where(config: str, pid: int) -> str:
    """Return the whole path of a file of a process, which may have been told it from where it is."""
    if Path(config).is_absolute():
        return config
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink() / config)
    except OSError as error:
        reason = f"it cannot be told where the {config} of process {pid} lies: {error.strerror}"
        raise ControlError(reason=reason) from error


def _entries(jobs: Sequence[HostJob], host: str) -> list[Entry]:
    whats = {job.identity: _what(work_of(job).definition) for job in jobs}
    return [entry._replace(what=whats[entry.identity]) for entry in entries_of(jobs, host)]


def _what(definition: str) -> str:
    return json.dumps(json.loads(definition)["command"], sort_keys=True)


def _to_dict(found: Difference, before: Load, after: Load) -> dict[str, object]:
    return {
        "appear": [row_of(*run) for run in found.appear],
        "vanish": [row_of(*run) for run in found.vanish],
        "move": [move.to_dict() for move in found.moves],
        "identity_changed": [changed.to_dict() for changed in found.identities],
        "salt_changed": [changed.to_dict() for changed in found.salts],
        "dst_nights": [night.to_dict() for night in found.nights],
        "peak": {"old": before.chosen.peaks_to_dict(), "new": after.chosen.peaks_to_dict()},
    }


def _print(found: Difference, before: Load, after: Load, span: Span) -> None:
    click.echo(f"after {format_instant(span.since)} until {format_instant(span.until)}")
    appear = [(entry.label, decision.chosen_time, decision.period_id) for entry, decision in found.appear]
    vanish = [(entry.label, decision.chosen_time, decision.period_id) for entry, decision in found.vanish]
    for sign, word, colour, runs in (("+", "appear", "green", appear), ("-", "vanish", "red", vanish)):
        lines = [f"{sign} {_at(at)}  {shown(name)}  (period {period})" for name, at, period in runs]
        _print_some(f"runs that {word}", lines, colour)
    moves = [f"~ {_at(move.before)} → {_at(move.after)}  {_on(move.identity, move.host)}" for move in found.moves]
    _print_some("runs that move", moves, "yellow")
    for what, changes in (("identity", found.identities), ("salt", found.salts)):
        lines = [
            f"! {_on(change.name, change.host)}: {shown(change.old) or 'none'} → {shown(change.new) or 'none'}"
            for change in changes
        ]
        if lines:
            _print_some(f"jobs with another {what}, whose seconds are all drawn anew", lines, "red")
    nights = [
        f"{night.date} {night.timezone}  {_on(', '.join(night.identities[:4]), night.host)}" for night in found.nights
    ]
    if nights:
        _print_some("days of changed clocks on which runs differ", nights, "cyan")
    peaks = zip(before.chosen.peaks.items(), after.chosen.peaks.values(), strict=True)
    click.echo(
        "most starts in a " + ", ".join(f"{unit} {one.count:,} → {other.count:,}" for (unit, one), other in peaks)
    )


def _on(name: str, host: str) -> str:
    return f"{shown(name)} ({shown(host)})" if host else shown(name)


def _print_some(title: str, lines: Sequence[str], colour: str) -> None:
    click.secho(f"{title}: {len(lines):,}", bold=True)
    for line in lines[:_SHOWN]:
        click.secho(f"  {line}", fg=colour)
    if len(lines) > _SHOWN:
        click.echo(f"  and {len(lines) - _SHOWN:,} more")


def _at(at: object) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
