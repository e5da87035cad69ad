"""kron-operator: the group that holds every command of the operator."""

import click

from kron._version import __version__
from kron.hosts.console import Commands, heed_terminal
from kron.hosts.manifests import write_manifest
from kron.hosts.operator.run import run
from kron.rules.kronjob.crd import crd


@click.group("kron-operator", cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kron-operator")
@click.pass_context
def operator(context: click.Context) -> None:
    """KronJobs on Kubernetes.

    Exit codes: 0 all is well, 2 wrong usage.
    """
    heed_terminal(context)


@operator.command("crd")
def crd_() -> None:
    """Print the CustomResourceDefinition of KronJobs, for `kubectl apply -f -`."""
    click.echo(write_manifest(crd()), nl=False)


operator.add_command(run)
