"""The cluster's ledger passes the part of the port's suite that covers the clauses it keeps itself."""

import pytest

from kron.adapters.kubernetes.cache import ClusterCache
from kron.adapters.kubernetes.kronjob_record import KronJobRecord
from kron.adapters.kubernetes.ledger import ClusterLedger
from kron.adapters.kubernetes.responses import LoopShare
from kron.adapters.kubernetes.work_queue import WorkQueue
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.kronjob.snapshot import KronJobSnapshot, parse_snapshot
from kron.kronjob.status import PeriodStatus
from kron.rules.verdict import Outcome
from kron.testing import JobLedgerClause, job_ledger_suite
from kron.testing.job_ledger_suite import DECLARED, JOB, MISSED, JobLedgerCheck, closed_from
from tests.hosts.operator.fake_cluster import STRICT, FakeCluster
from tests.hosts.operator.replica import NOON, SECOND, at_noon

CLUSTER_KEEPS = {JobLedgerClause.JOBS, JobLedgerClause.RUNS, JobLedgerClause.REFUSALS, JobLedgerClause.POSSESSION}
TIMING = Timing.from_dict({"schedule": "0 * * * *"}, identity="ns/a")


def fail(_key: object, error: Exception) -> None:
    raise error


class Ledger:
    """A ledger of a cluster, and what it reports."""

    def __init__(self, cluster: FakeCluster, identity: str) -> None:
        clock = cluster.clock
        self.outcomes: list[tuple[str, str]] = []
        self.ledger = ClusterLedger(
            cluster,
            ClusterCache(clock.now, STRICT),
            WorkQueue(1, clock, may_write=lambda: True, on_bug=fail),
            LoopShare(clock.monotonic),
            on_outcome=self._note,
            on_conflict=lambda: None,
            now=clock.now,
            slack=30 * SECOND,
        )
        self.ledger.keep(identity, KronJobRecord("uid", "hash", NOON, NOON, ()))

    def _note(self, _kronjob: object, decision: object, entry: PeriodStatus, job: str, _message: str) -> None:
        del decision
        self.outcomes.append((entry.outcome.value, job))


@pytest.mark.parametrize("check", job_ledger_suite(lacking=CLUSTER_KEEPS), ids=lambda check: check.__name__)
async def test_cluster(check: JobLedgerCheck) -> None:
    found = Ledger(at_noon(), JOB.identity)
    await check(lambda: found.ledger)


def ledger_at_noon() -> tuple[Ledger, KronJobSnapshot]:
    """Return the ledger of a KronJob, and the KronJob."""
    cluster = at_noon()
    cluster.kronjob()
    return Ledger(cluster, "ns/a"), parse_snapshot(cluster.objects["kronjobs", "ns", "a"], None, NOON)


async def test_the_first_outcome_of_a_period_counts_and_only_that_is_reported() -> None:
    found, kronjob = ledger_at_noon()
    decision = decide(TIMING, NOON)

    found.ledger.record_outcome(kronjob, decision, Outcome.EXECUTED, job="a-1")
    found.ledger.record_outcome(kronjob, decision, Outcome.MISSED, "DeadlineExceeded")
    await found.ledger.append(DECLARED._replace(closed=[MISSED._replace(identity="ns/a", first=NOON, last=NOON)]))

    record = found.ledger.record("ns/a")
    assert record is not None
    assert [entry.outcome for entry in record.entries] == [Outcome.EXECUTED]
    assert found.outcomes == [("executed", "a-1")]


async def test_a_superseded_period_is_written_before_another_job_is_created() -> None:
    found, _ = ledger_at_noon()
    closed = closed_from(3, 2)._replace(identity="ns/a", outcome=Outcome.SKIPPED, reason="superseded")

    await found.ledger.append(DECLARED._replace(closed=[closed]))

    record = found.ledger.record("ns/a")

    assert record is not None
    assert record.must_be_written


async def test_a_missed_period_does_not_hold_up_the_next_job() -> None:
    found, _ = ledger_at_noon()

    await found.ledger.append(DECLARED._replace(closed=[closed_from(3, 2)._replace(identity="ns/a")]))

    record = found.ledger.record("ns/a")

    assert record is not None
    assert not record.must_be_written
