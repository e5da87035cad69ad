"""kron k8s: the group of the commands about KronJobs."""

import click

from kron.hosts.console import LazyGroup

_HERE = "kron.hosts.cli.k8s"
_PLACES = {
    "validate": f"{_HERE}.validate:validate",
    "next": f"{_HERE}.foreseeing:next_",
    "explain": f"{_HERE}.foreseeing:explain",
    "why": f"{_HERE}.why:why",
    "forecast": f"{_HERE}.forecast:forecast",
    "convert": f"{_HERE}.convert:convert",
}


@click.group(cls=LazyGroup, places=_PLACES)
def k8s() -> None:
    """KronJobs of Kubernetes: of a cluster, asked with your own rights, or of their manifests, without one.

    Nothing here changes anything in a cluster.
    """
