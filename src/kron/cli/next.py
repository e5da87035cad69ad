"""kron next LINE: the next periods, with nominal and chosen times, as a table, JSON or a calendar."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import click

from kron.cli.host_files import HostSelection, check_files, host_options, placed_pairs, read_fleet
from kron.cli.options import DIALECT, FROM, IDENTITY, JSON, count_option, note_identity, read_job, read_since, read_span
from kron.console.drawing import histogram, week_strips
from kron.console.output import display_width, pad, progress
from kron.cron.schedule import Schedule
from kron.cron.wall_time import format_local
from kron.cron.zone import Zone
from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.errors import OutOfRangeError
from kron.forecast.runs import ForecastJob
from kron.instant import SECOND, Instant, format_duration, format_instant


def occurrences(schedule: Schedule, at: Instant) -> Iterator[Instant]:
    """Yield nominal times strictly after `at`; if there is none at all, raise CronCalculationError."""
    first = schedule.next(at)
    yield first
    yield from schedule.between(first, datetime.max.replace(tzinfo=UTC))


_DEFAULT_COUNT = 10
_WORTH_A_BAR = 20_000  # decisions; fewer take less than half a second
_PLACES = 61  # columns of the histogram: each end has its own

Row = tuple[ForecastJob, Decision]


@click.command("next")
@click.argument("line", metavar="[LINE]", required=False)
@IDENTITY
@FROM
@count_option(_DEFAULT_COUNT)
@click.option("--for", "span", metavar="DURATION", help="Print all periods of this span: 12h, 7d. Replaces --count.")
@click.option(
    "--file", "files", multiple=True, type=click.Path(path_type=Path), help="Read the jobs of this file. Repeatable."
)
@host_options
@click.option("--summary", is_flag=True, help="Print counts and a histogram instead of the periods.")
@JSON
@DIALECT
def next_(
    line: str | None, identity: str | None, since: str | None, count: int | None, span: str | None,
    files: tuple[Path, ...], dialect: str, *, whose: HostSelection, summary: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print the next periods of a LINE or of job files.

    The expression names the nominal time of a period; its run starts at the chosen time, inside the window. The first
    period is the first with a nominal time after --from.
    """
    has_files = bool(files) or whose.inventory is not None
    if (line is None) != has_files:
        raise click.UsageError("give either one LINE in quotes, or files by --file FILE or --inventory FILE")
    if count is not None and span is not None:
        raise click.UsageError("give either --count or --for")
    if line is not None and whose != HostSelection():
        raise click.UsageError("--host, --machine and --inventory are for files; a LINE is the same on all hosts")
    if has_files and (identity is not None or dialect != "extended"):
        raise click.UsageError("--identity and --dialect belong to a LINE; a file has its own")
    asked = PreviewOptions(since, count, span, summary=summary, as_json=as_json)
    if line is None:
        given = [str(file) for file in files]
        check_files(given)
        entries = [
            ForecastJob(job.name, job.timing, host=reading.host)
            for reading in read_fleet(placed_pairs(given, None), whose)
            for job in reading.jobs
            if job.timing is not None  # @reboot has no periods
        ]
        if not entries:
            raise click.UsageError("there is no job with a schedule in the files given")
        print_periods(entries, asked, named=True)
    else:
        job = read_job(line, dialect=dialect, identity=identity)
        note_identity(identity, job)
        print_periods([ForecastJob("", job.timing)], asked, named=False)


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """From when on, how many periods or for how long, and in which form."""

    since: str | None
    count: int | None
    span: str | None
    summary: bool = False
    as_json: bool = False


def print_periods(entries: Sequence[ForecastJob], asked: PreviewOptions, *, named: bool) -> None:
    """Print the periods of one job, or of several by chosen time where they have names."""
    length = None if asked.span is None else read_span("--for", asked.span)
    count = asked.count or _DEFAULT_COUNT
    streams = [_decisions(entry, read_since(asked.since, _zone(entry)), count, length) for entry in entries]
    total = count * len(entries) if length is None else None
    rows = _with_progress(chain.from_iterable(streams), total, quiet=not (asked.summary or asked.as_json))
    if named:
        rows = iter(sorted(rows, key=_by_chosen_time))
    if asked.as_json:
        _print_json(rows)
    elif asked.summary:
        _print_summary(decision for _, decision in rows)
    elif named:
        _print_calendar(list(rows), entries)
    else:
        _print_table(_zone(entries[0]), (decision for _, decision in rows))


def _zone(entry: ForecastJob) -> Zone:
    return entry.timing.schedule.zone


