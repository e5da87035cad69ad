"""krond: the group that holds every command of the daemon."""

import click

from kron._version import __version__
from kron.console.program import SETTINGS, ProgramGroup, configure_colour

_HERE = "kron.hosts.krond.commands"
_COMMANDS = {
    "run": ("Run", f"{_HERE}.run:run", "krond run --config jobs.toml --state state"),
    "reload": ("Run", f"{_HERE}.control:reload", "krond reload"),
    "stop": ("Run", f"{_HERE}.control:stop", "krond stop --now"),
    "status": ("Look", f"{_HERE}.control:status", "krond status"),
    "jobs": ("Look", f"{_HERE}.control:jobs", "krond jobs"),
    "next": ("Look", f"{_HERE}.control:next_", "krond next backup --count 3"),
    "history": ("Look", f"{_HERE}.history:history", "krond history backup --since 7d"),
    "logs": ("Look", f"{_HERE}.history:logs", "krond logs backup"),
    "why": ("Look", f"{_HERE}.why:why", 'krond why backup --at "2026-03-01 02:00"'),
    "explain": ("Look", f"{_HERE}.why:explain", "krond explain backup"),
    "suspend": ("Control", f"{_HERE}.control:suspend", "krond suspend backup --until 2h"),
    "resume": ("Control", f"{_HERE}.control:resume", "krond resume backup"),
    "trigger": ("Control", f"{_HERE}.control:trigger", "krond trigger backup --wait"),
    "check": ("Files", f"{_HERE}.check:check", "krond check --config jobs.toml"),
    "ledger": ("Files", f"{_HERE}.history:ledger", ""),
    "completion": ("Files", "kron.console.program:completion", 'eval "$(krond completion bash)"'),
}


@click.group(cls=ProgramGroup, table=_COMMANDS, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="krond")
@click.pass_context
def krond(context: click.Context) -> None:
    """Run the jobs of this host, from TOML files, .kron files and crontabs.

    Exit codes: 0 success, 1 krond does not run or refuses, 2 wrong usage or a file that cannot be read.
    """
    configure_colour(context)
