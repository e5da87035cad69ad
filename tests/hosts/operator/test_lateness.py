"""How late the operator still creates a Job: the limit is set when a period is accepted, and then only compared."""

from datetime import timedelta

import pytest

from kron.adapters.kubernetes.client import Resource, Verb
from kron.decision.decide import decide
from kron.decision.timing import Timing
from kron.errors import ApiError
from kron.rules.policy import Policy
from kron.rules.verdict import Execute, judge
from tests.hosts.operator.fake_cluster import FakeCluster, Fault, refused
from tests.hosts.operator.replica import HOUR, MINUTE, NOON, SECOND, Replica, at_noon

ONE = NOON + HOUR  # the chosen second of the first period
DEADLINE, SLACK, MILLISECOND = 10 * SECOND, 30 * SECOND, SECOND / 1000


def creations_fail_for(cluster: FakeCluster, span: timedelta) -> Fault:
    """Refuse Jobs until the clock shows the instant that lies so far after now."""
    until = cluster.clock.now() + span

    def fault(verb: Verb, resource: Resource) -> ApiError | None:
        is_refused = (verb, resource.plural) == ("create", "jobs") and cluster.clock.now() < until
        return refused(403, "Forbidden") if is_refused else None

    return fault


async def test_a_period_accepted_after_downtime_has_no_slack_while_its_creation_is_refused() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10s"})
    await (await Replica(cluster).lead()).crash()
    await cluster.clock.advance(HOUR + 5 * SECOND)

    cluster.before = creations_fail_for(cluster, 20 * SECOND)
    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)

    assert cluster.created() == []
    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]


async def test_a_period_accepted_after_downtime_is_created_within_its_deadline() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10s"})
    await (await Replica(cluster).lead()).crash()
    await cluster.clock.advance(HOUR + 5 * SECOND)

    cluster.before = creations_fail_for(cluster, 2 * SECOND)
    await Replica(cluster).lead()
    await cluster.clock.advance(MINUTE)

    assert [period for period, _ in cluster.created()] == ["13:00"]
    assert cluster.outcomes() == [("13:00", "executed", "")]


async def test_a_period_is_missed_when_what_it_supersedes_cannot_be_written_within_its_deadline() -> None:
    cluster = at_noon()
    cluster.kronjob("a", "5,10 12 * * *", policy={"deadline": "10m"})
    await (await Replica(cluster).lead()).crash()
    await cluster.clock.advance(11 * MINUTE)

    back = NOON + HOUR
    cluster.before = lambda verb, _: (
        refused(403, "Forbidden") if verb == "patch" and cluster.clock.now() < back else None
    )
    await Replica(cluster).lead()
    for _ in range(6):
        await cluster.clock.advance(10 * MINUTE)

    assert cluster.created() == []
    assert cluster.outcomes() == [("12:05", "skipped", "Superseded"), ("12:10", "missed", "DeadlineExceeded")]


@pytest.mark.parametrize("quarters", [159, 160, 161, 163, 164])
async def test_the_runner_and_judge_agree_on_the_last_second_of_deadline_and_slack(quarters: int) -> None:
    late = quarters * SECOND / 4  # a replica that may not write looks again every quarter of a second
    decision = decide(Timing.parse("0 * * * *", identity="ns/a"), ONE)
    verdict = judge(decision, Policy(deadline=DEADLINE), ONE + late, slack=SLACK)

    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10s"})
    replica = await Replica(cluster).lead()
    replica.leads = False
    await cluster.clock.advance(HOUR + late - MILLISECOND)

    replica.leads = True
    await cluster.clock.advance(MILLISECOND)

    expected = "executed" if isinstance(verdict, Execute) else "missed"
    assert [outcome for _, outcome, _ in cluster.outcomes()] == [expected]


async def test_a_deadline_edited_while_a_creation_is_refused_counts_from_the_next_period() -> None:
    cluster = at_noon()
    cluster.kronjob(policy={"deadline": "10s"})
    await Replica(cluster).lead()
    cluster.before = creations_fail_for(cluster, HOUR + MINUTE)
    await cluster.clock.advance(HOUR + SECOND)

    cluster.kronjob(policy={"deadline": "10m"})
    await cluster.clock.advance(2 * MINUTE)

    assert cluster.outcomes() == [("13:00", "missed", "DeadlineExceeded")]
