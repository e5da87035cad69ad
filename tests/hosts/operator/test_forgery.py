"""Only the Job of a period's own name, in its own namespace, says that the period was executed."""

import pytest

from kron.instant import parse_instant
from kron.rules.kronjob.child import own_name
from tests.hosts.operator.replica import HOUR, MINUTE, Replica, at_noon, live

ONE = "2026-03-02T13:00:00Z"
OWN = own_name("ns/a", parse_instant(ONE))
NOTES = {"kron.io/identity": "ns/a", "kron.io/period-id": ONE, "kron.io/chosen-time": ONE}


def made_beside(namespace: str, name: str, *, is_first: bool) -> int:
    """Return how many Jobs are created for a period beside one that says it is its Job, seen first or later."""
    made = []

    async def story() -> None:
        cluster = at_noon()
        cluster.kronjob()
        if is_first:
            cluster.job(name, namespace=namespace, annotations=NOTES)
        await Replica(cluster).lead()
        if not is_first:
            cluster.job(name, namespace=namespace, annotations=NOTES)
        await cluster.clock.advance(HOUR + MINUTE)
        assert cluster.outcomes() == [("13:00", "executed", "")]
        made.append(len(cluster.made))

    live(story())
    return made[0]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("namespace", "name"), [("evil", OWN), ("ns", "copy")])
def test_a_job_that_lies_elsewhere_cannot_take_a_period(namespace: str, name: str, *, is_first: bool) -> None:
    assert made_beside(namespace, name, is_first=is_first) == 1


@pytest.mark.parametrize("is_first", [True, False])
def test_a_job_of_its_name_in_its_namespace_is_its_execution(*, is_first: bool) -> None:
    assert made_beside("ns", OWN, is_first=is_first) == 0
