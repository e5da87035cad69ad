"""What the commands of Kron have in common on a terminal: how errors and findings look, and how a process ends."""

import io
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import click

from kron.errors import (
    ControlError,
    CronCalculationError,
    InvalidCronExpressionError,
    InvalidDefinitionError,
    KronError,
    NoRunError,
    StateDirectoryError,
    caret,
)
from kron.errors import shown as shown_text
from kron.rules.finding import Finding
from kron.rules.printable import safe_json, safe_line, safe_text

_INTERRUPTED = 128 + signal.SIGINT
_COLOURS = {"error": "red", "warning": "yellow", "notice": "cyan"}


class LazyGroup(click.Group):
    """A group of commands of which each is imported when it is called, so that it does not wait for all the others."""

    def __init__(self, *args: Any, places: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        """`places` says where each lies, as `package.module:name`, in the order in which they are shown."""
        super().__init__(*args, **kwargs)
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._places, *(name for name in super().list_commands(ctx) if name not in self._places)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._places and cmd_name not in self.commands:
            module, _, name = self._places[cmd_name].partition(":")
            self.add_command(getattr(import_module(module), name))
        return super().get_command(ctx, cmd_name)


class Commands(LazyGroup):
    """The commands of a program; an error of Kron is one clear message and the right exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KronError as error:
            _print_error(str(ctx.info_name), error, ctx.obj if isinstance(ctx.obj, str) else "")
            ctx.exit(_exit_code(error))
        except KeyboardInterrupt:  # as others end that follow something: without a word
            ctx.exit(_INTERRUPTED)
        except OverflowError:  # of a moment that somebody names: what surrounds it would lie outside
            click.secho(f"{ctx.info_name}: error: a time lies outside of the years 1 to 9999", fg="red", err=True)
            ctx.exit(2)


def _exit_code(error: KronError) -> int:
    match error:
        case ControlError():
            return error.exit_code
        case CronCalculationError() | NoRunError() | StateDirectoryError():
            return 1
    return 2


def _print_error(program: str, error: KronError, text: str) -> None:
    """Print the message, and where the place is known the text with a caret under it and what would be right."""
    click.secho(f"{program}: error: {safe_text(error.message)}", fg="red", err=True)
    if isinstance(error, InvalidCronExpressionError):
        text, position, fix = error.expression, error.position, error.fix
    elif isinstance(error, InvalidDefinitionError) and error.position is not None:
        position, fix = error.position, ""  # its message ends with the fix
    else:
        return
    if text:
        click.echo("\n".join(f"  {line}" for line in caret(text, position).split("\n")), err=True)
    if fix:
        click.secho(f"  {fix}", fg="green", err=True)


def heed_terminal(context: click.Context) -> None:
    """Print without colours where they are not wanted."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False


def print_findings(findings: Sequence[Finding]) -> None:
    """Print one line for each finding on standard error, all at once: there may be thousands."""
    if findings:
        lines = (click.style(safe_line(str(finding)), fg=_COLOURS[finding.level]) for finding in findings)
        click.echo("\n".join(lines), err=True)


def end_with_findings(findings: Sequence[Finding], *, strict: bool, as_json: bool, unreadable: bool = False) -> None:
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


def run(group: click.Group, program: str) -> None:
    """Run a command as a process; whatever happens to its output is one clear message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        group.main(prog_name=program)
    except OSError as error:  # standard output is full or gone; a closed pipe is handled before
        sys.stderr.write(f"{program}: error: cannot read or write: {error.strerror}\n")
        os._exit(2)  # what is still in the buffer cannot be written either


def counted(number: int, noun: str) -> str:
    """Return how many there are of something, in words that fit."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
