"""Groups of commands: lazy imports, errors as a message and an exit code, completion, and the process itself."""

import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from itertools import groupby
from typing import Any

import click
from click.shell_completion import get_completion_class

from kron.errors import (
    ControlError,
    CronCalculationError,
    InvalidCronExpressionError,
    InvalidDefinitionError,
    KronError,
    NoRunError,
    StateDirectoryError,
    caret,
    display_text,
)
from kron.errors.base import nearest, safe_text
from kron.errors.diagnostics import diagnostic_of, unknown_value

_INTERRUPTED = 128 + signal.SIGINT


CommandTable = Mapping[str, tuple[str, str, str]]  # by name: heading, `package.module:variable`, example
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "show_default": True}  # of a program
_INDENTS = 6  # columns that click leaves around the names of commands in a listing


class DeferredGroup(click.Group):
    """A group of commands under headings. A command is imported when it is called, not with the program."""

    def __init__(self, *args: Any, table: CommandTable, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 # click gives it
        return [*self._table]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self._table and cmd_name not in self.commands:
            _, place, example = self._table[cmd_name]
            module, _, variable = place.partition(":")
            command = copy(getattr(import_module(module), variable))  # programs share commands, but not examples
            command.epilog = f"\b\nExample:\n  {example}" if example else None
            self.add_command(command)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._table))
        for heading, names in groupby(self._table, lambda name: self._table[name][0]):
            found = [(name.ljust(width), self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                limit = formatter.width - _INDENTS - width
                formatter.write_dl([(name, each.get_short_help_str(limit)) for name, each in found if each])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0][:1] != "-" and self.get_command(ctx, args[0]) is None:
            near = nearest(args[0], self._table)
            fix = f"; did you mean {near}?" if near else "."
            raise click.UsageError(f"No such command {display_text(args[0])!r}{fix}", ctx)
        return super().resolve_command(ctx, args)


class ProgramGroup(DeferredGroup):
    """The commands of a program; an error of Kron is one clear message and the right exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KronError as error:
            _print_error(str(ctx.info_name), error, ctx.obj if isinstance(ctx.obj, str) else "")
            ctx.exit(_exit_code(error))
        except KeyboardInterrupt:  # the usual end of a command that follows output: no message
            ctx.exit(_INTERRUPTED)
        except OverflowError:  # a time that the user gave is too close to the end of the calendar
            click.secho(f"{ctx.info_name}: error: a time is outside the years 1 to 9999", fg="red", err=True)
            ctx.exit(2)


def _exit_code(error: KronError) -> int:
    match error:
        case ControlError():
            return error.exit_code
        case CronCalculationError() | NoRunError() | StateDirectoryError():
            return 1
    return 2


def _print_error(program: str, error: KronError, text: str) -> None:
    """Print the message, and where the place is known the text with a caret under it."""
    message, position = f"error: {error.message}", None
    if isinstance(error, InvalidCronExpressionError | InvalidDefinitionError):
        message, position = str(diagnostic_of(error, file="", line=0)), error.position
    if isinstance(error, InvalidCronExpressionError):
        text = error.expression
    click.secho(f"{program}: {safe_text(message)}", fg="red", err=True)
    if text and position is not None:
        click.echo("\n".join(f"  {line}" for line in caret(text, position).split("\n")), err=True)


@contextmanager
def file_errors(file: object) -> Iterator[None]:
    """Make it wrong usage if a file that the user named cannot be read, decoded or written."""
    try:
        yield
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file}: is not UTF-8 at byte {error.start}") from error


def configure_colour(context: click.Context) -> None:
    """Print without colours where they are not wanted."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False


class WordType(click.Choice):  # type: ignore[type-arg] # older versions of click have none
    """One of a few words. The error for any other names the nearest one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in self.choices:
            return super().convert(value, param, ctx)
        error = unknown_value("word", value, self.choices)
        return self.fail(f"{error.reason}, found {display_text(str(value))!r}; {error.fix}", param, ctx)


def run_program(group: click.Group, program: str) -> None:
    """Run a command as a process; whatever happens to its output is one clear message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        group.main(prog_name=program)
    except OSError as error:  # standard output is full or gone; a closed pipe is handled before
        sys.stderr.write(f"{program}: error: cannot read or write: {error.strerror}\n")
        os._exit(2)  # what is still in the buffer cannot be written either


@click.command()
@click.argument("shell", type=WordType(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a shell completion script.

    Evaluate it in ~/.bashrc or ~/.zshrc. For fish, pipe it to `source` in config.fish.
    """
    root, maker = context.find_root(), get_completion_class(shell)
    assert maker is not None  # the words above are shells that have one
    click.echo(maker(root.command, {}, str(root.info_name), f"_{str(root.info_name).upper()}_COMPLETE").source())
