"""kron tune FILES: salts and windows that bring the starts under a budget, or a salt that leads to a certain second."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import unified_diff

import click

from kron.errors import shown
from kron.hosts.cli.amending import Amended, NotAmendedError, amend_files, write_files
from kron.hosts.cli.counting import count_load
from kron.hosts.cli.entries import AT_PATH, FILES, SINCE, find_span, zone_of
from kron.hosts.cli.files import pairs_of
from kron.hosts.cli.fleet import Reading, Whose, end_without_jobs, for_hosts, read_fleet
from kron.hosts.cli.progress import progress
from kron.hosts.console import counted, print_table
from kron.hosts.krond.check import ALLOW_EMPTY
from kron.hosts.krond.names import find_identity
from kron.instant import format_instant
from kron.rules.expected import Entry, Span
from kron.rules.files.host_job import HostJob
from kron.rules.load import PEAKS, Tally
from kron.rules.salting import find_salt, with_salt
from kron.rules.tuning import Change, Tuner

_SHOWN = 20  # changes; JSON and the patch have all


@click.command()
@FILES
@click.option("--budget", type=click.IntRange(1), metavar="N", help="So many starts at most.")
@click.option("--per", type=click.Choice(list(PEAKS)), default="second", show_default=True, help="In which time.")
@SINCE
@click.option("--to", "until", metavar="T", help="The end of the span [default: 7d]; with --job, the second to hit.")
@click.option("--job", metavar="NAME", help="Print a salt with which this job runs at --to.")
@AT_PATH
@click.option("--write", is_flag=True, help="Change the files.")
@for_hosts
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def tune(
    files: tuple[str, ...],
    *,
    budget: int | None,
    per: str,
    since: str | None,
    until: str | None,
    job: str | None,
    at_path: str | None,
    write: bool,
    whose: Whose,
    allow_empty: bool,
    as_json: bool,
) -> None:
    """Propose salts and windows that keep the starts of job files under a budget, with the smallest change.

    Prints the gain and a patch; --write makes the changes, and keeps comments and layout. Jobs whose identity or salt
    depends on the host, or that several hosts have, are left alone. Exit 1 if the budget is out of reach.

    With --job NAME --to T, prints a salt with which NAME runs at the second T; exit 1 if there is none.
    """
    if (budget is None) == (job is None):
        raise click.UsageError("give either --budget N, or --job NAME and --to T")
    if job is not None and until is None:
        raise click.UsageError("--job needs --to T, the second to hit")
    readings = read_fleet(pairs_of(files, at_path), whose)
    if not allow_empty and not any(reading.jobs for reading in readings):
        end_without_jobs(files, whose)
    entries = [entry for reading in readings for entry in reading.entries()]
    if job is not None:
        _print_salt(readings, job, until or "", write=write, as_json=as_json)
        return
    span = find_span(since, until, zone_of(entries))
    fixed = _fixed(readings)
    tuner = Tuner(entries, span, per, budget or 1, fixed=fixed)
    with progress("tuning", tuner.excess) as advance:
        for gained in tuner.steps():
            advance(gained)
    before, after = (count_load(each, span).chosen for each in (entries, tuner.entries))
    changes, within = tuner.changes(), tuner.excess == 0
    amended, unclear = _amended(readings, changes, tuner.entries, write=write) if within else ([], "")
    if write:
        write_files(amended)
    if as_json:
        answer = {"before": before.peaks_to_dict(), "after": after.peaks_to_dict()}
        hosts = {entry.identity: {"host": entry.host} if entry.host else {} for entry in entries}
        listed = [{**each._asdict(), **hosts[each.identity]} for each in changes]
        click.echo(json.dumps({**answer, "changes": listed}, ensure_ascii=False, indent=1))
    else:
        names = {entry.identity: entry.label for entry in entries}
        _print(span, before, after, [change._replace(identity=names[change.identity]) for change in changes])
        _print_files(amended, write=write)
    if unclear:
        click.secho(f"kron: no patch: {unclear}", fg="yellow", err=True)
    if not within:
        why = f"at most {budget} in one {per} is out of reach of salts and windows"
        if fixed:
            left = counted(len(fixed), "job")
            why += f"; left alone, because they depend on the host or several hosts have them: {left}"
        click.secho(f"kron: {why}", fg="red", err=True)
        click.get_current_context().exit(1)


def _fixed(readings: Sequence[Reading]) -> frozenset[str]:
    """Return the identities of jobs that are left alone: they depend on the host, or several hosts have them.

    A job that is the same on several hosts is moved on all of them at once, and never apart from itself.
    """
    jobs = [job for reading in readings for job in reading.jobs]
    hosts = Counter(job.identity for job in jobs)
    return frozenset(job.identity for job in jobs if job.per_host or hosts[job.identity] > 1)


def _amended(
    readings: Sequence[Reading], changes: Sequence[Change], entries: Sequence[Entry], *, write: bool
) -> tuple[list[Amended], str]:
    """Return the files that change, or why there is no patch; where they are to be written, that is an error."""
    amended: list[Amended] = []
    try:
        for reading in readings:
            own = {job.identity for job in reading.jobs}
            wished = [change for change in changes if change.identity in own]
            amended += amend_files(reading, wished, _tuned(reading.jobs, entries)) if wished else []
        return amended, ""
    except NotAmendedError as error:
        if write:
            raise
        return [], error.message


def _tuned(jobs: Iterable[HostJob], entries: Iterable[Entry]) -> list[HostJob]:
    timings = {entry.identity: entry.timing for entry in entries}
    return [replace(job, timing=timings.get(job.identity, job.timing)) for job in jobs]


def _print(span: Span, before: Tally, after: Tally, changes: Sequence[Change]) -> None:
    click.echo(f"after {format_instant(span.since)} until {format_instant(span.until)}\n")
    rows = [(unit, f"{peak.count:,}", f"{after.peaks[unit].count:,}") for unit, peak in before.peaks.items()]
    print_table(("most in a", "before", "after"), rows, empty="")
    click.echo()
    shown_changes = [(change.identity, change.key, change.old or "none", change.new) for change in changes[:_SHOWN]]
    print_table(("job", "key", "old", "new"), shown_changes, empty="nothing needs to be changed")
    if len(changes) > _SHOWN:
        click.echo(f"and {len(changes) - _SHOWN:,} more")


def _print_files(amended: Sequence[Amended], *, write: bool) -> None:
    for each in amended:
        click.echo()
        if write:
            click.echo(f"written: {each.file}")
            continue
        old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (each.before, each.after))
        for line in unified_diff(old, new, each.file, each.file):
            click.echo(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", nl=False)


def _print_salt(readings: Sequence[Reading], name: str, when: str, *, write: bool, as_json: bool) -> None:
    every = [(reading, job) for reading in readings for job in reading.jobs]
    identity = find_identity(name, dict.fromkeys((job.name, job.identity) for _, job in every))
    having = [(reading, job) for reading, job in every if job.identity == identity]
    reading, job = having[0]
    if len(having) > 1 and job.per_host:
        raise click.UsageError(f"{shown(name)} has another salt on each host: give --host instead of --inventory")
    if job.timing is None:
        raise click.UsageError(f"{shown(name)} runs at boots only, and has no second to choose")
    at = find_span(when, "0s", job.timing.schedule.zone).since
    found = find_salt(job.timing, at)
    if isinstance(found, str):
        click.secho(f"kron: {shown(name)} cannot run at {format_instant(at)}: {found}", fg="red", err=True)
        click.get_current_context().exit(1)
    if write and found.salt != job.timing.seed.salt:
        change = Change(identity, "salt", job.timing.seed.salt, found.salt)
        salted = replace(job, timing=with_salt(job.timing, found.salt))
        tuned = [salted if each is job else each for each in reading.jobs]
        write_files(amend_files(reading, [change], tuned))
    answer = {"identity": identity, "period_id": found.decision.period_id, "chosen_time": format_instant(at)}
    click.echo(json.dumps({**answer, "salt": found.salt}, ensure_ascii=False) if as_json else found.salt)
