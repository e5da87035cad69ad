"""kron-operator: the group that holds every command of the operator."""

import click

from kron._version import __version__
from kron.hosts.console import Commands, heed_terminal
from kron.hosts.manifests import write_manifest
from kron.hosts.namespace import NAMESPACE
from kron.hosts.operator.deployment import IMAGE, cluster_wide, in_one_namespace
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


@operator.command()
@click.option(
    "--namespace",
    metavar="NS",
    type=NAMESPACE,
    help="Run it in this namespace, for the KronJobs of this namespace alone.",
)
@click.option("--image", metavar="IMAGE", default=IMAGE, show_default=True, help="What `deploy/Containerfile` makes.")
def manifests(namespace: str | None, image: str) -> None:
    """Print all that runs the operator, for `kubectl apply -f -`: the CustomResourceDefinition first.

    Without --namespace it lies in kron-system and is for the KronJobs of all namespaces. With it, nothing but the
    definition of the resource is cluster-wide, and the namespace must be there. Deleting all that is printed deletes
    the KronJobs of all namespaces.
    """
    objects = cluster_wide(image=image) if namespace is None else in_one_namespace(namespace, image)
    click.echo("---\n".join(map(write_manifest, [crd(), *objects])), nl=False)


operator.add_command(run)
