"""kron: the group that holds every command, and what they have in common when something is wrong."""

import os
from typing import Any

import click

from kron._version import __version__
from kron.errors import CronCalculationError, InvalidCronExpressionError, InvalidDefinitionError, KronError, caret
from kron.hosts.cli.completion import completion
from kron.hosts.cli.describe import describe
from kron.hosts.cli.explain import explain
from kron.hosts.cli.lint import lint
from kron.hosts.cli.next import next_
from kron.hosts.cli.run import run
from kron.hosts.cli.simulate import simulate
from kron.hosts.cli.verify import verify


class _Group(click.Group):
    """Turns Kron's errors into one clear message and the right exit code, never a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KronError as error:
            _print_error(error, ctx.obj if isinstance(ctx.obj, str) else "")
            ctx.exit(1 if isinstance(error, CronCalculationError) else 2)


def _print_error(error: KronError, text: str) -> None:
    """Print the message, and where the place is known the text with a caret under it and what would be right."""
    click.secho(f"kron: error: {error.message}", fg="red", err=True)
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


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kron")
@click.pass_context
def kron(context: click.Context) -> None:
    """Cron with windows: one exact, reproducible second for every period.

    A LINE is a cron expression with modifiers, in quotes:

    \b
      0 3 * * * @tz(Europe/Paris) @win(after,2h) @seed(daily,salt=prod)

    Exit codes: 0 all is well, 1 the answer is no, 2 wrong usage or invalid input. A period without an allowed second is
    an answer of next and explain, not a failure of theirs.
    """
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False


for _command in (next_, explain, describe, lint, run, simulate, verify, completion):
    kron.add_command(_command)
