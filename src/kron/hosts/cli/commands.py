"""kron: the group that holds every command, and what they have in common when something is wrong."""

import click

from kron._version import __version__
from kron.hosts.completion import completion_of
from kron.hosts.console import Commands, heed_terminal

_HERE = "kron.hosts.cli"
_PLACES = {
    "next": f"{_HERE}.next:next_",
    "explain": f"{_HERE}.explain:explain",
    "describe": f"{_HERE}.describe:describe",
    "lint": f"{_HERE}.lint:lint",
    "forecast": f"{_HERE}.forecast:forecast",
    "plan": f"{_HERE}.plan:plan",
    "tune": f"{_HERE}.tune:tune",
    "feed": f"{_HERE}.feed:feed",
    "import": f"{_HERE}.import_:import_",
    "run": f"{_HERE}.run:run",
    "simulate": f"{_HERE}.simulate:simulate",
    "verify": f"{_HERE}.verify:verify",
    "k8s": f"{_HERE}.k8s.group:k8s",
}


@click.group(cls=Commands, places=_PLACES, context_settings={"help_option_names": ["-h", "--help"]})
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


kron.add_command(completion_of("kron"))
