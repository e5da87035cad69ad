"""kron feed FILES: the coming decisions as JSON, CSV or iCalendar."""

import sys

import click

from kron.hosts.cli.entries import AT_PATH, FILES, SINCE, UNTIL, find_entries, find_identities, find_span, zone_of
from kron.hosts.cli.fleet import Whose, for_hosts
from kron.hosts.krond.check import ALLOW_EMPTY
from kron.rules.feed import FORMS
from kron.rules.feed import feed as write_feed


@click.command()
@FILES
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="json", show_default=True, help="What is printed."
)
@SINCE
@UNTIL
@click.option("--job", metavar="NAME", help="Of one job alone, by its name or its identity.")
@AT_PATH
@for_hosts
@ALLOW_EMPTY
def feed(
    files: tuple[str, ...],
    *,
    form: str,
    since: str | None,
    until: str | None,
    job: str | None,
    at_path: str | None,
    whose: Whose,
    allow_empty: bool,
) -> None:
    """Print the expected runs of job files, of directories with them, or of registrations (MODULE:NAME).

    In the order of chosen times. A period without an allowed second is listed at the start of its window, but not in
    iCalendar. Jobs that their file suspends, and those of @reboot, have no expected runs.
    """
    found = find_entries(files, at_path, whose, allow_empty=allow_empty)
    entries = found.entries
    if job is not None:
        identities = find_identities(job, entries)
        entries = [entry for entry in entries if entry.identity in identities]
    span = find_span(since, until, zone_of(entries))
    for part in write_feed(entries, span, form):
        sys.stdout.write(part)
