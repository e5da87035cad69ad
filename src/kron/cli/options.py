"""The options that several commands share, and the reading of what they were given."""

import sys
from datetime import timedelta
from typing import Literal, cast

import click

from kron.adapters.system_time import system_now
from kron.console.parameters import CommandDecorator, naming
from kron.console.program import WordType
from kron.cron.wall_time import read_moment
from kron.cron.zone import Zone
from kron.decision.definition import require_identity
from kron.instant import Instant, parse_duration
from kron.jobfile.job import Job

Dialects = Literal["extended", "posix"]

DEFAULT_IDENTITY = "job"

LINE: CommandDecorator = click.argument("line", metavar="LINE")
DIALECT: CommandDecorator = click.option(
    "--dialect", type=WordType(["extended", "posix"]), default="extended", help="Cron dialect of LINE."
)
IDENTITY: CommandDecorator = click.option(
    "--identity", metavar="ID", help=f"Identity of the job; its seconds depend on it. [default: {DEFAULT_IDENTITY}]"
)
FROM: CommandDecorator = click.option(
    "--from",
    "since",
    metavar="INSTANT",
    help="Start after this time: RFC 3339, or YYYY-MM-DD HH:MM or HH:MM in the job's zone. [default: now]",
)
JSON: CommandDecorator = click.option("--json", "as_json", is_flag=True, help="Print one JSON array of decisions.")


def count_option(usual: int) -> CommandDecorator:
    """Return the option for a number of periods."""
    help_text = f"Number of periods. [default: {usual}]"
    return click.option("--count", "-n", type=click.IntRange(1, 1_000_000_000), metavar="N", help=help_text)


def read_job(line: str, *, dialect: str, identity: str | None = None) -> Job:
    """Return the job of a line, and remember the line for the picture of an error."""
    click.get_current_context().find_root().obj = line
    name = DEFAULT_IDENTITY if identity is None else require_identity(identity)
    return Job.parse(line, identity=name, dialect=cast(Dialects, dialect))


def note_identity(identity: str | None, job: Job) -> None:
    """Say on a terminal that the chosen seconds depend on an identity that was not given."""
    if identity is None and job.timing.window.duration and sys.stderr.isatty():
        click.echo(f"kron: chosen seconds depend on the identity; using {DEFAULT_IDENTITY!r} (--identity)", err=True)


def read_since(text: str | None, zone: Zone) -> Instant:
    """Return the instant that `--from` names, the present without it."""
    if text is None:
        return system_now()
    with naming("--from"):
        return read_moment(text, zone, system_now())


def read_span(option: str, text: str) -> timedelta:
    """Return the duration that an option has, which may also be in days, such as `7d`."""
    if text.endswith("d") and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 7:
        return timedelta(days=int(text[:-1]))
    with naming(option, ", or 7d"):
        return parse_duration(text)
