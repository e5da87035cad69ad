"""kron k8s forecast: the load of a cluster's KronJobs in a span, before and after spreading."""

import json

import click

from kron.adapters.system_now import system_now
from kron.hosts.cli.counting import count_load
from kron.hosts.cli.forecast import print_forecast
from kron.hosts.cli.k8s.cluster import Cluster, Reach, ask, reaching
from kron.hosts.cli.k8s.documents import CLUSTER, Document, Told, print_told, tell
from kron.hosts.cli.options import read_span
from kron.hosts.namespace import NAMESPACE
from kron.rules.expected import Entry, Span, later
from kron.rules.forecast import forecast_of
from kron.rules.kronjob.kronjob import KronJob
from kron.rules.kronjob.reading import read_kronjob


@click.command()
@click.option("--namespace", metavar="NS", type=NAMESPACE, help="Of this namespace. [default: all]")
@click.option("--span", metavar="DURATION", default="24h", show_default=True, help="From now on, such as 12h or 7d.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@reaching
def forecast(namespace: str | None, span: str, kubeconfig: str | None, context: str | None, *, as_json: bool) -> None:
    """Show the load of all KronJobs of a cluster: as `kron forecast` does for job files.

    KronJobs that are suspended or invalid are not counted.
    """
    length = int(read_span(span).total_seconds())
    found, wrong = ask(Reach(kubeconfig, context), lambda cluster: _found(cluster, namespace or ""))
    now = system_now().replace(microsecond=0)
    entries = [Entry(each.identity, each.timing) for each in found if not each.policy.suspend]
    ahead = Span(now, later(now, length))
    count = len(found) + len({told.name for told in wrong})
    answer = forecast_of(entries, ahead, count_load(entries, ahead), jobs=count, durations={})
    print_told(wrong)
    if as_json:
        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=1))
        return
    print_forecast(answer)
    if len(entries) < count:
        click.echo(f"\nnot counted, because suspended or invalid: {count - len(entries)}")


async def _found(cluster: Cluster, namespace: str) -> tuple[list[KronJob], list[Told]]:
    kronjobs, wrong = [], []
    async for given in cluster.kronjobs(namespace):
        match read_kronjob(given):
            case KronJob() as kronjob:
                kronjobs.append(kronjob)
            case errors:
                wrong += [tell(Document(CLUSTER, 0, given), error) for error in errors]
    return kronjobs, wrong
