"""kron k8s: the group of the commands about KronJobs."""

import click

from kron.hosts.cli.k8s.convert import convert
from kron.hosts.cli.k8s.foreseeing import explain, next_
from kron.hosts.cli.k8s.validate import validate


@click.group()
def k8s() -> None:
    """KronJobs of Kubernetes, from their manifests: nothing here needs a cluster."""


for _command in (validate, next_, explain, convert):
    k8s.add_command(_command)
