"""Groups of commands: lazy imports, errors as a message and an exit code, completion, and the process itself."""

import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
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
)
from kron.errors.base import safe_text

_INTERRUPTED = 128 + signal.SIGINT


class DeferredGroup(click.Group):
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


class ProgramGroup(DeferredGroup):
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


_SAYS = """Print the completion script of a shell.

\b
  bash:  eval "$({0} completion bash)"        in ~/.bashrc
  zsh:   eval "$({0} completion zsh)"         in ~/.zshrc
  fish:  {0} completion fish | source         in config.fish
"""


def completion_command(program: str) -> click.Command:
    """Return the command for the group of a program."""

    @click.command(help=_SAYS.format(program))
    @click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
    @click.pass_context
    def completion(context: click.Context, shell: str) -> None:
        maker = get_completion_class(shell)
        assert maker is not None  # the choice above lists only shells that have one
        click.echo(maker(context.find_root().command, {}, program, f"_{program.upper()}_COMPLETE").source())

    return completion
