"""kron k8s next, explain and forecast: the coming periods of KronJobs, of files or of a cluster."""

from datetime import timedelta

import click

from kron.adapters.system_time import system_now
from kron.cli.forecast import print_forecast
from kron.cli.k8s.documents import (
    CLUSTER,
    OPTIONAL_FILES,
    DocumentFinding,
    ManifestDocument,
    at_document,
    parse_kronjobs,
    read_kronjobs,
)
from kron.cli.k8s.queries import (
    NAME_OR_FILE,
    ClusterOptions,
    ClusterQueries,
    KronJobName,
    cluster_options,
    query_cluster,
)
from kron.cli.load_workers import count_load
from kron.cli.next import PreviewOptions, print_periods
from kron.cli.options import FROM, JSON, count_option, read_span
from kron.console.drawing import print_decision, print_expression, print_period
from kron.console.output import print_findings, print_json
from kron.console.parameters import NAMESPACE_TYPE, naming
from kron.cron.wall_time import read_moment
from kron.decision.decide import decide
from kron.forecast.forecast import build_forecast
from kron.forecast.runs import ForecastJob, TimeSpan
from kron.instant import SECOND, shift
from kron.jobfile.job import Job
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import DEFAULT_NAMESPACE, parse_kronjob


@click.command("next")
@NAME_OR_FILE
@OPTIONAL_FILES
@FROM
@count_option(10)
@JSON
@cluster_options
def next_(
    which: KronJobName | None, files: tuple[str, ...], since: str | None, count: int | None, kubeconfig: str | None,
    context: str | None, *, as_json: bool,
) -> None:  # fmt: skip
    """Print the next periods of KronJobs of files or of a cluster.

    A manifest without a namespace is read as one of `default`; the chosen seconds depend on the namespace.
    """
    found = _found(which, files, ClusterOptions(kubeconfig, context))
    entries = [ForecastJob(kronjob.identity, kronjob.timing) for kronjob in found]
    print_periods(entries, PreviewOptions(since, count, None, as_json=as_json), named=len(found) > 1)


@click.command()
@NAME_OR_FILE
@OPTIONAL_FILES
@click.option(
    "--at", "at", metavar="T", help="Explain the period whose window began last before T. [default: the next]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the decision as one JSON object.")
@cluster_options
def explain(
    which: KronJobName | None, files: tuple[str, ...], at: str | None, kubeconfig: str | None, context: str | None, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Show step by step how the second of a KronJob is chosen."""
    found = _found(which, files, ClusterOptions(kubeconfig, context))
    if len(found) > 1:
        raise click.UsageError(f"name one of {', '.join(kronjob.identity for kronjob in found)}")
    (kronjob,) = found
    schedule = kronjob.timing.schedule
    if at is None:
        nominal = schedule.next(system_now())
    else:
        with naming("--at"):
            moment = read_moment(at, schedule.zone, system_now())
        nominal = schedule.previous(moment - timedelta(seconds=kronjob.timing.window.bounds[0]))
    decision = decide(kronjob.timing, nominal)
    if as_json:
        click.echo(decision.to_json())
        return
    job = Job(kronjob.timing, kronjob.policy)
    print_expression(job)
    print_period(job, decision)
    print_decision(decision)


def _found(which: KronJobName | None, files: tuple[str, ...], reach: ClusterOptions) -> list[KronJob]:
    """Return the KronJobs that are meant: of files, or one of a cluster."""
    if files:
        return _chosen(read_kronjobs(files), which)
    if which is None:
        raise click.UsageError("name a KronJob of the cluster, such as prod/db-backup, or give -f FILE")
    given = query_cluster(reach, lambda cluster: cluster.kronjob(which))
    found = parse_kronjobs([ManifestDocument(CLUSTER, 0, given)], [])
    for kronjob in found:
        if kronjob.policy.suspend:
            click.echo(f"kron: {kronjob.identity} is suspended: nothing is started until that ends", err=True)
    return found


def _chosen(kronjobs: list[KronJob], which: KronJobName | None) -> list[KronJob]:
    identity = None if which is None else f"{which.namespace or DEFAULT_NAMESPACE}/{which.name}"
    found = [kronjob for kronjob in kronjobs if identity in (None, kronjob.identity)]
    if not found:
        known = ", ".join(kronjob.identity for kronjob in kronjobs) or "none"
        raise click.UsageError(f"there is no such KronJob in the files given; there is {known}")
    if len({kronjob.identity for kronjob in found}) != len(found):
        raise click.UsageError("two of the KronJobs given have the same namespace and name")
    return found


@click.command()
@click.option("--namespace", metavar="NS", type=NAMESPACE_TYPE, help="Only this namespace. [default: all]")
@click.option("--span", metavar="DURATION", default="24h", help="Length of the forecast: 12h, 7d.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@cluster_options
def forecast(namespace: str | None, span: str, kubeconfig: str | None, context: str | None, *, as_json: bool) -> None:
    """Show how many KronJobs of a cluster start at once.

    Suspended and invalid KronJobs are not counted.
    """
    length = int(read_span("--span", span).total_seconds())
    found, wrong = query_cluster(
        ClusterOptions(kubeconfig, context), lambda cluster: _read_cluster(cluster, namespace or "")
    )
    now = system_now().replace(microsecond=0)
    entries = [ForecastJob(each.identity, each.timing) for each in found if not each.policy.suspend]
    ahead = TimeSpan(now, shift(now, SECOND * length))
    count = len(found) + len({each.name for each in wrong})
    answer = build_forecast(entries, ahead, count_load(entries, ahead), jobs=count, durations={})
    print_findings(wrong)
    if as_json:
        print_json(answer.to_dict())
        return
    print_forecast(answer)
    if len(entries) < count:
        click.echo(f"\nnot counted, because suspended or invalid: {count - len(entries)}")


async def _read_cluster(cluster: ClusterQueries, namespace: str) -> tuple[list[KronJob], list[DocumentFinding]]:
    kronjobs, wrong = [], []
    async for given in cluster.kronjobs(namespace):
        match parse_kronjob(given):
            case KronJob() as kronjob:
                kronjobs.append(kronjob)
            case errors:
                wrong += [at_document(ManifestDocument(CLUSTER, 0, given), error) for error in errors]
    return kronjobs, wrong
