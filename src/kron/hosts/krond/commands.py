"""krond: the group that holds every command of the daemon."""

import click

from kron._version import __version__
from kron.hosts.completion import completion_of
from kron.hosts.console import Commands, heed_terminal

_HERE = "kron.hosts.krond"
_PLACES = {
    "run": f"{_HERE}.run:run",
    "check": f"{_HERE}.check:check",
    "status": f"{_HERE}.asking:status",
    "jobs": f"{_HERE}.asking:jobs",
    "next": f"{_HERE}.asking:next_",
    "history": f"{_HERE}.looking:history",
    "logs": f"{_HERE}.looking:logs",
    "why": f"{_HERE}.why:why",
    "explain": f"{_HERE}.why:explain",
    "suspend": f"{_HERE}.asking:suspend",
    "resume": f"{_HERE}.asking:resume",
    "trigger": f"{_HERE}.asking:trigger",
    "reload": f"{_HERE}.asking:reload",
    "stop": f"{_HERE}.asking:stop",
    "ledger": f"{_HERE}.looking:ledger",
}


@click.group(cls=Commands, places=_PLACES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="krond")
@click.pass_context
def krond(context: click.Context) -> None:
    """Jobs of this host: from TOML files, .kron files and crontabs.

    Exit codes: 0 all is well, 1 the answer is no, 2 wrong usage or a file that cannot be read.
    """
    heed_terminal(context)


krond.add_command(completion_of("krond"))
