"""Output of commands: findings, JSON, tables, and progress."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, Protocol
from unicodedata import category, east_asian_width

import click

from kron.errors import display_text
from kron.errors.base import safe_json, safe_line
from kron.errors.diagnostics import Severity

_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}
_RENDERINGS = 200  # of a progress bar, at most
_COUNTED = 2000  # steps between two renderings where the end is not known


class PrintableFinding(Protocol):
    """What a check has found; its text is one line."""

    @property
    def level(self) -> Severity:
        """How bad it is."""

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON holds it."""


def print_findings(findings: Sequence[PrintableFinding]) -> None:
    """Print one line for each finding on standard error, all at once: there may be thousands."""
    if findings:
        lines = (click.style(safe_line(str(finding)), fg=_COLOURS[finding.level]) for finding in findings)
        click.echo("\n".join(lines), err=True)


def exit_with_findings(
    findings: Sequence[PrintableFinding], *, as_json: bool = False, unusable: bool = False
) -> NoReturn:
    """Print the findings and exit: 0 no error, 1 errors found, 2 the input cannot be used."""
    if as_json:
        print_json([finding.to_dict() for finding in findings])
    else:
        print_findings(findings)
    failed = any(finding.level == "error" for finding in findings)
    click.get_current_context().exit(2 if unusable else int(failed))


def print_json(value: object) -> None:
    """Print a value as people and scripts can read it."""
    click.echo(safe_json(json.dumps(value, ensure_ascii=False, indent=1)))


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
    """Print rows under their heads, as wide as they are; of no rows, say so."""
    if not rows:
        click.echo(empty)
        return
    shown = [[display_text(cell) for cell in row] for row in rows]
    widths = [max(display_width(row[place]) for row in [heads, *shown]) for place in range(len(heads))]
    click.secho(_table_line(heads, widths), bold=True)
    for row in shown:
        click.echo(_table_line(row, widths))


def _table_line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(map(pad, cells, widths)).rstrip()


def pad(text: str, width: int) -> str:
    """Return a text with blanks behind it, so that it is as many columns wide."""
    return text + " " * (width - display_width(text))


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "FW" else 1 for c in text)


def pluralize(number: int, noun: str) -> str:
    """Return how many there are of something, in words that fit."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextmanager
def progress(label: str, length: int | None, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes how many more steps are done; without a terminal it does nothing.

    If the number of all steps is not known, the bar only counts.
    """
    if not shown or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(
        (None for _ in ()),  # an iterable whose length click cannot guess
        length,
        label,
        file=sys.stderr,
        width=40,
        show_pos=length is None,
        update_min_steps=_COUNTED if length is None else max(length // _RENDERINGS, 1),
    ) as bar:
        yield bar.update
