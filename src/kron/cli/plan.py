"""kron plan OLD NEW: what a change of job files would do to the coming runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kron.adapters.files.job_files import is_directory
from kron.adapters.files.trust import absolute_path
from kron.cli.host_files import (
    HostFiles,
    HostSelection,
    Inventory,
    end_without_jobs,
    host_options,
    read_as,
    read_here,
    read_inventory,
    warn_of_this_host,
)
from kron.cli.job_selection import SINCE, UNTIL, parse_span, zone_of
from kron.cli.load_workers import count_load
from kron.console.output import print_json, progress
from kron.engine.gc_pause import gc_paused
from kron.errors import ControlError, display_text
from kron.forecast.feed import row_of
from kron.forecast.load import Load
from kron.forecast.plan import SchedulePlan, plan_change
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.hosts.krond.commands.check import ALLOW_EMPTY
from kron.hosts.krond.commands.control import STATE, connect
from kron.hosts.krond.commands.history import open_history, open_state
from kron.instant import format_instant
from kron.jobfile.host_job import HostJob, forecast_jobs, work_of
from kron.rules.job_spec import parse_definition

_MANY = 500  # jobs that take longer than a second to compare
_SHOWN = 10  # runs of each kind; JSON has all


@click.command()
@click.argument("files", metavar="OLD NEW", nargs=-1, required=True)
@click.option("--live", is_flag=True, help="Compare with the jobs of the running krond: kron plan --live NEW.")
@STATE
@SINCE
@UNTIL
@click.option("--max-peak", type=click.IntRange(0), metavar="N", help="Allow N starts in a second. [default: no limit]")
@click.option("--max-moved", type=click.IntRange(0), metavar="N", help="Allow N moved runs. [default: no limit]")
@host_options
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(
    files: tuple[str, ...], *, live: bool, state: Path | None, since: str | None, until: str | None,
    max_peak: int | None, max_moved: int | None, whose: HostSelection, allow_empty: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show which runs a change of job files adds, removes and moves.

    NEW, a file or a directory, is read as if it were at the path of OLD. Also lists changed identities and salts, days
    of clock changes on which runs differ, and the peak of starts.

    Exit codes: 0 success, 1 --max-peak or --max-moved is exceeded, 2 wrong usage or files with errors.
    """
    if live and whose != HostSelection():
        raise click.UsageError("--live is about this host: leave --host, --machine and --inventory out")
    sides = _declared(files, state) if live else _given(files, whose)
    for side in sides:
        if not side.jobs and not allow_empty:
            end_without_jobs(side.paths, whose)
    old, new = (side.entries for side in sides)
    span = parse_span(since, until, zone_of(new or old))
    jobs = len({(entry.host, entry.identity) for entry in (*old, *new)})
    with progress("comparing", jobs, shown=jobs > _MANY) as advance, gc_paused():
        found = plan_change(old, new, span, advance=advance)
    before, after = count_load(old, span), count_load(new, span)
    if as_json:
        print_json(_to_dict(found, before, after))
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

    entries: list[ForecastJob]
    jobs: int
    paths: Sequence[str]


def _given(files: Sequence[str], whose: HostSelection) -> tuple[Side, Side]:
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


def _of_inventory(pairs: Sequence[tuple[str, str]], inventory: Inventory) -> tuple[list[HostFiles], list[HostFiles]]:
    """Return both sides on each host; globs match files of both if the inventory is in one of them."""
    folders = [Path(given) / _inside(pairs, inventory) for given, _ in pairs] if _has_globs(inventory) else []
    inventory.check_globs(folders)
    sides: tuple[list[HostFiles], list[HostFiles]] = ([], [])
    for host in inventory.hosts:
        for number, (side, pair) in enumerate(zip(sides, pairs, strict=True)):
            side.append(read_as(host, [pair], inventory.files(host, folders[number]) if host.globs else None))
    return sides


def _has_globs(inventory: Inventory) -> bool:
    return any(host.globs for host in inventory.hosts)


def _inside(pairs: Sequence[tuple[str, str]], inventory: Inventory) -> Path:
    """Return the way from OLD or NEW to the directory of the inventory."""
    folder = Path(absolute_path(str(inventory.path.parent)))
    for given, _ in pairs:
        if folder.is_relative_to(absolute_path(given)):
            return folder.relative_to(absolute_path(given))
    raise click.UsageError(f"{inventory.path} has globs: it must lie in OLD or in NEW, whose files they choose")