def _by_chosen_time(row: Row) -> tuple[Instant, str]:
    _, decision = row
    return decision.chosen_time or decision.window_start, decision.identity


def _decisions(entry: ForecastJob, start: Instant, count: int, span: timedelta | None) -> Iterator[Row]:
    """Yield the decisions of one job by nominal time; the end of the calendar is the end."""
    nominals = occurrences(entry.timing.schedule, start)
    for number, nominal in enumerate(nominals):
        if number >= count if span is None else nominal - start > span:
            return
        try:
            yield entry, decide(entry.timing, nominal)
        except OutOfRangeError:
            if number == 0:
                raise
            return


def _with_progress(decisions: Iterator[Row], total: int | None, *, quiet: bool) -> Iterator[Row]:
    """Yield the same decisions, with a bar where long work would otherwise be silent."""
    is_long = total is None or total >= _WORTH_A_BAR
    with progress("deciding", total, shown=is_long and not quiet) as advance:
        for decision in decisions:
            yield decision
            advance(1)


def _print_json(rows: Iterator[Row]) -> None:
    """Print one array, a decision a line, as they come; not by click.echo, which flushes after every line."""
    separator = "[\n"
    for entry, decision in rows:
        text = json.dumps({**decision.to_dict(), "host": entry.host}) if entry.host else decision.to_json()
        sys.stdout.write(separator + text)
        separator = ",\n"
    sys.stdout.write("\n]\n" if separator != "[\n" else "[]\n")


def _print_table(zone: Zone, decisions: Iterator[Decision]) -> None:
    wide = zone.name != "UTC"

    def cells(at: Instant) -> str:
        return f"{format_instant(at):<22}" + (f"{format_local(zone, at):<32}" if wide else "")

    here = f"{zone.name:<32}" if wide else ""
    first = next(decisions, None)  # so that an error comes before any header
    if first is None:
        click.echo("no period in this span")
        return
    decisions = chain([first], decisions)
    click.secho(f"{'nominal (UTC)':<22}{here}{'chosen (UTC)':<22}{here}shift", bold=True)
    for decision in decisions:
        if decision.chosen_time is None:
            failure = click.style(f"unschedulable: {decision.reason}", fg="red")
            click.echo(f"{cells(decision.nominal_time)}{failure}")
        else:
            shift = decision.chosen_time - decision.nominal_time
            sign = "-" if shift < timedelta() else "+"
            click.echo(
                f"{cells(decision.nominal_time)}{cells(decision.chosen_time)}{sign}{format_duration(abs(shift))}"
            )


def _print_calendar(rows: list[Row], entries: Sequence[ForecastJob]) -> None:
    if not rows:
        click.echo("no period in this span")
        return
    names = {entry.identity: entry.name for entry in entries}  # a job of several hosts has one strip
    for strip in week_strips([decision for _, decision in rows], names):
        click.echo(strip)
    click.echo()
    width = max(len("job"), *(display_width(entry.label) for entry in entries)) + 2
    click.secho(f"{'chosen (UTC)':<22}{'chosen (job zone)':<31}{'job':<{width}}nominal (UTC)", bold=True)
    day = ""
    for entry, decision in rows:
        name, nominal = pad(entry.label, width), format_instant(decision.nominal_time)
        at = decision.chosen_time
        if (today := (at or decision.window_start).date().isoformat()) != day:
            day = today
            click.secho(f"── {(at or decision.window_start):%A %Y-%m-%d} ", fg="cyan")
        if at is None:
            gone = click.style(f"{'unschedulable':<53}", fg="red")
            click.echo(f"{gone}{name}{nominal}  {decision.reason}")
        else:
            local = format_local(decision.terms.zone, at)
            click.echo(f"{format_instant(at):<22}{local:<31}{name}{nominal}")


def _print_summary(decisions: Iterator[Decision]) -> None:
    """Print how many periods there are, how many fail, and where in their windows the chosen seconds fall."""
    periods = failed = 0
    places = [0] * _PLACES
    first = last = None
    for decision in decisions:
        first, last = first or decision, decision
        periods += 1
        if decision.chosen_time is None:
            failed += 1
        else:
            seconds = (decision.chosen_time - decision.window_start) // SECOND
            places[seconds * (_PLACES - 1) // max(decision.terms.width, 1)] += 1
    click.echo(f"periods        {periods}")
    click.echo(f"unschedulable  {failed}")
    if first is not None and last is not None:
        click.echo(f"from           {first.period_id}")
        click.echo(f"to             {last.period_id}")
        click.echo(f"window         {click.style(histogram(places), fg='green')}  from start to end")
