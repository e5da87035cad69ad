"""kron k8s why NAMESPACE/NAME --at T: what became of a KronJob's period, and who says so."""

import json
from collections.abc import Iterator

import click

from kron.adapters.system_time import system_now
from kron.cli.k8s.queries import NAME, ClusterOptions, ClusterQueries, KronJobName, cluster_options, query_cluster
from kron.console.decision_text import print_facts
from kron.cron.wall_time import format_utc_and_local, read_moment
from kron.cron.zone import UTC_ZONE
from kron.decision.seed import period_id
from kron.errors import escape_unprintable
from kron.instant import format_instant
from kron.kronjob.account import Account, Records, Source, account_of, sentence
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import parse_kronjob
from kron.why.decision_steps import period_facts, policy_text

_SOURCES = {
    Source.STATUS: "status.handledPeriods of the KronJob",
    Source.JOB: "the Job, which the status does not list yet",
    Source.COMPUTED: "nobody; this is what the present definition decides",
}


@click.command()
@NAME
@click.option(
    "--at",
    "at",
    metavar="T",
    required=True,
    help="RFC 3339, or YYYY-MM-DD HH:MM[:SS] or HH:MM[:SS] (today) in the KronJob's zone.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@cluster_options
def why(which: KronJobName, at: str, kubeconfig: str | None, context: str | None, *, as_json: bool) -> None:
    """Say why a KronJob of a cluster did, or did not, run at T.

    T is the chosen second of a period, its nominal time, or any moment of its window. Exit 0 a Job was created for that
    period, 1 none was, 2 there is no answer.
    """
    records = query_cluster(ClusterOptions(kubeconfig, context), lambda cluster: _records(cluster, which))
    zone = UTC_ZONE if records.kronjob is None else records.kronjob.timing.schedule.zone
    now = system_now()
    moment = read_moment(at, zone, now)
    account = account_of(records, moment, now)
    if as_json:
        click.echo(json.dumps(account.to_dict(), ensure_ascii=False, indent=1))
    else:
        text = escape_unprintable(sentence(records, account, moment))
        click.secho(text, fg="green" if account.ran else "yellow", bold=True)
        if account.nominal is not None:
            click.echo()
            click.secho(f"Period {period_id(account.nominal)}", bold=True)
            print_facts(_lines(records.kronjob, account))
    click.get_current_context().exit(0 if account.ran else 1)


async def _records(cluster: ClusterQueries, which: KronJobName) -> Records:
    document = await cluster.kronjob(which)
    metadata = document["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    found = parse_kronjob(document)
    kronjob = found if isinstance(found, KronJob) else None
    return Records(f"{namespace}/{name}", document, kronjob, await cluster.jobs_of(namespace, name))


def _lines(kronjob: KronJob | None, account: Account) -> Iterator[tuple[str, str]]:
    if kronjob is None or account.decision is None:
        yield "chosen", "not known" if account.chosen is None else format_instant(account.chosen)
        yield "", "by an earlier definition; the present one has no such period"
    else:
        yield from period_facts(kronjob.timing, account.decision)
        if account.chosen != account.decision.chosen_time and account.chosen is not None:
            zone = kronjob.timing.schedule.zone
            yield "", f"recorded, by an earlier definition: {format_utc_and_local(zone, account.chosen)}"
        yield "policy", f"{policy_text(kronjob.policy)}{', suspended' if kronjob.policy.suspend else ''}"
    yield "outcome", f"{account.outcome or 'none'}{f', {account.reason}' if account.reason else ''}"
    if account.outage is not None:
        first, last = format_instant(account.outage.first), format_instant(account.outage.last)
        yield "", f"one of an outage, from {first} until {last}"
    if account.job is not None:
        yield "job", f"{account.job}{f', {account.child.state}' if account.child else ''}"
        if account.child is not None and account.child.created is not None:
            yield "", f"created {format_instant(account.child.created)}"
    yield "told by", _SOURCES[account.source]