def _side(readings: Sequence[HostFiles], paths: Sequence[str]) -> Side:
    entries = [entry for reading in readings for entry in _entries(reading.jobs, reading.host)]
    return Side(entries, sum(len(reading.jobs) for reading in readings), paths)


def _declared(files: Sequence[str], state: Path | None) -> tuple[Side, Side]:
    """Return what a krond has declared, and the new files as if they lay where its own do."""
    with connect(state) as krond:
        status = krond.ask("status")
    configs = [_where(config, status["pid"]) for config in status["config"]]
    if len(configs) != len(files):
        raise ControlError(reason=f"krond runs {', '.join(configs)}: give as many, in this order", exit_code=2)
    old = []
    declared = open_history(open_state(state)).definitions()
    for job in declared:
        timing, policy = parse_definition(job.identity, job.definition)
        if timing is not None and not policy.suspend:
            old.append(ForecastJob(job.name, timing, _what(job.definition)))
    new = read_here(list(zip(files, configs, strict=True)), HostSelection())
    return Side(old, len(declared), configs), _side([new], files)


def _where(config: str, pid: int) -> str:
    """Return the absolute path of a file that a process names relative to its working directory."""
    if Path(config).is_absolute():
        return config
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink() / config)
    except OSError as error:
        reason = f"the path of {config}, a file of process {pid}, is not known: {error.strerror}"
        raise ControlError(reason=reason) from error


def _entries(jobs: Sequence[HostJob], host: str) -> list[ForecastJob]:
    whats = {job.identity: _what(work_of(job).definition) for job in jobs}
    return [entry._replace(command_text=whats[entry.identity]) for entry in forecast_jobs(jobs, host)]


def _what(definition: str) -> str:
    return json.dumps(json.loads(definition)["command"], sort_keys=True)


def _to_dict(found: SchedulePlan, before: Load, after: Load) -> dict[str, object]:
    return {
        "appear": [row_of(*run) for run in found.added],
        "vanish": [row_of(*run) for run in found.removed],
        "move": [move.to_dict() for move in found.moves],
        "identity_changed": [changed.to_dict() for changed in found.identities],
        "salt_changed": [changed.to_dict() for changed in found.salts],
        "dst_nights": [night.to_dict() for night in found.nights],
        "peak": {"old": before.chosen.peaks_to_dict(), "new": after.chosen.peaks_to_dict()},
    }


def _print(found: SchedulePlan, before: Load, after: Load, span: TimeSpan) -> None:
    click.echo(f"after {format_instant(span.since)} until {format_instant(span.until)}")
    appear = [(entry.label, decision.chosen_time, decision.period_id) for entry, decision in found.added]
    vanish = [(entry.label, decision.chosen_time, decision.period_id) for entry, decision in found.removed]
    for sign, word, colour, runs in (("+", "appear", "green", appear), ("-", "vanish", "red", vanish)):
        lines = [f"{sign} {_at(at)}  {display_text(name)}  (period {period})" for name, at, period in runs]
        _print_some(f"runs that {word}", lines, colour)
    moves = [f"~ {_at(move.before)} → {_at(move.after)}  {_on(move.identity, move.host)}" for move in found.moves]
    _print_some("runs that move", moves, "yellow")
    for what, changes in (("identity", found.identities), ("salt", found.salts)):
        lines = [
            f"! {_on(change.name, change.host)}: "
            f"{display_text(change.old) or 'none'} → {display_text(change.new) or 'none'}"
            for change in changes
        ]
        if lines:
            _print_some(f"jobs with another {what}, and other seconds for all runs", lines, "red")
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
    return f"{display_text(name)} ({display_text(host)})" if host else display_text(name)


def _print_some(title: str, lines: Sequence[str], colour: str) -> None:
    click.secho(f"{title}: {len(lines):,}", bold=True)
    for line in lines[:_SHOWN]:
        click.secho(f"  {line}", fg=colour)
    if len(lines) > _SHOWN:
        click.echo(f"  and {len(lines) - _SHOWN:,} more")


def _at(at: object) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"
