"""kron k8s next | explain -f FILE: the coming periods of KronJobs, and how a second is chosen."""

from datetime import timedelta

import click

from kron.adapters.system_clock import system_now
from kron.decision.decide import decide
from kron.hosts.cli.k8s.documents import FILES, read_kronjobs
from kron.hosts.cli.next import Asked, print_periods
from kron.hosts.cli.options import COUNT, FROM, JSON
from kron.hosts.explanation import print_decision, print_expression, print_period
from kron.hosts.moments import read_moment
from kron.rules.job import Job
from kron.rules.kronjob.kronjob import KronJob

_WHICH = click.argument("which", metavar="[NAMESPACE/NAME]", required=False)


@click.command("next")
@_WHICH
@FILES
@FROM
@COUNT
@JSON
def next_(which: str | None, files: tuple[str, ...], since: str | None, count: int | None, *, as_json: bool) -> None:
    """Show the next periods of the KronJobs of files: nominal and chosen times.

    A KronJob without a namespace is taken to be in `default`: the chosen seconds depend on it.
    """
    found = _chosen(read_kronjobs(files), which)
    names = {} if len(found) == 1 else {kronjob.identity: kronjob.identity for kronjob in found}
    print_periods([kronjob.timing for kronjob in found], names, Asked(since, count, None, as_json=as_json))


@click.command()
@_WHICH
@FILES
@click.option("--at", "at", metavar="T", help="The period whose window began last before T. [default: the next period]")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as one JSON object.")
def explain(which: str | None, files: tuple[str, ...], at: str | None, *, as_json: bool) -> None:
    """Explain how the second of a period of a KronJob is chosen, step by step."""
    found = _chosen(read_kronjobs(files), which)
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


def _chosen(kronjobs: list[KronJob], which: str | None) -> list[KronJob]:
    found = [kronjob for kronjob in kronjobs if which in (None, kronjob.identity)]
    if not found:
        known = ", ".join(kronjob.identity for kronjob in kronjobs) or "none"
        raise click.UsageError(f"there is no such KronJob in the files given; there is {known}")
    if len({kronjob.identity for kronjob in found}) != len(found):
        raise click.UsageError("two of the KronJobs given have the same namespace and name")
    return found
