"""completion_of(program) -> the command that prints the script by which a shell completes its commands and options."""

import click
from click.shell_completion import get_completion_class

_SAYS = """Print the completion script of a shell.

\b
  bash:  eval "$({0} completion bash)"        in ~/.bashrc
  zsh:   eval "$({0} completion zsh)"         in ~/.zshrc
  fish:  {0} completion fish | source         in config.fish
"""


def completion_of(program: str) -> click.Command:
    """Return the command for the group of a program."""

    @click.command(help=_SAYS.format(program))
    @click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
    @click.pass_context
    def completion(context: click.Context, shell: str) -> None:
        maker = get_completion_class(shell)
        assert maker is not None  # the choice above lists only shells that have one
        click.echo(maker(context.find_root().command, {}, program, f"_{program.upper()}_COMPLETE").source())

    return completion
