"""Kubernetes events: their text, and how often they are sent."""

import pytest

from kron.adapters.kubernetes.client import Resource, Verb
from kron.errors import ApiError
from tests.hosts.operator.fake_cluster import FakeCluster, refused
from tests.hosts.operator.replica import HOUR, SECOND, Replica, at_noon
from tests.hosts.operator.test_faults import UNREACHABLE, jobs_fail


def recorded(cluster: FakeCluster, reason: str) -> list[tuple[str, int]]:
    """Return message and count of each event of a reason."""
    events = [each for (kind, _, _), each in cluster.objects.items() if kind == "events"]
    return [(each["message"], each["count"]) for each in events if each["reason"] == reason]


@pytest.mark.parametrize("reason", ["SuccessfulCreate", "SawCompletedJob", "SuccessfulDelete", "Skipped"])
async def test_an_event_names_the_period_and_its_chosen_second(reason: str) -> None:
    cluster = at_noon()
    cluster.kronjob(schedule="0,30 12 * * *", successfulJobsHistoryLimit=0, window={"duration": "40m"})
    await Replica(cluster).lead()
    await cluster.clock.advance(2 * HOUR)
    cluster.finish_all()
    await cluster.clock.advance(SECOND)

    ((message, count),) = recorded(cluster, reason)
    assert "period 2026-03-02T12:" in message
    assert ", chosen 2026-03-02T1" in message
    assert count == 1


async def test_an_event_that_is_repeated_raises_a_count() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden"))

    await cluster.clock.advance(HOUR + 20 * SECOND)

    ((_, count),) = recorded(cluster, "FailedCreate")
    assert count > 3


async def test_an_event_whose_answer_was_lost_is_repeated_under_the_same_name() -> None:
    cluster = at_noon()
    cluster.kronjob()
    await Replica(cluster).lead()
    cluster.before = jobs_fail(refused(403, "Forbidden"))

    def lose(verb: Verb, resource: Resource) -> ApiError | None:
        if (verb, resource.label) != ("create", "events"):
            return None
        cluster.after = None
        return UNREACHABLE

    cluster.after = lose
    await cluster.clock.advance(HOUR + 20 * SECOND)

    ((_, count),) = recorded(cluster, "FailedCreate")
    assert count > 3
