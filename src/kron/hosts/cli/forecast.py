"""kron forecast FILES: the load of a span before and after spreading, when it is worst, and who is in it."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import click

from kron.adapters.sqlite_ledger.job_durations import usual_durations
from kron.errors import KronError, shown
from kron.hosts.cli.counting import count_load
from kron.hosts.cli.entries import AT_PATH, FILES, SINCE, UNTIL, find_entries, find_identities, find_span, zone_of
from kron.hosts.cli.fleet import Whose, for_hosts
from kron.hosts.cli.heat_map import heat_rows
from kron.hosts.cli.load_page import page
from kron.hosts.console import counted, print_table
from kron.hosts.given_path import GivenPath
from kron.hosts.krond.check import ALLOW_EMPTY
from kron.hosts.krond.looking import opened
from kron.instant import format_instant, parse_duration
from kron.rules.expected import Entry
from kron.rules.forecast import Forecast, forecast_of
from kron.rules.heat import days_by_hours, hours_by_minutes
from kron.rules.load import UNITS

_NAMES = 4  # that are shown of a collision; JSON has all
_DAYS = 31  # more do not fit a terminal


@click.command()
@FILES
@SINCE
@UNTIL
@click.option(
    "--duration", "given", metavar="NAME=5m", multiple=True, help="How long a job runs; may be given several times."
)
@click.option("--state", type=GivenPath(path_type=Path), help="How long jobs run, from the ledger of this krond.")
@AT_PATH
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Draw the load into this file.")
@for_hosts
@ALLOW_EMPTY
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def forecast(
    files: tuple[str, ...],
    *,
    since: str | None,
    until: str | None,
    given: tuple[str, ...],
    state: Path | None,
    at_path: str | None,
    html: Path | None,
    whose: Whose,
    allow_empty: bool,
    as_json: bool,
) -> None:
    """Show the load of job files, of directories with them, or of registrations (MODULE:NAME).

    Starts per second, minute and hour by nominal and by chosen times, the worst collisions and who is in them, and with
    durations how many run at once. Jobs that their file suspends, and those of @reboot, are not counted.
    """
    found = find_entries(files, at_path, whose, allow_empty=allow_empty)
    span = find_span(since, until, zone_of(found.entries))
    durations = {} if state is None else usual_durations(opened(state).ledger)
    for text in given:
        durations |= _duration(text, found.entries)
    load = count_load(found.entries, span, durations)
    answer = forecast_of(found.entries, span, load, jobs=found.count, durations=durations)
    if html is not None:
        _write(html, page(answer))
    if as_json:
        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=1))
        return
    print_forecast(answer)
    if len(found.entries) < found.count:
        click.echo(f"\nnot counted, because suspended or run at boots only: {found.count - len(found.entries)}")
    if html is not None:
        click.echo(f"\ndrawn in {html}")


def _duration(text: str, entries: Sequence[Entry]) -> dict[str, timedelta]:
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


def _write(html: Path, text: str) -> None:
    try:
        html.write_text(text, "utf-8")
    except OSError as error:
        raise click.UsageError(f"{html}: {error.strerror}") from error


def print_forecast(found: Forecast) -> None:
    """Print peaks, collisions and heat maps for people."""
    load = found.load
    periods = f"{counted(load.unschedulable, 'period')} without a second"
    click.echo(f"{counted(found.jobs, 'job')}, {counted(load.chosen.total, 'run')}, {periods}")
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
            f" (durations known of {counted(found.known, 'job')})"
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


def _who(entries: tuple[Entry, ...]) -> str:
    first = ", ".join(shown(entry.label) for entry in entries[:_NAMES])
    more = len(entries) - _NAMES
    return f"{first} and {more:,} more" if more > 0 else first
