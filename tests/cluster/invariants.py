"""Invariants after any fault: at most one Job and one outcome per period, on time, with nothing left over.

`violations(…)` says what does not, over KronJobs that kept their definition since they were created.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from kron.decision.decide import decide
from kron.decision.decision import Decision
from kron.instant import Instant, parse_instant
from kron.kronjob.kronjob import MANAGED_BY_LABEL, OPERATOR_NAME, KronJob, job_name
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.status import PeriodStatus, parse_periods
from kron.rules.policy import Concurrency
from kron.rules.verdict import Outcome
from tests.cluster.audit import Row
from tests.cluster.client import Document

SLACK = timedelta(seconds=30)  # the operator's default
ANSWER = timedelta(seconds=5)  # a request that was sent in time may be answered a little later
_MINUTE = timedelta(minutes=1)


class NamespaceSnapshot(NamedTuple):
    """All that a namespace holds after a fault."""

    kronjobs: list[Document]
    jobs: list[Document]
    rows: list[Row]  # what the operators asked
    at: Instant  # when the statuses were read, by the operators' clock
    stored: Sequence[Document] = ()  # metadata of every Job that a watch saw, also of those that are gone


def periods(document: Document, until: Instant) -> list[Decision]:
    """Return what a KronJob owns up to an instant, in the order of the chosen seconds."""
    created = parse_instant(document["metadata"]["creationTimestamp"])
    timing = _read(document).timing
    nominals = timing.schedule.between(created - timing.window.duration - _MINUTE, until + _MINUTE)
    decisions: list[Any] = [decide(timing, nominal) for nominal in nominals]
    chosen = [each for each in decisions if each.chosen_time is not None and created < each.chosen_time <= until]
    return sorted(chosen, key=lambda each: each.chosen_time)


def open_periods(documents: Iterable[Document], until: Instant) -> list[str]:
    """Return the periods that have no outcome yet, of those that were chosen up to an instant."""
    return [
        f"{decision.identity} {decision.period_id}"
        for document in documents
        for decision in periods(document, until)
        if not _outcomes(document, decision)
    ]


def violations(found: NamespaceSnapshot, until: Instant, *, slack: timedelta = SLACK) -> list[str]:
    """Return what is wrong with what is there; every period chosen up to the instant must have its outcome."""
    ours = {each["metadata"]["name"]: each for each in found.jobs if _is_ours(each)}
    made = _creations(found)
    wrong: list[str] = []
    latest = max([until, *(at for times in made.values() for at in times)])
    for document in found.kronjobs:
        kronjob = _read(document)
        for decision in periods(document, latest):
            times = made.pop(job_name(kronjob.identity, decision.nominal_time), [])
            where = f"{decision.identity} {decision.period_id}"
            wrong += [f"{where}: {text}" for text in _about(document, kronjob, decision, times, until, slack)]
        for decision in periods(document, found.at + kronjob.timing.window.duration + _MINUTE):
            if decision.chosen_time is not None and decision.chosen_time > found.at and _outcomes(document, decision):
                wrong.append(f"{decision.identity} {decision.period_id}: an outcome before its second")
    wrong += [f"Job {name} is of no period" for name in made]
    owners = {each["metadata"]["uid"] for each in found.kronjobs}
    for name, job in ours.items():
        if {each["uid"] for each in job["metadata"].get("ownerReferences", [])}.isdisjoint(owners):
            wrong.append(f"Job {name} has no owner")
    return wrong


def _creations(found: NamespaceSnapshot) -> dict[str, list[datetime]]:
    """Return when Jobs were created, by name.

    A server that is killed, or whose client is, may create a Job although its log has no answer 201: the watch, and the
    Jobs that exist, show it.
    """
    made: dict[str, list[datetime]] = {}
    for row in found.rows:
        if (row.verb, row.resource, row.code) == ("create", "jobs", 201):
            made.setdefault(row.name, []).append(row.at)
    seen: dict[str, dict[str, datetime]] = {}  # by name and uid
    for metadata in [*found.stored, *(job["metadata"] for job in found.jobs)]:
        if _is_ours({"metadata": metadata}):
            created = datetime.fromisoformat(metadata["creationTimestamp"])
            seen.setdefault(metadata["name"], {})[metadata.get("uid", "")] = created
    for name, by_uid in seen.items():
        if len(by_uid) > len(made.get(name, [])):
            made[name] = list(by_uid.values())
    return made


def _about(
    document: Document,
    kronjob: KronJob,
    decision: Decision,
    times: list[datetime],
    until: Instant,
    slack: timedelta,
) -> Iterator[str]:
    chosen = decision.chosen_time
    assert chosen is not None
    outcomes = _outcomes(document, decision)
    if len(times) > 1:
        yield f"{len(times)} Jobs"
    if len(outcomes) > 1 or (not outcomes and chosen <= until):
        yield f"{len(outcomes)} outcomes"
    if len(outcomes) == 1 and (outcomes[0].outcome is Outcome.EXECUTED) != bool(times):
        yield f"{outcomes[0].outcome.value} with {len(times)} Jobs"
    for at in times:
        if at < chosen:
            yield f"created {chosen - at} before its second"
        if kronjob.policy.concurrency is not Concurrency.REPLACE and at > _latest(kronjob, chosen, slack):
            yield f"created {at - chosen} after its second"


def _latest(kronjob: KronJob, chosen: Instant, slack: timedelta) -> Instant:
    return chosen + kronjob.policy.deadline + slack + ANSWER


def _outcomes(document: Document, decision: Decision) -> list[PeriodStatus]:
    """Return what the status says of a period: its own entry, or an outage that it lies in."""
    nominal = decision.nominal_time
    entries = [each for each in parse_periods(document.get("status", {})) if each.first <= nominal <= each.last]
    return [each for each in entries if each.period_count == 1] or entries


def _read(document: Document) -> KronJob:
    found = parse_kronjob(document)
    assert isinstance(found, KronJob), found
    return found


def _is_ours(job: Document) -> bool:
    return bool((job["metadata"].get("labels") or {}).get(MANAGED_BY_LABEL) == OPERATOR_NAME)
