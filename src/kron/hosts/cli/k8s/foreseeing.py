"""kron k8s next | explain: the coming periods of KronJobs, and how a second is chosen; of files or of a cluster."""

from datetime import timedelta

import click

from kron.adapters.system_now import system_now
from kron.decision.decide import decide
from kron.hosts.cli.k8s.cluster import NAME_OR_FILE, Name, Reach, ask, reaching
from kron.hosts.cli.k8s.documents import CLUSTER, OPTIONAL_FILES, Document, read_kronjobs, understood
from kron.hosts.cli.next import Asked, print_periods
from kron.hosts.cli.options import COUNT, FROM, JSON
from kron.hosts.explanation import print_decision, print_expression, print_period
from kron.hosts.moments import read_moment
from kron.rules.expected import Entry
from kron.rules.job import Job
from kron.rules.kronjob.kronjob import KronJob
from kron.rules.kronjob.reading import NAMESPACE


@click.command("next")
@NAME_OR_FILE
@OPTIONAL_FILES
@FROM
@COUNT
@JSON
@reaching
def next_(
    which: Name | None,
    files: tuple[str, ...],
    since: str | None,
    count: int | None,
    kubeconfig: str | None,
    context: str | None,
    *,
    as_json: bool,
) -> None:
    """Show the next periods of a KronJob of a cluster, or of the KronJobs of files: nominal and chosen times.

    A KronJob of a file without a namespace is taken to be in `default`: the chosen seconds depend on it.
    """
    found = _found(which, files, Reach(kubeconfig, context))
    entries = [Entry(kronjob.identity, kronjob.timing) for kronjob in found]
    print_periods(entries, Asked(since, count, None, as_json=as_json), named=len(found) > 1)


@click.command()
@NAME_OR_FILE
@OPTIONAL_FILES
@click.option("--at", "at", metavar="T", help="The period whose window began last before T. [default: the next period]")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as one JSON object.")
@reaching
def explain(
    which: Name | None,
    files: tuple[str, ...],
    at: str | None,
    kubeconfig: str | None,
    context: str | None,
    *,
    as_json: bool,
) -> None:
    """Explain how the second of a period of a KronJob is chosen, step by step."""
    found = _found(which, files, Reach(kubeconfig, context))
    if len(found) > 1:
        raise click.UsageError(f"name one of {', '.join(kronjob.identity for kronjob in found)}")
    (kronjob,) = found
    schedule = kronjob.timing.schedule
    if at is None:
        nominal = schedule.next(system_now())
    else:
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


def _found(which: Name | None, files: tuple[str, ...], reach: Reach) -> list[KronJob]:
    """Return the KronJobs that are meant: of files, or one of a cluster."""
    if files:
        return _chosen(read_kronjobs(files), which)
    if which is None:
        raise click.UsageError("name a KronJob of the cluster, such as prod/db-backup, or give -f FILE")
    given = ask(reach, lambda cluster: cluster.kronjob(which))
    found = understood([Document(CLUSTER, 0, given)], [])
    for kronjob in found:
        if kronjob.policy.suspend:
            click.echo(f"kron: {kronjob.identity} is suspended: nothing is started until that ends", err=True)
    return found


def _chosen(kronjobs: list[KronJob], which: Name | None) -> list[KronJob]:
    identity = None if which is None else f"{which.namespace or NAMESPACE}/{which.name}"
    found = [kronjob for kronjob in kronjobs if identity in (None, kronjob.identity)]
    if not found:
        known = ", ".join(kronjob.identity for kronjob in kronjobs) or "none"
        raise click.UsageError(f"there is no such KronJob in the files given; there is {known}")
    if len({kronjob.identity for kronjob in found}) != len(found):
        raise click.UsageError("two of the KronJobs given have the same namespace and name")
    return found
