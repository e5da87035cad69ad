"""kron forecast and kron feed: the load of a span before and after spreading, and the coming decisions as a feed."""

import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click

from kron.cli.host_files import HostSelection, host_options
from kron.cli.job_selection import AT_PATH, FILES, SINCE, UNTIL, find_identities, parse_span, select_jobs, zone_of
from kron.cli.load_workers import count_load
from kron.console.drawing import heat_rows
from kron.console.output import pluralize, print_json, print_table
from kron.console.parameters import NonEmptyPath
from kron.console.program import WordType, file_errors
from kron.errors import KronError, display_text
from kron.forecast.feed import FORMATS, feed as write_feed
from kron.forecast.forecast import Forecast, build_forecast, days_by_hours, hours_by_minutes
from kron.forecast.load import UNITS
from kron.forecast.runs import ForecastJob
from kron.hosts.krond.commands.check import ALLOW_EMPTY
from kron.hosts.krond.commands.history import open_history, open_state
from kron.instant import format_instant, parse_duration

_NAMES = 4  # that are shown of a collision; JSON has all
_DAYS = 31  # more do not fit a terminal


@click.command()
@FILES
@SINCE
@UNTIL
@click.option("--duration", "given", metavar="NAME=5m", multiple=True, help="How long a job runs. Repeatable.")
@click.option("--state", type=NonEmptyPath(path_type=Path), help="Read durations from the ledger in this directory.")
@AT_PATH
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Also write the load as an HTML page.")
@host_options
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def forecast(
    files: tuple[str, ...], *, since: str | None, until: str | None, given: tuple[str, ...], state: Path | None,
    at_path: str | None, html: Path | None, whose: HostSelection, allow_empty: bool, as_json: bool,
) -> None:  # fmt: skip
    """Show how many jobs start at once, before and after spreading.

    FILES are job files, directories, or registrations (MODULE:NAME). Prints starts per second, minute and hour, the
    worst collisions and, if durations are known, how many jobs run at once. Suspended and @reboot jobs are not counted.
    """
    found = select_jobs(files, at_path, whose, allow_empty=allow_empty)
    span = parse_span(since, until, zone_of(found.entries))
    durations = {} if state is None else dict(open_history(open_state(state)).median_durations())
    for text in given:
        durations |= _duration(text, found.entries)
    load = count_load(found.entries, span, durations)
    answer = build_forecast(found.entries, span, load, jobs=found.count, durations=durations)
    if html is not None:
        from kron.web.standalone import render_load_page  # with the template engine, which nothing else needs here

        text = render_load_page(answer)
        with file_errors(html):
            html.write_text(text, "utf-8")
    if as_json:
        print_json(answer.to_dict())
        return
    print_forecast(answer)
    if len(found.entries) < found.count:
        click.echo(f"\nnot counted, because suspended or run at boots only: {found.count - len(found.entries)}")
    if html is not None:
        click.echo(f"\ndrawn in {html}")


def _duration(text: str, entries: Sequence[ForecastJob]) -> dict[str, timedelta]:
    """Return how long a job runs, under its identity on each host."""
    name, equals, duration = text.rpartition("=")
    try:
        if not equals:
            raise click.BadParameter(
                f"{text!r} must be a job and a duration, such as backup=5m", param_hint="--duration"
            )
        return dict.fromkeys(find_identities(name, entries), parse_duration(duration))
    except KronError as error:
        raise click.BadParameter(error.message, param_hint="--duration") from error


def print_forecast(found: Forecast) -> None:
    """Print peaks, collisions and heat maps for people."""
    load = found.load
    periods = f"{pluralize(load.unschedulable, 'period')} without a second"
    click.echo(f"{pluralize(found.jobs, 'job')}, {pluralize(load.chosen.total, 'run')}, {periods}")
    click.echo(f"after {format_instant(found.span.since)} until {format_instant(found.span.until)}\n")
    before, after = load.nominal.peaks, load.chosen.peaks
    rows = [
        (unit, *_cells(before[unit].to_dict(UNITS[unit])), *_cells(after[unit].to_dict(UNITS[unit]))) for unit in before
    ]
    print_table(("most in a", "nominal", "at", "chosen", "at"), rows, empty="")
    if found.known:
        at = load.active.to_dict(1)["at"] or "any time"
        click.echo(
            f"\nat once: {load.active.count:,} at {at}, {found.mean_active:.3g} on average"
            f" (durations known of {pluralize(found.known, 'job')})"
        )
    if found.collisions:
        click.echo()
        worst = [(format_instant(at), str(len(who)), _who(who)) for at, who in found.collisions]
        print_table(("worst collisions", "starts", "of"), worst, empty="")
    for heat in (hours_by_minutes(found), days_by_hours(found, _DAYS)):
        if heat is not None and load.chosen.total:
            click.echo()
            for row in heat_rows(heat):
                click.echo(row)


def _cells(peak: dict[str, object]) -> tuple[str, str]:
    return str(peak["count"]), str(peak["at"] or "")


def _who(entries: tuple[ForecastJob, ...]) -> str:
    first = ", ".join(display_text(entry.label) for entry in entries[:_NAMES])
    more = len(entries) - _NAMES
    return f"{first} and {more:,} more" if more > 0 else first


@click.command()
@FILES
@click.option("--format", "form", type=WordType(list(FORMATS)), default="json", help="Output format.")
@SINCE
@UNTIL
@click.option("--job", metavar="NAME", help="Print only this job, by name or identity. [default: all jobs]")
@AT_PATH
@host_options
@ALLOW_EMPTY
def feed(
    files: tuple[str, ...], *, form: str, since: str | None, until: str | None, job: str | None, at_path: str | None,
    whose: HostSelection, allow_empty: bool,
) -> None:  # fmt: skip
    """Print expected runs as JSON, iCalendar or CSV.

    FILES are job files, directories, or registrations (MODULE:NAME). Runs are sorted by chosen time. A period without
    an allowed second is listed at the start of its window, except in iCalendar. Omits suspended and @reboot jobs.
    """
    found = select_jobs(files, at_path, whose, allow_empty=allow_empty)
    entries = found.entries
    if job is not None:
        identities = find_identities(job, entries)
        entries = [entry for entry in entries if entry.identity in identities]
    span = parse_span(since, until, zone_of(entries))
    for part in write_feed(entries, span, form):
        sys.stdout.write(part)
