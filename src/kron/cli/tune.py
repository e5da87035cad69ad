"""kron tune: salts and windows for a budget or a second, and the edits of the job files that say so."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from kron.cli.host_files import HostFiles, HostSelection, end_without_jobs, host_options, placed_pairs, read_fleet
from kron.cli.job_selection import AT_PATH, FILES, SINCE, parse_span, zone_of
from kron.cli.load_workers import count_load
from kron.console.output import pluralize, print_json, print_table, progress
from kron.console.program import WordType, file_errors
from kron.errors import InvalidDefinitionError, display_text
from kron.forecast.load import PEAKS, StartCounts
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.forecast.tune import Tuner, TuningChange, find_salt, with_salt
from kron.hosts.krond.commands.check import ALLOW_EMPTY
from kron.instant import format_instant
from kron.jobfile.host_job import HostJob
from kron.jobfile.job_file import JobFile
from kron.jobfile.reader import read_job_set
from kron.jobfile.writer import JobEdit, edit_file, is_equivalent
from kron.rules.job_record import find_identity


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file with its old and its new text."""

    file: str
    before: str
    after: str


def edit_files(reading: HostFiles, changes: Iterable[TuningChange], meant: Sequence[HostJob]) -> list[FileEdit]:
    """Return the files that change. What they then say is read again, and must be `meant`; else that is the end."""
    sources = reading.sources
    by_identity = {job.identity: job for job in reading.jobs}
    wishes: dict[str, list[JobEdit]] = {}
    for change in changes:
        job = by_identity[change.identity]
        wishes.setdefault(job.file, []).append(JobEdit(job, change.key, change.new))
    texts: dict[str, JobFile] = {}
    for source in sources:
        try:
            text = edit_file(source, wishes.get(source.file, ()))
        except InvalidDefinitionError as error:
            raise UneditableFileError(f"{source.file}: {error.message}") from error
        texts[source.file] = JobFile(source.file, source.path, source.format, text)
    read = {job.identity: job for job in read_job_set(texts.values(), reading.here).jobs}
    for job in meant:
        if job.identity not in read or not is_equivalent(read[job.identity], job):
            reason = "is written in a way that only its author should change; change it by hand"
            raise UneditableFileError(f"{job.file}:{job.line}: {display_text(job.name)} {reason}")
    return [
        FileEdit(source.file, source.text, texts[source.file].text)
        for source in sources
        if texts[source.file].text != source.text
    ]


def write_files(amended: Iterable[FileEdit]) -> None:
    """Replace files, each at once and with the owner and permissions it has."""
    for each in amended:
        path = Path(each.file).resolve()
        with file_errors(f"{each.file}: cannot be written"):
            found = path.stat()
            with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as new:
                try:
                    new.write(each.after.encode())
                    new.flush()
                    os.fsync(new.fileno())
                    os.fchmod(new.fileno(), found.st_mode & 0o7777)
                    os.fchown(new.fileno(), found.st_uid, found.st_gid)
                    Path(new.name).replace(path)
                except BaseException:
                    with suppress(OSError):
                        Path(new.name).unlink()
                    raise


class UneditableFileError(click.ClickException):
    """There is no safe way to change a file, and none was changed."""

    exit_code = 2


_SHOWN = 20  # changes; JSON and the patch have all


@click.command()
@FILES
@click.option("--budget", type=click.IntRange(1), metavar="N", help="Allow at most N starts in each --per.")
@click.option("--per", type=WordType(list(PEAKS)), default="second", help="Unit of --budget.")
@SINCE
@click.option("--to", "until", metavar="T", help="End of the span; with --job, the second to hit. [default: 7d]")
@click.option("--job", metavar="NAME", help="Print a salt with which this job runs at --to. Replaces --budget.")
@AT_PATH
@click.option("--write", is_flag=True, help="Change the files instead of printing a patch.")
@host_options
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def tune(
    files: tuple[str, ...], *, budget: int | None, per: str, since: str | None, until: str | None, job: str | None,
    at_path: str | None, write: bool, whose: HostSelection, allow_empty: bool, as_json: bool,
) -> None:  # fmt: skip
    """Propose salts and windows that keep starts under a budget.

    Prints the smallest change as a patch; --write applies it and keeps comments and layout. Jobs whose identity or salt
    depends on the host, or that several hosts have, are not changed. Exits with 1 if the budget is out of reach.

    With --job NAME --to T, prints a salt with which NAME runs at the second T, or exits with 1 if there is none.
    """
    if (budget is None) == (job is None):
        raise click.UsageError("give either --budget N, or --job NAME and --to T")
    if job is not None and until is None:
        raise click.UsageError("--job needs --to T, the second to hit")
    readings = read_fleet(placed_pairs(files, at_path), whose)
    if not allow_empty and not any(reading.jobs for reading in readings):
        end_without_jobs(files, whose)
    entries = [entry for reading in readings for entry in reading.entries()]
    if job is not None:
        _print_salt(readings, job, until or "", write=write, as_json=as_json)
        return
    span = parse_span(since, until, zone_of(entries))
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
        print_json({**answer, "changes": listed})
    else:
        names = {entry.identity: entry.label for entry in entries}
        _print(span, before, after, [change._replace(identity=names[change.identity]) for change in changes])
        _print_files(amended, write=write)
    if unclear:
        click.secho(f"kron: no patch: {unclear}", fg="yellow", err=True)
    if not within:
        why = f"at most {budget} in one {per} is out of reach of salts and windows"
        if fixed:
            left = pluralize(len(fixed), "job")
            why += f"; left alone, because they depend on the host or several hosts have them: {left}"
        click.secho(f"kron: {why}", fg="red", err=True)
        click.get_current_context().exit(1)


