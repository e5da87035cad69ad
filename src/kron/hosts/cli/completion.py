"""kron completion SHELL: the script that makes a shell complete commands and options."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
      bash:  eval "$(kron completion bash)"        in ~/.bashrc
      zsh:   eval "$(kron completion zsh)"         in ~/.zshrc
      fish:  kron completion fish | source         in config.fish
    """
    from kron.hosts.cli.commands import kron  # the group imports this command

    maker = get_completion_class(shell)
    assert maker is not None  # the choice above lists only shells that have one
    click.echo(maker(kron, {}, "kron", "_KRON_COMPLETE").source())
