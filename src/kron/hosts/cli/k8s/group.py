"""kron k8s: the group of the commands about KronJobs."""

import click

from kron.hosts.cli.k8s.convert import convert
from kron.hosts.cli.k8s.forecast import forecast
from kron.hosts.cli.k8s.foreseeing import explain, next_
from kron.hosts.cli.k8s.validate import validate
from kron.hosts.cli.k8s.why import why


@click.group()
def k8s() -> None:
    """KronJobs of Kubernetes: of a cluster, asked with your own rights, or of their manifests, without one.

    Nothing here changes anything in a cluster.
    """


for _command in (validate, next_, explain, why, forecast, convert):
    k8s.add_command(_command)
