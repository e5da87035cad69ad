"""kron and kron k8s: the groups of all commands, and where each command is."""

import click

from kron._version import __version__
from kron.console.program import DeferredGroup, ProgramGroup, completion_command, configure_colour

_K8S_PACKAGE = "kron.cli.k8s"
_K8S_COMMANDS = {
    "validate": f"{_K8S_PACKAGE}.validate:validate",
    "next": f"{_K8S_PACKAGE}.preview:next_",
    "explain": f"{_K8S_PACKAGE}.preview:explain",
    "why": f"{_K8S_PACKAGE}.why:why",
    "forecast": f"{_K8S_PACKAGE}.preview:forecast",
    "convert": f"{_K8S_PACKAGE}.validate:convert",
}


@click.group(cls=DeferredGroup, places=_K8S_COMMANDS)
def k8s() -> None:
    """KronJobs of Kubernetes: of a cluster, asked with your own rights, or of their manifests, without one.

    Nothing here changes anything in a cluster.
    """


_PACKAGE = "kron.cli"
_COMMANDS = {
    "next": f"{_PACKAGE}.next:next_",
    "explain": f"{_PACKAGE}.explain:explain",
    "describe": f"{_PACKAGE}.explain:describe",
    "lint": f"{_PACKAGE}.job_files:lint",
    "forecast": f"{_PACKAGE}.forecast:forecast",
    "plan": f"{_PACKAGE}.plan:plan",
    "tune": f"{_PACKAGE}.tune:tune",
    "feed": f"{_PACKAGE}.forecast:feed",
    "import": f"{_PACKAGE}.job_files:import_",
    "run": f"{_PACKAGE}.run:run",
    "simulate": f"{_PACKAGE}.simulate:simulate",
    "verify": f"{_PACKAGE}.verify:verify",
    "k8s": f"{_PACKAGE}.commands:k8s",
}


@click.group(cls=ProgramGroup, places=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
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
    configure_colour(context)


kron.add_command(completion_command("kron"))
