"""kron-operator run: one replica in the foreground, until it is asked to stop."""

import asyncio
import signal
import sys
from datetime import timedelta
from typing import Any

import click

from kron.adapters.cluster.api import Api
from kron.adapters.system_clock import SystemClock
from kron.errors import InvalidDefinitionError, InvalidDurationError, KubeconfigError, ListenError
from kron.hosts.namespace import NAME, NAMESPACE
from kron.hosts.operator.controller import Controller, Options
from kron.hosts.operator.listening import Listening
from kron.hosts.operator.log import INFO, Log
from kron.instant import ZERO, parse_duration
from kron.rules.files.settings import read_listen
from kron.rules.kronjob.child import MANAGER

_LEASE_NAMESPACE = "kron-system"  # where there is no other sign


class Duration(click.ParamType):  # type: ignore[type-arg] # older versions of click have none
    """A duration in Go's form."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the duration that a text names."""
        if isinstance(value, timedelta):
            return value
        try:
            found = parse_duration(value)
        except InvalidDurationError as error:
            self.fail(error.message, param, ctx)
        return found


class Address(click.ParamType):  # type: ignore[type-arg] # likewise
    """Where to listen, as job files say it; `off` is no place."""

    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return an address that can be bound, if it is one of this host."""
        try:
            found = read_listen("listen", value)
        except InvalidDefinitionError:
            found = "off"
        if found == "off":
            self.fail(f"must be HOST:PORT or unix:/path, found {value!r}; write 127.0.0.1:8080", param, ctx)
        return found


@click.command(context_settings={"auto_envvar_prefix": "KRON_OPERATOR"})
@click.option("--kubeconfig", metavar="FILE", help="Which cluster, and as whom. [default: $KUBECONFIG, then the Pod's]")
@click.option(
    "--namespace",
    "namespaces",
    metavar="NS",
    type=NAMESPACE,
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
    type=NAMESPACE,
    help="Where the Lease is. [default: the first --namespace, else that of the Pod or the kubeconfig's context]",
)
@click.option("--lease-name", metavar="NAME", type=NAME, default=MANAGER, show_default=True, help="Its name.")
@click.option(
    "--lease-duration",
    type=Duration(),
    default="15s",
    show_default=True,
    help="How long a standby waits for a leader that is silent.",
)
@click.option(
    "--renew-deadline",
    type=Duration(),
    default="10s",
    show_default=True,
    help="After how long a leader that cannot renew starts nothing any more.",
)
@click.option("--retry-period", type=Duration(), default="2s", show_default=True, help="Between two tries for it.")
@click.option(
    "--listen",
    type=Address(),
    metavar="HOST:PORT",
    default="127.0.0.1:8080",
    show_default=True,
    help="Where /healthz, /readyz and /metrics are.",
)
@click.option(
    "--slack",
    type=Duration(),
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
        asyncio.run(_live(kubeconfig, lease_namespace, listen, Options(tuple(dict.fromkeys(namespaces)), **options)))
    except (KubeconfigError, ListenError) as error:
        click.secho(f"kron-operator: error: {error.message}", fg="red", err=True)
        click.get_current_context().exit(2)


def _check(options: dict[str, Any]) -> None:
    lease, renew, retry = (options[key] for key in ("lease_duration", "renew_deadline", "retry_period"))
    if not ZERO < retry < renew < lease:
        text = "must be --retry-period < --renew-deadline < --lease-duration, all above 0s"
        raise click.UsageError(f"{text}; the defaults are 2s, 10s and 15s")


async def _live(kubeconfig: str | None, lease_namespace: str | None, listen: str, options: Options) -> None:
    clock = SystemClock()
    log = Log(sys.stderr, clock.now)
    listening = Listening(listen)
    try:
        api = await Api.connect(kubeconfig)
    except BaseException:
        await listening.close()
        raise
    try:
        namespace = lease_namespace or (options.namespaces or (api.namespace or _LEASE_NAMESPACE,))[0]
        controller = Controller(api, clock, log, options.in_namespace(namespace))
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked.set)
        await listening.open(controller.is_healthy, controller.is_ready, controller.metrics.render, clock.monotonic)
        log.write(INFO, "listening", address=listening.address, identity=controller.life)
        await controller.run(asked)
    finally:
        await listening.close()
        await api.close()
