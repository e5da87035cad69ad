"""kron import crontab FILE: the same jobs as TOML, with everything written out that cron does without being told."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from kron.hosts.console import print_findings
from kron.hosts.krond.job_files import form_of, surroundings
from kron.hosts.krond.trust import whole_path
from kron.rules.files.crontab import user_column
from kron.rules.files.reading import read_drafts, read_sources
from kron.rules.files.source import Format, Source
from kron.rules.files.toml_text import write_toml


@click.group("import")
def import_() -> None:
    """Write the jobs of other schedulers as TOML."""


@import_.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--system/--no-system",
    default=None,
    help="Whether lines have a column for the user, as in /etc/crontab. [default: what the name of the file says]",
)
def crontab(file: str, *, system: bool | None) -> None:
    """Print the jobs of a crontab as TOML: zone, shell, environment and habits of cron written out.

    FILE may be - for standard input, as in `crontab -l | kron import crontab -`. Names and identities are kept, so that
    chosen seconds and history go on. Exit 1 if lines seem to name a user and neither --system nor --no-system is said,
    2 for a file with errors.
    """
    is_system = form_of(file) is Format.SYSTEM_CRONTAB if system is None else system
    form = Format.SYSTEM_CRONTAB if is_system else Format.CRONTAB
    source = Source(file, "" if file == "-" else whole_path(file), form, _read(file))
    here = surroundings()
    if system is False:
        here = replace(here, users=frozenset())  # words that look like users are programs
    findings = read_sources([source], here).findings
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        click.get_current_context().exit(2)
    drafts, _ = read_drafts(source, here)
    if not is_system and any(user_column(draft, here.users) for draft in drafts):
        reason = "lines seem to have a column for the user: say --system, or --no-system if these are programs"
        click.secho(f"kron: error: {reason}", fg="red", err=True)
        click.get_current_context().exit(1)
    click.echo(write_toml(drafts, path=source.path), nl=False)


def _read(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode()
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file}: is not UTF-8 at byte {error.start}") from error
