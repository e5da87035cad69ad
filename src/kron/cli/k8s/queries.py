"""query_cluster(options, question) -> the answer of a cluster, with the rights of the user; nothing is written.

Each failure is one line: no such KronJob, no permission, no CustomResourceDefinition, no API server.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kron.console.parameters import CommandDecorator
from kron.errors import ApiRefusedError, ControlError
from kron.kronjob.crd import CRD_MISSING_MESSAGE
from kron.kronjob.kronjob import (
    API_VERSION,
    KIND,
    KRONJOB_LABEL,
    MANAGED_BY_LABEL,
    OPERATOR_NAME,
    is_dns_label,
    is_dns_subdomain,
    label_value,
)
from kron.kronjob.parser import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from kron.adapters.kubernetes.client import ApiClient

Document = dict[str, Any]
Answer = TypeVar("Answer")

_PAGE = 500  # objects in one request

_KUBECONFIG = click.option(
    "--kubeconfig", metavar="FILE", help="Cluster and user. [env var: KUBECONFIG; default: the Pod's, ~/.kube/config]"
)
_CONTEXT = click.option("--context", metavar="NAME", help="Context of the kubeconfig. [default: its current one]")


class ClusterOptions(NamedTuple):
    """How a cluster is reached."""

    kubeconfig: str | None
    context: str | None


class KronJobName(NamedTuple):
    """A KronJob by its name and, unless the context is to say it, its namespace."""

    namespace: str | None
    name: str


def cluster_options(command: Callable[..., Any]) -> Any:
    """Add the options that select the cluster."""
    return _KUBECONFIG(_CONTEXT(command))


def _read_name(_context: click.Context, _parameter: click.Parameter, text: str | None) -> KronJobName | None:
    if text is None:
        return None
    namespace, slash, name = text.rpartition("/")
    if not is_dns_subdomain(name) or (slash and not is_dns_label(namespace)):
        raise click.BadParameter(f"{text!r} must be a namespace and a name, such as prod/db-backup")
    return KronJobName(namespace if slash else None, name)


NAME: CommandDecorator = click.argument("which", metavar="[NAMESPACE/]NAME", callback=_read_name)
NAME_OR_FILE: CommandDecorator = click.argument(
    "which", metavar="[NAMESPACE/NAME]", required=False, callback=_read_name
)


class ClusterQueries:
    """What is asked of a cluster."""

    def __init__(self, api: "ApiClient") -> None:
        from kron.adapters.kubernetes.client import JOBS, KRONJOBS

        self._api, self._jobs, self._kronjobs = api, JOBS, KRONJOBS

    async def kronjob(self, which: KronJobName) -> Document:
        """Return a KronJob as the server has it."""
        namespace = which.namespace or self._api.namespace or DEFAULT_NAMESPACE
        try:
            return await self._api.request("get", self._kronjobs, namespace, which.name)
        except ApiRefusedError as error:
            if error.code == HTTPStatus.NOT_FOUND and f'"{which.name}"' in error.message:
                raise ControlError(reason=f"there is no KronJob {namespace}/{which.name}", exit_code=2) from error
            raise

    async def kronjobs(self, namespace: str = "") -> AsyncIterator[Document]:
        """Yield all KronJobs of a namespace, or of the cluster, page by page."""
        query = {"limit": str(_PAGE)}
        while True:
            page = await self._api.request("list", self._kronjobs, namespace, query=query)
            for item in page.get("items") or ():
                yield {"apiVersion": API_VERSION, "kind": KIND, **item}
            if not (more := (page.get("metadata") or {}).get("continue")):
                return
            query["continue"] = more

    async def jobs_of(self, namespace: str, name: str) -> list[Document] | None:
        """Return the Jobs of a KronJob; None if the user may not list Jobs."""
        query = {"labelSelector": f"{MANAGED_BY_LABEL}={OPERATOR_NAME},{KRONJOB_LABEL}={label_value(name)}"}
        try:
            found = await self._api.request("list", self._jobs, namespace, query=query)
        except ApiRefusedError as error:
            if error.code == HTTPStatus.FORBIDDEN:
                return None
            raise
        return list(found.get("items") or ())


def query_cluster(reach: ClusterOptions, question: Callable[[ClusterQueries], Awaitable[Answer]]) -> Answer:
    """Return the answer to a question, or raise one clear error."""
    return asyncio.run(_asked(reach, question))


async def _asked(reach: ClusterOptions, question: Callable[[ClusterQueries], Awaitable[Answer]]) -> Answer:
    try:
        from kron.adapters.kubernetes.client import ApiClient  # the other commands do without its library
        from kron.adapters.kubernetes.kubeconfig import load_cluster_config
    except ModuleNotFoundError as error:
        if error.name not in ("aiohttp", "yarl", "yaml"):
            raise
        reason = "asking a cluster needs a few more packages: pip install 'kron-scheduler[operator]'"
        raise ControlError(reason=reason, exit_code=2) from error
    api = ApiClient(load_cluster_config(*reach, home=True))
    try:
        return await question(ClusterQueries(api))
    except ApiRefusedError as error:
        raise ControlError(reason=_in_words(error), exit_code=2) from error
    finally:
        await api.close()


def _in_words(error: ApiRefusedError) -> str:
    if error.code == HTTPStatus.NOT_FOUND:
        return CRD_MISSING_MESSAGE
    return f"the API server says no: {error.message}"
