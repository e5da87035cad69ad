"""All outcomes that the statuses of a KronJob have shown: a status keeps only the last ones."""

from datetime import timedelta

from kron.decision.decide import decide
from kron.instant import Instant, parse_instant
from kron.kronjob.kronjob import API_VERSION, KIND, KronJob
from kron.kronjob.parser import parse_kronjob
from kron.kronjob.status import PeriodStatus, parse_periods
from tests.hosts.operator.fake_cluster import FakeCluster

_SOON = timedelta(minutes=1)  # in which an outcome is written after its chosen second


def periods_without_outcome(cluster: FakeCluster, name: str) -> list[str]:
    """Return the periods since the creation of a KronJob whose second is over and that no status has ever listed."""
    entries = _entries(cluster, name)
    return [
        f"{nominal:%H:%M}"
        for nominal in _periods(cluster, name)
        if not any(entry.first <= nominal <= entry.last for entry in entries)
    ]


def periods_with_two_outcomes(cluster: FakeCluster, name: str) -> list[str]:
    """Return the periods of which statuses have found one outcome, and later another one."""
    found: dict[Instant, set[tuple[str, str]]] = {}
    for entry in _entries(cluster, name):
        if entry.period_count == 1:
            found.setdefault(entry.first, set()).add((entry.outcome.value, entry.reason))
    return [f"{nominal:%H:%M}: {sorted(outcomes)}" for nominal, outcomes in found.items() if len(outcomes) > 1]


def _entries(cluster: FakeCluster, name: str) -> set[PeriodStatus]:
    statuses = [
        document.get("status", {})
        for _, plural, _, document in cluster.history
        if plural == "kronjobs" and document["metadata"]["name"] == name
    ]
    return {entry for status in statuses for entry in parse_periods(status)}


def _periods(cluster: FakeCluster, name: str) -> list[Instant]:
    document = cluster.objects["kronjobs", "ns", name]
    kronjob = parse_kronjob({"apiVersion": API_VERSION, "kind": KIND, **document})
    assert isinstance(kronjob, KronJob), kronjob
    created, timing = parse_instant(document["metadata"]["creationTimestamp"]), kronjob.timing
    until = cluster.clock.now() - _SOON
    nominals = timing.schedule.between(created - timing.window.duration - _SOON, until)
    chosen = ((nominal, decide(timing, nominal).chosen_time) for nominal in nominals)
    return [nominal for nominal, at in chosen if at is not None and created < at <= until]
