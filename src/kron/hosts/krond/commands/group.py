"""krond: the group that holds every command of the daemon."""

import click

from kron._version import __version__
from kron.console.program import ProgramGroup, completion_command, configure_colour

_HERE = "kron.hosts.krond.commands"
_PLACES = {
    "run": f"{_HERE}.run:run",
    "check": f"{_HERE}.check:check",
    "status": f"{_HERE}.control:status",
    "jobs": f"{_HERE}.control:jobs",
    "next": f"{_HERE}.control:next_",
    "history": f"{_HERE}.history:history",
    "logs": f"{_HERE}.history:logs",
    "why": f"{_HERE}.why:why",
    "explain": f"{_HERE}.why:explain",
    "suspend": f"{_HERE}.control:suspend",
    "resume": f"{_HERE}.control:resume",
    "trigger": f"{_HERE}.control:trigger",
    "reload": f"{_HERE}.control:reload",
    "stop": f"{_HERE}.control:stop",
    "ledger": f"{_HERE}.history:ledger",
}


@click.group(cls=ProgramGroup, places=_PLACES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="krond")
@click.pass_context
def krond(context: click.Context) -> None:
    """Jobs of this host: from TOML files, .kron files and crontabs.

    Exit codes: 0 all is well, 1 the answer is no, 2 wrong usage or a file that cannot be read.
    """
    configure_colour(context)


krond.add_command(completion_command("krond"))