def _fixed(readings: Sequence[HostFiles]) -> frozenset[str]:
    """Return the identities of jobs that are left alone: they depend on the host, or several hosts have them.

    A job that is the same on several hosts is moved on all of them at once, and never apart from itself.
    """
    jobs = [job for reading in readings for job in reading.jobs]
    hosts = Counter(job.identity for job in jobs)
    return frozenset(job.identity for job in jobs if job.varies_by_host or hosts[job.identity] > 1)


def _amended(
    readings: Sequence[HostFiles], changes: Sequence[TuningChange], entries: Sequence[ForecastJob], *, write: bool
) -> tuple[list[FileEdit], str]:
    """Return the files that change, or why there is no patch; where they are to be written, that is an error."""
    amended: list[FileEdit] = []
    try:
        for reading in readings:
            own = {job.identity for job in reading.jobs}
            wished = [change for change in changes if change.identity in own]
            amended += edit_files(reading, wished, _tuned(reading.jobs, entries)) if wished else []
        return amended, ""
    except UneditableFileError as error:
        if write:
            raise
        return [], error.message


def _tuned(jobs: Iterable[HostJob], entries: Iterable[ForecastJob]) -> list[HostJob]:
    timings = {entry.identity: entry.timing for entry in entries}
    return [replace(job, timing=timings.get(job.identity, job.timing)) for job in jobs]


def _print(span: TimeSpan, before: StartCounts, after: StartCounts, changes: Sequence[TuningChange]) -> None:
    click.echo(f"after {format_instant(span.since)} until {format_instant(span.until)}\n")
    rows = [(unit, f"{peak.count:,}", f"{after.peaks[unit].count:,}") for unit, peak in before.peaks.items()]
    print_table(("most in a", "before", "after"), rows, empty="")
    click.echo()
    shown_changes = [(change.identity, change.key, change.old or "none", change.new) for change in changes[:_SHOWN]]
    print_table(("job", "key", "old", "new"), shown_changes, empty="nothing needs to be changed")
    if len(changes) > _SHOWN:
        click.echo(f"and {len(changes) - _SHOWN:,} more")


def _print_files(amended: Sequence[FileEdit], *, write: bool) -> None:
    for each in amended:
        click.echo()
        if write:
            click.echo(f"written: {each.file}")
            continue
        old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (each.before, each.after))
        for line in unified_diff(old, new, each.file, each.file):
            click.echo(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n", nl=False)


def _print_salt(readings: Sequence[HostFiles], name: str, when: str, *, write: bool, as_json: bool) -> None:
    every = [(reading, job) for reading in readings for job in reading.jobs]
    identity = find_identity(name, dict.fromkeys((job.name, job.identity) for _, job in every))
    having = [(reading, job) for reading, job in every if job.identity == identity]
    reading, job = having[0]
    if len(having) > 1 and job.varies_by_host:
        raise click.UsageError(
            f"{display_text(name)} has another salt on each host: give --host instead of --inventory"
        )
    if job.timing is None:
        raise click.UsageError(f"{display_text(name)} runs at boots only, and has no second to choose")
    at = parse_span(when, "0s", job.timing.schedule.zone).since
    found = find_salt(job.timing, at)
    if isinstance(found, str):
        click.secho(f"kron: {display_text(name)} cannot run at {format_instant(at)}: {found}", fg="red", err=True)
        click.get_current_context().exit(1)
    if write and found.salt != job.timing.seed.salt:
        change = TuningChange(identity, "salt", job.timing.seed.salt, found.salt)
        salted = replace(job, timing=with_salt(job.timing, found.salt))
        tuned = [salted if each is job else each for each in reading.jobs]
        write_files(edit_files(reading, [change], tuned))
    answer = {"identity": identity, "period_id": found.decision.period_id, "chosen_time": format_instant(at)}
    click.echo(json.dumps({**answer, "salt": found.salt}, ensure_ascii=False) if as_json else found.salt)
