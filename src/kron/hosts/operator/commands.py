"""kron-operator run, crd and manifests: options, checks, and how a replica is put together."""

import asyncio
import signal
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import click

from kron._version import __version__
from kron.adapters.kubernetes.client import ApiClient
from kron.adapters.kubernetes.kubeconfig import load_cluster_config
from kron.adapters.kubernetes.manifests import write_manifest
from kron.adapters.system_clock import SystemClock
from kron.console.parameters import NAME_TYPE, NAMESPACE_TYPE, AddressType, DurationType
from kron.console.program import SETTINGS, ProgramGroup, configure_colour
from kron.errors import KubeconfigError, ListenError
from kron.hosts.operator.controller import Controller, OperatorConfig
from kron.hosts.operator.deployment import IMAGE, cluster_objects, namespaced_objects
from kron.hosts.operator.log import INFO, OperatorLog
from kron.instant import ZERO
from kron.kronjob.crd import crd
from kron.kronjob.kronjob import OPERATOR_NAME
from kron.web.probes import ProbeServer

_LEASE_NAMESPACE = "kron-system"  # where there is no other sign


_option = partial(click.option, show_envvar=True)


@click.command(context_settings={"auto_envvar_prefix": "KRON_OPERATOR"})
@_option("--kubeconfig", metavar="FILE", help="Cluster and user. [default: $KUBECONFIG, else the Pod's]")
@_option(
    "--namespace",
    "namespaces",
    metavar="NS",
    type=NAMESPACE_TYPE,
    multiple=True,
    envvar="KRON_OPERATOR_NAMESPACE",
    help="Watch only this namespace. Repeatable. [default: all]",
)
@_option(
    "--leader-elect",
    type=click.BOOL,
    metavar="true|false",
    default="true",
    help="Elect one of several replicas as leader, by a Lease.",
)
@_option(
    "--lease-namespace",
    metavar="NS",
    type=NAMESPACE_TYPE,
    help="Namespace of the Lease. [default: the first --namespace, else the Pod's]",
)
@_option("--lease-name", metavar="NAME", type=NAME_TYPE, default=OPERATOR_NAME, help="Name of the Lease.")
@_option("--lease-duration", type=DurationType(), default="15s", help="Time until a standby replaces a silent leader.")
@_option(
    "--renew-deadline", type=DurationType(), default="10s", help="Time until a leader that cannot renew starts no run."
)
@_option("--retry-period", type=DurationType(), default="2s", help="Time between tries to get or renew the Lease.")
@_option(
    "--listen",
    type=AddressType(),
    metavar="HOST:PORT",
    default="127.0.0.1:8080",
    help="Address of /healthz, /readyz and /metrics.",
)
@_option("--slack", type=DurationType(), default="30s", help="Lateness of a start that still counts as punctual.")
@_option("--workers", type=click.IntRange(1, 1000), default=16, help="Number of parallel writes.")
def run(
    kubeconfig: str | None, namespaces: tuple[str, ...], lease_namespace: str | None, listen: str, **options: Any
) -> None:
    """Watch KronJobs and create their Jobs until SIGTERM.

    If the API server, the CRD or permissions are missing, it logs that and tries again. Exit codes: 0 after SIGTERM,
    2 wrong usage or an unreadable kubeconfig.
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


_HERE = "kron.hosts.operator.commands"
_COMMANDS = {
    "run": ("Run", f"{_HERE}:run", "kron-operator run --namespace prod"),
    "crd": ("Files", f"{_HERE}:crd_", "kron-operator crd | kubectl apply -f -"),
    "manifests": ("Files", f"{_HERE}:manifests", "kron-operator manifests --namespace prod | kubectl apply -f -"),
}


@click.group("kron-operator", cls=ProgramGroup, table=_COMMANDS, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="kron-operator")
@click.pass_context
def operator(context: click.Context) -> None:
    """Run KronJobs on Kubernetes.

    Exit codes: 0 success, 2 wrong usage.
    """
    configure_colour(context)


@click.command("crd")
def crd_() -> None:
    """Print the CustomResourceDefinition of KronJobs."""
    click.echo(write_manifest(crd()), nl=False)


@click.command()
@click.option(
    "--namespace",
    metavar="NS",
    type=NAMESPACE_TYPE,
    help="Install into this namespace, for its KronJobs only. [default: kron-system, for all namespaces]",
)
@click.option("--image", metavar="IMAGE", default=IMAGE, help="Container image, built by deploy/Containerfile.")
def manifests(namespace: str | None, image: str) -> None:
    """Print the manifests that install the operator.

    With --namespace, only the CustomResourceDefinition is cluster-wide, and the namespace must exist. Warning: deleting
    the printed objects deletes the KronJobs of all namespaces, because they include the CustomResourceDefinition.
    """
    objects = cluster_objects(image=image) if namespace is None else namespaced_objects(namespace, image)
    click.echo("---\n".join(map(write_manifest, [crd(), *objects])), nl=False)
