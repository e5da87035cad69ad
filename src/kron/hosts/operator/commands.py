"""kron-operator run, crd and manifests: options, checks, and how a replica is put together."""

import asyncio
import signal
import sys
from dataclasses import replace
from typing import Any

import click

from kron._version import __version__
from kron.adapters.kubernetes.client import ApiClient
from kron.adapters.kubernetes.kubeconfig import load_cluster_config
from kron.adapters.kubernetes.manifests import write_manifest
from kron.adapters.system_clock import SystemClock
from kron.console.parameters import NAME_TYPE, NAMESPACE_TYPE, AddressType, DurationType
from kron.console.program import ProgramGroup, configure_colour
from kron.errors import KubeconfigError, ListenError
from kron.hosts.operator.controller import Controller, OperatorConfig
from kron.hosts.operator.deployment import IMAGE, cluster_objects, namespaced_objects
from kron.hosts.operator.log import INFO, OperatorLog
from kron.instant import ZERO
from kron.kronjob.crd import crd
from kron.kronjob.kronjob import OPERATOR_NAME
from kron.web.probes import ProbeServer

_LEASE_NAMESPACE = "kron-system"  # where there is no other sign


@click.command(context_settings={"auto_envvar_prefix": "KRON_OPERATOR"})
@click.option("--kubeconfig", metavar="FILE", help="Which cluster, and as whom. [default: $KUBECONFIG, then the Pod's]")
@click.option(
    "--namespace",
    "namespaces",
    metavar="NS",
    type=NAMESPACE_TYPE,
    multiple=True,
    envvar="KRON_OPERATOR_NAMESPACE",
    help="Only this namespace; may be repeated. [default: all]",
)
@click.option(
    "--leader-elect",
    type=click.BOOL,
    metavar="true|false",
    default=True,
    show_default="true",
    help="Whether one of several replicas leads, by a Lease.",
)
@click.option(
    "--lease-namespace",
    metavar="NS",
    type=NAMESPACE_TYPE,
    help="Where the Lease is. [default: the first --namespace, else that of the Pod or the kubeconfig's context]",
)
@click.option(
    "--lease-name", metavar="NAME", type=NAME_TYPE, default=OPERATOR_NAME, show_default=True, help="Its name."
)
@click.option(
    "--lease-duration",
    type=DurationType(),
    default="15s",
    show_default=True,
    help="How long a standby waits for a leader that is silent.",
)
@click.option(
    "--renew-deadline",
    type=DurationType(),
    default="10s",
    show_default=True,
    help="After how long a leader that cannot renew its lease starts no more runs.",
)
@click.option("--retry-period", type=DurationType(), default="2s", show_default=True, help="Between two tries for it.")
@click.option(
    "--listen",
    type=AddressType(),
    metavar="HOST:PORT",
    default="127.0.0.1:8080",
    show_default=True,
    help="Where /healthz, /readyz and /metrics are.",
)
@click.option(
    "--slack",
    type=DurationType(),
    default="30s",
    show_default=True,
    help="How late a start may be while the operator is there.",
)
@click.option("--workers", type=click.IntRange(1, 1000), default=16, show_default=True, help="Writes at a time.")
def run(
    kubeconfig: str | None, namespaces: tuple[str, ...], lease_namespace: str | None, listen: str, **options: Any
) -> None:
    """Watch KronJobs and create their Jobs until SIGTERM.

    Each option is also a variable, KRON_OPERATOR_LEASE_NAME and so on. A server that is down, a missing CRD or missing
    rights do not end it: it waits and says so. Exit 0 after SIGTERM, 2 wrong usage or an unreadable kubeconfig.
    """
    _check(options)
    try:
        asyncio.run(
            _live(kubeconfig, lease_namespace, listen, OperatorConfig(tuple(dict.fromkeys(namespaces)), **options))
        )
    except (KubeconfigError, ListenError) as error:
        click.secho(f"kron-operator: error: {error.message}", fg="red", err=True)
        click.get_current_context().exit(2)


def _check(options: dict[str, Any]) -> None:
    lease, renew, retry = (options[key] for key in ("lease_duration", "renew_deadline", "retry_period"))
    if not ZERO < retry < renew < lease:
        text = "must be --retry-period < --renew-deadline < --lease-duration, all above 0s"
        raise click.UsageError(f"{text}; the defaults are 2s, 10s and 15s")


async def _live(kubeconfig: str | None, lease_namespace: str | None, listen: str, options: OperatorConfig) -> None:
    clock = SystemClock()
    log = OperatorLog(sys.stderr, clock.now)
    listening = ProbeServer(listen)
    try:
        api = ApiClient(load_cluster_config(kubeconfig, None, home=False))
    except BaseException:
        await listening.close()
        raise
    try:
        namespace = lease_namespace or (options.namespaces or (api.namespace or _LEASE_NAMESPACE,))[0]
        controller = Controller(api, clock, log, replace(options, lease_namespace=namespace))
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked.set)
        await listening.open(controller.is_healthy, controller.is_ready, controller.metrics.render, clock.monotonic)
        log.write(INFO, "listening", address=listening.address, identity=controller.identity)
        await controller.run(asked)
    finally:
        await listening.close()
        await api.close()


@click.group("kron-operator", cls=ProgramGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kron-operator")
@click.pass_context
def operator(context: click.Context) -> None:
    """KronJobs on Kubernetes.

    Exit codes: 0 all is well, 2 wrong usage.
    """
    configure_colour(context)


@operator.command("crd")
def crd_() -> None:
    """Print the CustomResourceDefinition of KronJobs, for `kubectl apply -f -`."""
    click.echo(write_manifest(crd()), nl=False)


@operator.command()
@click.option(
    "--namespace",
    metavar="NS",
    type=NAMESPACE_TYPE,
    help="Run it in this namespace, for the KronJobs of this namespace alone.",
)
@click.option("--image", metavar="IMAGE", default=IMAGE, show_default=True, help="What `deploy/Containerfile` makes.")
def manifests(namespace: str | None, image: str) -> None:
    """Print all that runs the operator, for `kubectl apply -f -`: the CustomResourceDefinition first.

    Without --namespace it lies in kron-system and is for the KronJobs of all namespaces. With it, nothing but the
    definition of the resource is cluster-wide, and the namespace must be there. Deleting all that is printed deletes
    the KronJobs of all namespaces.
    """
    objects = cluster_objects(image=image) if namespace is None else namespaced_objects(namespace, image)
    click.echo("---\n".join(map(write_manifest, [crd(), *objects])), nl=False)


operator.add_command(run)
