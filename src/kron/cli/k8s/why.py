"""kron k8s why NAMESPACE/NAME --at T: the outcome of a KronJob's period, and the object that records it."""

import json
from collections.abc import Iterator

import click

from kron.adapters.system_time import system_now
from kron.cli.k8s.queries import NAME, ClusterOptions, ClusterQueries, KronJobName, cluster_options, query_cluster
from kron.console.drawing import print_facts
from kron.console.parameters import naming
from kron.cron.wall_time import format_utc_and_local, read_moment
from kron.cron.zone import UTC_ZONE
from kron.errors import escape_unprintable
from kron.instant import format_instant
from kron.kronjob.kronjob import KronJob
from kron.kronjob.parser import parse_kronjob
from kron.why.cluster import ClusterExplanation, ClusterRecords, RecordedBy, cluster_sentence
from kron.why.decision_steps import period_facts, policy_text
from kron.why.explanation import ExplainedPeriod

_SOURCES = {
    RecordedBy.STATUS: "status.handledPeriods of the KronJob",
    RecordedBy.JOB: "the Job, which the status does not list yet",
    RecordedBy.COMPUTED: "no object; computed from the present definition",
}


@click.command()
@NAME
@click.option(
    "--at", "at", metavar="T", required=True, help="Time: RFC 3339, or YYYY-MM-DD HH:MM or HH:MM in the KronJob's zone."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@cluster_options
def why(which: KronJobName, at: str, kubeconfig: str | None, context: str | None, *, as_json: bool) -> None:
    """Explain why a KronJob ran, or did not run, at a time.

    T is the chosen or nominal time of a period, or any time in its window. Exit codes: 0 a Job was created for that
    period, 1 none was, 2 wrong usage or the cluster does not answer.
    """
    records = query_cluster(ClusterOptions(kubeconfig, context), lambda cluster: _records(cluster, which))
    zone = UTC_ZONE if records.kronjob is None else records.kronjob.timing.schedule.zone
    now = system_now()
    with naming("--at"):
        moment = read_moment(at, zone, now)
    answer = ClusterExplanation(records, moment, now)
    if as_json:
        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=1))
    else:
        text = escape_unprintable(cluster_sentence(answer))
        click.secho(text, fg="green" if answer.ran else "yellow", bold=True)
        if answer.period is not None:
            click.echo()
            click.secho(f"Period {answer.period.row.period_id}", bold=True)
            print_facts(_lines(answer, answer.period))
    click.get_current_context().exit(0 if answer.ran else 1)


async def _records(cluster: ClusterQueries, which: KronJobName) -> ClusterRecords:
    document = await cluster.kronjob(which)
    metadata = document["metadata"]
    namespace, name = metadata["namespace"], metadata["name"]
    found = parse_kronjob(document)
    kronjob = found if isinstance(found, KronJob) else None
    return ClusterRecords(f"{namespace}/{name}", document, kronjob, await cluster.jobs_of(namespace, name))


def _lines(answer: ClusterExplanation, period: ExplainedPeriod) -> Iterator[tuple[str, str]]:
    kronjob, row, chosen = answer.records.kronjob, period.row, answer.chosen
    if kronjob is None or period.decided is None:
        yield "chosen", "not known" if chosen is None else format_instant(chosen)
        yield "", "by an earlier definition; the present one has no such period"
    else:
        yield from period_facts(kronjob.timing, period.decided)
        if chosen != period.decided.chosen_time and chosen is not None:
            zone = kronjob.timing.schedule.zone
            yield "", f"recorded, by an earlier definition: {format_utc_and_local(zone, chosen)}"
        yield "policy", f"{policy_text(kronjob.policy)}{', suspended' if kronjob.policy.suspend else ''}"
    outcome = "none" if row.outcome is None else row.outcome.value
    yield "outcome", f"{outcome}{f', {answer.reason}' if answer.reason else ''}"
    if row.first is not None and row.last is not None:
        yield "", f"one of an outage, from {format_instant(row.first)} until {format_instant(row.last)}"
    if row.run_id is not None:
        yield "job", f"{row.run_id}{f', {answer.child.state}' if answer.child else ''}"
        if answer.child is not None and answer.child.created is not None:
            yield "", f"created {format_instant(answer.child.created)}"
    yield "source", _SOURCES[answer.recorded_by]
