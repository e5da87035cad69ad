"""kron: the group that holds every command, and what they have in common when something is wrong."""

import click

from kron._version import __version__
from kron.hosts.cli.describe import describe
from kron.hosts.cli.explain import explain
from kron.hosts.cli.feed import feed
from kron.hosts.cli.forecast import forecast
from kron.hosts.cli.import_ import import_
from kron.hosts.cli.k8s.group import k8s
from kron.hosts.cli.lint import lint
from kron.hosts.cli.next import next_
from kron.hosts.cli.plan import plan
from kron.hosts.cli.run import run
from kron.hosts.cli.simulate import simulate
from kron.hosts.cli.tune import tune
from kron.hosts.cli.verify import verify
from kron.hosts.completion import completion_of
from kron.hosts.console import Commands, heed_terminal


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    heed_terminal(context)


for _command in (
    next_,
    explain,
    describe,
    lint,
    forecast,
    plan,
    tune,
    feed,
    import_,
    run,
    simulate,
    verify,
    k8s,
    completion_of("kron"),
):
    kron.add_command(_command)
