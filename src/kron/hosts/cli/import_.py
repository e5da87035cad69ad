"""kron import crontab FILE: the same jobs as TOML, with everything written out that cron does without being told."""

import sys
from pathlib import Path

import click

from kron.hosts.console import print_findings
from kron.hosts.krond.job_files import form_of, surroundings
from kron.hosts.krond.trust import whole_path
from kron.rules.files.reading import read_drafts, read_sources
from kron.rules.files.source import Format, Source
from kron.rules.files.toml_text import write_toml


@click.group("import")
def import_() -> None:
    """Write the jobs of other schedulers as TOML."""


@import_.command()
@click.argument("file", metavar="FILE")
@click.option("--system", is_flag=True, help="The file has a column for the user, as /etc/crontab has.")
def crontab(file: str, *, system: bool) -> None:
    """Print the jobs of a crontab as TOML: zone, shell, environment and habits of cron written out.

    FILE may be - for standard input, as in `crontab -l | kron import crontab -`. Names and identities are kept, so that
    chosen seconds and history go on.
    """
    form = Format.SYSTEM_CRONTAB if system or form_of(file) is Format.SYSTEM_CRONTAB else Format.CRONTAB
    source = Source(file, "" if file == "-" else whole_path(file), form, _read(file))
    here = surroundings()
    findings = read_sources([source], here).findings
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        click.get_current_context().exit(2)
    drafts, _ = read_drafts(source, here)
    click.echo(write_toml(drafts, path=source.path), nl=False)


def _read(file: str) -> str:
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode()
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file}: is not UTF-8 at byte {error.start}") from error
