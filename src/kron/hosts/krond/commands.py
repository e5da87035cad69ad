"""krond: the group that holds every command of the daemon."""

import click

from kron._version import __version__
from kron.hosts.completion import completion_of
from kron.hosts.console import Commands, heed_terminal
from kron.hosts.krond.asking import jobs, next_, reload, resume, status, stop, suspend, trigger
from kron.hosts.krond.check import check
from kron.hosts.krond.looking import history, ledger, logs
from kron.hosts.krond.run import run
from kron.hosts.krond.why import explain, why


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="krond")
@click.pass_context
def krond(context: click.Context) -> None:
    """Jobs of this host: from TOML files, .kron files and crontabs.

    Exit codes: 0 all is well, 1 the answer is no, 2 wrong usage or a file that cannot be read.
    """
    heed_terminal(context)


_ASKING = (status, jobs, next_, history, logs, why, explain)
_TELLING = (suspend, resume, trigger, reload, stop)
for _command in (run, check, *_ASKING, *_TELLING, ledger):
    krond.add_command(_command)
krond.add_command(completion_of("krond"))
