"""Output of commands: findings, JSON, tables, and a progress bar."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import click

from kron.errors import display_text as shown_text
from kron.errors.base import safe_json, safe_line
from kron.errors.diagnostics import Diagnostic

_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


def print_findings(findings: Sequence[Diagnostic]) -> None:
    """Print one line for each finding on standard error, all at once: there may be thousands."""
    if findings:
        lines = (click.style(safe_line(str(finding)), fg=_COLOURS[finding.level]) for finding in findings)
        click.echo("\n".join(lines), err=True)


def exit_with_findings(
    findings: Sequence[Diagnostic], *, strict: bool, as_json: bool, unreadable: bool = False
) -> None:
    """Print the findings and exit: 0 no error, 1 errors found, 2 a file could not be read."""
    if strict:
        findings = [replace(found, level="error") if found.level == "warning" else found for found in findings]
    if as_json:
        print_json([finding.to_dict() for finding in findings])
    else:
        print_findings(findings)
    failed = any(finding.level == "error" for finding in findings)
    click.get_current_context().exit(2 if unreadable else int(failed))


def print_json(value: object) -> None:
    """Print a value as people and scripts can read it."""
    click.echo(safe_json(json.dumps(value, ensure_ascii=False, indent=1)))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Print rows under their heads, as wide as they are; of no rows, say so."""
    if not rows:
        click.echo(empty)
        return
    shown = [[shown_text(cell) for cell in row] for row in rows]
    widths = [max(len(row[place]) for row in [heads, *shown]) for place in range(len(heads))]
    click.secho("  ".join(head.ljust(width) for head, width in zip(heads, widths, strict=True)).rstrip(), bold=True)
    for row in shown:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def pluralize(number: int, noun: str) -> str:
    """Return how many there are of something, in words that fit."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextmanager
def progress(label: str, length: int, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield what is called with how much more was done; without a terminal it does nothing."""
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=length, label=label, file=sys.stderr, width=40) as bar:
        yield bar.update
